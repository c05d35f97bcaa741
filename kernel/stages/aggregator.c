// SPDX-License-Identifier: GPL-2.0
/*
 * Sums of what happens on each ring, in windows of aggregator_window ms: an
 * AGGREGATE record per ring and window, and the table in aggregator_stats.
 * With aggregator_replace the records stand for the events, whose fate is then
 * `aggregated`; without it they come beside them.
 *
 * What counts is every event of a ring's jobs that level, filters and watch list
 * let through, also where sampling or the rate limit leave it out: the sums are
 * of all jobs. ERROR and SYNC_WAIT events are never replaced.
 *
 * Sums are kept per CPU, in two sets: one that events are added to, one that is
 * emptied. A window ends at a stamp that is announced before it is acted on: an
 * event with a later stamp goes to the next set already, so that each event is
 * in the window that its stamp says, whatever CPU it is on.
 */
#include <linux/bitmap.h>
#include <linux/cpu.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "../core/stage.h"
#include "flights.h"
#include "window.h"

/* Events with these fates were not wanted, so they are not counted. */
#define UNWANTED (BIT(GRT_FATE_FILTERED) | BIT(GRT_FATE_WATCH_DENIED) | BIT(GRT_FATE_BELOW_LEVEL))

/**
 * struct sums - the sums of a ring; see AGGREGATE in events.def
 */
struct sums {
	u64 events;
	u64 replaced;
	u64 submits;
	u64 completes;
	u64 failed;
	u64 jobs;
	u64 latency;
	u64 latency_min;
	u64 latency_max;
	u64 depth;
	u32 depth_max;
	u32 device;
	u8 engine;
};

/* The two sets of a CPU; only changed on this CPU, with interrupts off. */
struct cpu_sums {
	struct sums set[2][GRTRACE_RINGS];
};

/*
 * Bit 0 is the number of the set to which events are added, the other bits the stamp from which on
 * it is the other set.
 */
#define NO_BORDER (~1ULL)

static u64 current_set = NO_BORDER;

static struct cpu_sums **cpus;
static struct flights *flights;
static atomic_t depths[GRTRACE_RINGS];
static struct window window;

/* Rings are identified by their slots here; these rings had an event. */
static DECLARE_BITMAP(used, GRTRACE_RINGS);

/**
 * struct told - what was reported about a ring
 * @pending: sums that are not in a record yet, because there was no room for one
 * @begin: the time at which @pending begins
 * @records: number of records
 */
struct told {
	struct sums pending;
	u64 begin;
	u32 records;
};

/* aggregate_lock: this and the following. */
static DEFINE_MUTEX(aggregate_lock);
static struct told told[GRTRACE_RINGS];

/* The last window in which something happened; @end 0: none so far. */
static struct {
	struct sums sums[GRTRACE_RINGS];
	u64 begin;
	u64 end;
} last;

/* grtrace_lock */
static bool aggregating;

static void aggregator_add_latency(struct sums *s, u64 ns)
{
	if (!s->jobs++ || ns < s->latency_min)
		s->latency_min = ns;
	s->latency += ns;
	s->latency_max = max(s->latency_max, ns);
}

static void aggregator_add_depth(struct sums *s, u32 depth)
{
	s->depth += depth;
	s->depth_max = max(s->depth_max, depth);
}

/* Return: jobs in flight on the ring, including this one */
static u32 aggregator_job_begins(const struct grt_event *e, unsigned int slot)
{
	u64 key = flight_key(e), evicted;
	struct flight *at = flight_claim(flights, key, e->time, &evicted);
	u32 depth;

	if (!at)
		return atomic_read(&depths[slot]);
	if (evicted != FLIGHT_NONE)
		atomic_dec(&depths[flight_ring(evicted)]);
	depth = atomic_inc_return(&depths[slot]);
	flight_publish(at, key, flight_word(slot, 0, e->time));
	return depth;
}

/* Return: whether it is known when the flight began */
static bool aggregator_job_ends(const struct grt_event *e, u64 *latency)
{
	u64 word;

	if (!flight_take(flights, flight_key(e), &word))
		return false;
	atomic_dec(&depths[flight_ring(word)]);
	*latency = e->time - flight_time(word, e->time);
	return true;
}

static void aggregator_add_event(struct sums *s, const struct grt_event *e, bool replaced)
{
	s->events++;
	s->replaced += replaced;
	s->device = e->device;
	s->engine = e->engine;
}

/* The job's JOB record takes its place. */
static bool aggregator_in_job_record(const struct grtrace_look *l)
{
	return l->job->fate == GRT_FATE_AGGREGATED;
}

static struct sums *aggregator_sums_of(const struct grt_event *e, unsigned int slot)
{
	u64 set = READ_ONCE(current_set);
	unsigned int index = (set & 1) ^ (e->time >= (set & ~1ULL));

	return &cpus[smp_processor_id()]->set[index][slot];
}

/* Events whose place an AGGREGATE record may take. */
static bool aggregator_replaceable(u16 type)
{
	switch (type) {
	case GRT_EV_SUBMIT:
	case GRT_EV_COMMIT:
	case GRT_EV_START:
	case GRT_EV_END:
	case GRT_EV_COMPLETE:
	case GRT_EV_CTX_SWITCH:
	case GRT_EV_IRQ:
	case GRT_EV_COMMAND:
		return true;
	}
	return false;
}

/* Events that are counted: those about work of a ring. */
static bool aggregator_counted(u16 type)
{
	return aggregator_replaceable(type) || type == GRT_EV_SYNC_WAIT_ENTER ||
	       type == GRT_EV_SYNC_WAIT_EXIT || type == GRT_EV_ERROR;
}

/* The slot of the event's ring; negative if @counts is false. */
static int aggregator_slot_of(const struct grt_event *e, bool counts)
{
	return counts ? grtrace_ring_slot(e->ring) : -1;
}

static enum grt_fate aggregator_event(const struct grtrace_look *l)
{
	const struct grt_event *e = l->e;

	return grtrace_setting(GRT_CONFIG_aggregator_replace) &&
			       aggregator_slot_of(e, aggregator_replaceable(e->type)) >= 0
		       ? GRT_FATE_AGGREGATED
		       : GRT_FATE_DELIVERED;
}

/* Jobs in flight are counted for all users of this module. */
static void aggregator_done(const struct grtrace_look *l, enum grt_fate fate)
{
	const struct grt_event *e = l->e;
	bool wanted = !(UNWANTED >> fate & 1), known = false;
	struct sums *s;
	u64 latency;
	u32 depth = 0;
	int slot;

	/* one that the core has forgotten has no ring any more, but its flight has */
	if (e->type == GRT_EV_COMPLETE && e->ctx)
		known = aggregator_job_ends(e, &latency);
	slot = aggregator_slot_of(e, aggregator_counted(e->type));
	if (slot < 0)
		return;
	if (e->type == GRT_EV_SUBMIT && e->ctx)
		depth = aggregator_job_begins(e, slot);
	if (!wanted)
		return;
	window_touch(&window, e->time);
	if (unlikely(!test_bit(slot, used)))
		set_bit(slot, used);
	s = aggregator_sums_of(e, slot);
	aggregator_add_event(s, e, fate == GRT_FATE_AGGREGATED && !aggregator_in_job_record(l));
	if (e->type == GRT_EV_SUBMIT) {
		s->submits++;
		aggregator_add_depth(s, depth);
	} else if (e->type == GRT_EV_COMPLETE) {
		s->completes++;
		s->failed += !!((const struct grt_ev_complete *)e)->status;
		if (known)
			aggregator_add_latency(s, latency);
	}
}

static void aggregator_merge(struct sums *to, const struct sums *from)
{
	to->events += from->events;
	to->replaced += from->replaced;
	to->submits += from->submits;
	to->completes += from->completes;
	to->failed += from->failed;
	if (from->jobs && (!to->jobs || from->latency_min < to->latency_min))
		to->latency_min = from->latency_min;
	to->jobs += from->jobs;
	to->latency += from->latency;
	to->latency_max = max(to->latency_max, from->latency_max);
	to->depth += from->depth;
	to->depth_max = max(to->depth_max, from->depth_max);
	to->device = from->device;
	to->engine = from->engine;
}

/*
 * Makes events go to the other set from @now on, and waits until no CPU adds to the old one.
 * Return: the old set
 */
static unsigned int aggregator_switch_sets(u64 *now)
{
	unsigned int old = current_set & 1;

	*now = ktime_get_mono_fast_ns() & ~1ULL;
	WRITE_ONCE(current_set, *now | old);
	synchronize_rcu(); /* all CPUs that add from now on have seen the border */
	WRITE_ONCE(current_set, NO_BORDER | !old);
	synchronize_rcu(); /* no CPU compares with the old border any more */
	return old;
}

/* Return: the sums of a ring on all CPUs, which are set to zero */
static struct sums aggregator_collect(unsigned int set, unsigned int ring)
{
	struct sums sum = {};
	int cpu;

	for_each_possible_cpu(cpu) {
		struct sums *s = &cpus[cpu]->set[set][ring];

		if (!s->events)
			continue;
		aggregator_merge(&sum, s);
		memset(s, 0, sizeof(*s));
	}
	return sum;
}

static void aggregator_emit_pending(struct told *t, unsigned int slot, u64 end)
{
	const struct sums *s = &t->pending;
	struct grt_ev_aggregate ev = {
		.e = {.type = GRT_EV_AGGREGATE,
		      .engine = s->engine,
		      .ring = grtrace_slot_ring(slot),
		      .device = s->device},
		.begin = t->begin,
		.end = end,
		.events = s->events,
		.replaced = s->replaced,
		.submits = s->submits,
		.completes = s->completes,
		.failed = s->failed,
		.jobs = s->jobs,
		.latency = s->latency,
		.latency_min = s->latency_min,
		.latency_max = s->latency_max,
		.depth = s->depth,
		.depth_max = s->depth_max,
		.window = t->records + 1,
	};

	if (!grtrace_emit_record(&ev.e))
		return; /* in the records of the next window */
	t->records++;
	memset(&t->pending, 0, sizeof(t->pending));
}

static void aggregator_end_ring(const struct sums *s, unsigned int ring, u64 begin, u64 end)
{
	struct told *t = &told[ring];

	if (!t->pending.events)
		t->begin = begin;
	if (s->events)
		aggregator_merge(&t->pending, s);
	if (t->pending.events)
		aggregator_emit_pending(t, ring, end);
}

/*
 * Return: whether anything happened in the window, or sums wait for room: then the next window
 * follows at once
 */
static bool aggregator_end_window(u64 *end)
{
	static struct sums sums[GRTRACE_RINGS];
	unsigned int set = aggregator_switch_sets(end), ring;
	bool any = false, pending = false;

	for_each_set_bit(ring, used, GRTRACE_RINGS) {
		sums[ring] = aggregator_collect(set, ring);
		aggregator_end_ring(&sums[ring], ring, window.edge, *end);
		any |= sums[ring].events;
		pending |= told[ring].pending.events;
	}
	if (any) {
		memcpy(last.sums, sums, sizeof(sums));
		last.begin = window.edge;
		last.end = *end;
	}
	return any || pending;
}

static bool aggregator_sums_pending(void)
{
	unsigned int set = current_set & 1, ring;
	int cpu;

	for_each_possible_cpu(cpu)
		for_each_set_bit(ring, used, GRTRACE_RINGS)
			if (READ_ONCE(cpus[cpu]->set[set][ring].events))
				return true;
	return false;
}

static void aggregator_window_fn(struct work_struct *work)
{
	u64 end;

	mutex_lock(&aggregate_lock);
	if (aggregator_end_window(&end)) {
		window_next(&window, end);
	} else {
		window_rest(&window, end);
		if (aggregator_sums_pending())
			window_touch(&window, ktime_get_mono_fast_ns());
	}
	mutex_unlock(&aggregate_lock);
}

/* Writes the records of the current window, for the time that has passed. */
static void aggregator_end_last_window(void)
{
	u64 end;

	window_end(&window);
	mutex_lock(&aggregate_lock);
	aggregator_end_window(&end);
	mutex_unlock(&aggregate_lock);
}

/* Forgets the jobs in flight. */
static void aggregator_forget_jobs(void)
{
	flights_clear(flights);
	memset(depths, 0, sizeof(depths));
}

/*
 * Ends a window early, and writes the records of the removed ring; if there is no room for them,
 * they wait.
 */
static bool aggregator_forget(unsigned int ring)
{
	bool pending;
	u64 end;

	mutex_lock(&aggregate_lock);
	flights_forget(flights, ring);
	atomic_set(&depths[ring], 0);
	if (test_bit(ring, used) && aggregator_end_window(&end))
		window.edge = end;
	pending = told[ring].pending.events && grtrace_setting(GRT_CONFIG_enable);
	if (!pending) {
		clear_bit(ring, used);
		memset(&told[ring], 0, sizeof(told[ring]));
		memset(&last.sums[ring], 0, sizeof(last.sums[ring]));
	}
	mutex_unlock(&aggregate_lock);
	return !pending;
}

static void aggregator_running(bool on)
{
	if (on)
		return;
	aggregator_end_last_window();
	mutex_lock(&aggregate_lock);
	memset(told, 0, sizeof(told));
	aggregator_forget_jobs();
	window_begin(&window);
	mutex_unlock(&aggregate_lock);
}

static void aggregator_clear(void)
{
	mutex_lock(&aggregate_lock);
	memset(&last, 0, sizeof(last));
	mutex_unlock(&aggregate_lock);
}

static unsigned int aggregator_update(void)
{
	bool on = grtrace_setting(GRT_CONFIG_aggregator_enable);

	WRITE_ONCE(window.length, grtrace_setting(GRT_CONFIG_aggregator_window) * NSEC_PER_MSEC);
	if (on && !aggregating) {
		synchronize_rcu(); /* events of an earlier time */
		aggregator_forget_jobs();
	} else if (!on && aggregating && READ_ONCE(window.ticking)) {
		mod_delayed_work(system_wq, &window.work, 0);
	}
	aggregating = on;
	if (!on)
		return 0;
	if (!grtrace_setting(GRT_CONFIG_aggregator_replace))
		return GRTRACE_STAGE_WATCHES;
	return GRTRACE_STAGE_ON | GRTRACE_STAGE_DONE;
}

/* Sums of a ring in the current window, read from one CPU after the other. */
struct open_ring {
	struct sums sum;
	unsigned int ring;
};

static void aggregator_add_open(void *arg)
{
	struct open_ring *o = arg;
	const struct sums *s = &cpus[smp_processor_id()]->set[current_set & 1][o->ring];

	if (s->events)
		aggregator_merge(&o->sum, s);
}

static struct sums aggregator_open_sums(unsigned int ring)
{
	struct open_ring o = { .ring = ring };
	int cpu;

	for_each_online_cpu(cpu)
		if (READ_ONCE(cpus[cpu]->set[current_set & 1][ring].events))
			smp_call_function_single(cpu, aggregator_add_open, &o, true);
	return o.sum;
}

static void aggregator_show_us(struct seq_file *m, u64 ns)
{
	seq_printf(m, " | %llu.%03u us", div_u64(ns, 1000), (u32)(ns % 1000));
}

static void aggregator_show_latency(struct seq_file *m, const struct sums *s)
{
	if (!s->jobs) {
		seq_puts(m, " | - | - | -");
		return;
	}
	aggregator_show_us(m, div64_u64(s->latency + s->jobs / 2, s->jobs));
	aggregator_show_us(m, s->latency_min);
	aggregator_show_us(m, s->latency_max);
}

static void aggregator_show_depth(struct seq_file *m, const struct sums *s)
{
	u64 hundredths;

	if (!s->submits) {
		seq_puts(m, " | - | -");
		return;
	}
	hundredths = div64_u64(s->depth * 100 + s->submits / 2, s->submits);
	seq_printf(m, " | %llu.%02u | %u", div_u64(hundredths, 100), (u32)(hundredths % 100), s->depth_max);
}

/* Until the first window is over, the table shows what there is of it. */
static void aggregator_show_rings(struct seq_file *m)
{
	struct sums open;
	const struct sums *s;
	unsigned int ring;

	for_each_set_bit(ring, used, GRTRACE_RINGS) {
		s = &last.sums[ring];
		if (!last.end) {
			open = aggregator_open_sums(ring);
			s = &open;
		}
		if (!s->events)
			continue;
		seq_printf(m, "%u | %llu", grtrace_slot_ring(ring), s->events);
		aggregator_show_latency(m, s);
		aggregator_show_depth(m, s);
		seq_putc(m, '\n');
	}
}

static void aggregator_show(struct seq_file *m)
{
	seq_printf(m, "Window: %llu ms", grtrace_setting(GRT_CONFIG_aggregator_window));
	mutex_lock(&aggregate_lock);
	if (last.end)
		seq_printf(m, ", last from %llu.%09llu to %llu.%09llu", last.begin / NSEC_PER_SEC,
			   last.begin % NSEC_PER_SEC, last.end / NSEC_PER_SEC, last.end % NSEC_PER_SEC);
	seq_printf(m, "\nStatus: %s%s\n", aggregating ? "enabled" : "disabled",
		   aggregating && grtrace_setting(GRT_CONFIG_aggregator_replace) ?
			   ", records replace events" : "");
	seq_puts(m, "Ring | Events | Avg Latency | Min | Max | Avg Depth | Peak Depth\n");
	aggregator_show_rings(m);
	mutex_unlock(&aggregate_lock);
}

static const struct grtrace_stage stage = {
	.kind = GRT_STAGE_AGGREGATOR,
	.event = aggregator_event,
	.done = aggregator_done,
	.update = aggregator_update,
	.show = aggregator_show,
	.running = aggregator_running,
	.clear = aggregator_clear,
	.forget = aggregator_forget,
};

static void aggregator_free_all(void)
{
	int cpu;

	for (cpu = 0; cpus && cpu < nr_cpu_ids; cpu++)
		kvfree(cpus[cpu]);
	kfree(cpus);
	kvfree(flights);
}

static int aggregator_allocate(void)
{
	int cpu;

	flights = flights_new();
	cpus = kcalloc(nr_cpu_ids, sizeof(*cpus), GFP_KERNEL);
	if (!flights || !cpus)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		cpus[cpu] = kvzalloc_node(sizeof(**cpus), GFP_KERNEL, cpu_to_node(cpu));
		if (!cpus[cpu])
			return -ENOMEM;
	}
	return 0;
}

static int __init aggregator_init(void)
{
	int err = aggregator_allocate();

	window_init(&window, aggregator_window_fn, NSEC_PER_SEC);
	if (!err)
		err = grtrace_stage_register(&stage);
	if (err)
		aggregator_free_all();
	return err;
}

static void __exit aggregator_exit(void)
{
	grtrace_stage_unregister(&stage);
	aggregator_end_last_window();
	aggregator_free_all();
}

module_init(aggregator_init);
module_exit(aggregator_exit);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("GPU tracing: sums by ring");
MODULE_LICENSE("GPL");
MODULE_VERSION(GRT_VERSION);
