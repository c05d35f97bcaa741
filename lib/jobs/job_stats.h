/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Jobs in numbers: by ring, and what their drivers say of their submits. The
 * tables are in the analysis job_stats; here is what other commands say, too.
 */
#ifndef GRT_JOBS_JOB_STATS_H
#define GRT_JOBS_JOB_STATS_H

#include "jobs.h"
#include "table/notes.h"

/**
 * grt_jobs_notes - notes: what sampling and missing events mean for conclusions about jobs
 * @h: NULL where no inferred time is shown
 */
void grt_jobs_notes(struct grt_notes *n, const struct grt_jobs *jobs, const struct grt_health *h);

#endif /* GRT_JOBS_JOB_STATS_H */
