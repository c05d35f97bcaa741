// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The union of busy.h: a sorted array of disjoint intervals. Jobs of a ring
 * that is never idle melt into one, so the array stays short in practice.
 */
#include "busy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/grow.h"

/* The oldest quarter becomes a sum: moving one at a time would move the whole array for each. */
static void close_oldest(struct grt_busy *b)
{
	uint32_t n = b->used / 4;

	for (uint32_t i = 0; i < n; i++)
		b->closed += b->interval[i].to - b->interval[i].from;
	b->floor = b->interval[n - 1].to;
	b->used -= n;
	memmove(b->interval, b->interval + n, b->used * sizeof(*b->interval));
}

static int make_room(struct grt_busy *b)
{
	if (b->used == GRT_BUSY_MAX) {
		close_oldest(b);
		return 0;
	}
	return grt_grow(&b->interval, &b->room, b->used + 1, 16);
}

/* Index of the first interval that ends at or after @t. */
static uint32_t first_touched(const struct grt_busy *b, uint64_t t)
{
	uint32_t low = 0, high = b->used;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (b->interval[mid].to < t)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Intervals [i, end) touch the new one and become one with it. */
static void melt(struct grt_busy *b, uint32_t i, uint32_t end, uint64_t from, uint64_t to)
{
	struct grt_interval *v = b->interval;

	if (v[i].from > from)
		v[i].from = from;
	v[i].to = v[end - 1].to > to ? v[end - 1].to : to;
	memmove(v + i + 1, v + end, (b->used - end) * sizeof(*v));
	b->used -= end - i - 1;
}

static int insert(struct grt_busy *b, uint64_t from, uint64_t to)
{
	uint32_t i = first_touched(b, from), end = i;

	while (end < b->used && b->interval[end].from <= to)
		end++;
	if (end > i) {
		melt(b, i, end, from, to);
		return 0;
	}
	if (make_room(b))
		return -ENOMEM;
	if (from < b->floor)
		return grt_busy_insert(b, from, to);
	i = first_touched(b, from);
	memmove(b->interval + i + 1, b->interval + i, (b->used - i) * sizeof(*b->interval));
	b->interval[i] = (struct grt_interval){from, to};
	b->used++;
	return 0;
}

int grt_busy_insert(struct grt_busy *b, uint64_t from, uint64_t to)
{
	if (from < b->floor) {
		b->cut++;
		from = b->floor;
	}
	return to > from ? insert(b, from, to) : 0;
}

uint64_t grt_busy_sum(const struct grt_busy *b)
{
	uint64_t sum = b->closed;

	for (uint32_t i = 0; i < b->used; i++)
		sum += b->interval[i].to - b->interval[i].from;
	return sum;
}

void grt_busy_free(struct grt_busy *b)
{
	free(b->interval);
	*b = (struct grt_busy){0};
}
