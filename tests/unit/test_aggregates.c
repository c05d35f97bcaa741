// SPDX-License-Identifier: GPL-2.0
/*
 * Sums of AGGREGATE records: by ring, what is missing, numbers that a hostile
 * trace makes too large.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "jobs/aggregates.h"

static int setup(void **state)
{
	struct grt_aggregates *a = calloc(1, sizeof(*a));

	*state = a;
	grt_aggregates_init(a);
	return 0;
}

static int teardown(void **state)
{
	struct grt_aggregates *a = *state;

	grt_aggregates_free(a);
	free(a);
	return 0;
}

/* A record of ring R of device 9. */
#define PUT(a, r, ...)                                                                                 \
	do {                                                                                           \
		struct grt_ev_aggregate ev = {                                                         \
			.e = {.type = GRT_EV_AGGREGATE, .size = sizeof(ev), .ring = (r), .device = 9}, \
			##__VA_ARGS__};                                                                \
		assert_int_equal(grt_aggregates_event(a, &ev.e), 0);                                   \
	} while (0)

static struct grt_cell cell(const struct grt_aggregate_row *row, const char *column)
{
	static const struct grt_names none;

	return grt_column_get(grt_column_find(&grt_aggregate_table, column), &none, row);
}

static void sums(void **state)
{
	struct grt_aggregates *a = *state;
	const struct grt_aggregate_row *row;

	PUT(a, 1, .window = 1, .begin = 100, .end = 300, .events = 10, .replaced = 10, .submits = 3,
	    .completes = 3, .failed = 1, .jobs = 2, .latency = 30, .latency_min = 10, .latency_max = 20,
	    .depth = 4, .depth_max = 2);
	/* nothing was completed: its extremes are none */
	PUT(a, 1, .window = 2, .begin = 300, .end = 500, .events = 2, .submits = 2, .depth = 5,
	    .depth_max = 3);
	PUT(a, 1, .window = 3, .begin = 500, .end = 600, .events = 1, .completes = 1, .jobs = 1,
	    .latency = 71, .latency_min = 71, .latency_max = 71);
	assert_int_equal(a->rows.used, 1);
	row = grt_keyed_oldest(&a->rows);
	assert_int_equal(row->windows, 3);
	assert_int_equal(row->missing, 0);
	assert_int_equal(row->length, 500);
	assert_int_equal(row->events, 13);
	assert_int_equal(row->replaced, 10);
	assert_int_equal(a->replaced, 10);
	assert_int_equal(row->completes, 4);
	assert_int_equal(row->failed, 1);
	assert_int_equal(row->latency_min, 10);
	assert_int_equal(row->latency_max, 71);
	assert_int_equal(cell(row, "latency_mean").number, 34); /* 101 / 3 */
	assert_int_equal(cell(row, "depth_mean").number, 1800); /* 9 / 5 */
	assert_int_equal(cell(row, "depth_max").number, 3);
}

static void nothing_is_a_dash(void **state)
{
	struct grt_aggregates *a = *state;
	const struct grt_aggregate_row *row;

	PUT(a, 0, .window = 1, .events = 1);
	row = grt_keyed_oldest(&a->rows);
	assert_true(cell(row, "latency_mean").absent);
	assert_true(cell(row, "latency_min").absent);
	assert_true(cell(row, "latency_max").absent);
	assert_true(cell(row, "depth_mean").absent);
	assert_true(cell(row, "depth_max").absent);
	assert_int_equal(cell(row, "events").number, 1);
}

static void lost_windows(void **state)
{
	struct grt_aggregates *a = *state;
	const struct grt_aggregate_row **rows;

	PUT(a, 3, .window = 5); /* a reader that came late: nothing is known to be lost */
	PUT(a, 3, .window = 6);
	PUT(a, 2, .window = 1);
	PUT(a, 3, .window = 9);
	PUT(a, 3, .window = 1); /* tracing was started anew */
	PUT(a, 3, .window = 2);
	assert_int_equal(grt_aggregates_list(a, &rows), 0);
	assert_int_equal(a->rows.used, 2);
	assert_int_equal(rows[0]->ring, 2);
	assert_int_equal(rows[0]->missing, 0);
	assert_int_equal(rows[1]->ring, 3);
	assert_int_equal(rows[1]->missing, 2);
	free(rows);
}

static void hostile(void **state)
{
	struct grt_aggregates *a = *state;
	const struct grt_aggregate_row *row;
	int i;

	for (i = 0; i < 3; i++)
		PUT(a, 7, .window = (i & 1) ? UINT32_MAX : 1, .begin = UINT64_MAX, .end = 5,
		    .events = UINT64_MAX, .replaced = UINT64_MAX, .submits = 1, .jobs = 1,
		    .latency = UINT64_MAX, .latency_min = UINT64_MAX, .depth = UINT64_MAX);
	row = grt_keyed_oldest(&a->rows);
	assert_int_equal(row->events, UINT64_MAX);
	assert_int_equal(a->replaced, UINT64_MAX);
	assert_int_equal(row->length, 0);
	assert_int_equal(cell(row, "latency_mean").number, INT64_MAX);
	assert_int_equal(cell(row, "depth_mean").number, INT64_MAX);
	for (i = 0; i < (int)GRT_AGGREGATES_MAX + 10; i++)
		PUT(a, (uint32_t)i, .window = 1);
	assert_int_equal(a->rows.used, GRT_AGGREGATES_MAX);
	assert_int_equal(a->over, 10);
}

static void others_are_passed_over(void **state)
{
	struct grt_aggregates *a = *state;
	struct grt_ev_submit ev = {.e = {.type = GRT_EV_SUBMIT, .size = sizeof(ev), .ring = 1}};

	assert_int_equal(grt_aggregates_event(a, &ev.e), 0);
	assert_int_equal(a->rows.used, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sums, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_is_a_dash, setup, teardown),
		cmocka_unit_test_setup_teardown(lost_windows, setup, teardown),
		cmocka_unit_test_setup_teardown(hostile, setup, teardown),
		cmocka_unit_test_setup_teardown(others_are_passed_over, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
