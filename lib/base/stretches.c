// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The union of stretches.h: a sorted array. Jobs of a ring that is never idle
 * melt into one stretch, so the array stays short in practice.
 */
#include "stretches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

int grt_stretches_close(struct grt_stretches *s, uint32_t n,
			int (*fn)(void *arg, const struct grt_stretches *s, const struct grt_stretch *st),
			void *arg)
{
	uint32_t i = 0;
	int ret = 0;

	for (; i < n && !ret; i++) {
		ret = fn(arg, s, &s->kept[i]);
		s->closed = true;
		s->floor = s->kept[i].to;
		s->last = s->kept[i].last;
	}
	if (!i)
		return ret;
	s->used -= i;
	memmove(s->kept, s->kept + i, s->used * sizeof(*s->kept));
	return ret;
}

uint32_t grt_stretches_at(const struct grt_stretches *s, uint64_t time)
{
	uint32_t low = 0, high = s->used;

	/* Mostly it is behind all, or in the last one. */
	if (!high || s->kept[high - 1].to <= time)
		return high;
	if (s->kept[high - 1].from <= time)
		return high - 1;
	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (s->kept[mid].to <= time)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* What @new says of the stretch that it becomes one with. */
static void melt(const struct grt_stretches *s, struct grt_stretch *st, const struct grt_stretch *new)
{
	bool begins = new->from<st->from, ends = new->to> st->to;

	if (begins) {
		st->from = new->from;
		st->first = new->first;
	}
	if (ends)
		st->to = new->to;
	if (s->pairs ? begins : ends)
		st->last = new->last;
}

/* Stretches [i, end) become one. */
static void melt_all(struct grt_stretches *s, uint32_t i, uint32_t end)
{
	struct grt_stretch *v = s->kept;

	for (uint32_t k = i + 1; k < end; k++)
		melt(s, &v[i], &v[k]);
	memmove(v + i + 1, v + end, (s->used - end) * sizeof(*v));
	s->used -= end - i - 1;
}

int grt_stretches_add(struct grt_stretches *s, const struct grt_stretch *new)
{
	uint32_t i = grt_stretches_at(s, new->from), end;

	/* What ends where the new one begins is touched, too. */
	if (i && s->kept[i - 1].to == new->from)
		i--;
	for (end = i; end < s->used && s->kept[end].from <= new->to; end++)
		;
	if (end > i) {
		melt(s, &s->kept[i], new);
		if (end > i + 1)
			melt_all(s, i, end);
		return 0;
	}
	if (grt_grow(&s->kept, &s->room, s->used + 1, 8))
		return -ENOMEM;
	memmove(s->kept + i + 1, s->kept + i, (s->used - i) * sizeof(*s->kept));
	s->kept[i] = *new;
	s->used++;
	return 0;
}

void grt_stretches_free(struct grt_stretches *s)
{
	free(s->kept);
	*s = (struct grt_stretches){0};
}
