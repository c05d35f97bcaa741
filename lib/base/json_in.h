/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A pull parser of JSON, which keeps nothing but its next bytes: the caller says what it expects, and passes
 * over the rest. gzip is read where the program was built with zlib.
 */
#ifndef GRT_BASE_JSON_IN_H
#define GRT_BASE_JSON_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a short string, with its NUL. */
#define GRT_JSON_WORD_MAX 32U

/** struct grt_json_text - of a string, cut to @room; @len: kept */
struct grt_json_text {
	char *at;
	size_t len;
	size_t room;
};

/** struct grt_json_in - set up by grt_json_open(); @gz: zlib's, NULL: @fd is read as it is; @error: of
 * reading */
struct grt_json_in {
	int fd;
	void *gz;
	unsigned char *buf;
	size_t at, have;
	int error;
};

/** grt_json_open - @fd is read from where it is, and stays the caller's. Return: 0, -ENOMEM, or -ENOSYS: it
 * is packed, and there is no zlib. Close it also then */
int grt_json_open(struct grt_json_in *r, int fd);
void grt_json_close(struct grt_json_in *r);

/** grt_json_is_gzip - whether a file begins so */
bool grt_json_is_gzip(const char *head, size_t len);

/** grt_json_is_whole - false: at the end, the packed file was cut off */
bool grt_json_is_whole(const struct grt_json_in *r);

/** grt_json_refill - reads on; for grt_json_peek() */
void grt_json_refill(struct grt_json_in *r);

/** grt_json_peek - the byte that comes, -1 at the end */
static inline int grt_json_peek(struct grt_json_in *r)
{
	if (r->at == r->have) {
		if (r->error)
			return -1;
		grt_json_refill(r);
		if (!r->have)
			return -1;
	}
	return r->buf[r->at];
}

/** grt_json_take - the same, and passes it */
static inline int grt_json_take(struct grt_json_in *r)
{
	int c = grt_json_peek(r);

	r->at += c >= 0;
	return c;
}

/** grt_json_peek_word - passes blanks */
static inline int grt_json_peek_word(struct grt_json_in *r)
{
	int c = grt_json_peek(r);

	while (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
		r->at++;
		c = grt_json_peek(r);
	}
	return c;
}

/** grt_json_char - passes blanks and @c, where that comes next */
static inline bool grt_json_char(struct grt_json_in *r, int c)
{
	if (grt_json_peek_word(r) != c)
		return false;
	r->at++;
	return true;
}

/** grt_json_string - a string; @t may be NULL. Return: false: no JSON */
bool grt_json_string(struct grt_json_in *r, struct grt_json_text *t);

/** grt_json_short - a short string, cut to @room, with a NUL. Return: false: no JSON */
bool grt_json_short(struct grt_json_in *r, char *at, size_t room);

/** grt_json_u64 - a number times 10^@scale, also in quotes without @scale; another value is passed over.
 * @has: becomes true where it is one; may be NULL. Return: false: no JSON */
bool grt_json_u64(struct grt_json_in *r, int scale, uint64_t *value, bool *has);

/** grt_json_skip - passes over a value of any kind. Return: false: no JSON */
bool grt_json_skip(struct grt_json_in *r);

#endif /* GRT_BASE_JSON_IN_H */
