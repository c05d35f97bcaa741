// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The columns of what rollups.c adds up. Rows are written as they come. */
#include "rollup_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "rollups.h"
#include "table/cells.h"

/**
 * struct rollup_row - a sum with its texts
 * @work, @collective: the work or the collective that was summed up; the other one is NULL
 * @rank, @step: its rank and step; @step UINT32_MAX: none
 */
struct rollup_row {
	const struct grt_rollup_work *work;
	const struct grt_rollup_collective *collective;
	uint32_t rank;
	uint32_t step;
	const char *kind;
	const char *name;
	char communicator[17];
};

/** struct rollup_out - @text, @room: a name that is ended */
struct rollup_out {
	struct grt_steps *steps;
	struct grt_writer *writer;
	char *text;
	size_t room;
};

/* ---------------------------------------------------------------- columns */

static const struct grt_step_rank *rollup_rank_of(const void *view, const void *row)
{
	return grt_steps_rank(view, ((const struct rollup_row *)row)->rank);
}

static void rollup_get_rank(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = rollup_rank_of(view, row)->number;
	cell->inferred = !rollup_rank_of(view, row)->told;
}

static void rollup_get_of_rank(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_u32(cell, view, rollup_rank_of(view, row), offset);
}

static void rollup_get_step(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	uint32_t step = ((const struct rollup_row *)row)->step;

	cell->absent = step == UINT32_MAX;
	if (cell->absent)
		return;
	cell->number = grt_steps_step(view, step)->number;
	cell->inferred = !grt_step_is_marked(grt_steps_marks(view, rollup_rank_of(view, row)->process)->how);
}

static void rollup_get_of_work(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_u64(cell, view, ((const struct rollup_row *)row)->work, offset);
}

static void rollup_get_of_collective(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_u64(cell, view, ((const struct rollup_row *)row)->collective, offset);
}

static void rollup_get_stamp(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_u64(cell, view, ((const struct rollup_row *)row)->collective->last, offset);
}

static void rollup_get_ranks(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_nccl_comm *comm = ((const struct rollup_row *)row)->collective->comm;

	cell->absent = !comm;
	cell->number = comm ? comm->ranks : 0;
}

static void rollup_get_sequence(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_nccl_op *op = ((const struct rollup_row *)row)->collective->op;

	cell->absent = !op;
	cell->number = op ? op->sequence : 0;
	cell->inferred = op && op->inferred;
}

static void rollup_get_stream(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ((const struct rollup_row *)row)->collective->last->stream;
}

static void rollup_get_bytes(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ((const struct rollup_row *)row)->collective->bytes;
	cell->absent = !((const struct rollup_row *)row)->collective->known;
}

#define R(member) offsetof(struct grt_step_rank, member)
#define ROW(member) offsetof(struct rollup_row, member)
#define W(member) offsetof(struct grt_rollup_work, member)
#define C(member) offsetof(struct grt_rollup_collective, member)

/* clang-format off */
#define ROLLUP_OF_A_STEP \
	{"rank", rollup_get_rank, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "rank of the process, from its environment, else inferred"}, \
	{"pid", rollup_get_of_rank, R(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"}, \
	{"gpu", rollup_get_of_rank, R(gpu), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the device in its process"}, \
	{"step", rollup_get_step, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the step in which the work started"}

static const struct grt_column rollup_work_columns[] = {
	ROLLUP_OF_A_STEP,
	{"kind", grt_cell_pointed, ROW(kind), GRT_CELL_TEXT, GRT_COLUMN_ALL, "kernel, collective (a kernel that communicates) or copy (a copy or fill)"},
	{"name", grt_cell_pointed, ROW(name), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the kernel"},
	{"count", rollup_get_of_work, W(count), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of kernels, collectives or copies"},
	{"time", rollup_get_of_work, W(ns), GRT_CELL_NS, GRT_COLUMN_ALL, "sum of their time on the GPU, ns"},
	{"max", rollup_get_of_work, W(max), GRT_CELL_NS, GRT_COLUMN_ALL, "longest time of one on the GPU, ns"},
	{.name = NULL},
};

static const struct grt_column rollup_collective_columns[] = {
	ROLLUP_OF_A_STEP,
	{"communicator", grt_cell_chars, ROW(communicator), GRT_CELL_TEXT, GRT_COLUMN_ALL, "hash of the communicator, the same in all its processes; NULL: NCCL's plugin was not loaded"},
	{"ranks", rollup_get_ranks, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of ranks of the communicator"},
	{"collective", grt_cell_pointed, ROW(name), GRT_CELL_TEXT, GRT_COLUMN_ALL, "function of NCCL; without NCCL's plugin the name of the kernel"},
	{"stream", rollup_get_stream, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "stream of the last collective"},
	{"count", rollup_get_of_collective, C(count), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of collectives"},
	{"bytes", rollup_get_bytes, 0, GRT_CELL_BYTES, GRT_COLUMN_ALL, "bytes of all collectives, as nccl-tests counts them"},
	{"time", rollup_get_of_collective, C(ns), GRT_CELL_NS, GRT_COLUMN_ALL, "time of all collectives, with the time that they waited for other ranks, ns"},
	{"sequence", rollup_get_sequence, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "NCCL's number of the last collective, the same on all its ranks"},
	{"begin", rollup_get_stamp, offsetof(struct grt_step_work, start), GRT_CELL_TIME, GRT_COLUMN_ALL, "start of the last collective, ns"},
	{"end", rollup_get_stamp, offsetof(struct grt_step_work, end), GRT_CELL_TIME, GRT_COLUMN_ALL, "end of the last collective, ns"},
	{.name = NULL},
};
/* clang-format on */

const struct grt_table grt_rollup_work_table = {"step_work", "work of steps by name", rollup_work_columns,
						GRT_MARK_INFERRED};
const struct grt_table grt_rollup_collective_table = {"step_collectives", "last collectives of steps",
						      rollup_collective_columns, GRT_MARK_INFERRED};

/* ------------------------------------------------------------------- rows */

static const struct grt_image *rollup_image(const struct rollup_out *o, uint32_t rank)
{
	return grt_steps_image(o->steps, grt_steps_rank(o->steps, rank)->process);
}

/* A kernel's name; valid until the next one. Return: 0 or -ENOMEM */
static int rollup_name(struct rollup_out *o, uint32_t rank, uint32_t number, const char **out)
{
	const char *text;
	size_t len;

	if (grt_image_kernel_name(grt_steps_frames(o->steps), rollup_image(o, rank), number, &text, &len) ||
	    grt_grow(&o->text, &o->room, len + 1, 256))
		return -ENOMEM;
	memcpy(o->text, text, len);
	o->text[len] = '\0';
	*out = o->text;
	return 0;
}

static int rollup_put_work(void *arg, const struct grt_rollup_work *w)
{
	static const char *const kinds[GRT_STEP_CLASSES] = {"kernel", "collective", "copy"};
	struct rollup_row row = {.work = w, .rank = w->rank, .step = w->step, .kind = kinds[w->class]};
	struct rollup_out *o = arg;
	int ret = w->class == GRT_STEP_COPIES ? 0 : rollup_name(o, w->rank, w->name, &row.name);

	return ret ?: grt_writer_row(o->writer, &row);
}

static int rollup_put_collective(void *arg, const struct grt_rollup_collective *c)
{
	struct rollup_row row = {.collective = c, .rank = c->rank, .step = c->step};
	struct rollup_out *o = arg;
	int ret = 0;

	if (c->comm)
		snprintf(row.communicator, sizeof(row.communicator), "%016" PRIx64, c->comm->hash);
	if (c->op)
		row.name = grt_image_string(rollup_image(o, c->rank), c->op->function);
	else
		ret = rollup_name(o, c->rank, c->last->name, &row.name);
	return ret ?: grt_writer_row(o->writer, &row);
}

static int rollup_write(struct grt_steps *s, struct grt_pass *pass, const struct grt_table *table,
			int (*sum_up)(struct grt_steps *s, const struct grt_rollup_sink *sink))
{
	struct rollup_out o = {.steps = s, .writer = pass->writer};
	const struct grt_rollup_sink sink = {rollup_put_work, rollup_put_collective, &o};
	int ret;

	grt_writer_table(pass->writer, table, s);
	ret = sum_up(s, &sink);
	grt_writer_table_end(pass->writer);
	free(o.text);
	return ret;
}

int grt_rollup_work_write(struct grt_steps *s, struct grt_pass *pass)
{
	return rollup_write(s, pass, &grt_rollup_work_table, grt_rollups_of_work);
}

int grt_rollup_collective_write(struct grt_steps *s, struct grt_pass *pass)
{
	return rollup_write(s, pass, &grt_rollup_collective_table, grt_rollups_of_collectives);
}
