// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Finds what is around a call in its thread, see cuda_spans.h. */
#include "cuda_spans.h"

#include <errno.h>
#include <stdlib.h>

#include "base/containers.h"

/* Times may be whole microseconds: a span that ends this much later is still inside, ns. */
#define ROUNDED 1000U

int grt_cuda_spans_add(struct grt_cuda_spans *s, const struct grt_cuda_span *one)
{
	if (s->used == GRT_CUDA_SPANS_MAX) {
		s->over++;
		return 0;
	}
	if (grt_grow(&s->span, &s->room, s->used + 1, 1024))
		return -ENOMEM;
	s->span[s->used] = *one;
	s->span[s->used].order = s->used;
	s->used++;
	return 1;
}

static int cuda_spans_compare(const void *a, const void *b)
{
	const struct grt_cuda_span *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid > y->pid ? 1 : -1;
	if (x->tid != y->tid)
		return x->tid > y->tid ? 1 : -1;
	if (x->start != y->start)
		return x->start > y->start ? 1 : -1;
	if (x->end != y->end)
		return x->end < y->end ? 1 : -1;
	return x->order > y->order ? 1 : -1;
}

/* The operators of a file by their numbers. Elements are places, plus 1. Return: 0 or -ENOMEM */
static int cuda_spans_number(const struct grt_cuda_spans *s, struct grt_keyed *ops)
{
	const struct grt_cuda_span *x;
	struct grt_key key;
	void *found;

	for (uint32_t i = 0; i < s->used; i++) {
		x = &s->span[i];
		if (x->kind != GRT_CUDA_SPAN_OP || !x->external)
			continue;
		key = (struct grt_key){{x->pid, x->external}};
		if (grt_keyed_get(ops, &key, &found))
			return -ENOMEM;
		*(uint32_t *)found = i + 1;
	}
	return 0;
}

/** struct cuda_spans_thread - the spans in which a thread is: indices plus 1; 0: none */
struct cuda_spans_thread {
	uint32_t function;
	uint32_t range;
};

/* Leaves spans that have ended: all that follow begin later. */
static void cuda_spans_leave(const struct grt_cuda_spans *s, struct cuda_spans_thread *t, uint64_t time)
{
	while (t->function && s->span[t->function - 1].end <= time)
		t->function = s->span[t->function - 1].inside;
	while (t->range && s->span[t->range - 1].end <= time)
		t->range = s->span[t->range - 1].range;
}

/* The spans around something that begins now are those that do not end before it; the others are left. */
static void cuda_spans_enter(const struct grt_cuda_spans *s, struct cuda_spans_thread *t,
			     const struct grt_cuda_span *x)
{
	uint32_t *at = x->kind == GRT_CUDA_SPAN_RANGE ? &t->range : &t->function;
	const struct grt_cuda_span *o;

	if (x->kind == GRT_CUDA_SPAN_CALL)
		return;
	while (*at) {
		o = &s->span[*at - 1];
		if (o->end >= x->end || x->end - o->end <= ROUNDED)
			return;
		*at = x->kind == GRT_CUDA_SPAN_RANGE ? o->range : o->inside;
	}
}

static void cuda_spans_place(struct grt_cuda_spans *s, uint32_t i, struct cuda_spans_thread *t)
{
	struct grt_cuda_span *x = &s->span[i];

	cuda_spans_leave(s, t, x->start);
	cuda_spans_enter(s, t, x);
	x->range = t->range;
	x->ranges = x->range ? s->span[x->range - 1].ranges + 1 : 0;
	x->inside = t->function;
	x->op = x->inside ? s->span[x->inside - 1].op : 0;
	if (x->kind == GRT_CUDA_SPAN_OP)
		x->op = i + 1;
	if (x->kind == GRT_CUDA_SPAN_RANGE)
		t->range = i + 1;
	else if (x->kind != GRT_CUDA_SPAN_CALL)
		t->function = i + 1;
}

/* Identity decides before time, because calls and operators may have different clocks. */
static void cuda_spans_identify(struct grt_cuda_spans *s, const struct grt_keyed *ops)
{
	struct grt_cuda_span *x;
	const uint32_t *found;
	struct grt_key key;

	for (uint32_t i = 0; i < s->used; i++) {
		x = &s->span[i];
		/* older profilers have the correlation in its place */
		if (x->kind != GRT_CUDA_SPAN_CALL || !x->external || x->external == x->number ||
		    (x->op && s->span[x->op - 1].external == x->external))
			continue;
		key = (struct grt_key){{x->pid, x->external}};
		found = grt_keyed_find(ops, &key);
		if (!found)
			continue;
		x->inside = x->op = *found;
		x->range = s->span[*found - 1].range;
		x->ranges = s->span[*found - 1].ranges;
	}
}

int grt_cuda_spans_nest(struct grt_cuda_spans *s)
{
	struct cuda_spans_thread t = {0};
	struct grt_keyed ops;
	int ret;

	if (!s->used)
		return 0;
	qsort(s->span, s->used, sizeof(*s->span), cuda_spans_compare);
	grt_keyed_init(&ops, sizeof(uint32_t), GRT_CUDA_SPANS_MAX);
	ret = cuda_spans_number(s, &ops);
	for (uint32_t i = 0; i < s->used && !ret; i++) {
		if (i && (s->span[i].tid != s->span[i - 1].tid || s->span[i].pid != s->span[i - 1].pid))
			t = (struct cuda_spans_thread){0};
		cuda_spans_place(s, i, &t);
	}
	if (!ret)
		cuda_spans_identify(s, &ops);
	grt_keyed_free(&ops);
	return ret;
}

void grt_cuda_spans_free(struct grt_cuda_spans *s)
{
	free(s->span);
	*s = (struct grt_cuda_spans){0};
}
