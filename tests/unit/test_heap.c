// SPDX-License-Identifier: GPL-2.0
/*
 * The heap against qsort(): elements come out in order, whatever came in and
 * however keys change meanwhile; equal ones by their number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/heap.h"

#define MOST 200

struct item {
	uint64_t key;
	unsigned int number;
};

static bool item_before(const void *none, const struct item *a, const struct item *b)
{
	(void)none;
	return a->key < b->key || (a->key == b->key && a->number < b->number);
}

GRT_HEAP(items, struct item, void, item_before)

static int compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void comes_out_sorted(void **state)
{
	struct item slot[MOST], sorted[MOST];

	(void)state;
	srandom(11);
	for (unsigned int n = 0; n <= MOST; n++) {
		size_t used = 0;

		for (unsigned int i = 0; i < n; i++) {
			sorted[i] = (struct item){(uint64_t)random() % 50, i};
			slot[used] = sorted[i];
			items_rise(NULL, slot, used++);
		}
		qsort(sorted, n, sizeof(*sorted), compare);
		for (unsigned int i = 0; i < n; i++) {
			assert_int_equal(slot[0].key, sorted[i].key);
			assert_int_equal(slot[0].number, sorted[i].number);
			slot[0] = slot[--used];
			if (used)
				items_sink(NULL, slot, used, 0);
		}
	}
}

/* As streams are merged: the top gets a later key, or it ends. */
static void merges_streams(void **state)
{
	struct item slot[MOST];
	uint64_t taken = 0, last = 0, put = 0;
	size_t used;

	(void)state;
	srandom(12);
	for (used = 0; used < MOST; used++) {
		slot[used] = (struct item){(uint64_t)random() % 1000, (unsigned int)used};
		items_rise(NULL, slot, used);
		put++;
	}
	while (used) {
		assert_true(slot[0].key >= last);
		last = slot[0].key;
		taken++;
		if (random() % 20) {
			slot[0].key += (uint64_t)random() % 30;
			put++;
		} else {
			slot[0] = slot[--used];
		}
		if (used)
			items_sink(NULL, slot, used, 0);
	}
	assert_int_equal(taken, put);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_out_sorted),
		cmocka_unit_test(merges_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
