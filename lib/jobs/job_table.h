/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A job as a row: rows are struct grt_job, the view is a struct grt_job_view.
 */
#ifndef GRT_JOBS_JOB_TABLE_H
#define GRT_JOBS_JOB_TABLE_H

#include "jobs.h"
#include "table/table.h"

extern const struct grt_table grt_job_table;

#endif /* GRT_JOBS_JOB_TABLE_H */
