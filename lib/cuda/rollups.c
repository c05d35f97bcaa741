// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The work of a rank is listed with its steps, sorted so that work that is summed up together is adjacent,
 * and summed up. The list is in the order of time, and therefore of steps: the work of each kind is counted,
 * and then moved to its place.
 */
#include "rollups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"

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
	for (uint32_t i = from; i < p->works && p->work[i].gpu == rank->gpu; i++) {
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

int grt_rollups_of_work(struct grt_steps *s, const struct grt_rollup_sink *sink)
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

int grt_rollups_of_collectives(struct grt_steps *s, const struct grt_rollup_sink *sink)
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
