/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Memory that CUDA programs hold, from records of their allocations and frees: the memory of each device, and
 * pinned or registered memory of the host. A free belongs to the allocation with its address. What a process
 * still has at its end is free from then on if another process goes on; else it is what is live at the end.
 */
#ifndef GRT_CUDA_DEVICE_MEMORY_H
#define GRT_CUDA_DEVICE_MEMORY_H

#include "stack/images.h"
#include "base/say.h"
#include "trace/session.h"

/* Most live blocks; further blocks are counted. */
#define GRT_DEVICE_MEMORY_BLOCKS (1U << 22)
/* The number for memory of the host. */
#define GRT_DEVICE_MEMORY_HOST UINT32_MAX

/** enum grt_memory_kind - grt_ev_alloc.kind */
enum grt_memory_kind {
	GRT_MEMORY_ANY,
	GRT_MEMORY_DEVICE,
	GRT_MEMORY_POOL,
	GRT_MEMORY_PHYSICAL,
	GRT_MEMORY_MANAGED,
	GRT_MEMORY_PINNED,
	GRT_MEMORY_REGISTERED,
	GRT_MEMORY_KINDS,
};

/** grt_memory_kind_name - "device"; "?" if the number has no name */
const char *grt_memory_kind_name(uint32_t kind);

/** struct grt_memory_end - a process, by the number of its image, and when it ended */
struct grt_memory_end {
	uint32_t image;
	uint64_t time;
};

/**
 * struct grt_device_memory - initialised by grt_device_memory_init()
 * @over: allocations without a place; @unknown: frees of memory that was allocated before the trace;
 *@unsized: allocations whose size is unknown The rest is private.
 */
struct grt_device_memory {
	struct grt_keyed blocks;
	uint64_t *live; /* by number of the device plus 1; the first element is the host */
	uint32_t devices;
	uint64_t over;
	uint64_t unknown;
	uint64_t unsized;
	struct grt_memory_end *end; /* processes whose memory is not free yet, by time */
	uint32_t ends, room;
};

/**
 * struct grt_memory_change - the effect of an allocation or a free
 * @device: number of the device, the same for all processes, or GRT_DEVICE_MEMORY_HOST
 * @owner: owner of the allocation, as given
 * @freed: memory was freed: @bytes is negative
 * @ended: because its process ended, before the event
 * @live: live bytes of the device from now on
 */
struct grt_memory_change {
	uint32_t device;
	uint32_t owner;
	bool freed;
	bool ended;
	int64_t bytes;
	uint64_t live;
};

/** grt_device_memory_init - begins with no memory */
void grt_device_memory_init(struct grt_device_memory *m);

/** grt_device_memory_place - the device of an allocation, or GRT_DEVICE_MEMORY_HOST. Return: 0 or -ENOMEM */
int grt_device_memory_place(struct grt_images *images, const struct grt_image *i,
			    const struct grt_ev_alloc *e, uint32_t *device);

/** grt_device_memory_process - processes a PROCESS record of @i. Return: 0 or -ENOMEM */
int grt_device_memory_process(struct grt_device_memory *m, const struct grt_image *i,
			      const struct grt_ev_process *e);

/**
 * grt_device_memory_release - before an event of @i, which goes on: frees the memory of processes that have
 * ended
 * @fn: gets each change and the time at which its process ended
 * Return: 0, or the first other result of @fn, which ends it
 */
int grt_device_memory_release(struct grt_device_memory *m, const struct grt_image *i,
			      int (*fn)(void *arg, const struct grt_memory_change *c, uint64_t time),
			      void *arg);

/**
 * grt_device_memory_event - processes an allocation or a free
 * @device: device of an allocation, from grt_device_memory_place(); @owner: the caller's number for it
 * @out: gets the changes: if the address of an allocation was not free, it is freed first
 * Return: number of changes, or -ENOMEM
 */
int grt_device_memory_event(struct grt_device_memory *m, const struct grt_image *i,
			    const struct grt_ev_alloc *e, uint32_t device, uint32_t owner,
			    struct grt_memory_change out[2]);

/** grt_device_memory_notes - what the sums lack, for people */
void grt_device_memory_notes(const struct grt_device_memory *m, const struct grt_health *h,
			     struct grt_notes *n);

/** grt_device_memory_free - frees it */
void grt_device_memory_free(struct grt_device_memory *m);

#endif /* GRT_CUDA_DEVICE_MEMORY_H */
