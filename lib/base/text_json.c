// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Text inside of JSON, see text_json.h. The JSON around it is examined byte by byte and never stored, so it
 * may have any length, be truncated, or be no JSON at all.
 */
#include "text_json.h"

#include <string.h>

#include "scan.h"

#define KEY "systemTraceEvents"
#define KEY_LEN (sizeof(KEY) - 1)
/* A string other than the key. */
#define OTHER 255

enum state {
	OUTSIDE,
	STRING,
	STRING_ESCAPE,
	BEHIND_KEY,
	BEFORE_VALUE,
	VALUE,
	VALUE_ESCAPE,
	VALUE_HEX,
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const char *text_json_skip_space(const char *p, const char *end)
{
	while (p < end && is_space(*p))
		p++;
	return p;
}

/* {"traceEvents": ... or the string itself near the beginning: other JSON is lines of events. */
void grt_text_json_begin(struct grt_text_json *j, const char *head, size_t len)
{
	const char *p = text_json_skip_space(head, head + len), *end = head + len;

	*j = (struct grt_text_json){.on = false};
	if (p == end || *p != '{')
		return;
	p = text_json_skip_space(p + 1, end);
	j->on = ((size_t)(end - p) > 13 && !memcmp(p, "\"traceEvents\"", 13)) ||
		memmem(head, len, "\"" KEY "\"", KEY_LEN + 2);
}

static uint8_t match(uint8_t matched, char c)
{
	return matched < KEY_LEN && KEY[matched] == c ? matched + 1 : OTHER;
}

/* The state after a byte that is not part of the text. */
static enum state text_json_pass(struct grt_text_json *j, char c)
{
	switch ((enum state)j->state) {
	case STRING:
		if (c == '"')
			return j->matched == KEY_LEN ? BEHIND_KEY : OUTSIDE;
		j->matched = match(j->matched, c);
		return c == '\\' ? STRING_ESCAPE : STRING;
	case STRING_ESCAPE:
		return STRING;
	case BEHIND_KEY:
		if (is_space(c) || c == ':')
			return c == ':' ? BEFORE_VALUE : BEHIND_KEY;
		break;
	case BEFORE_VALUE:
		if (is_space(c) || c == '"')
			return c == '"' ? VALUE : BEFORE_VALUE;
		break;
	default:
		break;
	}
	j->matched = 0;
	return c == '"' ? STRING : OUTSIDE;
}

/*
 * One half of a surrogate pair is not a character; a NUL would end the line. Return: bytes written, at most 3
 */
static size_t put_code(char *out, uint16_t code)
{
	if (code < 0x80) {
		out[0] = code ? (char)code : ' ';
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code >= 0xd800 && code < 0xe000) {
		out[0] = '?';
		return 1;
	}
	out[0] = (char)(0xe0 | code >> 12);
	out[1] = (char)(0x80 | (code >> 6 & 0x3f));
	out[2] = (char)(0x80 | (code & 0x3f));
	return 3;
}

static char unescaped(char c)
{
	static const char names[] = "nrtbf", means[] = "\n\r\t  ";
	const char *at = c ? strchr(names, c) : NULL;

	return at ? means[at - names] : c;
}

/* Converts a byte after a backslash. Return: bytes written */
static size_t text_json_take_escape(struct grt_text_json *j, char c, char *out)
{
	unsigned int digit = grt_hex_digit(c);

	if (j->state == VALUE_ESCAPE && c == 'u') {
		j->state = VALUE_HEX;
		j->digits = 0;
		j->code = 0;
		return 0;
	}
	if (j->state == VALUE_ESCAPE || digit > 15) {
		*out = unescaped(c);
		j->state = VALUE;
		return 1;
	}
	j->code = (uint16_t)(j->code << 4 | digit);
	if (++j->digits < 4)
		return 0;
	j->state = VALUE;
	return put_code(out, j->code);
}

/* Converts a byte of the text. Return: bytes written */
static size_t text_json_take_value(struct grt_text_json *j, char c, char *out)
{
	if (j->state != VALUE)
		return text_json_take_escape(j, c, out);
	if (c == '\\') {
		j->state = VALUE_ESCAPE;
		return 0;
	}
	j->state = c == '"' ? OUTSIDE : VALUE;
	j->matched = 0;
	*out = c == '"' ? '\n' : c;
	return 1;
}

size_t grt_text_json_take(struct grt_text_json *j, char *out, const char *in, size_t len)
{
	const char *end = in + len;
	char *at = out;

	for (; in < end; in++) {
		if (j->state >= VALUE) {
			at += text_json_take_value(j, *in, at);
			continue;
		}
		j->state = text_json_pass(j, *in);
		j->found = j->found || j->state == VALUE;
	}
	return (size_t)(at - out);
}
