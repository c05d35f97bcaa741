/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a text is JSON, by RFC 8259, UTF-8 included: for checking what is
 * written, so nothing of the program's own reader is used.
 */
#ifndef JSON_CHECK_H
#define JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct json_text {
	const unsigned char *at;
	const unsigned char *end;
	unsigned int depth;
};

#define JSON_DEPTH_MAX 256

static inline bool json_value(struct json_text *t);

static inline void json_space(struct json_text *t)
{
	while (t->at < t->end && strchr(" \t\r\n", *t->at) && *t->at)
		t->at++;
}

static inline bool json_char(struct json_text *t, char c)
{
	if (t->at == t->end || *t->at != (unsigned char)c)
		return false;
	t->at++;
	return true;
}

static inline bool json_word(struct json_text *t, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n))
		return false;
	t->at += n;
	return true;
}

/* One character of several bytes: shortest form, no surrogates, at most U+10FFFF. */
static inline bool json_utf8(struct json_text *t)
{
	unsigned int c = *t->at, more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
	unsigned int value = c & (0x3fU >> more);

	if (c < 0xc2 || c > 0xf4 || (size_t)(t->end - t->at) <= more)
		return false;
	for (t->at++; more--; t->at++) {
		if ((*t->at & 0xc0) != 0x80)
			return false;
		value = value << 6 | (*t->at & 0x3f);
	}
	if (value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return false;
	return c < 0xe0 || (c < 0xf0 ? value >= 0x800 : value >= 0x10000);
}

static inline bool json_escape(struct json_text *t)
{
	if (t->at == t->end || !strchr("\"\\/bfnrtu", *t->at) || !*t->at)
		return false;
	if (*t->at++ != 'u')
		return true;
	for (int i = 0; i < 4; i++, t->at++)
		if (t->at == t->end || !strchr("0123456789abcdefABCDEF", *t->at) || !*t->at)
			return false;
	return true;
}

static inline bool json_string(struct json_text *t)
{
	if (!json_char(t, '"'))
		return false;
	while (t->at < t->end && *t->at != '"') {
		if (*t->at < 0x20)
			return false;
		if (*t->at >= 0x80) {
			if (!json_utf8(t))
				return false;
		} else if (*t->at++ == '\\' && !json_escape(t)) {
			return false;
		}
	}
	return json_char(t, '"');
}

static inline size_t json_digits(struct json_text *t)
{
	const unsigned char *from = t->at;

	while (t->at < t->end && *t->at >= '0' && *t->at <= '9')
		t->at++;
	return (size_t)(t->at - from);
}

static inline bool json_number(struct json_text *t)
{
	json_char(t, '-');
	if (!json_char(t, '0') && !json_digits(t))
		return false;
	if (json_char(t, '.') && !json_digits(t))
		return false;
	if (!json_char(t, 'e') && !json_char(t, 'E'))
		return true;
	if (!json_char(t, '+'))
		json_char(t, '-');
	return json_digits(t);
}

/* What stands between brackets; with @keys each value has a name. */
static inline bool json_list(struct json_text *t, char close, bool keys)
{
	json_space(t);
	if (json_char(t, close))
		return true;
	do {
		json_space(t);
		if (keys && (!json_string(t) || (json_space(t), !json_char(t, ':'))))
			return false;
		if (!json_value(t))
			return false;
		json_space(t);
	} while (json_char(t, ','));
	return json_char(t, close);
}

static inline bool json_value(struct json_text *t)
{
	bool good;

	json_space(t);
	if (t->at == t->end || ++t->depth > JSON_DEPTH_MAX)
		return false;
	if (json_char(t, '{'))
		good = json_list(t, '}', true);
	else if (json_char(t, '['))
		good = json_list(t, ']', false);
	else if (*t->at == '"')
		good = json_string(t);
	else
		good = json_word(t, "true") || json_word(t, "false") || json_word(t, "null") || json_number(t);
	t->depth--;
	return good;
}

/** json_check - whether @text is one JSON value */
static inline bool json_check(const char *text, size_t size)
{
	struct json_text t = {(const unsigned char *)text, (const unsigned char *)text + size, 0};

	if (!json_value(&t))
		return false;
	json_space(&t);
	return t.at == t.end;
}

/** json_check_lines - whether each line of @text is one */
static inline bool json_check_lines(const char *text, size_t size)
{
	for (const char *end = text + size, *next; text < end; text = next) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		next = newline ? newline + 1 : end;
		if (!json_check(text, (size_t)(next - text)))
			return false;
	}
	return true;
}

#endif /* JSON_CHECK_H */
