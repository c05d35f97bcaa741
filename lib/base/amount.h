/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* An amount that changes over time, such as live memory: its mean over time in each column of a
 * timescale. */
#ifndef GRT_BASE_AMOUNT_H
#define GRT_BASE_AMOUNT_H

#include "timescale.h"

/**
 * struct grt_amount - all zero was never set; freed by grt_amount_free()
 * @mean: mean of each column, after grt_amount_end()
 * @now: the amount since @time, ns
 * @peak: the largest amount within the span
 * The rest is private. Memory: 24 bytes for each column.
 */
struct grt_amount {
	uint64_t *mean;
	uint64_t now;
	uint64_t time;
	uint64_t peak;
	unsigned __int128 *area; /* of each column: sum of amount times duration, ns */
};

/** grt_amount_is_set - whether grt_amount_set() was called */
static inline bool grt_amount_is_set(const struct grt_amount *a)
{
	return a->mean;
}

/**
 * grt_amount_set - the amount changes to @value
 * @time: time of the change, ns; not before the previous call. It may be before the span: the amount then
 *	lasts into the span
 * Return: 0 or -ENOMEM
 */
int grt_amount_set(struct grt_amount *a, const struct grt_timescale *t, uint64_t value, uint64_t time);

/** grt_amount_end - computes the means at the end of the span; may be called again after further changes */
void grt_amount_end(struct grt_amount *a, const struct grt_timescale *t);

/** grt_amount_free - frees and empties it */
void grt_amount_free(struct grt_amount *a);

#endif /* GRT_BASE_AMOUNT_H */
