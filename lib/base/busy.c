// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The union of busy.h: a sorted array of disjoint parts. Jobs of a ring that is never idle merge into one
 * part, so the array stays short in practice.
 */
#include "busy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "containers.h"
#include "intervals.h"

/* A part that was made from several is at most its age / 32 long, unless that does not free enough room. */
#define COARSE_SHIFT 5

/* Merges neighbours among the first @n parts. Return: number of parts left */
static uint32_t coarsen(struct grt_busy_part *v, uint32_t n, uint64_t now, unsigned int shift)
{
	uint32_t kept = 0;

	for (uint32_t i = 1; i < n; i++) {
		if (v[i].to - v[kept].from > (now - v[kept].from) >> shift) {
			v[++kept] = v[i];
			continue;
		}
		v[kept].idle += v[i].idle + (v[i].from - v[kept].to);
		v[kept].to = v[i].to;
	}
	return kept + 1;
}

/*
 * At least an eighth becomes free, because to free one part at a time would walk through all parts each
 * time.
 */
static int busy_make_room(struct grt_busy *b)
{
	const uint32_t old = GRT_BUSY_MAX * 3 / 4;
	unsigned int shift = COARSE_SHIFT;
	uint32_t left = old;

	if (b->used < GRT_BUSY_MAX)
		return grt_grow(&b->part, &b->room, b->used + 1, 16);
	do
		left = coarsen(b->part, left, b->part[b->used - 1].to, shift);
	while (left > old - GRT_BUSY_MAX / 8 && shift--);
	memmove(b->part + left, b->part + old, (b->used - old) * sizeof(*b->part));
	b->used -= old - left;
	return 0;
}

GRT_INTERVALS(parts, struct grt_busy_part)

/* A part was shortened to @left ns: its idle time becomes as much of the old idle time as fits. */
static void keep_idle(struct grt_busy *b, struct grt_busy_part *p, uint64_t left)
{
	if (p->idle > left)
		p->idle = left;
	b->cut++;
}

/*
 * Makes room for a new interval on the left side of the parts that it touches. A part that was idle at times
 * keeps the time before the new interval. @i: gets the index of the first part that is merged with the new
 * interval
 * Return: false: the interval is within a part that was idle at times, from whose idle time it was taken
 */
static bool trim_left(struct grt_busy *b, uint64_t from, uint64_t to, uint32_t *i)
{
	struct grt_busy_part *p;

	*i = parts_ending(b->part, b->used, from);
	p = b->part + *i;
	if (*i == b->used || !p->idle || p->from >= from)
		return true;
	if (p->to > to) {
		keep_idle(b, p, p->to - p->from - (to - from));
		return false;
	}
	if (p->to > from) {
		p->to = from;
		keep_idle(b, p, from - p->from);
	}
	++*i;
	return true;
}

/*
 * Makes room for a new interval that ends at @to on its right side; @i: the first part that it touches.
 * Return: index of the first part that is not merged
 */
static uint32_t trim_right(struct grt_busy *b, uint64_t to, uint32_t i)
{
	struct grt_busy_part *p;
	uint32_t end = parts_behind(b->part, b->used, i, to);

	if (end == i)
		return end;
	p = &b->part[end - 1];
	if (!p->idle || p->to <= to)
		return end;
	if (p->from < to) {
		p->from = to;
		keep_idle(b, p, p->to - to);
	}
	return end - 1;
}

static int busy_insert(struct grt_busy *b, uint64_t from, uint64_t to)
{
	struct grt_busy_part *v;
	uint32_t i, end;

	if (busy_make_room(b))
		return -ENOMEM;
	if (!trim_left(b, from, to, &i))
		return 0;
	end = trim_right(b, to, i);
	v = b->part;
	/* Parts that are merged and reach beyond the new interval have no idle time. */
	if (end > i && v[i].from < from)
		from = v[i].from;
	if (end > i && v[end - 1].to > to)
		to = v[end - 1].to;
	parts_unite(v, &b->used, i, end);
	v[i] = (struct grt_busy_part){.from = from, .to = to};
	return 0;
}

int grt_busy_insert(struct grt_busy *b, uint64_t from, uint64_t to)
{
	int ret = 0;

	if (to <= from)
		return 0;
	/* mostly the interval begins after all parts */
	if (b->last && b->used < b->room && from > b->last->to)
		b->part[b->used++] = (struct grt_busy_part){.from = from, .to = to};
	else
		ret = busy_insert(b, from, to);
	b->last = b->used ? &b->part[b->used - 1] : NULL;
	return ret;
}

uint64_t grt_busy_sum(const struct grt_busy *b)
{
	uint64_t sum = b->apart;

	for (uint32_t i = 0; i < b->used; i++)
		sum += b->part[i].to - b->part[i].from - b->part[i].idle;
	return sum;
}

void grt_busy_free(struct grt_busy *b)
{
	free(b->part);
	*b = (struct grt_busy){0};
}
