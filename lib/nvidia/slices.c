// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Each slice of a GPU's time that a process had, as a row: written while the trace is read. */
#include <stddef.h>

#include "codes/words.h"
#include "table/analysis.h"
#include "table/cells.h"
#include "table/rows.h"
#include "trace/flow.h"

/**
 * struct slices
 * @from, @to: only slices that end in this time
 */
struct slices {
	uint64_t from;
	uint64_t to;
};

static void slice_get_device_name(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_name(cell, view,
		      grt_names_find(view, GRT_NAME_DEVICE, ((const struct grt_event *)row)->device));
}

/* The MIG instance. */
static void slice_get_instance(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_u32(cell, view, row, offset);
	cell->absent = cell->number == GRT_NOT_DIVIDED;
}

static void slice_get_edge(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	cell->text = grt_word(GRT_WORDS_SLICE_EDGE, *(const uint16_t *)((const char *)row + offset));
}

static void slice_get_duration(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_ev_gpu_slice *s = row;

	cell->number = s->e.time - s->start;
	cell->absent = s->e.time < s->start;
}

#define S(member) offsetof(struct grt_ev_gpu_slice, member)
/* clang-format off */
static const struct grt_column slice_columns[] = {
	{"device", grt_cell_u32, S(e.device), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the device file"},
	{"device_name", slice_get_device_name, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the GPU"},
	{"mig_gpu", slice_get_instance, S(mig_gpu), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "MIG GPU instance"},
	{"mig_compute", slice_get_instance, S(mig_compute), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "MIG compute instance in it"},
	{"pid", grt_cell_id, S(e.pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process that had it"},
	{"process", grt_cell_process_at, offsetof(struct grt_event, pid), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the program"},
	{"context", grt_cell_u32, S(context), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "the driver's number of the context's channel"},
	{"start", grt_cell_u64, S(start), GRT_CELL_TIME, GRT_COLUMN_ALL, "start of the slice, ns"},
	{"end", grt_cell_u64, S(e.time), GRT_CELL_TIME, GRT_COLUMN_ALL, "end of the slice, ns"},
	{"duration", slice_get_duration, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "length of the slice, ns"},
	{"begin", slice_get_edge, S(begin), GRT_CELL_TEXT, GRT_COLUMN_ALL, "how the slice began"},
	{"over", slice_get_edge, S(over), GRT_CELL_TEXT, GRT_COLUMN_ALL, "how the slice ended"},
	{.name = NULL},
};
/* clang-format on */

static const struct grt_table slice_table = {"slices", "slices", slice_columns, 0};

static int slices_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	((struct slices *)*state)->to = UINT64_MAX;
	return 0;
}

static void slices_within(void *state, uint64_t from, uint64_t to)
{
	*(struct slices *)state = (struct slices){from, to};
}

static int slices_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	const struct slices *s = state;

	if (e->type != GRT_EV_GPU_SLICE || e->time < s->from || e->time > s->to ||
	    (pass->filter && !grt_filter_wants_job(pass->filter, pass->names, e->pid, e->tid, e->ring)))
		return 0;
	grt_writer_into(pass->writer, &slice_table, pass->names);
	return grt_writer_row(pass->writer, e);
}

/* Its rows are written already; without rows, this writes the empty table. */
static int slices_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	grt_writer_into(pass->writer, &slice_table, pass->names);
	grt_writer_into(pass->writer, NULL, NULL);
	return 0;
}

static const struct grt_part slice_parts[] = {
	{"slices", "each slice of a GPU's time", GRT_PART_TABLES, 0, &slice_table, .write = slices_write},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_slices = {
	.name = "slices",
	.classes = GRT_IN_CLASS(slice),
	.late = true,
	.rows = true,
	.parts = slice_parts,
	.size = sizeof(struct slices),
	.begin = slices_begin,
	.within = slices_within,
	.event = slices_event,
};
