// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The counters of tally.h. */
#include "tally.h"

#include <string.h>

void grt_tally_init(struct grt_tally *t, uint32_t max)
{
	t->over = 0;
	grt_keyed_init(&t->rows, sizeof(struct grt_tally_row), max);
}

int grt_tally_add(struct grt_tally *t, const struct grt_key *key, uint64_t amount, uint64_t time)
{
	struct grt_tally_row *row;
	void *found;
	int ret = grt_keyed_get_or_count(&t->rows, key, &t->over, &found);

	row = found;
	if (!row)
		return ret;
	if (!row->count++) {
		row->key = *key;
		row->first = time;
	}
	row->sum += amount;
	row->last = time;
	return 0;
}

static int tally_most_first(const void *a, const void *b)
{
	const struct grt_tally_row *x = *(void *const *)a, *y = *(void *const *)b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	for (unsigned int i = 0; i < 4; i++)
		if (x->key.w[i] != y->key.w[i])
			return x->key.w[i] < y->key.w[i] ? -1 : 1;
	return 0;
}

int grt_tally_list(const struct grt_tally *t, const struct grt_tally_row ***out)
{
	return grt_keyed_list(&t->rows, tally_most_first, (void ***)out);
}

void grt_tally_free(struct grt_tally *t)
{
	grt_keyed_free(&t->rows);
}
