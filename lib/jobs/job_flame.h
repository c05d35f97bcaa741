/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Sums up the time of DRM jobs on the hardware by the stack of their submit. A job and its stack have the
 * same identity, so nothing is guessed.
 *
 * Memory is bounded by the number of different stacks and of jobs in flight.
 */
#ifndef GRT_JOBS_JOB_FLAME_H
#define GRT_JOBS_JOB_FLAME_H

#include <grtrace/grtrace.h>

#include "stack/estimates.h"
#include "stack/flame_shapes.h"
#include "stack/frames.h"

/**
 * struct grt_job_flame_count - counts of jobs; a sampled job counts for all jobs that it represents
 * @sampled: some jobs were sampled
 * @jobs, @ns: jobs with a known time on the hardware, and the sum of these times
 * @no_stack, @no_stack_ns: those of @jobs without a stack, that is without a frame besides the system call
 * @call_only: those of @no_stack with the frame of the system call
 * @lost_stack: those of @no_stack whose stack was taken, and whose frames are not in the trace
 * @inferred_ns: the part of @ns of jobs whose START was inferred
 * @untimed: jobs without a known time on the hardware, which have no weight
 * @dropped: stacks beyond GRT_FRAMES_STACKS_MAX
 */
struct grt_job_flame_count {
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
struct grt_job_flame;

/**
 * grt_job_flame_new - makes one, to be freed by grt_job_flame_free()
 * @filter: counts only the jobs of the filter; NULL: all jobs
 * @slots: get each weight with its time; NULL: no
 * Return: 0 or -ENOMEM
 */
int grt_job_flame_new(struct grt_job_flame **out, const struct grt_filter *filter, struct grt_slots *slots);

/** grt_job_flame_within - as grt_jobs_within(); to be called before the first event */
void grt_job_flame_within(struct grt_job_flame *f, uint64_t from, uint64_t to);

/** grt_job_flame_event - processes an event; uses the classes of jobs, names, stacks and windows. Return: 0
 * or -ENOMEM */
int grt_job_flame_event(struct grt_job_flame *f, const struct grt_event *e);

/** grt_job_flame_flush - ends the trace. Return: 0 or -ENOMEM */
int grt_job_flame_flush(struct grt_job_flame *f);

/** grt_job_flame_processes - sees those that submitted, after grt_job_flame_flush(). Return: 0 or -ENOMEM */
int grt_job_flame_processes(const struct grt_job_flame *f, struct grt_process_names *processes);

/** grt_job_flame_any - whether a job has a weight */
bool grt_job_flame_any(const struct grt_job_flame *f);

/**
 * grt_job_flame_tree - after grt_job_flame_flush(): adds the stacks, outermost frame first, such as
 *	process;main;draw;ioctl;[GPU gfx]
 * A job counts as a copy if its ring feeds copy engines.
 * @processes: all that are in the picture
 * Return: 0, -ENOMEM or -EOVERFLOW (see grt_stacks_add())
 */
int grt_job_flame_tree(struct grt_job_flame *f, const struct grt_flame_shape *shape,
		       const struct grt_process_names *processes, struct grt_stacks *tree,
		       enum grt_stacks_side side);

/** grt_job_flame_count - complete after grt_job_flame_flush() */
struct grt_job_flame_count grt_job_flame_count(const struct grt_job_flame *f);

/** grt_job_flame_ends - adds GPU time by where its stacks end */
void grt_job_flame_ends(const struct grt_job_flame *f, struct grt_stack_ends *ends);

/**
 * grt_job_flame_windows - describes jobs that were recorded in random windows; their weights are scaled up to
 * the whole time
 * @watched: gets the windows; @total: gets the estimated GPU time of these jobs in the whole time
 * Return: whether there are such jobs
 */
bool grt_job_flame_windows(struct grt_job_flame *f, struct grt_estimate_watched *watched,
			   struct grt_estimate *total);

/** grt_job_flame_free - frees it; NULL is allowed */
void grt_job_flame_free(struct grt_job_flame *f);

#endif /* GRT_JOBS_JOB_FLAME_H */
