// SPDX-License-Identifier: GPL-2.0
/*
 * Self-test of max_events_per_sec in the mode token_bucket. Tokens come in
 * slowly enough here that it is known how many have.
 *
 *	make; sudo ./grtrace_token_bucket [PART OF A TITLE]
 */
#include <stdio.h>
#include <stdlib.h>

#include "real.h"
#include "suite.h"

#define SECOND 1000000000ULL

static bool start_with(unsigned int limit, unsigned int burst)
{
	int err = kmod_config("rate_limit_mode=token_bucket");

	if (!err)
		err = kmod_config("rate_limit_burst=%u", burst);
	if (!err)
		err = kmod_config("rate_limit=%u", limit);
	if (!err)
		err = kmod_write("control", "start");
	if (err)
		TAP_FAIL("token_bucket with %u and %u gives %d", limit, burst, err);
	return !err;
}

static uint64_t passed(void)
{
	return kmod_balance("total").fate[GRT_FATE_DELIVERED] - kmod_delivered("name");
}

static void full_bucket(void)
{
	struct capture c = {.data = NULL};
	struct grt_balance want = {.fate = {[GRT_FATE_DELIVERED] = 97, [GRT_FATE_RATE_LIMITED] = 5003 - 97}};
	uint64_t start;

	CHECK_OK(start_with(1, 97));
	start = kmod_now();
	CHECK_EQ(kmod_emit("submit ctx=1 count=5003"), 0);
	if (kmod_now() - start > SECOND * 9 / 10) {
		tap_skip("this machine is too slow: a token came in meanwhile");
		return;
	}
	CHECK_OK(capture_all(&c));
	CHECK_OK(counts_are(&c, &want));
	capture_free(&c);
}

/* The burst empties the bucket at @from at the earliest and @to at the latest. */
static bool tokens_are(uint64_t n, uint64_t from, uint64_t to, uint64_t first, uint64_t last,
		       unsigned int limit)
{
	uint64_t least = (first - to) * limit / SECOND, most = (last - from) * limit / SECOND;

	/* A part of a token is worth nothing: the time of the burst itself may add one. */
	if (n >= least && n <= most + 1)
		return true;
	TAP_FAIL("%llu passed, not %llu to %llu", (unsigned long long)n, (unsigned long long)least,
		 (unsigned long long)most + 1);
	return false;
}

static void tokens_come_in(void)
{
	uint64_t from, to, first, before;

	CHECK_OK(start_with(100, 1000));
	from = kmod_now();
	CHECK_EQ(kmod_emit("submit ctx=1 count=5000"), 0);
	to = kmod_now();
	before = passed();
	CHECK(before >= 1000 && before <= 1000 + (to - from) * 100 / SECOND + 1);
	sleep_ms(105);
	first = kmod_now();
	CHECK_EQ(kmod_emit("submit ctx=1 count=5000"), 0);
	CHECK_OK(tokens_are(passed() - before, from, to, first, kmod_now(), 100));
}

static void no_more_than_full(void)
{
	struct capture c = {.data = NULL};
	struct grt_balance want = {.fate = {[GRT_FATE_DELIVERED] = 6, [GRT_FATE_RATE_LIMITED] = 44}};

	CHECK_OK(start_with(2, 3));
	CHECK_EQ(kmod_emit("submit ctx=1 count=25"), 0);
	sleep_ms(2600); /* five tokens, for three of which there is room */
	CHECK_EQ(kmod_emit("submit ctx=1 count=25"), 0);
	CHECK_OK(capture_all(&c));
	CHECK_OK(counts_are(&c, &want));
	capture_free(&c);
}

static void burst_by_default(void)
{
	struct capture c = {.data = NULL};
	struct grt_balance want = {.fate = {[GRT_FATE_DELIVERED] = 2, [GRT_FATE_RATE_LIMITED] = 499}};

	CHECK_OK(start_with(2, 0));
	CHECK_EQ(kmod_emit("submit ctx=1 count=501"), 0);
	CHECK_OK(capture_all(&c));
	CHECK_OK(counts_are(&c, &want));
	capture_free(&c);
}

/* More tokens a second than the clock has ns, and a bucket deeper than time goes. */
static void extremes(void)
{
	CHECK_OK(start_with(4294967295, 4294967295));
	CHECK_EQ(kmod_emit("submit ctx=1 count=5003"), 0);
	CHECK_EQ(passed(), 5003);
	CHECK_EQ(kmod_config("rate_limit=1"), 0);
	CHECK_EQ(kmod_emit("submit ctx=1 count=5003"), 0);
	CHECK_OK(balance_is(10006, GRT_FATE_RATE_LIMITED, 0));
}

/* ------------------------------------------------- jobs of the software GPU */

#define REAL_LIMIT 200U
#define REAL_BURST 53U
#define INTERVAL (SECOND / REAL_LIMIT)
#define DEPTH (REAL_BURST * INTERVAL)

/* @empty: when the bucket would have been empty; its tokens are the time since, up to its depth. */
static uint64_t no_fuller(uint64_t empty, uint64_t now)
{
	return now - empty > DEPTH && now > empty ? now - DEPTH : empty;
}

/* Each event that passed had a token, and no event came between a token and the one that took it. */
static bool tokens_right(const struct grt_event *const *e, unsigned int n)
{
	uint64_t empty = e[0]->time - DEPTH;
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (i &&
		    !real_none_refused(empty + INTERVAL > e[i - 1]->time ? empty + INTERVAL : e[i - 1]->time,
				       e[i]->time))
			return false;
		empty = no_fuller(empty, e[i]->time) + INTERVAL;
		if (empty > e[i]->time) {
			TAP_FAIL("event %u passed %llu ns before its token", i,
				 (unsigned long long)(empty - e[i]->time));
			return false;
		}
	}
	return true;
}

/* Five jobs every 4 ms for two seconds. */
static void real_jobs(void)
{
	struct grt_balance want = {.emitted = 0};
	struct capture c = {.data = NULL};
	const struct grt_event **e;
	unsigned int n;

	CHECK_OK(real_here());
	CHECK_OK(start_with(REAL_LIMIT, REAL_BURST));
	real_mix(2000, 200000);
	CHECK_OK(real_play(5, 4000));
	CHECK_OK(real_over());
	CHECK_OK(capture_all(&c));
	CHECK_OK(real_join(&c));
	e = real_records(&c, &n);
	CHECK_EQ(n, real_delivered());
	CHECK(n > 2 * REAL_BURST && n < real_steps());
	CHECK_OK(tokens_right(e, n));
	want.fate[GRT_FATE_DELIVERED] = n;
	want.fate[GRT_FATE_RATE_LIMITED] = real_steps() - n;
	CHECK_OK(counts_are(&c, &want));
	tap_note("%u of %llu events within %.3f s", n, (unsigned long long)real_steps(),
		 (e[n - 1]->time - e[0]->time) / 1e9);
	free(e);
	capture_free(&c);
}

static const struct tap_case cases[] = {
	{"a burst takes exactly what a full bucket holds", full_bucket},
	{"tokens come in at the limit's rate", tokens_come_in},
	{"a bucket left alone is full, not fuller", no_more_than_full},
	{"without rate_limit_burst it holds a second's tokens", burst_by_default},
	{"the largest rate and the largest bucket", extremes},
	{"real jobs: each event that passes has a token, and takes it at once", real_jobs},
};

int main(int argc, char **argv)
{
	return suite_main("grtrace_token_bucket", NULL, cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
