// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Which process had an NVIDIA GPU, or an instance of a divided one, over time (GPU_SLICE), as a part of a
 * timeline: a row for all of them and one for each process.
 */
#include <inttypes.h>

#include "base/compare.h"
#include "table/bar_rows.h"

/* Most GPUs and processes; slices of further ones are counted. */
#define ROWS_MAX 1024U
/* The row of all processes. */
#define ALL UINT32_MAX

/**
 * struct slice_bar
 * @pid: the process, or ALL
 * @slices: pieces of its time
 */
struct slice_bar {
	struct grt_bar_row bar;
	uint32_t device;
	uint32_t gpu, compute;
	uint32_t pid;
	uint64_t slices;
	uint64_t had;
};

static int slice_bars_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	return grt_bar_rows_begin(*state, pass, sizeof(struct slice_bar), ROWS_MAX);
}

static int slice_bars_add(struct grt_bar_rows *x, const struct grt_ev_gpu_slice *e, uint32_t pid)
{
	const struct grt_key key = {{e->e.device, e->mig_gpu, e->mig_compute, pid}};
	struct slice_bar *row;
	int ret = grt_bar_rows_get(x, &key, &row);

	if (ret || !row)
		return ret;
	row->device = e->e.device;
	row->gpu = e->mig_gpu;
	row->compute = e->mig_compute;
	row->pid = pid;
	row->slices += e->begin != GRT_SLICE_GOES_ON;
	row->had += grt_timescale_fill(&x->scale, row->bar.column, e->start, e->e.time);
	return 0;
}

static int slice_bars_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	const struct grt_ev_gpu_slice *slice = (const void *)e;
	struct grt_bar_rows *x = state;

	if (slice->start > e->time || e->time < x->scale.first || slice->start > x->scale.last)
		return 0;
	return slice_bars_add(x, slice, ALL) ?: slice_bars_add(x, slice, e->pid);
}

/* ------------------------------------------------------------------- rows */

/* A GPU comes before its processes, of which the one that had it most is the first. */
static int slice_bars_compare(const void *a, const void *b)
{
	const struct slice_bar *x = *(void *const *)a, *y = *(void *const *)b;

	return grt_compare(x->device, y->device) ?: grt_compare(x->gpu, y->gpu)
		?: grt_compare(x->compute, y->compute)
		?: grt_compare(y->pid == ALL, x->pid == ALL) ?: grt_compare(y->had, x->had)
		?: grt_compare(x->pid, y->pid);
}

static int slice_bars_finish(void *state, struct grt_pass *pass)
{
	return grt_bar_rows_finish(state, slice_bars_compare);
}

static const char *slice_bars_device(const struct grt_names *names, const struct slice_bar *row)
{
	return grt_names_name(names, grt_names_find(names, GRT_NAME_DEVICE, row->device));
}

static bool slice_bars_bar(const void *state, const struct grt_pass *pass, uint32_t i, struct grt_bar *bar)
{
	const struct slice_bar *row = grt_bar_rows_at(state, i);
	char process[GRT_PROCESS_LABEL];
	const char *name;

	if (!row)
		return false;
	name = row->pid == ALL ? slice_bars_device(pass->names, row)
			       : grt_process_name(pass->names, row->pid);
	if (row->pid != ALL)
		snprintf(bar->label, sizeof(bar->label), "  %s", grt_process_label(name, row->pid, process));
	else if (row->gpu != GRT_NOT_DIVIDED)
		snprintf(bar->label, sizeof(bar->label), "MIG %" PRIu32 ".%" PRIu32 " %s", row->gpu,
			 row->compute, name ?: "GPU");
	else
		snprintf(bar->label, sizeof(bar->label), "%s", name ?: "GPU");
	bar->column = row->bar.column;
	bar->busy = row->had;
	bar->drawn = true;
	return true;
}

#define NUMBER(name, n, where, help)                               \
	{                                                          \
		name, grt_row_get, n, GRT_CELL_NUMBER, where, help \
	}

static const struct grt_column slice_bars_columns[] = {
	NUMBER("device", 0, GRT_COLUMN_MACHINE, "device number of the GPU, major << 20 | minor"),
	{"device_name", grt_row_get, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the GPU"},
	NUMBER("mig_gpu", 2, GRT_COLUMN_ALL, "MIG GPU instance"),
	NUMBER("mig_compute", 3, GRT_COLUMN_ALL, "MIG compute instance"),
	NUMBER("pid", 4, GRT_COLUMN_ALL, "process id; none: the row covers all processes"),
	{"process", grt_row_get, 5, GRT_CELL_TEXT, GRT_COLUMN_ALL, "process's comm"},
	NUMBER("slices", 6, GRT_COLUMN_ALL, "slices of the process in the span"),
	{"busy", grt_row_get, 7, GRT_CELL_NS, GRT_COLUMN_ALL, "time for which the process had the GPU, ns"},
	{"share", grt_row_get, 8, GRT_CELL_PERCENT, GRT_COLUMN_ALL,
	 "share of the span for which the process had the GPU, percent"},
	{"columns", grt_row_get, 9, GRT_CELL_LIST, GRT_COLUMN_MACHINE,
	 "time for which the process had the GPU in each column, ns"},
	{.name = NULL},
};

static const struct grt_table slice_bars_table = {"slices", "GPU by process", slice_bars_columns, 0};

static void slice_bars_cells(const void *state, const void *at, const struct grt_pass *pass,
			     struct grt_row_cells *c)
{
	const struct slice_bar *row = at;
	bool divided = row->gpu != GRT_NOT_DIVIDED;

	grt_row_number(c, row->device);
	grt_row_text(c, slice_bars_device(pass->names, row));
	grt_row_add(c, (struct grt_cell){.number = row->gpu, .absent = !divided});
	grt_row_add(c, (struct grt_cell){.number = row->compute, .absent = !divided});
	grt_row_add(c, (struct grt_cell){.number = row->pid, .absent = row->pid == ALL});
	grt_row_text(c, row->pid == ALL ? NULL : grt_process_name(pass->names, row->pid));
	grt_row_number(c, row->slices);
	grt_bar_rows_put_busy(c, row->had, grt_pass_span(pass));
	grt_bar_rows_put(state, row, c);
}

static int slice_bars_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	return grt_bar_rows_write(state, pass, &slice_bars_table, slice_bars_cells, state);
}

static void slice_bars_notes(void *state, struct grt_pass *pass)
{
	const struct grt_bar_rows *x = state;

	if (x->over)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {slice is|slices are} of GPUs and processes without a row (limit of %u rows)",
			 x->over, ROWS_MAX);
}

GRT_ANALYSIS_ANY(slice_bars_any, grt_bar_rows, rows.used)

GRT_ANALYSIS_FREE(slice_bars_free, grt_bar_rows_free)

static const struct grt_part slice_bars_parts[] = {
	{"slices", "GPU by process", GRT_PART_BARS, .tables = GRT_TABLES(&slice_bars_table),
	 .any = slice_bars_any, .write = slice_bars_write, .bar = slice_bars_bar},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_slice_bars = {
	.name = "slice_bars",
	.classes = GRT_IN_CLASS(slice),
	.beyond = true,
	.late = true,
	.parts = slice_bars_parts,
	.size = sizeof(struct grt_bar_rows),
	.begin = slice_bars_begin,
	.event = slice_bars_event,
	.finish = slice_bars_finish,
	.notes = slice_bars_notes,
	.free = slice_bars_free,
};
