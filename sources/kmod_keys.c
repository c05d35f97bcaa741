// SPDX-License-Identifier: GPL-2.0
/*
 * The rows of control.def for commands: names, other spellings, ranges and
 * defaults of the module's settings. The module itself checks values.
 */
#include <stdlib.h>
#include <string.h>

#include "kmod.h"

#define GRT_KEY(kname, KIND, kmin, kmax, kdef, kunit, FLAGS, khelp) \
	{.name = #kname,                                            \
	 .kind = KMOD_##KIND,                                       \
	 .min = #kmin,                                              \
	 .max = #kmax,                                              \
	 .def = #kdef,                                              \
	 .unit = (kunit),                                           \
	 .flags = #FLAGS,                                           \
	 .help = (khelp)},
const struct kmod_key kmod_keys[] = {
#include <grtrace/control.def>
	{.name = NULL},
};

static const struct alias {
	const char *other;
	const char *name;
} aliases[] = {
#define GRT_ALIAS(other, name) {#other, #name},
#include <grtrace/control.def>
};
#define ALIASES (sizeof(aliases) / sizeof(aliases[0]))

static const char *const levels[] = {"off", "normal", "verbose", "debug"};

const struct kmod_key *kmod_key_find(const char *name)
{
	const struct kmod_key *k;
	size_t i;

	for (i = 0; i < ALIASES; i++)
		if (!strcmp(name, aliases[i].other))
			name = aliases[i].name;
	for (k = kmod_keys; k->name; k++)
		if (!strcmp(name, k->name))
			return k;
	return NULL;
}

const char *kmod_key_alias(const struct kmod_key *key, unsigned int n)
{
	size_t i;

	for (i = 0; i < ALIASES; i++)
		if (!strcmp(key->name, aliases[i].name) && !n--)
			return aliases[i].other;
	return NULL;
}

void kmod_key_range(const struct kmod_key *key, char *text, size_t room)
{
	switch (key->kind) {
	case KMOD_BOOL:
		snprintf(text, room, "0 or 1");
		break;
	case KMOD_LEVEL:
		snprintf(text, room, "off, normal, verbose, debug or 0..3");
		break;
	case KMOD_LIST:
		snprintf(text, room, "up to %s entries", key->max);
		break;
	case KMOD_WORD:
		snprintf(text, room, "%s or %s..%s", key->unit, key->min, key->max);
		break;
	case KMOD_IDS:
		snprintf(text, room, "up to 32 of %s..%s, joined by commas", key->min, key->max);
		break;
	default:
		snprintf(text, room, "%s..%s", key->min, key->max);
	}
}

/* Whether a value is the n-th of the words of a key, which stand in its unit column. */
static bool is_word(const char *words, unsigned long n, const char *value)
{
	size_t len = strlen(value);

	while (n-- && words) {
		words = strchr(words, '|');
		words += !!words;
	}
	return words && strcspn(words, "|") == len && !strncmp(words, value, len);
}

bool kmod_key_is_default(const struct kmod_key *key, const char *value)
{
	char *end;
	size_t i;

	if (key->kind == KMOD_LIST)
		return !*value;
	if (key->kind == KMOD_WORD)
		return is_word(key->unit, strtoul(key->def, NULL, 0), value);
	if (key->kind == KMOD_LEVEL)
		for (i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
			if (!strcmp(value, levels[i]))
				return i == strtoull(key->def, NULL, 0);
	/* Signed values wrap the same way on both sides. */
	return strtoull(value, &end, 0) == strtoull(key->def, NULL, 0) && end != value;
}
