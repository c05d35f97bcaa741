// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The columns of what the time of threads went to. */
#include <stddef.h>

#include "table/cells.h"
#include "threads.h"

#define T(member) offsetof(struct grt_thread, member)

static void get_thread(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	(void)arg;
	grt_cell_name(cell, view, ((const struct grt_thread *)row)->name);
}

static void get_process(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	(void)arg;
	grt_cell_owner(cell, view, ((const struct grt_thread *)row)->name);
}

static void get_life(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_thread *t = row;

	(void)view;
	(void)arg;
	cell->number = t->last - t->first;
}

/* clang-format off */

#define NUMBER(name, where, help) {#name, grt_cell_u64, T(name), GRT_CELL_NUMBER, where, help}

static const struct grt_column columns[] = {
	{"process", get_process, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "its process's name"},
	{"thread", get_thread, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "its name"},
	{"pid", grt_cell_u32, T(pid), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "process id"},
	{"tid", grt_cell_u32, T(tid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "thread id"},
	{"first", grt_cell_u64, T(first), GRT_CELL_TIME, GRT_COLUMN_MORE, "it is known from here on"},
	{"life", get_life, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "for so long, the sum of the states, ns"},
#define GRT_THREAD_STATE(number, NAME, name, help) \
	{#name, grt_cell_u64, T(ns[number]), GRT_CELL_NS, GRT_COLUMN_ALL, help ", ns"},
#include <grtrace/thread_states.def>
#undef GRT_THREAD_STATE
	NUMBER(intervals, GRT_COLUMN_ALL, "times that it left the CPU"),
	NUMBER(taken_off, GRT_COLUMN_MORE, "of these, while it was ready to run"),
	{"delay_max", grt_cell_u64, T(delay_max), GRT_CELL_NS, GRT_COLUMN_ALL, "longest time for which it was ready to run without a CPU, ns"},
	NUMBER(samples, GRT_COLUMN_MORE, "looks at what it ran"),
	NUMBER(lost, GRT_COLUMN_MORE, "intervals whose records are missing"),
	{.name = NULL},
};

const struct grt_table grt_thread_table = {"threads", "threads", columns, 0};

/* clang-format on */
