// SPDX-License-Identifier: GPL-2.0
/*
 * The watch list: rings and contexts whose jobs are delivered, or are not. It is always replaced
 * as a whole, so a decision about an event uses either the old or the new one.
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core.h"

#define WATCH_MAX 64

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

static bool watch_matches(const struct watch_entry *w, const struct grt_event *e)
{
	return w->is_ctx ? e->ctx == w->value : e->ring == w->value;
}

/**
 * grtrace_watch_denied - whether the list is against an event's ring and context; interrupts off
 *
 * Deny wins; without an entry that allows, all that is not denied is allowed.
 */
bool grtrace_watch_denied(const struct grt_event *e)
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

static void watch_replace(struct watch *next)
{
	struct watch *old = rcu_replace_pointer(watch, next, lockdep_is_held(&grtrace_lock));

	if (old)
		kfree_rcu(old, rcu);
	grtrace_stages_update();
}

/* Parses one word of the list: [!][ring:|ctx:]NUMBER */
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
	if (w->is_ctx ? !w->value : w->value > INT_MAX)
		return -ERANGE;
	return 0;
}

/* Return: the index of this entry in the list, or -ENOENT. */
static int watch_find(const struct watch *w, const struct watch_entry *entry)
{
	unsigned int i;

	for (i = 0; i < w->count; i++)
		if (w->entry[i].deny == entry->deny && w->entry[i].is_ctx == entry->is_ctx &&
		    w->entry[i].value == entry->value)
			return i;
	return -ENOENT;
}

static int watch_add(struct watch *w, const struct watch_entry *entry)
{
	if (w->count == WATCH_MAX)
		return -E2BIG;
	w->entry[w->count++] = *entry;
	return 0;
}

/*
 * Applies one word of an edit. To add an entry that exists has no effect; an entry to be removed
 * must exist.
 */
static int watch_edit(struct watch *w, const struct watch_entry *entry, bool add)
{
	int at = watch_find(w, entry);

	if (add)
		return at < 0 ? watch_add(w, entry) : 0;
	if (at < 0)
		return at;
	w->count--;
	memmove(&w->entry[at], &w->entry[at + 1], (w->count - at) * sizeof(*entry));
	return 0;
}

/* @w begins as the current list, which is kept only if the words have + or -. */
static int watch_parse(struct watch *w, char *text)
{
	struct watch_entry entry;
	unsigned int words = 0;
	bool edit = false, sign;
	char *word;
	int err;

	while ((word = strsep(&text, ", \t\n"))) {
		if (!*word)
			continue;
		sign = *word == '+' || *word == '-';
		if (words++ && sign != edit)
			return -EINVAL;
		if (words == 1 && !sign)
			w->count = 0;
		edit = sign;
		memset(&entry, 0, sizeof(entry));
		err = watch_parse_word(&entry, word + sign);
		if (!err)
			err = sign ? watch_edit(w, &entry, *word == '+') : watch_add(w, &entry);
		if (err)
			return err;
	}
	if (!words)
		w->count = 0;
	return 0;
}

static void watch_find_allows(struct watch *w)
{
	unsigned int i;

	w->any_allow = false;
	for (i = 0; i < w->count; i++)
		w->any_allow |= !w->entry[i].deny;
}

/**
 * grtrace_watch_set - replaces or edits the watch list, grtrace_lock held
 * @text: changed; empty: no list
 * Return: 0, -EINVAL, -ERANGE, -E2BIG, -ENOENT (to be removed, but not there) or
 * -ENOMEM, and nothing has changed
 */
int grtrace_watch_set(char *text)
{
	const struct watch *old = rcu_dereference_protected(watch, lockdep_is_held(&grtrace_lock));
	struct watch *w = kzalloc(sizeof(*w), GFP_KERNEL);
	int err;

	if (!w)
		return -ENOMEM;
	if (old)
		*w = *old;
	err = watch_parse(w, text);
	watch_find_allows(w);
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
	}
	watch_find_allows(w);
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
