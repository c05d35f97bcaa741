// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Memory that processes have from NVIDIA's driver on each GPU, as a part of a timeline: the mean by time in
 * each column. What was got before the time that is looked at is in it. Memory is 24 bytes for each column
 * and row.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bus.h"
#include "base/compare.h"
#include "base/containers.h"
#include "base/amount.h"
#include "base/units.h"
#include "process_memory.h"
#include "table/bars.h"
#include "table/rows.h"

/** struct holder_bar - how much a holder has, bytes */
struct holder_bar {
	const struct grt_memory_holder *holder;
	struct grt_amount amount;
};

/** struct process_memory_bars - @bar: by the holder's number; @list: those that have something, in order */
struct process_memory_bars {
	struct grt_timescale scale;
	struct grt_process_memory memory;
	struct holder_bar *bar;
	uint32_t bars;
	const struct holder_bar **list;
	uint32_t used;
};

static int holder_bars_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct process_memory_bars *x = *state;

	grt_process_memory_init(&x->memory);
	return grt_timescale_init(&x->scale, pass->first, pass->last, pass->columns);
}

static int holder_bars_take(struct process_memory_bars *x, const struct grt_memory_holder *h, uint64_t time)
{
	struct holder_bar *bar;

	if (grt_grow_zeroed(&x->bar, &x->bars, h->number + 1, 16))
		return -ENOMEM;
	bar = &x->bar[h->number];
	bar->holder = h;
	return grt_amount_set(&bar->amount, &x->scale, h->live, time);
}

static int holder_bars_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	struct process_memory_bars *x = state;
	struct grt_holder_change change[2];
	int ret = 0, n;

	if (e->type != GRT_EV_NV_MEMORY || e->time > x->scale.last)
		return 0;
	n = grt_process_memory_event(&x->memory, (const void *)e, change);
	for (int i = 0; i < n && !ret; i++)
		ret = holder_bars_take(x, change[i].holder, e->time);
	return n < 0 ? n : ret;
}

/* ------------------------------------------------------------------- rows */

/* GPUs come before the host, and for each of them the process that had most comes first. */
static int holder_bars_compare(const void *a, const void *b)
{
	const struct holder_bar *x = *(void *const *)a, *y = *(void *const *)b;
	const struct grt_memory_holder *h = x->holder, *k = y->holder;

	return grt_compare(h->place, k->place)
	       ?: grt_compare(h->bus, k->bus)
	       ?: grt_compare(y->amount.peak, x->amount.peak)
	       ?: grt_compare(h->pid, k->pid);
}

static int holder_bars_finish(void *state, struct grt_pass *pass)
{
	struct process_memory_bars *x = state;

	free(x->list);
	x->used = 0;
	x->list = calloc(x->bars + 1, sizeof(*x->list));
	if (!x->list)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->bars; i++) {
		struct holder_bar *bar = &x->bar[i];

		if (!grt_amount_is_set(&bar->amount))
			continue;
		grt_amount_end(&bar->amount, &x->scale);
		if (bar->amount.peak || bar->amount.now)
			x->list[x->used++] = bar;
	}
	qsort(x->list, x->used, sizeof(*x->list), holder_bars_compare);
	return 0;
}

static const char *holder_bars_gpu(const struct grt_memory_holder *h, char text[GRT_BUS_MAX])
{
	if (h->place != GRT_NV_MEMORY_OF_GPU || !h->bus)
		return NULL;
	return grt_bus_text(text, h->bus);
}

static bool holder_bars_bar(const void *state, const struct grt_pass *pass, uint32_t i, struct grt_bar *out)
{
	const struct process_memory_bars *x = state;
	const struct holder_bar *bar;
	const char *name, *gpu, *place;
	char text[GRT_BUS_MAX];

	if (i >= x->used)
		return false;
	bar = x->list[i];
	name = grt_process_name(pass->names, bar->holder->pid);
	gpu = holder_bars_gpu(bar->holder, text);
	place = bar->holder->place == GRT_NV_MEMORY_OF_HOST ? "host" : "GPU";
	/* there is little room: bus and device of the GPU are enough */
	snprintf(out->label, sizeof(out->label), "%.5s %s(%" PRIu32 ")", gpu ? gpu + 5 : place, name ?: "pid",
		 bar->holder->pid);
	out->look = GRT_BAR_AMOUNT;
	out->column = bar->amount.mean;
	out->drawn = true;
	grt_units_amount(out->behind, sizeof(out->behind),
			 bar->amount.peak < INT64_MAX / 1000 ? (int64_t)bar->amount.peak * 1000 : INT64_MAX,
			 "B");
	return true;
}

static const struct grt_column holder_bars_columns[] = {
	{"pid", grt_row_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", grt_row_get, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the process"},
	{"gpu", grt_row_get, 2, GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "PCI address of the GPU; none: memory of the host"},
	{"peak", grt_row_get, 3, GRT_CELL_BYTES, GRT_COLUMN_ALL, "largest amount live at a time, B"},
	{"live", grt_row_get, 4, GRT_CELL_BYTES, GRT_COLUMN_ALL, "amount live at the end, B"},
	{"columns", grt_row_get, 5, GRT_CELL_LIST, GRT_COLUMN_MACHINE,
	 "mean over time of the live memory in each column, B"},
	{.name = NULL},
};

static const struct grt_table holder_bars_table = {"gpu_memory", "memory from NVIDIA's driver by process",
						   holder_bars_columns, 0};

static int holder_bars_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct process_memory_bars *x = state;
	char text[GRT_BUS_MAX];
	int ret = 0;

	grt_writer_table(pass->writer, &holder_bars_table, NULL);
	for (uint32_t i = 0; i < x->used && !ret; i++) {
		const struct holder_bar *bar = x->list[i];
		struct grt_row_cells c = {.n = 0};

		grt_row_number(&c, bar->holder->pid);
		grt_row_text(&c, grt_process_name(pass->names, bar->holder->pid));
		grt_row_text(&c, holder_bars_gpu(bar->holder, text));
		grt_row_number(&c, bar->amount.peak);
		grt_row_number(&c, bar->amount.now);
		grt_row_add(&c, (struct grt_cell){.list = bar->amount.mean, .number = x->scale.columns});
		ret = grt_writer_row(pass->writer, &c);
	}
	grt_writer_table_end(pass->writer);
	return ret;
}

static void holder_bars_notes(void *state, struct grt_pass *pass)
{
	const struct process_memory_bars *x = state;

	if (x->used)
		grt_note(
			pass->notes,
			"memory from NVIDIA's driver: what processes hold, mean over time, drawn as shares of "
			"the largest mean of the row; after it, the maximum");
	if (x->memory.over)
		grt_note(pass->notes,
			 "%" PRIu64 " {allocation is|allocations are} not counted: there were too many",
			 x->memory.over);
}

GRT_ANALYSIS_ANY(holder_bars_any, process_memory_bars, used)

static void holder_bars_free(void *state)
{
	struct process_memory_bars *x = state;

	for (uint32_t i = 0; i < x->bars; i++) {
		grt_amount_free(&x->bar[i].amount);
	}
	free(x->bar);
	free(x->list);
	grt_process_memory_free(&x->memory);
	grt_timescale_free(&x->scale);
}

static const struct grt_part holder_bars_parts[] = {
	{"gpu_memory", "memory from NVIDIA's driver", GRT_PART_BARS, .tables = GRT_TABLES(&holder_bars_table),
	 .any = holder_bars_any, .write = holder_bars_write, .bar = holder_bars_bar},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_process_memory_bars = {
	.name = "process_memory_bars",
	.classes = GRT_IN_CLASS(devmem),
	.beyond = true,
	.parts = holder_bars_parts,
	.size = sizeof(struct process_memory_bars),
	.begin = holder_bars_begin,
	.event = holder_bars_event,
	.finish = holder_bars_finish,
	.notes = holder_bars_notes,
	.free = holder_bars_free,
};
