/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Several settings of the module at once: all of them are set or none, and for
 * a time only where that is wanted. What another user changes meanwhile stays
 * as he left it.
 */
#ifndef GRTRACE_KMOD_SETTINGS_H
#define GRTRACE_KMOD_SETTINGS_H

#include "kmod.h"

/* Most settings of a list: every key of control.def fits. */
#define KMOD_SETTINGS_MAX 64

/**
 * struct kmod_setting - a key and the value that it is to have
 * @key: its row
 * @origin: where it was read, "file: line 3"; NULL: typed
 * @value: as given
 * @before: what the module had; NULL: it was not changed
 * @during: what the module made of @value
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

/** kmod_settings_find - the setting of a key, NULL where the list has none */
struct kmod_setting *kmod_settings_find(struct kmod_settings *s, const struct kmod_key *key);

/**
 * kmod_settings_add - appends a setting, or gives one that is there another value
 * @origin: may be NULL
 * Return: 0, -EINVAL or -ERANGE for a value that the key does not take, -ENOMEM
 */
int kmod_settings_add(struct kmod_settings *s, const struct kmod_key *key, const char *value,
		      const char *origin, struct grt_err *err);

/**
 * kmod_settings_apply - sets what differs from what the module has
 * Return: 0, or -errno with nothing changed: what was set before the error is put back
 */
int kmod_settings_apply(struct kmod *k, struct kmod_settings *s, struct grt_err *err);

/**
 * kmod_settings_put_back - gives every changed key its former value, the last one first
 * @stopped: those that change only while tracing is off, else the others
 * @note: called for each that another program has changed since: it is kept. NULL:
 *	put back all the same
 * Return: 0 or the first error; the others are put back all the same
 */
int kmod_settings_put_back(struct kmod *k, struct kmod_settings *s, bool stopped,
			   void (*note)(const char *text), struct grt_err *err);

/** kmod_settings_free - frees the list's texts and empties it */
void kmod_settings_free(struct kmod_settings *s);

#endif /* GRTRACE_KMOD_SETTINGS_H */
