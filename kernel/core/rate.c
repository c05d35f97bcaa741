// SPDX-License-Identifier: GPL-2.0
/*
 * max_events_per_sec: how many events of all CPUs together are delivered.
 *
 * Mode window counts from 0 again with the first event that comes a second or
 * more after the last beginning. Mode token_bucket keeps one number: the time at
 * which the bucket was, or would have been, empty; tokens are the time since
 * then (the generic cell rate algorithm), so that taking one is one cmpxchg.
 */
#include <linux/atomic.h>
#include <linux/math64.h>
#include <linux/overflow.h>

#include "core.h"

/*
 * Times of the bucket are in 1/1024 ns, so that rates above 1e9/s are possible; differences may
 * wrap.
 */
#define FRACTION_BITS 10

static atomic64_t window_start;
static atomic_t window_count;
static atomic64_t bucket_empty;

/* Values computed from the settings by grtrace_rate_update(). */
static struct {
	u32 limit;
	bool bucket;
	u64 interval;	/* time between two tokens */
	u64 depth;	/* time that fills an empty bucket */
} rate;

static bool rate_over_window(u64 now, u32 limit)
{
	s64 start = atomic64_read(&window_start);

	if ((s64)now - start >= NSEC_PER_SEC && atomic64_cmpxchg(&window_start, start, now) == start)
		atomic_set(&window_count, 0);
	return (u32)atomic_inc_return(&window_count) > limit;
}

/* A bucket that was not used for a long time is full, and not more than full. */
static s64 rate_no_fuller(s64 empty, s64 now, u64 depth)
{
	return now - empty > (s64)depth ? now - (s64)depth : empty;
}

static bool rate_over_bucket(u64 ns)
{
	s64 now = ns << FRACTION_BITS, interval = READ_ONCE(rate.interval);
	s64 empty = atomic64_read(&bucket_empty), next;

	do {
		next = rate_no_fuller(empty, now, READ_ONCE(rate.depth)) + interval;
		if (next - now > 0)
			return true;
	} while (!atomic64_try_cmpxchg(&bucket_empty, &empty, next));
	return false;
}

/** grtrace_rate_limited - whether an event is one too many; counts it when not. @now: its stamp, ns */
bool grtrace_rate_limited(u64 now)
{
	u32 limit = READ_ONCE(rate.limit);

	if (!limit)
		return false;
	return READ_ONCE(rate.bucket) ? rate_over_bucket(now) : rate_over_window(now, limit);
}

/** grtrace_rate_clear - a window that has ended, a full bucket; grtrace_lock held */
void grtrace_rate_clear(void)
{
	u64 now = ktime_get_mono_fast_ns();

	atomic64_set(&window_start, now - NSEC_PER_SEC);
	atomic64_set(&bucket_empty, (now << FRACTION_BITS) - rate.depth);
}

/* A full bucket has at most the tokens of 26 days, because differences of times must not wrap. */
static u64 rate_bucket_depth(u64 interval, u32 burst)
{
	u64 depth;

	return check_mul_overflow(interval, (u64)burst, &depth) ? S64_MAX / 4 : min_t(u64, depth, S64_MAX / 4);
}

/** grtrace_rate_update - takes the settings over, grtrace_lock held. Return: whether there is a limit */
bool grtrace_rate_update(void)
{
	u32 limit = grtrace_setting(GRT_CONFIG_max_events_per_sec);
	u32 burst = grtrace_setting(GRT_CONFIG_rate_limit_burst) ?: limit;
	u64 interval = limit ? div_u64((u64)NSEC_PER_SEC << FRACTION_BITS, limit) : 0;
	u64 depth = rate_bucket_depth(interval, burst);
	bool bucket = grtrace_setting(GRT_CONFIG_rate_limit_mode);

	if (limit == rate.limit && bucket == rate.bucket && depth == rate.depth)
		return limit;
	WRITE_ONCE(rate.interval, interval);
	WRITE_ONCE(rate.depth, depth);
	WRITE_ONCE(rate.bucket, bucket);
	WRITE_ONCE(rate.limit, limit);
	grtrace_rate_clear();
	return limit;
}
