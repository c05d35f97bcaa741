/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Memory that CUDA programs hold, from the records of what they allocate and free: of each device, and of the
 * host as far as it is pinned or registered. Freed memory is that of the allocation with its address.
 */
#ifndef GRT_CUDA_DEVICE_MEMORY_H
#define GRT_CUDA_DEVICE_MEMORY_H

#include "stack/images.h"

/* Blocks that live at one moment; of more, they are counted. */
#define GRT_DEVICE_MEMORY_BLOCKS (1U << 22)
/* In place of a device's number. */
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

/** grt_memory_kind_name - "device"; "?" where the number has none */
const char *grt_memory_kind_name(uint32_t kind);

/** struct grt_device_memory - set up by grt_device_memory_init(); @over: allocations that found no place;
 * @unknown: frees of what was not allocated in the trace. The rest is private. */
struct grt_device_memory {
	struct grt_keyed blocks;
	uint64_t *live; /* by number of the device, plus 1; the host is the first */
	uint32_t devices;
	uint64_t over;
	uint64_t unknown;
};

/**
 * struct grt_memory_change - what an allocation or a free did
 * @device: its number, for all processes, or GRT_DEVICE_MEMORY_HOST
 * @owner: of the allocation, as it was given
 * @freed: memory is free: @bytes is negative
 * @live: bytes of the device, from now on
 */
struct grt_memory_change {
	uint32_t device;
	uint32_t owner;
	bool freed;
	int64_t bytes;
	uint64_t live;
};

/** grt_device_memory_init - no memory is held */
void grt_device_memory_init(struct grt_device_memory *m);

/** grt_device_memory_place - the device of an allocation, or GRT_DEVICE_MEMORY_HOST. Return: 0 or -ENOMEM */
int grt_device_memory_place(struct grt_images *images, const struct grt_image *i,
			    const struct grt_ev_alloc *e, uint32_t *device);

/**
 * grt_device_memory_event - takes an allocation or a free in
 * @device: of an allocation, see above; @owner: the caller's number for it
 * @out: gets what changed: that of an address that was not free is freed before it is allocated
 * Return: how many of these, or -ENOMEM
 */
int grt_device_memory_event(struct grt_device_memory *m, const struct grt_image *i,
			    const struct grt_ev_alloc *e, uint32_t device, uint32_t owner,
			    struct grt_memory_change out[2]);

/** grt_device_memory_free - frees it */
void grt_device_memory_free(struct grt_device_memory *m);

#endif /* GRT_CUDA_DEVICE_MEMORY_H */
