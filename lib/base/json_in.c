// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* A pull parser of JSON, see json_in.h. */
#include "json_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef GRT_HAVE_ZLIB
#include <zlib.h>
#endif

#include "scan.h"

#define CHUNK 65536U
/* Most levels of nesting. */
#define DEPTH_MAX 128U

/* ------------------------------------------------------------------ bytes */

void grt_json_refill(struct grt_json_in *r)
{
	ssize_t n;

	r->at = r->have = 0;
#ifdef GRT_HAVE_ZLIB
	if (r->gz) {
		n = gzread(r->gz, r->buf, CHUNK);
		if (n < 0)
			r->error = -EPROTO;
		r->have = n > 0 ? (size_t)n : 0;
		return;
	}
#endif
	do
		n = read(r->fd, r->buf, CHUNK);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		r->error = -errno;
	r->have = n > 0 ? (size_t)n : 0;
}

/* ----------------------------------------------------------------- values */

static void json_in_keep(struct grt_json_text *t, unsigned int c)
{
	if (t && t->len < t->room)
		t->at[t->len++] = (char)c;
}

static void json_in_keep_code(struct grt_json_text *t, unsigned int code)
{
	if (code < 0x80) {
		json_in_keep(t, code);
	} else if (code < 0x800) {
		json_in_keep(t, 0xc0 | code >> 6);
		json_in_keep(t, 0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		json_in_keep(t, 0xe0 | code >> 12);
		json_in_keep(t, 0x80 | (code >> 6 & 0x3f));
		json_in_keep(t, 0x80 | (code & 0x3f));
	} else {
		json_in_keep(t, 0xf0 | code >> 18);
		json_in_keep(t, 0x80 | (code >> 12 & 0x3f));
		json_in_keep(t, 0x80 | (code >> 6 & 0x3f));
		json_in_keep(t, 0x80 | (code & 0x3f));
	}
}

static bool json_in_hex4(struct grt_json_in *r, unsigned int *code)
{
	*code = 0;
	for (int i = 0; i < 4; i++) {
		int c = grt_json_take(r);
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
			    : c >= 'A' && c <= 'F' ? c - 'A' + 10
						   : -1;

		if (digit < 0)
			return false;
		*code = *code << 4 | (unsigned int)digit;
	}
	return true;
}

static bool json_in_escape(struct grt_json_in *r, struct grt_json_text *t)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	int c = grt_json_take(r);
	const char *at = c > 0 ? strchr(from, c) : NULL;
	unsigned int code, low;

	if (at) {
		json_in_keep(t, (unsigned char)to[at - from]);
		return true;
	}
	if (c != 'u' || !json_in_hex4(r, &code))
		return false;
	if (code >= 0xd800 && code < 0xdc00) {
		if (grt_json_take(r) != '\\' || grt_json_take(r) != 'u' || !json_in_hex4(r, &low) ||
		    low < 0xdc00 || low > 0xdfff)
			return false;
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	}
	json_in_keep_code(t, code);
	return true;
}

/* A string; @t may be NULL. */
bool grt_json_string(struct grt_json_in *r, struct grt_json_text *t)
{
	int c;

	if (!grt_json_char(r, '"'))
		return false;
	while ((c = grt_json_take(r)) != '"') {
		if (c < 0 || (c == '\\' && !json_in_escape(r, t)))
			return false;
		if (c != '\\')
			json_in_keep(t, (unsigned int)c);
	}
	return true;
}

/* A short string, with a NUL. */
bool grt_json_short(struct grt_json_in *r, char *at, size_t room)
{
	struct grt_json_text t = {.at = at, .room = room - 1};
	bool good = grt_json_string(r, &t);

	at[t.len] = '\0';
	return good;
}

static bool json_in_is_number(int c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* A number times 10^@scale, rounded down; a number below 0 or beyond 64 bits is not a number */
static bool json_in_number(struct grt_json_in *r, int scale, uint64_t *value)
{
	uint64_t v = 0;
	int point = -1, c = grt_json_peek_word(r);
	bool good = true;

	/* numbers with exponents were written from doubles and are not exact anyway */
	for (; json_in_is_number(c); r->at++, c = grt_json_peek(r)) {
		if (c == '.' && point < 0) {
			point = 0;
			continue;
		}
		if (c < '0' || c > '9') {
			good = false;
			continue;
		}
		if (point >= scale)
			continue;
		good &= !__builtin_mul_overflow(v, 10, &v) &&
			!__builtin_add_overflow(v, (uint64_t)(c - '0'), &v);
		point += point >= 0;
	}
	for (int i = point < 0 ? 0 : point; i < scale; i++)
		good &= !__builtin_mul_overflow(v, 10, &v);
	if (good)
		*value = v;
	return good;
}

/* ROCm writes integers as text, decimal or with 0x. */
static bool json_in_quoted(struct grt_json_in *r, uint64_t *value)
{
	char at[GRT_JSON_WORD_MAX];
	struct grt_json_text t = {.at = at, .room = sizeof(at)};
	bool good = grt_json_string(r, &t);
	const char *p = at, *end = at + t.len;
	uint64_t v;

	if (good && t.len < t.room && grt_scan_number(&p, end, &v) && p == end && v != UINT64_MAX)
		*value = v;
	return good;
}

/* A number; other values are skipped. Return: false: it is not JSON */
bool grt_json_u64(struct grt_json_in *r, int scale, uint64_t *value, bool *has)
{
	bool good;

	if (!scale && grt_json_peek_word(r) == '"')
		return json_in_quoted(r, value);
	if (!json_in_is_number(grt_json_peek_word(r)))
		return grt_json_skip(r);
	good = json_in_number(r, scale, value);
	if (has)
		*has |= good;
	return true;
}

static bool json_in_skip_literal(struct grt_json_in *r)
{
	int c = grt_json_peek(r), n = 0;

	for (; (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || json_in_is_number(c);
	     c = grt_json_peek(r), n++)
		r->at++;
	return n > 0;
}

/* Skips a value of any kind. */
bool grt_json_skip(struct grt_json_in *r)
{
	unsigned int depth = 0;
	int c;

	do {
		c = grt_json_peek_word(r);
		if (c == '{' || c == '[') {
			r->at++;
			if (++depth > DEPTH_MAX)
				return false;
			continue;
		}
		if (depth && (c == '}' || c == ']' || c == ',' || c == ':')) {
			r->at++;
			depth -= c == '}' || c == ']';
			continue;
		}
		if (c == '"' ? !grt_json_string(r, NULL) : !json_in_skip_literal(r))
			return false;
	} while (depth);
	return true;
}

/* ------------------------------------------------------------------ files */

/* zlib returns what a truncated file has, and then the end. */
bool grt_json_is_whole(const struct grt_json_in *r)
{
#ifdef GRT_HAVE_ZLIB
	int code = Z_OK;

	if (r->gz)
		gzerror(r->gz, &code);
	return code != Z_BUF_ERROR;
#else
	return !r->gz;
#endif
}

bool grt_json_is_gzip(const char *head, size_t len)
{
	return len >= 2 && !memcmp(head, "\x1f\x8b", 2);
}

/* If the file begins like gzip, a copy of the descriptor is read through zlib. */
static int json_in_open_gzip(struct grt_json_in *r)
{
	char head[2];

	if (pread(r->fd, head, sizeof(head), lseek(r->fd, 0, SEEK_CUR)) != sizeof(head) ||
	    !grt_json_is_gzip(head, 2))
		return 0;
#ifdef GRT_HAVE_ZLIB
	int copy = dup(r->fd);

	r->gz = copy < 0 ? NULL : gzdopen(copy, "rb");
	if (!r->gz && copy >= 0)
		close(copy);
	return r->gz ? 0 : -ENOMEM;
#else
	return -ENOSYS;
#endif
}

int grt_json_open(struct grt_json_in *r, int fd)
{
	*r = (struct grt_json_in){.fd = fd, .buf = malloc(CHUNK)};
	return r->buf ? json_in_open_gzip(r) : -ENOMEM;
}

void grt_json_close(struct grt_json_in *r)
{
#ifdef GRT_HAVE_ZLIB
	if (r->gz)
		gzclose(r->gz);
#endif
	free(r->buf);
	r->gz = NULL;
	r->buf = NULL;
}
