// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The columns of what the time of threads went to. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/compare.h"
#include "table/analysis.h"
#include "table/cells.h"
#include "threads.h"

#define T(member) offsetof(struct grt_thread, member)

static void thread_table_get_life(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_thread *t = row;

	cell->number = t->last - t->first;
}

/* clang-format off */

#define NUMBER(name, where, help) {#name, grt_cell_u64, T(name), GRT_CELL_NUMBER, where, help}

static const struct grt_column columns[] = {
	{"process", grt_cell_owner_at, offsetof(struct grt_thread, name), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the process"},
	{"thread", grt_cell_name_at, offsetof(struct grt_thread, name), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the thread"},
	{"pid", grt_cell_u32, T(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "process id"},
	{"tid", grt_cell_u32, T(tid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "thread id"},
	{"first", grt_cell_u64, T(first), GRT_CELL_TIME, GRT_COLUMN_MORE, "time from which the thread's states are known"},
	{"life", thread_table_get_life, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "time for which its states are known: the sum of the states, ns"},
#define GRT_THREAD_STATE(number, NAME, name, help) \
	{#name, grt_cell_u64, T(ns[number]), GRT_CELL_NS, GRT_COLUMN_ALL, help ", ns"},
#include <grtrace/thread_states.def>
#undef GRT_THREAD_STATE
	NUMBER(intervals, GRT_COLUMN_ALL, "times that it left the CPU"),
	NUMBER(taken_off, GRT_COLUMN_MORE, "times that it left the CPU while it was ready to run"),
	{"delay_max", grt_cell_u64, T(delay_max), GRT_CELL_NS, GRT_COLUMN_ALL, "longest time that it was ready to run without a CPU, ns"},
	NUMBER(samples, GRT_COLUMN_MORE, "samples of the code that it ran"),
	NUMBER(lost, GRT_COLUMN_MORE, "intervals whose records are missing"),
	{.name = NULL},
};

/* Rows are struct grt_thread, the view is a struct grt_names. */
static const struct grt_table thread_table = {"threads", "threads", columns, 0};

/* clang-format on */

/* --------------------------------------------------------------- analysis */

static int thread_table_by_number(const void *a, const void *b)
{
	uint32_t x = ((const struct grt_thread *)a)->number, y = ((const struct grt_thread *)b)->number;

	return grt_compare(x, y);
}

static void note_threads(const struct grt_threads *threads, struct grt_pass *pass, uint64_t shown,
			 uint64_t all)
{
	struct grt_threads_count n = grt_threads_count(threads);

	if (!all)
		grt_note(pass->notes,
			 "the trace has no events of threads: use grtrace record -e sched -- PROG");
	if (all > shown)
		grt_note(pass->notes, "%" PRIu64 " {more thread|more threads}: --top 0 shows all",
			 all - shown);
	if (n.lost)
		grt_note(pass->notes,
			 "%" PRIu64 " off-CPU intervals are lost: the time around them is unknown", n.lost);
	if (n.unseen)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {return of threads to a CPU was|returns of threads to a CPU were} not reported by the kernel: {its|their} time is"
			" inferred from the time that the threads ran",
			n.unseen);
	if (n.unsure)
		grt_note(pass->notes,
			 "for %" PRIu64 " {wait|waits} it is unknown whether {it was|they were} for the GPU",
			 n.unsure);
	if (n.tracers)
		grt_note(pass->notes,
			 "%" PRIu64 " {thread is|threads are} grtrace's own: {it|they} ran %" PRIu64
			 " us, which no sum includes",
			 n.tracers, n.tracer_ns / 1000);
	if (n.over)
		grt_note(pass->notes,
			 "%" PRIu64 " {record belongs|records belong} to threads beyond the first %u", n.over,
			 GRT_THREADS_MAX);
}

/* Lists all threads, in memory that the caller frees. Return: their number, or -ENOMEM */
static int64_t list_threads(struct grt_threads *threads, const struct grt_thread ***out)
{
	uint32_t n = 0, wanted = 0;

	if (grt_threads_flush(threads))
		return -ENOMEM;
	while (grt_threads_at(threads, n))
		n++;
	*out = calloc((size_t)n + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		if (!grt_threads_at(threads, i)->tracer && !grt_threads_at(threads, i)->gone)
			(*out)[wanted++] = grt_threads_at(threads, i);
	return wanted;
}

/* Without another order, the thread that lived longest comes first. */
static int write_threads(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_names *names = grt_threads_names(state);
	const struct grt_thread **row = NULL;
	int64_t n = list_threads(state, &row);
	uint64_t shown = grt_pass_shown(pass, part, (uint64_t)n);
	int ret;

	if (n < 0)
		return -ENOMEM;
	grt_rows_sort(row, (uint64_t)n, grt_pass_sort(pass, part, grt_column_find(&thread_table, "life")),
		      names, thread_table_by_number);
	ret = grt_writer_list(pass->writer, &thread_table, names, row, shown);
	if (!ret)
		note_threads(state, pass, shown, (uint64_t)n);
	free(row);
	return ret;
}

GRT_ANALYSIS_NEW(new_threads, struct grt_threads, grt_threads_new, NULL)

static void begin_within(void *state, uint64_t from, uint64_t to)
{
	grt_threads_from(state, from);
}

GRT_ANALYSIS_EVENT(thread_table_take_event, grt_threads_event)
GRT_ANALYSIS_FREE(free_threads, grt_threads_free)

static const struct grt_part thread_parts[] = {
	{"thread", "how threads spent their time", GRT_PART_BY | GRT_PART_NO_JOBS | GRT_PART_TABLES, 0,
	 &thread_table, .write = write_threads},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_threads = {
	.name = "threads",
	.classes = GRT_IN_CLASS(thread) | GRT_IN_CLASS(image) | GRT_IN_CLASS(launch) | GRT_IN_CLASS(name),
	.beyond = true,
	.whole = true,
	.parts = thread_parts,
	.begin = new_threads,
	.within = begin_within,
	.event = thread_table_take_event,
	.free = free_threads,
};
