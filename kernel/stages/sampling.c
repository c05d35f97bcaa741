// SPDX-License-Identifier: GPL-2.0
/*
 * Sampling: delivers a share of the jobs. Which ones, a job's identity decides,
 * so that all its events, wherever they come up, meet the same answer; each
 * record carries the share as its weight.
 *
 *	static		the share is `sample`
 *	adaptive	every 100 ms the share is set such that the tracer's own
 *			work takes no more of any CPU than `sampling_budget`
 *	threshold	all jobs that took `sampling_threshold` or longer, which is
 *			known at their end: one JOB record each
 */
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "../core/stage.h"

enum mode { STATIC, ADAPTIVE, THRESHOLD };

#define STEP_MS 100

/*
 * Every n-th event of a CPU is measured, because reading the clock costs a tenth of an event. n is
 * not a multiple of the number of events of a job, so that it is not always the same event.
 */
#define MEASURED 7

/**
 * struct ring_counts - counts of a ring's jobs, and of events of no known job
 * @total: all
 * @sampled: those that were kept
 */
struct ring_counts {
	u64 total;
	u64 sampled;
};

/**
 * struct own - the state of one CPU, which writes it with interrupts off
 * @remainder: of the sampling of events without a job
 * @turn: events until one is measured
 * @kept: ns spent on events that were kept, estimated from the measured ones
 * @dropped: the same for events that were dropped
 * @rings: by the ring's slot; the last one is for events without a ring and for rings without a
 *	slot
 */
struct own {
	u32 remainder;
	u32 turn;
	u64 kept;
	u64 dropped;
	struct ring_counts rings[GRTRACE_RINGS + 1];
};

static struct own __percpu *own;

/* The percentage that is used now. */
static u32 rate = 100;

/* By CPU: ns spent when the last step began; only used by step_fn(). */
struct spent {
	u64 kept;
	u64 dropped;
};

static struct spent *spent;
static u64 step_began;

static void sampling_step_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(step, sampling_step_fn);

/*
 * Adaptive sampling runs in steps while tracing is on. While nothing happens, there are no steps
 * until the next measured event, so an idle system is not disturbed.
 */
static bool stepping;
static bool asleep;

static void sampling_wake_fn(struct irq_work *work);
static struct irq_work wake = IRQ_WORK_INIT(sampling_wake_fn);

static enum mode sampling_mode(void)
{
	return grtrace_setting(GRT_CONFIG_sampling_mode);
}

/* Events that belong to no job are kept at the same rate, evenly. */
static bool sampling_take_turn(struct own *o, u32 percent)
{
	o->remainder += percent;
	if (o->remainder < 100)
		return false;
	o->remainder -= 100;
	return true;
}

/*
 * Return: the place of a job in 0..2^32. Steps of the golden ratio distribute the jobs of a context
 * evenly, so that a share of the range selects that share of even a few jobs.
 */
static u32 sampling_place_of(const struct grt_event *e)
{
	return hash_64(e->ctx, 32) + (u32)e->seqno * GOLDEN_RATIO_32;
}

static bool sampling_is_kept(struct own *o, const struct grt_event *e, u32 percent)
{
	if (percent >= 100)
		return true;
	if (!e->ctx)
		return sampling_take_turn(o, percent);
	return (sampling_place_of(e) * 100ULL) >> 32 < percent;
}

static enum grt_fate sampling_count(struct own *o, u32 ring, bool kept)
{
	int slot = grtrace_ring_slot(ring);
	struct ring_counts *n = &o->rings[slot < 0 ? GRTRACE_RINGS : slot];

	n->total++;
	n->sampled += kept;
	return kept ? GRT_FATE_DELIVERED : GRT_FATE_SAMPLED_OUT;
}

static enum grt_fate sampling_job(struct grtrace_look *l)
{
	struct own *o = this_cpu_ptr(own);

	if (sampling_mode() == THRESHOLD)
		return GRT_FATE_DELIVERED;
	l->percent = READ_ONCE(rate);
	return sampling_count(o, l->job->ring, sampling_is_kept(o, l->e, l->percent));
}

static enum grt_fate sampling_event(const struct grtrace_look *l)
{
	if (!l->stamps || sampling_mode() != THRESHOLD)
		return GRT_FATE_DELIVERED;
	return sampling_count(this_cpu_ptr(own), l->job->ring,
			      l->e->time - l->stamps->submit >=
				      grtrace_setting(GRT_CONFIG_sampling_threshold));
}

/*
 * The time since the event's stamp is the cost of emitting, except for the last lines. The stamp
 * of an END may be from an earlier moment.
 */
static void sampling_done(const struct grtrace_look *l, enum grt_fate fate)
{
	struct own *o = this_cpu_ptr(own);
	u64 ns;

	if (sampling_mode() != ADAPTIVE || ++o->turn < MEASURED || l->e->type == GRT_EV_END)
		return;
	o->turn = 0;
	if (unlikely(READ_ONCE(asleep)))
		irq_work_queue(&wake);
	ns = (ktime_get_mono_fast_ns() - l->e->time) * MEASURED;
	if (fate == GRT_FATE_DELIVERED)
		o->kept += ns;
	else
		o->dropped += ns;
}

/*
 * Return: the share that fits into the budget; dropped events have a cost, too, which the share
 * does not change.
 */
static u32 sampling_share_that_fits(u64 kept, u64 dropped, u64 ns)
{
	u64 budget = div_u64(ns * grtrace_setting(GRT_CONFIG_sampling_budget), 100);

	if (dropped >= budget)
		return 1;
	if (!kept)
		return 100;
	return clamp_t(u64, div64_u64(rate * (budget - dropped), kept), 1, 100);
}

/*
 * Reduces the share as far as needed at once, but at most doubles it: the next step can decide
 * again.
 */
static void sampling_step_fn(struct work_struct *work)
{
	u64 now = ktime_get_mono_fast_ns(), ns = now - step_began;
	bool idle = true;
	u32 next = 100;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct own *o = per_cpu_ptr(own, cpu);
		struct spent s = { READ_ONCE(o->kept), READ_ONCE(o->dropped) };

		next = min(next, sampling_share_that_fits(s.kept - spent[cpu].kept,
							  s.dropped - spent[cpu].dropped, ns));
		idle = idle && s.kept == spent[cpu].kept && s.dropped == spent[cpu].dropped;
		spent[cpu] = s;
	}
	WRITE_ONCE(rate, min(next, rate * 2));
	step_began = now;
	if (idle && rate == 100)
		WRITE_ONCE(asleep, true);
	else
		schedule_delayed_work(&step, msecs_to_jiffies(STEP_MS));
}

static void sampling_begin_steps(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		spent[cpu] = (struct spent){ per_cpu_ptr(own, cpu)->kept, per_cpu_ptr(own, cpu)->dropped };
	step_began = ktime_get_mono_fast_ns();
	WRITE_ONCE(asleep, false);
	schedule_delayed_work(&step, msecs_to_jiffies(STEP_MS));
}

static void sampling_wake_fn(struct irq_work *work)
{
	if (READ_ONCE(stepping) && READ_ONCE(asleep))
		sampling_begin_steps();
}

static void sampling_stop_steps(void)
{
	irq_work_sync(&wake);
	cancel_delayed_work_sync(&step);
}

/* Adaptive sampling runs while tracing is on. */
static void sampling_running(bool on)
{
	on = on && sampling_mode() == ADAPTIVE;
	if (on == stepping)
		return;
	WRITE_ONCE(stepping, on);
	if (on)
		sampling_begin_steps();
	else
		sampling_stop_steps();
}

static unsigned int sampling_update(void)
{
	static enum mode was;

	sampling_running(grtrace_setting(GRT_CONFIG_enable));
	if (sampling_mode() == ADAPTIVE && was != ADAPTIVE)
		WRITE_ONCE(rate, 100);
	else if (sampling_mode() == STATIC)
		WRITE_ONCE(rate, grtrace_setting(GRT_CONFIG_sample));
	was = sampling_mode();
	if (sampling_mode() == THRESHOLD)
		return GRTRACE_STAGE_ON | GRTRACE_STAGE_HOLDS;
	if (sampling_mode() == ADAPTIVE)
		return GRTRACE_STAGE_ON | GRTRACE_STAGE_DONE;
	return rate < 100 ? GRTRACE_STAGE_ON : 0;
}

static void sampling_show_mode(struct seq_file *m)
{
	switch (sampling_mode()) {
	case STATIC:
		seq_printf(m, "Sampler mode: static (rate=%u%%)\n", rate);
		break;
	case ADAPTIVE:
		seq_printf(m, "Sampler mode: adaptive (rate=%u%%)\n", READ_ONCE(rate));
		break;
	case THRESHOLD:
		seq_printf(m, "Sampler mode: threshold (threshold=%llu ns)\n",
			   grtrace_setting(GRT_CONFIG_sampling_threshold));
		break;
	}
}

static void sampling_show_ring(struct seq_file *m, int slot)
{
	struct ring_counts sum = {};
	int cpu;

	for_each_possible_cpu(cpu) {
		sum.total += per_cpu_ptr(own, cpu)->rings[slot].total;
		sum.sampled += per_cpu_ptr(own, cpu)->rings[slot].sampled;
	}
	if (!sum.total)
		return;
	if (slot < GRTRACE_RINGS)
		seq_printf(m, "%-6u", grtrace_slot_ring(slot));
	else
		seq_puts(m, "-     ");
	seq_printf(m, " %-12llu %-12llu %llu%%\n", sum.total, sum.sampled,
		   div64_u64(sum.sampled * 100 + sum.total / 2, sum.total));
}

static void sampling_show(struct seq_file *m)
{
	int slot;

	sampling_show_mode(m);
	seq_puts(m, "Ring   Total        Sampled      Rate\n");
	for (slot = 0; slot <= GRTRACE_RINGS; slot++)
		sampling_show_ring(m, slot);
}

static void sampling_clear(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(own, cpu)->rings, 0, sizeof(own->rings));
}

static bool sampling_forget(unsigned int slot)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(&per_cpu_ptr(own, cpu)->rings[slot], 0, sizeof(struct ring_counts));
	return true;
}

static const struct grtrace_stage stage = {
	.kind = GRT_STAGE_SAMPLING,
	.job = sampling_job,
	.event = sampling_event,
	.done = sampling_done,
	.update = sampling_update,
	.show = sampling_show,
	.running = sampling_running,
	.clear = sampling_clear,
	.forget = sampling_forget,
};

static void sampling_free_all(void)
{
	kvfree(spent);
	free_percpu(own);
}

static int __init sampling_init(void)
{
	int err;

	own = alloc_percpu(struct own);
	spent = kvcalloc(nr_cpu_ids, sizeof(*spent), GFP_KERNEL);
	err = own && spent ? grtrace_stage_register(&stage) : -ENOMEM;
	if (err)
		sampling_free_all();
	return err;
}

static void __exit sampling_exit(void)
{
	grtrace_stage_unregister(&stage);
	irq_work_sync(&wake); /* an event may have requested it after the steps were stopped */
	sampling_free_all();
}

module_init(sampling_init);
module_exit(sampling_exit);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("GPU tracing: sampling");
MODULE_LICENSE("GPL");
MODULE_VERSION(GRT_VERSION);
