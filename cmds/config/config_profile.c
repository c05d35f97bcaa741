// SPDX-License-Identifier: GPL-2.0
/*
 * The profiles of profiles.def as settings.
 */
#include <string.h>

#include <grtrace/control.h>

#include "config.h"

/* A setting of a profile; a list of them ends with one without value. */
struct profile_value {
	enum grt_key key;
	const char *value;
};

#define GRT_SET(key, value) {GRT_CONFIG_##key, #value},
#define GRT_PROFILE(name, settings, help) \
	static const struct profile_value profile_##name[] = {settings{GRT_CONFIG_KEYS, NULL}};
#include "profiles.def"
#undef GRT_PROFILE
#undef GRT_SET

static const struct profile {
	const char *name;
	const struct profile_value *values;
} profiles[] = {
#define GRT_PROFILE(name, settings, help) {#name, profile_##name},
#include "profiles.def"
#undef GRT_PROFILE
};
#define PROFILES (sizeof(profiles) / sizeof(profiles[0]))

static const struct profile *config_profile_find(const char *name)
{
	size_t i;

	for (i = 0; i < PROFILES; i++)
		if (!strcmp(name, profiles[i].name))
			return &profiles[i];
	return NULL;
}

bool config_is_profile(const char *name)
{
	return config_profile_find(name) != NULL;
}

/* Adds the defaults of all keys that any profile sets, if the module has them. */
static int add_defaults(struct kmod_settings *s, const char *config, struct grt_err *err)
{
	const struct profile_value *v;
	const struct kmod_key *key;
	char value[4096], usual[64];
	int ret = 0;
	size_t i;

	for (i = 0; i < PROFILES; i++)
		for (v = profiles[i].values; v->value && !ret; v++) {
			key = &kmod_keys[v->key];
			kmod_key_default(key, usual, sizeof(usual));
			if (kmod_line(config, key->name, value, sizeof(value)))
				ret = kmod_settings_add(s, key, usual, NULL, err);
		}
	return ret;
}

int config_profile(struct kmod_settings *s, const char *name, const char *config, struct grt_err *err)
{
	const struct profile_value *v;
	int ret = add_defaults(s, config, err);

	for (v = config_profile_find(name)->values; v->value && !ret; v++)
		ret = kmod_settings_add(s, &kmod_keys[v->key], v->value, NULL, err);
	return ret;
}
