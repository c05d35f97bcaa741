/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The inside of groups of jobs, see grtrace/groups.h.
 */
#ifndef GRT_JOBS_GROUPS_H
#define GRT_JOBS_GROUPS_H

#include <grtrace/groups.h>

#include "base/busy.h"
#include "base/hist.h"
#include "jobs.h"
#include "stack/estimates.h"

/* Most groups of a kind; jobs of further groups are counted in @over. */
#define GRT_GROUPS_MAX 4096U
/* Octaves of all histograms together: 64 MiB. */
#define GRT_GROUPS_OCTAVES 16384U

/** struct grt_group_job - a job of a group; @ns: its t_exec, @name: of its thread */
struct grt_group_job {
	uint64_t ctx;
	uint64_t seqno;
	uint64_t ns;
	uint32_t pid;
	uint32_t name;
	bool inferred;
};

/**
 * struct grt_group - one ring, engine or process
 * @ring, @device: the ring; for other kinds, the ring of the first job
 * @engine: of a ring or engine
 * @pid: of a process, 0: unknown
 * @name: for a process, the name of one of its threads, for grt_names_owner(); else unknown
 * @jobs: sum of weights, see hist.h
 * @job_records: jobs in the trace
 * @incomplete, @failed: number of such jobs
 * @errors: ERROR events that belong to no job
 * @commands: COMMAND events
 * @waits: joined waits, sum of weights
 * @wait_ns: sum of weight * time of these waits
 * @cut_waits: jobs with a wait whose end is not in the trace
 * @exec, @queue: t_exec and t_queue of the jobs that have them
 * @longest: the job of the largest t_exec, the first one of several
 * @sched_ns: sum of weight * t_sched of the jobs that have it, @sched: sum of their weights
 * @busy: union of the times between START and END, in the span
 * @busy_inferred: jobs in @busy whose START was inferred
 * @untimed: jobs that may have run and have no t_exec: @busy and the sum of @exec are lower bounds
 * @windows: with random windows, submitted jobs by window; @total, @part: estimates for the whole
 *	time, and its share of all jobs' t_exec; from grt_groups_estimate()
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
	struct grt_group_job longest;
	unsigned __int128 sched_ns;
	uint64_t sched;
	struct grt_busy busy;
	uint64_t busy_inferred;
	uint64_t untimed;
	struct grt_estimate_sums windows;
	struct grt_estimate total;
	struct grt_estimate part;
};

/** grt_groups_window - processes a WINDOW record. Return: 0 or -ENOMEM */
int grt_groups_window(struct grt_groups *g, const struct grt_ev_window *e);

/**
 * grt_groups_estimate - computes estimates for all groups of a kind from the windows within [@from, @to],
 * which *@out reports.
 * Return: 0 or -ENOMEM
 */
int grt_groups_estimate(struct grt_groups *g, enum grt_group_by by, uint64_t from, uint64_t to,
			struct grt_estimate_watched *out);
/** grt_groups_queue - adds only the t_queue of a job. Return: 0 or -ENOMEM */
int grt_groups_queue(struct grt_groups *g, const struct grt_job *job);

/** grt_groups_queue_sums - the same of jobs that a source has summed up. Return: 0 or -ENOMEM */
int grt_groups_queue_sums(struct grt_groups *g, const struct grt_job_sums *s);

/** grt_group_sampled - whether some of its jobs have a weight above one */
static inline bool grt_group_sampled(const struct grt_group *g)
{
	return g->jobs != g->job_records * GRT_WEIGHT_ONE;
}

#endif /* GRT_JOBS_GROUPS_H */
