// SPDX-License-Identifier: GPL-2.0
/* The union of stretches beside a map of time, of one byte for each ns. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "jobs/timeline.h"

#define SPAN 400U
#define ADDED 60U

/* struct map - @covered: by time; @from, @to: by the number of a stretch, which is its job's seqno */
struct map {
	uint8_t covered[SPAN];
	uint64_t from[ADDED];
	uint64_t to[ADDED];
};

static void add(struct grt_stretches *s, struct map *m, uint32_t number, uint64_t from, uint64_t to)
{
	const struct grt_stretch new = {from, to, {.seqno = number}, {.seqno = number}};

	assert_int_equal(grt_stretches_add(s, &new), 0);
	memset(m->covered + from, 1, to - from);
	m->from[number] = from;
	m->to[number] = to;
}

/* Each run of the map is a stretch, whose jobs are one that began and one that ended with it. */
static void compare(const struct grt_stretches *s, const struct map *m)
{
	uint32_t n = 0;

	for (uint64_t time = 0; time < SPAN; time++) {
		const struct grt_stretch *st = &s->kept[n];

		/* the first that ends after it */
		assert_int_equal(grt_stretches_at(s, time), n);
		if (!m->covered[time])
			continue;
		assert_true(n < s->used);
		assert_true(st->from <= time && time < st->to);
		if (st->from == time)
			assert_int_equal(m->from[st->first.seqno], time);
		if (st->to > time + 1)
			continue;
		assert_false(m->covered[time + 1]);
		assert_int_equal(m->to[st->last.seqno], time + 1);
		n++;
	}
	assert_int_equal(s->used, n);
}

static void random_order(void **state)
{
	srand(1);
	for (int round = 0; round < 50; round++) {
		struct grt_stretches s = {.used = 0};
		struct map m = {.covered = {0}};

		for (uint32_t i = 0; i < ADDED; i++) {
			uint64_t from = (uint64_t)rand() % (SPAN - 10);

			add(&s, &m, i, from, from + 1 + (uint64_t)rand() % 9);
			compare(&s, &m);
		}
		grt_stretches_free(&s);
	}
}

/* In the order of time: each begins in the last one, at its end, or behind it. */
static void in_order(void **state)
{
	srand(2);
	for (int round = 0; round < 50; round++) {
		struct grt_stretches s = {.used = 0};
		struct map m = {.covered = {0}};
		uint64_t from = 0;

		for (uint32_t i = 0; i < ADDED; i++) {
			add(&s, &m, i, from, from + 1 + (uint64_t)rand() % 6);
			compare(&s, &m);
			from += (uint64_t)rand() % 6;
		}
		grt_stretches_free(&s);
	}
}

/* A stretch of pairs has the two jobs of the interval that began it. */
static void pairs(void **state)
{
	struct grt_stretches s = {.pairs = true};

	assert_int_equal(grt_stretches_add(&s, &(struct grt_stretch){5, 7, {.seqno = 1}, {.seqno = 2}}), 0);
	assert_int_equal(grt_stretches_add(&s, &(struct grt_stretch){7, 9, {.seqno = 3}, {.seqno = 4}}), 0);
	assert_int_equal(s.used, 1);
	assert_int_equal(s.kept[0].first.seqno, 1);
	assert_int_equal(s.kept[0].last.seqno, 2);
	assert_int_equal(grt_stretches_add(&s, &(struct grt_stretch){4, 6, {.seqno = 5}, {.seqno = 6}}), 0);
	assert_int_equal(s.kept[0].first.seqno, 5);
	assert_int_equal(s.kept[0].last.seqno, 6);
	assert_int_equal(s.kept[0].to, 9);
	grt_stretches_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_order),
		cmocka_unit_test(in_order),
		cmocka_unit_test(pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
