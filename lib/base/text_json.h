/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Text inside of a JSON trace, as systrace and Chrome's tracing write it: ftrace
 * text as one string, "systemTraceEvents": "# tracer: nop\n...". Of such a file
 * only that string is handed on, without its escapes.
 */
#ifndef GRT_BASE_TEXT_JSON_H
#define GRT_BASE_TEXT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct grt_text_json - all zero at the beginning of an input
 * @on: the input is such a trace, see grt_text_json_begin()
 * @found: the string was met
 * @state, @matched, @digits, @code: where in it the next byte is
 */
struct grt_text_json {
	bool on;
	bool found;
	uint8_t state;
	uint8_t matched;
	uint8_t digits;
	uint16_t code;
};

/** grt_text_json_begin - looks at the first bytes of an input, and sets @on */
void grt_text_json_begin(struct grt_text_json *j, const char *head, size_t len);

/* What the first bytes end may be longer by so much than they are. */
#define GRT_TEXT_JSON_LEAD 2U

/**
 * grt_text_json_take - takes the text out of the next bytes
 * @out: gets it; GRT_TEXT_JSON_LEAD or more before @in, in one buffer, or for the first bytes the same
 * Return: bytes in @out
 */
size_t grt_text_json_take(struct grt_text_json *j, char *out, const char *in, size_t len);

#endif /* GRT_BASE_TEXT_JSON_H */
