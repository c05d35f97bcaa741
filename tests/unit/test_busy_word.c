// SPDX-License-Identifier: GPL-2.0
/*
 * The module's arithmetic for busy rings (kernel/stages/busy.h) against a union
 * of intervals that is counted out, for jobs in any overlap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernel/stages/busy.h"

#define TICKS 4000
#define JOBS 60
/* Far enough that numbers wrap while a test runs. */
#define EPOCH ((1ULL << 49) - TICKS / 2)

struct job {
	uint64_t commit;
	uint64_t start;
	uint64_t end;
};

static uint32_t seed = 1;

static uint32_t draw(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

/* A job at three increasing ticks, none of which another job has: events have an order. */
static struct job make_job(bool *taken, unsigned int longest)
{
	uint64_t at[3] = {draw(TICKS - 3 * longest - 10)};
	struct job j;

	for (int i = 0; i < 3; i++) {
		if (i)
			at[i] = at[i - 1] + 1 + draw(longest);
		while (taken[at[i]])
			at[i]++;
		taken[at[i]] = true;
	}
	j = (struct job){at[0], at[1], at[2]};
	return j;
}

struct run {
	struct job job[JOBS];
	bool starts;
	bool busy[TICKS]; /* from this tick to the next */
};

static void make_run(struct run *r, unsigned int longest, bool starts)
{
	bool taken[2 * TICKS] = {false};

	memset(r, 0, sizeof(*r));
	r->starts = starts;
	for (int i = 0; i < JOBS; i++) {
		struct job *j = &r->job[i];

		*j = make_job(taken, longest);
		for (uint64_t t = starts ? j->start : j->commit; t < j->end; t++)
			r->busy[t] = true;
	}
}

static uint64_t happen(const struct run *r, uint64_t word, uint64_t tick)
{
	uint64_t now = EPOCH + tick;

	for (int i = 0; i < JOBS; i++) {
		const struct job *j = &r->job[i];

		if (j->commit == tick)
			word = busy_commit(word, now);
		if (j->start == tick && r->starts)
			word = busy_start(word, now);
		if (j->end == tick)
			word = busy_end(word, now, EPOCH + j->commit, r->starts ? EPOCH + j->start : 0, 0);
	}
	return word;
}

/* Compares every window of @window ticks, wherever its borders fall, from that on in which it shows what
 * begins jobs. */
static void compare(const struct run *r, unsigned int window)
{
	uint64_t word = 0, before = busy_at(0, EPOCH), now;
	unsigned int truth = 0;
	bool known = !r->starts || window == TICKS;

	for (uint64_t tick = 0; tick < TICKS; tick++) {
		word = happen(r, word, tick);
		truth += r->busy[tick];
		if ((tick + 1) % window)
			continue;
		now = busy_at(word, EPOCH + tick + 1);
		if (known)
			assert_int_equal(busy_between(before, now), truth);
		known |= !!(word & BUSY_STARTS);
		before = now;
		truth = 0;
	}
	assert_int_equal(word & BUSY_JOBS, 0);
}

static void union_in_windows(void **state)
{
	static const unsigned int longest[] = {3, 20, 300, 1200};
	static const unsigned int windows[] = {1, 7, 100, 1000};
	struct run r;

	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		for (int again = 0; again < 20; again++) {
			make_run(&r, longest[i], false);
			for (unsigned int w = 0; w < 4; w++)
				compare(&r, windows[w]);
		}
}

/* Over all, the first START takes back that the jobs before it were counted from their COMMIT. */
static void union_with_starts(void **state)
{
	static const unsigned int longest[] = {3, 20, 300, 1200};
	static const unsigned int windows[] = {1, 7, 100, TICKS};
	struct run r;

	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		for (int again = 0; again < 20; again++) {
			make_run(&r, longest[i], true);
			for (unsigned int w = 0; w < 4; w++)
				compare(&r, windows[w]);
		}
}

static void first_start_takes_back(void **state)
{
	uint64_t word = 0;

	(void)state;
	word = busy_commit(word, 100);
	word = busy_commit(word, 150);
	assert_int_equal(busy_at(word, 200), 100); /* until a START is seen */
	word = busy_start(word, 200);
	assert_int_equal(busy_at(word, 200), 0);
	word = busy_commit(word, 210);
	word = busy_end(word, 230, 100, 200, 0);
	assert_int_equal(busy_at(word, 300), 30);
	word = busy_start(word, 240);
	word = busy_end(word, 250, 150, 240, 230);
	assert_int_equal(busy_at(word, 300), 40);
}

static void later_start_takes_nothing_back(void **state)
{
	uint64_t word = busy_commit(0, 100);

	(void)state;
	word = busy_end(word, 130, 100, 0, 0);
	word = busy_commit(word, 140);
	word = busy_start(word, 150);
	assert_int_equal(busy_at(word, 150), 40);
	word = busy_end(word, 160, 140, 150, 130);
	assert_int_equal(busy_at(word, 200), 50);
}

static void no_start_among_starts(void **state)
{
	uint64_t word = busy_start(0, 100);

	(void)state;
	word = busy_commit(word, 105);
	word = busy_end(word, 110, 90, 100, 0);
	word = busy_end(word, 120, 105, 0, 110);
	assert_int_equal(busy_at(word, 500), 20); /* 100..110, 110..120 */
	word = busy_end(word, 130, 125, 0, 120);
	assert_int_equal(busy_at(word, 500), 25);
	word = busy_end(word, 140, 0, 0, 130); /* nothing but END is known of it */
	assert_int_equal(busy_at(word, 500), 25);
}

static void bounds(void **state)
{
	uint64_t word = 0;

	(void)state;
	assert_int_equal(busy_leave(0, 5), 0);
	for (int i = 0; i < 10000; i++)
		word = busy_enter(word, 1000);
	assert_int_equal(busy_at(word, 1500), 500);
	assert_int_equal(word & (BUSY_STARTS | BUSY_ENDED), 0);
	assert_int_equal(busy_between(10, 7), 0);
	assert_int_equal(busy_between(BUSY_NS, 1), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(union_in_windows),	  cmocka_unit_test(union_with_starts),
		cmocka_unit_test(first_start_takes_back), cmocka_unit_test(later_start_takes_nothing_back),
		cmocka_unit_test(no_start_among_starts),  cmocka_unit_test(bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
