// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The columns of timescale.h. */
#include "timescale.h"

#include <errno.h>
#include <stdlib.h>

int grt_timescale_init(struct grt_timescale *t, uint64_t first, uint64_t last, uint32_t columns)
{
	uint64_t span = last > first ? last - first : 0;

	*t = (struct grt_timescale){.first = first, .last = first + span};
	t->columns = columns < span ? columns : (uint32_t)span;
	t->border = calloc(t->columns + 1, sizeof(*t->border));
	if (!t->border)
		return -ENOMEM;
	t->border[0] = first;
	for (uint32_t i = 1; i <= t->columns; i++)
		t->border[i] = first + (uint64_t)((unsigned __int128)span * i / t->columns);
	t->per_ns = span ? (double)t->columns / (double)span : 0;
	return 0;
}

bool grt_timescale_has(const struct grt_timescale *t, uint64_t time)
{
	return t->columns && time >= t->first && time <= t->last;
}

/* The guess is wrong by at most a column or two; borders decide. */
uint32_t grt_timescale_column(const struct grt_timescale *t, uint64_t time)
{
	uint32_t c = (uint32_t)((double)(time - t->first) * t->per_ns);

	if (c >= t->columns)
		c = t->columns - 1;
	while (t->border[c] > time)
		c--;
	while (c + 1 < t->columns && t->border[c + 1] <= time)
		c++;
	return c;
}

uint64_t grt_timescale_fill(const struct grt_timescale *t, uint64_t *column, uint64_t from, uint64_t to)
{
	uint64_t begin = from > t->first ? from : t->first;

	if (to > t->last)
		to = t->last;
	if (!t->columns || begin >= to)
		return 0;
	from = begin;
	for (uint32_t c = grt_timescale_column(t, from); from < to; c++) {
		uint64_t end = t->border[c + 1] < to ? t->border[c + 1] : to;

		column[c] += end - from;
		from = end;
	}
	return to - begin;
}

void grt_timescale_free(struct grt_timescale *t)
{
	free(t->border);
	*t = (struct grt_timescale){.border = NULL};
}
