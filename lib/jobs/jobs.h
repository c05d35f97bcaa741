/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Jobs, see grtrace/jobs.h: limits, and declarations for other parts of the library.
 */
#ifndef GRT_JOBS_JOBS_H
#define GRT_JOBS_JOBS_H

#include <grtrace/jobs.h>

#include "trace/names.h"

/* Jobs in flight, 128 bytes each and at most 112 for its place: 240 MiB for the worst trace. */
#define GRT_JOBS_MAX 1048576U
/* Completions for which a completed job stays: 0.5 MiB, which second-level caches hold. */
#define GRT_JOBS_WINDOW 4096U
/* Waits that have begun and not ended. */
#define GRT_JOBS_WAITS_MAX 65536U
/* Rings whose order is known. */
#define GRT_JOBS_RINGS_MAX 4096U

_Static_assert(sizeof(struct grt_job) == 128, "two cache lines");

/** grt_jobs_completed_again - COMPLETE events of jobs that were complete: concluded before, or told twice */
uint64_t grt_jobs_completed_again(const struct grt_jobs *j);

/**
 * grt_jobs_settle - ends the window of jobs that were complete before @time, ns: for those who want jobs
 * while events still come. Return: 0 or what the sink returned
 */
int grt_jobs_settle(struct grt_jobs *j, uint64_t time);

/**
 * grt_jobs_each_running - calls @fn for each job that runs, or has ended and is not complete: it has a START.
 * Of a ring in which no START was seen, it is the first job that has a COMMIT, with the START that it would
 * be given, inferred Return: 0, what @fn returned, which ends it, or -ENOMEM
 */
int grt_jobs_each_running(struct grt_jobs *j, int (*fn)(void *arg, const struct grt_job *job), void *arg);

/** grt_job_touches - whether one of a job's stamps, or what is between them, lies in a span */
bool grt_job_touches(const struct grt_job *job, uint64_t first, uint64_t last);

#endif /* GRT_JOBS_JOBS_H */
