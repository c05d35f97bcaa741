// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The counters of counters.h and their columns. */
#include "counters.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "table/analysis.h"
#include "table/cells.h"
#include "base/compare.h"

#define TOTAL "total "
#define NS_PER_S 1000000000

static bool is_total(const char *unit)
{
	return unit && !strncmp(unit, TOTAL, sizeof(TOTAL) - 1);
}

/* The growth of busy time by time is a share, that of other totals is per second. */
static bool is_share(const char *unit)
{
	return unit && !strcmp(unit, TOTAL "ns");
}

void grt_counters_init(struct grt_counters *c, const struct grt_names *names)
{
	c->over = 0;
	c->names = names;
	grt_keyed_init(&c->rows, sizeof(struct grt_counter_row), GRT_COUNTERS_MAX);
}

static void add_value(struct grt_counter_row *row, int64_t value)
{
	if (!row->seen++)
		row->least = row->most = value;
	if (value < row->least)
		row->least = value;
	if (value > row->most)
		row->most = value;
	row->last = value;
}

static void take_level(struct grt_counter_row *row, const struct grt_ev_counter *ev)
{
	uint64_t ns = ev->e.time - row->time;

	if (row->known) {
		row->area += (__int128)row->value * 1000 * ns;
		row->lasted += ns;
	}
	add_value(row, ev->value * 1000);
}

/*
 * A total may have any size, because it counts from the boot of the machine. A total that decreased began
 * again; its growth until then is unknown.
 */
static void take_total(struct grt_counter_row *row, const struct grt_ev_counter *ev)
{
	/* value of 1 per nanosecond, in 1/1000 of the unit that is shown */
	__int128 one = row->unit[0] == '%' ? 100000 : (__int128)NS_PER_S * 1000, rate;
	uint64_t ns = ev->e.time - row->time, grown;

	if (!row->known || !ns || ev->value < row->value)
		return;
	grown = (uint64_t)ev->value - (uint64_t)row->value;
	if (grown / 2 > GRT_COUNTER_VALUE_MAX) {
		row->outside++;
		return;
	}
	rate = grown * one / ns;
	row->growth += grown;
	row->area += grown * one;
	row->lasted += ns;
	add_value(row, rate > GRT_COUNTER_VALUE_MAX ? GRT_COUNTER_VALUE_MAX : (int64_t)rate);
}

/* Sets the counter's name, which may have changed. */
static void counters_set_name(const struct grt_counters *c, struct grt_counter_row *row, uint32_t name)
{
	const char *unit = grt_names_owner(c->names, name);

	row->name = name;
	row->grows = is_total(unit);
	if (is_share(unit))
		strcpy(row->unit, "%");
	else if (row->grows)
		snprintf(row->unit, sizeof(row->unit), "%s/s", unit + sizeof(TOTAL) - 1);
	else
		snprintf(row->unit, sizeof(row->unit), "%s", unit ? unit : "");
}

static void counters_take_value(const struct grt_counters *c, struct grt_counter_row *row,
				const struct grt_ev_counter *ev)
{
	uint32_t name = grt_names_find(c->names, GRT_NAME_COUNTER, ev->counter);

	if (!row->values++ || name != row->name)
		counters_set_name(c, row, name);
	row->inferred |= !!(ev->e.flags & GRT_FLAG_INFERRED);
	if (!row->grows && (ev->value > GRT_COUNTER_VALUE_MAX || ev->value < -GRT_COUNTER_VALUE_MAX)) {
		row->outside++;
		row->known = false;
		return;
	}
	if (row->grows)
		take_total(row, ev);
	else
		take_level(row, ev);
	row->known = !(ev->e.flags & GRT_FLAG_ENDED);
	row->value = ev->value;
	row->time = ev->e.time;
}

int grt_counters_event(struct grt_counters *c, const struct grt_event *e)
{
	const struct grt_ev_counter *ev = (const struct grt_ev_counter *)e;
	struct grt_key key = {{0}};
	struct grt_counter_row *row;
	void *found;
	int ret;

	if (e->type != GRT_EV_COUNTER)
		return 0;
	key.w[0] = ev->counter;
	key.w[1] = ev->instance;
	key.w[2] = e->device;
	ret = grt_keyed_get_or_count(&c->rows, &key, &c->over, &found);
	row = found;
	if (!row)
		return ret;
	row->device = e->device;
	row->counter = ev->counter;
	row->instance = ev->instance;
	counters_take_value(c, row, ev);
	return 0;
}

/* A single value is its own mean. */
bool grt_counter_mean(const struct grt_counter_row *row, int64_t *mean)
{
	__int128 half = row->area < 0 ? -(__int128)(row->lasted / 2) : (__int128)(row->lasted / 2), value;

	if (!row->lasted) {
		*mean = row->last;
		return row->seen == 1;
	}
	value = (row->area + half) / row->lasted;
	*mean = (int64_t)value;
	return value >= -(__int128)INT64_MAX && value <= INT64_MAX;
}

static int counters_by_place(const void *a, const void *b)
{
	const struct grt_counter_row *x = *(void *const *)a, *y = *(void *const *)b;

	return grt_compare(x->instance != 0, y->instance != 0)
		       ?: grt_compare(x->device, y->device)
				  ?: grt_compare(x->instance, y->instance) ?: grt_compare(x->counter, y->counter);
}

int grt_counters_list(const struct grt_counters *c, const struct grt_counter_row ***out)
{
	return grt_keyed_list(&c->rows, counters_by_place, (void ***)out);
}

void grt_counters_free(struct grt_counters *c)
{
	grt_keyed_free(&c->rows);
}

/* ------------------------------------------------------------- columns */

static void get_counter(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_counter_row *r = row;

	cell->number = r->counter;
	cell->text = grt_names_name(view, r->name);
}

static void counters_get_device(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_counter_row *r = row;

	cell->number = r->device;
	cell->text = grt_names_name(view, grt_names_find(view, GRT_NAME_DEVICE, r->device));
	cell->absent = !r->device;
}

static void counters_get_process(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_counter_row *r = row;

	cell->text =
		r->instance ? grt_names_name(view, grt_names_find(view, GRT_NAME_THREAD, r->instance)) : NULL;
}

/** enum what - the value of a row */
enum what {
	LEAST,
	MEAN,
	MOST,
	LAST,
};

static void get_value(struct grt_cell *cell, const void *view, const void *row, int what)
{
	const struct grt_counter_row *r = row;
	int64_t mean = 0;
	bool has_mean = grt_counter_mean(r, &mean);
	const int64_t value[] = {[LEAST] = r->least, [MEAN] = mean, [MOST] = r->most, [LAST] = r->last};

	cell->text = r->unit;
	cell->number = (uint64_t)value[what];
	cell->absent = what == MEAN ? !has_mean : !r->seen;
	cell->inferred = r->inferred;
}

static void get_growth(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_counter_row *r = row;

	cell->number = r->growth;
	cell->absent = !r->grows || !r->lasted;
	cell->inferred = r->inferred;
}

static const struct grt_column counter_columns[] = {
	{"device", counters_get_device, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL,
	 "device number, major << 20 | minor"},
	{"device_name", counters_get_device, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "device node"},
	{"pid", grt_cell_id, offsetof(struct grt_counter_row, instance), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "process to which the counter belongs"},
	{"process", counters_get_process, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the process"},
	{"counter", get_counter, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "counter id"},
	{"name", get_counter, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "what it counts"},
	{"unit", grt_cell_owner_at, offsetof(struct grt_counter_row, name), GRT_CELL_TEXT, GRT_COLUMN_MACHINE,
	 "unit of the values; min to last are percent for \"total ns\", per second for other totals"},
	{"values", grt_cell_u64, offsetof(struct grt_counter_row, values), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "values in the trace"},
	{"min", get_value, LEAST, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "smallest value"},
	{"mean", get_value, MEAN, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "mean over time"},
	{"max", get_value, MOST, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "largest value"},
	{"last", get_value, LAST, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "last value"},
	{"growth", get_growth, 0, GRT_CELL_NUMBER, GRT_COLUMN_MORE, "how much a total grew, in its unit"},
	{.name = NULL},
};

/* Rows are struct grt_counter_row, the view is struct grt_names. */
static const struct grt_table counter_table = {"counters", "counters", counter_columns, GRT_MARK_INFERRED};

/* --------------------------------------------------------------- analysis */

GRT_ANALYSIS_INIT(new_counters, grt_counters_init, pass->names)
GRT_ANALYSIS_EVENT(counters_take_event, grt_counters_event)

static void counters_note_outside(const struct grt_counter_row *const *rows, size_t count,
				  struct grt_notes *notes)
{
	uint64_t outside = 0;

	for (size_t i = 0; i < count; i++)
		outside += rows[i]->outside;
	if (outside)
		grt_note(
			notes,
			"%" PRIu64
			" {value of counters is|values of counters are} too large for min, mean, max and last (limit of %lld)",
			outside, (long long)GRT_COUNTER_VALUE_MAX);
}

/* A trace without counters has no such table, unless it was requested. */
static int write_counters(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_counters *c = state;
	const struct grt_counter_row **rows;
	int ret;

	if (!c->rows.used && pass->summary)
		return 0;
	if (grt_counters_list(c, &rows))
		return -ENOMEM;
	ret = grt_writer_list(pass->writer, &counter_table, pass->names, rows, c->rows.used);
	counters_note_outside(rows, c->rows.used, pass->notes);
	if (c->over)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {value of counters is|values of counters are} not in the table (limit of %u counters)",
			c->over, GRT_COUNTERS_MAX);
	free(rows);
	return ret;
}

GRT_ANALYSIS_FREE(free_counters, grt_counters_free)

GRT_ANALYSIS_ANY(any_counters, grt_counters, rows.used)

static const uint16_t counter_types[] = {GRT_EV_COUNTER, 0};
static const struct grt_part counter_parts[] = {
	{"counters", "each counter of devices and processes",
	 GRT_PART_SUMMARY | GRT_PART_MONITOR | GRT_PART_TABLES, .types = counter_types,
	 .tables = GRT_TABLES(&counter_table), .any = any_counters, .write = write_counters},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_counters = {
	.name = "counters",
	.classes = GRT_IN_CLASS(counter),
	.waits = true,
	.parts = counter_parts,
	.size = sizeof(struct grt_counters),
	.begin = new_counters,
	.event = counters_take_event,
	.free = free_counters,
};
