// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The columns of what threads waited for and who ended it. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/compare.h"
#include "table/analysis.h"
#include "table/cells.h"
#include "threads.h"
#include "wakers.h"

#define W(member) offsetof(struct grt_waker_row, member)

static void waker_table_get_state(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = grt_thread_state_name(((const struct grt_waker_row *)row)->state);
}

static void waker_table_get_by(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = grt_waker_name(((const struct grt_waker_row *)row)->by);
}

static void waker_table_get_cause(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = grt_wake_cause_name(((const struct grt_waker_row *)row)->cause);
}

/* The work that took most of the time behind the wait. */
static void waker_table_get_behind(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_waker_row *r = row;
	unsigned int most = r->state;

	for (unsigned int i = 0; i < GRT_THREAD_STATES; i++)
		if (r->behind[i] > r->behind[most])
			most = i;
	cell->text = grt_thread_state_name(most);
	cell->absent = most == GRT_THREAD_UNKNOWN;
}

/* clang-format off */

static const struct grt_column columns[] = {
	{"process", grt_cell_owner_at, offsetof(struct grt_waker_row, name), GRT_CELL_TEXT, GRT_COLUMN_ALL, "the process's name"},
	{"thread", grt_cell_name_at, offsetof(struct grt_waker_row, name), GRT_CELL_TEXT, GRT_COLUMN_ALL, "the thread's name"},
	{"pid", grt_cell_u32, W(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "process id"},
	{"tid", grt_cell_u32, W(tid), GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "thread id"},
	{"state", waker_table_get_state, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "what the thread waited for"},
	{"by", waker_table_get_by, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "kind of the waker: thread, kernel (a kernel thread), interrupt"},
	{"cause", waker_table_get_cause, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "what the waker was doing: display, fence, driver, timer, exit"},
	{"waker", grt_cell_chars, W(waker_comm), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the waker"},
	{"waker_pid", grt_cell_id, W(waker_pid), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "process id of the waker"},
	{"waker_tid", grt_cell_id, W(waker), GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "thread id of the waker"},
	{"waits", grt_cell_u64, W(waits), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of waits"},
	{"time", grt_cell_u64, W(ns), GRT_CELL_NS, GRT_COLUMN_ALL, "total time until the thread was woken, ns"},
	{"max", grt_cell_u64, W(max), GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "longest wait, ns"},
	{"behind", waker_table_get_behind, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "what the waker, or the thread that the waker waited for, did most of that time"},
#define GRT_THREAD_STATE(number, NAME, name, help) \
	{"behind_" #name, grt_cell_u64, W(behind[number]), GRT_CELL_NS, GRT_COLUMN_MORE, "part of the time in which the waker, or the thread that it waited for, was " #name ", ns"},
#include <grtrace/thread_states.def>
#undef GRT_THREAD_STATE
	{.name = NULL},
};

/* Rows are struct grt_waker_row, the view is a struct grt_names. */
static const struct grt_table waker_table = {"waits", "what threads waited for", columns, 0};

/* clang-format on */

/* --------------------------------------------------------------- analysis */

/* Most time first, or by thread. */
static int waker_table_by_time(const void *a, const void *b)
{
	const struct grt_waker_row *x = *(void *const *)a, *y = *(void *const *)b;

	return grt_compare(y->ns, x->ns) ?: grt_compare(x->tid, y->tid) ?: grt_compare(x->waker, y->waker);
}

static void note_wakers(const struct grt_wakers *w, struct grt_pass *pass, uint64_t shown)
{
	if (!w->rows.used)
		grt_note(pass->notes,
			 "the trace has no events of threads: use grtrace record -e sched -- PROG");
	if (w->rows.used > shown)
		grt_note(pass->notes, "%" PRIu64 " {more row|more rows}: --top 0 shows all",
			 w->rows.used - shown);
	if (w->inferred)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {wait: its|waits: their} cause is inferred from what the waker had done last",
			 w->inferred);
	if (w->over)
		grt_note(pass->notes, "%" PRIu64 " {wait is|waits are} not in the table (limit of %u rows)",
			 w->over, GRT_WAKERS_MAX);
}

static int write_wakers(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_wakers *w = state;
	uint64_t shown = grt_pass_shown(pass, part, w->rows.used);
	const struct grt_column *sort = grt_pass_sort(pass, part, NULL);
	void **row;
	int ret = grt_keyed_list(&w->rows, waker_table_by_time, &row);

	if (ret)
		return ret;
	if (sort)
		grt_rows_sort(row, w->rows.used, sort, &w->names, NULL);
	ret = grt_writer_list(pass->writer, &waker_table, &w->names, row, shown);
	if (!ret)
		note_wakers(w, pass, shown);
	free(row);
	return ret;
}

GRT_ANALYSIS_INIT(new_wakers, grt_wakers_init)

static void waker_table_within(void *state, uint64_t from, uint64_t to)
{
	((struct grt_wakers *)state)->from = from;
}

GRT_ANALYSIS_EVENT(waker_table_take_event, grt_wakers_event)
GRT_ANALYSIS_FREE(free_wakers, grt_wakers_free)

static const struct grt_part waker_parts[] = {
	{"wait", "what threads waited for, and what woke them",
	 GRT_PART_BY | GRT_PART_NO_JOBS | GRT_PART_TABLES, 0, &waker_table, .write = write_wakers},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_wakers = {
	.name = "wakers",
	.classes = GRT_IN_CLASS(thread) | GRT_IN_CLASS(name),
	.beyond = true,
	.parts = waker_parts,
	.size = sizeof(struct grt_wakers),
	.begin = new_wakers,
	.within = waker_table_within,
	.event = waker_table_take_event,
	.free = free_wakers,
};
