// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "amount.h"

/* Adds the amount that lasted since the previous change up to @to to the columns. */
static void amount_fill(struct grt_amount *a, const struct grt_timescale *t, uint64_t to)
{
	uint64_t from = a->time < t->first ? t->first : a->time, end;

	/* the end of a process may be older than the last record of another */
	a->time = to > a->time ? to : a->time;
	to = to > t->last ? t->last : to;
	if (!t->columns || from >= to)
		return;
	a->peak = a->now > a->peak ? a->now : a->peak;
	for (uint32_t c = grt_timescale_column(t, from); from < to; c++, from = end) {
		end = t->border[c + 1] < to ? t->border[c + 1] : to;
		a->area[c] += (unsigned __int128)a->now * (end - from);
	}
}

static int amount_begin(struct grt_amount *a, const struct grt_timescale *t, uint64_t time)
{
	a->area = calloc(t->columns + 1, sizeof(*a->area));
	a->mean = calloc(t->columns + 1, sizeof(*a->mean));
	a->time = time;
	if (a->area && a->mean)
		return 0;
	grt_amount_free(a);
	return -ENOMEM;
}

int grt_amount_set(struct grt_amount *a, const struct grt_timescale *t, uint64_t value, uint64_t time)
{
	if (!a->mean && amount_begin(a, t, time))
		return -ENOMEM;
	amount_fill(a, t, time);
	a->now = value;
	return 0;
}

void grt_amount_end(struct grt_amount *a, const struct grt_timescale *t)
{
	uint64_t ns;

	amount_fill(a, t, t->last);
	for (uint32_t c = 0; c < t->columns; c++) {
		ns = t->border[c + 1] - t->border[c];
		a->mean[c] = ns ? (uint64_t)((a->area[c] + ns / 2) / ns) : 0;
	}
}

void grt_amount_free(struct grt_amount *a)
{
	free(a->area);
	free(a->mean);
	*a = (struct grt_amount){.mean = NULL};
}
