// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The clocks. CUPTI's stamps are CLOCK_REALTIME unless it takes ours: then they
 * are converted by the snapshots around them, which are in the recording.
 */
#include "inject.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <x86intrin.h>
#endif

/* A clock whose reading takes longer is replaced by the processor's counter. */
#define SLOW_NS 80
/* If tuning finds that the counter is off by more than this, it is not used any more. */
#define OFF_NS 50000

/* A time may be at most 100 s old: one snapshot every 100 ms. */
#define SNAPSHOTS 1024U

static struct grt_ev_clock snapshot[SNAPSHOTS];
static uint64_t snapshots;

/**
 * The processor's counter as a clock
 * @version: odd while the struct is being changed
 * @from, @ns: the same moment on both clocks
 * @scale: ns per step of the counter, times 2^32
 */
static struct {
	_Atomic bool used;
	_Atomic uint32_t version;
	_Atomic uint64_t from;
	_Atomic uint64_t ns;
	_Atomic uint64_t scale;
} counter;

/*
 * struct moment - the same moment on both clocks
 * @error: steps of the counter within which the other clock was read
 */
struct moment {
	uint64_t count;
	uint64_t ns;
	uint64_t error;
};

static struct moment first;

#ifdef __x86_64__
static inline uint64_t clock_count_now(void)
{
	return __rdtsc();
}

/* Return: whether the counter runs at one rate in all power states of the processor. */
static bool clock_is_steady(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d >> 8 & 1;
}
#else
static inline uint64_t clock_count_now(void)
{
	return 0;
}

static bool clock_is_steady(void)
{
	return false;
}
#endif

static uint64_t clock_count_to_ns(uint64_t count, uint64_t from, uint64_t ns, uint64_t scale)
{
	int64_t ahead = (int64_t)(count - from);

	return ns + (uint64_t)(int64_t)(((__int128)ahead * (int64_t)scale) >> 32);
}

/*
 * Tries before the system's clock is read instead: the writer may be preempted while it tunes, or be missing
 * in a child.
 */
#define TRIES 100

static uint64_t clock_from_counter(void)
{
	uint64_t from, ns, scale, count;
	uint32_t version;
	unsigned int tries = 0;

	do {
		if (tries++ == TRIES)
			return now_ns(CLOCK_MONOTONIC);
		version = atomic_load_explicit(&counter.version, memory_order_acquire);
		from = atomic_load_explicit(&counter.from, memory_order_relaxed);
		ns = atomic_load_explicit(&counter.ns, memory_order_relaxed);
		scale = atomic_load_explicit(&counter.scale, memory_order_relaxed);
		count = clock_count_now();
		atomic_thread_fence(memory_order_acquire);
	} while (version & 1 || version != atomic_load_explicit(&counter.version, memory_order_relaxed));
	return clock_count_to_ns(count, from, ns, scale);
}

uint64_t clock_monotonic(void)
{
	if (atomic_load_explicit(&counter.used, memory_order_relaxed))
		return clock_from_counter();
	return now_ns(CLOCK_MONOTONIC);
}

static _Atomic bool given_back;

uint64_t clock_cupti(void)
{
	return atomic_load_explicit(&given_back, memory_order_relaxed) ? now_ns(CLOCK_REALTIME)
								       : clock_monotonic();
}

uint64_t clock_real(void)
{
	return now_ns(CLOCK_REALTIME);
}

void clock_give_back(void)
{
	atomic_store(&given_back, true);
}

void clock_reset(void)
{
	snapshots = 0;
	atomic_store(&counter.used, false);
	atomic_store(&given_back, false);
}

/* The most exact of a few tries. */
static struct moment clock_moment_now(void)
{
	struct moment best = {.error = UINT64_MAX};
	uint64_t before, ns, after;
	int i;

	for (i = 0; i < 5; i++) {
		before = clock_count_now();
		ns = now_ns(CLOCK_MONOTONIC);
		after = clock_count_now();
		if (after - before < best.error)
			best = (struct moment){before + (after - before) / 2, ns, after - before};
	}
	return best;
}

/* Computes the counter's rate from the first moment to this one. */
static void clock_set_counter(const struct moment *m)
{
	uint64_t steps = m->count - first.count, ns = m->ns - first.ns;

	if (!steps)
		return;
	atomic_fetch_add_explicit(&counter.version, 1, memory_order_acq_rel);
	atomic_store_explicit(&counter.from, m->count, memory_order_relaxed);
	atomic_store_explicit(&counter.ns, m->ns, memory_order_relaxed);
	atomic_store_explicit(&counter.scale, (uint64_t)(((unsigned __int128)ns << 32) / steps),
			      memory_order_relaxed);
	atomic_fetch_add_explicit(&counter.version, 1, memory_order_release);
}

static bool clock_is_slow(void)
{
	uint64_t least = UINT64_MAX, a, b;
	int i;

	for (i = 0; i < 100; i++) {
		a = now_ns(CLOCK_MONOTONIC);
		now_ns(CLOCK_MONOTONIC);
		now_ns(CLOCK_MONOTONIC);
		now_ns(CLOCK_MONOTONIC);
		b = now_ns(CLOCK_MONOTONIC);
		least = b - a < least ? b - a : least;
	}
	return least / 4 > SLOW_NS;
}

void clock_init(void)
{
	struct timespec while_measuring = {.tv_nsec = 5000000};
	struct moment m;

	if (!clock_is_steady() || !clock_is_slow())
		return;
	first = clock_moment_now();
	nanosleep(&while_measuring, NULL);
	m = clock_moment_now();
	clock_set_counter(&m);
	atomic_store(&counter.used, true);
}

void clock_tune(void)
{
	struct moment m;
	uint64_t counted;

	if (!atomic_load(&counter.used))
		return;
	m = clock_moment_now();
	counted = clock_count_to_ns(m.count, atomic_load(&counter.from), atomic_load(&counter.ns),
				    atomic_load(&counter.scale));
	/* the machine was migrated, or its processors' counters differ: the counter is not used any more */
	if (counted > m.ns + OFF_NS || counted + OFF_NS < m.ns)
		atomic_store(&counter.used, false);
	else
		clock_set_counter(&m);
}

void clock_forked(void)
{
	atomic_store(&counter.used, false);
}

/* The most exact of a few tries: REALTIME was read between the other two. */
static void clock_take(struct grt_ev_clock *best)
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
	clock_take(c);
	snapshots++;
	define_clock(c);
}

/* The last snapshot that is not later than the time stamp, or else the oldest one. */
static const struct grt_ev_clock *clock_before(uint64_t stamp)
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
	a = clock_before(stamp);
	b = a == &snapshot[(snapshots - 1) % SNAPSHOTS] ? a : &snapshot[(a - snapshot + 1) % SNAPSHOTS];
	ahead = (int64_t)(stamp - a->realtime);
	real = (int64_t)(b->realtime - a->realtime);
	mono = (int64_t)(b->monotonic - a->monotonic);
	/* between two snapshots the clocks may run at slightly different rates */
	if (ahead > 0 && real > 0 && mono > 0)
		ahead = (int64_t)((__int128)ahead * mono / real);
	return a->monotonic + (uint64_t)ahead;
}
