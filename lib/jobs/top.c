// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A heap of the first N jobs. The last of them is at the top, because a better job replaces it.
 */
#include "top.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "base/heap.h"
#include "table/analysis.h"
#include "table/cells.h"

/* ------------------------------------------------------------- job table */

/*
 * A job's columns: a row each, with the function that takes the value from the
 * job. A new column is a row here.
 */

/* enum for the columns that are plain members, so that they share one function. */
enum member {
	MEMBER_CTX,
	MEMBER_SEQ,
	MEMBER_DEVICE,
	MEMBER_PID,
	MEMBER_TID,
	MEMBER_CMD,
	MEMBER_HW_CTX,
	MEMBER_ENGINE,
	MEMBER_SAMPLE,
	MEMBER_FAILED,
	MEMBER_WAITS,
};

/* Values that mean that a column is unknown. */
enum unknown_when {
	NEVER,
	ZERO,
	NO_SUBMIT,
	NO_RING,
};

static const struct {
	uint16_t offset;
	uint8_t size;
	uint8_t unknown;
} members[] = {
#define AT(field) offsetof(struct grt_job, field), sizeof(((struct grt_job *)0)->field)
	[MEMBER_CTX] = {AT(ctx), NEVER},
	[MEMBER_SEQ] = {AT(seqno), NEVER},
	[MEMBER_DEVICE] = {AT(device), NO_RING},
	[MEMBER_PID] = {AT(pid), ZERO},
	[MEMBER_TID] = {AT(tid), ZERO},
	[MEMBER_CMD] = {AT(cmd), NO_SUBMIT},
	[MEMBER_HW_CTX] = {AT(hw_ctx), NO_SUBMIT},
	[MEMBER_ENGINE] = {AT(engine), NEVER},
	[MEMBER_SAMPLE] = {AT(sample), ZERO},
	[MEMBER_FAILED] = {AT(failed), NEVER},
	[MEMBER_WAITS] = {AT(waits), NEVER},
#undef AT
};

static const struct grt_names *job_table_names_of(const void *view)
{
	return ((const struct grt_job_view *)view)->names;
}

/* Fields are little-endian, like everything else in a trace. */
static void get_member(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_job *job = row;

	memcpy(&cell->number, (const char *)row + members[arg].offset, members[arg].size);
	cell->absent = (members[arg].unknown == ZERO && !cell->number) ||
		       (members[arg].unknown == NO_SUBMIT && !(job->seen >> GRT_STAMP_SUBMIT & 1)) ||
		       (members[arg].unknown == NO_RING && job->ring == GRT_RING_NONE);
}

static void job_table_get_ring(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_ring(cell, job_table_names_of(view), ((const struct grt_job *)row)->ring);
}

static void job_table_get_gpu(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_gpu(cell, job_table_names_of(view), ((const struct grt_job *)row)->ring);
}

static void job_table_get_ring_name(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_ring_name(cell, job_table_names_of(view), ((const struct grt_job *)row)->ring);
}

static void get_comm(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_name(cell, job_table_names_of(view), ((const struct grt_job *)row)->name);
}

static void job_table_get_process(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_owner(cell, job_table_names_of(view), ((const struct grt_job *)row)->name);
}

static void job_table_get_phase(struct grt_cell *cell, const void *view, const void *row, int phase)
{
	cell->absent = !grt_job_phase(row, (enum grt_phase)phase, &cell->number, &cell->inferred);
}

/* Without a wait there is no time of waiting; if a wait was cut, the sum would be too small. */
static void job_table_get_gpu_wait(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_job *job = row;

	cell->number = job->wait_ns;
	cell->absent = !job->waits || job->cut_waits;
}

static void job_table_get_stamp(struct grt_cell *cell, const void *view, const void *row, int stamp)
{
	const struct grt_job *job = row;

	cell->number = job->time[stamp];
	cell->absent = !(job->seen >> stamp & 1);
	cell->inferred = job->inferred >> stamp & 1;
}

static void job_table_get_time(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = grt_job_first(row);
	cell->absent = !((const struct grt_job *)row)->seen;
}

/*
 * A fence that was signalled without an error has status 0. A fence that was not seen, or whose status is
 * unknown, has none.
 */
static void get_status(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_job *job = row;

	cell->number = (uint64_t)(int64_t)job->status;
	cell->absent =
		job->status == GRT_STATUS_UNKNOWN || (!job->failed && !(job->seen >> GRT_STAMP_COMPLETE & 1));
}

static const struct grt_column columns[] = {
	{"ctx", get_member, MEMBER_CTX, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "fence context"},
	{"engine", get_member, MEMBER_ENGINE, GRT_CELL_ENGINE, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "engine"},
	{"ring", job_table_get_ring, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "ring: name in text, else id"},
	{"seq", get_member, MEMBER_SEQ, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "fence sequence number"},
	{"pid", get_member, MEMBER_PID, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_LESS,
	 "process that submitted it"},
	{"comm", get_comm, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the thread that submitted the job"},
	{"t_sched", job_table_get_phase, GRT_PHASE_SCHED, GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_LEAST,
	 "COMMIT - SUBMIT, ns"},
	{"t_queue", job_table_get_phase, GRT_PHASE_QUEUE, GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_LESS,
	 "START - COMMIT, ns"},
	{"t_exec", job_table_get_phase, GRT_PHASE_EXEC, GRT_CELL_NS, GRT_COLUMN_ALL, "END - START, ns"},
	{"t_gpu_wait", job_table_get_gpu_wait, 0, GRT_CELL_NS, GRT_COLUMN_ALL,
	 "time for which threads waited for the job, ns"},
	{"t_complete", job_table_get_phase, GRT_PHASE_COMPLETE, GRT_CELL_NS,
	 GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "COMPLETE - END, ns"},
	{"time", job_table_get_time, 0, GRT_CELL_TIME, GRT_COLUMN_MORE, "time of the job's first event, ns"},
	{"status", get_status, 0, GRT_CELL_SIGNED, GRT_COLUMN_MORE, "0 or a negative errno"},
	{"failed", get_member, MEMBER_FAILED, GRT_CELL_BOOL, GRT_COLUMN_MACHINE,
	 "whether the job ended with an error"},
	{"waits", get_member, MEMBER_WAITS, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE,
	 "number of waits in t_gpu_wait"},
	{"ring_name", job_table_get_ring_name, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "name of the ring"},
	{"device", get_member, MEMBER_DEVICE, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE, "device number"},
	{"tid", get_member, MEMBER_TID, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE, "thread id"},
	{"process", job_table_get_process, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "process's comm"},
	{"cmd", get_member, MEMBER_CMD, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE,
	 "the driver's code of the command"},
	{"hw_ctx", get_member, MEMBER_HW_CTX, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE,
	 "the driver's id of the context"},
	{"sample", get_member, MEMBER_SAMPLE, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE,
	 "percent of jobs that were recorded"},
	{"submit", job_table_get_stamp, GRT_STAMP_SUBMIT, GRT_CELL_TIME, GRT_COLUMN_MACHINE,
	 "time of SUBMIT, ns"},
	{"commit", job_table_get_stamp, GRT_STAMP_COMMIT, GRT_CELL_TIME, GRT_COLUMN_MACHINE,
	 "time of COMMIT, ns"},
	{"start", job_table_get_stamp, GRT_STAMP_START, GRT_CELL_TIME, GRT_COLUMN_MACHINE,
	 "time of START, ns"},
	{"end", job_table_get_stamp, GRT_STAMP_END, GRT_CELL_TIME, GRT_COLUMN_MACHINE, "time of END, ns"},
	{"complete", job_table_get_stamp, GRT_STAMP_COMPLETE, GRT_CELL_TIME, GRT_COLUMN_MACHINE,
	 "time of COMPLETE, ns"},
	{"gpu", job_table_get_gpu, 0, GRT_CELL_TEXT, GRT_COLUMN_BRIEF | GRT_COLUMN_MACHINE | GRT_COLUMN_TELLS,
	 "PCI address of its GPU"},
	{.name = NULL},
};

const struct grt_table grt_job_table = {
	.name = "jobs",
	.title = "jobs",
	.columns = columns,
	.marks = GRT_MARK_INFERRED,
};

const struct grt_table *grt_jobs_table(void)
{
	return &grt_job_table;
}

/* ------------------------------------------------------------------- top */

/* @at: number of the job, so that equal jobs keep their order */
struct ranked {
	struct grt_job job;
	uint64_t at;
};

struct grt_top {
	const struct grt_column *sort;
	const struct grt_job_view *view;
	struct ranked *slot;
	uint64_t used;
	uint64_t room;
	uint64_t max;
	uint64_t seen;
	struct grt_cell last; /* of slot[0]; only for numbers, because a text may move */
	bool numbers;
};

static bool top_before(const struct grt_top *t, const struct ranked *a, const struct ranked *b)
{
	struct grt_cell x = grt_column_get(t->sort, t->view, &a->job);
	struct grt_cell y = grt_column_get(t->sort, t->view, &b->job);
	int order = grt_cell_order(t->sort, &x, &y);

	return order ? order < 0 : a->at < b->at;
}

/* The order of the heap: the last of the kept jobs is on top. */
static bool top_after(const struct grt_top *t, const struct ranked *a, const struct ranked *b)
{
	return top_before(t, b, a);
}

GRT_HEAP(top, struct ranked, struct grt_top, top_after)

/* Whether a new job is among the first ones: of equal jobs, the earlier one is. */
static inline bool is_ahead(const struct grt_top *t, const struct grt_job *job)
{
	struct grt_cell new = grt_column_get(t->sort, t->view, job);
	struct grt_cell last = t->numbers ? t->last : grt_column_get(t->sort, t->view, &t->slot[0].job);

	return grt_cell_order(t->sort, &new, &last) < 0;
}

static int top_take_in(struct grt_top *t, const struct ranked *new)
{
	if (t->used < t->max) {
		if (grt_grow(&t->slot, &t->room, t->used + 1, 32))
			return -ENOMEM;
		t->slot[t->used] = *new;
		top_rise(t, t->slot, t->used++);
	} else {
		t->slot[0] = *new;
		top_sink(t, t->slot, t->used, 0);
	}
	t->last = grt_column_get(t->sort, t->view, &t->slot[0].job);
	return 0;
}

int grt_top_add(struct grt_top *t, const struct grt_job *job)
{
	uint64_t at = t->seen++;
	struct ranked new;

	if (t->used == t->max && !is_ahead(t, job))
		return 0;
	new = (struct ranked){.job = *job, .at = at};
	return top_take_in(t, &new);
}

static int top_compare(const void *a, const void *b, void *t)
{
	return top_before(t, a, b) ? -1 : top_before(t, b, a);
}

int grt_top_each(struct grt_top *t, int (*fn)(void *arg, const struct grt_job *job), void *arg)
{
	struct ranked *sorted = malloc((t->used + 1) * sizeof(*sorted));
	int r = 0;

	if (!sorted)
		return -ENOMEM;
	if (t->used)
		memcpy(sorted, t->slot, t->used * sizeof(*sorted));
	qsort_r(sorted, t->used, sizeof(*sorted), top_compare, t);
	for (uint64_t i = 0; i < t->used && !r; i++)
		r = fn(arg, &sorted[i].job);
	free(sorted);
	return r;
}

int grt_top_new(struct grt_top **out, const struct grt_column *sort, const struct grt_job_view *view,
		uint64_t max)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->sort = sort;
	(*out)->view = view;
	(*out)->max = max;
	(*out)->numbers = !grt_cell_is_text(sort->kind);
	return 0;
}

void grt_top_free(struct grt_top *t)
{
	if (!t)
		return;
	free(t->slot);
	free(t);
}

/* --------------------------------------------------------------- analysis */

/**
 * struct job_list - jobs as rows
 * @pass: the one in which they are collected
 * @top: sorted; NULL: jobs are written in the order of their completion
 * @table: the table of jobs, with its title in this pass
 */
struct job_list {
	const struct grt_pass *pass;
	struct grt_top *top;
	struct grt_job_view view;
	struct grt_table table;
	char title[64];
};

static int new_list(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct job_list *l = calloc(1, sizeof(*l));

	*state = l;
	if (!l)
		return -ENOMEM;
	l->pass = pass;
	l->view.names = pass->names;
	snprintf(l->title, sizeof(l->title), "jobs by %s",
		 pass->sort ? pass->sort->name : "time of completion");
	l->table = grt_job_table;
	l->table.title = l->title;
	return pass->streams ? 0 : grt_top_new(&l->top, pass->sort, &l->view, pass->top);
}

static void open_list(void *state)
{
	struct job_list *l = state;

	if (l->pass->streams)
		grt_writer_table(l->pass->writer, &l->table, &l->view);
}

static int add_to_list(void *state, const struct grt_job *job)
{
	struct job_list *l = state;

	if (l->top)
		return grt_top_add(l->top, job);
	if (!l->pass->top || l->pass->jobs_seen < l->pass->top)
		return grt_writer_row(l->pass->writer, job);
	return 0;
}

static int write_job(void *arg, const struct grt_job *job)
{
	return grt_writer_row(arg, job);
}

static int write_list(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct job_list *l = state;
	int ret = 0;

	if (l->top) {
		grt_writer_table(pass->writer, &l->table, &l->view);
		ret = grt_top_each(l->top, write_job, pass->writer);
	}
	grt_writer_table_end(pass->writer);
	if (!l->top && pass->top && pass->jobs_seen > pass->top)
		grt_note(pass->notes, "%" PRIu64 " {more job|more jobs}: --top 0 shows all",
			 pass->jobs_seen - pass->top);
	return ret;
}

static void top_free_list(void *state)
{
	struct job_list *l = state;

	grt_top_free(l->top);
	free(l);
}

static const struct grt_part list_parts[] = {
	{"job", "each job", GRT_PART_BY | GRT_PART_SUMMARY | GRT_PART_JOBS, 0, &grt_job_table, .with = "ring",
	 .write = write_list},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_top = {
	.name = "top",
	.parts = list_parts,
	.begin = new_list,
	.open = open_list,
	.job = add_to_list,
	.free = top_free_list,
};
