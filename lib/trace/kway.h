/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The k-way merge of streams by time. Consecutive items of one stream are taken without
 * touching the heap; at equal times the stream with the lower index comes first, which
 * keeps the merge stable. Everything is inlined into the caller's loop. Few streams are in order, which costs
 * less than a heap.
 */
#ifndef GRT_TRACE_KWAY_H
#define GRT_TRACE_KWAY_H

#include <errno.h>

#include "base/heap.h"
#include "stream.h"

#define GRT_KWAY_FEW 8U

struct grt_kway_slot {
	uint64_t key;
	struct grt_stream *st;
};

/**
 * struct grt_kway - the streams that have an item
 * @slot: has room for all streams
 * @stopped: what hand_out() returned to end the run
 */
struct grt_kway {
	struct grt_kway_slot *slot;
	unsigned int used;
	int stopped;
};

static inline bool grt_kway_before(const struct grt_kway *k, const struct grt_kway_slot *a,
				   const struct grt_kway_slot *b)
{
	return a->key < b->key || (a->key == b->key && a->st->index < b->st->index);
}

GRT_HEAP(grt_kway, struct grt_kway_slot, struct grt_kway, grt_kway_before)

/** grt_kway_moved - converts a time to another clock; saturates at 0 and at the largest value */
static inline uint64_t grt_kway_moved(uint64_t time, int64_t offset)
{
	uint64_t t = time + (uint64_t)offset;

	if (!offset)
		return time;
	if (offset < 0)
		return t > time ? 0 : t;
	return t < time ? UINT64_MAX : t;
}

/**
 * grt_kway_begin - adds a stream to the merge, if it has an item
 * @offset: offset of its clock
 * Return: 0 or a negative errno
 */
static inline int grt_kway_begin(struct grt_kway *k, struct grt_stream *st, int64_t offset,
				 struct grt_err *err)
{
	int ret = st->ready ? 1 : grt_stream_next(st);

	if (ret < 0 && ret != -EAGAIN)
		return grt_stream_failed(st, ret, err);
	st->ready = ret > 0;
	if (!st->ready)
		return 0;
	k->slot[k->used] = (struct grt_kway_slot){grt_kway_moved(st->key, offset), st};
	grt_kway_rise(k, k->slot, k->used++);
	return 0;
}

/*
 * The latest key up to which the first stream may continue before another stream comes first. @few: the
 * streams are in order
 */
static inline uint64_t grt_kway_limit(const struct grt_kway *k, bool few)
{
	const struct grt_kway_slot *second = &k->slot[1];

	if (k->used < 2)
		return UINT64_MAX;
	if (!few && k->used > 2 && grt_kway_before(k, &k->slot[2], second))
		second = &k->slot[2];
	/* the first stream is before the second, so the key is 0 only in the first case */
	return k->slot[0].st->index < second->st->index ? second->key : second->key - 1;
}

/* Moves the stream at @at to its place among the ones after it, which are in order. */
static inline void grt_kway_insert(struct grt_kway *k, unsigned int at)
{
	const struct grt_kway_slot moving = k->slot[at];

	for (; at + 1 < k->used && grt_kway_before(k, &k->slot[at + 1], &moving); at++)
		k->slot[at] = k->slot[at + 1];
	k->slot[at] = moving;
}

/* The first stream has ended, or has a later key now. */
static inline void grt_kway_settle(struct grt_kway *k, bool few, bool ended)
{
	if (ended) {
		k->used--;
		for (unsigned int i = 0; few && i < k->used; i++)
			k->slot[i] = k->slot[i + 1];
		if (!few)
			k->slot[0] = k->slot[k->used];
	} else if (few) {
		grt_kway_insert(k, 0);
	}
	if (k->used && !few)
		grt_kway_sink(k, k->slot, k->used, 0);
}

/*
 * Delivers the items of a stream up to the time @limit.
 * Return: 1 if a later item waits, 0 or -EAGAIN if there is none, another negative errno
 */
static inline __attribute__((always_inline)) int
grt_kway_drain(struct grt_kway *k, struct grt_stream *st, int64_t offset, uint64_t limit,
	       int (*hand_out)(void *arg, struct grt_stream *st), void *arg)
{
	int ret;

	st->ready = false;
	do {
		ret = hand_out(arg, st);
		if (ret) {
			k->stopped = ret;
			return 0;
		}
		if (!grt_stream_step(st)) {
			ret = grt_stream_next(st);
			if (ret <= 0)
				return ret;
		}
	} while (grt_kway_moved(st->key, offset) <= limit);
	st->ready = true;
	return 1;
}

/**
 * grt_kway_run - delivers all items up to the time @until
 * @hand_out: gets the item at st->ptr; a result other than 0 ends the run
 * @offset: returns the offset of a stream's clock; NULL: all streams have the same clock
 * Return: 0, what hand_out() returned, or a negative errno
 */
static inline __attribute__((always_inline)) int
grt_kway_run(struct grt_kway *k, uint64_t until, int (*hand_out)(void *arg, struct grt_stream *st),
	     int64_t (*offset)(const void *arg, const struct grt_stream *st), void *arg, struct grt_err *err)
{
	const bool few = k->used <= GRT_KWAY_FEW;
	struct grt_stream *st;
	uint64_t limit;
	int64_t moved;
	int ret;

	k->stopped = 0;
	for (unsigned int i = few ? k->used : 0; i-- > 0;)
		grt_kway_insert(k, i);
	while (k->used && k->slot[0].key <= until) {
		st = k->slot[0].st;
		limit = grt_kway_limit(k, few);
		moved = offset ? offset(arg, st) : 0;
		ret = grt_kway_drain(k, st, moved, limit < until ? limit : until, hand_out, arg);
		if (k->stopped)
			return k->stopped;
		if (ret < 0 && ret != -EAGAIN)
			return grt_stream_failed(st, ret, err);
		if (ret > 0)
			k->slot[0].key = grt_kway_moved(st->key, moved);
		grt_kway_settle(k, few, ret <= 0);
	}
	return 0;
}

#endif /* GRT_TRACE_KWAY_H */
