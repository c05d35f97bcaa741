/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Jobs, see grtrace/jobs.h: limits, and declarations for other parts of the library.
 */
#ifndef GRT_JOBS_JOBS_H
#define GRT_JOBS_JOBS_H

#include <grtrace/jobs.h>

#include "base/hist.h"
#include "trace/names.h"

/* Most jobs in flight, 128 bytes each and at most 112 for the table: 240 MiB for the worst trace. */
#define GRT_JOBS_MAX 1048576U
/* Number of completions for which a completed job is kept: 0.5 MiB, which fits into second-level caches. */
#define GRT_JOBS_WINDOW 4096U
/* Most pending waits. */
#define GRT_JOBS_WAITS_MAX 65536U
/* Most rings whose order is tracked. */
#define GRT_JOBS_RINGS_MAX 4096U

_Static_assert(sizeof(struct grt_job) == 128, "two cache lines");

/**
 * grt_jobs_completed_again - COMPLETE events of jobs that were already complete: inferred before, or reported
 * twice
 */
uint64_t grt_jobs_completed_again(const struct grt_jobs *j);

/** grt_jobs_chosen - jobs recorded as one JOB record since they took long: others are not in the trace */
uint64_t grt_jobs_chosen(const struct grt_jobs *j);

/**
 * grt_jobs_settle - retires jobs that were complete before @time, ns: for callers that need jobs
 * while events still come. Return: 0 or the result of the sink
 */
int grt_jobs_settle(struct grt_jobs *j, uint64_t time);

/**
 * grt_jobs_each_running - calls @fn for each job with a START that is not complete.
 * On a ring without START events, this is the first job with a COMMIT, with an inferred START
 * Return: 0, the result of @fn, which ends the loop, or -ENOMEM
 */
int grt_jobs_each_running(struct grt_jobs *j, int (*fn)(void *arg, const struct grt_job *job), void *arg);

/**
 * grt_jobs_within - only jobs that are in flight at some time from @from to @to are passed to the sink and
 * counted, as a whole. A job without END and COMPLETE is in flight until the trace ends; but if a job with a
 * later COMMIT ended on its ring, its end was lost, and it is in flight until its last time stamp.
 */
void grt_jobs_within(struct grt_jobs *j, uint64_t from, uint64_t to);

/**
 * struct grt_job_sums - jobs of a process on a ring that are in no event, since a source has summed them up
 * @name: of the thread that submitted the last one
 * @timed: t_exec is known of so many, and they ran one after another, @untimed: of these it is not
 * @last_end, @last_commit: the latest, ns; 0: none
 * @exec, @queue: t_exec and t_queue of @timed
 */
struct grt_job_sums {
	uint32_t device;
	uint32_t ring;
	uint32_t pid;
	uint32_t tid;
	uint32_t name;
	uint8_t engine;
	uint64_t timed;
	uint64_t untimed;
	uint64_t last_end;
	uint64_t last_commit;
	struct grt_hist_counts exec;
	struct grt_hist_counts queue;
};

/** grt_jobs_ended - jobs of the ring have ended that are in no event: the START of later ones is inferred
 * from theirs. Return: 0 or -ENOMEM */
int grt_jobs_ended(struct grt_jobs *j, const struct grt_job_sums *s);

/** grt_job_touches - whether a job's time, from its first to its last time stamp, overlaps a span */
bool grt_job_touches(const struct grt_job *job, uint64_t first, uint64_t last);

#endif /* GRT_JOBS_JOBS_H */
