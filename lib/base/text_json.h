/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Text inside of a JSON trace of systrace or Chrome's tracing: ftrace text as one
 * string, "systemTraceEvents": "# tracer: nop\n...". Only this string is passed on,
 * without its escapes.
 */
#ifndef GRT_BASE_TEXT_JSON_H
#define GRT_BASE_TEXT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct grt_text_json - all zero at the beginning of an input
 * @on: the input is such a trace, see grt_text_json_begin()
 * @found: the string was found
 * @state, @matched, @digits, @code: state of the parser at the next byte
 */
struct grt_text_json {
	bool on;
	bool found;
	uint8_t state;
	uint8_t matched;
	uint8_t digits;
	uint16_t code;
};

/** grt_text_json_begin - checks the first bytes of an input, and sets @on */
void grt_text_json_begin(struct grt_text_json *j, const char *head, size_t len);

/* The output of the first bytes may be longer than the bytes by this number. */
#define GRT_TEXT_JSON_LEAD 2U

/**
 * grt_text_json_take - extracts the text from the next bytes
 * @out: gets the text; at least GRT_TEXT_JSON_LEAD bytes before @in in the same buffer, or @in itself for the
 *	first bytes
 * Return: bytes in @out
 */
size_t grt_text_json_take(struct grt_text_json *j, char *out, const char *in, size_t len);

#endif /* GRT_BASE_TEXT_JSON_H */
