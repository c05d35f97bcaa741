// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The clocks. CUPTI's stamps are CLOCK_REALTIME unless it takes ours: then they
 * are converted by the snapshots around them, which are in the recording.
 */
#include "inject.h"

/* What a stamp may be older than now is 100 s: a snapshot every 100 ms. */
#define SNAPSHOTS 1024U

static struct grt_ev_clock snapshot[SNAPSHOTS];
static uint64_t snapshots;

uint64_t clock_monotonic(void)
{
	return now_ns(CLOCK_MONOTONIC);
}

/* The best of a few tries: REALTIME was read between the other two. */
static void take(struct grt_ev_clock *best)
{
	uint64_t before, after, real;
	int i;

	best->error = UINT64_MAX;
	for (i = 0; i < 5; i++) {
		before = now_ns(CLOCK_MONOTONIC);
		real = now_ns(CLOCK_REALTIME);
		after = now_ns(CLOCK_MONOTONIC);
		if (after - before >= best->error)
			continue;
		best->error = after - before;
		best->monotonic = before + (after - before) / 2;
		best->realtime = real;
	}
	best->boottime = now_ns(CLOCK_BOOTTIME);
}

void clock_snapshot(void)
{
	struct grt_ev_clock *c = &snapshot[snapshots % SNAPSHOTS];

	event_init(&c->e, GRT_EV_CLOCK, sizeof(*c), now_ns(CLOCK_MONOTONIC));
	take(c);
	snapshots++;
	define_clock(c);
}

/* The last snapshot that is not later than the stamp, or the oldest. */
static const struct grt_ev_clock *before(uint64_t stamp)
{
	uint64_t oldest = snapshots > SNAPSHOTS ? snapshots - SNAPSHOTS : 0, i = snapshots - 1;

	while (i > oldest && snapshot[i % SNAPSHOTS].realtime > stamp)
		i--;
	return &snapshot[i % SNAPSHOTS];
}

uint64_t clock_convert(uint64_t stamp)
{
	const struct grt_ev_clock *a, *b;
	int64_t ahead, real, mono;

	if (!inject.realtime || !stamp || !snapshots)
		return stamp;
	a = before(stamp);
	b = a == &snapshot[(snapshots - 1) % SNAPSHOTS] ? a : &snapshot[(a - snapshot + 1) % SNAPSHOTS];
	ahead = (int64_t)(stamp - a->realtime);
	real = (int64_t)(b->realtime - a->realtime);
	mono = (int64_t)(b->monotonic - a->monotonic);
	/* between two snapshots the clocks may run at slightly different rates */
	if (ahead > 0 && real > 0 && mono > 0)
		ahead = (int64_t)((__int128)ahead * mono / real);
	return a->monotonic + (uint64_t)ahead;
}
