/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Sums up GPU time by the CPU code that requested it: the time of DRM jobs on the hardware by the stack of
 * their submit, and the time of CUDA work by the stack of its launch (launch_flame.h). A job and its stack
 * have the same identity, so nothing is guessed.
 *
 * Memory is bounded by the number of different stacks and of jobs in flight.
 */
#ifndef GRT_FLAMEGRAPH_FLAME_H
#define GRT_FLAMEGRAPH_FLAME_H

#include <grtrace/grtrace.h>

#include "stack/flame_shapes.h"
#include "stack/frames.h"
#include "cuda/launch_flame.h"

/**
 * struct grt_flame_count - counts of DRM jobs; a sampled job counts for all jobs that it represents
 * @sampled: some jobs were sampled
 * @jobs, @ns: jobs with a known time on the hardware, and the sum of these times
 * @no_stack, @no_stack_ns: those of @jobs without a stack, that is without a frame besides the system call
 * @call_only: those of @no_stack with the frame of the system call
 * @lost_stack: those of @no_stack whose stack was taken, and whose frames are not in the trace
 * @inferred_ns: the part of @ns of jobs whose START was inferred
 * @untimed: jobs without a known time on the hardware, which have no weight
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

/** grt_flame_new - makes one, to be freed by grt_flame_free(). Return: 0 or -ENOMEM */
int grt_flame_new(struct grt_flame **out);

/** grt_flame_filter - counts only the jobs of the filter, which lives as long as @f; NULL: all jobs */
void grt_flame_filter(struct grt_flame *f, const struct grt_filter *filter);

/**
 * grt_flame_within - sets the examined time of CUDA work, as grt_launches_within()
 * Events of DRM jobs outside of this time must not be passed to grt_flame_event().
 */
void grt_flame_within(struct grt_flame *f, uint64_t from, uint64_t to);

/** grt_flame_ranges - sets how NVTX ranges are shown; to be called before the first event */
void grt_flame_ranges(struct grt_flame *f, enum grt_flame_ranges how);

/** grt_flame_slots - @slots get each weight with its time, NULL: no; to be called before the first event */
void grt_flame_slots(struct grt_flame *f, struct grt_slots *slots);

/**
 * grt_flame_samples - also sums up PC samples; to be called after grt_flame_within() and before the first
 * event
 * Return: 0 or -ENOMEM
 */
int grt_flame_samples(struct grt_flame *f);

/** grt_flame_event - processes an event of any type. Return: 0 or -ENOMEM */
int grt_flame_event(struct grt_flame *f, const struct grt_event *e);

/**
 * grt_flame_tree - adds the stacks of the whole trace to a tree, outermost frame first, such as
 *	process;main;draw;ioctl;[GPU gfx]
 * @shape: the frames to add around the stacks, and the weight to use. A job counts as a copy if its ring
 *	feeds copy engines
 * @side: the side of the tree to which weights are added
 * Return: 0, -ENOMEM, -EOVERFLOW (see grt_stacks_add()), or -ENODATA: the weight is bytes, and the trace has
 * only
 *	jobs, whose size is unknown, or copies of unknown size; or it is PC samples, and the trace has none
 */
int grt_flame_tree(struct grt_flame *f, const struct grt_flame_shape *shape, struct grt_stacks *tree,
		   enum grt_stacks_side side);

/** grt_flame_count - Return: counts of DRM jobs; complete after grt_flame_tree() or grt_flame_flush() */
struct grt_flame_count grt_flame_count(const struct grt_flame *f);

/**
 * grt_flame_ends - sums up GPU time by the place at which stacks end, of jobs and of CUDA work; after
 * grt_flame_tree() or grt_flame_flush(). Return: 0 or -ENOMEM
 */
int grt_flame_ends(const struct grt_flame *f, struct grt_stack_ends *ends);

/** grt_flame_flush - ends the trace for a caller that needs no tree. Return: 0 or -ENOMEM */
int grt_flame_flush(struct grt_flame *f);

/** grt_flame_launches - Return: the part for CUDA work, owned by @f */
const struct grt_launch_flame *grt_flame_launches(const struct grt_flame *f);

struct grt_notes;

/** grt_flame_note_estimated - adds a note if weights are estimates: of which time, and how exact they are */
void grt_flame_note_estimated(struct grt_notes *notes, const struct grt_launch_flame *f);

/**
 * grt_flame_windows - describes jobs that were recorded in random windows; their weights are scaled up to the
 * whole time. After grt_flame_tree()
 * @watched: gets the windows; @total: gets the estimated GPU time of these jobs in the whole time
 * Return: whether there are such jobs
 */
bool grt_flame_windows(struct grt_flame *f, struct grt_estimate_watched *watched, struct grt_estimate *total);

/** grt_flame_free - frees it; NULL is allowed */
void grt_flame_free(struct grt_flame *f);

#endif /* GRT_FLAMEGRAPH_FLAME_H */
