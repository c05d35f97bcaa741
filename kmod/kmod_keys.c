// SPDX-License-Identifier: GPL-2.0
/*
 * The rows of control.def for commands: names, other spellings, ranges and
 * defaults of the module's settings. The module itself checks values.
 */
#include <ctype.h>
#include <errno.h>
#include <grtrace/event_table.h>
#include <stdlib.h>
#include <string.h>

#include <grtrace/control.h>

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

/* Names of FLAGS, and of the module. */
static const struct stage {
	const char *flag;
	const char *module;
} stages[] = {
#define GRT_STAGE(NAME, name, help) {"OF(" #NAME ")", "grtrace_" #name},
#include <grtrace/stages.def>
#undef GRT_STAGE
};
#define STAGES (sizeof(stages) / sizeof(stages[0]))

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

const char *kmod_key_module(const struct kmod_key *key)
{
	size_t i;

	for (i = 0; i < STAGES; i++)
		if (strstr(key->flags, stages[i].flag))
			return stages[i].module;
	return "grtrace";
}

const char *kmod_stage(unsigned int n)
{
	return n < STAGES ? stages[n].module : NULL;
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
	case KMOD_TYPES:
		snprintf(text, room, "all, none, names of events joined by commas, -NAMES or a mask");
		break;
	case KMOD_IDS:
		snprintf(text, room, "up to 32 of %s..%s, joined by commas", key->min, key->max);
		break;
	default:
		snprintf(text, room, "%s..%s", key->min, key->max);
	}
}

bool kmod_key_is_default(const struct kmod_key *key, const char *value)
{
	char word[32], *end;

	kmod_key_default(key, word, sizeof(word));
	if (key->kind == KMOD_LIST || !strcmp(word, value))
		return !strcmp(word, value);
	/* Signed values wrap in the same way in the module and here. */
	return strtoull(value, &end, 0) == strtoull(key->def, NULL, 0) && end != value;
}

const char *kmod_key_unit(const struct kmod_key *key)
{
	return key->kind == KMOD_WORD ? "" : key->unit;
}

/* Return: the n-th name of a table with holes; NULL after the last one. */
static const char *nth_name(const char *const *names, unsigned int count, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (names[i] && !n--)
			return names[i];
	return NULL;
}

int kmod_types_text(const struct grt_type_set *types, char *text, size_t room)
{
	int n = 0;

	for (unsigned int type = 0; type < GRT_EV_MAX && (size_t)n < room; type++)
		if (grt_event_table[type].name && grt_types_has(types, type))
			n += snprintf(text + n, room - (size_t)n, "%s%s", n ? "," : "",
				      grt_event_table[type].name);
	return n;
}

static const char *type_name(unsigned int n)
{
	static const char *const sets[] = {"all", "none"};

	if (n < 2)
		return sets[n];
	n -= 2;
	for (unsigned int type = 0; type < GRT_EV_MAX; type++)
		if (grt_event_table[type].name && !n--)
			return grt_event_table[type].name;
	return NULL;
}

/* Gets the n-th of words that are separated by |. */
static bool kmod_keys_nth_word(const char *words, unsigned int n, char *text, size_t room)
{
	while (n-- && words) {
		words = strchr(words, '|');
		words += !!words;
	}
	if (words)
		snprintf(text, room, "%.*s", (int)strcspn(words, "|"), words);
	return words;
}

bool kmod_key_word(const struct kmod_key *key, unsigned int n, char *text, size_t room)
{
	const char *name = NULL;

	switch (key->kind) {
	case KMOD_WORD:
		return kmod_keys_nth_word(key->unit, n, text, room);
	case KMOD_BOOL:
		name = n < 2 ? n ? "1" : "0" : NULL;
		break;
	case KMOD_LEVEL:
		name = nth_name(levels, sizeof(levels) / sizeof(levels[0]), n);
		break;
	case KMOD_MASK:
		name = nth_name(grt_engine_names, GRT_ENGINE_MAX, n);
		break;
	case KMOD_TYPES:
		name = type_name(n);
		break;
	default:
		return false;
	}
	if (name)
		snprintf(text, room, "%s", name);
	return name;
}

void kmod_key_default(const struct kmod_key *key, char *text, size_t room)
{
	bool named = key->kind == KMOD_WORD || key->kind == KMOD_LEVEL;

	if (named && kmod_key_word(key, (unsigned int)strtoul(key->def, NULL, 0), text, room))
		return;
	snprintf(text, room, "%s", key->kind == KMOD_LIST ? "" : key->kind == KMOD_TYPES ? "all" : key->def);
}

bool kmod_key_when_stopped(const struct kmod_key *key)
{
	return strstr(key->flags, "WHEN_STOPPED");
}

bool kmod_key_is_setting(const struct kmod_key *key)
{
	return strcmp(key->name, "enable") && strcmp(key->max, "0");
}

/* A mask of events for tools that count events from 0, so that their first event has bit 0. */
static bool counts_from_zero(const struct kmod_key *key, const char *value)
{
	char *end;
	uint64_t n = strtoull(value, &end, 0);

	return key->kind == KMOD_TYPES && !*end && n & 1 && n != UINT64_MAX;
}

int kmod_key_refused(int code, const struct kmod_key *key, const char *value, struct grt_err *err)
{
	char range[96], why[160];
	const char *fix = NULL;

	kmod_key_range(key, range, sizeof(range));
	snprintf(why, sizeof(why), "it takes %s%s%s", range, *kmod_key_unit(key) ? " " : "",
		 kmod_key_unit(key));
	if (code == -EBUSY && kmod_key_when_stopped(key)) {
		snprintf(why, sizeof(why), "it cannot change while tracing is on or a stream is open");
		fix = "sudo grtrace stop, and again";
	} else if (code == -EINVAL && counts_from_zero(key, value)) {
		snprintf(why, sizeof(why), "bit 0 has no event, bit 1 is submit");
		fix = "by name: sudo grtrace config filter_events=submit,complete";
	} else if (code == -ENOMEM && key == &kmod_keys[GRT_CONFIG_buffer_size]) {
		snprintf(why, sizeof(why), "this size per CPU exceeds the available memory");
		fix = "a smaller size; grep MemAvailable /proc/meminfo";
	} else if (code != -EINVAL && code != -ERANGE) {
		snprintf(why, sizeof(why), "%s", strerror(-code));
	}
	return grt_err_set(err, code, why, fix, "cannot set %s to '%.200s'", key->name, value);
}

/* Decimal, octal or 0x, as the kernel's kstrtou64 accepts it. Return: 0, -EINVAL or -ERANGE */
static int parse_unsigned(const char *text, uint64_t *n)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	*n = strtoull(text, &end, 0);
	return *end ? -EINVAL : -errno;
}

static int check_unsigned(const struct kmod_key *key, const char *value)
{
	uint64_t n, min = strtoull(key->min, NULL, 0), max = strtoull(key->max, NULL, 0);
	int ret = parse_unsigned(value, &n);

	return ret ?: n < min || n > max ? -ERANGE : 0;
}

static int check_signed(const struct kmod_key *key, const char *value)
{
	const char *digits = value + (*value == '-');
	int64_t n;
	char *end;

	if (!isdigit((unsigned char)*digits))
		return -EINVAL;
	errno = 0;
	n = strtoll(value, &end, 0);
	if (*end)
		return -EINVAL;
	return errno || n < strtoll(key->min, NULL, 0) || n > strtoll(key->max, NULL, 0) ? -ERANGE : 0;
}

/* Numbers may be out of range; the module decides whether a name is known. */
static int kmod_keys_check_names(const struct kmod_key *key, const char *value)
{
	if (isdigit((unsigned char)*value) && !strchr(value, ','))
		return counts_from_zero(key, value) ? -EINVAL : check_unsigned(key, value);
	return *value ? 0 : -EINVAL;
}

/* Accepts one of the words, or its number. */
static int check_word(const struct kmod_key *key, const char *value)
{
	char word[32];
	unsigned int n;

	for (n = 0; kmod_key_word(key, n, word, sizeof(word)); n++)
		if (!strcmp(word, value))
			return 0;
	return check_unsigned(key, value);
}

/* An empty list is allowed. The module checks whether there are too many. */
static int check_ids(const struct kmod_key *key, const char *value)
{
	char one[32];
	size_t length;
	int ret = 0;

	for (; *value && !ret; value += length + (value[length] == ',')) {
		length = strcspn(value, ",");
		snprintf(one, sizeof(one), "%.*s", (int)length, value);
		ret = length < sizeof(one) ? check_unsigned(key, one) : -EINVAL;
	}
	return ret;
}

static int check_text(const struct kmod_key *key, const char *value)
{
	return strchr(value, '\n') ? -EINVAL : 0;
}

static int (*const checks[])(const struct kmod_key *key, const char *value) = {
	[KMOD_BOOL] = check_unsigned,
	[KMOD_U64] = check_unsigned,
	[KMOD_S64] = check_signed,
	[KMOD_MASK] = kmod_keys_check_names,
	[KMOD_LEVEL] = kmod_keys_check_names,
	[KMOD_LIST] = check_text,
	[KMOD_WORD] = check_word,
	[KMOD_IDS] = check_ids,
	[KMOD_TYPES] = kmod_keys_check_names,
};

int kmod_key_check(const struct kmod_key *key, const char *value, struct grt_err *err)
{
	int ret = checks[key->kind](key, value);

	return ret ? kmod_key_refused(ret, key, value, err) : 0;
}
