/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A span of time, divided into columns of equal width with ns precision, for the rows of a timeline. */
#ifndef GRT_BASE_TIMESCALE_H
#define GRT_BASE_TIMESCALE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct grt_timescale - all zero has no columns; freed by grt_timescale_free()
 * @first, @last: the span, ns
 * @columns: number of columns
 * @border: begin of each column, and end of the last one
 * The rest is private.
 */
struct grt_timescale {
	uint64_t first;
	uint64_t last;
	uint32_t columns;
	uint64_t *border;
	double per_ns; /* columns per ns, to estimate a column */
};

/** grt_timescale_init - a span of fewer ns than @columns has one column per ns. Return: 0 or -ENOMEM */
int grt_timescale_init(struct grt_timescale *t, uint64_t first, uint64_t last, uint32_t columns);

/** grt_timescale_has - whether a moment is in a column; the span's last ns is in the last one */
bool grt_timescale_has(const struct grt_timescale *t, uint64_t time);

/** grt_timescale_column - the column of a moment in the span */
uint32_t grt_timescale_column(const struct grt_timescale *t, uint64_t time);

/**
 * grt_timescale_fill - adds the time from @from up to @to to the sums of the columns, @column
 * Return: the part of it that is in the span, ns
 */
uint64_t grt_timescale_fill(const struct grt_timescale *t, uint64_t *column, uint64_t from, uint64_t to);

/** grt_timescale_free - frees and empties it */
void grt_timescale_free(struct grt_timescale *t);

#endif /* GRT_BASE_TIMESCALE_H */
