// SPDX-License-Identifier: GPL-2.0
/*
 * Histograms and unions of intervals: the bounds that their headers state,
 * against sorted arrays and bitmaps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/busy.h"
#include "base/hist.h"

static uint64_t seed = 88172645463325252ULL;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Nearest rank: the least value that permille of all are not above. */
static uint64_t true_percentile(const uint64_t *sorted, uint64_t n, unsigned int permille)
{
	uint64_t rank = (n * permille + 999) / 1000;

	return sorted[rank ? rank - 1 : 0];
}

static const unsigned int permilles[] = {1, 10, 250, 500, 900, 950, 990, 999, 1000};

static void check_against(const uint64_t *values, uint64_t n, uint64_t (*bound)(uint64_t))
{
	uint64_t *sorted = malloc(n * sizeof(*sorted)), got, want, sum = 0;
	struct grt_hist h = {.weight = 0};
	uint32_t budget = 1000;

	for (uint64_t i = 0; i < n; i++) {
		grt_hist_add(&h, values[i], GRT_WEIGHT_ONE, false, &budget);
		sum += values[i];
	}
	memcpy(sorted, values, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare);
	for (unsigned int i = 0; i < sizeof(permilles) / sizeof(permilles[0]); i++) {
		want = true_percentile(sorted, n, permilles[i]);
		assert_true(grt_hist_percentile(&h, permilles[i], &got));
		if (distance(got, want) > bound(want))
			fail_msg("p%u of %llu: %llu, should be %llu", permilles[i], (unsigned long long)n,
				 (unsigned long long)got, (unsigned long long)want);
	}
	assert_int_equal(h.max, sorted[n - 1]);
	assert_int_equal(h.min, sorted[0]);
	assert_int_equal(grt_hist_sum(&h), sum);
	grt_hist_free(&h);
	free(sorted);
}

static uint64_t exact(uint64_t value)
{
	(void)value;
	return 0;
}

static uint64_t one_part_in_1024(uint64_t value)
{
	return value / 1024;
}

static void small_values_are_exact(void **state)
{
	uint64_t v[3000];

	(void)state;
	for (unsigned int i = 0; i < 3000; i++)
		v[i] = next_random() % 1024;
	check_against(v, 3000, exact);
	check_against(v, 1, exact);
}

static void error_is_bounded_in_every_octave(void **state)
{
	uint64_t v[2000];

	(void)state;
	for (unsigned int shift = 0; shift < 52; shift++) {
		for (unsigned int i = 0; i < 2000; i++)
			v[i] = next_random() >> (63 - shift - 1) >> (next_random() % 8);
		check_against(v, 2000, one_part_in_1024);
	}
}

static void one_value_is_exact(void **state)
{
	struct grt_hist h = {.weight = 0};
	uint32_t budget = 10;
	uint64_t got;

	(void)state;
	grt_hist_add(&h, 123456789, GRT_WEIGHT_ONE, true, &budget);
	assert_true(grt_hist_percentile(&h, 500, &got));
	assert_int_equal(got, 123456789);
	assert_true(h.inferred);
	grt_hist_free(&h);
}

static void extremes_do_not_overflow(void **state)
{
	struct grt_hist h = {.weight = 0};
	uint32_t budget = 100;
	uint64_t got;

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		grt_hist_add(&h, UINT64_MAX, grt_weight(1), false, &budget);
	grt_hist_add(&h, 0, grt_weight(1), false, &budget);
	assert_true(grt_hist_percentile(&h, 500, &got));
	assert_true(distance(got, UINT64_MAX) <= UINT64_MAX / 1024);
	assert_int_equal(h.max, UINT64_MAX);
	assert_int_equal(grt_hist_sum(&h), UINT64_MAX);
	grt_hist_free(&h);
}

static void weights_count(void **state)
{
	struct grt_hist h = {.weight = 0};
	uint32_t budget = 100;
	uint64_t got;

	(void)state;
	/* one job of a sample of 1 % stands for a hundred, the 99 others for one each */
	grt_hist_add(&h, 700, grt_weight(1), false, &budget);
	for (unsigned int i = 0; i < 99; i++)
		grt_hist_add(&h, 100, grt_weight(100), false, &budget);
	assert_int_equal(grt_weight_count(h.weight), 199);
	assert_true(grt_hist_percentile(&h, 490, &got));
	assert_int_equal(got, 100);
	assert_true(grt_hist_percentile(&h, 500, &got));
	assert_int_equal(got, 700);
	assert_int_equal(grt_hist_sum(&h), 700 * 100 + 99 * 100);
	grt_hist_free(&h);
}

static void weight_of_a_sample(void **state)
{
	(void)state;
	assert_int_equal(grt_weight(0), GRT_WEIGHT_ONE);
	assert_int_equal(grt_weight(100), GRT_WEIGHT_ONE);
	assert_int_equal(grt_weight(50), 2 * GRT_WEIGHT_ONE);
	assert_int_equal(grt_weight(1), 100 * GRT_WEIGHT_ONE);
	/* three jobs at 30 % are ten */
	assert_int_equal(grt_weight_count(3 * grt_weight(30)), 10);
}

static void no_memory_gives_no_percentile(void **state)
{
	struct grt_hist h = {.weight = 0};
	uint32_t budget = 1;
	uint64_t got;

	(void)state;
	assert_false(grt_hist_percentile(&h, 500, &got));
	grt_hist_add(&h, 5, GRT_WEIGHT_ONE, false, &budget);
	assert_true(grt_hist_percentile(&h, 500, &got));
	grt_hist_add(&h, 50000, GRT_WEIGHT_ONE, false, &budget);
	assert_false(grt_hist_percentile(&h, 500, &got));
	assert_int_equal(h.max, 50000);
	assert_int_equal(grt_hist_sum(&h), 50005);
	grt_hist_free(&h);
}

static void touching_intervals_are_one(void **state)
{
	struct grt_busy b = {.used = 0};

	(void)state;
	assert_int_equal(grt_busy_add(&b, 10, 20), 0);
	assert_int_equal(grt_busy_add(&b, 20, 30), 0);
	assert_int_equal(b.used, 1);
	assert_int_equal(grt_busy_add(&b, 40, 50), 0);
	assert_int_equal(grt_busy_sum(&b), 30);
	/* over both and the hole between */
	assert_int_equal(grt_busy_add(&b, 25, 60), 0);
	assert_int_equal(b.used, 1);
	assert_int_equal(grt_busy_sum(&b), 50);
	assert_int_equal(grt_busy_add(&b, 60, 60), 0);
	assert_int_equal(grt_busy_add(&b, 70, 65), 0);
	assert_int_equal(grt_busy_sum(&b), 50);
	grt_busy_free(&b);
}

#define BITMAP 6000

static void union_equals_a_bitmap(void **state)
{
	static bool bit[BITMAP];
	struct grt_busy b = {.used = 0};
	uint64_t from, to, want;

	(void)state;
	for (unsigned int round = 0; round < 40; round++) {
		memset(bit, 0, sizeof(bit));
		for (unsigned int i = 0; i < 400; i++) {
			/* roughly in the order of their ends, some long ones over many others */
			from = i * 14 + next_random() % 60;
			to = from + next_random() % (next_random() % 16 ? 12 : 300);
			if (from > 300 && next_random() % 32 == 0)
				from -= 300;
			assert_int_equal(grt_busy_add(&b, from, to), 0);
			for (uint64_t t = from; t < to; t++)
				bit[t] = true;
		}
		want = 0;
		for (unsigned int t = 0; t < BITMAP; t++)
			want += bit[t];
		assert_int_equal(grt_busy_sum(&b), want);
		assert_int_equal(b.cut, 0);
		grt_busy_free(&b);
	}
}

/* A file of CUPTI's records lists copies far behind the kernels among which they ran. */
static void late_intervals_among_thousands_are_exact(void **state)
{
	struct grt_busy b = {.used = 0};
	const uint64_t n = 3000;

	(void)state;
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(grt_busy_add(&b, 1000 * i, 1000 * i + 100), 0);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(grt_busy_add(&b, 1000 * i + 50, 1000 * i + 150), 0);
	assert_int_equal(grt_busy_sum(&b), 150 * n);
	assert_int_equal(b.cut, 0);
	grt_busy_free(&b);
}

static void memory_of_intervals_is_bounded(void **state)
{
	struct grt_busy b = {.used = 0};
	uint64_t i, sum;

	(void)state;
	for (i = 0; i < 100000; i++)
		assert_int_equal(grt_busy_add(&b, 10 * i, 10 * i + 3), 0);
	assert_true(b.room <= GRT_BUSY_MAX);
	assert_int_equal(grt_busy_sum(&b), 300000);
	/* over the last hundred: exact; from somewhere in what became coarse: a lower bound, and told so */
	assert_int_equal(grt_busy_add(&b, 10 * (i - 100), 10 * i), 0);
	assert_int_equal(grt_busy_sum(&b), 300000 + 700);
	assert_int_equal(b.cut, 0);
	assert_int_equal(grt_busy_add(&b, 10 * (i - 50000) + 5, 10 * i), 0);
	sum = grt_busy_sum(&b);
	assert_int_equal(b.cut, 1);
	assert_true(sum <= 150003 + 499995 && sum >= 150003 + 499995 - 499995 / 32);
	/* over all there is: exact again */
	assert_int_equal(grt_busy_add(&b, 0, 10 * i), 0);
	assert_int_equal(grt_busy_sum(&b), 10 * i);
	grt_busy_free(&b);
}

/* As a training step and its copies: each long interval comes behind the many that lie in it. */
static void long_intervals_over_many_short_ones_count(void **state)
{
	struct grt_busy b = {.used = 0};
	uint64_t t = 0, begin = 0;

	(void)state;
	for (unsigned int step = 1; step <= 20; step++) {
		for (unsigned int i = 0; i < 3000; i++, t += 1000)
			assert_int_equal(grt_busy_add(&b, t, t + 50), 0);
		/* idle for a tenth, but for the copies in it */
		assert_int_equal(grt_busy_add(&b, begin + 300000, t), 0);
		begin = t;
		assert_true(grt_busy_sum(&b) <= step * (2700000 + 15000));
		assert_true(grt_busy_sum(&b) >= step * (2700000 + 15000) / 100 * 98);
	}
	grt_busy_free(&b);
}

static void a_union_in_parts_is_a_lower_bound(void **state)
{
	static bool bit[80 * BITMAP];
	uint64_t from, to, want, cuts = 0;

	(void)state;
	for (unsigned int round = 0; round < 20; round++) {
		struct grt_busy b = {.used = 0};

		memset(bit, 0, sizeof(bit));
		for (unsigned int i = 0; i < 36000; i++) {
			from = 48000 + i * 12 + next_random() % 8;
			to = from + next_random() % 6;
			if (round && next_random() % (200 * round) == 0)
				from -= next_random() % 48000;
			if (round % 3 == 1 && next_random() % 100 == 0) {
				from -= next_random() % from;
				to = from + next_random() % 900;
			}
			assert_int_equal(grt_busy_add(&b, from, to), 0);
			for (uint64_t t = from; t < to; t++)
				bit[t] = true;
		}
		want = 0;
		for (unsigned int t = 0; t < sizeof(bit); t++)
			want += bit[t];
		assert_true(grt_busy_sum(&b) <= want);
		assert_true(b.cut || grt_busy_sum(&b) == want);
		if (round % 3 != 1)
			assert_true(grt_busy_sum(&b) >= want - want / 32);
		cuts += b.cut;
		for (uint32_t i = 0; i < b.used; i++) {
			assert_true(b.part[i].from < b.part[i].to);
			assert_true(b.part[i].idle <= b.part[i].to - b.part[i].from);
			assert_true(!i || b.part[i - 1].to <= b.part[i].from);
		}
		assert_int_equal(b.last->idle, 0);
		grt_busy_free(&b);
	}
	assert_true(cuts);
}

/* Against sorted arrays: values of two histograms in turn, whose last counter is settled before they are
 * read. */
static void late_counters_are_counted(void **state)
{
	enum { N = 1000 };
	static uint64_t all[2][N];
	struct grt_hist h[2] = {0};
	struct grt_hist_late late = {0};
	uint32_t budget = 100;
	uint64_t value;

	for (unsigned int i = 0; i < 2 * N; i++) {
		all[i % 2][i / 2] = next_random() % 1000;
		grt_hist_add_late(&h[i % 2], all[i % 2][i / 2], GRT_WEIGHT_ONE, false, &budget, &late);
	}
	grt_hist_settle(&late);
	grt_hist_settle(&late);
	for (unsigned int k = 0; k < 2; k++) {
		qsort(all[k], N, sizeof(all[k][0]), compare);
		for (unsigned int permille = 1; permille <= 1000; permille++) {
			assert_true(grt_hist_percentile(&h[k], permille, &value));
			assert_int_equal(value, true_percentile(all[k], N, permille));
		}
		assert_int_equal(h[k].weight, N * GRT_WEIGHT_ONE);
		grt_hist_free(&h[k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(error_is_bounded_in_every_octave),
		cmocka_unit_test(one_value_is_exact),
		cmocka_unit_test(extremes_do_not_overflow),
		cmocka_unit_test(weights_count),
		cmocka_unit_test(late_counters_are_counted),
		cmocka_unit_test(weight_of_a_sample),
		cmocka_unit_test(no_memory_gives_no_percentile),
		cmocka_unit_test(touching_intervals_are_one),
		cmocka_unit_test(union_equals_a_bitmap),
		cmocka_unit_test(late_intervals_among_thousands_are_exact),
		cmocka_unit_test(memory_of_intervals_is_bounded),
		cmocka_unit_test(long_intervals_over_many_short_ones_count),
		cmocka_unit_test(a_union_in_parts_is_a_lower_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
