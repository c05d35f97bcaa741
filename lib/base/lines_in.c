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

/* --------------------------------------------------- text inside of JSON */

/*
 * Text inside of JSON. The JSON around it is examined byte by byte and never stored, so it
 * may have any length, be truncated, or be no JSON at all.
 */

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

/* ----------------------------------------------------------------- lines */

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
