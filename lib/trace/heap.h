/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A small binary heap of streams, the one with the earliest item on top. At
 * equal times the stream of the lower index comes first, which keeps the
 * merge stable.
 */
#ifndef GRT_TRACE_HEAP_H
#define GRT_TRACE_HEAP_H

#include "stream.h"

struct grt_heap_slot {
	uint64_t key;
	struct grt_stream *st;
};

/** struct grt_heap - @slot has room for all streams */
struct grt_heap {
	struct grt_heap_slot *slot;
	unsigned int used;
};

static inline bool grt_heap_before(const struct grt_heap_slot *a, const struct grt_heap_slot *b)
{
	return a->key < b->key || (a->key == b->key && a->st->index < b->st->index);
}

/** grt_heap_sink - restores the order after the key of slot @i grew */
static inline void grt_heap_sink(struct grt_heap *h, unsigned int i)
{
	struct grt_heap_slot moving = h->slot[i];
	unsigned int child;

	for (; (child = 2 * i + 1) < h->used; i = child) {
		if (child + 1 < h->used && grt_heap_before(&h->slot[child + 1], &h->slot[child]))
			child++;
		if (!grt_heap_before(&h->slot[child], &moving))
			break;
		h->slot[i] = h->slot[child];
	}
	h->slot[i] = moving;
}

static inline void grt_heap_push(struct grt_heap *h, struct grt_stream *st, uint64_t key)
{
	struct grt_heap_slot s = {key, st};
	unsigned int i = h->used++;

	for (; i && grt_heap_before(&s, &h->slot[(i - 1) / 2]); i = (i - 1) / 2)
		h->slot[i] = h->slot[(i - 1) / 2];
	h->slot[i] = s;
}

static inline void grt_heap_drop_top(struct grt_heap *h)
{
	h->slot[0] = h->slot[--h->used];
	if (h->used)
		grt_heap_sink(h, 0);
}

/** grt_heap_top_limit - the latest key up to which the top may go on before another stream's turn comes */
static inline uint64_t grt_heap_top_limit(const struct grt_heap *h)
{
	const struct grt_heap_slot *second = &h->slot[1];

	if (h->used < 2)
		return UINT64_MAX;
	if (h->used > 2 && grt_heap_before(&h->slot[2], second))
		second = &h->slot[2];
	/* the top is before it, so a key of 0 is only reached by the first case */
	return h->slot[0].st->index < second->st->index ? second->key : second->key - 1;
}

#endif /* GRT_TRACE_HEAP_H */
