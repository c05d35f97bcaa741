/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * GPU time of CUDA under the CPU code that launched the work: kernels and copies by the
 * stack of their launch, which has the same correlation id. Nothing is joined by time.
 *
 * Memory is that of cuda/launches.h, and 64 bytes for each different
 * (stack, kernel, stream).
 */
#ifndef GRT_CUDA_LAUNCH_FLAME_H
#define GRT_CUDA_LAUNCH_FLAME_H

#include <grtrace/grtrace.h>

#include "stack/flame_shapes.h"
#include "stack/frames.h"
#include "stack/estimates.h"
#include "launches.h"
#include "sample_shares.h"

struct grt_slots;
struct grt_launch_flame;
struct grt_symbols_count;

/** grt_launch_flame_new - begins. Return: 0 or -ENOMEM */
int grt_launch_flame_new(struct grt_launch_flame **out);

/** grt_launch_flame_within - as grt_launches_within() */
void grt_launch_flame_within(struct grt_launch_flame *f, uint64_t from, uint64_t to);

/** grt_launch_flame_ranges - sets how frames of NVTX ranges are shown; to be called before the first event */
void grt_launch_flame_ranges(struct grt_launch_flame *f, enum grt_flame_ranges how);

/** grt_launch_flame_slots - records the times of weights in @slots; to be called before the first event */
void grt_launch_flame_slots(struct grt_launch_flame *f, struct grt_slots *slots);

/** grt_launch_flame_samples - processes PC samples, too; to be called before the first event. Return: 0 or
 * -ENOMEM
 */
int grt_launch_flame_samples(struct grt_launch_flame *f);

/** grt_launch_flame_event - processes an event; uses classes image and launch. Return: 0 or -ENOMEM */
int grt_launch_flame_event(struct grt_launch_flame *f, const struct grt_event *e);

/**
 * grt_launch_flame_tree - after grt_launch_flame_flush(): its stacks, outermost frame first
 *	python3;main;Model.forward (model.py:42);cudaLaunchKernel;[GPU_Kernel]gemm
 * Ranges of NVTX that the launch was made in are frames "[nvtx] NAME" around the
 * stack. A kernel that another one launched stands on [device launch], one whose launch is
 * not in the trace on [unmatched]; a launch without a stack is named by its
 * function. With launches as the weight, [GPU_Launch_Pending] is what came to
 * nothing and [lost] what CUPTI lost; neither has a time.
 * With PC samples as the weight kernels go on, "k.cu:12;[long_scoreboard]"; samples of functions that are no
 * kernel of the trace stand on [unmatched].
 * @processes: all that are in the picture
 * @side: of the tree they are added to
 * Return: 0, -ENOMEM or -EOVERFLOW (see grt_stacks_add())
 */
int grt_launch_flame_tree(struct grt_launch_flame *f, const struct grt_flame_shape *shape,
			  const struct grt_process_names *processes, struct grt_stacks *tree,
			  enum grt_stacks_side side);

/** grt_launch_flame_processes - sees those that launched, after grt_launch_flame_flush(). Return: 0 or
 * -ENOMEM */
int grt_launch_flame_processes(const struct grt_launch_flame *f, struct grt_process_names *processes);

/**
 * struct grt_launch_estimated - processes that were recorded in random windows, whose weights are scaled up
 * to the whole time
 * @processes: number of processes; @windows: number of their windows
 * @watched: time in the windows, ns; @of: the time that it represents, ns
 * @total: estimated GPU time of all of them; its interval is known only for one process
 * @beside: kernels and copies of launches outside of the windows, which have no weight
 */
struct grt_launch_estimated {
	uint32_t processes;
	uint32_t windows;
	uint64_t watched;
	uint64_t of;
	struct grt_estimate total;
	uint64_t beside;
};

/** grt_launch_flame_estimated - after grt_launch_flame_flush() */
struct grt_launch_estimated grt_launch_flame_estimated(const struct grt_launch_flame *f);

/** grt_launch_flame_sampled - PC samples, after grt_launch_flame_tree(); all zero: none were wanted */
struct grt_sampled grt_launch_flame_sampled(const struct grt_launch_flame *f);

/** grt_launch_flame_flush - ends the trace; to be called once. Return: 0 or -ENOMEM */
int grt_launch_flame_flush(struct grt_launch_flame *f);

/** grt_launch_flame_ends - adds GPU time by where its stacks end. Return: 0 or -ENOMEM */
int grt_launch_flame_ends(struct grt_launch_flame *f, struct grt_stack_ends *ends);

/** grt_launch_flame_unsized - copies and fills whose size is unknown: their weight in bytes is 0 */
uint64_t grt_launch_flame_unsized(const struct grt_launch_flame *f);

/** grt_launch_flame_count - counts of joined records; complete after grt_launch_flame_flush() */
struct grt_launches_count grt_launch_flame_count(const struct grt_launch_flame *f);

/** grt_launch_flame_symbols - counts of frames with and without a name */
const struct grt_symbols_count *grt_launch_flame_symbols(const struct grt_launch_flame *f);

/** grt_launch_flame_why - why a process is not traced, untrusted; NULL: all are, or @n is beyond the last */
const char *grt_launch_flame_why(const struct grt_launch_flame *f, uint32_t n);

/** grt_launch_flame_free - frees it; NULL is allowed */
void grt_launch_flame_free(struct grt_launch_flame *f);

#endif /* GRT_CUDA_LAUNCH_FLAME_H */
