/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One run of `grtrace report`, shared by its files: report.c takes the command
 * line and drives the session, report_print.c puts together what is written.
 */
#ifndef GRTRACE_REPORT_H
#define GRTRACE_REPORT_H

#include "jobs/aggregates.h"
#include "drm/counters.h"
#include "table/counts.h"
#include "jobs/group_table.h"
#include "jobs/job_table.h"
#include "cuda/launch_groups.h"
#include "threads/threads.h"
#include "jobs/top.h"
#include "nvidia/tsg.h"
#include "reading.h"

/**
 * struct view - a value of --by
 * @name: as typed, NULL: the summary without --by
 * @groups: bits of enum grt_group_by that are gathered
 * @own: the one asked for, GRT_BYS where it is none of these
 * @jobs: jobs are shown
 * @types: event types are shown
 * @tsgs: NVIDIA's channel groups are shown
 * @launched: what CUDA's GPU did, by this; GRT_LAUNCH_BYS: it is not shown
 * @threads: threads are shown, and what their time went to
 */
struct view {
	const char *name;
	unsigned int groups;
	enum grt_group_by own;
	bool jobs;
	bool types;
	bool tsgs;
	enum grt_launch_by launched;
	bool threads;
};

/**
 * struct report - one run
 * @c: what the session drives
 * @input: its name for people
 * @top: sorted jobs, NULL: they stream in the order of time
 * @counters: values of counters
 * @aggregates: rings from AGGREGATE records
 * @tsgs: NVIDIA's channel groups
 * @launched: what CUDA's GPU did; NULL: not asked for
 * @threads: the same, of threads
 * @counts: the same
 * @job_view: what the columns of jobs need
 * @job_table: the table of jobs under its title of this run
 * @job_sort, @group_sort: the order of the table asked for, NULL: its own
 * @job_top, @group_top: rows of these tables, 0: all
 * @jobs_seen: jobs so far
 * @elsewhere: events that the summary has no table for, by class
 * @asked: by --from and --to, all there is without them
 * @span: the time that is looked at (live: known with the first event)
 * @live: input is the live module
 * @piped: input is a pipe: the time is known when it has been read
 * @narrowed: --from or --to were given
 * @csv, @json, @verbose: as asked for
 */
struct report {
	struct grt_consumer c;
	const struct view *view;
	const char *input;
	struct grt_session *session;
	struct grt_jobs *jobs;
	struct grt_groups *groups;
	struct grt_top *top;
	struct grt_counters counters;
	struct grt_aggregates aggregates;
	struct grt_tsgs tsgs;
	struct grt_launch_groups *launched;
	struct grt_threads *threads;
	struct grt_counts *counts;
	struct grt_writer *writer;
	struct grt_job_view job_view;
	struct grt_table job_table;
	char job_title[64];
	const struct grt_column *job_sort;
	const struct grt_column *group_sort;
	uint64_t job_top;
	uint64_t group_top;
	uint64_t jobs_seen;
	uint64_t elsewhere[GRT_CLASSES];
	struct grt_interval asked;
	struct reading_span span;
	bool live;
	bool piped;
	bool narrowed;
	bool csv;
	bool json;
	bool verbose;
	struct notes notes;
};

/** report_streams - whether jobs are written while the trace is read */
static inline bool report_streams(const struct report *r)
{
	return r->view->jobs && !r->job_sort;
}

/** report_begin - the head of the output, up to the first job where they stream. Return: 0 or -ENOMEM */
int report_begin(struct report *r);

/** report_print - the rest of it, or all where jobs do not stream. Return: 0 or -ENOMEM */
int report_print(struct report *r);

/** report_unread - events in packets that were begun, later than the end of a live stream */
uint64_t report_unread(const struct report *r);

#endif /* GRTRACE_REPORT_H */
