// SPDX-License-Identifier: GPL-2.0
/*
 * Waits by who ended them: rows, and what was behind a wait, to the nanosecond: the
 * waker's own life, that of who kept it, what is not known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "threads/wakers.h"

#define PUT(w, NAME, record, when, thread, ...)                           \
	do {                                                              \
		struct grt_ev_##record ev = {.e = {.time = (when),        \
						   .type = GRT_EV_##NAME, \
						   .size = sizeof(ev),    \
						   .pid = 7,              \
						   .tid = (thread)},      \
					     ##__VA_ARGS__};              \
		assert_int_equal(grt_wakers_event(w, &ev.e), 0);          \
	} while (0)
#define MADE(w, when, tid) PUT(w, THREAD, thread, when, tid, .what = GRT_THREAD_MADE)
#define ASLEEP(w, tid, from, until, to, n, why, ...)                                                 \
	PUT(w, ASLEEP, asleep, to, tid, .start = (from), .woken = (until), .number = (n), .over = 1, \
	    .state = 1, .reason = GRT_THREAD_##why, ##__VA_ARGS__)
#define BY(thread) .by = GRT_WAKER_THREAD, .waker = (thread), .waker_pid = 7
#define FENCE .by = GRT_WAKER_KERNEL, .cause = GRT_WAKE_FENCE, .waker = 99, .waker_pid = 99

static const struct grt_waker_row *row_of(const struct grt_wakers *w, uint32_t tid, uint32_t waker)
{
	for (const struct grt_waker_row *r = grt_keyed_oldest(&w->rows); r; r = grt_keyed_next(&w->rows, r))
		if (r->tid == tid && r->waker == waker)
			return r;
	return NULL;
}

static void has(const struct grt_wakers *w, uint32_t tid, uint32_t waker, const uint64_t *behind)
{
	const struct grt_waker_row *r = row_of(w, tid, waker);
	uint64_t sum = 0;

	assert_non_null(r);
	for (unsigned int i = 0; i < GRT_THREAD_STATES; i++) {
		assert_int_equal(r->behind[i], behind[i]);
		sum += r->behind[i];
	}
	assert_int_equal(sum, r->ns);
}

#define HAS(w, tid, waker, ...) has(w, tid, waker, (const uint64_t[GRT_THREAD_STATES]){__VA_ARGS__})

/* 1 waits for 2, which waits for the GPU; 3 waits for 1. */
static void chain(void **state)
{
	struct grt_wakers w;

	(void)state;
	grt_wakers_init(&w);
	MADE(&w, 0, 1);
	MADE(&w, 0, 2);
	MADE(&w, 0, 3);
	ASLEEP(&w, 2, 100, 400, 450, 1, GPU, FENCE);
	ASLEEP(&w, 1, 200, 500, 520, 1, LOCK, BY(2));
	ASLEEP(&w, 3, 50, 600, 610, 1, IO, BY(1));
	HAS(&w, 2, 0, [GRT_THREAD_GPU] = 300);
	HAS(&w, 1, 2, [GRT_THREAD_GPU] = 200, [GRT_THREAD_RUNNABLE] = 50, [GRT_THREAD_RUNNING] = 50);
	/* 50 to 200 and 520 to 600 thread 1 ran */
	HAS(&w, 3,
	    1, [GRT_THREAD_GPU] = 200, [GRT_THREAD_RUNNABLE] = 50 + 20, [GRT_THREAD_RUNNING] = 150 + 50 + 80);
	grt_wakers_free(&w);
}

/* Workers of the kernel that signal fences are one row; other threads are rows of their own. */
static void rows(void **state)
{
	const struct grt_waker_row *r;
	struct grt_wakers w;

	(void)state;
	grt_wakers_init(&w);
	ASLEEP(&w, 1, 10, 20, 21, 1, GPU, FENCE);
	ASLEEP(&w, 1, 30, 50, 51, 2, GPU, .by = GRT_WAKER_KERNEL, .cause = GRT_WAKE_FENCE, .waker = 98);
	ASLEEP(&w, 1, 60, 61, 62, 3, IO, .by = GRT_WAKER_KERNEL, .waker = 97, .waker_pid = 97);
	ASLEEP(&w, 1, 70, 0, 90, 4, IO);
	assert_int_equal(w.rows.used, 3);
	r = row_of(&w, 1, 97);
	assert_non_null(r);
	assert_int_equal(r->waits, 1);
	r = grt_keyed_oldest(&w.rows);
	assert_int_equal(r->waits, 2);
	assert_int_equal(r->ns, 30);
	assert_int_equal(r->max, 20);
	assert_string_equal(grt_waker_name(r->by), "kernel");
	assert_string_equal(grt_wake_cause_name(r->cause), "fence");
	grt_wakers_free(&w);
}

/* The waker came late, is not followed, has records that are missing, or has another process's number. */
static void unknown(void **state)
{
	struct grt_wakers w;

	(void)state;
	grt_wakers_init(&w);
	MADE(&w, 0, 1);
	MADE(&w, 150, 2);
	ASLEEP(&w, 1, 100, 200, 210, 1, LOCK, BY(2));
	HAS(&w, 1, 2, [GRT_THREAD_UNKNOWN] = 50, [GRT_THREAD_RUNNING] = 50);
	ASLEEP(&w, 1, 300, 400, 410, 2, LOCK, BY(3));
	HAS(&w, 1, 3, [GRT_THREAD_UNKNOWN] = 100);
	ASLEEP(&w, 1, 500, 600, 610, 3, IO, BY(4));
	HAS(&w, 1, 4, [GRT_THREAD_IO] = 100);
	ASLEEP(&w, 2, 700, 710, 710, 1, SLEEP);
	ASLEEP(&w, 2, 800, 810, 810, 3, SLEEP);
	ASLEEP(&w, 1, 690, 850, 860, 4, CHILD, BY(2));
	assert_int_equal(row_of(&w, 1, 2)->behind[GRT_THREAD_UNKNOWN], 50);
	for (const struct grt_waker_row *r = grt_keyed_oldest(&w.rows); r; r = grt_keyed_next(&w.rows, r))
		if (r->state == GRT_THREAD_CHILD) {
			assert_int_equal(r->behind[GRT_THREAD_UNKNOWN], 110);
			assert_int_equal(r->behind[GRT_THREAD_SLEEP], 10);
			assert_int_equal(r->behind[GRT_THREAD_RUNNING], 40);
		}
	PUT(&w, ASLEEP, asleep, 1000, 1, .start = 900, .woken = 990, .number = 5, .reason = GRT_THREAD_LOCK,
	    .by = GRT_WAKER_THREAD, .waker = 2, .waker_pid = 8);
	for (const struct grt_waker_row *r = grt_keyed_oldest(&w.rows); r; r = grt_keyed_next(&w.rows, r))
		if (r->waker_pid == 8)
			assert_int_equal(r->behind[GRT_THREAD_UNKNOWN], 90);
	grt_wakers_free(&w);
}

/* Threads that wait for each other in a ring, more sleeps than are remembered, and what is before --from. */
static void bounds(void **state)
{
	const struct grt_waker_row *r;
	struct grt_wakers w;
	uint64_t t = 1000;

	(void)state;
	grt_wakers_init(&w);
	MADE(&w, 0, 1);
	MADE(&w, 0, 2);
	for (uint64_t i = 1; i <= 100; i++, t += 20)
		ASLEEP(&w, 2, t, t + 10, t + 10, i, SLEEP);
	ASLEEP(&w, 1, 1000, t, t + 1, 1, LOCK, BY(2));
	/* 64 of the 100 are remembered, and the 36th ended at 1710 */
	HAS(&w, 1, 2, [GRT_THREAD_UNKNOWN] = 710, [GRT_THREAD_SLEEP] = 640, [GRT_THREAD_RUNNING] = 650);
	ASLEEP(&w, 2, t + 2, t + 50, t + 50, 101, LOCK, BY(1));
	ASLEEP(&w, 1, t + 10, t + 60, t + 60, 2, LOCK, BY(2));
	grt_wakers_free(&w);
	grt_wakers_init(&w);
	w.from = 150;
	ASLEEP(&w, 1, 100, 120, 130, 1, SLEEP);
	ASLEEP(&w, 1, 140, 180, 190, 2, SLEEP);
	r = grt_keyed_oldest(&w.rows);
	assert_int_equal(w.rows.used, 1);
	assert_int_equal(r->ns, 30);
	grt_wakers_free(&w);
}

/* Records of older programs say what a thread waited for, and not who ended it. */
static void older(void **state)
{
	const struct grt_waker_row *r;
	struct grt_wakers w;

	(void)state;
	grt_wakers_init(&w);
	PUT(&w, OFF_CPU, off_cpu, 100, 1, .start = 10, .woken = 90, .number = 1, .reason = GRT_THREAD_LOCK);
	PUT(&w, OFF_CPU, off_cpu, 200, 1, .start = 110, .number = 2, .reason = GRT_THREAD_RUNNABLE);
	r = grt_keyed_oldest(&w.rows);
	assert_int_equal(w.rows.used, 1);
	assert_int_equal(r->ns, 80);
	assert_int_equal(r->behind[GRT_THREAD_LOCK], 80);
	assert_null(grt_waker_name(r->by));
	grt_wakers_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chain),  cmocka_unit_test(rows),  cmocka_unit_test(unknown),
		cmocka_unit_test(bounds), cmocka_unit_test(older),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
