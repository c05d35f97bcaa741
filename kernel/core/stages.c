// SPDX-License-Identifier: GPL-2.0
/*
 * The stages that are loaded, and the way of an event past them: the order
 * stands in stage.h. Each answer is a fate of fates.def, so that the balance
 * says which stage took an event.
 *
 * A setting may change while events are decided on other CPUs; an event then
 * meets the old or the new value, and is counted accordingly.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "core.h"

/* The current value of every numeric key, by enum grt_key. */
u64 grtrace_config[GRT_CONFIG_KEYS];
EXPORT_SYMBOL_GPL(grtrace_config);

/* Set when anything but the level may stand against an event: the one test of the usual path. */
bool grtrace_judging;

/* Set when a stage only wants to see what becomes of the events. */
bool grtrace_watching;

/* What the stages together have asked for, GRTRACE_STAGE_*. */
static unsigned int wanted;

/* Loaded; grtrace_lock. */
static const struct grtrace_stage *loaded[GRT_STAGES];

/* Those of them that have something to do. */
static const struct grtrace_stage __rcu *active[GRT_STAGES];

/* Interrupts are off, which is an RCU read-side section. */
static const struct grtrace_stage *stage_on(enum grt_stage kind)
{
	return rcu_dereference_sched(active[kind]);
}

static enum grt_fate ask_job(enum grt_stage kind, struct grtrace_look *l)
{
	const struct grtrace_stage *s = stage_on(kind);

	return s && s->job ? s->job(l) : GRT_FATE_DELIVERED;
}

static enum grt_fate ask_event(enum grt_stage kind, const struct grtrace_look *l)
{
	const struct grtrace_stage *s = stage_on(kind);

	return s && s->event ? s->event(l) : GRT_FATE_DELIVERED;
}

static bool other_ctx(const struct grt_event *e)
{
	u64 ctx = grtrace_setting(GRT_CONFIG_trace_ctx);

	return ctx && e->ctx != ctx;
}

/**
 * grtrace_judge_job - decides on a job at its SUBMIT, or on an event of no known job
 * @l: @l->percent is filled in
 * Return: GRT_FATE_DELIVERED when there is nothing against it
 */
enum grt_fate grtrace_judge_job(struct grtrace_look *l)
{
	enum grt_fate fate;

	l->percent = 100;
	if (other_ctx(l->e))
		return GRT_FATE_FILTERED;
	fate = ask_job(GRT_STAGE_FILTER, l);
	if (fate != GRT_FATE_DELIVERED)
		return fate;
	if (grtrace_watch_denied(l->e))
		return GRT_FATE_WATCH_DENIED;
	return ask_job(GRT_STAGE_SAMPLING, l);
}

/**
 * grtrace_judge_event - decides on an event
 * @l: the event
 * @of_job: what was decided on its job
 * Return: its fate but for LOST
 */
enum grt_fate grtrace_judge_event(const struct grtrace_look *l, enum grt_fate of_job)
{
	enum grt_fate fate;

	if (of_job == GRT_FATE_FILTERED || of_job == GRT_FATE_AGGREGATED || of_job == GRT_FATE_UNHELD)
		return of_job;
	fate = ask_event(GRT_STAGE_FILTER, l);
	if (fate == GRT_FATE_DELIVERED)
		fate = of_job;
	if (fate == GRT_FATE_DELIVERED)
		fate = ask_event(GRT_STAGE_SAMPLING, l);
	if (fate == GRT_FATE_DELIVERED)
		fate = ask_event(GRT_STAGE_AGGREGATOR, l);
	if (fate == GRT_FATE_DELIVERED && grtrace_rate_limited(l->e->time))
		fate = GRT_FATE_RATE_LIMITED;
	return fate;
}

/** grtrace_stages_done - tells all stages what became of an event; interrupts off */
void grtrace_stages_done(const struct grtrace_look *l, enum grt_fate fate)
{
	const struct grtrace_stage *s;
	int kind;

	for (kind = GRT_STAGE_CORE + 1; kind < GRT_STAGES; kind++) {
		s = stage_on(kind);
		if (s && s->done)
			s->done(l, fate);
	}
}

/** grtrace_holding - whether new jobs are to leave as JOB records */
bool grtrace_holding(void)
{
	return READ_ONCE(wanted) & GRTRACE_STAGE_HOLDS;
}

/** grtrace_stamping - whether the stamps of all jobs are to be kept */
bool grtrace_stamping(void)
{
	return READ_ONCE(wanted) & GRTRACE_STAGE_STAMPS;
}

/* Return: GRTRACE_STAGE_* of all loaded stages. */
static unsigned int ask_updates(void)
{
	unsigned int all = 0, one;
	int kind;

	for (kind = GRT_STAGE_CORE + 1; kind < GRT_STAGES; kind++) {
		one = loaded[kind] ? loaded[kind]->update() : 0;
		rcu_assign_pointer(active[kind], one & (GRTRACE_STAGE_ON | GRTRACE_STAGE_WATCHES) ? loaded[kind] : NULL);
		all |= one;
	}
	return all;
}

/** grtrace_stages_update - call after a setting has changed, grtrace_lock held */
void grtrace_stages_update(void)
{
	bool limited = grtrace_rate_update(); /* always: it takes the settings over */
	unsigned int all = ask_updates();

	/* without memory for stamps those who want them go without */
	if (all & (GRTRACE_STAGE_HOLDS | GRTRACE_STAGE_STAMPS) && grtrace_jobs_keep_stamps())
		all &= ~(GRTRACE_STAGE_HOLDS | GRTRACE_STAGE_STAMPS);
	WRITE_ONCE(wanted, all);
	WRITE_ONCE(grtrace_watching, all & GRTRACE_STAGE_WATCHES);
	WRITE_ONCE(grtrace_judging, all & ~GRTRACE_STAGE_WATCHES || grtrace_watch_count(false) || limited ||
					    grtrace_setting(GRT_CONFIG_trace_ctx));
	grtrace_hold_schedule();
}

/** grtrace_stages_running - tracing begins or has ended, grtrace_lock held */
void grtrace_stages_running(bool on)
{
	int kind;

	for (kind = GRT_STAGE_CORE + 1; kind < GRT_STAGES; kind++)
		if (loaded[kind] && loaded[kind]->running)
			loaded[kind]->running(on);
}

/** grtrace_stages_clear - zeroes the stages' counters; grtrace_lock held, tracing off */
void grtrace_stages_clear(void)
{
	int kind;

	for (kind = GRT_STAGE_CORE + 1; kind < GRT_STAGES; kind++)
		if (loaded[kind] && loaded[kind]->clear)
			loaded[kind]->clear();
}

/** grtrace_stage_get - a stage, NULL where it is not loaded; grtrace_lock held */
const struct grtrace_stage *grtrace_stage_get(enum grt_stage kind)
{
	lockdep_assert_held(&grtrace_lock);
	return loaded[kind];
}

/**
 * grtrace_stage_register - puts a stage in its place; its keys and files appear, at their defaults
 * @s: stays in use until grtrace_stage_unregister()
 * Return: 0, or -EEXIST when there is one of this kind
 */
int grtrace_stage_register(const struct grtrace_stage *s)
{
	int err = 0;

	mutex_lock(&grtrace_lock);
	if (loaded[s->kind]) {
		err = -EEXIST;
	} else {
		grtrace_config_reset(s->kind);
		loaded[s->kind] = s;
		grtrace_stages_update();
		if (s->running)
			s->running(grtrace_running());
		grtrace_control_add(s->kind);
	}
	mutex_unlock(&grtrace_lock);
	return err;
}
EXPORT_SYMBOL_GPL(grtrace_stage_register);

/**
 * grtrace_stage_unregister - takes it out; none of its callbacks runs after this
 * @s: as registered. May sleep; tracing goes on meanwhile
 */
void grtrace_stage_unregister(const struct grtrace_stage *s)
{
	/* without grtrace_lock, which the files that this waits for take */
	grtrace_control_remove(s->kind);
	mutex_lock(&grtrace_lock);
	if (s->running)
		s->running(false);
	loaded[s->kind] = NULL;
	grtrace_config_reset(s->kind);
	grtrace_stages_update();
	mutex_unlock(&grtrace_lock);
	synchronize_rcu(); /* those who still see it have interrupts off */
}
EXPORT_SYMBOL_GPL(grtrace_stage_unregister);
