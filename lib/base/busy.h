/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * How long at least one of many intervals was open: their union. Intervals come
 * roughly in the order of their ends, so the newest parts of the union are kept
 * as they are; older ones are put together with their neighbours, the coarser
 * the older they are. A later interval that covers such a part whole leaves the
 * sum exact. Where one begins or ends within it, the sum is a lower bound: too
 * small by at most the part's idle time, about 1/32 of an interval that reaches
 * up to the newest.
 */
#ifndef GRT_BASE_BUSY_H
#define GRT_BASE_BUSY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parts of a union, 24 bytes each. */
#define GRT_BUSY_MAX 4096U

/** struct grt_interval - from @from up to, not including, @to; ns */
struct grt_interval {
	uint64_t from;
	uint64_t to;
};

/** struct grt_busy_part - busy from @from up to, not including, @to, but for @idle ns somewhere in it */
struct grt_busy_part {
	uint64_t from;
	uint64_t to;
	uint64_t idle;
};

/**
 * struct grt_busy - all zero is empty; to be given to grt_busy_free()
 * @part: disjoint and ascending
 * @last: the last of them, which is never idle; NULL: there is none
 * @cut: intervals that began or ended where it was unknown what is idle: the union is
 *	a lower bound then
 */
struct grt_busy {
	struct grt_busy_part *part;
	struct grt_busy_part *last;
	uint32_t used;
	uint32_t room;
	uint64_t cut;
};

/** grt_busy_insert - the long way of grt_busy_add() */
int grt_busy_insert(struct grt_busy *b, uint64_t from, uint64_t to);

/** grt_busy_add - adds an interval; one that does not end after it began is nothing. Return: 0 or -ENOMEM */
static inline int grt_busy_add(struct grt_busy *b, uint64_t from, uint64_t to)
{
	struct grt_busy_part *last = b->last;

	if (!last || from < last->from || from > last->to || to <= from)
		return grt_busy_insert(b, from, to);
	if (to > last->to)
		last->to = to;
	return 0;
}

/** grt_busy_within - adds what of an interval lies in @span. Return: 0 or -ENOMEM */
static inline int grt_busy_within(struct grt_busy *b, const struct grt_interval *span, uint64_t from,
				  uint64_t to)
{
	return grt_busy_add(b, from < span->from ? span->from : from, to > span->to ? span->to : to);
}

/** grt_busy_sum - length of the union so far, ns */
uint64_t grt_busy_sum(const struct grt_busy *b);

/** grt_busy_free - frees and empties it */
void grt_busy_free(struct grt_busy *b);

#endif /* GRT_BASE_BUSY_H */
