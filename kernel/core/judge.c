// SPDX-License-Identifier: GPL-2.0
/*
 * Decides the fate of an event: level, watch list, stages and limits may drop it.
 * It also makes JOB records: if a stage needs the duration of a job for its decision, the
 * job's events are held in the table of jobs.c until COMPLETE, and become one record.
 *
 * The balance: a held event counts as `aggregated` at once, whatever happens to the JOB
 * record, which is an event with a fate of its own. If the table has no room, the event
 * counts as `unheld`.
 */
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "../compat/compiler.h"
#include "core.h"

/*
 * The events of a job that takes longer are released without its COMPLETE, so that others have
 * room.
 */
#define HELD_MAX_NS (60ULL * NSEC_PER_SEC)

static void judge_sweep_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(sweep, judge_sweep_fn);

static unsigned int judge_wanted(unsigned int what)
{
	return READ_ONCE(grtrace_wanted) & what;
}

/* Interrupts are off, which is an RCU read-side section. */
static const struct grtrace_stage *judge_stage_on(enum grt_stage kind)
{
	return rcu_dereference_sched(grtrace_stages_on[kind]);
}

static enum grt_fate judge_ask_job(enum grt_stage kind, struct grtrace_look *l)
{
	const struct grtrace_stage *s = judge_stage_on(kind);

	return s && s->job ? s->job(l) : GRT_FATE_DELIVERED;
}

static enum grt_fate judge_ask_event(enum grt_stage kind, const struct grtrace_look *l)
{
	const struct grtrace_stage *s = judge_stage_on(kind);

	return s && s->event ? s->event(l) : GRT_FATE_DELIVERED;
}

static bool judge_other_ctx(const struct grt_event *e)
{
	u64 ctx = grtrace_setting(GRT_CONFIG_trace_ctx);

	return ctx && e->ctx != ctx;
}

/* Decides about a job at its SUBMIT, or about an event of no known job; sets @l->percent. */
static enum grt_fate judge_job(struct grtrace_look *l)
{
	enum grt_fate fate;

	l->percent = 100;
	if (judge_other_ctx(l->e))
		return GRT_FATE_FILTERED;
	fate = judge_ask_job(GRT_STAGE_FILTER, l);
	if (fate != GRT_FATE_DELIVERED)
		return fate;
	if (grtrace_watch_denied(l->e))
		return GRT_FATE_WATCH_DENIED;
	return judge_ask_job(GRT_STAGE_SAMPLING, l);
}

/* Decides about an event, after the decision about its job. Return: its fate, except for LOST */
static enum grt_fate judge_event(const struct grtrace_look *l, enum grt_fate of_job)
{
	enum grt_fate fate;

	if (of_job == GRT_FATE_FILTERED || of_job == GRT_FATE_AGGREGATED || of_job == GRT_FATE_UNHELD)
		return of_job;
	fate = judge_ask_event(GRT_STAGE_FILTER, l) ?: of_job;
	if (fate == GRT_FATE_DELIVERED && l->e->type == GRT_EV_JOB)
		fate = judge_ask_event(GRT_STAGE_SAMPLING, l);
	if (fate == GRT_FATE_DELIVERED)
		fate = judge_ask_event(GRT_STAGE_AGGREGATOR, l);
	if (fate == GRT_FATE_DELIVERED && grtrace_rate_limited(l->e->time))
		fate = GRT_FATE_RATE_LIMITED;
	return fate;
}

static void judge_notify_stages(const struct grtrace_look *l, enum grt_fate fate)
{
	unsigned int kinds = READ_ONCE(grtrace_telling);
	const struct grtrace_stage *s;

	for (; kinds; kinds &= kinds - 1) {
		s = judge_stage_on(__ffs(kinds));
		if (s)
			s->done(l, fate);
	}
}

static bool judge_below_level(u8 level)
{
	return level > grtrace_setting(GRT_CONFIG_level);
}

static enum grt_fate judge_settle(struct grtrace_cpu *c, const struct grtrace_look *l,
				  const struct grtrace_job_info *by, enum grt_fate fate)
{
	if (fate == GRT_FATE_DELIVERED)
		fate = grtrace_pass(c, l->e, by);
	grtrace_account(c, fate);
	judge_notify_stages(l, fate);
	return fate;
}

/* Return: the record's fate, which later events of the job get, too. @now: the CPU's last stamp */
static enum grt_fate judge_emit_job(struct grtrace_cpu *c, u64 now, struct grt_ev_job *r,
				    const struct grtrace_job_info *job)
{
	struct grtrace_look l = { .e = &r->e, .job = job, .stamps = r, .known = true, .percent = job->percent };

	r->e.time = now;
	r->e.type = GRT_EV_JOB;
	r->e.size = sizeof(*r);
	r->e.engine = job->engine;
	r->e.sample = job->percent;
	r->e.pid = job->pid;
	r->e.tid = job->tid;
	r->e.ring = job->ring;
	r->e.device = job->device;
	if (judge_below_level(GRT_LEVEL_NORMAL))
		return judge_settle(c, &l, job, GRT_FATE_BELOW_LEVEL);
	return judge_settle(c, &l, job, judge_event(&l, GRT_FATE_DELIVERED));
}

/* The decision at the job's SUBMIT is valid unless `clear` was called since. */
static enum grt_fate judge_fate_of_job(struct grtrace_look *l)
{
	if (!l->known || !l->job->percent)
		return judge_job(l);
	l->percent = l->job->percent;
	return l->job->fate;
}

static enum grt_fate judge_begin_job(struct grtrace_look *l, struct grtrace_job_info *by, enum grt_fate fate)
{
	const struct grt_event *e = l->e;

	if (!e->ctx)
		return fate;
	if (fate == GRT_FATE_DELIVERED && judge_wanted(GRTRACE_STAGE_HOLDS))
		fate = GRT_FATE_AGGREGATED;
	by->fate = fate;
	by->percent = max_t(u8, l->percent, 1);
	l->known = grtrace_job_add(e->ctx, e->seqno, by, fate == GRT_FATE_AGGREGATED ? e : NULL);
	return fate == GRT_FATE_AGGREGATED && !l->known ? GRT_FATE_UNHELD : fate;
}

/*
 * Return: whether a job is unknown, because it is not in the table; its record can never be
 * written.
 */
static bool judge_is_unheld(const struct grtrace_look *l)
{
	return !l->known && l->e->ctx && l->e->type <= GRT_EV_COMPLETE && judge_wanted(GRTRACE_STAGE_HOLDS);
}

/* Stores the event with its job. Return: @of_job, or UNHELD: there is no room */
static enum grt_fate judge_note(struct grtrace_look *l, enum grt_fate of_job, struct grt_ev_job *stamps)
{
	bool held = of_job == GRT_FATE_AGGREGATED, asked = judge_wanted(GRTRACE_STAGE_STAMPS);

	/* for a held job, grtrace_job_add() has stored it */
	if (!asked && (!held || l->e->type == GRT_EV_SUBMIT))
		return of_job;
	if (!held && !l->known)
		return of_job;
	if (!asked)
		stamps = NULL;
	if (!grtrace_job_stamp(l->e, stamps, held))
		return held ? GRT_FATE_UNHELD : of_job;
	l->stamps = stamps;
	return of_job;
}

/* The COMPLETE of a held job, and its JOB record. Return: false: the job is not held */
static bool judge_leave(struct grtrace_cpu *c, struct grtrace_look *l, u8 level,
			const struct grtrace_job_info *by)
{
	struct grtrace_held h;
	struct grt_ev_job *r = grtrace_job_leaves(l->e, &h);

	if (!r)
		return false;
	l->stamps = r;
	judge_settle(c, l, by, judge_below_level(level) ? GRT_FATE_BELOW_LEVEL : GRT_FATE_AGGREGATED);
	grtrace_job_left(&h, judge_emit_job(c, l->e->time, r, l->job));
	return true;
}

/* Sets the remaining data about an event of no known job for stages. */
static void judge_fill_place(struct grtrace_job_info *by, const struct grt_event *e)
{
	by->submitted = 0;
	by->ring = e->ring;
	by->device = e->device;
	by->engine = e->engine;
	by->hw_ctx = 0;
	by->fate = GRT_FATE_DELIVERED;
	by->percent = 0;
	by->over = false;
}

/**
 * grtrace_emit_judged - the end of emitting, when something may stand against it
 * @c: this CPU, interrupts off
 * @e: complete but for @e->sample
 * @level: of its row
 * @by: its thread; of a SUBMIT all that is to be remembered
 * @job: its job as known from SUBMIT, or NULL
 */
void grtrace_emit_judged(struct grtrace_cpu *c, struct grt_event *e, u8 level, struct grtrace_job_info *by,
			 const struct grtrace_job_info *job)
{
	struct grtrace_look l = { .e = e, .job = job ?: by, .known = job };
	struct grt_ev_job stamps grtrace_uninitialized;
	enum grt_fate of_job, fate;

	if (!job && e->type != GRT_EV_SUBMIT)
		judge_fill_place(by, e);
	of_job = judge_fate_of_job(&l);
	if (e->type == GRT_EV_SUBMIT)
		of_job = judge_begin_job(&l, by, of_job);
	else if (of_job == GRT_FATE_DELIVERED && judge_is_unheld(&l))
		of_job = GRT_FATE_UNHELD;
	e->sample = l.percent;
	if (e->type == GRT_EV_COMPLETE && of_job == GRT_FATE_AGGREGATED) {
		if (judge_leave(c, &l, level, by))
			return;
		of_job = GRT_FATE_UNHELD;
	}
	of_job = judge_note(&l, of_job, &stamps);
	fate = judge_below_level(level) ? GRT_FATE_BELOW_LEVEL : judge_event(&l, of_job);
	judge_settle(c, &l, by, fate);
	if (e->type == GRT_EV_COMPLETE && e->ctx)
		grtrace_job_done(e->ctx, e->seqno, of_job, true);
}

/**
 * grtrace_watched - tells stages of an event that nothing stood against
 * @by, @job: as of grtrace_emit_judged(); @by of an event without job is changed
 */
void grtrace_watched(const struct grt_event *e, struct grtrace_job_info *by, const struct grtrace_job_info *job,
		     enum grt_fate fate)
{
	struct grtrace_look l = { .e = e, .job = job ?: by, .known = job, .percent = e->sample };

	if (e->type == GRT_EV_SUBMIT && e->ctx)
		l.known = true;
	else if (!job)
		judge_fill_place(by, e);
	judge_notify_stages(&l, fate);
}

/* Return: whether there was one. */
static bool judge_release_one(unsigned int *at, u64 before)
{
	struct grtrace_job_info info;
	struct grt_ev_job stamps;
	struct grtrace_cpu *c;
	unsigned long flags;
	bool found;

	local_irq_save(flags);
	c = this_cpu_ptr(&grtrace_cpus);
	found = grtrace_jobs_held(at, before, &stamps, &info);
	if (found)
		grtrace_job_done(stamps.e.ctx, stamps.e.seqno,
				 judge_emit_job(c, grtrace_stamp(c), &stamps, &info), false);
	local_irq_restore(flags);
	return found;
}

/**
 * grtrace_hold_release - lets held jobs leave as they are, grtrace_lock held
 * @before: those submitted before this, ns
 */
void grtrace_hold_release(u64 before)
{
	unsigned int at = 0;

	while (judge_release_one(&at, before))
		cond_resched();
}

static void judge_sweep_fn(struct work_struct *work)
{
	u64 now = ktime_get_mono_fast_ns();

	mutex_lock(&grtrace_lock);
	if (grtrace_running() && now > HELD_MAX_NS)
		grtrace_hold_release(now - HELD_MAX_NS);
	grtrace_hold_schedule();
	grtrace_unlock();
}

/** grtrace_hold_schedule - looks after jobs that never complete while any are held, grtrace_lock held */
void grtrace_hold_schedule(void)
{
	if (judge_wanted(GRTRACE_STAGE_HOLDS) && grtrace_running())
		schedule_delayed_work(&sweep, nsecs_to_jiffies(HELD_MAX_NS) / 4);
}

void grtrace_hold_exit(void)
{
	cancel_delayed_work_sync(&sweep);
}
