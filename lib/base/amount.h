/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* An amount that changes at some moments, such as live memory: its mean by time in each column of a
 * timescale. */
#ifndef GRT_BASE_AMOUNT_H
#define GRT_BASE_AMOUNT_H

#include "timescale.h"

/**
 * struct grt_amount - all zero has never been set; to be given to grt_amount_free()
 * @mean: of each column, after grt_amount_end()
 * @now: the amount since @time, ns
 * @peak: the largest amount within the span
 * The rest is private. Memory: 24 bytes for each column.
 */
struct grt_amount {
	uint64_t *mean;
	uint64_t now;
	uint64_t time;
	uint64_t peak;
	unsigned __int128 *area; /* of each column: amounts times how long they lasted, ns */
};

/** grt_amount_is_set - whether grt_amount_set() was called */
static inline bool grt_amount_is_set(const struct grt_amount *a)
{
	return a->mean;
}

/**
 * grt_amount_set - the amount changes to @value
 * @time: when, ns; not before the call before it. It may lie before the span: what is set there lasts into it
 * Return: 0 or -ENOMEM
 */
int grt_amount_set(struct grt_amount *a, const struct grt_timescale *t, uint64_t value, uint64_t time);

/** grt_amount_end - the span is over: computes the means. It may come again after further changes */
void grt_amount_end(struct grt_amount *a, const struct grt_timescale *t);

/** grt_amount_free - frees and empties it */
void grt_amount_free(struct grt_amount *a);

#endif /* GRT_BASE_AMOUNT_H */
