// SPDX-License-Identifier: GPL-2.0
/*
 * How the rings are used, in windows of a second: /proc/grtrace_stats.
 *
 *	ring_id, utilization%, drop_rate%, avg_latency_us
 *	0, 42.17, 0.00, 813.402
 *	# window 1234.567890123 1235.567901234
 *
 * utilization: the union of the executions of the ring's jobs, see busy.h; drop
 * rate: events that were lost because there was no room among all of the ring; latency:
 * SUBMIT to COMPLETE of the jobs that completed. What was not measured (no event,
 * no job) is "-". The window is the last one that is over, until one is the time
 * since the first event; rings are those that had an event since tracing began.
 *
 * Every event counts, whatever filters and sampling make of it.
 */
#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/proc_fs.h>
#include <linux/rcupdate.h>
#include <linux/timekeeping.h>

#include "../core/stage.h"
#include "busy.h"
#include "flights.h"
#include "window.h"

#define WINDOW NSEC_PER_SEC

/*
 * The ends of a window of all rings differ by at most this, if that can be reached within this
 * many tries.
 */
#define LOOK_NS	   (50 * NSEC_PER_USEC)
#define LOOK_TRIES 10

/* A flight's mark: the job has begun, and not only been committed. */
#define STARTED FLIGHT_MARK

/**
 * struct ring_counts - counts that only grow
 * @emitted: events
 * @lost: of these, events that were lost
 * @jobs: complete jobs with a known SUBMIT
 * @latency: sum of their latencies, ns
 */
struct ring_counts {
	u64 emitted;
	u64 lost;
	u64 jobs;
	u64 latency;
};

/* @seq is odd while this CPU counts; other CPUs then read again. */
struct cpu_counts {
	u32 seq;
	struct ring_counts ring[GRTRACE_RINGS];
};

/* @busy: see busy.h; @ended: the last END, 0: none */
struct ring_state {
	atomic64_t busy;
	u64 ended;
} ____cacheline_aligned_in_smp;

/* The state of a ring at @time; @busy: see busy.h */
struct look {
	u64 time;
	u64 busy;
	struct ring_counts n;
};

static struct cpu_counts __percpu *counts;
static struct ring_state rings[GRTRACE_RINGS];
static struct flights *flights;
static struct window window;

/* Rings are identified by their slots here; these rings had an event. */
static DECLARE_BITMAP(used, GRTRACE_RINGS);

/* Both ends of the last complete window, and the number of complete windows. */
static DEFINE_MUTEX(look_lock);
static struct look before[GRTRACE_RINGS];
static struct look last[GRTRACE_RINGS];
static unsigned int windows;

/* grtrace_lock */
static bool monitoring;

static void perf_mon_ring_commit(struct ring_state *r, u64 now)
{
	s64 old = atomic64_read(&r->busy), new;

	do {
		new = busy_commit(old, now);
	} while (!atomic64_try_cmpxchg(&r->busy, &old, new));
}

static void perf_mon_ring_start(struct ring_state *r, u64 now)
{
	s64 old = atomic64_read(&r->busy), new;

	do {
		new = busy_start(old, now);
	} while (!atomic64_try_cmpxchg(&r->busy, &old, new));
}

static void perf_mon_ring_unstart(struct ring_state *r, u64 now)
{
	s64 old = atomic64_read(&r->busy), new;

	do {
		new = busy_leave(old, now);
	} while (!atomic64_try_cmpxchg(&r->busy, &old, new));
}

/* The job of this flight no longer executes. */
static void perf_mon_flight_over(u64 word, u64 now)
{
	struct ring_state *r = &rings[flight_ring(word)];
	u64 begin = flight_time(word, now), ended = READ_ONCE(r->ended);
	s64 old = atomic64_read(&r->busy), new;

	do {
		new = busy_end(old, now, begin, word & STARTED ? begin : 0, ended);
	} while (!atomic64_try_cmpxchg(&r->busy, &old, new));
	WRITE_ONCE(r->ended, now);
}

/* The job must execute on its ring before another CPU can take it to be over. */
static void perf_mon_flight_begin(const struct grt_event *e, u64 key, u64 mark,
				  void (*begin)(struct ring_state *r, u64 now))
{
	int slot = grtrace_ring_slot(e->ring);
	struct flight *at;
	u64 evicted;

	if (slot < 0)
		return;
	at = flight_claim(flights, key, e->time, &evicted);
	if (!at)
		return;
	if (evicted != FLIGHT_NONE)
		perf_mon_flight_over(evicted, e->time);
	begin(&rings[slot], e->time);
	flight_publish(at, key, flight_word(slot, mark, e->time));
}

static void perf_mon_on_commit(const struct grt_event *e)
{
	perf_mon_flight_begin(e, flight_key(e), 0, perf_mon_ring_commit);
}

/* A START that another CPU overtakes with the job's END has no effect. */
static void perf_mon_on_start(const struct grt_event *e)
{
	u64 key = flight_key(e), word;
	struct flight *at = flight_find(flights, key);

	if (!at) {
		perf_mon_flight_begin(e, key, STARTED, perf_mon_ring_start);
		return;
	}
	word = flight_look(at, key);
	if (word == FLIGHT_NONE || word & STARTED)
		return;
	perf_mon_ring_start(&rings[flight_ring(word)], e->time);
	if (!flight_mark(at, word))
		perf_mon_ring_unstart(&rings[flight_ring(word)], e->time);
}

/* Without END, a job is assumed to execute until its COMPLETE. */
static void perf_mon_on_end(const struct grt_event *e)
{
	u64 word;

	if (flight_take(flights, flight_key(e), &word))
		perf_mon_flight_over(word, e->time);
}

/* If another CPU reports a begin after the job's COMPLETE, nothing begins. */
static void perf_mon_follow(const struct grtrace_look *l)
{
	const struct grt_event *e = l->e;

	if (e->type < GRT_EV_END && l->known && l->job->over)
		return;
	switch (e->type) {
	case GRT_EV_SUBMIT:
		if (e->flags & GRT_FLAG_COMMIT)
			perf_mon_on_commit(e);
		break;
	case GRT_EV_COMMIT:
		perf_mon_on_commit(e);
		break;
	case GRT_EV_START:
		perf_mon_on_start(e);
		break;
	case GRT_EV_END:
	case GRT_EV_COMPLETE:
		perf_mon_on_end(e);
		break;
	}
}

static void perf_mon_count(const struct grtrace_look *l, u32 ring, enum grt_fate fate)
{
	const struct grt_event *e = l->e;
	struct cpu_counts *c = this_cpu_ptr(counts);
	struct ring_counts *n = &c->ring[ring];

	WRITE_ONCE(c->seq, c->seq + 1);
	smp_wmb(); /* odd before what is counted; pairs with read_counts() */
	n->emitted++;
	n->lost += fate == GRT_FATE_LOST;
	if (e->type == GRT_EV_COMPLETE && l->known && l->job->submitted) {
		n->jobs++;
		n->latency += e->time - l->job->submitted;
	}
	smp_wmb(); /* what is counted before even */
	WRITE_ONCE(c->seq, c->seq + 1);
}

/* If the core has forgotten a job while it executed, its flight still has its slot. */
static int perf_mon_slot_of_flight(const struct grt_event *e)
{
	u64 key = flight_key(e), word = FLIGHT_NONE;
	struct flight *at = flight_find(flights, key);

	if (at)
		word = flight_look(at, key);
	return word == FLIGHT_NONE ? -1 : flight_ring(word);
}

static void perf_mon_done(const struct grtrace_look *l, enum grt_fate fate)
{
	const struct grt_event *e = l->e;
	bool step = e->ctx && e->type <= GRT_EV_COMPLETE;
	int ring = grtrace_ring_slot(e->ring);

	if (unlikely(e->ring == GRT_RING_NONE) && step)
		ring = perf_mon_slot_of_flight(e);
	if (ring < 0)
		return;
	window_touch(&window, e->time);
	if (unlikely(!test_bit(ring, used)))
		set_bit(ring, used);
	perf_mon_count(l, ring, fate);
	if (step)
		perf_mon_follow(l);
}

/* A CPU counts for a few instructions with interrupts off, so reading again does not take long. */
static void perf_mon_read_counts(struct ring_counts *sum, const struct cpu_counts *c, unsigned int ring)
{
	struct ring_counts n;
	u32 seq;

	do {
		while ((seq = READ_ONCE(c->seq)) & 1)
			cpu_relax();
		smp_rmb(); /* even before what is read; pairs with count() */
		n = c->ring[ring];
		smp_rmb(); /* what is read before the second look */
	} while (READ_ONCE(c->seq) != seq);
	sum->emitted += n.emitted;
	sum->lost += n.lost;
	sum->jobs += n.jobs;
	sum->latency += n.latency;
}

static struct look perf_mon_look_at(unsigned int ring)
{
	struct look look = {};
	int cpu;

	for_each_possible_cpu(cpu)
		perf_mon_read_counts(&look.n, per_cpu_ptr(counts, cpu), ring);
	look.busy = atomic64_read(&rings[ring].busy);
	look.time = ktime_get_mono_fast_ns();
	return look;
}

/*
 * Reads all rings at once. Values only grow, so if an interrupt or another virtual machine came in
 * between, all are read again. Return: when the reading began
 */
static u64 perf_mon_look_at_all(struct look *looks)
{
	unsigned int ring, tries = LOOK_TRIES;
	u64 begun;

	do {
		begun = ktime_get_mono_fast_ns();
		for_each_set_bit(ring, used, GRTRACE_RINGS)
			looks[ring] = perf_mon_look_at(ring);
	} while (ktime_get_mono_fast_ns() - begun > LOOK_NS && --tries);
	return begun;
}

/* Return: whether the ring had an event since the last look */
static bool perf_mon_look_again(unsigned int ring, const struct look *now)
{
	/* windows in which nothing happened were left out */
	last[ring].time = max(last[ring].time, window.edge);
	before[ring] = last[ring];
	last[ring] = *now;
	return now->n.emitted != before[ring].n.emitted;
}

static bool perf_mon_looks_stale(void)
{
	unsigned int ring;

	for_each_set_bit(ring, used, GRTRACE_RINGS)
		if (perf_mon_look_at(ring).n.emitted != last[ring].n.emitted)
			return true;
	return false;
}

static void perf_mon_window_fn(struct work_struct *work)
{
	static struct look looks[GRTRACE_RINGS];
	unsigned int ring;
	bool any = false;
	u64 now;

	mutex_lock(&look_lock);
	memset(looks, 0, sizeof(looks));
	now = perf_mon_look_at_all(looks);
	for_each_set_bit(ring, used, GRTRACE_RINGS)
		if (looks[ring].time) /* a ring that may have been used since */
			any |= perf_mon_look_again(ring, &looks[ring]);
	windows++;
	if (any) {
		window_next(&window, now);
	} else {
		window_rest(&window, now);
		if (perf_mon_looks_stale())
			window_touch(&window, ktime_get_mono_fast_ns());
	}
	mutex_unlock(&look_lock);
}

static void perf_mon_show_utilization(struct seq_file *m, const struct look *a, const struct look *b)
{
	u64 busy = busy_between(busy_at(a->busy, a->time), busy_at(b->busy, b->time));
	u64 share = min_t(u64, mul_u64_u64_div_u64(busy, 10000, b->time - a->time), 10000);

	seq_printf(m, "%llu.%02llu", share / 100, share % 100);
}

static void perf_mon_show_drop_rate(struct seq_file *m, u64 emitted, u64 lost)
{
	u64 share;

	if (!emitted) {
		seq_puts(m, ", -");
		return;
	}
	share = mul_u64_u64_div_u64(lost, 10000, emitted);
	seq_printf(m, ", %llu.%02llu", share / 100, share % 100);
}

static void perf_mon_show_latency(struct seq_file *m, u64 jobs, u64 sum)
{
	u64 ns = jobs ? div64_u64(sum, jobs) : 0;

	if (jobs)
		seq_printf(m, ", %llu.%03llu\n", ns / 1000, ns % 1000);
	else
		seq_puts(m, ", -\n");
}

static void perf_mon_show_ring(struct seq_file *m, unsigned int ring, const struct look *a,
			       const struct look *b)
{
	seq_printf(m, "%u, ", grtrace_slot_ring(ring));
	perf_mon_show_utilization(m, a, b);
	perf_mon_show_drop_rate(m, b->n.emitted - a->n.emitted, b->n.lost - a->n.lost);
	perf_mon_show_latency(m, b->n.jobs - a->n.jobs, b->n.latency - a->n.latency);
}

/* The ends of the window that is shown. */
static void perf_mon_choose_window(unsigned int ring, struct look *a, struct look *b)
{
	u64 now = ktime_get_mono_fast_ns();

	*a = before[ring];
	*b = last[ring];
	if (windows && (READ_ONCE(window.ticking) || now - b->time < WINDOW))
		return;
	/* no window is complete yet, or nothing has happened since the last one */
	*a = last[ring];
	*b = perf_mon_look_at(ring);
	a->time = windows ? b->time - WINDOW : READ_ONCE(window.edge);
}

static int perf_mon_stats_show(struct seq_file *m, void *unused)
{
	u64 from = 0, to = 0;
	unsigned int ring;
	struct look a, b;

	seq_puts(m, "ring_id, utilization%, drop_rate%, avg_latency_us\n");
	mutex_lock(&look_lock);
	for_each_set_bit(ring, used, GRTRACE_RINGS) {
		perf_mon_choose_window(ring, &a, &b);
		if (!READ_ONCE(monitoring) || !b.n.emitted || b.time <= a.time || !a.time)
			continue;
		perf_mon_show_ring(m, ring, &a, &b);
		from = a.time;
		to = b.time;
	}
	mutex_unlock(&look_lock);
	if (to)
		seq_printf(m, "# window %llu.%09llu %llu.%09llu\n", from / NSEC_PER_SEC, from % NSEC_PER_SEC,
			   to / NSEC_PER_SEC, to % NSEC_PER_SEC);
	return 0;
}

/* Forgets everything; call this while no CPU counts, or when counts are not needed. */
static void perf_mon_reset(void)
{
	int cpu;

	window_end(&window);
	mutex_lock(&look_lock);
	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(counts, cpu)->ring, 0, sizeof(counts->ring));
	memset(rings, 0, sizeof(rings));
	memset(before, 0, sizeof(before));
	memset(last, 0, sizeof(last));
	bitmap_zero(used, GRTRACE_RINGS);
	flights_clear(flights);
	windows = 0;
	window_begin(&window);
	mutex_unlock(&look_lock);
}

/* Drops the ring's counts in the current window. */
static bool perf_mon_forget(unsigned int ring)
{
	int cpu;

	mutex_lock(&look_lock);
	flights_forget(flights, ring);
	clear_bit(ring, used);
	for_each_possible_cpu(cpu)
		memset(&per_cpu_ptr(counts, cpu)->ring[ring], 0, sizeof(struct ring_counts));
	memset(&rings[ring], 0, sizeof(rings[ring]));
	memset(&before[ring], 0, sizeof(before[ring]));
	memset(&last[ring], 0, sizeof(last[ring]));
	mutex_unlock(&look_lock);
	return true;
}

static void perf_mon_running(bool on)
{
	if (!on)
		perf_mon_reset();
}

static unsigned int perf_mon_update(void)
{
	bool on = grtrace_setting(GRT_CONFIG_perf_mon);

	if (on && !monitoring) {
		synchronize_rcu(); /* events of an earlier time */
		perf_mon_reset();
	}
	monitoring = on;
	return on ? GRTRACE_STAGE_WATCHES : 0;
}

static const struct grtrace_stage stage = {
	.kind = GRT_STAGE_PERF_MON,
	.done = perf_mon_done,
	.update = perf_mon_update,
	.running = perf_mon_running,
	.forget = perf_mon_forget,
};

static int __init perf_mon_init(void)
{
	int err = -ENOMEM;

	counts = alloc_percpu(struct cpu_counts);
	flights = flights_new();
	if (!counts || !flights)
		goto err_free;
	window_init(&window, perf_mon_window_fn, WINDOW);
	err = grtrace_stage_register(&stage);
	if (err)
		goto err_free;
	err = -ENOMEM;
	if (proc_create_single("grtrace_stats", 0400, NULL, perf_mon_stats_show))
		return 0;
	grtrace_stage_unregister(&stage);
	window_end(&window);
err_free:
	kvfree(flights);
	free_percpu(counts);
	return err;
}

static void __exit perf_mon_exit(void)
{
	remove_proc_entry("grtrace_stats", NULL);
	grtrace_stage_unregister(&stage);
	window_end(&window);
	kvfree(flights);
	free_percpu(counts);
}

module_init(perf_mon_init);
module_exit(perf_mon_exit);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("GPU tracing: use of the rings");
MODULE_LICENSE("GPL");
MODULE_VERSION(GRT_VERSION);
