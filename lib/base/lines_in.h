/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Reads a file or a pipe line by line, with one buffer. It removes what
 * mailers, terminals and editors add to a line: carriage returns, quote marks, colours,
 * a byte order mark.
 */
#ifndef GRT_BASE_LINES_IN_H
#define GRT_BASE_LINES_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --------------------------------------------------- text inside of JSON */

/*
 * Text inside of a JSON trace of systrace or Chrome's tracing: ftrace text as one
 * string, "systemTraceEvents": "# tracer: nop\n...". Only this string is passed on,
 * without its escapes.
 */

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

/* ----------------------------------------------------------------- lines */

/* Longer lines are cut to this length. */
#ifndef GRT_LINE_MAX
#define GRT_LINE_MAX (4U << 20)
#endif
/* Number of bytes that can be read from any byte of a line on, including the byte after its end. */
#define GRT_LINE_AHEAD 32U

/**
 * struct grt_lines - set @fd and @is_pipe, all else zero; freed by grt_lines_fini()
 * @fd: the caller closes it
 * @is_pipe: read with read(2), only once; else with pread(2)
 * @buf, @cap, @at, @fill: the buffer, its size (plus GRT_LINE_AHEAD bytes), the next byte, the end of its
 *	contents
 * @pos: position in the input of the buffer's end
 * @number: number of the last returned line, from 1
 * @eof: the input ends with the buffer
 * @coloured: an escape character was seen
 * @passing: the rest of a line that is too long is being skipped
 * @pinned: bytes that were read stay in the buffer, up to GRT_LINE_MAX, until grt_lines_unpin()
 * @json: the state if the text is a string in a JSON trace; lines are then counted in the string
 * @cr: the place of a carriage return that was removed from the returned line
 */
struct grt_lines {
	int fd;
	bool is_pipe;
	char *buf;
	size_t cap;
	size_t at;
	size_t fill;
	uint64_t pos;
	uint64_t number;
	bool eof;
	bool coloured;
	bool passing;
	bool pinned;
	struct grt_text_json json;
	char *cr;
};

/**
 * grt_lines_init - allocates the buffer; @head of @len bytes was already read from a pipe. Return: 0 or
 * -ENOMEM
 */
int grt_lines_init(struct grt_lines *l, const char *head, size_t len);

/**
 * grt_lines_next - the next line
 * @line, @end: valid until the next call; **@end may be read and is '\n'
 * Return: 1, 0 at the end of the input, or a negative errno
 */
int grt_lines_next(struct grt_lines *l, const char **line, const char **end);

/** grt_lines_waits - whether the next line needs input that is not in the buffer */
bool grt_lines_waits(const struct grt_lines *l);

/** grt_lines_unpin - goes back to the first line after reading with @pinned; works for a pipe, too */
void grt_lines_unpin(struct grt_lines *l);

/** grt_lines_rewind - goes back to the first line; not for a pipe */
void grt_lines_rewind(struct grt_lines *l);

/** grt_lines_fini - frees the buffer */
void grt_lines_fini(struct grt_lines *l);

/** grt_pipe_read - read(2) for a pipe that may not have a writer yet: waits for bytes or the end */
long grt_pipe_read(int fd, void *buf, size_t len);

#endif /* GRT_BASE_LINES_IN_H */
