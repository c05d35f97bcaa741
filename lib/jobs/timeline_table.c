// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Jobs over time, see timeline.h, as an analysis: the rows of bars, gaps and
 * overlaps. In text, the command draws the bars, and this file writes only the longest
 * gaps and overlaps.
 */
#include "timeline_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/units.h"
#include "table/analysis.h"
#include "table/cells.h"

/* -------------------------------------------------------- timeline table */

/* The sources of a row's identity: a row of the timeline, and the names. */

static void ring_cell(struct grt_cell *cell, const struct grt_names *names, const struct grt_timeline_row *r)
{
	grt_cell_ring(cell, names, r->ring);
}

static void ring_name_cell(struct grt_cell *cell, const struct grt_names *names,
			   const struct grt_timeline_row *r)
{
	grt_cell_ring_name(cell, names, r->ring);
}

static void driver_cell(struct grt_cell *cell, const struct grt_names *names,
			const struct grt_timeline_row *r)
{
	grt_cell_driver(cell, names, r->ring);
}

static void device_cell(struct grt_cell *cell, const struct grt_names *names,
			const struct grt_timeline_row *r)
{
	cell->number = r->device;
	cell->absent = r->ring == GRT_RING_NONE;
}

static void engine_cell(struct grt_cell *cell, const struct grt_names *names,
			const struct grt_timeline_row *r)
{
	cell->number = r->engine;
}

static void pid_cell(struct grt_cell *cell, const struct grt_names *names, const struct grt_timeline_row *r)
{
	cell->number = r->pid;
	cell->absent = !r->pid;
}

static void process_cell(struct grt_cell *cell, const struct grt_names *names,
			 const struct grt_timeline_row *r)
{
	grt_cell_owner(cell, names, r->name);
}

enum identity {
	RING,
	RING_NAME,
	DRIVER,
	DEVICE,
	ENGINE,
	PID,
	PROCESS,
};

static void (*const identity_cell[])(struct grt_cell *cell, const struct grt_names *names,
				     const struct grt_timeline_row *r) = {
	[RING] = ring_cell,	  [RING_NAME] = ring_name_cell, [DRIVER] = driver_cell,
	[DEVICE] = device_cell,	  [ENGINE] = engine_cell,	[PID] = pid_cell,
	[PROCESS] = process_cell,
};

/* Rows of the timeline */

static void get_identity(struct grt_cell *cell, const void *view, const void *row, int which)
{
	identity_cell[which](cell, ((const struct grt_timeline_view *)view)->names, row);
}

static void timeline_table_get_busy(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_timeline_row *r = row;

	cell->number = r->busy;
	cell->absent = !r->drawn;
	cell->inferred = r->inferred;
	cell->estimated = r->sampled || r->unsure || r->jobs > r->drawn;
}

static void timeline_table_get_share(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	uint64_t span = ((const struct grt_timeline_view *)view)->span;

	timeline_table_get_busy(cell, view, row, arg);
	cell->absent |= !span;
	if (!cell->absent)
		cell->number = grt_share_down(cell->number, span);
}

static void get_columns(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_timeline_row *r = row;

	cell->list = r->column;
	cell->number = ((const struct grt_timeline_view *)view)->columns;
	cell->absent = !r->drawn;
}

/* clang-format off */

#define IDENTITY(name, which, kind, help) {name, get_identity, which, kind, GRT_COLUMN_ALL, help}
#define COUNT(name, member, help) \
	{name, grt_cell_u64, offsetof(struct grt_timeline_row, member), GRT_CELL_NUMBER, GRT_COLUMN_ALL, help}

#define SUMS                                                                                         \
	COUNT("jobs", jobs, "jobs that run at least partly in the span"),                                             \
	COUNT("drawn", drawn, "jobs with START and END that run at least partly in the span"),                                       \
	{"busy", timeline_table_get_busy, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "time in which at least one job ran, ns"},     \
	{"share", timeline_table_get_share, 0, GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of the span in which at least one job ran, percent"}, \
	COUNT("cut", cut, "jobs that reach beyond the span"),                                        \
	COUNT("late", late, "jobs whose events came too late for exact times"),                                  \
	COUNT("unsure", unsure, "busy time that may be missing at most, ns"),                           \
	{"columns", get_columns, 0, GRT_CELL_LIST, GRT_COLUMN_MACHINE, "busy time in each column, ns"},   \
	{.name = NULL}

/* clang-format on */

static const struct grt_column ring_columns[] = {
	IDENTITY("ring", RING, GRT_CELL_NAMED, "ring: name in text, else id"),
	IDENTITY("ring_name", RING_NAME, GRT_CELL_TEXT, "name of the ring"),
	IDENTITY("driver", DRIVER, GRT_CELL_TEXT, "driver of the ring"),
	IDENTITY("device", DEVICE, GRT_CELL_NUMBER, "device number"),
	IDENTITY("engine", ENGINE, GRT_CELL_ENGINE, "engine"),
	SUMS,
};

static const struct grt_column engine_columns[] = {
	IDENTITY("engine", ENGINE, GRT_CELL_ENGINE, "engine"),
	SUMS,
};

static const struct grt_column process_columns[] = {
	IDENTITY("pid", PID, GRT_CELL_NUMBER, "process id"),
	IDENTITY("process", PROCESS, GRT_CELL_TEXT, "process's comm"),
	SUMS,
};

#define MARKS (GRT_MARK_INFERRED | GRT_MARK_ESTIMATED)

const struct grt_table grt_timeline_table[GRT_BYS] = {
	[GRT_BY_RING] = {"rings", "rings", ring_columns, MARKS},
	[GRT_BY_ENGINE] = {"engines", "engines", engine_columns, MARKS},
	[GRT_BY_PROCESS] = {"processes", "processes", process_columns, MARKS},
};

/* Gaps and overlaps */

/* The part of a gap in which the next job was already submitted. Return: whether it is known */
static bool gap_waited(const struct grt_idle *gap, uint64_t *ns)
{
	uint64_t asked = gap->last.asked;

	*ns = 0;
	if (!gap->last.ctx || asked == UINT64_MAX)
		return false;
	if (asked < gap->to)
		*ns = gap->to - (asked > gap->from ? asked : gap->from);
	return true;
}

static const char *timeline_table_ring_text(const struct grt_names *names, uint32_t ring, char room[16])
{
	const char *name = grt_names_name(names, grt_names_find(names, GRT_NAME_RING, ring));

	snprintf(room, 16, "ring %" PRIu32, ring);
	return name ? name : ring == GRT_RING_NONE ? "no ring" : room;
}

static void job_text(char text[96], const struct grt_names *names, enum grt_group_by by,
		     const struct grt_job_id *job)
{
	const char *comm = grt_names_name(names, job->name);
	char room[16];

	int used = snprintf(text, 96, "%" PRIu64 ":%" PRIu64, job->ctx, job->seqno);

	if (by == GRT_BY_PROCESS)
		snprintf(text + used, 96 - (size_t)used, " %s",
			 timeline_table_ring_text(names, job->ring, room));
	else if (comm)
		snprintf(text + used, 96 - (size_t)used, " %s(%" PRIu32 ")", comm, job->pid);
	else if (job->pid)
		snprintf(text + used, 96 - (size_t)used, " pid %" PRIu32, job->pid);
}

struct grt_idle_row grt_idle_row(const struct grt_names *names, enum grt_group_by by,
				 const struct grt_timeline_row *row, const struct grt_idle *idle)
{
	struct grt_idle_row out = {.row = row, .idle = idle};
	const char *comm = grt_names_name(names, idle->last.name);
	uint64_t ns;

	job_text(out.first, names, by, &idle->first);
	job_text(out.last, names, by, &idle->last);
	if (gap_waited(idle, &ns) && ns && idle->last.tid)
		snprintf(out.waiter, sizeof(out.waiter), "%s(%" PRIu32 ")", comm ? comm : "", idle->last.tid);
	return out;
}

static const struct grt_idle *idle_of(const void *row)
{
	return ((const struct grt_idle_row *)row)->idle;
}

static const struct grt_job_id *timeline_table_job_of(const void *row, bool last)
{
	return last ? &idle_of(row)->last : &idle_of(row)->first;
}

static void get_row(struct grt_cell *cell, const void *view, const void *row, int which)
{
	identity_cell[which](cell, view, ((const struct grt_idle_row *)row)->row);
}

static void timeline_table_get_time(struct grt_cell *cell, const void *view, const void *row, int end)
{
	cell->number = end ? idle_of(row)->to : idle_of(row)->from;
}

static void timeline_table_get_length(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = idle_of(row)->to - idle_of(row)->from;
}

static void get_job(struct grt_cell *cell, const void *view, const void *row, int last)
{
	const struct grt_idle_row *r = row;

	cell->text = last ? r->last : r->first;
	cell->absent = !timeline_table_job_of(row, last)->ctx;
}

static void get_ctx(struct grt_cell *cell, const void *view, const void *row, int last)
{
	cell->number = timeline_table_job_of(row, last)->ctx;
	cell->absent = !cell->number;
}

static void get_seq(struct grt_cell *cell, const void *view, const void *row, int last)
{
	cell->number = timeline_table_job_of(row, last)->seqno;
	cell->absent = !timeline_table_job_of(row, last)->ctx;
}

static void get_job_pid(struct grt_cell *cell, const void *view, const void *row, int last)
{
	cell->number = timeline_table_job_of(row, last)->pid;
	cell->absent = !cell->number;
}

static void get_job_comm(struct grt_cell *cell, const void *view, const void *row, int last)
{
	grt_cell_name(cell, view, timeline_table_job_of(row, last)->name);
}

static void get_job_ring(struct grt_cell *cell, const void *view, const void *row, int last)
{
	cell->number = timeline_table_job_of(row, last)->ring;
	cell->absent = !timeline_table_job_of(row, last)->ctx || cell->number == GRT_RING_NONE;
}

static void get_waited(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->absent = !gap_waited(idle_of(row), &cell->number);
}

static void timeline_table_get_unsure(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = idle_of(row)->unsure;
	cell->absent = !cell->number;
}

static void get_waiter(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = ((const struct grt_idle_row *)row)->waiter;
	cell->absent = !*cell->text;
}

static void get_waiter_tid(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	get_waiter(cell, view, row, arg);
	cell->number = idle_of(row)->last.tid;
}

#define BRIEF GRT_COLUMN_BRIEF
#define MACHINE GRT_COLUMN_MACHINE

/* clang-format off */

#define OF_RING                                                                             \
	{"ring", get_row, RING, GRT_CELL_NAMED, GRT_COLUMN_ALL, "ring: name in text, else id"}, \
	{"ring_name", get_row, RING_NAME, GRT_CELL_TEXT, MACHINE, "name of the ring"},              \
	{"device", get_row, DEVICE, GRT_CELL_NUMBER, MACHINE, "device number"}

#define OF_PROCESS                                                                  \
	{"pid", get_row, PID, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},       \
	{"process", get_row, PROCESS, GRT_CELL_TEXT, GRT_COLUMN_ALL, "process's comm"}

#define TIMES                                                                    \
	{"from", timeline_table_get_time, 0, GRT_CELL_TIME, GRT_COLUMN_ALL, "first ns of the gap or overlap"},    \
	{"to", timeline_table_get_time, 1, GRT_CELL_TIME, MACHINE, "first ns after the gap or overlap"},          \
	{"length", timeline_table_get_length, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "length of the gap or overlap (to - from), ns"}

#define JOB(name, last, help)                                                            \
	{name, get_job, last, GRT_CELL_TEXT, BRIEF, help},                               \
	{name "_ctx", get_ctx, last, GRT_CELL_NUMBER, MACHINE, "fence context of that job"},     \
	{name "_seq", get_seq, last, GRT_CELL_NUMBER, MACHINE, "its sequence number"},   \
	{name "_ring", get_job_ring, last, GRT_CELL_NUMBER, MACHINE, "its ring"},        \
	{name "_pid", get_job_pid, last, GRT_CELL_NUMBER, MACHINE, "its process"},       \
	{name "_comm", get_job_comm, last, GRT_CELL_TEXT, MACHINE, "its thread"}

#define GAP                                                                                       \
	TIMES,                                                                                    \
	JOB("ended", 0, "job that ended before the gap"),                                             \
	JOB("began", 1, "job that began after the gap"),                                              \
	{"waited", get_waited, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "part of the gap in which the job after it was already submitted, ns"}, \
	{"unsure", timeline_table_get_unsure, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "jobs without a known START or END that may have run in the gap"}

/* clang-format on */

static const struct grt_column ring_gap_columns[] = {OF_RING, GAP, {.name = NULL}};

static const struct grt_column process_gap_columns[] = {
	OF_PROCESS,
	GAP,
	{"waiter", get_waiter, 0, GRT_CELL_TEXT, BRIEF,
	 "name of the thread that submitted the job after the gap"},
	{"waiter_tid", get_waiter_tid, 0, GRT_CELL_NUMBER, MACHINE, "thread id of the waiter"},
	{.name = NULL},
};

static const struct grt_column overlap_columns[] = {
	OF_RING,
	TIMES,
	JOB("first", 0, "job that ran when the overlap began"),
	JOB("second", 1, "another one"),
	{.name = NULL},
};

const struct grt_table grt_gap_table[GRT_BYS] = {
	[GRT_BY_RING] = {"ring_gaps", "gaps of rings", ring_gap_columns, 0},
	[GRT_BY_PROCESS] = {"process_gaps", "gaps of processes", process_gap_columns, 0},
};

const struct grt_table grt_overlap_table = {"ring_overlaps", "overlaps of rings", overlap_columns, 0};

/* -------------------------------------------------------- timeline parts */

/* Gaps and overlaps of each kind in text: the longest ones. */
#define IDLES_SHOWN 10U

static bool timeline_parts_is_sampled(const struct grt_pass *pass)
{
	return grt_jobs_count(pass->jobs).sample_min;
}

static int write_bars(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_timeline_view view = {pass->names, grt_pass_span(pass), pass->columns};
	int ret = 0;

	for (unsigned int by = 0; by < GRT_BYS && !ret; by++) {
		const struct grt_keyed *rows = grt_timeline_rows(state, by);

		grt_writer_table(pass->writer, &grt_timeline_table[by], &view);
		for (void *r = grt_keyed_oldest(rows); r && !ret; r = grt_keyed_next(rows, r))
			ret = grt_writer_row(pass->writer, r);
		grt_writer_table_end(pass->writer);
	}
	return ret;
}

/* Gaps and overlaps */

struct found {
	const struct grt_timeline_row *row;
	const struct grt_idle *idle;
};

static const struct grt_idles *idles_of(const struct grt_timeline_row *row, bool overlaps)
{
	static const struct grt_idles none;

	/* With sampled jobs, nothing is known about times without jobs. */
	if (row->sampled && !overlaps)
		return &none;
	return overlaps ? &row->overlaps : &row->gaps;
}

static int longest_first(const void *a, const void *b)
{
	const struct grt_idle *x = ((const struct found *)a)->idle, *y = ((const struct found *)b)->idle;
	uint64_t p = x->to - x->from, q = y->to - y->from;

	return grt_compare(q, p) ?: grt_compare(x->from, y->from);
}

static uint32_t find_idles(const struct grt_keyed *rows, bool overlaps, struct found *out)
{
	uint32_t n = 0;

	for (void *r = grt_keyed_oldest(rows); r; r = grt_keyed_next(rows, r)) {
		const struct grt_idles *l = idles_of(r, overlaps);

		for (uint32_t i = 0; out && i < l->used; i++)
			out[n + i] = (struct found){r, &l->at[i]};
		n += l->used;
	}
	return n;
}

static int write_found(struct grt_pass *pass, enum grt_group_by by, const struct grt_table *table,
		       const struct found *found, uint32_t n)
{
	struct grt_idle_row row;
	int ret = 0;

	grt_writer_table(pass->writer, table, pass->names);
	for (uint32_t i = 0; i < n && !ret; i++) {
		row = grt_idle_row(pass->names, by, found[i].row, found[i].idle);
		ret = grt_writer_row(pass->writer, &row);
	}
	grt_writer_table_end(pass->writer);
	return ret;
}

static int write_idles(void *state, enum grt_group_by by, const struct grt_table *all, struct grt_pass *pass)
{
	const struct grt_keyed *rows = grt_timeline_rows(state, by);
	bool overlaps = all == &grt_overlap_table;
	uint32_t n = find_idles(rows, overlaps, NULL), shown = n;
	struct found *found = calloc(n + 1, sizeof(*found));
	struct grt_table table = *all;
	char title[64];
	int ret;

	if (!found)
		return -ENOMEM;
	find_idles(rows, overlaps, found);
	if (!pass->json) {
		snprintf(title, sizeof(title), "%s, wider than a column", table.title);
		table.title = title;
		qsort(found, n, sizeof(*found), longest_first);
		shown = n < IDLES_SHOWN ? n : IDLES_SHOWN;
	}
	if (n > shown)
		grt_note(pass->notes, "%" PRIu32 " shorter %s: --json has all", n - shown, all->title);
	ret = write_found(pass, by, &table, found, shown);
	free(found);
	return ret;
}

/* If gaps were not looked for, "none" would be wrong. */
static int write_all_idles(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	int ret;

	if (!pass->json &&
	    (timeline_parts_is_sampled(pass) || grt_timeline_in_windows(state) || !pass->columns))
		return 0;
	ret = write_idles(state, GRT_BY_RING, &grt_gap_table[GRT_BY_RING], pass);
	if (!ret)
		ret = write_idles(state, GRT_BY_PROCESS, &grt_gap_table[GRT_BY_PROCESS], pass);
	return ret ? ret : write_idles(state, GRT_BY_RING, &grt_overlap_table, pass);
}

static const struct grt_part timeline_parts[] = {
	{"bars", .where = GRT_PART_BARS | GRT_PART_JOBS,
	 .tables = GRT_TABLES(&grt_timeline_table[GRT_BY_RING], &grt_timeline_table[GRT_BY_ENGINE],
			      &grt_timeline_table[GRT_BY_PROCESS]),
	 .write = write_bars},
	{"gaps", .where = GRT_PART_BARS | GRT_PART_JOBS,
	 .tables =
		 GRT_TABLES(&grt_gap_table[GRT_BY_RING], &grt_gap_table[GRT_BY_PROCESS], &grt_overlap_table),
	 .write = write_all_idles},
	{.name = NULL},
};

/* Operations */

static int timeline_parts_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct grt_timeline *t;
	int ret = grt_timeline_new(&t, pass->first, pass->last, pass->columns);

	*state = t;
	if (ret)
		return ret;
	pass->columns = grt_timeline_columns(t);
	if (pass->whole)
		grt_timeline_whole(t);
	return 0;
}

GRT_ANALYSIS_EVENT(timeline_parts_window, grt_timeline_window)
GRT_ANALYSIS_JOB(timeline_parts_held, grt_timeline_held)
GRT_ANALYSIS_JOB(timeline_parts_job, grt_timeline_job)

GRT_ANALYSIS_FINISH(timeline_parts_finish, grt_timeline_end)

static uint64_t unsure_time(const struct grt_timeline *t)
{
	const struct grt_keyed *rows = grt_timeline_rows(t, GRT_BY_RING);
	uint64_t sum = 0;

	for (struct grt_timeline_row *r = grt_keyed_oldest(rows); r; r = grt_keyed_next(rows, r))
		sum += r->unsure;
	return sum;
}

/* Gaps of rings and processes in which a job without a known START or END may have run. */
static uint64_t unsure_gaps(const struct grt_timeline *t, enum grt_group_by by)
{
	const struct grt_keyed *rows = grt_timeline_rows(t, by);
	uint64_t sum = 0;

	for (struct grt_timeline_row *r = grt_keyed_oldest(rows); r; r = grt_keyed_next(rows, r))
		for (uint32_t i = 0; i < idles_of(r, false)->used; i++)
			sum += r->gaps.at[i].unsure > 0;
	return sum;
}

static void timeline_parts_notes(void *state, struct grt_pass *pass)
{
	const struct grt_timeline_count *c = grt_timeline_count(state);
	char unsure[GRT_UNITS_MAX];

	grt_units_ns(unsure, unsure_time(state));
	if (timeline_parts_is_sampled(pass))
		grt_note(pass->notes,
			 "jobs were sampled: bars show only these jobs, and gaps are not listed");
	if (grt_timeline_in_windows(state))
		grt_note(
			pass->notes,
			"only random windows were recorded: bars show only their jobs, and gaps are not listed");
	if (c->jobs > c->undrawn)
		grt_note(pass->notes, "busy is the time in which one or more jobs ran: overlaps count once");
	if (c->undrawn)
		grt_note(pass->notes,
			 "%" PRIu64 " of %" PRIu64
			 " {job|jobs} not drawn: START or END is unknown, or END comes before START",
			 c->undrawn, c->jobs);
	if (unsure_gaps(state, GRT_BY_RING) + unsure_gaps(state, GRT_BY_PROCESS))
		grt_note(pass->notes,
			 "such jobs may have run in %" PRIu64 " {gap|gaps} of rings and %" PRIu64
			 " of processes, see unsure in --json",
			 unsure_gaps(state, GRT_BY_RING), unsure_gaps(state, GRT_BY_PROCESS));
	if (c->cut)
		grt_note(pass->notes, "jobs drawn up to the border, because they ran beyond it: %" PRIu64,
			 c->cut);
	if (c->late)
		grt_note(pass->notes,
			 "jobs that ended long after others that began later: %" PRIu64
			 "; of the rings' busy time at most %s is missing, and overlaps with these jobs",
			 c->late, unsure);
	if (!grt_pass_span(pass) && c->jobs)
		grt_note(pass->notes, "all events have the same time: nothing to draw");
	if (c->over)
		grt_note(pass->notes,
			 "%" PRIu64 " {job is|jobs are} not in every table (limit of %u rings or processes)",
			 c->over, GRT_TIMELINE_ROWS_MAX);
}

GRT_ANALYSIS_FREE(timeline_parts_free, grt_timeline_free)

const struct grt_analysis grt_analysis_timeline = {
	.name = "timeline",
	.classes = GRT_IN_CLASS(window),
	.parts = timeline_parts,
	.begin = timeline_parts_begin,
	.event = timeline_parts_window,
	.held = timeline_parts_held,
	.job = timeline_parts_job,
	.finish = timeline_parts_finish,
	.notes = timeline_parts_notes,
	.free = timeline_parts_free,
};
