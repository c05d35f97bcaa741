// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Each value of a counter as a row: written while the trace is read. */
#include <stddef.h>

#include "table/analysis.h"
#include "table/cells.h"
#include "table/rows.h"

static uint32_t counter_value_name(const void *view, const void *row)
{
	return grt_names_find(view, GRT_NAME_COUNTER, ((const struct grt_ev_counter *)row)->counter);
}

static void counter_value_get_name(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_name(cell, view, counter_value_name(view, row));
}

static void counter_value_get_unit(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_owner(cell, view, counter_value_name(view, row));
}

static void counter_value_get_device_name(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_name(cell, view,
		      grt_names_find(view, GRT_NAME_DEVICE, ((const struct grt_event *)row)->device));
}

static void counter_value_get(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_ev_counter *c = row;

	cell->number = (uint64_t)c->value;
	cell->inferred = c->e.flags & GRT_FLAG_INFERRED;
}

static void counter_value_get_ended(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = !!(((const struct grt_event *)row)->flags & GRT_FLAG_ENDED);
}

#define V(member) offsetof(struct grt_ev_counter, member)
/* clang-format off */
static const struct grt_column counter_value_columns[] = {
	{"device", grt_cell_u32, V(e.device), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the device file, 0: unknown"},
	{"device_name", counter_value_get_device_name, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the device"},
	{"counter", grt_cell_u32, V(counter), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the counter"},
	{"counter_name", counter_value_get_name, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the counter"},
	{"unit", counter_value_get_unit, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "unit of the value; a value whose unit begins with total only grows"},
	{"instance", grt_cell_u32, V(instance), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process or engine to which the counter belongs, 0: the device"},
	{"time", grt_cell_u64, V(e.time), GRT_CELL_TIME, GRT_COLUMN_ALL, "time of the reading, ns"},
	{"value", counter_value_get, 0, GRT_CELL_SIGNED, GRT_COLUMN_ALL, "the value, in the unit"},
	{"ended", counter_value_get_ended, 0, GRT_CELL_BOOL, GRT_COLUMN_ALL, "whether it is the last value: afterwards it is unknown"},
	{.name = NULL},
};
/* clang-format on */

static const struct grt_table counter_value_table = {"counter_values", "counter values",
						     counter_value_columns, GRT_MARK_INFERRED};

static int counter_values_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	if (e->type != GRT_EV_COUNTER)
		return 0;
	grt_writer_into(pass->writer, &counter_value_table, pass->names);
	return grt_writer_row(pass->writer, e);
}

/* Writes the end of the table; rows were written before. Without rows, it writes the empty table. */
static int counter_values_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	grt_writer_into(pass->writer, &counter_value_table, pass->names);
	grt_writer_into(pass->writer, NULL, NULL);
	return 0;
}

static const struct grt_part counter_value_parts[] = {
	{"values", "each value of a counter", GRT_PART_TABLES, 0, &counter_value_table,
	 .write = counter_values_write},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_counter_values = {
	.name = "counter_values",
	.classes = GRT_IN_CLASS(counter),
	.rows = true,
	.parts = counter_value_parts,
	.size = 1,
	.event = counter_values_event,
};
