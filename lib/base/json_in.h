/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A pull parser of JSON that stores only the next bytes: the caller requests the value that it expects, and
 * skips the rest. It reads gzip if the program was built with zlib.
 */
#ifndef GRT_BASE_JSON_IN_H
#define GRT_BASE_JSON_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a short string, with its NUL. */
#define GRT_JSON_WORD_MAX 32U

/** struct grt_json_text - a string, cut to @room; @len: bytes stored */
struct grt_json_text {
	char *at;
	size_t len;
	size_t room;
};

/** struct grt_json_in - set up by grt_json_open(); @gz: zlib's file, NULL: @fd is not compressed; @error: of
 * reading */
struct grt_json_in {
	int fd;
	void *gz;
	unsigned char *buf;
	size_t at, have;
	int error;
};

/**
 * grt_json_open - reads @fd from its present position; the caller closes @fd. Return: 0, -ENOMEM, or -ENOSYS:
 * it is compressed, and the program has no zlib. Call grt_json_close() in any case
 */
int grt_json_open(struct grt_json_in *r, int fd);
void grt_json_close(struct grt_json_in *r);

/** grt_json_is_gzip - whether a file with these first bytes is gzip */
bool grt_json_is_gzip(const char *head, size_t len);

/** grt_json_is_whole - at the end: whether the compressed file is complete */
bool grt_json_is_whole(const struct grt_json_in *r);

/** grt_json_refill - reads more bytes; for grt_json_peek() */
void grt_json_refill(struct grt_json_in *r);

/** grt_json_peek - the next byte, -1 at the end */
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

/** grt_json_take - reads the next byte, -1 at the end */
static inline int grt_json_take(struct grt_json_in *r)
{
	int c = grt_json_peek(r);

	r->at += c >= 0;
	return c;
}

/** grt_json_peek_word - skips blanks; the next byte */
static inline int grt_json_peek_word(struct grt_json_in *r)
{
	int c = grt_json_peek(r);

	while (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
		r->at++;
		c = grt_json_peek(r);
	}
	return c;
}

/** grt_json_char - skips blanks, and @c if it is the next byte. Return: whether it is */
static inline bool grt_json_char(struct grt_json_in *r, int c)
{
	if (grt_json_peek_word(r) != c)
		return false;
	r->at++;
	return true;
}

/** grt_json_string - reads a string; @t may be NULL. Return: false: invalid JSON */
bool grt_json_string(struct grt_json_in *r, struct grt_json_text *t);

/** grt_json_short - reads a short string, cut to @room, with a NUL. Return: false: invalid JSON */
bool grt_json_short(struct grt_json_in *r, char *at, size_t room);

/** grt_json_u64 - reads a number times 10^@scale, without @scale also in quotes; skips other values.
 * @has: set to true if there was a number; may be NULL. Return: false: invalid JSON */
bool grt_json_u64(struct grt_json_in *r, int scale, uint64_t *value, bool *has);

/** grt_json_skip - skips a value of any kind. Return: false: invalid JSON */
bool grt_json_skip(struct grt_json_in *r);

#endif /* GRT_BASE_JSON_IN_H */
