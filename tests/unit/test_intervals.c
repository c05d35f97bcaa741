// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of intervals against a map of moments: whatever is added in whatever order,
 * the elements are the runs of marked moments, and places are found as by a search
 * from the first on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>

#include "base/intervals.h"

#define MOMENTS 120U

struct part {
	uint64_t from;
	uint64_t to;
};

GRT_INTERVALS(parts, struct part)

static void add(struct part *v, uint32_t *n, uint64_t from, uint64_t to)
{
	uint32_t i = parts_ending(v, *n, from), end = parts_behind(v, *n, i, to);

	if (end > i && v[i].from < from)
		from = v[i].from;
	if (end > i && v[end - 1].to > to)
		to = v[end - 1].to;
	parts_unite(v, n, i, end);
	v[i] = (struct part){from, to};
}

static void is_the_map(const struct part *v, uint32_t n, const bool *marked)
{
	uint32_t i = 0;

	for (unsigned int t = 0; t < MOMENTS; t++) {
		if (!marked[t] || (t && marked[t - 1]))
			continue;
		assert_true(i < n);
		assert_int_equal(v[i].from, t);
		while (t < MOMENTS && marked[t])
			t++;
		assert_int_equal(v[i++].to, t);
	}
	assert_int_equal(i, n);
}

static void as_a_map(void **state)
{
	(void)state;
	srandom(5);
	for (unsigned int run = 0; run < 300; run++) {
		bool marked[MOMENTS] = {false};
		struct part v[MOMENTS];
		uint32_t n = 0, first;

		for (unsigned int k = 0; k < 25; k++) {
			unsigned int from = (unsigned int)random() % MOMENTS;
			unsigned int to = from + 1 + (unsigned int)random() % 9;

			to = to > MOMENTS ? MOMENTS : to;
			add(v, &n, from, to);
			for (unsigned int t = from; t < to; t++)
				marked[t] = true;
			is_the_map(v, n, marked);
			for (first = 0; first < n && v[first].to < from; first++)
				;
			assert_int_equal(parts_ending(v, n, from), first);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_a_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
