// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A ring, engine or process as a row: rows are struct grt_group, the view is a struct grt_group_view. The
 * kinds of groups differ in their names; the sums are the same.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/units.h"
#include "groups.h"
#include "table/analysis.h"
#include "table/cells.h"
#include "base/say.h"
#include "trace/names.h"

/* -------------------------------------------------------- group sentence */

/*
 * What the tables of rings and processes hide behind percentiles, in words: one job
 * that had a ring for much of its time, and jobs that waited in the scheduler for long.
 */

/* Most sentences of each kind; with fewer jobs there is no typical time. */
#define SENTENCES_MAX 4U
#define JOBS_LEAST 10U
/*
 * How many times the usual time a long time is, and the least share of the ring's work that a long job has.
 */
#define TIMES_LEAST 10U
#define PART_LEAST 4U
/* Means below this do not matter to users, ns. */
#define SCHED_LEAST 1000000U

/* Sums of a sample would be estimates. */
static bool is_counted(const struct grt_group *g)
{
	return g->job_records >= JOBS_LEAST && !grt_group_sampled(g) && !g->windows.cells;
}

static const char *put_owner(char text[64], const struct grt_names *names, uint32_t name, uint32_t pid)
{
	const char *process = grt_names_owner(names, name);

	if (process)
		snprintf(text, 64, "%.20s (PID %u)", process, pid);
	else
		snprintf(text, 64, "PID %u", pid);
	return text;
}

static void put_ring(char text[80], const struct grt_names *names, uint32_t ring)
{
	struct grt_cell name = {.number = 0}, gpu = {.number = 0};

	grt_cell_ring_name(&name, names, ring);
	grt_cell_gpu(&gpu, names, ring);
	if (!name.text)
		snprintf(text, 80, "ring %u", ring);
	else if (gpu.text && grt_names_gpus(names))
		snprintf(text, 80, "%.30s of %.30s", name.text, gpu.text);
	else
		snprintf(text, 80, "%.30s", name.text);
}

/* ------------------------------------------------------------- one long job */

static bool has_long_job(const struct grt_group *g, uint64_t *median)
{
	uint64_t ns = g->longest.ns;

	return is_counted(g) && g->longest.pid && grt_hist_percentile(&g->exec, 500, median) &&
	       ns / TIMES_LEAST >= *median && ns >= grt_hist_sum(&g->exec) / PART_LEAST;
}

static void note_long_job(const struct grt_group *g, uint64_t median, const struct grt_names *names,
			  struct grt_notes *notes)
{
	char ring[80], owner[64], time[GRT_UNITS_MAX], all[GRT_UNITS_MAX], usual[GRT_UNITS_MAX];
	const struct grt_group_job *job = &g->longest;

	put_ring(ring, names, g->ring);
	put_owner(owner, names, job->name, job->pid);
	grt_units_ns(time, job->ns);
	grt_units_ns(all, grt_hist_sum(&g->exec));
	grt_units_ns(usual, median);
	grt_note(notes,
		 "%s: job %" PRIu64 ":%" PRIu64 " of %s took %s of the %s that all %" PRIu64
		 " jobs ran%s; their median is %s (report --by job).",
		 ring, job->ctx, job->seqno, owner, time, all, g->job_records,
		 g->exec.inferred ? " (inferred)" : "", usual);
}

static void note_long_jobs(const struct grt_groups *g, const struct grt_names *names, struct grt_notes *notes)
{
	const struct grt_group *group;
	unsigned int shown = 0;
	uint64_t median;

	for (uint32_t i = 0; shown < SENTENCES_MAX && (group = grt_groups_get(g, GRT_BY_RING, i)); i++)
		if (has_long_job(group, &median)) {
			note_long_job(group, median, names, notes);
			shown++;
		}
}

/* ------------------------------------------------------------- long in the scheduler */

static uint64_t mean(unsigned __int128 sum, uint64_t weight)
{
	return weight ? (uint64_t)(sum / weight) : 0;
}

static bool waited_long(const struct grt_group *g)
{
	uint64_t sched = mean(g->sched_ns, g->sched), exec = mean(g->exec.sum, g->exec.weight);

	return is_counted(g) && g->pid && exec && sched >= SCHED_LEAST && sched / TIMES_LEAST >= exec;
}

static void note_waited(const struct grt_group *g, const struct grt_names *names, struct grt_notes *notes)
{
	char owner[64], sched[GRT_UNITS_MAX], exec[GRT_UNITS_MAX];

	grt_units_ns(sched, mean(g->sched_ns, g->sched));
	grt_units_ns(exec, mean(g->exec.sum, g->exec.weight));
	grt_note(
		notes,
		"Jobs of %s waited %s on average in the scheduler, for other jobs or dependencies, and ran for "
		"%s%s (report --by job --sort t_sched).",
		put_owner(owner, names, g->name, g->pid), sched, exec, g->exec.inferred ? " (inferred)" : "");
}

static void note_waits(const struct grt_groups *g, const struct grt_names *names, struct grt_notes *notes)
{
	const struct grt_group *group;
	unsigned int shown = 0;

	for (uint32_t i = 0; shown < SENTENCES_MAX && (group = grt_groups_get(g, GRT_BY_PROCESS, i)); i++)
		if (waited_long(group)) {
			note_waited(group, names, notes);
			shown++;
		}
}

/* Sentences about the rings and processes of @g, where there is something to say. */
static void grt_group_sentences(const struct grt_groups *g, const struct grt_names *names,
				struct grt_notes *notes)
{
	note_long_jobs(g, names, notes);
	note_waits(g, names, notes);
}

/* ----------------------------------------------------------- group table */

static const struct grt_names *group_table_names_of(const void *view)
{
	return ((const struct grt_group_view *)view)->names;
}

static void group_table_get_ring(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_ring(cell, group_table_names_of(view), ((const struct grt_group *)row)->ring);
}

static void group_table_get_ring_name(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_ring_name(cell, group_table_names_of(view), ((const struct grt_group *)row)->ring);
}

static void get_driver(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_driver(cell, group_table_names_of(view), ((const struct grt_group *)row)->ring);
}

static void group_table_get_device(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_group *g = row;
	const struct grt_names *names = group_table_names_of(view);

	grt_cell_gpu(cell, names, g->ring);
	if (!cell->text)
		grt_cell_name(cell, names, grt_names_find(names, GRT_NAME_DEVICE, g->device));
	cell->number = g->device;
	cell->absent = g->ring == GRT_RING_NONE;
}

static void group_table_get_gpu(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_gpu(cell, group_table_names_of(view), ((const struct grt_group *)row)->ring);
}

static void get_card(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_names *names = group_table_names_of(view);

	grt_cell_owner(cell, names,
		       grt_names_find(names, GRT_NAME_RING_GPU, ((const struct grt_group *)row)->ring));
}

static void group_table_get_process(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_owner(cell, group_table_names_of(view), ((const struct grt_group *)row)->name);
}

static void group_table_get_jobs(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_group *g = row;

	cell->number = grt_weight_count(g->jobs);
	cell->estimated = grt_group_sampled(g);
}

/* Of sampled jobs and of random windows, the union of the times says nothing about that of all jobs. */
static void group_table_get_busy(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_group *g = row;
	uint64_t span = ((const struct grt_group_view *)view)->span;

	cell->absent = grt_group_sampled(g) || g->windows.cells || !g->exec.weight || !span;
	if (!cell->absent)
		cell->number = grt_share_down(grt_busy_sum(&g->busy), span);
	cell->inferred = g->busy_inferred;
	cell->estimated = g->busy.cut || g->untimed;
}

static const struct grt_hist *hist_of(const void *row, bool queue)
{
	const struct grt_group *g = row;

	return queue ? &g->queue : &g->exec;
}

/* @arg of the columns of a histogram: permille, negative for t_queue; 1000 is the largest value. */
static void group_table_get_percentile(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_hist(cell, hist_of(row, arg < 0), arg < 0 ? -arg : arg);
}

static void group_table_get_sum(struct grt_cell *cell, const void *view, const void *row, int queue)
{
	grt_cell_hist(cell, hist_of(row, queue), GRT_HIST_SUM);
	cell->estimated = grt_group_sampled(row) || (!queue && ((const struct grt_group *)row)->untimed);
}

static void group_table_get_gpu_wait(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_group *g = row;
	unsigned __int128 ns = (g->wait_ns + GRT_WEIGHT_ONE / 2) / GRT_WEIGHT_ONE;

	cell->absent = !g->waits;
	cell->number = ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
	cell->estimated = grt_group_sampled(g);
}

static void get_waits(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_group *g = row;

	cell->number = grt_weight_count(g->waits);
	cell->estimated = grt_group_sampled(g);
}

static void get_errors(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_group *g = row;

	cell->number = g->failed + g->errors;
}

#define EXEC(permille) permille
#define QUEUE(permille) -(permille)

/* clang-format off */

#define COLUMN_RING    {"ring", group_table_get_ring, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "ring: name in text, else id"}
#define COLUMN_NAME    {"ring_name", group_table_get_ring_name, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "its name"}
#define COLUMN_DRIVER  {"driver", get_driver, 0, GRT_CELL_TEXT, GRT_COLUMN_MORE, "its driver"}
#define COLUMN_DEVICE(where) \
	{"device", group_table_get_device, 0, GRT_CELL_NAMED, where, "GPU: address or name in text, else number"}
#define COLUMN_GPU     {"gpu", group_table_get_gpu, 0, GRT_CELL_TEXT, GRT_COLUMN_BRIEF | GRT_COLUMN_MACHINE | GRT_COLUMN_TELLS, "PCI address of its GPU"}
#define COLUMN_CARD    {"card", get_card, 0, GRT_CELL_TEXT, GRT_COLUMN_MORE, "DRM device of its GPU"}
#define COLUMN_ENGINE  {"engine", grt_cell_u8, offsetof(struct grt_group, engine), GRT_CELL_ENGINE, GRT_COLUMN_ALL, "engine"}
#define COLUMN_PID     {"pid", grt_cell_id, offsetof(struct grt_group, pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"}
#define COLUMN_PROCESS {"process", group_table_get_process, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "process's comm"}

#define SUM(name, queue, where, help)          {name, group_table_get_sum, queue, GRT_CELL_NS, where, help}
#define PERCENTILE(name, permille, where, of)  {name, group_table_get_percentile, permille, GRT_CELL_NS, where, "of " of ", ns"}
#define COUNT(name, member, where, help) \
	{name, grt_cell_u64, offsetof(struct grt_group, member), GRT_CELL_NUMBER, where, help}

/* Columns for a recording of random windows: estimates for the whole time. */
#define SCALED \
	{"est_jobs", grt_cell_estimate_works, offsetof(struct grt_group, total), GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "jobs in the whole recording, estimated from the recorded windows"}, \
	{"est_exec", grt_cell_estimate_value, offsetof(struct grt_group, total), GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "sum of t_exec in the whole recording, estimated from the recorded windows, ns"}, \
	{"est_from", grt_cell_estimate_low, offsetof(struct grt_group, total), GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "lower bound of the 95 % interval of est_exec, ns"}, \
	{"est_to", grt_cell_estimate_high, offsetof(struct grt_group, total), GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "upper bound of the 95 % interval of est_exec, ns"}, \
	{"share_from", grt_cell_estimate_low, offsetof(struct grt_group, part), GRT_CELL_PERCENT, GRT_COLUMN_MORE | GRT_COLUMN_TELLS, "lower bound of the 95 % interval of the share of all t_exec, percent"}, \
	{"share_to", grt_cell_estimate_high, offsetof(struct grt_group, part), GRT_CELL_PERCENT, GRT_COLUMN_MORE | GRT_COLUMN_TELLS, "upper bound of the 95 % interval of the share of all t_exec, percent"}

/* @rest: the columns that only rings show without a request */
#define SUMS(rest)                                                                                     \
	{"jobs", group_table_get_jobs, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "jobs"},                                \
	{"busy", group_table_get_busy, 0, GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of the trace in which at least one job ran, percent"},        \
	SUM("exec_sum", 0, GRT_COLUMN_ALL, "sum of t_exec, ns"),                                       \
	PERCENTILE("exec_p50", EXEC(500), GRT_COLUMN_ALL | GRT_COLUMN_LESS, "t_exec"),                                   \
	PERCENTILE("exec_p95", EXEC(950), GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "t_exec"),                                   \
	PERCENTILE("exec_p99", EXEC(990), rest, "t_exec"),                                             \
	PERCENTILE("exec_max", EXEC(1000), GRT_COLUMN_ALL, "t_exec"),                                  \
	SUM("queue_sum", 1, GRT_COLUMN_MACHINE, "sum of t_queue, ns"),                                 \
	PERCENTILE("queue_p50", QUEUE(500), GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "t_queue"),                                \
	PERCENTILE("queue_p95", QUEUE(950), rest, "t_queue"),                                          \
	PERCENTILE("queue_p99", QUEUE(990), rest, "t_queue"),                                          \
	PERCENTILE("queue_max", QUEUE(1000), GRT_COLUMN_ALL | GRT_COLUMN_LESS, "t_queue"),                               \
	{"gpu_wait", group_table_get_gpu_wait, 0, GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "sum of t_gpu_wait, ns"},           \
	{"waits", get_waits, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "waits that gpu_wait sums up"},                 \
	{"errors", get_errors, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "jobs that failed, and errors that belong to no job"}, \
	COUNT("commands", commands, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "commands without a fence"),                       \
	COUNT("incomplete", incomplete, GRT_COLUMN_MORE, "jobs without SUBMIT or COMPLETE"),           \
	COUNT("job_records", job_records, GRT_COLUMN_MACHINE, "jobs recorded as one JOB record each"),                    \
	COUNT("cut_waits", cut_waits, GRT_COLUMN_MACHINE, "jobs with a wait whose end is not in the trace"),             \
	SCALED,                                                                                        \
	{.name = NULL}

/* clang-format on */

static const struct grt_column ring_columns[] = {
	COLUMN_RING, COLUMN_DRIVER, COLUMN_DEVICE(GRT_COLUMN_MORE), COLUMN_CARD, COLUMN_ENGINE,
	COLUMN_NAME, COLUMN_GPU,    SUMS(GRT_COLUMN_ALL),
};

static const struct grt_column gpus_ring_columns[] = {
	COLUMN_RING, COLUMN_DRIVER, COLUMN_DEVICE(GRT_COLUMN_ALL), COLUMN_CARD, COLUMN_ENGINE,
	COLUMN_NAME, COLUMN_GPU,    SUMS(GRT_COLUMN_ALL),
};

static const struct grt_column engine_columns[] = {COLUMN_ENGINE, SUMS(GRT_COLUMN_MORE)};

static const struct grt_column process_columns[] = {COLUMN_PID, COLUMN_PROCESS, SUMS(GRT_COLUMN_MORE)};

#define MARKS (GRT_MARK_INFERRED | GRT_MARK_ESTIMATED)

/* The table of rings if there are several GPUs; it has the GPU of each ring. */
static const struct grt_table gpus_ring_table = {"rings", "rings", gpus_ring_columns, MARKS};

static const struct grt_table group_tables[GRT_BYS] = {
	[GRT_BY_RING] = {"rings", "rings", ring_columns, MARKS},
	[GRT_BY_ENGINE] = {"engines", "engines", engine_columns, MARKS},
	[GRT_BY_PROCESS] = {"processes", "processes", process_columns, MARKS},
};

const struct grt_table *grt_groups_table(enum grt_group_by by)
{
	return by < GRT_BYS ? &group_tables[by] : NULL;
}

/* --------------------------------------------------------------- analysis */

/* The last criterion of order is the number, so that users find a row. */
static int group_table_by_identity(const void *a, const void *b)
{
	const struct grt_group *x = a, *y = b;

	return grt_compare(x->device, y->device)
	       ?: grt_compare(x->ring, y->ring)
	       ?: grt_compare(x->pid, y->pid)
	       ?: grt_compare(x->engine, y->engine);
}

/* Return: the rows, which the caller frees, in *out; their number, or -ENOMEM */
static int64_t list_groups(struct grt_groups *g, enum grt_group_by by, const struct grt_group ***out)
{
	uint32_t n = 0;

	while (grt_groups_get(g, by, n))
		n++;
	*out = calloc((size_t)n + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		(*out)[i] = grt_groups_get(g, by, i);
	return n;
}

/* The process that used the device most comes first; rings and engines have an order of their own. */
static const struct grt_column *own_order(enum grt_group_by by)
{
	return by == GRT_BY_PROCESS ? grt_column_find(&group_tables[by], "exec_sum") : NULL;
}

static void group_table_note_windows(struct grt_pass *pass, const struct grt_estimate_watched *w)
{
	grt_estimate_note(pass->notes, w);
	if (w->windows && w->beside)
		grt_note(
			pass->notes,
			"  %" PRIu64
			" {job was|jobs were} submitted just before or after a window: no estimate includes {it|them}",
			w->beside);
}

static int group_table_write_groups(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_group_view view = {.names = pass->names, .span = grt_pass_span(pass)};
	bool gpus = part->arg == GRT_BY_RING && grt_names_gpus(pass->names);
	const struct grt_group **row;
	int64_t n = list_groups(state, (enum grt_group_by)part->arg, &row);
	uint64_t shown = grt_pass_shown(pass, part, (uint64_t)n);
	struct grt_estimate_watched watched;
	int ret;

	if (n < 0)
		return -ENOMEM;
	ret = grt_groups_estimate(state, (enum grt_group_by)part->arg, pass->first,
				  pass->known ? pass->last : UINT64_MAX, &watched);
	if (ret) {
		free(row);
		return ret;
	}
	grt_rows_sort(row, (uint64_t)n, grt_pass_sort(pass, part, own_order((enum grt_group_by)part->arg)),
		      &view, group_table_by_identity);
	ret = grt_writer_list(pass->writer, gpus ? &gpus_ring_table : part->table, &view, row, shown);
	if (shown < (uint64_t)n)
		grt_note(pass->notes, "%" PRIu64 " more %s: --top 0 shows all", (uint64_t)n - shown,
			 part->table->name);
	/* the summary has several of these tables */
	if (part->arg == GRT_BY_RING || pass->asked == part)
		group_table_note_windows(pass, &watched);
	free(row);
	return ret;
}

/* Before all tables, so that users read it first. */
static int group_table_write_sentences(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	grt_group_sentences(state, pass->names, pass->notes);
	return 0;
}

static void note_over(void *state, struct grt_pass *pass)
{
	if (grt_groups_over(state))
		grt_note(pass->notes,
			 "%" PRIu64 " {job is|jobs are} not in the table (limit of %u rings or processes)",
			 grt_groups_over(state), GRT_GROUPS_MAX);
}

static bool any_groups(const void *state)
{
	for (unsigned int by = 0; by < GRT_BYS; by++)
		if (grt_groups_get(state, by, 0))
			return true;
	return false;
}

static const struct grt_part group_parts[] = {
	{"process", "jobs by process", GRT_PART_BY | GRT_PART_SUMMARY | GRT_PART_JOBS, GRT_BY_PROCESS,
	 &group_tables[GRT_BY_PROCESS], .any = any_groups, .write = group_table_write_groups},
	{"engine", "jobs by engine", GRT_PART_BY | GRT_PART_JOBS, GRT_BY_ENGINE, &group_tables[GRT_BY_ENGINE],
	 .write = group_table_write_groups},
	{"ring", "jobs by ring", GRT_PART_BY | GRT_PART_SUMMARY | GRT_PART_JOBS, GRT_BY_RING,
	 &group_tables[GRT_BY_RING], .with = "aggregates", .any = any_groups,
	 .tables = GRT_TABLES(&gpus_ring_table), .write = group_table_write_groups},
	{"group_sentences", "sentences about long jobs, and long times in the scheduler",
	 GRT_PART_SUMMARY | GRT_PART_FIRST | GRT_PART_JOBS, GRT_BY_RING, .any = any_groups,
	 .write = group_table_write_sentences},
	{.name = NULL},
};

static int new_groups(void **state, struct grt_pass *pass, unsigned int parts)
{
	unsigned int kinds = 0;

	for (unsigned int i = 0; group_parts[i].name; i++)
		if (parts >> i & 1)
			kinds |= 1U << group_parts[i].arg;
	return grt_groups_new((struct grt_groups **)state, kinds);
}

static void span_groups(void *state, uint64_t first, uint64_t last)
{
	grt_groups_span(state, first, last);
}

GRT_ANALYSIS_JOB(held_by_groups, grt_groups_held)
GRT_ANALYSIS_JOB(group_table_add_job, grt_groups_job)

static int group_table_add_window(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	return grt_groups_window(state, (const struct grt_ev_window *)e);
}

static int group_table_add_stray(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	return grt_groups_stray(state, e, grt_names_find(pass->names, GRT_NAME_THREAD, e->tid));
}

GRT_ANALYSIS_FREE(free_groups, grt_groups_free)

const struct grt_analysis grt_analysis_groups = {
	.name = "groups",
	.classes = GRT_IN_CLASS(window),
	.parts = group_parts,
	.begin = new_groups,
	.span = span_groups,
	.event = group_table_add_window,
	.held = held_by_groups,
	.job = group_table_add_job,
	.stray = group_table_add_stray,
	.notes = note_over,
	.free = free_groups,
};
