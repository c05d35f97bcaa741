// SPDX-License-Identifier: GPL-2.0
/*
 * What is not delivered, and why: filters, watch list, sampling and rate, in this
 * order, after the level, which emit.c looks at itself. Each answer is a fate of fates.def, so that the balance says
 * which limit took an event.
 *
 * A setting may change while events are decided on other CPUs; an event then
 * meets the old or the new value, and is counted accordingly.
 */
#include <linux/hash.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core.h"

#define WATCH_MAX 64

/* The current value of every numeric key, by enum grt_key. */
u64 grtrace_config[GRT_CONFIG_KEYS];

/* Set when any limit but the level differs from its default: the one test of the usual path. */
bool grtrace_limits_active;

struct watch_entry {
	bool deny;
	bool is_ctx;
	u64 value;
};

struct watch {
	struct rcu_head rcu;
	unsigned int count;
	bool any_allow;
	struct watch_entry entry[WATCH_MAX];
};

static struct watch __rcu *watch;

/* The second that max_events_per_sec counts in. */
static atomic64_t window_start;
static atomic_t window_count;

static u64 setting(enum grt_key key)
{
	return READ_ONCE(grtrace_config[key]);
}

static bool filtered(const struct grt_event *e)
{
	s64 ring = (s64)setting(GRT_CONFIG_filter_ring_id);
	u64 ctx = setting(GRT_CONFIG_trace_ctx);
	u64 pid = setting(GRT_CONFIG_filter_pid);

	return !(setting(GRT_CONFIG_filter_type_mask) >> e->type & 1) ||
	       !(setting(GRT_CONFIG_filter_engine_mask) >> e->engine & 1) ||
	       (ring >= 0 && e->ring != ring) || (ctx && e->ctx != ctx) || (pid && e->pid != pid);
}

static bool watch_matches(const struct watch_entry *w, const struct grt_event *e)
{
	return w->is_ctx ? e->ctx == w->value : e->ring == w->value;
}

/* Deny wins; without an entry that allows, all that is not denied is allowed. */
static bool watch_denied(const struct grt_event *e)
{
	const struct watch *w = rcu_dereference_sched(watch);
	bool allowed;
	unsigned int i;

	if (!w)
		return false;
	allowed = !w->any_allow;
	for (i = 0; i < w->count; i++) {
		if (!watch_matches(&w->entry[i], e))
			continue;
		if (w->entry[i].deny)
			return true;
		allowed = true;
	}
	return !allowed;
}

/*
 * A job is kept whole or not at all, so its identity decides; events that
 * belong to none are taken at the same rate, evenly.
 */
static bool sampled_out(struct grtrace_cpu *c, const struct grt_event *e)
{
	u32 percent = setting(GRT_CONFIG_sample);

	if (percent >= 100)
		return false;
	if (e->ctx)
		return (hash_64(e->ctx * GOLDEN_RATIO_64 ^ e->seqno, 32) * 100ULL) >> 32 >= percent;
	c->sampler += percent;
	if (c->sampler < 100)
		return true;
	c->sampler -= 100;
	return false;
}

static bool rate_limited(const struct grt_event *e)
{
	u32 limit = setting(GRT_CONFIG_max_events_per_sec);
	s64 start;

	if (!limit)
		return false;
	start = atomic64_read(&window_start);
	if ((s64)e->time - start >= NSEC_PER_SEC &&
	    atomic64_cmpxchg(&window_start, start, e->time) == start)
		atomic_set(&window_count, 0);
	return (u32)atomic_inc_return(&window_count) > limit;
}

/**
 * grtrace_limit - decides on an event while any limit is in force
 * @c: this CPU, interrupts off
 * @e: complete but for its size
 * Return: GRT_FATE_DELIVERED when there is nothing against it
 */
enum grt_fate grtrace_limit(struct grtrace_cpu *c, const struct grt_event *e)
{
	if (filtered(e))
		return GRT_FATE_FILTERED;
	if (watch_denied(e))
		return GRT_FATE_WATCH_DENIED;
	if (sampled_out(c, e))
		return GRT_FATE_SAMPLED_OUT;
	if (rate_limited(e))
		return GRT_FATE_RATE_LIMITED;
	return GRT_FATE_DELIVERED;
}

static bool differs(enum grt_key key, u64 value)
{
	return setting(key) != value;
}

/** grtrace_limits_update - call after a setting has changed, grtrace_lock held */
void grtrace_limits_update(void)
{
	bool active = differs(GRT_CONFIG_trace_ctx, 0) || differs(GRT_CONFIG_sample, 100) || differs(GRT_CONFIG_max_events_per_sec, 0) ||
		      differs(GRT_CONFIG_filter_engine_mask, U32_MAX) ||
		      differs(GRT_CONFIG_filter_ring_id, -1) ||
		      differs(GRT_CONFIG_filter_type_mask, U64_MAX) || differs(GRT_CONFIG_filter_pid, 0) ||
		      rcu_access_pointer(watch);

	WRITE_ONCE(grtrace_limits_active, active);
}

static void watch_replace(struct watch *next)
{
	struct watch *old = rcu_replace_pointer(watch, next, lockdep_is_held(&grtrace_lock));

	if (old)
		kfree_rcu(old, rcu);
	grtrace_limits_update();
}

/* One word of the list: [!][ring:|ctx:]NUMBER */
static int watch_parse_word(struct watch_entry *w, const char *word)
{
	if (*word == '!') {
		w->deny = true;
		word++;
	}
	if (str_has_prefix(word, "ctx:")) {
		w->is_ctx = true;
		word += strlen("ctx:");
	} else if (str_has_prefix(word, "ring:")) {
		word += strlen("ring:");
	}
	if (kstrtou64(word, 0, &w->value))
		return -EINVAL;
	if (w->is_ctx ? !w->value : w->value >= GRTRACE_RINGS)
		return -ERANGE;
	return 0;
}

static int watch_parse(struct watch *w, char *text)
{
	char *word;
	int err;

	while ((word = strsep(&text, ", \t\n"))) {
		if (!*word)
			continue;
		if (w->count == WATCH_MAX)
			return -E2BIG;
		err = watch_parse_word(&w->entry[w->count], word);
		if (err)
			return err;
		w->any_allow |= !w->entry[w->count].deny;
		w->count++;
	}
	return 0;
}

/**
 * grtrace_watch_set - replaces the watch list, grtrace_lock held
 * @text: changed; empty: no list
 * Return: 0, -EINVAL, -ERANGE, -E2BIG or -ENOMEM, and nothing has changed
 */
int grtrace_watch_set(char *text)
{
	struct watch *w = kzalloc(sizeof(*w), GFP_KERNEL);
	int err;

	if (!w)
		return -ENOMEM;
	err = watch_parse(w, text);
	if (err || !w->count) {
		kfree(w);
		w = NULL;
	}
	if (!err)
		watch_replace(w);
	return err;
}

/**
 * grtrace_watch_drop - removes entries, grtrace_lock held
 * @rings_only: only those that name a ring
 * Return: 0 or -ENOMEM
 */
int grtrace_watch_drop(bool rings_only)
{
	const struct watch *old = rcu_dereference_protected(watch, lockdep_is_held(&grtrace_lock));
	struct watch *w;
	unsigned int i;

	if (!old)
		return 0;
	w = kzalloc(sizeof(*w), GFP_KERNEL);
	if (!w)
		return -ENOMEM;
	for (i = 0; rings_only && i < old->count; i++) {
		if (!old->entry[i].is_ctx)
			continue;
		w->entry[w->count++] = old->entry[i];
		w->any_allow |= !old->entry[i].deny;
	}
	if (!w->count) {
		kfree(w);
		w = NULL;
	}
	watch_replace(w);
	return 0;
}

/** grtrace_watch_print - the list as it can be written back, without newline; grtrace_lock held */
int grtrace_watch_print(char *buf, size_t size)
{
	const struct watch *w = rcu_dereference_protected(watch, lockdep_is_held(&grtrace_lock));
	unsigned int i;
	int n = 0;

	for (i = 0; w && i < w->count; i++)
		n += scnprintf(buf + n, size - n, "%s%s%s%llu", i ? " " : "", w->entry[i].deny ? "!" : "",
			       w->entry[i].is_ctx ? "ctx:" : "ring:", w->entry[i].value);
	return n;
}

/** grtrace_watch_count - entries, or those that name a ring; grtrace_lock held */
unsigned int grtrace_watch_count(bool rings_only)
{
	const struct watch *w = rcu_dereference_protected(watch, lockdep_is_held(&grtrace_lock));
	unsigned int i, n = 0;

	for (i = 0; w && i < w->count; i++)
		n += !rings_only || !w->entry[i].is_ctx;
	return n;
}

void grtrace_watch_exit(void)
{
	kfree(rcu_replace_pointer(watch, NULL, true));
}
