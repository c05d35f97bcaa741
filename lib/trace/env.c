// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Parser of the env block: `env { key = "text"; key = 5; ... };` at the top
 * level of a TSDL text. The rest of the text is only skipped, with respect to
 * strings, comments and braces.
 */
#include "env.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"

struct scan {
	const char *start;
	const char *at;
	const char *end;
};

static bool env_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool more(const struct scan *s)
{
	return s->at < s->end;
}

static bool looking_at(const struct scan *s, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(s->end - s->at) >= n && !memcmp(s->at, text, n);
}

static void skip_until(struct scan *s, const char *text)
{
	while (more(s) && !looking_at(s, text))
		s->at++;
	s->at += more(s) ? strlen(text) : 0;
}

static void env_skip_space(struct scan *s)
{
	while (more(s)) {
		if (isspace((unsigned char)*s->at))
			s->at++;
		else if (looking_at(s, "/*"))
			skip_until(s, "*/");
		else if (looking_at(s, "//"))
			skip_until(s, "\n");
		else
			break;
	}
}

static bool env_take(struct scan *s, char c)
{
	env_skip_space(s);
	if (!more(s) || *s->at != c)
		return false;
	s->at++;
	return true;
}

static char *env_take_word(struct scan *s)
{
	const char *from;

	env_skip_space(s);
	from = s->at;
	while (more(s) && env_is_word(*s->at))
		s->at++;
	return s->at > from ? strndup(from, (size_t)(s->at - from)) : NULL;
}

/* Up to three octal digits; a value over 255 keeps its low byte. */
static char octal(struct scan *s)
{
	unsigned int v = 0;

	for (int i = 0; i < 3 && more(s) && *s->at >= '0' && *s->at <= '7'; i++)
		v = v * 8 + (unsigned int)(*s->at++ - '0');
	return (char)v;
}

static char escaped(struct scan *s)
{
	static const char from[] = "abfnrtv";
	static const char to[] = "\a\b\f\n\r\t\v";
	const char *hit;
	char c = *s->at;

	if (c >= '0' && c <= '7')
		return octal(s);
	s->at++;
	hit = c ? strchr(from, c) : NULL;
	return hit ? to[hit - from] : c;
}

/* The contents of a string after its opening quote; NULL: the string does not end. */
static char *env_take_string(struct scan *s)
{
	char *out = malloc((size_t)(s->end - s->at) + 1);
	size_t n = 0;

	while (out && more(s) && *s->at != '"') {
		char c = *s->at++;

		if (c == '\\' && more(s))
			c = escaped(s);
		out[n++] = c;
	}
	if (!out || !env_take(s, '"')) {
		free(out);
		return NULL;
	}
	out[n] = '\0';
	return out;
}

static char *env_take_number(struct scan *s)
{
	const char *from = s->at;
	const char *digits;

	if (more(s) && *s->at == '-')
		s->at++;
	digits = s->at;
	while (more(s) && env_is_word(*s->at))
		s->at++;
	if (s->at == digits || !isdigit((unsigned char)*digits))
		return NULL;
	return strndup(from, (size_t)(s->at - from));
}

static int env_add_entry(struct grt_env_list *env, char *key, char *value)
{
	int ret = key && value ? grt_grow_one(&env->entry, env->used) : -EINVAL;

	if (ret) {
		free(key);
		free(value);
		return ret;
	}
	env->entry[env->used].key = key;
	env->entry[env->used++].value = value;
	return 0;
}

static int env_take_entry(struct scan *s, struct grt_env_list *env)
{
	char *key = env_take_word(s);
	char *value = NULL;
	int ret;

	if (key && env_take(s, '=')) {
		env_skip_space(s);
		value = env_take(s, '"') ? env_take_string(s) : env_take_number(s);
	}
	ret = env_add_entry(env, key, value);
	if (ret)
		return ret;
	return env_take(s, ';') ? 0 : -EINVAL;
}

static int take_env(struct scan *s, struct grt_env_list *env)
{
	int ret = 0;

	if (!env_take(s, '{'))
		return -EINVAL;
	while (!ret && !env_take(s, '}'))
		ret = more(s) ? env_take_entry(s, env) : -EINVAL;
	return ret;
}

/* Steps over one token that is not part of the env block. */
static int skip_token(struct scan *s, int *depth)
{
	char *text;

	if (env_is_word(*s->at)) {
		while (more(s) && env_is_word(*s->at))
			s->at++;
		return 0;
	}
	if (*s->at == '"') {
		s->at++;
		text = env_take_string(s);
		free(text);
		return text ? 0 : -EINVAL;
	}
	*depth += (*s->at == '{') - (*s->at == '}');
	s->at++;
	return *depth < 0 ? -EINVAL : 0;
}

static bool at_env(const struct scan *s)
{
	return looking_at(s, "env") && s->end - s->at > 3 && !env_is_word(s->at[3]);
}

int grt_env_parse(struct grt_env_list *env, const char *text, size_t len, size_t *offset)
{
	struct scan s = {text, text, text + len};
	int depth = 0;
	int ret = 0;

	for (env_skip_space(&s); !ret && more(&s); env_skip_space(&s)) {
		if (depth == 0 && at_env(&s)) {
			s.at += strlen("env");
			ret = take_env(&s, env);
		} else {
			ret = skip_token(&s, &depth);
		}
	}
	*offset = (size_t)(s.at - s.start);
	return ret ? ret : depth ? -EINVAL : 0;
}

const char *grt_env_get(const struct grt_env_list *env, const char *key)
{
	for (unsigned int i = 0; i < env->used; i++)
		if (!strcmp(env->entry[i].key, key))
			return env->entry[i].value;
	return NULL;
}

uint64_t grt_env_number(const char *value, const char *name)
{
	size_t length = strlen(name);

	for (; *value; value += strcspn(value, " "), value += *value == ' ')
		if (!strncmp(value, name, length) && value[length] == '=')
			return strtoull(value + length + 1, NULL, 10);
	return 0;
}

void grt_env_free(struct grt_env_list *env)
{
	for (unsigned int i = 0; i < env->used; i++) {
		free(env->entry[i].key);
		free(env->entry[i].value);
	}
	free(env->entry);
	env->entry = NULL;
	env->used = 0;
}

/* ---------------------------------------------------------------- window */

/* Windows as text in the metadata: "from=NS to=NS before_start=N after_end=N counted=N deleted=N". */

#define SUFFIX "_window"

/* The names of the members; @to is omitted while it is unknown, and @deleted while it is 0. */
static const struct {
	const char *name;
	size_t offset;
	bool always;
} members[] = {
	{"from", offsetof(struct grt_window, from), true},
	{"to", offsetof(struct grt_window, to), true},
	{"before_start", offsetof(struct grt_window, before), true},
	{"after_end", offsetof(struct grt_window, after), true},
	{"counted", offsetof(struct grt_window, counted), true},
	{"deleted", offsetof(struct grt_window, deleted), false},
};
#define MEMBERS (sizeof(members) / sizeof(members[0]))

void grt_window_text(const struct grt_window *w, char text[GRT_WINDOW_TEXT])
{
	size_t used = 0;
	uint64_t value;

	for (size_t i = 0; i < MEMBERS; i++) {
		memcpy(&value, (const char *)w + members[i].offset, sizeof(value));
		if (value != UINT64_MAX && (value || members[i].always))
			used += (size_t)snprintf(text + used, GRT_WINDOW_TEXT - used, "%s%s=%" PRIu64,
						 used ? " " : "", members[i].name, value);
	}
}

static void window_take_word(struct grt_window *w, const char *word)
{
	size_t length = strcspn(word, "= ");
	uint64_t value;

	for (size_t i = 0; i < MEMBERS && word[length] == '='; i++)
		if (strlen(members[i].name) == length && !strncmp(word, members[i].name, length)) {
			value = strtoull(word + length + 1, NULL, 10);
			memcpy((char *)w + members[i].offset, &value, sizeof(value));
		}
}

bool grt_window_read(struct grt_window *w, const char *text)
{
	*w = (struct grt_window){.from = UINT64_MAX, .to = UINT64_MAX};
	for (; *text; text += strcspn(text, " "), text += *text == ' ')
		window_take_word(w, text);
	return w->from != UINT64_MAX && w->from <= w->to;
}

bool grt_window_of(struct grt_window *w, const struct grt_env_list *env, const char *source, size_t len)
{
	char key[64];
	const char *text;

	snprintf(key, sizeof(key), "%.*s" SUFFIX, (int)len, source);
	text = grt_env_get(env, key);
	return text && grt_window_read(w, text);
}

bool grt_window_common(struct grt_window *w, const struct grt_env_list *env, const char **shortest)
{
	const size_t suffix = strlen(SUFFIX);
	const char *first = NULL;
	struct grt_window one;
	bool differ = false;

	*w = (struct grt_window){.to = UINT64_MAX};
	for (unsigned int i = 0; i < env->used; i++) {
		const char *key = env->entry[i].key;
		size_t len = strlen(key);

		if (len <= suffix || strcmp(key + len - suffix, SUFFIX) ||
		    !grt_window_read(&one, env->entry[i].value))
			continue;
		differ |= first && one.to != w->to;
		if (!first || one.to < w->to)
			first = key;
		w->from = one.from > w->from ? one.from : w->from;
		w->to = one.to < w->to ? one.to : w->to;
		w->before += one.before;
		w->after += one.after;
		w->counted += one.counted;
		w->deleted += one.deleted;
	}
	*shortest = differ ? first : NULL;
	return first && w->from <= w->to;
}
