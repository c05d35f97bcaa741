// SPDX-License-Identifier: GPL-2.0
/*
 * Sets several keys of the module, all or none, and restores them, see kmod_settings.h. Each value is
 * checked against its row before the first one is set.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "kmod_settings.h"

/* Enough for a value as the module prints it. */
#define VALUE_ROOM 4096

static int kmod_settings_no_memory(struct grt_err *err)
{
	return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for the module's settings");
}

/* @what begins with the place where the setting was read. Return: @code */
static int name_origin(const struct kmod_setting *s, int code, struct grt_err *err)
{
	char what[sizeof(err->what)];

	if (!s->origin || !err)
		return code;
	snprintf(what, sizeof(what), "%s", err->what);
	snprintf(err->what, sizeof(err->what), "%.200s: %.300s", s->origin, what);
	return code;
}

struct kmod_setting *kmod_settings_find(struct kmod_settings *s, const struct kmod_key *key)
{
	unsigned int i;

	for (i = 0; i < s->n; i++)
		if (s->of[i].key == key)
			return &s->of[i];
	return NULL;
}

static void free_setting(struct kmod_setting *s)
{
	free(s->origin);
	free(s->value);
	free(s->before);
	free(s->during);
	*s = (struct kmod_setting){0};
}

int kmod_settings_add(struct kmod_settings *s, const struct kmod_key *key, const char *value,
		      const char *origin, struct grt_err *err)
{
	struct kmod_setting *at = kmod_settings_find(s, key);
	struct kmod_setting new = {.key = key, .value = strdup(value)};
	int ret;

	new.origin = origin ? strdup(origin) : NULL;
	if (!new.value || (origin && !new.origin) || (!at && s->n == KMOD_SETTINGS_MAX))
		ret = kmod_settings_no_memory(err);
	else
		ret = name_origin(&new, kmod_key_check(key, value, err), err);
	if (ret) {
		free_setting(&new);
		return ret;
	}
	if (!at)
		at = &s->of[s->n++];
	free_setting(at);
	*at = new;
	return 0;
}

/*
 * The value of a key in the text of `config`, which the caller frees; NULL: the text does not have the key.
 */
static char *value_in(const char *config, const struct kmod_key *key)
{
	char value[VALUE_ROOM];

	return kmod_line(config, key->name, value, sizeof(value)) ? strdup(value) : NULL;
}

/* If the module of its stage is not loaded, a key has its default. Return: >= 0 or -errno */
static int find_before(struct kmod *k, struct kmod_setting *s, const char *config, struct grt_err *err)
{
	s->before = value_in(config, s->key);
	if (!s->before && !kmod_key_is_default(s->key, s->value))
		return name_origin(s, kmod_no_key(k, s->key, err), err);
	if (s->before && !strcmp(s->before, s->value)) {
		free(s->before);
		s->before = NULL;
	}
	return s->before != NULL;
}

/* A setting that was not changed is not restored. */
static int set_one(struct kmod *k, struct kmod_setting *s, struct grt_err *err)
{
	int ret = s->before ? kmod_set(k, s->key->name, s->value, err) : 0;

	return ret ? name_origin(s, ret, err) : 0;
}

static void forget_before(struct kmod_settings *s, unsigned int from)
{
	for (; from < s->n; from++) {
		free(s->of[from].before);
		s->of[from].before = NULL;
	}
}

/* Reads the values as the module stores them, so that a change by another user can be distinguished. */
static int look_at_result(struct kmod *k, struct kmod_settings *s, struct grt_err *err)
{
	char *config = kmod_read(k, "config", err);
	unsigned int i;

	if (!config)
		return -errno;
	for (i = 0; i < s->n; i++)
		if (s->of[i].before)
			s->of[i].during = value_in(config, s->of[i].key);
	free(config);
	return 0;
}

static int apply_all(struct kmod *k, struct kmod_settings *s, const char *config, struct grt_err *err)
{
	unsigned int i, set = 0;
	int ret = 0;

	for (i = 0; i < s->n && ret >= 0; i++)
		ret = find_before(k, &s->of[i], config, err);
	for (; set < s->n && ret >= 0; set += ret >= 0)
		ret = set_one(k, &s->of[set], err);
	if (ret >= 0)
		return look_at_result(k, s, err);
	forget_before(s, set);
	return ret;
}

static int apply_or_undo(struct kmod *k, struct kmod_settings *s, struct grt_err *err)
{
	char *config = kmod_read(k, "config", err);
	int ret = config ? apply_all(k, s, config, err) : -errno;

	free(config);
	if (ret) {
		kmod_settings_put_back(k, s, false, NULL, NULL);
		kmod_settings_put_back(k, s, true, NULL, NULL);
	}
	return ret;
}

int kmod_settings_apply(struct kmod *k, struct kmod_settings *s, struct grt_err *err)
{
	sigset_t all, before;
	int ret;

	/* Ctrl-C between two settings would leave only some of them changed. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	ret = apply_or_undo(k, s, err);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ret;
}

/* Return: whether another program has changed the setting since */
static bool is_changed_by_another(const struct kmod_setting *s, const char *config,
				  void (*note)(const char *text))
{
	char text[3 * VALUE_ROOM], now[VALUE_ROOM];

	if (!note || !s->during || !kmod_line(config, s->key->name, now, sizeof(now)) ||
	    !strcmp(now, s->during))
		return false;
	snprintf(
		text, sizeof(text),
		"%s was changed by another program during the recording, from '%s' to '%s': record does not restore it (value before: '%s')",
		s->key->name, s->during, now, s->before);
	note(text);
	return true;
}

int kmod_settings_put_back(struct kmod *k, struct kmod_settings *s, bool stopped,
			   void (*note)(const char *text), struct grt_err *err)
{
	char *config = kmod_read(k, "config", err);
	struct kmod_setting *one;
	int ret = config ? 0 : -errno, last;

	for (one = s->of + s->n; config && one-- > s->of;) {
		if (!one->before || kmod_key_when_stopped(one->key) != stopped)
			continue;
		last = is_changed_by_another(one, config, note)
			       ? 0
			       : kmod_set(k, one->key->name, one->before, err);
		ret = ret ?: last;
		free(one->before);
		one->before = NULL;
	}
	free(config);
	return ret;
}

void kmod_settings_free(struct kmod_settings *s)
{
	while (s->n)
		free_setting(&s->of[--s->n]);
}
