// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The union of stretches.h: a sorted array. Jobs of a ring that is never idle
 * become one stretch, so the array stays short in practice.
 */
#include "stretches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "intervals.h"

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
	s->kept += i;
	return ret;
}

GRT_INTERVALS(stretches, struct grt_stretch)

uint32_t grt_stretches_search(const struct grt_stretches *s, uint64_t time)
{
	uint32_t i = stretches_ending(s->kept, s->used, time);

	return i < s->used && s->kept[i].to == time ? i + 1 : i;
}

/* Extends a stretch by one that touches it. */
static void stretches_widen(const struct grt_stretches *s, struct grt_stretch *st,
			    const struct grt_stretch *new)
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

/*
 * Makes room for one more stretch after those that are kept; moves them to the front if enough room is free
 * there.
 */
static int stretches_make_room(struct grt_stretches *s)
{
	uint32_t closed = (uint32_t)(s->kept - s->all);

	if (closed + s->used < s->room)
		return 0;
	if (closed > s->used) {
		memcpy(s->all, s->kept, s->used * sizeof(*s->all));
		closed = 0;
	} else if (grt_grow(&s->all, &s->room, closed + s->used + 1, 8)) {
		return -ENOMEM;
	}
	s->kept = s->all + closed;
	return 0;
}

static __attribute__((noinline)) int stretches_insert(struct grt_stretches *s, const struct grt_stretch *new)
{
	uint32_t i = stretches_ending(s->kept, s->used, new->from);
	uint32_t end = stretches_behind(s->kept, s->used, i, new->to);

	if (end == i && stretches_make_room(s))
		return -ENOMEM;
	if (end > i)
		stretches_widen(s, &s->kept[i], new);
	for (uint32_t k = i + 1; k < end; k++)
		stretches_widen(s, &s->kept[i], &s->kept[k]);
	stretches_unite(s->kept, &s->used, i, end);
	if (end == i)
		s->kept[i] = *new;
	return 0;
}

/* Return: whether the new stretch begins in the last one or at its end, as jobs on a busy ring do. */
static bool stretches_goes_on(const struct grt_stretches *s, const struct grt_stretch *new)
{
	const struct grt_stretch *last = s->used ? &s->kept[s->used - 1] : NULL;

	return last && new->from >= last->from &&new->from <= last->to;
}

int grt_stretches_add(struct grt_stretches *s, const struct grt_stretch *new)
{
	if (!stretches_goes_on(s, new))
		return stretches_insert(s, new);
	stretches_widen(s, &s->kept[s->used - 1], new);
	return 0;
}

void grt_stretches_free(struct grt_stretches *s)
{
	free(s->all);
	*s = (struct grt_stretches){0};
}
