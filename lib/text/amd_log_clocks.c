// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The offset between the clock of ROCr's lines and the runtime's, see amd_log_clocks.h.
 */
#include "amd_log_clocks.h"

#include <string.h>

/* Time stamps are truncated to us. */
#define CUT_NS 1000
/* The most by which the kernel lets CLOCK_MONOTONIC run faster or slower, ppm (MAXFREQ of linux/timex.h). */
#define DRIFT_PPM 500U
/*
 * The most by which a record of another thread may be out of order, because a record gets its time stamp
 * before it is written, ns.
 */
#define JITTER_NS 10000000
/* No limit: it is greater than any. */
#define FAR (INT64_MAX / 4)
/* No clock has time stamps beyond this, and sums of them would overflow. */
#define STAMP_MAX ((uint64_t)FAR / 2)

static int64_t drift(uint64_t a, uint64_t b)
{
	return (int64_t)((a > b ? a - b : b - a) / (1000000 / DRIFT_PPM) + 1);
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t amd_log_clocks_least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Return: the limit at the moment @raw that follows from @from. */
static struct amd_log_bound seen_from(const struct amd_log_bound *from, uint64_t raw)
{
	int64_t d = drift(from->raw, raw);

	return (struct amd_log_bound){raw, most(from->low - d, -FAR),
				      amd_log_clocks_least(from->high + d, FAR)};
}

static void tighten(struct amd_log_bound *b, const struct amd_log_bound *from)
{
	struct amd_log_bound seen = seen_from(from, b->raw);

	b->low = most(b->low, seen.low);
	b->high = amd_log_clocks_least(b->high, seen.high);
}

static void amd_log_clocks_keep(struct amd_log_clocks *c, const struct amd_log_bound *b)
{
	if (c->passed++ % (c->stride ? c->stride : 1))
		return;
	if (c->bounds == AMD_LOG_BOUNDS) {
		/* each includes what the earlier ones say, so every second one is enough */
		for (unsigned int i = 0; 2 * i + 1 < AMD_LOG_BOUNDS; i++)
			c->bound[i] = c->bound[2 * i + 1];
		c->bounds /= 2;
		c->stride = c->stride ? 2 * c->stride : 2;
	}
	c->bound[c->bounds++] = *b;
}

static void amd_log_clocks_add(struct amd_log_clocks *c, struct amd_log_bound b)
{
	if (c->begun && b.raw < c->now.raw)
		b = seen_from(&b, c->now.raw);
	if (c->begun)
		tighten(&b, &c->now);
	c->begun = true;
	c->now = b;
	c->apart |= b.low > b.high;
	amd_log_clocks_keep(c, &b);
}

/* ---------------------------------------------------------------- order of lines */

static struct amd_log_writer *amd_log_clocks_place_of(struct amd_log_clocks *c, const struct amd_log_head *h)
{
	return &c->writer[((h->thread ^ h->pid) * 0x9e3779b97f4a7c15) >> 58];
}

static bool amd_log_clocks_is(const struct amd_log_writer *w, const struct amd_log_head *h)
{
	return w->thread == h->thread && w->pid == h->pid && w->last;
}

/* Ends the wait of a line of ROCr: its offset is at most @high. */
static void amd_log_clocks_settle(struct amd_log_clocks *c, struct amd_log_writer *w, int64_t high)
{
	if (w->waits && (w->low > -FAR || high < FAR))
		amd_log_clocks_add(c, (struct amd_log_bound){w->raw, w->low, high});
	w->waits = false;
}

static void amd_log_clocks_take_record(struct amd_log_clocks *c, struct amd_log_writer *w, uint64_t time,
				       int64_t jitter)
{
	/* a record that was written later has an earlier time, so the order of lines says nothing */
	c->apart |= w->last > time && w->last - time > (uint64_t)jitter;
	amd_log_clocks_settle(c, w, (int64_t)(time - w->raw) + CUT_NS + jitter);
	w->last = time;
}

void amd_log_clocks_record(struct amd_log_clocks *c, const struct amd_log_head *h)
{
	struct amd_log_writer *w = amd_log_clocks_place_of(c, h);

	if (h->time > STAMP_MAX)
		return;
	amd_log_clocks_take_record(c, &c->any, h->time, JITTER_NS);
	if (!h->thread)
		return;
	if (!amd_log_clocks_is(w, h)) {
		amd_log_clocks_settle(c, w, FAR);
		*w = (struct amd_log_writer){.thread = h->thread, .pid = h->pid};
	}
	amd_log_clocks_take_record(c, w, h->time, 0);
}

void amd_log_clocks_rocr(struct amd_log_clocks *c, const struct amd_log_head *h)
{
	struct amd_log_writer *w = amd_log_clocks_place_of(c, h);
	int64_t jitter = 0;

	if (!c->rocr || h->time < c->first)
		c->first = h->time;
	if (!c->rocr || h->time > c->last)
		c->last = h->time;
	c->rocr = true;
	if (h->time > STAMP_MAX)
		return;
	if (!h->thread || !amd_log_clocks_is(w, h)) {
		w = &c->any;
		jitter = JITTER_NS;
	}
	amd_log_clocks_settle(c, w, FAR);
	w->waits = true;
	w->raw = h->time;
	w->low = w->last ? (int64_t)(w->last - h->time) - CUT_NS - jitter : -FAR;
}

/* ----------------------------------------------------------------------- the rest */

void amd_log_clocks_snapshot(struct amd_log_clocks *c, const char *p, const char *end)
{
	struct amd_log_snapshot s;

	if (c->snapshots == AMD_LOG_SNAPSHOTS || !GRT_SCAN_WORD(&p, end, "monotonic=") ||
	    !grt_scan_u64(&p, end, &s.monotonic) || !GRT_SCAN_WORD(&p, end, " monotonic_raw=") ||
	    !grt_scan_u64(&p, end, &s.raw) || !GRT_SCAN_WORD(&p, end, " error=") ||
	    !grt_scan_u64(&p, end, &s.error))
		return;
	if (s.monotonic > STAMP_MAX || s.raw > STAMP_MAX || s.error > STAMP_MAX ||
	    (c->snapshots && s.raw <= c->snapshot[c->snapshots - 1].raw))
		return;
	c->snapshot[c->snapshots++] = s;
}

void amd_log_clocks_end(struct amd_log_clocks *c)
{
	amd_log_clocks_settle(c, &c->any, FAR);
	for (unsigned int i = 0; i < AMD_LOG_CLOCK_THREADS; i++)
		amd_log_clocks_settle(c, &c->writer[i], FAR);
	if (c->begun && c->bounds)
		c->bound[c->bounds - 1] = c->now;
	for (unsigned int i = c->bounds; i-- > 1;)
		tighten(&c->bound[i - 1], &c->bound[i]);
	for (unsigned int i = 0; i < c->bounds; i++)
		c->apart |= c->bound[i].low > c->bound[i].high;
}

/* Between two snapshots, the offset changes evenly; before the first and after the last, it is constant. */
static void by_snapshots(const struct amd_log_clocks *c, uint64_t raw, struct amd_log_bound *b)
{
	const struct amd_log_snapshot *s = c->snapshot, *next;
	uint64_t error;
	int64_t at;

	while (s + 2 < c->snapshot + c->snapshots && s[1].raw <= raw)
		s++;
	next = c->snapshots > 1 ? s + 1 : s;
	at = (int64_t)(s->monotonic - s->raw);
	if (raw >= next->raw)
		at = (int64_t)(next->monotonic - next->raw);
	else if (raw > s->raw)
		at += (int64_t)((double)((int64_t)(next->monotonic - next->raw) - at) *
				((double)(raw - s->raw) / (double)(next->raw - s->raw)));
	error = s->error > next->error ? s->error : next->error;
	*b = (struct amd_log_bound){raw, at - (int64_t)error, at + (int64_t)error + CUT_NS};
}

static void amd_log_clocks_by_order(const struct amd_log_clocks *c, uint64_t raw, struct amd_log_bound *b)
{
	unsigned int low = 0, high = c->bounds;

	*b = (struct amd_log_bound){raw, -FAR, FAR};
	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (c->bound[middle].raw < raw)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < c->bounds)
		tighten(b, &c->bound[low]);
	if (low)
		tighten(b, &c->bound[low - 1]);
}

static uint64_t amd_log_clocks_moved(uint64_t raw, int64_t by)
{
	return by < 0 && raw < (uint64_t)-by ? 0 : raw + (uint64_t)by;
}

enum amd_log_moved amd_log_clocks_move(const struct amd_log_clocks *c, uint64_t raw, uint64_t *low,
				       uint64_t *high)
{
	struct amd_log_bound b;

	if (raw > STAMP_MAX)
		return AMD_LOG_UNMOVED;
	if (c->snapshots)
		by_snapshots(c, raw, &b);
	else if (!c->apart)
		amd_log_clocks_by_order(c, raw, &b);
	else
		return AMD_LOG_UNMOVED;
	if (b.low <= -FAR || b.high >= FAR || b.low > b.high)
		return AMD_LOG_UNMOVED;
	*low = amd_log_clocks_moved(raw, b.low);
	*high = amd_log_clocks_moved(raw, b.high);
	return c->snapshots ? AMD_LOG_BY_SNAPSHOTS : AMD_LOG_BY_ORDER;
}
