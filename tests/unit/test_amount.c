// SPDX-License-Identifier: GPL-2.0
/* Means by time of an amount, against sums by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/amount.h"

static void has_means_by_time(void **state)
{
	struct grt_amount a = {.mean = NULL};
	struct grt_timescale t;

	assert_int_equal(grt_timescale_init(&t, 0, 100, 4), 0);
	assert_false(grt_amount_is_set(&a));
	/* 8 for 15 of the first 25 ns, for 15 of the next, 1000 for none, 3 for 20 of the last */
	assert_int_equal(grt_amount_set(&a, &t, 8, 10), 0);
	assert_int_equal(grt_amount_set(&a, &t, 1000, 40), 0);
	assert_int_equal(grt_amount_set(&a, &t, 0, 40), 0);
	assert_int_equal(grt_amount_set(&a, &t, 3, 80), 0);
	assert_true(grt_amount_is_set(&a));
	grt_amount_end(&a, &t);
	assert_int_equal(a.mean[0], 5);
	assert_int_equal(a.mean[1], 5);
	assert_int_equal(a.mean[2], 0);
	assert_int_equal(a.mean[3], 2);
	assert_int_equal(a.peak, 8);
	assert_int_equal(a.now, 3);
	grt_amount_free(&a);
	assert_false(grt_amount_is_set(&a));
	grt_timescale_free(&t);
}

/* What was set before the span lasts into it; what lasts beyond it does not count. */
static void has_what_was_before(void **state)
{
	struct grt_amount a = {.mean = NULL};
	struct grt_timescale t;

	assert_int_equal(grt_timescale_init(&t, 100, 200, 2), 0);
	assert_int_equal(grt_amount_set(&a, &t, 500, 20), 0);
	assert_int_equal(grt_amount_set(&a, &t, 4, 50), 0);
	assert_int_equal(grt_amount_set(&a, &t, 9, 175), 0);
	assert_int_equal(grt_amount_set(&a, &t, 77, 300), 0);
	grt_amount_end(&a, &t);
	assert_int_equal(a.mean[0], 4);
	/* (4 * 25 + 9 * 25) / 50 = 6.5 */
	assert_int_equal(a.mean[1], 7);
	assert_int_equal(a.peak, 9);
	grt_amount_free(&a);
	grt_timescale_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_means_by_time),
		cmocka_unit_test(has_what_was_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
