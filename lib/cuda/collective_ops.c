// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Parts are made from kernels, and then from collectives whose kernel has not ended; sorting brings the
 * parts of one collective together.
 */
#include "collective_ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/fnv.h"
#include "base/containers.h"

static const struct grt_step_process *ops_process(const struct grt_ops *ops, const struct grt_op_part *part)
{
	return grt_step_log_process(ops->log, part->process);
}

const struct grt_nccl_op *grt_ops_op(const struct grt_ops *ops, const struct grt_op_part *part)
{
	return &ops_process(ops, part)->nccl.op[part->op];
}

const struct grt_step_work *grt_ops_work(const struct grt_ops *ops, const struct grt_op_part *part)
{
	return part->work == UINT32_MAX ? NULL : &ops_process(ops, part)->work[part->work];
}

const char *grt_ops_string(const struct grt_ops *ops, const struct grt_op_part *part, uint32_t number)
{
	return grt_image_string(ops_process(ops, part)->image, number) ?: "";
}

static int ops_add(struct grt_ops *ops, uint32_t process, uint32_t op, uint32_t work)
{
	struct grt_op_part part = {.process = process, .op = op, .work = work};
	const struct grt_nccl_log *l = &grt_step_log_process(ops->log, process)->nccl;

	part.comm = grt_nccl_log_comm(l, l->op[op].comm);
	if (!part.comm)
		return 0;
	part.hash = part.comm->hash;
	part.function = grt_fnv_text(grt_ops_string(ops, &part, l->op[op].function));
	part.sequence = l->op[op].sequence;
	part.alone = l->op[op].kind == 2 || l->op[op].captured;
	part.share = 1;
	if (grt_grow(&ops->part, &ops->room, ops->parts + 1, 64))
		return -ENOMEM;
	ops->part[ops->parts++] = part;
	return 0;
}

/* Bytes that are sent over links for a part. */
static double ops_moved(const struct grt_ops *ops, const struct grt_op_part *part)
{
	const struct grt_nccl_op *op = grt_ops_op(ops, part);
	const char *function = grt_ops_string(ops, part, op->function);
	uint32_t ranks = part->comm->ranks ?: 1;

	return (double)grt_nccl_bytes(function, grt_ops_string(ops, part, op->datatype), op->count, ranks) *
	       (double)grt_nccl_factor(function, ranks) / ranks;
}

/* Several collectives of one kernel divide its time. */
static void ops_divide(struct grt_ops *ops, uint32_t from)
{
	double sum = 0;

	for (uint32_t i = from; i < ops->parts; i++)
		sum += ops_moved(ops, &ops->part[i]);
	for (uint32_t i = from; i < ops->parts; i++)
		ops->part[i].share = sum > 0 ? ops_moved(ops, &ops->part[i]) / sum : 0;
}

/* @seen: the collectives of the process whose kernel has ended */
static int ops_add_kernel(struct grt_ops *ops, uint32_t process, uint32_t work, bool *seen)
{
	const struct grt_step_process *p = grt_step_log_process(ops->log, process);
	uint32_t first, n = grt_nccl_log_find(&p->nccl, p->work[work].key, p->work[work].replayed, &first),
			from = ops->parts;
	int ret = 0;

	for (uint32_t i = 0; i < n && !ret; i++) {
		seen[first + i] = true;
		ret = ops_add(ops, process, first + i, work);
	}
	if (ops->parts > from + 1)
		ops_divide(ops, from);
	return ret;
}

static int ops_add_process(struct grt_ops *ops, uint32_t process)
{
	const struct grt_step_process *p = grt_step_log_process(ops->log, process);
	bool *seen = p->image && p->nccl.ops ? calloc(p->nccl.ops, sizeof(*seen)) : NULL;
	int ret = p->image && p->nccl.ops && !seen ? -ENOMEM : 0;

	for (uint32_t i = 0; seen && i < p->works && !ret; i = grt_step_log_next(p, i))
		if (p->work[i].class == GRT_STEP_COMMUNICATES && p->work[i].key)
			ret = ops_add_kernel(ops, process, i, seen);
	for (uint32_t i = 0; seen && i < p->nccl.ops && !ret; i++)
		if (!seen[i])
			ret = ops_add(ops, process, i, UINT32_MAX);
	free(seen);
	return ret;
}

static int ops_compare(const struct grt_op_part *x, const struct grt_op_part *y)
{
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->alone != y->alone)
		return x->alone ? 1 : -1;
	return grt_compare(x->sequence, y->sequence);
}

static int ops_by_identity(const void *a, const void *b)
{
	const struct grt_op_part *x = a, *y = b;
	int order = ops_compare(x, y);

	if (order || x->comm->rank != y->comm->rank)
		return order ?: x->comm->rank < y->comm->rank ? -1 : 1;
	return grt_compare(x->process, y->process)
	       ?: grt_compare(x->op, y->op) ?: grt_compare(x->work, y->work);
}

int grt_ops_find(struct grt_ops *ops, struct grt_steps *s)
{
	int64_t n = grt_step_log_sort(grt_steps_log(s));
	int ret = n < 0 ? -ENOMEM : 0;

	*ops = (struct grt_ops){.log = grt_steps_log(s), .processes = ret ? 0 : (uint32_t)n};
	for (uint32_t i = 0; i < ops->processes && !ret; i++)
		ret = ops_add_process(ops, i);
	if (ops->parts)
		qsort(ops->part, ops->parts, sizeof(*ops->part), ops_by_identity);
	return ret;
}

uint32_t grt_ops_one(const struct grt_ops *ops, uint32_t at)
{
	uint32_t n = 1;

	while (!ops->part[at].alone && at + n < ops->parts &&
	       !ops_compare(&ops->part[at], &ops->part[at + n]))
		n++;
	return n;
}

void grt_ops_free(struct grt_ops *ops)
{
	free(ops->part);
	*ops = (struct grt_ops){0};
}
