/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The first N jobs in the order of a column, out of any number, in memory for N.
 */
#ifndef GRT_JOBS_TOP_H
#define GRT_JOBS_TOP_H

#include "jobs.h"
#include "table/table.h"

/*
 * A job as a row: rows are struct grt_job, the view is a struct grt_job_view.
 */

extern const struct grt_table grt_job_table;

struct grt_top;

/**
 * grt_top_new - begins
 * @sort: column of grt_job_table
 * @view: the view of the table; must stay valid until grt_top_free()
 * @max: jobs to keep, > 0
 * Return: 0 or -ENOMEM
 */
int grt_top_new(struct grt_top **out, const struct grt_column *sort, const struct grt_job_view *view,
		uint64_t max);

/** grt_top_add - adds a job. Return: 0 or -ENOMEM */
int grt_top_add(struct grt_top *t, const struct grt_job *job);

/**
 * grt_top_each - calls @fn for the first jobs, in order; equal jobs in the order in which they were added.
 * More jobs may be added afterwards
 * Return: 0, -ENOMEM, or the first result of @fn other than 0, which ends the loop
 */
int grt_top_each(struct grt_top *t, int (*fn)(void *arg, const struct grt_job *job), void *arg);

/** grt_top_free - frees it; NULL is allowed */
void grt_top_free(struct grt_top *t);

#endif /* GRT_JOBS_TOP_H */
