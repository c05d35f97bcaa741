// SPDX-License-Identifier: GPL-2.0
/*
 * Self-test of max_events_per_sec in seconds one after another. Events come
 * through `emit`; those that pass are counted exactly.
 *
 *	make; sudo ./grtrace_rate_limit [PART OF A TITLE]
 */
#include <stdio.h>
#include <stdlib.h>

#include "real.h"
#include "suite.h"

#define SECOND 1000000000ULL

/* @n events at once, within @ns from @start; else the case says nothing. */
static bool burst(unsigned int n, uint64_t start, uint64_t ns)
{
	int err = kmod_emit("submit ctx=1 count=%u", n);

	if (err)
		TAP_FAIL("emit gives %d", err);
	else if (kmod_now() - start > ns)
		tap_skip("this machine is too slow: the burst took longer than the window");
	else
		return true;
	return false;
}

static bool start_with(const char *key, unsigned int limit)
{
	int err = kmod_config("%s=%u", key, limit);

	if (!err)
		err = kmod_write("control", "start");
	if (err)
		TAP_FAIL("%s=%u gives %d", key, limit, err);
	return !err;
}

static void one_window(void)
{
	struct capture c = {.data = NULL};
	struct grt_balance want = {.fate = {[GRT_FATE_DELIVERED] = 97, [GRT_FATE_RATE_LIMITED] = 5003 - 97}};

	CHECK_OK(start_with("rate_limit", 97));
	CHECK_OK(burst(5003, kmod_now(), SECOND * 9 / 10));
	CHECK_OK(capture_all(&c));
	CHECK_OK(counts_are(&c, &want));
	capture_free(&c);
}

/* Each window begins with its first event. */
static void three_windows(void)
{
	struct capture c = {.data = NULL};
	struct grt_balance want = {
		.fate = {[GRT_FATE_DELIVERED] = 31 * 3, [GRT_FATE_RATE_LIMITED] = 470 * 3}};
	unsigned int i;

	CHECK_OK(start_with("max_events_per_sec", 31));
	for (i = 0; i < 3; i++) {
		CHECK_OK(burst(501, kmod_now(), SECOND * 9 / 10));
		sleep_ms(1050);
	}
	CHECK_OK(capture_all(&c));
	CHECK_OK(counts_are(&c, &want));
	capture_free(&c);
}

static void below_the_limit(void)
{
	struct capture c = {.data = NULL};
	struct grt_balance want = {.fate = {[GRT_FATE_DELIVERED] = 503}};

	CHECK_OK(start_with("max_events_per_sec", 503));
	CHECK_OK(burst(503, kmod_now(), SECOND * 9 / 10));
	CHECK_OK(capture_all(&c));
	CHECK_OK(counts_are(&c, &want));
	capture_free(&c);
}

static void changed_while_running(void)
{
	struct capture c = {.data = NULL};
	struct grt_balance want = {
		.fate = {[GRT_FATE_DELIVERED] = 11 + 101 + 7, [GRT_FATE_RATE_LIMITED] = 90 + 94}};
	uint64_t start;

	CHECK_OK(start_with("max_events_per_sec", 11));
	start = kmod_now();
	CHECK_OK(burst(101, start, SECOND * 9 / 10));
	CHECK_EQ(kmod_config("max_events_per_sec=0"), 0);
	CHECK_OK(burst(101, start, SECOND * 9 / 10));
	CHECK_EQ(kmod_config("max_events_per_sec=7"), 0); /* a new limit begins a new window */
	CHECK_OK(burst(101, start, SECOND * 9 / 10));
	CHECK_OK(capture_all(&c));
	CHECK_OK(counts_are(&c, &want));
	capture_free(&c);
}

/* ------------------------------------------------- jobs of the software GPU */

#define REAL_LIMIT 311U

/*
 * A second begins with the first event that comes a second or more after the
 * last one began. In it all pass up to the limit, and the next one is not late.
 * Return: how many seconds there were, 0 after failing the case
 */
static unsigned int seconds_right(const struct grt_event *const *e, unsigned int n)
{
	unsigned int i, passed = 0, seconds = 0;
	uint64_t begin = 0;

	for (i = 0; i < n; i++) {
		if (i && e[i]->time - begin < SECOND) {
			if (++passed > REAL_LIMIT) {
				TAP_FAIL("more than %u events in second %u", REAL_LIMIT, seconds);
				return 0;
			}
			if (!real_none_refused(e[i - 1]->time, e[i]->time))
				return 0;
			continue;
		}
		if (i && (passed != REAL_LIMIT || !real_none_refused(begin + SECOND, e[i]->time))) {
			TAP_FAIL("%u events in second %u", passed, seconds);
			return 0;
		}
		begin = e[i]->time;
		passed = 1;
		seconds++;
	}
	return seconds;
}

/* Five jobs every 10 ms for 2.5 s. */
static void real_jobs(void)
{
	struct grt_balance want = {.emitted = 0};
	struct capture c = {.data = NULL};
	const struct grt_event **e;
	unsigned int n, seconds;

	CHECK_OK(real_here());
	CHECK_OK(start_with("rate_limit", REAL_LIMIT));
	real_mix(1250, 200000);
	CHECK_OK(real_play(5, 10000));
	CHECK_OK(real_over());
	CHECK_OK(capture_all(&c));
	CHECK_OK(real_join(&c));
	e = real_records(&c, &n);
	CHECK_EQ(n, real_delivered());
	CHECK(n >= 2 * REAL_LIMIT);
	seconds = seconds_right(e, n);
	CHECK(seconds >= 3);
	want.fate[GRT_FATE_DELIVERED] = n;
	want.fate[GRT_FATE_RATE_LIMITED] = real_steps() - n;
	CHECK_OK(counts_are(&c, &want));
	tap_note("%u of %llu events in %u seconds", n, (unsigned long long)real_steps(), seconds);
	free(e);
	capture_free(&c);
}

static const struct tap_case cases[] = {
	{"exactly the limit of a burst passes, the rest is rate_limited", one_window},
	{"as many again in each second", three_windows},
	{"nothing is refused up to the limit", below_the_limit},
	{"a changed limit holds at once", changed_while_running},
	{"real jobs: the first of each second pass, no other, and none is unaccounted for", real_jobs},
};

int main(int argc, char **argv)
{
	return suite_main("grtrace_rate_limit", NULL, cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
