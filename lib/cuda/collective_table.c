// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The columns of what collective_sums.c adds up. */
#include "collective_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "table/cells.h"
#include "collective_sums.h"

#define ROW(row) ((const struct grt_collective_sum *)(row))

static const char *collective_text(const void *view, const void *row, uint32_t number)
{
	return grt_ops_string(view, ROW(row)->part, number);
}

static void collective_get_text(struct grt_cell *cell, const void *view, const void *row, int member)
{
	const struct grt_nccl_op *op = grt_ops_op(view, ROW(row)->part);

	cell->text = collective_text(view, row, *(const uint32_t *)((const char *)op + member));
	cell->absent = !*cell->text;
}

static void collective_get_name(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = collective_text(view, row, ROW(row)->part->comm->name);
	cell->absent = !*cell->text;
}

static void collective_get_ranks(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ROW(row)->part->comm->ranks;
}

static void collective_get_channels(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = grt_ops_op(view, ROW(row)->part)->channels;
	cell->absent = !cell->number;
}

static void collective_get_bytes(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_u64(cell, view, row, offset);
	cell->absent = ROW(row)->unknown;
}

/* Times of several collectives of one kernel are divided by their bytes. */
static void collective_set(struct grt_cell *cell, const struct grt_collective_sum *r, double number)
{
	cell->absent = !r->timed;
	cell->inferred = r->shared || r->inferred;
	cell->number = number > 0 ? (uint64_t)(number + 0.5) : 0;
}

static void collective_get_time(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	collective_set(cell, row, *(const double *)((const char *)row + offset));
}

static void collective_get_avg(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	collective_set(cell, row, ROW(row)->timed ? ROW(row)->time / (double)ROW(row)->timed : 0);
}

static void collective_get_wait(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	collective_set(cell, row,
		       offset ? (double)*(const uint64_t *)((const char *)row + offset) : ROW(row)->wait);
	cell->absent |= ROW(row)->ranks < 2;
}

/* Thousandths of bytes in a second. */
static void collective_get_rate(struct grt_cell *cell, const void *view, const void *row, int bus)
{
	const struct grt_collective_sum *r = row;
	double bytes = bus ? r->carried : (double)r->timed_bytes;

	collective_set(cell, r, r->time > 0 ? bytes * 1e12 / r->time : 0);
	cell->absent |= r->unknown || r->time <= 0;
	cell->text = "B/s";
}

static void collective_get_exposed(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	collective_set(cell, row, ROW(row)->kernels > 0 ? ROW(row)->exposed * 100000 / ROW(row)->kernels : 0);
	cell->absent |= ROW(row)->kernels <= 0;
}

#define C(member) offsetof(struct grt_collective_sum, member)
#define OP(member) offsetof(struct grt_nccl_op, member)

/* clang-format off */
static const struct grt_column collective_columns[] = {
	{"communicator", grt_cell_chars, C(hash), GRT_CELL_TEXT, GRT_COLUMN_ALL, "hash of the communicator, the same in all its processes"},
	{"name", collective_get_name, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "name that the program gave to the communicator"},
	{"ranks", collective_get_ranks, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of ranks of the communicator"},
	{"recorded", grt_cell_u32, C(ranks), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "ranks that the recording has"},
	{"collective", collective_get_text, OP(function), GRT_CELL_TEXT, GRT_COLUMN_ALL, "function of NCCL"},
	{"size", collective_get_bytes, C(size), GRT_CELL_BYTES, GRT_COLUMN_ALL, "size of the row's largest collective, as nccl-tests counts it: of all ranks together where each has a part; a row has the sizes above half a power of two up to that power, B"},
	{"smallest", collective_get_bytes, C(smallest), GRT_CELL_BYTES, GRT_COLUMN_MORE, "size of the row's smallest collective, B"},
	{"datatype", collective_get_text, OP(datatype), GRT_CELL_TEXT, GRT_COLUMN_MORE, "type of the elements of one of the collectives; NCCL counts bytes where it only moves data"},
	{"algorithm", collective_get_text, OP(algorithm), GRT_CELL_TEXT, GRT_COLUMN_ALL, "algorithm of one of the collectives, as NCCL names it"},
	{"protocol", collective_get_text, OP(protocol), GRT_CELL_TEXT, GRT_COLUMN_ALL, "protocol of one of the collectives"},
	{"channels", collective_get_channels, 0, GRT_CELL_NUMBER, GRT_COLUMN_MORE, "channels of one of the collectives"},
	{"count", grt_cell_u64, C(count), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "collectives, each counted once for all its ranks; of replays of CUDA graphs, each rank's are counted separately"},
	{"open", grt_cell_u64, C(open), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "collectives without a completed kernel on each recorded rank, which no column of times includes"},
	{"bytes", collective_get_bytes, C(bytes), GRT_CELL_BYTES, GRT_COLUMN_ALL, "bytes of all collectives"},
	{"time", collective_get_time, C(time), GRT_CELL_NS, GRT_COLUMN_ALL, "time from the arrival of the last recorded rank to the end of the last kernel, sum, ns"},
	{"avg", collective_get_avg, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "mean of this time per collective, ns"},
	{"algbw", collective_get_rate, 0, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "algorithm bandwidth: bytes divided by time, B/s"},
	{"busbw", collective_get_rate, 1, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "bus bandwidth: algbw times 2(n-1)/n for AllReduce, (n-1)/n where each rank has a part, else 1, B/s"},
	{"kernels", collective_get_time, C(kernels), GRT_CELL_NS, GRT_COLUMN_MORE, "time of the kernels of all recorded ranks, ns"},
	{"wait", collective_get_wait, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "part of the kernels' time that passed before the last rank arrived, ns"},
	{"wait_max", collective_get_wait, C(wait_max), GRT_CELL_NS, GRT_COLUMN_MORE, "longest time between the first and the last rank's arrival, ns"},
	{"exposed", collective_get_exposed, 0, GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of the kernels' time in which the device ran no kernel that computes, percent"},
	{.name = NULL},
};
/* clang-format on */

const struct grt_table grt_collective_sum_table = {"collective_sums", "collectives", collective_columns,
						   GRT_MARK_INFERRED};

static void collective_note(const struct grt_collective_sums *c, struct grt_pass *pass)
{
	uint64_t captured = 0, open = 0, over = 0;
	bool shared = false, single = false;

	for (uint32_t i = 0; i < c->rows.used; i++) {
		captured += c->row[i]->captured;
		open += c->row[i]->open;
		shared |= c->row[i]->shared;
		single |= c->row[i]->lack > 0;
	}
	for (uint32_t i = 0; i < c->ops.processes; i++)
		over += grt_step_log_process(c->ops.log, i)->nccl.over;
	if (!c->rows.used)
		grt_note(
			pass->notes,
			"the trace has no collectives: use grtrace record -e cuda -- PROG, with NCCL 2.27 or later");
	if (captured)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {collective belongs|collectives belong} to CUDA graphs: NCCL does not number {it|these}, so each "
			"rank's are counted separately",
			captured);
	if (open)
		grt_note(pass->notes,
			 "%" PRIu64 " {collective has|collectives have} no kernel that has ended", open);
	if (single)
		grt_note(
			pass->notes,
			"some collectives have ranks that were not recorded: their time includes waits for these ranks");
	if (shared)
		grt_note(pass->notes,
			 "the time of a kernel that runs several collectives is divided by their bytes");
	if (c->over || over)
		grt_note(pass->notes,
			 "%" PRIu64 " {collective is|collectives are} not in the table (limit of its memory)",
			 c->over + over);
}

static int collective_write_rows(struct grt_collective_sums *c, const struct grt_part *part,
				 struct grt_pass *pass)
{
	uint64_t n = c->rows.used, shown = grt_pass_shown(pass, part, n);
	const struct grt_collective_sum **row = calloc((size_t)n + 1, sizeof(*row));
	int ret;

	if (!row)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++)
		row[i] = c->row[i];
	grt_rows_sort(row, n, grt_pass_sort(pass, part, NULL), &c->ops, NULL);
	ret = grt_writer_list(pass->writer, part->table, &c->ops, row, shown);
	if (shown < n)
		grt_note(pass->notes, "%" PRIu64 " {more row|more rows}: --top 0 shows all", n - shown);
	free(row);
	return ret;
}

int grt_collective_table_write(struct grt_steps *s, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_collective_sums c;
	int ret = grt_collective_sums_find(&c, s);

	if (!ret && grt_step_log_is_whole(c.ops.log))
		ret = grt_ops_waits(&c.ops, pass->notes);
	ret = ret ?: collective_write_rows(&c, part, pass);
	if (!ret)
		collective_note(&c, pass);
	grt_collective_sums_free(&c);
	return ret;
}

int grt_collective_table_note_waits(struct grt_steps *s, struct grt_notes *notes)
{
	struct grt_ops ops;
	int ret = grt_ops_find(&ops, s);

	if (!ret && grt_step_log_is_whole(ops.log))
		ret = grt_ops_waits(&ops, notes);
	grt_ops_free(&ops);
	return ret;
}
