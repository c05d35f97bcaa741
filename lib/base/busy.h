/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The length of the union of many intervals. Intervals come roughly in the order of
 * their ends, so the newest parts of the union are kept unchanged; older parts are
 * merged with their neighbours, more coarsely the older they are. A later interval
 * that covers such a part completely leaves the sum exact. If an interval begins or
 * ends within a merged part, the sum is a lower bound: too small by at most the
 * part's idle time, about 1/32 of an interval that reaches up to the newest part.
 */
#ifndef GRT_BASE_BUSY_H
#define GRT_BASE_BUSY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most parts of a union, 24 bytes each. */
#define GRT_BUSY_MAX 4096U

/** struct grt_interval - from @from up to, not including, @to; ns */
struct grt_interval {
	uint64_t from;
	uint64_t to;
};

/** struct grt_busy_part - busy from @from up to, not including, @to, except @idle ns somewhere in it */
struct grt_busy_part {
	uint64_t from;
	uint64_t to;
	uint64_t idle;
};

/**
 * struct grt_busy - all zero is empty; freed by grt_busy_free()
 * @part: disjoint and ascending
 * @last: the last part, which is never idle; NULL: none
 * @apart: length of further intervals that overlap neither each other nor any part, ns
 * @cut: number of intervals that began or ended within a merged part: the union is
 *	then a lower bound
 */
struct grt_busy {
	struct grt_busy_part *part;
	struct grt_busy_part *last;
	uint32_t used;
	uint32_t room;
	uint64_t apart;
	uint64_t cut;
};

/** grt_busy_insert - the slow path of grt_busy_add() */
int grt_busy_insert(struct grt_busy *b, uint64_t from, uint64_t to);

/**
 * grt_busy_add - adds an interval; ignores an interval that does not end after its begin. Return: 0 or
 * -ENOMEM
 */
static inline int grt_busy_add(struct grt_busy *b, uint64_t from, uint64_t to)
{
	struct grt_busy_part *last = b->last;

	if (!last || from < last->from || from > last->to || to <= from)
		return grt_busy_insert(b, from, to);
	if (to > last->to)
		last->to = to;
	return 0;
}

/** grt_busy_within - adds the part of an interval that is in @span. Return: 0 or -ENOMEM */
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
