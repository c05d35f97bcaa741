/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Use of GPU memory: objects that were created in the trace and their further
 * events, by object and process; moves, bindings, faults, and memory that the driver was
 * asked to release. Objects are identified by device and number; an object from before
 * the trace has no size.
 */
#ifndef GRT_DRM_MEMORY_H
#define GRT_DRM_MEMORY_H

#include <grtrace/grtrace.h>

#include "base/hist.h"
#include "base/tally.h"

/* Most tracked objects (34 MiB); beyond that, the oldest is dropped and counted. */
#define GRT_MEMORY_OBJECTS_MAX 262144U
/* Most processes with a row. */
#define GRT_MEMORY_PROCESSES_MAX 4096U
/* Most kinds of moves, and of shrinks. */
#define GRT_MEMORY_KINDS_MAX 256U
/* Length of the list of objects that were bound most often. */
#define GRT_MEMORY_TOP 10U
/* Number of slices of the time, all of the same length. */
#define GRT_MEMORY_SLICES 32U

/* Numbers of amdgpu's memories and domains. */
#define GRT_AMDGPU_DOMAIN_VRAM 4U
#define GRT_AMDGPU_TYPE_GTT 1U
#define GRT_AMDGPU_CPU_ACCESS 1U

/** struct grt_mem_amount - objects and their bytes */
struct grt_mem_amount {
	uint64_t objects;
	uint64_t bytes;
};

/**
 * struct grt_mem_object - an object
 * @object, @device: its identity
 * @bytes: its size; @sized: the size is known
 * @pid, @tid: its creator, 0: created before the trace
 * @created: its creation is in the trace
 * @binds: times it was bound
 */
struct grt_mem_object {
	uint64_t object;
	uint64_t bytes;
	uint64_t binds;
	uint32_t device;
	uint32_t pid;
	uint32_t tid;
	bool created;
	bool sized;
};

/**
 * struct grt_mem_process - objects that a process created, and those of them that any process destroyed
 * @tid: a thread of it, for its name
 */
struct grt_mem_process {
	uint32_t pid;
	uint32_t tid;
	struct grt_mem_amount created;
	struct grt_mem_amount destroyed;
};

/** struct grt_mem_slice - live memory in a slice of the time; @objects at its end; @used: it has a
 * change */
struct grt_mem_slice {
	uint64_t bytes_min;
	uint64_t bytes_max;
	uint64_t bytes_end;
	uint64_t objects;
	bool used;
};

/**
 * struct grt_mem_count - sums of all objects
 * @created, @destroyed: objects that were created in the trace
 * @older: destroyed objects from before the trace, or that were dropped
 * @live: created and not destroyed; @live_min, @live_max: from the first creation on, computed separately for
 *	each member
 * @vram_wanted: requested VRAM (amdgpu's domain); @vram_in_gtt: the part that was placed in GTT
 * @cpu_visible: created with amdgpu's flag for access by the CPU
 * @unsized_moves: moves of objects whose size is unknown
 * @binds, @rebinds: all bindings, and bindings of an object that was bound before
 * @faults: [through the GPU's aperture][by a write]
 * @forgotten: dropped objects
 * @over: objects of processes beyond GRT_MEMORY_PROCESSES_MAX
 */
struct grt_mem_count {
	struct grt_mem_amount created;
	struct grt_mem_amount destroyed;
	uint64_t older;
	struct grt_mem_amount live;
	struct grt_mem_amount live_min;
	struct grt_mem_amount live_max;
	struct grt_mem_amount vram_wanted;
	struct grt_mem_amount vram_in_gtt;
	struct grt_mem_amount cpu_visible;
	uint64_t moves;
	uint64_t unsized_moves;
	uint64_t binds;
	uint64_t rebinds;
	uint64_t unbinds;
	uint64_t faults[2][2];
	uint64_t shrinks;
	uint64_t forgotten;
	uint64_t over;
};

struct grt_memory;

/** grt_memory_new - begins; @objects: most objects, 0: GRT_MEMORY_OBJECTS_MAX. Return: 0 or -ENOMEM */
int grt_memory_new(struct grt_memory **out, uint32_t objects);

/** grt_memory_event - processes an event; uses MEM_*. Return: 0 or -ENOMEM */
int grt_memory_event(struct grt_memory *m, const struct grt_event *e);

/** grt_memory_count - the sums so far; valid until grt_memory_free() */
const struct grt_mem_count *grt_memory_count(const struct grt_memory *m);

/** grt_memory_moves - by (from, to); the sum is in bytes */
const struct grt_tally *grt_memory_moves(const struct grt_memory *m);

/** grt_memory_shrinks - by (flags); the sum is in pages wanted */
const struct grt_tally *grt_memory_shrinks(const struct grt_memory *m);

/** grt_memory_bind_sizes - sizes of all bindings, bytes */
const struct grt_hist *grt_memory_bind_sizes(const struct grt_memory *m);

/** grt_memory_top - the objects that were bound most often, at least twice. Return: their number */
unsigned int grt_memory_top(const struct grt_memory *m, struct grt_mem_object top[GRT_MEMORY_TOP]);

/**
 * grt_memory_processes - the processes, those with the most live bytes first
 * @out: gets an array that the caller frees; @n gets its length
 * Return: 0 or -ENOMEM
 */
int grt_memory_processes(const struct grt_memory *m, const struct grt_mem_process ***out, uint32_t *n);

/**
 * grt_memory_slices - live memory over time
 * @first: gets the start of the first slice, ns; @width: gets the length of each
 * Return: how many of @slice were filled
 */
unsigned int grt_memory_slices(const struct grt_memory *m, struct grt_mem_slice slice[GRT_MEMORY_SLICES],
			       uint64_t *first, uint64_t *width);

/** grt_memory_free - frees it; NULL is allowed */
void grt_memory_free(struct grt_memory *m);

#endif /* GRT_DRM_MEMORY_H */
