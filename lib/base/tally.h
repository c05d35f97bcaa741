/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Counts of numbers: interrupts by source, commands by code, moves by direction.
 * Bounded; numbers without a row are counted together.
 */
#ifndef GRT_BASE_TALLY_H
#define GRT_BASE_TALLY_H

#include "containers.h"

/**
 * struct grt_tally_row - a number, or up to four numbers as one key
 * @key: the numbers
 * @count: how often they occurred
 * @sum: sum of the amounts
 * @first, @last: first and last time stamp, ns
 */
struct grt_tally_row {
	struct grt_key key;
	uint64_t count;
	uint64_t sum;
	uint64_t first;
	uint64_t last;
};

/**
 * struct grt_tally - set up by grt_tally_init(); @over: occurrences without a row, because there were too
 * many rows
 */
struct grt_tally {
	struct grt_keyed rows;
	uint64_t over;
};

/** grt_tally_init - an empty tally for at most @max rows */
void grt_tally_init(struct grt_tally *t, uint32_t max);

/** grt_tally_add - counts an occurrence with this amount. Return: 0 or -ENOMEM */
int grt_tally_add(struct grt_tally *t, const struct grt_key *key, uint64_t amount, uint64_t time);

/**
 * grt_tally_list - the rows, the most frequent first
 * @out: gets an array of @t->rows.used pointers, which the caller frees;
 *	the rows stay valid until the next grt_tally_add()
 * Return: 0 or -ENOMEM
 */
int grt_tally_list(const struct grt_tally *t, const struct grt_tally_row ***out);

/** grt_tally_free - frees and empties it */
void grt_tally_free(struct grt_tally *t);

#endif /* GRT_BASE_TALLY_H */
