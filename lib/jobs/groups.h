/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Groups of jobs, see grtrace/groups.h, for those who look into them.
 */
#ifndef GRT_JOBS_GROUPS_H
#define GRT_JOBS_GROUPS_H

#include <grtrace/groups.h>

#include "base/busy.h"
#include "base/hist.h"
#include "jobs.h"
#include "stack/estimates.h"

/* Groups of a kind; jobs of what comes later are counted in @over. */
#define GRT_GROUPS_MAX 4096U
/* Octaves of all histograms together: 64 MiB. */
#define GRT_GROUPS_OCTAVES 16384U

/**
 * struct grt_group - one ring, engine or process
 * @ring, @device: of a ring; those of the job seen first otherwise
 * @engine: of a ring or engine
 * @pid: of a process, 0: unknown
 * @name: of a process: a thread of it, for grt_names_owner(); else unknown
 * @jobs: sum of weights, see hist.h
 * @job_records: jobs in the trace
 * @incomplete, @failed: of these
 * @errors: ERROR events that belong to no job
 * @commands: COMMAND events
 * @waits: joined waits, sum of weights
 * @wait_ns: sum of weight * time of these
 * @cut_waits: jobs with a wait whose end is not in the trace
 * @exec, @queue: t_exec and t_queue of the jobs that have them
 * @busy: union of the times between START and END, in the span
 * @busy_inferred: jobs in @busy whose START was not observed
 * @windows: of a trace of windows at random, what was submitted in which; @total, @part: what that says of
 *all of the time, and its part of all jobs' t_exec; by grt_groups_estimate()
 */
struct grt_group {
	uint32_t ring;
	uint32_t device;
	uint32_t pid;
	uint32_t name;
	uint8_t engine;
	uint64_t jobs;
	uint64_t job_records;
	uint64_t incomplete;
	uint64_t failed;
	uint64_t errors;
	uint64_t commands;
	uint64_t waits;
	unsigned __int128 wait_ns;
	uint64_t cut_waits;
	struct grt_hist exec;
	struct grt_hist queue;
	struct grt_busy busy;
	uint64_t busy_inferred;
	struct grt_estimate_sums windows;
	struct grt_estimate total;
	struct grt_estimate part;
};

/** grt_groups_window - takes in a WINDOW. Return: 0 or -ENOMEM */
int grt_groups_window(struct grt_groups *g, const struct grt_ev_window *e);

/** grt_groups_estimate - of all groups of a kind, by the windows within [@from, @to], which *@out reports.
 * Return: 0 or -ENOMEM */
int grt_groups_estimate(struct grt_groups *g, enum grt_group_by by, uint64_t from, uint64_t to,
			struct grt_estimate_watched *out);
/** grt_groups_queue - takes in a job's t_queue, and nothing else of it. Return: 0 or -ENOMEM */
int grt_groups_queue(struct grt_groups *g, const struct grt_job *job);

/** grt_group_sampled - whether some of its jobs stand for more than one */
static inline bool grt_group_sampled(const struct grt_group *g)
{
	return g->jobs != g->job_records * GRT_WEIGHT_ONE;
}

#endif /* GRT_JOBS_GROUPS_H */
