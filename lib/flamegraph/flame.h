/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * GPU time under the CPU code that requested it: jobs by the stack that
 * submitted them, weighed by what they ran on the hardware; and what CUDA's GPU did,
 * see launch_flame.h. A job and its stack carry the same identity, so nothing is
 * guessed.
 *
 * Memory is bounded by the number of different stacks and of jobs in flight.
 */
#ifndef GRT_FLAMEGRAPH_FLAME_H
#define GRT_FLAMEGRAPH_FLAME_H

#include <grtrace/grtrace.h>

#include "stack/flame_shapes.h"
#include "stack/frames.h"
#include "stack/stack_ends.h"
#include "cuda/launch_flame.h"

/**
 * struct grt_flame_count - what was met; a sampled job counts for all it stands for
 * @sampled: some of the jobs were
 * @jobs: with a time on the hardware
 * @ns: of these, in all
 * @no_stack, @no_stack_ns: of these, jobs without a frame of a stack besides that of the system call
 * @call_only: of those without a stack, jobs of whose stack there is only the frame of the system call
 * @lost_stack: of these, jobs whose stack was taken, and whose frames are not in the trace
 * @inferred_ns: of @ns, where START was inferred
 * @untimed: jobs without a known time on the hardware, which have no place here
 * @dropped: stacks beyond GRT_FRAMES_STACKS_MAX
 */
struct grt_flame_count {
	bool sampled;
	uint64_t jobs;
	uint64_t ns;
	uint64_t no_stack;
	uint64_t no_stack_ns;
	uint64_t call_only;
	uint64_t lost_stack;
	uint64_t inferred_ns;
	uint64_t untimed;
	uint64_t dropped;
};

struct grt_filter;
struct grt_slots;
struct grt_flame;

/** grt_flame_new - begins. Return: 0 or -ENOMEM */
int grt_flame_new(struct grt_flame **out);

/** grt_flame_filter - only these jobs; NULL: all */
void grt_flame_filter(struct grt_flame *f, const struct grt_filter *filter);

/** grt_flame_within - CUDA's part: as grt_launches_within(). Of jobs, events outside must not come */
void grt_flame_within(struct grt_flame *f, uint64_t from, uint64_t to);

/** grt_flame_ranges - how frames of NVTX's ranges are shown; to be called before the first event */
void grt_flame_ranges(struct grt_flame *f, enum grt_flame_ranges how);

/** grt_flame_slots - they get when the weights came, NULL: nobody asks; to be called before the first event
 */
void grt_flame_slots(struct grt_flame *f, struct grt_slots *slots);

/** grt_flame_samples - PC samples are wanted; to be called before the first event, behind grt_flame_within().
 * Return: 0 or -ENOMEM */
int grt_flame_samples(struct grt_flame *f);

/** grt_flame_event - processes an event of any type. Return: 0 or -ENOMEM */
int grt_flame_event(struct grt_flame *f, const struct grt_event *e);

/**
 * grt_flame_tree - the trace is over: its stacks, outermost frame first
 *	process;main;draw;ioctl;[GPU gfx]
 * @shape: what they stand on and weigh; a job is a copy where its ring feeds copy engines
 * @side: of the tree they are added to
 * Return: 0, -ENOMEM, -EOVERFLOW (see grt_stacks_add()), or -ENODATA where bytes are
 *	wanted and all there is are jobs, which do not report it, or copies of unknown size, or where PC
 *	samples are and there are none
 */
int grt_flame_tree(struct grt_flame *f, const struct grt_flame_shape *shape, struct grt_stacks *tree,
		   enum grt_stacks_side side);

/** grt_flame_count - what was met; complete after grt_flame_tree() */
struct grt_flame_count grt_flame_count(const struct grt_flame *f);

/** grt_flame_ends - GPU time by where its stacks end, of jobs and of CUDA's work, after grt_flame_tree() or
 * grt_flame_flush(). Return: 0 or -ENOMEM */
int grt_flame_ends(const struct grt_flame *f, struct grt_stack_ends *ends);

/** grt_flame_flush - the trace is over, and no tree is wanted. Return: 0 or -ENOMEM */
int grt_flame_flush(struct grt_flame *f);

/** grt_flame_launches - CUDA's part */
const struct grt_launch_flame *grt_flame_launches(const struct grt_flame *f);

struct grt_notes;

/** grt_flame_note_estimated - where weights are estimates, of what, and how good they are */
void grt_flame_note_estimated(struct grt_notes *notes, const struct grt_launch_flame *f);

/** grt_flame_windows - after grt_flame_tree(): of jobs that were recorded in windows at random, whose weights
 * are scaled up, and their GPU time in all of the time. Return: whether there are some */
bool grt_flame_windows(struct grt_flame *f, struct grt_estimate_watched *watched, struct grt_estimate *total);

/** grt_flame_free - frees it; NULL is allowed */
void grt_flame_free(struct grt_flame *f);

#endif /* GRT_FLAMEGRAPH_FLAME_H */
