/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * CPU stacks and GPU records that different tools took of the same run, joined
 * to one tree. A kernel belongs to the call with its correlation id, without one or
 * with 0 to none; a call gets its stack by the first of these that applies:
 *
 *	id	the stack says the correlation id: its last frame is [correlation N]
 *	order	a thread has as many stacks as calls: the n-th belongs to the n-th
 *	window	of its thread, where threads can be distinguished, the last stack not used
 *		yet that is at most the window before the call began, else the first until it
 *		returned; the clocks must be the same, or their offset known: grt_seeds_clock()
 *
 * Which one it was is counted. What has no stack stands on [unmatched], kernels
 * without a call, too; calls without a kernel end in [GPU_Launch_Pending].
 *
 * The n-th and the last are of the order of time; that of the file may be another.
 *
 * Memory is 12 bytes for each stack taken, 28 where calls are of threads that have none,
 * and some 4 for each correlation id, less than 512 where ids are far apart; where calls
 * are in no order of time, also 32 for each.
 */
#ifndef GRT_CUDA_SEEDS_H
#define GRT_CUDA_SEEDS_H

#include "stack/flame_shapes.h"
#include "cupti_records.h"

/* The default window, ns. */
#define GRT_SEEDS_WINDOW 1000000U

/**
 * struct grt_seeds_count - counts of stacks, calls and GPU work
 * @samples: CPU stacks; @named: of these, with the correlation id of their launch
 * @bad_samples: lines that are not a CPU stack; @first_bad: the number of the first one
 * @calls: launches; @by_id, @by_order, @by_window: of these, how they got their stack; @no_stack: how many
 * did not
 * @ops: kernels, copies and fills; @no_call: of these, without a launch or other call that has a stack
 * @pending: launches without a kernel, copy or fill
 * @ns: sum of the times of @ops
 * @unsized: copies and fills whose size is unknown
 */
struct grt_seeds_count {
	uint64_t samples;
	uint64_t named;
	uint64_t bad_samples;
	uint64_t first_bad;
	uint64_t calls;
	uint64_t by_id;
	uint64_t by_order;
	uint64_t by_window;
	uint64_t no_stack;
	uint64_t ops;
	uint64_t no_call;
	uint64_t pending;
	uint64_t ns;
	uint64_t unsized;
	struct grt_cupti_count gpu;
};

struct grt_seeds;

/** grt_seeds_new - begins; @shape stays the caller's. Return: 0 or -ENOMEM */
int grt_seeds_new(struct grt_seeds **out, const struct grt_flame_shape *shape);

/**
 * grt_seeds_cpu - reads a file of CPU stacks, `ts_ns comm pid tid cpu f1;f2;...`, outermost frame first
 * Return: 0 or a negative errno
 */
int grt_seeds_cpu(struct grt_seeds *s, int fd);

/**
 * grt_seeds_gpu - reads a file of CUPTI's text and makes the tree; to be called after grt_seeds_cpu()
 * @fd: a regular file: it is read again where the order of calls turned out not to tell their stacks, or
 * not to be that of time
 * Return: 0 or a negative errno
 */
int grt_seeds_gpu(struct grt_seeds *s, int fd);

/**
 * grt_seeds_clock - before grt_seeds_gpu(): what joining by time goes by
 * @window: ns
 * @offset: added to the GPU's stamps, ns
 */
void grt_seeds_clock(struct grt_seeds *s, uint64_t window, int64_t offset);

/** struct grt_seeds_moments - gets what both files know the time of. Each returns 0 or a negative errno
 * @stack: a stack that does not say its correlation id, in the order of each thread's time
 * @call: a launch, in the order of time. Of a runtime's call and the driver's in it there is one
 * @tid: 1 for all where the files do not agree on threads
 */
struct grt_seeds_moments {
	int (*stack)(void *arg, uint32_t tid, uint64_t ts);
	int (*call)(void *arg, uint32_t tid, uint64_t start, uint64_t end);
	void *arg;
};

/** grt_seeds_moments - hands them out; after grt_seeds_cpu(). Return: 0, -ENODATA: there is no launch, or
 * another negative errno */
int grt_seeds_moments(struct grt_seeds *s, int fd, const struct grt_seeds_moments *m);

/** grt_seeds_take - the tree, to be freed; without grt_seeds_gpu() that of the CPU stacks, a sample each.
 * NULL: no memory */
struct grt_stacks *grt_seeds_take(struct grt_seeds *s);

struct grt_seeds_count grt_seeds_count(const struct grt_seeds *s);

/** grt_seeds_free - NULL is allowed */
void grt_seeds_free(struct grt_seeds *s);

#endif /* GRT_CUDA_SEEDS_H */
