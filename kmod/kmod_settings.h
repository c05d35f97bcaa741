/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes several settings of the module at once, either all or none, and can
 * restore them later. A setting that another program has changed in the meantime
 * keeps its new value.
 */
#ifndef GRTRACE_KMOD_SETTINGS_H
#define GRTRACE_KMOD_SETTINGS_H

#include "kmod.h"

/* Most settings of a list: enough for all keys of control.def. */
#define KMOD_SETTINGS_MAX 64

/**
 * struct kmod_setting - a key and its new value
 * @key: its row
 * @origin: where the setting was read, "file: line 3"; NULL: typed
 * @value: as given
 * @before: the module's value before; NULL: it was not changed
 * @during: the module's value after @value was set
 */
struct kmod_setting {
	const struct kmod_key *key;
	char *origin;
	char *value;
	char *before;
	char *during;
};

/** struct kmod_settings - a list of settings, no key twice; all zero is empty */
struct kmod_settings {
	struct kmod_setting of[KMOD_SETTINGS_MAX];
	unsigned int n;
};

/** kmod_settings_find - the setting of a key, NULL if the list has none */
struct kmod_setting *kmod_settings_find(struct kmod_settings *s, const struct kmod_key *key);

/**
 * kmod_settings_add - appends a setting, or changes the value of an existing one
 * @origin: may be NULL
 * Return: 0, -EINVAL or -ERANGE for a value that the key does not take, -ENOMEM
 */
int kmod_settings_add(struct kmod_settings *s, const struct kmod_key *key, const char *value,
		      const char *origin, struct grt_err *err);

/**
 * kmod_settings_apply - sets all settings that differ from the module's values
 * Return: 0, or -errno with nothing changed: settings before the error are restored
 */
int kmod_settings_apply(struct kmod *k, struct kmod_settings *s, struct grt_err *err);

/**
 * kmod_settings_put_back - restores the former value of every changed key, in reverse order
 * @stopped: restore the keys that change only while tracing is off; else the other keys
 * @note: called for each key that another program has changed since, which keeps its new value. NULL:
 *	restore such keys, too
 * Return: 0 or the first error; the remaining keys are restored anyway
 */
int kmod_settings_put_back(struct kmod *k, struct kmod_settings *s, bool stopped,
			   void (*note)(const char *text), struct grt_err *err);

/** kmod_settings_free - frees the list's texts and empties it */
void kmod_settings_free(struct kmod_settings *s);

#endif /* GRTRACE_KMOD_SETTINGS_H */
