/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Statistics of jobs: by ring, and driver data of submits. The tables are in the
 * analysis job_stats; this header has notes that other commands print, too.
 */
#ifndef GRT_JOBS_JOB_STATS_H
#define GRT_JOBS_JOB_STATS_H

#include "jobs.h"
#include "base/say.h"

/**
 * grt_jobs_notes - adds notes about the effects of sampling and missing events on values of jobs
 * @h: NULL if no inferred time is shown
 */
void grt_jobs_notes(struct grt_notes *n, const struct grt_jobs *jobs, const struct grt_health *h);

#endif /* GRT_JOBS_JOB_STATS_H */
