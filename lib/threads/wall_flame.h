/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The time of threads as a flame graph: each thread's life under the stacks in which it
 * ran and waited, see threads.h. Times off the CPU come from the records; the running
 * time is exact, too, and is divided among the thread's samples.
 *
 * Memory is that of threads.h and of gpu_waits.h, and 56 bytes for each different
 * (thread, state, stack, kernel for which it waited).
 */
#ifndef GRT_THREADS_WALL_FLAME_H
#define GRT_THREADS_WALL_FLAME_H

#include "stack/flame_shapes.h"
#include "gpu_waits.h"
#include "threads.h"

/**
 * struct grt_wall_count - counts and sums of times
 * @threads: number of threads
 * @ns: sum of their times, by state
 * @not_sampled_ns: running time of threads without a sample
 * @gpu_work_ns: time of waits for GPUs in which the GPUs did known work
 * @waits: counts of work and waits that came too late
 * @no_stack_ns: time off the CPU and samples' share without a user stack
 * @samples: number of samples of running code
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

/**
 * grt_wall_flame_new - makes one; @from: as for grt_threads_from(); @slots: get each weight with its time,
 * NULL: no; @compared: as in struct grt_flame_shape. Return: 0 or -ENOMEM
 */
int grt_wall_flame_new(struct grt_wall_flame **out, uint64_t from, struct grt_slots *slots, bool compared);

/** grt_wall_flame_event - processes an event of any type. Return: 0 or -ENOMEM */
int grt_wall_flame_event(struct grt_wall_flame *f, const struct grt_event *e);

/**
 * grt_wall_flame_tree - ends the trace, and adds its stacks to @tree, outermost frame first
 *	app;worker (4711);main;solve;cudaDeviceSynchronize;ioctl;[gpu]
 * The innermost frame is the state, or the kernel, copy or ring's job that ran on the GPU while the
 * thread waited for it, see gpu_waits.h:
 *	app;worker (4711);main;solve;cudaDeviceSynchronize;ioctl;[gpu];[GPU_Kernel]gemm
 * The frame [not sampled] is the running time of a thread without samples.
 * @shape: with GRT_FLAME_BY_PROCESS, the threads of a process are added up; else each is shown
 * @side: the side of the tree to which the stacks are added
 * Return: 0, -ENOMEM or -EOVERFLOW (see grt_stacks_add())
 */
int grt_wall_flame_tree(struct grt_wall_flame *f, const struct grt_flame_shape *shape,
			struct grt_stacks *tree, enum grt_stacks_side side);

/** grt_wall_flame_count - the counts; complete after grt_wall_flame_tree() */
struct grt_wall_count grt_wall_flame_count(const struct grt_wall_flame *f);

/** grt_wall_flame_free - frees it; NULL is allowed */
void grt_wall_flame_free(struct grt_wall_flame *f);

#endif /* GRT_THREADS_WALL_FLAME_H */
