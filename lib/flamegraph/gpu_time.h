/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Sums up GPU time by the CPU code that requested it: the time of DRM jobs on the hardware by the stack of
 * their submit (jobs/job_flame.h), and the time of CUDA work by the stack of its launch
 * (cuda/launch_flame.h).
 */
#ifndef GRT_FLAMEGRAPH_GPU_TIME_H
#define GRT_FLAMEGRAPH_GPU_TIME_H

#include <grtrace/grtrace.h>

#include "cuda/launch_flame.h"
#include "jobs/job_flame.h"
#include "stack/flame_shapes.h"
#include "stack/frames.h"

struct grt_filter;
struct grt_gpu_time;

/** grt_gpu_time_new - makes one, to be freed by grt_gpu_time_free(). Return: 0 or -ENOMEM */
int grt_gpu_time_new(struct grt_gpu_time **out);

/** grt_gpu_time_filter - counts only the jobs of the filter, which lives as long as @f; NULL: all jobs */
void grt_gpu_time_filter(struct grt_gpu_time *f, const struct grt_filter *filter);

/**
 * grt_gpu_time_within - sets the examined time of CUDA work, as grt_launches_within()
 * Events of DRM jobs outside of this time must not be passed to grt_gpu_time_event().
 */
void grt_gpu_time_within(struct grt_gpu_time *f, uint64_t from, uint64_t to);

/** grt_gpu_time_event - processes an event of any type. Return: 0 or -ENOMEM */
int grt_gpu_time_event(struct grt_gpu_time *f, const struct grt_event *e);

/**
 * grt_gpu_time_tree - ends the trace and adds all of its stacks to a tree, outermost frame first
 * @shape: the frames to add around the stacks, and the weight to use
 * @side: the side of the tree to which weights are added
 * Return: 0, -ENOMEM, -EOVERFLOW (see grt_stacks_add()), or -ENODATA: the weight is bytes, and the trace has
 * only
 *	jobs, whose size is unknown, or copies of unknown size; or it is PC samples, and the trace has none
 */
int grt_gpu_time_tree(struct grt_gpu_time *f, const struct grt_flame_shape *shape, struct grt_stacks *tree,
		      enum grt_stacks_side side);

/** grt_gpu_time_count - Return: counts of DRM jobs; complete after grt_gpu_time_tree() or
 * grt_gpu_time_flush() */
struct grt_job_flame_count grt_gpu_time_count(const struct grt_gpu_time *f);

/**
 * grt_gpu_time_ends - sums up GPU time by the place at which stacks end, of jobs and of CUDA work; after
 * grt_gpu_time_tree() or grt_gpu_time_flush(). Return: 0 or -ENOMEM
 */
int grt_gpu_time_ends(const struct grt_gpu_time *f, struct grt_stack_ends *ends);

/** grt_gpu_time_flush - ends the trace for a caller that needs no tree. Return: 0 or -ENOMEM */
int grt_gpu_time_flush(struct grt_gpu_time *f);

/** grt_gpu_time_launches - Return: the part for CUDA work, owned by @f */
const struct grt_launch_flame *grt_gpu_time_launches(const struct grt_gpu_time *f);

struct grt_notes;

/** grt_gpu_time_note_estimated - adds a note if weights are estimates: of which time, and how exact they are
 */
void grt_gpu_time_note_estimated(struct grt_notes *notes, const struct grt_launch_flame *f);

/** grt_gpu_time_windows - as grt_job_flame_windows(). After grt_gpu_time_tree() */
bool grt_gpu_time_windows(struct grt_gpu_time *f, struct grt_estimate_watched *watched,
			  struct grt_estimate *total);

/** grt_gpu_time_free - frees it; NULL is allowed */
void grt_gpu_time_free(struct grt_gpu_time *f);

#endif /* GRT_FLAMEGRAPH_GPU_TIME_H */
