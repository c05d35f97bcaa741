// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Sums of steps by name, and their columns. Rows are written as they come. */
#include "rollup_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "steps.h"
#include "table/cells.h"

/* --------------------------------------------------------------- rollups */

/*
 * A summary of a recording that a machine sends if the whole recording is too much: for each rank and step,
 * the sums of its work by name, and for each communicator the last collective, from which
 * the offsets between the clocks of hosts are computed. Each work is in one sum: the sum of the
 * step in which it started, or of no step.
 *
 * Memory is 32 bytes for each work of a rank while it is summed up.
 */

/**
 * struct grt_rollup_work - work of one name in a step
 * @rank: number for grt_steps_rank(); @step: number for grt_steps_step(), UINT32_MAX: no step
 * @class: enum grt_step_class; @name: string of the kernel, 0 for copies and fills
 * @count: their number; @ns: their time; @max: the longest
 */
struct grt_rollup_work {
	uint32_t rank;
	uint32_t step;
	uint32_t name;
	uint8_t class;
	uint64_t count;
	uint64_t ns;
	uint64_t max;
};

/**
 * struct grt_rollup_collective - kernels of a communicator in a step
 * @comm: NULL: not reported by NCCL; they are the kernels with one name on a stream
 * @op: the last collective as numbered by NCCL; NULL: unknown
 * @last: the last kernel; @count: number of kernels; @ns: their time
 * @bytes: bytes reported by NCCL, counted as in nccl-tests; @known: all bytes were reported
 */
struct grt_rollup_collective {
	uint32_t rank;
	uint32_t step;
	const struct grt_nccl_comm *comm;
	const struct grt_nccl_op *op;
	const struct grt_step_work *last;
	uint64_t count;
	uint64_t ns;
	uint64_t bytes;
	bool known;
};

/**
 * struct grt_rollup_sink - gets the sums of a rank; sums of a name or communicator in order of steps. Return:
 * 0 or -ENOMEM
 */
struct grt_rollup_sink {
	int (*work)(void *arg, const struct grt_rollup_work *w);
	int (*collective)(void *arg, const struct grt_rollup_collective *c);
	void *arg;
};

/*
 * The work of a rank is listed with its steps, sorted so that work that is summed up together is adjacent,
 * and summed up. The list is in the order of time, and therefore of steps: the work of each kind is counted,
 * and then moved to its place.
 */

/**
 * struct rollup_item - work with the properties by which it is summed up
 * @comm, @op: communicator and operation of a kernel that communicates, NULL: unknown
 * @by: class and name; for a kernel that communicates its function, or its name and stream
 */
struct rollup_item {
	const struct grt_nccl_comm *comm;
	const struct grt_nccl_op *op;
	uint64_t by;
	uint32_t step;
	uint32_t work;
};

/** struct rollup_rank - the items of a rank */
struct rollup_rank {
	const struct grt_step_process *process;
	uint32_t number;
	struct rollup_item *item;
	uint32_t n;
};

/* @at: the first step that may be it; works come in the order of their starts. UINT32_MAX: none */
static uint32_t rollup_step(const struct grt_steps *s, const struct grt_step_rank *r, uint32_t *at,
			    uint64_t start)
{
	uint32_t end = r->first + r->steps;

	while (*at < end && grt_steps_step(s, *at)->to <= start)
		++*at;
	return *at < end && grt_steps_step(s, *at)->from <= start ? *at : UINT32_MAX;
}

static void rollup_item_work(const struct grt_step_process *p, struct rollup_item *i)
{
	const struct grt_step_work *w = &p->work[i->work];

	i->by = (uint64_t)w->class << 32 | (w->class == GRT_STEP_COPIES ? 0 : w->name);
}

/* Sends and receives have no number that is the same on other ranks, nor have kernels of a graph. */
static void rollup_item_collective(const struct grt_step_process *p, struct rollup_item *i)
{
	const struct grt_step_work *w = &p->work[i->work];
	uint32_t first, n = grt_nccl_log_find(&p->nccl, w->key, w->replayed, &first);
	const struct grt_nccl_op *op = n ? &p->nccl.op[first] : NULL;

	i->comm = op ? grt_nccl_log_comm(&p->nccl, op->comm) : NULL;
	i->op = i->comm ? op : NULL;
	i->by = i->comm ? op->function : (uint64_t)w->stream << 32 | w->name;
}

/* Return: 0 or -ENOMEM; all of @class, UINT32_MAX: of any */
static int rollup_list(struct grt_steps *s, struct rollup_rank *r, uint32_t class,
		       void (*by)(const struct grt_step_process *p, struct rollup_item *i))
{
	const struct grt_step_rank *rank = grt_steps_rank(s, r->number);
	uint32_t from, at = rank->first;
	const struct grt_step_process *p;

	r->process = p = grt_step_log_process(grt_steps_log(s), rank->process);
	from = grt_step_log_first_work(p, rank->gpu, 0);
	r->item = calloc((size_t)p->works - from + 1, sizeof(*r->item));
	if (!r->item)
		return -ENOMEM;
	for (uint32_t i = from; i < p->works && p->work[i].gpu == rank->gpu; i = grt_step_log_next(p, i)) {
		struct rollup_item *item = &r->item[r->n];

		if (class != UINT32_MAX && p->work[i].class != class)
			continue;
		*item = (struct rollup_item){.work = i, .step = rollup_step(s, rank, &at, p->work[i].start)};
		by(p, item);
		r->n++;
	}
	return 0;
}

/**
 * struct rollup_kind - work that is summed up together, except for its step; @of: one of its items, @n: their
 * number, @at: the place of the next one
 */
struct rollup_kind {
	struct rollup_item of;
	uint32_t n;
	uint32_t at;
};

static int rollup_order(const void *a, const void *b)
{
	const struct rollup_kind *const *p = a, *const *q = b;
	const struct rollup_item *x = &(*p)->of, *y = &(*q)->of;

	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	if (x->by != y->by)
		return x->by < y->by ? -1 : 1;
	return (x->step == UINT32_MAX) - (y->step == UINT32_MAX);
}

static struct grt_key rollup_key(const struct rollup_item *i)
{
	return (struct grt_key){{(uintptr_t)i->comm, i->by, i->step == UINT32_MAX}};
}

static int rollup_count(const struct rollup_rank *r, struct grt_keyed *kinds)
{
	struct rollup_kind *k;
	void *found;

	for (uint32_t i = 0; i < r->n; i++) {
		const struct grt_key key = rollup_key(&r->item[i]);

		if (grt_keyed_get(kinds, &key, &found))
			return -ENOMEM;
		k = found;
		if (!k->n++)
			k->of = r->item[i];
	}
	return 0;
}

/* Finds the place of the first item of each kind. */
static int rollup_places(const struct grt_keyed *kinds)
{
	uint32_t at = 0;
	void **list;

	if (grt_keyed_list(kinds, rollup_order, &list))
		return -ENOMEM;
	for (uint32_t i = 0; i < kinds->used; i++) {
		struct rollup_kind *k = list[i];

		k->at = at;
		at += k->n;
	}
	free(list);
	return 0;
}

/* Sorts items by kind, and keeps their order within a kind. Return: 0 or -ENOMEM */
static int rollup_sort(struct rollup_rank *r)
{
	struct rollup_item *sorted = malloc(((size_t)r->n + 1) * sizeof(*sorted));
	struct grt_keyed kinds;
	int ret = sorted ? 0 : -ENOMEM;

	grt_keyed_init(&kinds, sizeof(struct rollup_kind), UINT32_MAX >> 1);
	ret = ret ?: rollup_count(r, &kinds) ?: rollup_places(&kinds);
	for (uint32_t i = 0; i < r->n && !ret; i++) {
		const struct grt_key key = rollup_key(&r->item[i]);
		struct rollup_kind *k = grt_keyed_find(&kinds, &key);

		sorted[k->at++] = r->item[i];
	}
	grt_keyed_free(&kinds);
	if (ret) {
		free(sorted);
		return ret;
	}
	free(r->item);
	r->item = sorted;
	return 0;
}

/* Return: the number of items from @at on that belong to the same sum. */
static uint32_t rollup_run(const struct rollup_rank *r, uint32_t at)
{
	const struct rollup_item *i = &r->item[at];
	uint32_t n = 1;

	while (at + n < r->n && i[n].comm == i->comm && i[n].by == i->by && i[n].step == i->step)
		n++;
	return n;
}

static int rollup_work_sum(const struct rollup_rank *r, uint32_t at, uint32_t n,
			   const struct grt_rollup_sink *sink)
{
	const struct grt_step_work *w = &r->process->work[r->item[at].work];
	struct grt_rollup_work sum = {
		.rank = r->number, .step = r->item[at].step, .class = w->class, .count = n};

	sum.name = w->class == GRT_STEP_COPIES ? 0 : w->name;
	for (uint32_t i = at; i < at + n; i++) {
		uint64_t ns = r->process->work[r->item[i].work].end - r->process->work[r->item[i].work].start;

		sum.ns += ns;
		sum.max = ns > sum.max ? ns : sum.max;
	}
	return sink->work(sink->arg, &sum);
}

/* The bytes of a kernel of several collectives are the sum of theirs. */
static void rollup_bytes(const struct rollup_rank *r, const struct rollup_item *i,
			 struct grt_rollup_collective *sum)
{
	const struct grt_step_work *w = &r->process->work[i->work];
	uint32_t first, n = grt_nccl_log_find(&r->process->nccl, w->key, w->replayed, &first);

	for (uint32_t k = first; k < first + n; k++) {
		const struct grt_nccl_op *op = &r->process->nccl.op[k];
		uint64_t bytes = grt_nccl_bytes(grt_image_string(r->process->image, op->function) ?: "",
						grt_image_string(r->process->image, op->datatype) ?: "",
						op->count, i->comm->ranks ?: 1);

		sum->bytes += bytes;
		sum->known &= bytes || !op->count;
	}
}

static int rollup_collective_sum(const struct rollup_rank *r, uint32_t at, uint32_t n,
				 const struct grt_rollup_sink *sink)
{
	const struct rollup_item *last = &r->item[at + n - 1];
	struct grt_rollup_collective sum = {
		.rank = r->number, .step = last->step, .comm = last->comm, .count = n};

	if (sum.step == UINT32_MAX)
		return 0;
	sum.last = &r->process->work[last->work];
	sum.op = last->op && last->op->kind != 2 && !last->op->captured ? last->op : NULL;
	sum.known = sum.comm;
	for (uint32_t i = at; i < at + n; i++) {
		const struct grt_step_work *w = &r->process->work[r->item[i].work];

		sum.ns += w->end - w->start;
		if (sum.comm)
			rollup_bytes(r, &r->item[i], &sum);
	}
	return sink->collective(sink->arg, &sum);
}

typedef int rollup_sum(const struct rollup_rank *r, uint32_t at, uint32_t n,
		       const struct grt_rollup_sink *sink);

static int rollup_sum_up(struct rollup_rank *r, rollup_sum *sum, const struct grt_rollup_sink *sink)
{
	uint32_t n;
	int ret = rollup_sort(r);

	for (uint32_t at = 0; at < r->n && !ret; at += n) {
		n = rollup_run(r, at);
		ret = sum(r, at, n, sink);
	}
	return ret;
}

/*
 * Sums up all work, after grt_steps_find(). Return: 0, -ENOMEM or the result of the
 * sink
 */
static int rollups_of_work(struct grt_steps *s, const struct grt_rollup_sink *sink)
{
	int ret = 0;

	for (uint32_t i = 0; i < grt_steps_ranks(s) && !ret; i++) {
		struct rollup_rank r = {.number = i};

		ret = rollup_list(s, &r, UINT32_MAX, rollup_item_work)
			      ?: rollup_sum_up(&r, rollup_work_sum, sink);
		free(r.item);
	}
	return ret;
}

/* Sums up communication kernels in steps. */
static int rollups_of_collectives(struct grt_steps *s, const struct grt_rollup_sink *sink)
{
	int ret = 0;

	for (uint32_t i = 0; i < grt_steps_ranks(s) && !ret; i++) {
		struct rollup_rank r = {.number = i};

		ret = rollup_list(s, &r, GRT_STEP_COMMUNICATES, rollup_item_collective)
			      ?: rollup_sum_up(&r, rollup_collective_sum, sink);
		free(r.item);
	}
	return ret;
}

/* ---------------------------------------------------------- rollup table */

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
	return rollup_write(s, pass, &grt_rollup_work_table, rollups_of_work);
}

int grt_rollup_collective_write(struct grt_steps *s, struct grt_pass *pass)
{
	return rollup_write(s, pass, &grt_rollup_collective_table, rollups_of_collectives);
}
