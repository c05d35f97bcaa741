// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Which process had an NVIDIA GPU, or an instance of a divided one, over time (GPU_SLICE), as a part of a
 * timeline: a row for all of them and one for each process.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/keyed.h"
#include "base/timescale.h"
#include "table/bars.h"
#include "table/rows.h"

/* GPUs and processes; slices of further ones are counted. */
#define ROWS_MAX 1024U
/* The row of all processes. */
#define ALL UINT32_MAX

/** struct slice_bar - @pid: ALL, or of the process; @slices: pieces of its time */
struct slice_bar {
	uint32_t device;
	uint32_t gpu, compute;
	uint32_t pid;
	uint64_t slices;
	uint64_t had;
	uint64_t *column;
};

struct slice_bars {
	struct grt_timescale scale;
	struct grt_keyed rows;
	const struct slice_bar **list;
	uint64_t over;
};

static int slice_bars_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct slice_bars *x = *state;

	grt_keyed_init(&x->rows, sizeof(struct slice_bar), ROWS_MAX);
	return grt_timescale_init(&x->scale, pass->first, pass->last, pass->columns);
}

static int slice_bars_add(struct slice_bars *x, const struct grt_ev_gpu_slice *e, uint32_t pid)
{
	const struct grt_key key = {{e->e.device, e->mig_gpu, e->mig_compute, pid}};
	struct slice_bar *row;
	void *found;
	int ret = grt_keyed_get_or_count(&x->rows, &key, &x->over, &found);

	row = found;
	if (!row)
		return ret;
	if (!row->column)
		row->column = calloc(x->scale.columns + 1, sizeof(*row->column));
	if (!row->column)
		return -ENOMEM;
	row->device = e->e.device;
	row->gpu = e->mig_gpu;
	row->compute = e->mig_compute;
	row->pid = pid;
	row->slices += e->begin != GRT_SLICE_GOES_ON;
	row->had += grt_timescale_fill(&x->scale, row->column, e->start, e->e.time);
	return 0;
}

static int slice_bars_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	const struct grt_ev_gpu_slice *slice = (const void *)e;
	struct slice_bars *x = state;

	if (slice->start > e->time || e->time < x->scale.first || slice->start > x->scale.last)
		return 0;
	return slice_bars_add(x, slice, ALL) ?: slice_bars_add(x, slice, e->pid);
}

/* ------------------------------------------------------------------- rows */

static int slice_bars_order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* A GPU is in front of its processes, of which the one that had it most is the first. */
static int slice_bars_compare(const void *a, const void *b)
{
	const struct slice_bar *x = *(void *const *)a, *y = *(void *const *)b;

	return slice_bars_order(x->device, y->device) ?: slice_bars_order(x->gpu, y->gpu)
		?: slice_bars_order(x->compute, y->compute)
		?: slice_bars_order(y->pid == ALL, x->pid == ALL) ?: slice_bars_order(y->had, x->had)
		?: slice_bars_order(x->pid, y->pid);
}

static int slice_bars_finish(void *state, struct grt_pass *pass)
{
	struct slice_bars *x = state;

	return grt_keyed_list(&x->rows, slice_bars_compare, (void ***)&x->list);
}

static const char *slice_bars_device(const struct grt_names *names, const struct slice_bar *row)
{
	return grt_names_name(names, grt_names_find(names, GRT_NAME_DEVICE, row->device));
}

static bool slice_bars_bar(const void *state, const struct grt_pass *pass, uint32_t i, struct grt_bar *bar)
{
	const struct slice_bars *x = state;
	const struct slice_bar *row;
	char process[GRT_PROCESS_LABEL];
	const char *name;

	if (i >= x->rows.used)
		return false;
	row = x->list[i];
	name = row->pid == ALL ? slice_bars_device(pass->names, row)
			       : grt_process_name(pass->names, row->pid);
	if (row->pid != ALL)
		snprintf(bar->label, sizeof(bar->label), "  %s", grt_process_label(name, row->pid, process));
	else if (row->gpu != GRT_NOT_DIVIDED)
		snprintf(bar->label, sizeof(bar->label), "MIG %" PRIu32 ".%" PRIu32 " %s", row->gpu,
			 row->compute, name ?: "GPU");
	else
		snprintf(bar->label, sizeof(bar->label), "%s", name ?: "GPU");
	bar->column = row->column;
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
	NUMBER("pid", 4, GRT_COLUMN_ALL, "process id; none: the row is of all processes"),
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

static int slice_bars_write_row(const struct slice_bars *x, const struct slice_bar *row,
				struct grt_pass *pass)
{
	uint64_t span = grt_pass_span(pass);
	struct grt_row_cells c = {.n = 0};
	bool divided = row->gpu != GRT_NOT_DIVIDED;

	grt_row_number(&c, row->device);
	grt_row_text(&c, slice_bars_device(pass->names, row));
	grt_row_add(&c, (struct grt_cell){.number = row->gpu, .absent = !divided});
	grt_row_add(&c, (struct grt_cell){.number = row->compute, .absent = !divided});
	grt_row_add(&c, (struct grt_cell){.number = row->pid, .absent = row->pid == ALL});
	grt_row_text(&c, row->pid == ALL ? NULL : grt_process_name(pass->names, row->pid));
	grt_row_number(&c, row->slices);
	grt_row_number(&c, row->had);
	grt_row_number(&c, span ? (uint64_t)((unsigned __int128)row->had * 100000 / span) : 0);
	c.cell[c.n - 1].absent = !span;
	grt_row_add(&c, (struct grt_cell){.list = row->column, .number = x->scale.columns});
	return grt_writer_row(pass->writer, &c);
}

static int slice_bars_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct slice_bars *x = state;
	int ret = 0;

	grt_writer_table(pass->writer, &slice_bars_table, NULL);
	for (uint32_t i = 0; i < x->rows.used && !ret; i++)
		ret = slice_bars_write_row(x, x->list[i], pass);
	grt_writer_table_end(pass->writer);
	return ret;
}

static void slice_bars_notes(void *state, struct grt_pass *pass)
{
	const struct slice_bars *x = state;

	if (x->over)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {slice is|slices are} of GPUs and processes without a row (limit of %u rows)",
			 x->over, ROWS_MAX);
}

static bool slice_bars_any(const void *state)
{
	return ((const struct slice_bars *)state)->rows.used;
}

static void slice_bars_free(void *state)
{
	struct slice_bars *x = state;

	for (struct slice_bar *r = x ? grt_keyed_oldest(&x->rows) : NULL; r; r = grt_keyed_next(&x->rows, r))
		free(r->column);
	if (x) {
		grt_keyed_free(&x->rows);
		grt_timescale_free(&x->scale);
		free(x->list);
	}
}

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
	.size = sizeof(struct slice_bars),
	.begin = slice_bars_begin,
	.event = slice_bars_event,
	.finish = slice_bars_finish,
	.notes = slice_bars_notes,
	.free = slice_bars_free,
};
