// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Migrations of unified memory over time (UVM_MIGRATION), as a part of a timeline: a row for each process,
 * and one for each direction in which its pages went, with how much of the time copies took.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/busy.h"
#include "base/compare.h"
#include "base/containers.h"
#include "base/intervals.h"
#include "table/bar_rows.h"

/* Processes and directions; migrations of further ones are counted. */
#define ROWS_MAX 256U
/* In place of a device: the row of all directions. */
#define ALL UINT32_MAX

GRT_INTERVALS(copying, struct grt_interval)

/**
 * struct uvm_bar - @ran: union of the copies: what overlaps counts once. A copy that ends last may have
 * begun before several others, so all of it is kept
 */
struct uvm_bar {
	struct grt_bar_row bar;
	uint32_t pid;
	uint32_t from, to;
	uint64_t copies;
	uint64_t bytes;
	uint64_t busy;
	struct grt_interval *ran;
	uint32_t used, room;
};

static int uvm_bars_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	return grt_bar_rows_begin(*state, pass, sizeof(struct uvm_bar), ROWS_MAX);
}

/* Fills columns with the part of a copy in which no other copy ran. */
static int uvm_bars_fill(const struct grt_bar_rows *x, struct uvm_bar *row, uint64_t from, uint64_t to)
{
	uint32_t i = copying_ending(row->ran, row->used, from);
	uint32_t end = copying_behind(row->ran, row->used, i, to);
	struct grt_interval all = {from, to};

	if (grt_grow(&row->ran, &row->room, row->used + 1, 64))
		return -ENOMEM;
	for (uint32_t k = i; k < end; k++) {
		const struct grt_interval *r = &row->ran[k];

		if (r->from > from)
			row->busy += grt_timescale_fill(&x->scale, row->bar.column, from, r->from);
		from = r->to;
		all.from = r->from < all.from ? r->from : all.from;
		all.to = r->to > all.to ? r->to : all.to;
	}
	if (from < to)
		row->busy += grt_timescale_fill(&x->scale, row->bar.column, from, to);
	copying_unite(row->ran, &row->used, i, end);
	row->ran[i] = all;
	return 0;
}

static int uvm_bars_add(struct grt_bar_rows *x, const struct grt_ev_uvm_migration *m, uint32_t from,
			uint32_t to)
{
	const struct grt_key key = {{m->e.pid, from, to}};
	struct uvm_bar *row;
	int ret = grt_bar_rows_get(x, &key, &row);

	if (ret || !row)
		return ret;
	row->pid = m->e.pid;
	row->from = from;
	row->to = to;
	row->copies++;
	row->bytes += m->bytes;
	return uvm_bars_fill(x, row, m->start, m->e.time);
}

static int uvm_bars_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	const struct grt_ev_uvm_migration *m = (const void *)e;
	struct grt_bar_rows *x = state;

	if (e->type != GRT_EV_UVM_MIGRATION || m->start > e->time || e->time < x->scale.first ||
	    m->start > x->scale.last)
		return 0;
	return uvm_bars_add(x, m, ALL, ALL) ?: uvm_bars_add(x, m, m->from_device, m->to_device);
}

/* Sorts each process before its directions. */
static int uvm_bars_compare(const void *a, const void *b)
{
	const struct uvm_bar *x = *(void *const *)a, *y = *(void *const *)b;

	return grt_compare(x->pid, y->pid) ?: grt_compare(y->from == ALL, x->from == ALL)
	       ?: grt_compare(x->from, y->from) ?: grt_compare(x->to, y->to);
}

static int uvm_bars_finish(void *state, struct grt_pass *pass)
{
	return grt_bar_rows_finish(state, uvm_bars_compare);
}

static const char *uvm_bars_processor(const struct grt_names *names, uint32_t device)
{
	return device ? grt_names_name(names, grt_names_find(names, GRT_NAME_DEVICE, device)) ?: "GPU"
		      : "CPU";
}

static bool uvm_bars_bar(const void *state, const struct grt_pass *pass, uint32_t i, struct grt_bar *bar)
{
	const struct uvm_bar *row = grt_bar_rows_at(state, i);

	if (!row)
		return false;
	if (row->from == ALL)
		snprintf(bar->label, sizeof(bar->label), "%s(%" PRIu32 ")",
			 grt_process_name(pass->names, row->pid) ?: "pid", row->pid);
	else
		snprintf(bar->label, sizeof(bar->label), "  %.7s > %.7s",
			 uvm_bars_processor(pass->names, row->from),
			 uvm_bars_processor(pass->names, row->to));
	bar->column = row->bar.column;
	bar->busy = row->busy;
	bar->drawn = true;
	return true;
}

#define NUMBER(name, n, where, help)                               \
	{                                                          \
		name, grt_row_get, n, GRT_CELL_NUMBER, where, help \
	}

static const struct grt_column uvm_bars_columns[] = {
	NUMBER("pid", 0, GRT_COLUMN_ALL, "process whose memory it is"),
	{"process", grt_row_get, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the program"},
	{"from", grt_row_get, 2, GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "processor that had the pages; none: the row covers all"},
	{"to", grt_row_get, 3, GRT_CELL_TEXT, GRT_COLUMN_ALL, "processor that has the pages afterwards"},
	NUMBER("copies", 4, GRT_COLUMN_ALL, "copies that run at least partly in the span"),
	{"bytes", grt_row_get, 5, GRT_CELL_BYTES, GRT_COLUMN_ALL, "bytes of the copies"},
	{"busy", grt_row_get, 6, GRT_CELL_NS, GRT_COLUMN_ALL, "time in which at least one copy ran, ns"},
	{"share", grt_row_get, 7, GRT_CELL_PERCENT, GRT_COLUMN_ALL,
	 "share of the span in which at least one copy ran, percent"},
	{"columns", grt_row_get, 8, GRT_CELL_LIST, GRT_COLUMN_MACHINE,
	 "time in which at least one copy ran in each column, ns"},
	{.name = NULL},
};

static const struct grt_table uvm_bars_table = {"uvm", "unified memory by process", uvm_bars_columns, 0};

static void uvm_bars_cells(const void *state, const void *at, const struct grt_pass *pass,
			   struct grt_row_cells *c)
{
	const struct uvm_bar *row = at;

	grt_row_number(c, row->pid);
	grt_row_text(c, grt_process_name(pass->names, row->pid));
	grt_row_text(c, row->from == ALL ? NULL : uvm_bars_processor(pass->names, row->from));
	grt_row_text(c, row->from == ALL ? NULL : uvm_bars_processor(pass->names, row->to));
	grt_row_number(c, row->copies);
	grt_row_number(c, row->bytes);
	grt_bar_rows_put_busy(c, row->busy, grt_pass_span(pass));
	grt_bar_rows_put(state, row, c);
}

static int uvm_bars_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	return grt_bar_rows_write(state, pass, &uvm_bars_table, uvm_bars_cells, state);
}

static void uvm_bars_notes(void *state, struct grt_pass *pass)
{
	const struct grt_bar_rows *x = state;

	if (x->over)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {migration is|migrations are} of processes without a row (limit of %u rows)",
			 x->over, ROWS_MAX);
}

GRT_ANALYSIS_ANY(uvm_bars_any, grt_bar_rows, rows.used)

static void uvm_bars_free(void *state)
{
	struct grt_bar_rows *x = state;

	for (struct uvm_bar *r = grt_keyed_oldest(&x->rows); r; r = grt_keyed_next(&x->rows, r))
		free(r->ran);
	grt_bar_rows_free(x);
}

static const struct grt_part uvm_bars_parts[] = {
	{"uvm", "unified memory by process", GRT_PART_BARS, .tables = GRT_TABLES(&uvm_bars_table),
	 .any = uvm_bars_any, .write = uvm_bars_write, .bar = uvm_bars_bar},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_uvm_bars = {
	.name = "uvm_bars",
	.classes = GRT_IN_CLASS(uvm),
	.beyond = true,
	.late = true,
	.parts = uvm_bars_parts,
	.size = sizeof(struct grt_bar_rows),
	.begin = uvm_bars_begin,
	.event = uvm_bars_event,
	.finish = uvm_bars_finish,
	.notes = uvm_bars_notes,
	.free = uvm_bars_free,
};
