// SPDX-License-Identifier: GPL-2.0
/*
 * Counters over time: means by hand, totals as shares, ends, extremes, bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "drm/counters.h"
#include "base/units.h"

#define MS UINT64_C(1000000)

struct fixture {
	struct grt_names names;
	struct grt_counters counters;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	grt_counters_init(&f->counters, &f->names);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	grt_counters_free(&f->counters);
	grt_names_free(&f->names);
	free(f);
	return 0;
}

static void name(struct fixture *f, uint32_t id, const char *text, const char *unit)
{
	struct grt_ev_name n = {.kind = GRT_NAME_COUNTER, .id = id};

	memcpy(n.name, text, strlen(text));
	memcpy(n.owner, unit, strlen(unit));
	assert_int_equal(grt_names_add(&f->names, &n), 0);
}

static void put_flags(struct fixture *f, uint32_t id, uint32_t instance, uint64_t time, int64_t value,
		      uint16_t flags)
{
	struct grt_ev_counter ev = {
		.e = {.time = time, .type = GRT_EV_COUNTER, .size = sizeof(ev), .flags = flags, .device = 9},
		.counter = id,
		.instance = instance,
		.value = value,
	};

	assert_int_equal(grt_counters_event(&f->counters, &ev.e), 0);
}

static void put(struct fixture *f, uint32_t id, uint64_t time, int64_t value)
{
	put_flags(f, id, 0, time, value, 0);
}

static const struct grt_counter_row *only_row(struct fixture *f)
{
	assert_int_equal(f->counters.rows.used, 1);
	return grt_keyed_oldest(&f->counters.rows);
}

static void expect(const struct grt_counter_row *row, int64_t least, int64_t mean, int64_t most, int64_t last)
{
	int64_t got;

	assert_int_equal(row->least, least);
	assert_true(grt_counter_mean(row, &got));
	assert_int_equal(got, mean);
	assert_int_equal(row->most, most);
	assert_int_equal(row->last, last);
}

static void mean_is_by_time(void **state)
{
	struct fixture *f = *state;

	name(f, 1, "power", "uW");
	put(f, 1, 1000, 10);
	expect(only_row(f), 10000, 10000, 10000, 10000);
	put(f, 1, 1300, 50);
	put(f, 1, 1400, 30);
	/* 10 for 300 ns, 50 for 100 ns; how long 30 lasts is not known */
	expect(only_row(f), 10000, 20000, 50000, 30000);
	assert_int_equal(only_row(f)->values, 3);
	assert_string_equal(only_row(f)->unit, "uW");
}

static void below_zero(void **state)
{
	struct fixture *f = *state;

	name(f, 1, "temp", "mC");
	put(f, 1, 0, -5);
	put(f, 1, 2, -6);
	put(f, 1, 3, 0);
	/* -16 / 3 */
	expect(only_row(f), -6000, -5333, 0, 0);
}

static void ended_is_not_known(void **state)
{
	struct fixture *f = *state;

	name(f, 1, "clock", "Hz");
	put(f, 1, 0, 100);
	put_flags(f, 1, 0, 10, 100, GRT_FLAG_ENDED);
	/* a million ns later */
	put(f, 1, 1000000, 200);
	put(f, 1, 1000010, 200);
	expect(only_row(f), 100000, 150000, 200000, 200000);
	assert_int_equal(only_row(f)->lasted, 20);
}

static void totals_are_shares(void **state)
{
	struct fixture *f = *state;

	name(f, 1, "busy gfx", "total ns");
	put(f, 1, 100 * MS, 5000 * MS);
	assert_int_equal(only_row(f)->seen, 0);
	put(f, 1, 200 * MS, 5025 * MS);
	put(f, 1, 500 * MS, 5325 * MS);
	put(f, 1, 600 * MS, 5325 * MS);
	assert_string_equal(only_row(f)->unit, "%");
	assert_int_equal(only_row(f)->growth, 325 * MS);
	/* 25 %, 100 %, 0 % */
	expect(only_row(f), 0, 65000, 100000, 0);
}

static void a_total_that_began_anew(void **state)
{
	struct fixture *f = *state;

	name(f, 1, "busy", "total ns");
	put(f, 1, 0, 1000);
	put(f, 1, 100, 1050);
	put(f, 1, 200, 10);
	put(f, 1, 300, 20);
	put_flags(f, 1, 0, 300, 20, GRT_FLAG_ENDED);
	put(f, 1, 5000, 4000);
	assert_int_equal(only_row(f)->growth, 60);
	expect(only_row(f), 10000, 30000, 50000, 10000);
}

static void other_totals_are_by_second(void **state)
{
	struct fixture *f = *state;

	name(f, 1, "transfers", "total B");
	put(f, 1, 0, 0);
	put(f, 1, 250 * MS, 1000);
	assert_string_equal(only_row(f)->unit, "B/s");
	expect(only_row(f), 4000000, 4000000, 4000000, 4000000);
}

static void extremes(void **state)
{
	struct fixture *f = *state;
	int64_t mean;

	name(f, 1, "power", "uW");
	put(f, 1, 0, INT64_MAX);
	put(f, 1, 10, INT64_MIN);
	assert_int_equal(only_row(f)->outside, 2);
	assert_int_equal(only_row(f)->seen, 0);
	assert_false(grt_counter_mean(only_row(f), &mean));
	put(f, 1, 20, GRT_COUNTER_VALUE_MAX);
	put(f, 1, UINT64_MAX, GRT_COUNTER_VALUE_MAX);
	expect(only_row(f), GRT_COUNTER_VALUE_MAX * 1000, GRT_COUNTER_VALUE_MAX * 1000,
	       GRT_COUNTER_VALUE_MAX * 1000, GRT_COUNTER_VALUE_MAX * 1000);
}

static void an_extreme_total(void **state)
{
	struct fixture *f = *state;

	name(f, 1, "busy", "total ns");
	put(f, 1, 0, -GRT_COUNTER_VALUE_MAX);
	put(f, 1, 1, GRT_COUNTER_VALUE_MAX);
	assert_int_equal(only_row(f)->most, GRT_COUNTER_VALUE_MAX);
}

static void without_a_name(void **state)
{
	struct fixture *f = *state;

	put(f, 3, 0, 7);
	expect(only_row(f), 7000, 7000, 7000, 7000);
	assert_string_equal(only_row(f)->unit, "");
}

static void rows_in_order(void **state)
{
	struct fixture *f = *state;
	const struct grt_counter_row **rows;

	put_flags(f, 1, 77, 0, 1, 0);
	put_flags(f, 2, 0, 0, 2, 0);
	put_flags(f, 1, 0, 0, 3, GRT_FLAG_INFERRED);
	put_flags(f, 1, 5, 0, 4, 0);
	assert_int_equal(f->counters.rows.used, 4);
	assert_int_equal(grt_counters_list(&f->counters, &rows), 0);
	assert_int_equal(rows[0]->last, 3000);
	assert_true(rows[0]->inferred);
	assert_int_equal(rows[1]->last, 2000);
	assert_int_equal(rows[2]->last, 4000);
	assert_int_equal(rows[3]->last, 1000);
	free(rows);
}

static void memory_is_bounded(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < GRT_COUNTERS_MAX + 5; i++)
		put_flags(f, 1, i, i, 1, 0);
	put_flags(f, 1, 3, 99, 2, 0);
	assert_int_equal(f->counters.rows.used, GRT_COUNTERS_MAX);
	assert_int_equal(f->counters.over, 5);
}

static void amounts_are_read_by_people(void **state)
{
	static const struct {
		int64_t thousandths;
		const char *unit;
		const char *text;
	} amounts[] = {
		{0, "uW", "0.00 W"},
		{95000000000, "uW", "95.0 W"},
		{-1500000000, "uW", "-1.50 W"},
		{54321000, "mC", "54.3 C"},
		{999000, "Hz", "999 Hz"},
		{1350000000000, "Hz", "1.35 GHz"},
		{999999999000, "Hz", "1.00 GHz"},
		{1000, "B", "1 B"},
		{0, "bytes", "0 B"},
		{1000000, "B", "0.98 KiB"},
		{1536000, "B", "1.50 KiB"},
		{1073741824000, "B", "1.00 GiB"},
		{INT64_MAX, "B", "8589935 GiB"},
		{45000, "%", "45 %"},
		{45250, "%", "45.3 %"},
		{1200000, "rpm", "1200 rpm"},
		{INT64_MIN, "rpm", "-9223372036854775.8 rpm"},
	};
	char text[64];

	(void)state;
	for (unsigned int i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++) {
		grt_units_amount(text, sizeof(text), amounts[i].thousandths, amounts[i].unit);
		assert_string_equal(text, amounts[i].text);
	}
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(mean_is_by_time),
		CASE(below_zero),
		CASE(ended_is_not_known),
		CASE(totals_are_shares),
		CASE(a_total_that_began_anew),
		CASE(other_totals_are_by_second),
		CASE(extremes),
		CASE(an_extreme_total),
		CASE(without_a_name),
		CASE(rows_in_order),
		CASE(memory_is_bounded),
		cmocka_unit_test(amounts_are_read_by_people),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
