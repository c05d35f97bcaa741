// SPDX-License-Identifier: GPL-2.0
/*
 * Work of known shares that is watched in windows at random: its totals and shares lie in the intervals as
 * often as these say, whatever the rhythm of the work is. The truth is what the work itself adds up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stack/estimates.h"
#include "trace/duty.h"

#define MS 1000000ULL
#define RUNS 400
#define KINDS 6

/** struct kind - kernels: one is launched each @every ns on average */
static const struct {
	const char *name;
	uint64_t ns;
	uint64_t every;
} kinds[KINDS] = {
	{"many short ones", 4000, 20000},   {"some", 30000, 200000},
	{"few long ones", 9 * MS, 40 * MS}, {"longer than a window", 60 * MS, 500 * MS},
	{"in phases", 20000, 100000},	    {"in a rhythm", 3 * MS, 97 * MS},
};

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
	uint64_t x = random_state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return (x ^ x >> 31) % n;
}

/* Mostly the same, with some noise; in phases: in each second, for a third of it; in a rhythm: exactly. */
static uint64_t next_launch(unsigned int kind, uint64_t now)
{
	uint64_t every = kinds[kind].every, next = now + every / 2 + random_below(every);

	if (kind == 5)
		return now + every;
	if (kind == 4 && next % 1000000000 > 333333333)
		return next - next % 1000000000 + 1000000000;
	return next;
}

/* All launches, which are the same in each run: what differs is where the windows are. */
static uint64_t *launch[KINDS];
static size_t launches[KINDS];

static void make_launches(uint64_t epoch, uint64_t length)
{
	random_state = 1;
	for (unsigned int k = 0; k < KINDS; k++) {
		launch[k] = malloc((size_t)(2 * length / kinds[k].every + 2) * sizeof(**launch));
		assert_non_null(launch[k]);
		launches[k] = 0;
		for (uint64_t t = next_launch(k, epoch); t < epoch + length; t = next_launch(k, t))
			launch[k][launches[k]++] = t;
	}
}

/* How many are before a moment. */
static size_t before(unsigned int k, uint64_t moment)
{
	size_t low = 0, high = launches[k];

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (launch[k][mid] < moment)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct run {
	struct grt_watch watch;
	struct grt_estimate_sums kind[KINDS], all;
};

static void watch(struct run *r, const struct grt_duty *d, uint64_t length)
{
	struct grt_ev_capture e = {.parts = (uint32_t)d->parts};

	r->watch.first = d->epoch;
	for (uint64_t period = 0; period < length / d->window / d->parts; period++) {
		e.number = (uint32_t)period + 1;
		e.begin = grt_duty_begin(d, period);
		e.end = 0;
		assert_int_equal(grt_watch_take(&r->watch, &e), 0);
		e.end = e.begin + d->window;
		assert_int_equal(grt_watch_take(&r->watch, &e), 0);
		assert_int_equal(grt_estimate_add(&r->all, e.number, 0, 0), 0);
		for (unsigned int k = 0; k < KINDS; k++) {
			size_t n = before(k, e.end) - before(k, e.begin);

			if (!n)
				continue;
			assert_int_equal(grt_estimate_add(&r->kind[k], e.number, n * kinds[k].ns, n), 0);
			assert_int_equal(grt_estimate_add(&r->all, e.number, n * kinds[k].ns, n), 0);
		}
	}
	r->watch.last = d->epoch + length;
}

struct hits {
	unsigned int total, totals, share, shares;
	double bias;
};

static void run(struct hits *hits, uint64_t seed, uint64_t parts)
{
	const struct grt_duty d = {parts, 20 * MS, seed * 7919, 1000 * MS};
	/* 60 windows */
	uint64_t length = 60 * parts * d.window;
	struct run r = {.all = {.cell = NULL}};
	double sum = 0, truth;

	watch(&r, &d, length);
	for (unsigned int k = 0; k < KINDS; k++)
		sum += (double)(launches[k] * kinds[k].ns);
	for (unsigned int k = 0; k < KINDS; k++) {
		struct grt_estimate t = grt_estimate_total(&r.watch, &r.kind[k], 0, UINT64_MAX);
		struct grt_estimate s = grt_estimate_share(&r.kind[k], &r.all);
		double share;

		truth = (double)(launches[k] * kinds[k].ns);
		share = 100000 * truth / sum;
		hits[k].bias += (double)t.value / truth / RUNS;
		hits[k].totals += t.interval;
		hits[k].shares += s.interval;
		hits[k].total += t.interval && (double)t.low <= truth && truth <= (double)t.high;
		/* they are rounded to 1/1000 of a percent */
		hits[k].share += s.interval && (double)s.low - 1 <= share && share <= (double)s.high + 1;
		grt_estimate_free(&r.kind[k]);
	}
	grt_estimate_free(&r.all);
	grt_watch_free(&r.watch);
}

static void intervals(void **state)
{
	static const uint64_t parts[] = {10, 100};
	unsigned int in = 0, all = 0, total = 0, totals = 0;

	(void)state;
	for (unsigned int p = 0; p < 2; p++) {
		struct hits hits[KINDS] = {{0}};

		make_launches(1000 * MS, 60 * parts[p] * 20 * MS);
		for (uint64_t seed = 1; seed <= RUNS; seed++)
			run(hits, seed, parts[p]);
		for (unsigned int k = 0; k < KINDS; k++) {
			print_message("1 of %u, %s: share in %u of %u, total in %u of %u, bias %.3f\n",
				      (unsigned int)parts[p], kinds[k].name, hits[k].share, hits[k].shares,
				      hits[k].total, hits[k].totals, hits[k].bias);
			in += hits[k].share;
			all += hits[k].shares;
			total += hits[k].total;
			totals += hits[k].totals;
			free(launch[k]);
		}
	}
	print_message("shares in %u of %u, totals in %u of %u\n", in, all, total, totals);
	assert_true(all > 8 * RUNS && in * 100 >= all * 93);
	assert_true(totals > 8 * RUNS && total * 100 >= totals * 93);
}

/* Two windows of 10 and 10, with 4 and 6 in them, of 100: by hand. */
static void by_hand(void **state)
{
	struct grt_watch w = {.first = 1000, .last = 2000};
	struct grt_estimate_sums s = {.cell = NULL};
	struct grt_estimate e;
	uint64_t of;
	uint32_t n;

	(void)state;
	for (uint32_t i = 0; i < 10; i++) {
		struct grt_ev_capture c = {.number = 10 - i, .parts = 10, .begin = 1000 + 100 * (9 - i)};

		c.end = c.begin + 10;
		assert_int_equal(grt_watch_take(&w, &c), 0);
	}
	assert_int_equal(grt_estimate_watched(&w, 0, UINT64_MAX, &of, &n), 100);
	assert_int_equal(of, 1000);
	assert_int_equal(n, 10);
	/* 4 and 6 in turns: the mean is 5, s^2 is 10/9, f is 0.1: 0.975 of t with 9 is 2.26216 */
	for (uint32_t i = 1; i <= 10; i++)
		assert_int_equal(grt_estimate_add(&s, i, i % 2 ? 4 : 6, 1), 0);
	e = grt_estimate_total(&w, &s, 0, UINT64_MAX);
	assert_true(e.known && e.interval);
	assert_int_equal(e.value, 500);
	assert_int_equal(e.works, 100);
	/* 1000 / 10 * 2.26216 * sqrt(0.9 * 10/9 / 10) = 71.54 */
	assert_int_equal(e.low, 428);
	assert_int_equal(e.high, 572);
	/* without the last: nine are too few */
	e = grt_estimate_total(&w, &s, 0, 1905);
	assert_true(e.known && !e.interval);
	assert_true(fabs(grt_estimate_t(9) - 2.26216) < 0.001 && fabs(grt_estimate_t(59) - 2.00100) < 0.0001);
	assert_int_equal(grt_estimate_window(&w, 1055, 0, UINT64_MAX), 1);
	assert_int_equal(grt_estimate_window(&w, 999, 0, UINT64_MAX), 0);
	grt_estimate_free(&s);
	grt_watch_free(&w);
}

/* Each part of a period is chosen as often, and windows of one period never touch another's. */
static void places(void **state)
{
	const struct grt_duty d = {20, 5, 99, 1000};
	unsigned int count[20] = {0}, most = 0, least = UINT32_MAX;

	(void)state;
	for (uint64_t period = 0; period < 20000; period++) {
		uint64_t begin = grt_duty_begin(&d, period);

		assert_int_equal(grt_duty_period(&d, begin), period);
		assert_int_equal(grt_duty_period(&d, begin + d.window - 1), period);
		count[(begin - d.epoch) / d.window % d.parts]++;
	}
	for (unsigned int i = 0; i < 20; i++) {
		most = count[i] > most ? count[i] : most;
		least = count[i] < least ? count[i] : least;
	}
	/* 1000 each, +- 4 of 31 */
	assert_true(least > 870 && most < 1130);
}

/* Of eight windows three were over before they could begin. What is before the first one, or cut, is not. */
static void missed(void **state)
{
	static const uint32_t number[] = {3, 4, 7, 9, 10};
	struct grt_watch w = {.first = 1000, .last = 2200};

	(void)state;
	assert_int_equal(grt_estimate_missed(&w, 0, UINT64_MAX), 0);
	for (unsigned int i = 0; i < 5; i++) {
		struct grt_ev_capture c = {.number = number[i], .parts = 10, .begin = 1000 + 100 * number[i]};

		c.end = c.begin + 10;
		assert_int_equal(grt_watch_take(&w, &c), 0);
	}
	assert_int_equal(grt_estimate_missed(&w, 0, UINT64_MAX), 3);
	assert_int_equal(grt_estimate_look(&w, 0, UINT64_MAX).missed, 3);
	assert_int_equal(grt_estimate_missed(&w, 0, 1905), 2);
	assert_int_equal(grt_estimate_missed(&w, 1400, 1710), 2);
	assert_int_equal(grt_estimate_missed(&w, 1401, 1710), 0);
	grt_watch_free(&w);
}

/* A window that was cut off by the end of its process, and all time from there on, counts for nothing. */
static void unended(void **state)
{
	struct grt_watch w = {.first = 1000, .last = 2000};
	struct grt_ev_capture c = {.number = 1, .parts = 10, .begin = 1010, .end = 1020};
	uint64_t of;
	uint32_t n;

	(void)state;
	assert_int_equal(grt_watch_take(&w, &c), 0);
	c = (struct grt_ev_capture){.number = 2, .parts = 10, .begin = 1150};
	assert_int_equal(grt_watch_take(&w, &c), 0);
	assert_int_equal(grt_estimate_watched(&w, 0, UINT64_MAX, &of, &n), 10);
	assert_int_equal(of, 150);
	assert_int_equal(grt_estimate_window(&w, 1160, 0, UINT64_MAX), 0);
	grt_watch_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(places),
		cmocka_unit_test(missed),
		cmocka_unit_test(unended),
		cmocka_unit_test(intervals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
