// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Counters as a part of a timeline: the mean by time of each in each column, of
 * a total its growth by time. Between which values a counter is known is decided
 * as in counters.h: until the next value, unless it has ended.
 *
 * Memory: 24 bytes for each column and counter.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/timescale.h"
#include "base/units.h"
#include "counters.h"
#include "table/bars.h"
#include "table/rows.h"

/**
 * struct counter_bar - a row, found by the same key as the row of counters.h
 * @area: sum of values times their duration, in 1/1000 of a unit and ns
 * @known: time in the column for which there is a value
 * @mean: @area divided by @known; @negative: some values are below 0
 */
struct counter_bar {
	const struct grt_counter_row *row;
	__int128 *area;
	uint64_t *known;
	uint64_t *mean;
	bool negative;
};

struct counter_bars {
	struct grt_timescale scale;
	struct grt_counters counters;
	struct grt_keyed rows;
	const struct grt_counter_row **list;
};

static int counter_bars_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct counter_bars *x = *state;

	grt_counters_init(&x->counters, pass->names);
	grt_keyed_init(&x->rows, sizeof(struct counter_bar), GRT_COUNTERS_MAX);
	return grt_timescale_init(&x->scale, pass->first, pass->last, pass->columns);
}

static int counter_bars_row(struct counter_bars *x, const struct grt_key *key, struct counter_bar **out)
{
	void *found;
	int ret = grt_keyed_get(&x->rows, key, &found);
	struct counter_bar *bar = found;

	*out = bar;
	if (ret || bar->area)
		return ret;
	bar->area = calloc(x->scale.columns + 1, sizeof(*bar->area));
	bar->known = calloc(x->scale.columns + 1, sizeof(*bar->known));
	bar->mean = calloc(x->scale.columns + 1, sizeof(*bar->mean));
	return bar->area && bar->known && bar->mean ? 0 : -ENOMEM;
}

/* @value lasted from @from to @to. */
static void counter_bars_fill(const struct counter_bars *x, struct counter_bar *bar, int64_t value,
			      uint64_t from, uint64_t to)
{
	const struct grt_timescale *t = &x->scale;

	from = from < t->first ? t->first : from;
	to = to > t->last ? t->last : to;
	if (!t->columns || from >= to)
		return;
	for (uint32_t c = grt_timescale_column(t, from); from < to; c++) {
		uint64_t end = t->border[c + 1] < to ? t->border[c + 1] : to;

		bar->area[c] += (__int128)value * (int64_t)(end - from);
		bar->known[c] += end - from;
		from = end;
	}
}

/* counters.h processes the value; the growth of its row's sums is the share since the previous value. */
static int counter_bars_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	const struct grt_ev_counter *ev = (const void *)e;
	const struct grt_key key = {{ev->counter, ev->instance, e->device}};
	struct counter_bars *x = state;
	const struct grt_counter_row *row = grt_keyed_find(&x->counters.rows, &key);
	struct grt_counter_row before = row ? *row : (struct grt_counter_row){.time = 0};
	struct counter_bar *bar;
	uint64_t ns;
	int ret;

	if (e->type != GRT_EV_COUNTER)
		return 0;
	ret = grt_counters_event(&x->counters, e);
	row = grt_keyed_find(&x->counters.rows, &key);
	if (ret || !row)
		return ret;
	ret = counter_bars_row(x, &key, &bar);
	ns = row->lasted - before.lasted;
	if (ret || !ns)
		return ret;
	counter_bars_fill(x, bar, (int64_t)((row->area - before.area) / (int64_t)ns), before.time, e->time);
	return 0;
}

/* ------------------------------------------------------------------- rows */

static int counter_bars_finish(void *state, struct grt_pass *pass)
{
	struct counter_bars *x = state;

	for (struct counter_bar *bar = grt_keyed_oldest(&x->rows); bar; bar = grt_keyed_next(&x->rows, bar)) {
		bar->row = grt_keyed_find(&x->counters.rows, grt_keyed_key(bar));
		for (uint32_t c = 0; c < x->scale.columns; c++) {
			if (!bar->known[c])
				continue;
			bar->negative |= bar->area[c] < 0;
			bar->mean[c] = (uint64_t)(bar->area[c] / (int64_t)bar->known[c]);
		}
	}
	return grt_counters_list(&x->counters, &x->list);
}

static const struct counter_bar *counter_bars_at(const struct counter_bars *x, uint32_t i)
{
	return grt_keyed_find(&x->rows, grt_keyed_key(x->list[i]));
}

static const char *counter_bars_place(const struct grt_pass *pass, const struct grt_counter_row *row,
				      bool process)
{
	uint32_t kind = process ? GRT_NAME_THREAD : GRT_NAME_DEVICE,
		 id = process ? row->instance : row->device;

	return id ? grt_names_name(pass->names, grt_names_find(pass->names, kind, id)) : NULL;
}

static bool counter_bars_bar(const void *state, const struct grt_pass *pass, uint32_t i, struct grt_bar *bar)
{
	const struct counter_bars *x = state;
	const struct counter_bar *row;
	const char *name, *place;
	int64_t mean;

	if (i >= x->counters.rows.used)
		return false;
	row = counter_bars_at(x, i);
	name = grt_names_name(pass->names, row->row->name);
	place = counter_bars_place(pass, row->row, row->row->instance);
	/* a label that is too long loses the device */
	snprintf(bar->label, sizeof(bar->label), "%s%s%s", name ?: "counter", place ? " " : "", place ?: "");
	bar->look = GRT_BAR_AMOUNT;
	bar->column = row->mean;
	bar->drawn = row->row->lasted && !row->negative;
	if (grt_counter_mean(row->row, &mean))
		grt_units_amount(bar->behind, sizeof(bar->behind), mean, row->row->unit);
	return true;
}

static const struct grt_column counter_bars_columns[] = {
	{"device", grt_row_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "device number, major << 20 | minor"},
	{"device_name", grt_row_get, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "device node"},
	{"pid", grt_row_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process to which the counter belongs"},
	{"process", grt_row_get, 3, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the process"},
	{"counter", grt_row_get, 4, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "counter id"},
	{"name", grt_row_get, 5, GRT_CELL_TEXT, GRT_COLUMN_ALL, "what it counts"},
	{"unit", grt_row_get, 6, GRT_CELL_TEXT, GRT_COLUMN_ALL, "unit of the values in this table"},
	{"columns", grt_row_get, 7, GRT_CELL_LIST, GRT_COLUMN_MACHINE,
	 "mean over the known time of each column, in 1/1000 of the unit; null: a value is below 0"},
	{"known", grt_row_get, 8, GRT_CELL_LIST, GRT_COLUMN_MACHINE,
	 "time of each column in which the value is known, ns; where that is 0 there is no mean"},
	{.name = NULL},
};

static const struct grt_table counter_bars_table = {"counters", "counters", counter_bars_columns, 0};

static int counter_bars_write_row(const struct counter_bars *x, const struct counter_bar *bar,
				  struct grt_pass *pass)
{
	const struct grt_counter_row *r = bar->row;
	struct grt_row_cells c = {.n = 0};

	grt_row_add(&c, (struct grt_cell){.number = r->device, .absent = !r->device});
	grt_row_text(&c, counter_bars_place(pass, r, false));
	grt_row_add(&c, (struct grt_cell){.number = r->instance, .absent = !r->instance});
	grt_row_text(&c, counter_bars_place(pass, r, true));
	grt_row_number(&c, r->counter);
	grt_row_text(&c, grt_names_name(pass->names, r->name));
	grt_row_text(&c, r->unit);
	grt_row_add(&c, (struct grt_cell){
				.list = bar->mean, .number = x->scale.columns, .absent = bar->negative});
	grt_row_add(&c, (struct grt_cell){.list = bar->known, .number = x->scale.columns});
	return grt_writer_row(pass->writer, &c);
}

static int counter_bars_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct counter_bars *x = state;
	int ret = 0;

	grt_writer_table(pass->writer, &counter_bars_table, NULL);
	for (uint32_t i = 0; i < x->counters.rows.used && !ret; i++)
		ret = counter_bars_write_row(x, counter_bars_at(x, i), pass);
	grt_writer_table_end(pass->writer);
	return ret;
}

static void counter_bars_notes(void *state, struct grt_pass *pass)
{
	const struct counter_bars *x = state;

	if (x->counters.rows.used)
		grt_note(pass->notes,
			 "counters: mean over time, drawn as shares of the largest mean of the row; "
			 "after it, the mean of the whole trace");
	if (x->counters.over)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {value of counters has|values of counters have} no row (limit of %u counters)",
			 x->counters.over, GRT_COUNTERS_MAX);
}

GRT_ANALYSIS_ANY(counter_bars_any, counter_bars, rows.used)

static void counter_bars_free(void *state)
{
	struct counter_bars *x = state;

	for (struct counter_bar *r = grt_keyed_oldest(&x->rows); r; r = grt_keyed_next(&x->rows, r)) {
		free(r->area);
		free(r->known);
		free(r->mean);
	}
	grt_keyed_free(&x->rows);
	grt_counters_free(&x->counters);
	grt_timescale_free(&x->scale);
	free(x->list);
}

static const struct grt_part counter_bars_parts[] = {
	{"counters", "counters", GRT_PART_BARS, .tables = GRT_TABLES(&counter_bars_table),
	 .any = counter_bars_any, .write = counter_bars_write, .bar = counter_bars_bar},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_counter_bars = {
	.name = "counter_bars",
	.classes = GRT_IN_CLASS(counter),
	.parts = counter_bars_parts,
	.size = sizeof(struct counter_bars),
	.begin = counter_bars_begin,
	.event = counter_bars_event,
	.finish = counter_bars_finish,
	.notes = counter_bars_notes,
	.free = counter_bars_free,
};
