// SPDX-License-Identifier: GPL-2.0
/*
 * Dependency waits: each rule with events made by hand and the ns that follow
 * from them, the bounds, and random sets of waits against a search through all
 * events. What is printed of them is not part of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "jobs/deps.h"

enum {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) type_##name = (id),
#include <grtrace/events.def>
#undef GRT_EVENT
};

#define EVENT(evt, stamp, context, seq, ...)                            \
	(&((struct grt_ev_##evt){.e.type = type_##evt,                  \
				 .e.size = sizeof(struct grt_ev_##evt), \
				 .e.time = (stamp),                     \
				 .e.ctx = (context),                    \
				 .e.seqno = (seq),                      \
				 ##__VA_ARGS__})                        \
		  .e)

#define GIVE(evt, stamp, context, seq, ...) grt_deps_event(d, EVENT(evt, stamp, context, seq, ##__VA_ARGS__))
/* Job (ctx, seq) meets fence (fctx, fseq). */
#define MEET(stamp, ctx, seq, fctx, fseq, ...) \
	GIVE(wait_dep, stamp, ctx, seq, .dep_ctx = (fctx), .dep_seqno = (fseq), ##__VA_ARGS__)

static struct grt_deps *begin(const struct grt_deps_limits *limits)
{
	struct grt_deps *d;

	assert_int_equal(grt_deps_new(&d, limits), 0);
	return d;
}

static uint64_t values(const struct grt_deps *d)
{
	return grt_weight_count(grt_deps_time(d)->weight);
}

static void until_the_signal(void **state)
{
	struct grt_deps *d = begin(NULL);

	(void)state;
	assert_int_equal(MEET(1000, 5, 1, 7, 9, .e.ring = 3, .e.device = 2), 0);
	assert_int_equal(grt_deps_count(d).open, 1);
	/* neighbours of the fence are others */
	assert_int_equal(GIVE(fence, 1100, 7, 8), 0);
	assert_int_equal(GIVE(complete, 1200, 6, 9), 0);
	assert_int_equal(GIVE(fence, 1500, 7, 9), 1);
	assert_int_equal(grt_deps_count(d).open, 0);
	assert_int_equal(grt_deps_count(d).ended, 1);
	assert_int_equal(grt_deps_time(d)->max, 500);
	assert_non_null(grt_deps_ring(d, 2, 3));
	assert_int_equal(grt_deps_ring(d, 2, 3)->time.max, 500);
	assert_null(grt_deps_ring(d, 3, 2));
	/* a second signal of the same fence ends nothing */
	assert_int_equal(GIVE(complete, 1600, 7, 9), 0);
	grt_deps_free(d);
}

static void a_job_as_fence(void **state)
{
	struct grt_deps *d = begin(NULL);

	(void)state;
	MEET(10, 5, 1, 6, 1);
	assert_int_equal(GIVE(complete, 250, 6, 1), 1);
	assert_int_equal(grt_deps_time(d)->max, 240);
	grt_deps_free(d);
}

static void a_job_in_one_record_as_fence(void **state)
{
	struct grt_deps *d = begin(NULL);

	(void)state;
	MEET(10, 5, 1, 6, 1);
	MEET(20, 5, 2, 6, 1);
	/* it goes on: nothing is signalled */
	assert_int_equal(GIVE(job, 200, 6, 1, .submit = 5, .e.ring = 3, .e.pid = 70), 0);
	assert_int_equal(grt_deps_context(d, 6)->ring, 3);
	assert_int_equal(grt_deps_context(d, 6)->pid, 70);
	assert_int_equal(GIVE(job, 300, 6, 1, .submit = 5, .complete = 250), 2);
	assert_int_equal(grt_deps_time(d)->max, 240);
	assert_int_equal(grt_deps_time(d)->min, 230);
	/* who meets it now need not wait */
	MEET(310, 5, 3, 6, 1);
	assert_int_equal(grt_deps_count(d).signalled, 1);
	grt_deps_free(d);
}

static void signalled_already(void **state)
{
	struct grt_deps *d = begin(NULL);

	(void)state;
	/* by its flag */
	MEET(10, 5, 1, 7, 1, .e.flags = GRT_FLAG_SIGNALLED);
	/* because the trace has its signal, before or at that moment */
	GIVE(fence, 20, 8, 1);
	MEET(30, 5, 1, 8, 1);
	MEET(20, 5, 2, 8, 1);
	assert_int_equal(grt_deps_count(d).met, 3);
	assert_int_equal(grt_deps_count(d).signalled, 3);
	assert_int_equal(grt_deps_count(d).open, 0);
	assert_int_equal(values(d), 3);
	assert_int_equal(grt_deps_time(d)->max, 0);
	grt_deps_free(d);
}

static void many_jobs_for_one_fence(void **state)
{
	struct grt_deps *d = begin(NULL);

	(void)state;
	for (uint64_t i = 0; i < 37; i++)
		MEET(100 + i, 5 + i % 3, i, 7, 9, .e.ring = (uint32_t)i % 2);
	/* one of the middle waits for another fence too */
	MEET(200, 5, 18, 7, 10);
	assert_int_equal(grt_deps_count(d).open, 38);
	assert_int_equal(GIVE(fence, 1100, 7, 9), 37);
	assert_int_equal(grt_deps_count(d).open, 1);
	assert_int_equal(grt_deps_time(d)->max, 1000);
	assert_int_equal(grt_deps_time(d)->min, 1000 - 36);
	assert_int_equal(grt_deps_ring(d, 0, 0)->met, 19 + 1);
	assert_int_equal(grt_deps_ring(d, 0, 1)->met, 18);
	assert_int_equal(GIVE(fence, 1200, 7, 10), 1);
	grt_deps_free(d);
}

static void met_again(void **state)
{
	struct grt_deps *d = begin(NULL);

	(void)state;
	MEET(100, 5, 1, 7, 9);
	MEET(150, 5, 1, 7, 9);
	assert_int_equal(grt_deps_count(d).met, 1);
	assert_int_equal(grt_deps_count(d).repeated, 1);
	assert_int_equal(GIVE(fence, 200, 7, 9), 1);
	assert_int_equal(grt_deps_time(d)->max, 100);
	grt_deps_free(d);
}

static void without_identity(void **state)
{
	struct grt_deps *d = begin(NULL);

	(void)state;
	MEET(100, 0, 1, 7, 9);
	MEET(100, 5, 1, 0, 9);
	assert_int_equal(GIVE(fence, 200, 7, 9), 0);
	assert_int_equal(GIVE(fence, 200, 0, 9), 0);
	assert_int_equal(values(d), 0);
	assert_int_equal(grt_deps_ring(d, 0, 0)->met, 2);
	assert_int_equal(grt_deps_ring(d, 0, 0)->cut, 2);
	grt_deps_free(d);
}

static void the_ring_of_the_context(void **state)
{
	struct grt_deps *d = begin(NULL);

	(void)state;
	GIVE(submit, 10, 5, 1, .e.ring = 4, .e.device = 1, .e.pid = 77, .e.tid = 78);
	/* knows less, and takes nothing away */
	GIVE(complete, 11, 5, 1, .e.ring = GRT_RING_NONE);
	MEET(20, 5, 2, 7, 9, .e.ring = GRT_RING_NONE);
	MEET(20, 6, 2, 7, 9, .e.ring = GRT_RING_NONE);
	assert_int_equal(grt_deps_ring(d, 1, 4)->met, 1);
	assert_int_equal(grt_deps_ring(d, 0, GRT_RING_NONE)->met, 1);
	assert_int_equal(grt_deps_context(d, 5)->pid, 77);
	assert_int_equal(grt_deps_context(d, 5)->tid, 78);
	assert_null(grt_deps_context(d, 6));
	assert_null(grt_deps_context(d, 0));
	grt_deps_free(d);
}

static void the_oldest_gives_way(void **state)
{
	const struct grt_deps_limits few = {.open = 4, .signalled = 2, .contexts = 2};
	struct grt_deps *d = begin(&few);

	(void)state;
	for (uint64_t i = 1; i <= 6; i++)
		MEET(100 * i, 5, i, 7, 1 + i % 2);
	assert_int_equal(grt_deps_count(d).open, 4);
	assert_int_equal(grt_deps_count(d).forgotten, 2);
	/* jobs 1 and 2 are gone, 3 and 5 wait for fence 2, 4 and 6 for fence 1 */
	assert_int_equal(GIVE(fence, 1000, 7, 2), 2);
	assert_int_equal(GIVE(fence, 1000, 7, 1), 2);
	assert_int_equal(grt_deps_time(d)->max, 700);
	assert_int_equal(grt_deps_ring(d, 0, 0)->cut, 2);
	/* of three signalled fences two are remembered */
	GIVE(fence, 1000, 7, 3);
	MEET(2000, 5, 7, 7, 3);
	MEET(2000, 5, 8, 7, 2);
	assert_int_equal(grt_deps_count(d).signalled, 1);
	for (uint64_t ctx = 10; ctx < 13; ctx++)
		GIVE(submit, 3000, ctx, 1, .e.pid = 9);
	assert_null(grt_deps_context(d, 10));
	assert_non_null(grt_deps_context(d, 12));
	grt_deps_free(d);
}

static void too_many_rings(void **state)
{
	struct grt_deps *d = begin(NULL);
	const struct grt_dep_ring *r = NULL;
	uint32_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < GRT_DEPS_RINGS_MAX + 5; i++)
		MEET(i, 5, i, 7, 9, .e.ring = i);
	while ((r = grt_deps_each(d, r)))
		assert_int_equal(r->ring, n++);
	assert_int_equal(n, GRT_DEPS_RINGS_MAX);
	assert_int_equal(grt_deps_count(d).over, 5);
	assert_int_equal(GIVE(fence, 5000, 7, 9), GRT_DEPS_RINGS_MAX + 5);
	assert_int_equal(values(d), GRT_DEPS_RINGS_MAX + 5);
	grt_deps_free(d);
}

/* Against a search: waits and signals in any order, few identities, so that they meet often. */

#define STEPS 4000

struct step {
	bool signal;
	uint64_t job, fence;
};

static bool waits_still(const struct step *s, size_t at, size_t now)
{
	for (size_t i = at + 1; i < now; i++)
		if (s[i].signal && s[i].fence == s[at].fence)
			return false;
	return true;
}

static bool was_signalled(const struct step *s, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (s[i].signal && s[i].fence == s[at].fence)
			return true;
	return false;
}

static bool is_repeated(const struct step *s, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (!s[i].signal && s[i].job == s[at].job && s[i].fence == s[at].fence &&
		    waits_still(s, i, at) && !was_signalled(s, i))
			return true;
	return false;
}

static void as_a_search_finds(void **state)
{
	struct grt_deps *d = begin(NULL);
	struct step *s = calloc(STEPS, sizeof(*s));
	uint64_t met = 0, zero = 0, ended = 0, sum = 0, got = 0;

	(void)state;
	assert_non_null(s);
	srandom(20261121);
	for (size_t i = 0; i < STEPS; i++)
		s[i] = (struct step){.signal = random() % 4 == 0,
				     .job = 1 + (uint64_t)random() % 9,
				     .fence = 1 + (uint64_t)random() % 600};
	for (size_t i = 0; i < STEPS; i++) {
		int r = s[i].signal ? GIVE(fence, 10 * (i + 1), 7, s[i].fence)
				    : MEET(10 * (i + 1), 5, s[i].job, 7, s[i].fence);

		assert_true(r >= 0);
		got += (uint64_t)r;
		if (s[i].signal || is_repeated(s, i))
			continue;
		met++;
		if (was_signalled(s, i)) {
			zero++;
			continue;
		}
		for (size_t k = i + 1; k < STEPS; k++) {
			if (!s[k].signal || s[k].fence != s[i].fence)
				continue;
			ended++;
			sum += 10 * (k - i);
			break;
		}
	}
	assert_int_equal(grt_deps_count(d).met, met);
	assert_int_equal(grt_deps_count(d).signalled, zero);
	assert_int_equal(grt_deps_count(d).ended, ended);
	assert_int_equal(got, ended);
	assert_int_equal(grt_deps_count(d).open, met - zero - ended);
	assert_int_equal(grt_hist_sum(grt_deps_time(d)), sum);
	assert_true(ended > 100 && zero > 100);
	free(s);
	grt_deps_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(until_the_signal),
		cmocka_unit_test(a_job_as_fence),
		cmocka_unit_test(a_job_in_one_record_as_fence),
		cmocka_unit_test(signalled_already),
		cmocka_unit_test(many_jobs_for_one_fence),
		cmocka_unit_test(met_again),
		cmocka_unit_test(without_identity),
		cmocka_unit_test(the_ring_of_the_context),
		cmocka_unit_test(the_oldest_gives_way),
		cmocka_unit_test(too_many_rings),
		cmocka_unit_test(as_a_search_finds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
