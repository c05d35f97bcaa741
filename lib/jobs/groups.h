/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Jobs summed up by ring, by engine and by process. A job counts once in each;
 * where jobs were sampled it counts for as many as it stands for.
 */
#ifndef GRT_JOBS_GROUPS_H
#define GRT_JOBS_GROUPS_H

#include "base/busy.h"
#include "base/hist.h"
#include "jobs.h"

/* Groups of a kind; jobs of what comes later are counted in @over. */
#define GRT_GROUPS_MAX 4096U
/* Octaves of all histograms together: 64 MiB. */
#define GRT_GROUPS_OCTAVES 16384U

/** enum grt_group_by - what a group has in common */
enum grt_group_by {
	GRT_BY_RING,
	GRT_BY_ENGINE,
	GRT_BY_PROCESS,
	GRT_BYS,
};

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
};

/** grt_group_sampled - whether some of its jobs stand for more than one */
static inline bool grt_group_sampled(const struct grt_group *g)
{
	return g->jobs != g->job_records * GRT_WEIGHT_ONE;
}

struct grt_groups;

/** grt_groups_new - begins; @kinds has bit 1 << by for what is wanted. Return: 0 or -ENOMEM */
int grt_groups_new(struct grt_groups **out, unsigned int kinds);

/**
 * grt_groups_span - what of jobs lies before @first or after @last is not in busy: a
 * share of the time in between is never more than the whole. Without it all is
 */
void grt_groups_span(struct grt_groups *g, uint64_t first, uint64_t last);

/** grt_groups_held, grt_groups_job - take in a job, see struct grt_jobs_sink. Return: 0 or -ENOMEM */
int grt_groups_held(struct grt_groups *g, const struct grt_job *job);
int grt_groups_job(struct grt_groups *g, const struct grt_job *job);

/**
 * grt_groups_stray - takes in an ERROR without job or a COMMAND
 * @name: of the event's thread, by grt_names_find()
 * Return: 0 or -ENOMEM
 */
int grt_groups_stray(struct grt_groups *g, const struct grt_event *e, uint32_t name);

/** grt_groups_get - the @i-th group in the order of appearance, NULL behind the last */
const struct grt_group *grt_groups_get(const struct grt_groups *g, enum grt_group_by by, uint32_t i);

/** grt_groups_over - jobs that are in no group because there were more than GRT_GROUPS_MAX */
uint64_t grt_groups_over(const struct grt_groups *g);

/** grt_groups_free - frees it; NULL is allowed */
void grt_groups_free(struct grt_groups *g);

#endif /* GRT_JOBS_GROUPS_H */
