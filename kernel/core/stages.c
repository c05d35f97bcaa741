// SPDX-License-Identifier: GPL-2.0
/*
 * The loaded stages, which judge.c calls.
 *
 * A setting may change while other CPUs decide about events. An event then meets the old or the
 * new value, and is counted accordingly.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "core.h"

/* The current value of every numeric key, by enum grt_key. */
u64 grtrace_config[GRT_CONFIG_KEYS];
EXPORT_SYMBOL_GPL(grtrace_config);

/* Set if anything other than the level may drop an event: the only test on the usual path. */
bool grtrace_judging;

/* Set if a stage only wants to see the fate of events. */
bool grtrace_watching;

/* The requests of all stages together, GRTRACE_STAGE_*. */
unsigned int grtrace_wanted;

/* The loaded stages; protected by grtrace_lock. */
static const struct grtrace_stage *loaded[GRT_STAGES];

/* Stages that are being removed. */
static bool leaving[GRT_STAGES];

/* Threads that wait for grtrace_lock, or for a stage to leave. */
static DECLARE_WAIT_QUEUE_HEAD(unlocked);

/** grtrace_unlock - gives grtrace_lock back */
void grtrace_unlock(void)
{
	mutex_unlock(&grtrace_lock);
	wake_up(&unlocked);
}

/**
 * grtrace_lock_for_file - takes grtrace_lock to read or write a file of a stage
 * @stage: whose file it is
 *
 * debugfs_remove() waits for them with the directory locked (simple_recursive_removal() in Linux
 * 6.1), and who holds grtrace_lock may wait for that directory: where a buffer is made
 * anew, or for a CPU that is just coming. So they give up when the stage is to go.
 *
 * Return: 0, -ENODEV when it is being taken out, or -ERESTARTSYS when the process is killed
 */
int grtrace_lock_for_file(enum grt_stage stage)
{
	bool locked = false;
	int err;

	might_lock(&grtrace_lock); /* lockdep does not take a trylock for a wait */
	err = wait_event_killable(unlocked,
				  (locked = mutex_trylock(&grtrace_lock)) || READ_ONCE(leaving[stage]));
	return err || locked ? err : -ENODEV;
}

/* The stages that are active. */
const struct grtrace_stage __rcu *grtrace_stages_on[GRT_STAGES];

/* Stages whose done() is called, BIT(kind). */
unsigned int grtrace_telling;

/* Return: GRTRACE_STAGE_* of all loaded stages. */
static unsigned int stages_ask_updates(void)
{
	unsigned int all = 0, telling = 0, one;
	int kind;

	for (kind = GRT_STAGE_CORE + 1; kind < GRT_STAGES; kind++) {
		one = loaded[kind] ? loaded[kind]->update() : 0;
		if (one & (GRTRACE_STAGE_WATCHES | GRTRACE_STAGE_DONE))
			telling |= BIT(kind);
		rcu_assign_pointer(grtrace_stages_on[kind],
				   one & (GRTRACE_STAGE_ON | GRTRACE_STAGE_WATCHES) ? loaded[kind] : NULL);
		all |= one & ~GRTRACE_STAGE_DONE;
	}
	WRITE_ONCE(grtrace_telling, telling);
	return all;
}

/** grtrace_stages_update - call after a setting has changed, grtrace_lock held */
void grtrace_stages_update(void)
{
	bool limited = grtrace_rate_update(); /* always: it takes over settings */
	unsigned int all = stages_ask_updates();

	/* if there is no memory for stamps, stages work without them */
	if (all & (GRTRACE_STAGE_HOLDS | GRTRACE_STAGE_STAMPS) && grtrace_jobs_keep_stamps())
		all &= ~(GRTRACE_STAGE_HOLDS | GRTRACE_STAGE_STAMPS);
	WRITE_ONCE(grtrace_wanted, all);
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

/** grtrace_stages_forget - see struct grtrace_stage; grtrace_lock held. Return: whether all have */
bool grtrace_stages_forget(unsigned int slot)
{
	bool all = true;
	int kind;

	for (kind = GRT_STAGE_CORE + 1; kind < GRT_STAGES; kind++)
		if (loaded[kind] && loaded[kind]->forget)
			all &= loaded[kind]->forget(slot);
	return all;
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
	grtrace_unlock();
	return err;
}
EXPORT_SYMBOL_GPL(grtrace_stage_register);

/**
 * grtrace_stage_unregister - takes it out; none of its callbacks runs after this
 * @s: as registered. May sleep; tracing goes on meanwhile
 */
void grtrace_stage_unregister(const struct grtrace_stage *s)
{
	/*
	 * without grtrace_lock, because it waits for users of the files, see
	 * grtrace_lock_for_file()
	 */
	WRITE_ONCE(leaving[s->kind], true);
	wake_up(&unlocked);
	grtrace_control_remove(s->kind);
	mutex_lock(&grtrace_lock);
	if (s->running)
		s->running(false);
	loaded[s->kind] = NULL;
	WRITE_ONCE(leaving[s->kind], false);
	grtrace_config_reset(s->kind);
	grtrace_stages_update();
	grtrace_unlock();
	synchronize_rcu(); /* CPUs that still use the stage have interrupts off */
}
EXPORT_SYMBOL_GPL(grtrace_stage_unregister);
