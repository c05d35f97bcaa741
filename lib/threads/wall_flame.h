/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Where the time of threads went, as a flame graph: each thread's life under the
 * stacks that it ran and waited in, see threads.h. Times off the CPU are those of
 * the records; the time that it ran is exact, too, and is shared out among its
 * samples.
 *
 * Memory is that of threads.h and of gpu_waits.h, and 56 bytes for each different
 * (thread, state, stack, kernel that it waited for).
 */
#ifndef GRT_THREADS_WALL_FLAME_H
#define GRT_THREADS_WALL_FLAME_H

#include "stack/flame_shapes.h"
#include "gpu_waits.h"
#include "threads.h"

/**
 * struct grt_wall_count - what was met
 * @threads: that there are
 * @ns: their lives, by state
 * @not_sampled_ns: of what they ran, the time of threads without a sample of it
 * @gpu_work_ns: of what they waited for GPUs, with work that these did meanwhile
 * @waits: what is unknown of that
 * @no_stack_ns: time off the CPU and samples' share without a user stack
 * @samples: of what ran
 * @dropped: frames of stacks that were too many
 */
struct grt_wall_count {
	struct grt_threads_count seen;
	uint64_t threads;
	uint64_t ns[GRT_THREAD_STATES];
	uint64_t not_sampled_ns;
	uint64_t gpu_work_ns;
	struct grt_gpu_waits_count waits;
	uint64_t no_stack_ns;
	uint64_t samples;
	uint64_t dropped;
};

struct grt_slots;
struct grt_wall_flame;

/** grt_wall_flame_new - begins; @from as of grt_threads_from(); @slots: get when the weights came, NULL:
 * nobody asks; @compared: as of struct grt_flame_shape. Return: 0 or -ENOMEM */
int grt_wall_flame_new(struct grt_wall_flame **out, uint64_t from, struct grt_slots *slots, bool compared);

/** grt_wall_flame_event - takes in an event of any type. Return: 0 or -ENOMEM */
int grt_wall_flame_event(struct grt_wall_flame *f, const struct grt_event *e);

/**
 * grt_wall_flame_tree - the trace is over: its stacks, outermost frame first
 *	app;worker (4711);main;solve;cudaDeviceSynchronize;ioctl;[gpu]
 * The innermost frame is the state, or the kernel, copy or ring's job that ran on the GPU while the
 * thread waited for it, see gpu_waits.h:
 *	app;worker (4711);main;solve;cudaDeviceSynchronize;ioctl;[gpu];[GPU_Kernel]gemm
 * [not sampled] stands where it is unknown what
 * a thread ran.
 * @shape: with by GRT_FLAME_BY_PROCESS it adds up threads, else they are apart
 * @side: of the tree they are added to
 * Return: 0, -ENOMEM or -EOVERFLOW (see grt_stacks_add())
 */
int grt_wall_flame_tree(struct grt_wall_flame *f, const struct grt_flame_shape *shape,
			struct grt_stacks *tree, enum grt_stacks_side side);

/** grt_wall_flame_count - what was met; complete after grt_wall_flame_tree() */
struct grt_wall_count grt_wall_flame_count(const struct grt_wall_flame *f);

/** grt_wall_flame_free - frees it; NULL is allowed */
void grt_wall_flame_free(struct grt_wall_flame *f);

#endif /* GRT_THREADS_WALL_FLAME_H */
