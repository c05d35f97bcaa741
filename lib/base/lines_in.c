// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Lines, see text_lines.h.
 */
#include "lines_in.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scan.h"

/* Fits into a CPU's second-level cache. */
#define BUFFER (256U << 10)
/* Bytes after the buffer, so that this many bytes can be read from any of its bytes on. */
#define AHEAD GRT_LINE_AHEAD
#define ESCAPE '\033'

long grt_pipe_read(int fd, void *buf, size_t len)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	ssize_t n;

	for (;;) {
		/*
		 * A FIFO that no process has opened for writing yet: read() reports the end, but poll()
		 * waits.
		 */
		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			return -errno;
		n = p.revents ? read(fd, buf, len) : -1;
		if (n >= 0)
			return n;
		if (p.revents && errno != EINTR && errno != EAGAIN)
			return -errno;
	}
}

/* A JSON string that is converted in place is read this many bytes after the place for its text. */
static size_t lead(const struct grt_lines *l)
{
	return l->json.on ? GRT_TEXT_JSON_LEAD : 0;
}

/* Converts @n bytes that were read, in place. Return: number of bytes of text */
static size_t take_bytes(struct grt_lines *l, size_t n)
{
	char *to = l->buf + l->fill;
	size_t before = lead(l);

	if (!l->pos)
		grt_text_json_begin(&l->json, to, n);
	return l->json.on ? grt_text_json_take(&l->json, to, to + before, n) : n;
}

static ssize_t lines_in_read_on(struct grt_lines *l)
{
	char *to = l->buf + l->fill + lead(l);
	size_t room = l->cap - l->fill - lead(l);
	ssize_t n;

	if (l->is_pipe)
		return grt_pipe_read(l->fd, to, room);
	do
		n = pread(l->fd, to, room, (off_t)l->pos);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int grt_lines_init(struct grt_lines *l, const char *head, size_t len)
{
	l->cap = len > BUFFER ? len : BUFFER;
	l->buf = calloc(1, l->cap + AHEAD);
	if (!l->buf)
		return -ENOMEM;
	if (len)
		memcpy(l->buf, head, len);
	l->fill = take_bytes(l, len);
	l->pos = len;
	l->coloured = len && memchr(head, ESCAPE, len);
	return 0;
}

void grt_lines_rewind(struct grt_lines *l)
{
	l->at = 0;
	l->fill = 0;
	l->pos = 0;
	l->number = 0;
	l->eof = false;
	l->coloured = false;
	l->passing = false;
	l->pinned = false;
	l->json = (struct grt_text_json){.on = false};
	l->cr = NULL;
}

static void lines_in_put_back(struct grt_lines *l)
{
	if (l->cr)
		*l->cr = '\r';
	l->cr = NULL;
}

void grt_lines_unpin(struct grt_lines *l)
{
	lines_in_put_back(l);
	l->at = 0;
	l->number = 0;
	l->passing = false;
	l->pinned = false;
}

bool grt_lines_waits(const struct grt_lines *l)
{
	return !l->eof && !memchr(l->buf + l->at, '\n', l->fill - l->at);
}

void grt_lines_fini(struct grt_lines *l)
{
	free(l->buf);
	l->buf = NULL;
}

/* Makes more room for a line that does not fit, up to the limit. Return: 0, 1: the limit, or -ENOMEM */
static int lines_in_grow(struct grt_lines *l)
{
	size_t cap = 2 * l->cap;
	char *more;

	if (l->cap >= GRT_LINE_MAX)
		return 1;
	more = realloc(l->buf, cap + AHEAD);
	if (!more)
		return -ENOMEM;
	memset(more + cap, 0, AHEAD);
	l->buf = more;
	l->cap = cap;
	return 0;
}

/*
 * Reads more bytes after those that are left. Return: 0, 1: the line has reached the limit, or a negative
 * errno
 */
static int lines_in_refill(struct grt_lines *l)
{
	size_t text;
	ssize_t n;
	int ret;

	if (!l->pinned) {
		memmove(l->buf, l->buf + l->at, l->fill - l->at);
		l->fill -= l->at;
		l->at = 0;
	}
	if (l->fill + lead(l) >= l->cap) {
		ret = lines_in_grow(l);
		if (ret)
			return ret;
	}
	n = lines_in_read_on(l);
	if (n < 0)
		return (int)n;
	l->eof = n == 0;
	text = take_bytes(l, (size_t)n);
	l->coloured = l->coloured || memchr(l->buf + l->fill, ESCAPE, text);
	l->fill += text;
	l->pos += (uint64_t)n;
	return 0;
}

/* Finds the end of the line that begins at @at. Return: 1, 0: the end of the input, or a negative errno */
static int find_end(struct grt_lines *l, char **end)
{
	size_t seen = 0;
	int ret;

	for (;;) {
		*end = memchr(l->buf + l->at + seen, '\n', l->fill - l->at - seen);
		if (*end)
			return 1;
		if (l->eof) {
			*end = l->buf + l->fill;
			return l->fill > l->at;
		}
		seen = l->fill - l->at;
		ret = lines_in_refill(l);
		if (ret < 0)
			return ret;
		if (ret) {
			*end = l->buf + l->fill;
			l->passing = true;
			return 1;
		}
	}
}

/*
 * Skips the rest of a line whose beginning was delivered. Return: 1, 0: the end of the input, or a negative
 * errno
 */
static int pass_rest(struct grt_lines *l)
{
	char *end;
	int ret;

	while (l->passing) {
		l->passing = false;
		ret = find_end(l, &end);
		if (ret <= 0)
			return ret;
		/* the last line may have no newline */
		l->at = (size_t)(end - l->buf) + (!l->passing && end < l->buf + l->fill);
	}
	return 1;
}

/* Removes CSI sequences from a line in the buffer, and puts blanks before the rest. Return: its beginning */
static char *strip_colours(char *line, char *end)
{
	char *out = line;
	size_t len;

	for (char *p = line; p < end; p++) {
		if (*p != ESCAPE || p + 1 == end || p[1] != '[') {
			*out++ = *p;
			continue;
		}
		for (p += 2; p < end && (unsigned char)*p < 0x40; p++)
			;
	}
	len = (size_t)(out - line);
	memmove(end - len, line, len);
	memset(line, ' ', (size_t)(end - line) - len);
	return end - len;
}

static const char *skip_quotes(const char *line, const char *end)
{
	const char *p = line;

	for (;;) {
		p = grt_skip_spaces(p, end);
		if (*p == '\t')
			grt_scan_blanks(&p, end);
		if (*p != '>' || p == end)
			return line;
		p++;
		grt_scan_char(&p, end, ' ');
		line = p;
	}
}

/* Delivers a line without the bytes around it that do not belong to it. */
static void lines_in_hand_out(struct grt_lines *l, char *begin, char *stop, const char **line,
			      const char **end)
{
	if (!l->number++ && stop - begin >= 3 && !memcmp(begin, "\xef\xbb\xbf", 3))
		begin += 3;
	if (l->coloured && memchr(begin, ESCAPE, (size_t)(stop - begin)))
		begin = strip_colours(begin, stop);
	if (stop > begin && stop[-1] == '\r') {
		l->cr = --stop;
		*stop = '\n';
	}
	*line = skip_quotes(begin, stop);
	*end = stop;
}

/* The general case. */
static int find_line(struct grt_lines *l, const char **line, const char **end)
{
	char *begin, *stop;
	int ret;

	lines_in_put_back(l);
	ret = l->passing ? pass_rest(l) : 1;
	if (ret > 0)
		ret = find_end(l, &stop);
	if (ret <= 0)
		return ret;
	begin = l->buf + l->at;
	l->at = (size_t)(stop - l->buf) + (stop < l->buf + l->fill);
	if (stop == l->buf + l->fill)
		*stop = '\n';
	lines_in_hand_out(l, begin, stop, line, end);
	return 1;
}

int grt_lines_next(struct grt_lines *l, const char **line, const char **end)
{
	char *begin = l->buf + l->at, *stop;

	/* nearly all lines are complete, in the buffer and have nothing around them */
	stop = memchr(begin, '\n', l->fill - l->at);
	if (!stop || l->passing || l->cr || l->coloured || stop == begin || stop[-1] == '\r' || !l->number)
		return find_line(l, line, end);
	l->number++;
	l->at = (size_t)(stop - l->buf) + 1;
	*line = *begin == ' ' || *begin == '>' || *begin == '\t' ? skip_quotes(begin, stop) : begin;
	*end = stop;
	return 1;
}
