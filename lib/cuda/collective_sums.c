// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A collective's time begins with the arrival of its last rank and ends with the end of its last kernel. One
 * walk over each device's work computes the exposed time.
 */
#include "collective_sums.h"
#include "base/compare.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct exposure - of a device: for some moments, how long until then kernels communicated while nothing
 * computed
 */
struct exposure {
	uint32_t process;
	uint32_t gpu;
	uint64_t *moment;
	uint64_t *ns;
	uint32_t n;
};

static void exposure_free(struct exposure *x)
{
	free(x->moment);
	free(x->ns);
	*x = (struct exposure){.process = UINT32_MAX};
}

/* Lists all moments at which a kernel of a collective begins or ends. */
static uint32_t exposure_moments(const struct grt_step_process *p, uint32_t gpu, uint64_t *moment)
{
	uint32_t n = 0, kept = 0;

	for (uint32_t i = grt_step_log_first_work(p, gpu, 0); i < p->works && p->work[i].gpu == gpu; i++) {
		if (p->work[i].class != GRT_STEP_COMMUNICATES)
			continue;
		moment[n++] = p->work[i].start;
		moment[n++] = p->work[i].end;
	}
	if (n)
		qsort(moment, n, sizeof(*moment), grt_compare_u64);
	for (uint32_t i = 0; i < n; i++)
		if (!kept || moment[kept - 1] != moment[i])
			moment[kept++] = moment[i];
	return kept;
}

static int exposure_find(struct exposure *x, const struct grt_ops *ops, uint32_t process, uint32_t gpu)
{
	const struct grt_step_process *p = grt_step_log_process(ops->log, process);
	struct grt_step_parts *parts;
	uint32_t first = grt_step_log_first_work(p, gpu, 0), last = first;
	size_t most;

	while (last < p->works && p->work[last].gpu == gpu)
		last++;
	most = 2 * (size_t)(last - first) + 1;
	exposure_free(x);
	x->moment = calloc(most, sizeof(*x->moment));
	x->ns = calloc(most, sizeof(*x->ns));
	parts = calloc(most, sizeof(*parts));
	if (x->moment && x->ns && parts) {
		x->process = process;
		x->gpu = gpu;
		x->n = exposure_moments(p, gpu, x->moment);
		grt_step_parts_between(p, gpu, x->moment, x->n, parts);
		for (uint32_t i = 1; i < x->n; i++)
			x->ns[i] = x->ns[i - 1] + parts[i - 1].ns[GRT_STEP_COMM];
	}
	free(parts);
	return x->process == UINT32_MAX ? -ENOMEM : 0;
}

static uint64_t exposure_until(const struct exposure *x, uint64_t moment)
{
	const uint64_t *at = bsearch(&moment, x->moment, x->n, sizeof(*x->moment), grt_compare_u64);

	return at ? x->ns[at - x->moment] : 0;
}

/* Parts of a device are processed together. */
static int sums_by_device(const void *a, const void *b, void *arg)
{
	const struct grt_ops *ops = arg;
	const struct grt_op_part *x = &ops->part[*(const uint32_t *)a], *y = &ops->part[*(const uint32_t *)b];
	const struct grt_step_work *v = grt_ops_work(ops, x), *w = grt_ops_work(ops, y);

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (v ? v->gpu : 0) < (w ? w->gpu : 0) ? -1 : (v ? v->gpu : 0) > (w ? w->gpu : 0);
}

/* @ns: by part. Return: 0 or -ENOMEM */
static int sums_expose(const struct grt_ops *ops, uint64_t *ns)
{
	uint32_t *order = calloc((size_t)ops->parts + 1, sizeof(*order));
	struct exposure x = {.process = UINT32_MAX};
	int ret = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; order && i < ops->parts; i++)
		order[i] = i;
	if (order && ops->parts)
		qsort_r(order, ops->parts, sizeof(*order), sums_by_device, (void *)ops);
	for (uint32_t i = 0; i < ops->parts && !ret; i++) {
		const struct grt_op_part *part = &ops->part[order[i]];
		const struct grt_step_work *w = grt_ops_work(ops, part);

		if (!w)
			continue;
		if (x.process != part->process || x.gpu != w->gpu)
			ret = exposure_find(&x, ops, part->process, w->gpu);
		if (!ret)
			ns[order[i]] = exposure_until(&x, w->end) - exposure_until(&x, w->start);
	}
	exposure_free(&x);
	free(order);
	return ret;
}

/* ------------------------------------------------------------------- rows */

static uint64_t sums_bytes(const struct grt_ops *ops, const struct grt_op_part *part)
{
	const struct grt_nccl_op *op = grt_ops_op(ops, part);

	return grt_nccl_bytes(grt_ops_string(ops, part, op->function),
			      grt_ops_string(ops, part, op->datatype), op->count, part->comm->ranks);
}

/* Return: 0, with *out NULL: there is no room; or -ENOMEM */
static int sums_row(struct grt_collective_sums *c, const struct grt_op_part *part, uint64_t bytes,
		    struct grt_collective_sum **out)
{
	/* sizes up to a power of two are a row */
	struct grt_key key = {
		{part->hash, part->function, bytes > 1 ? 64 - (uint64_t)__builtin_clzll(bytes - 1) : bytes}};
	void *found;
	int ret = grt_keyed_get_or_count(&c->rows, &key, &c->over, &found);

	*out = found;
	if (!ret && found && !(*out)->part) {
		(*out)->part = part;
		(*out)->smallest = UINT64_MAX;
		snprintf((*out)->hash, sizeof((*out)->hash), "%016" PRIx64, part->hash);
	}
	return ret;
}

static bool sums_is_whole(const struct grt_op_part *part, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (part[i].work == UINT32_MAX)
			return false;
	return true;
}

static void sums_time(const struct grt_collective_sums *c, struct grt_collective_sum *row, uint32_t at,
		      uint32_t n, const uint64_t *exposed)
{
	const struct grt_op_part *part = &c->ops.part[at];
	uint64_t first = UINT64_MAX, begin = 0, end = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct grt_step_work *w = grt_ops_work(&c->ops, &part[i]);

		first = w->start < first ? w->start : first;
		begin = w->start > begin ? w->start : begin;
		end = w->end > end ? w->end : end;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct grt_step_work *w = grt_ops_work(&c->ops, &part[i]);

		row->kernels += part[i].share * (double)(w->end - w->start);
		row->wait += part[i].share * (double)(begin - w->start);
		row->exposed += part[i].share * (double)exposed[at + i];
		row->shared |= part[i].share < 1;
		row->inferred |= grt_ops_op(&c->ops, &part[i])->inferred;
	}
	row->wait_max = begin - first > row->wait_max ? begin - first : row->wait_max;
	row->time += part->share * (double)(end > begin ? end - begin : 0);
	row->timed++;
}

static int sums_add(struct grt_collective_sums *c, uint32_t at, uint32_t n, const uint64_t *exposed)
{
	const struct grt_op_part *part = &c->ops.part[at];
	uint64_t bytes = sums_bytes(&c->ops, part);
	const char *function = grt_ops_string(&c->ops, part, grt_ops_op(&c->ops, part)->function);
	uint32_t ranks = part->comm->ranks ?: 1;
	struct grt_collective_sum *row;
	int ret = sums_row(c, part, bytes, &row);

	if (ret || !row)
		return ret;
	row->count++;
	row->captured += grt_ops_op(&c->ops, part)->captured;
	row->bytes += bytes;
	row->unknown |= !bytes;
	row->size = bytes > row->size ? bytes : row->size;
	row->smallest = bytes < row->smallest ? bytes : row->smallest;
	row->ranks = n > row->ranks ? n : row->ranks;
	/* copy engines have no kernel */
	if (!sums_is_whole(part, n)) {
		row->open += grt_ops_op(&c->ops, part)->kind != 3;
		return 0;
	}
	row->lack += n < ranks;
	sums_time(c, row, at, n, exposed);
	row->timed_bytes += bytes;
	row->carried += (double)bytes * (double)grt_nccl_factor(function, ranks) / ranks;
	return 0;
}

static int sums_compare(const void *a, const void *b)
{
	const struct grt_collective_sum *x = *(struct grt_collective_sum *const *)a,
					*y = *(struct grt_collective_sum *const *)b;

	if (x->kernels < y->kernels || x->kernels > y->kernels)
		return x->kernels > y->kernels ? -1 : 1;
	return memcmp(grt_keyed_key(x), grt_keyed_key(y), sizeof(struct grt_key));
}

int grt_collective_sums_find(struct grt_collective_sums *c, struct grt_steps *s)
{
	uint64_t *exposed = NULL;
	uint32_t n;
	int ret;

	*c = (struct grt_collective_sums){.over = 0};
	grt_keyed_init(&c->rows, sizeof(struct grt_collective_sum), GRT_COLLECTIVE_SUMS_MAX);
	ret = grt_ops_find(&c->ops, s);
	if (!ret)
		exposed = calloc((size_t)c->ops.parts + 1, sizeof(*exposed));
	ret = ret ?: exposed ? sums_expose(&c->ops, exposed) : -ENOMEM;
	for (uint32_t at = 0; at < c->ops.parts && !ret; at += n) {
		n = grt_ops_one(&c->ops, at);
		ret = sums_add(c, at, n, exposed);
	}
	free(exposed);
	return ret ?: grt_keyed_list(&c->rows, sums_compare, (void ***)&c->row);
}

void grt_collective_sums_free(struct grt_collective_sums *c)
{
	grt_keyed_free(&c->rows);
	grt_ops_free(&c->ops);
	free(c->row);
}
