/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Lines of a file or a pipe, one after the other, through one buffer. What
 * mailers, terminals and editors put around a line is taken off here: carriage
 * returns, quote marks, colours, a byte order mark.
 */
#ifndef GRT_BASE_LINES_IN_H
#define GRT_BASE_LINES_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text_json.h"

/* Lines up to this length are handed out whole; of longer ones the beginning. */
#ifndef GRT_LINE_MAX
#define GRT_LINE_MAX (4U << 20)
#endif
/* From any byte of a line on, also the one behind it, so many can be read. */
#define GRT_LINE_AHEAD 32U

/**
 * struct grt_lines - all zero but @fd and @is_pipe; to be given to grt_lines_fini()
 * @fd: not closed here
 * @is_pipe: read(2) it, it cannot be read again; else pread(2)
 * @buf, @cap, @at, @fill: the buffer, its size (there are GRT_LINE_AHEAD bytes more), what comes next, its
 * end
 * @pos: position in the input of the buffer's end
 * @number: of the line handed out last, from 1
 * @eof: there is nothing behind the buffer
 * @coloured: an escape character was seen
 * @passing: the rest of a line that is too long is passed over
 * @pinned: what was read stays in the buffer, up to GRT_LINE_MAX, until grt_lines_unpin()
 * @json: where the text is a string in a JSON trace; lines are then counted in that string
 * @cr: where a carriage return was taken off the line that is out
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

/** grt_lines_init - takes memory; @head of @len bytes has been read from a pipe already. Return: 0 or -ENOMEM
 */
int grt_lines_init(struct grt_lines *l, const char *head, size_t len);

/**
 * grt_lines_next - the next line
 * @line, @end: valid until the next call; **@end may be read and is '\n'
 * Return: 1, 0 at the end of the input, or a negative errno
 */
int grt_lines_next(struct grt_lines *l, const char **line, const char **end);

/** grt_lines_waits - whether the next line would need more of the input than is in the buffer */
bool grt_lines_waits(const struct grt_lines *l);

/** grt_lines_unpin - to the first line again, after what was read with @pinned; also for a pipe */
void grt_lines_unpin(struct grt_lines *l);

/** grt_lines_rewind - to the first line again; not for a pipe */
void grt_lines_rewind(struct grt_lines *l);

/** grt_lines_fini - frees the buffer */
void grt_lines_fini(struct grt_lines *l);

/** grt_pipe_read - like read(2) of a pipe that may not have a writer yet: waits for bytes or its end */
long grt_pipe_read(int fd, void *buf, size_t len);

#endif /* GRT_BASE_LINES_IN_H */
