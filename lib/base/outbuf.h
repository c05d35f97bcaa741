/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Text in one large buffer, for writers of many lines: numbers are formatted
 * in place and a line needs no function call. The owner requests room once per line and
 * moves a pointer through it.
 */
#ifndef GRT_BASE_OUTBUF_H
#define GRT_BASE_OUTBUF_H

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GRT_OUTBUF_ROOM (256U << 10)

/**
 * struct grt_outbuf - initialised by grt_outbuf_init()
 * @fd: the output; its owner closes it
 * @error: negative errno of the first write that failed; later text is
 *	dropped
 */
struct grt_outbuf {
	char *buf;
	size_t used;
	int fd;
	int error;
};

/** grt_outbuf_init - an empty buffer. Return: 0 or -ENOMEM */
static inline int grt_outbuf_init(struct grt_outbuf *b, int fd)
{
	*b = (struct grt_outbuf){.buf = malloc(GRT_OUTBUF_ROOM), .fd = fd};
	return b->buf ? 0 : -ENOMEM;
}

/** grt_outbuf_flush - writes the contents. Return: 0 or the error of this or an earlier write */
static inline int grt_outbuf_flush(struct grt_outbuf *b)
{
	size_t done = 0;
	ssize_t n;

	while (!b->error && done < b->used) {
		n = write(b->fd, b->buf + done, b->used - done);
		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			b->error = -errno;
	}
	b->used = 0;
	return b->error;
}

/**
 * grt_outbuf_room - the place for the next @bytes, at most GRT_OUTBUF_ROOM; call grt_outbuf_take() afterwards
 */
static inline char *grt_outbuf_room(struct grt_outbuf *b, size_t bytes)
{
	if (b->used + bytes > GRT_OUTBUF_ROOM)
		grt_outbuf_flush(b);
	return b->buf + b->used;
}

/** grt_outbuf_take - adds the bytes up to @end to the text */
static inline void grt_outbuf_take(struct grt_outbuf *b, const char *end)
{
	b->used = (size_t)(end - b->buf);
}

/** grt_outbuf_fini - frees it; unflushed text is lost */
static inline void grt_outbuf_fini(struct grt_outbuf *b)
{
	free(b->buf);
	b->buf = NULL;
}

/* Each of these functions writes at @p and returns the place after its text. */

/** grt_format_text - writes @len bytes */
static inline char *grt_format_text(char *p, const char *text, size_t len)
{
	memcpy(p, text, len);
	return p + len;
}

/** grt_format_word - writes a text with a NUL */
static inline char *grt_format_word(char *p, const char *text)
{
	return grt_format_text(p, text, strlen(text));
}

/* Bytes that grt_format_padded() may read after a text, and write after the place that it returns. */
#define GRT_PAD 64U

/**
 * grt_format_padded - grt_format_text() for a text with GRT_PAD readable bytes after it: fast for short texts
 */
static inline char *grt_format_padded(char *p, const char *text, size_t len)
{
	char *end = p + len;

	do {
		memcpy(p, text, GRT_PAD);
		p += GRT_PAD;
		text += GRT_PAD;
	} while (p < end);
	return end;
}

/** struct grt_key_text - a key with its separators; copied completely, used up to @len */
struct grt_key_text {
	char text[31];
	uint8_t len;
};

/** grt_key_text - makes a key; a text that is too long is cut */
static inline void __attribute__((format(printf, 2, 3)))
grt_key_text(struct grt_key_text *k, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(k->text, sizeof(k->text), fmt, ap);
	va_end(ap);
	k->len = (uint8_t)(n < (int)sizeof(k->text) ? n : (int)sizeof(k->text) - 1);
}

/** grt_key_put - writes a key; copies a fixed size, which is fast; the next text overwrites excess bytes */
static inline char *grt_key_put(char *p, const struct grt_key_text *k)
{
	memcpy(p, k->text, sizeof(k->text));
	return p + k->len;
}

/*
 * All digits of a number are computed at once in one register: writing digits one
 * by one and copying them to their place would make the copy wait for
 * the writes. These functions write whole words: up to GRT_PAD bytes after the returned
 * place may be written.
 */

/**
 * grt_digits_of - the eight decimal digits of a number below 10^8, the first one in the lowest byte
 *
 * It is split into two numbers of four digits, these into four of two, and
 * these into eight of one. Of x = 100 * high + low, x << 16 with
 * high * ((100 << 16) - 1) subtracted is high | low << 16.
 */
static inline uint64_t grt_digits_of(uint32_t n)
{
	uint64_t high = n / 10000, x;

	x = ((uint64_t)n << 32) - high * ((UINT64_C(10000) << 32) - 1);
	high = (x * 5243 >> 19) & 0x0000007f0000007f;
	x = (x << 16) - high * ((100 << 16) - 1);
	high = (x * 103 >> 10) & 0x000f000f000f000f;
	return (x << 8) - high * ((10 << 8) - 1);
}

/** grt_format_eight - a number below 10^8 as eight digits */
static inline char *grt_format_eight(char *p, uint32_t n)
{
	uint64_t digits = grt_digits_of(n) | 0x3030303030303030;

	memcpy(p, &digits, sizeof(digits));
	return p + 8;
}

/** grt_format_few - decimal, of a number below 10^8 */
static inline char *grt_format_few(char *p, uint32_t n)
{
	uint64_t digits = grt_digits_of(n);
	/* one is written also of 0 */
	unsigned int zeros = (unsigned int)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8;

	digits = (digits | 0x3030303030303030) >> (8 * zeros);
	memcpy(p, &digits, sizeof(digits));
	return p + 8 - zeros;
}

/** grt_format_u64 - decimal */
static inline char *grt_format_u64(char *p, uint64_t n)
{
	const uint64_t part = 100000000;

	/* most are 0 or a few of something */
	if (n < 10) {
		*p = (char)('0' + n);
		return p + 1;
	}
	if (n < part)
		return grt_format_few(p, (uint32_t)n);
	if (n < part * part)
		return grt_format_eight(grt_format_few(p, (uint32_t)(n / part)), (uint32_t)(n % part));
	p = grt_format_few(p, (uint32_t)(n / (part * part)));
	p = grt_format_eight(p, (uint32_t)(n / part % part));
	return grt_format_eight(p, (uint32_t)(n % part));
}

/** grt_format_s64 - decimal, with its sign */
static inline char *grt_format_s64(char *p, int64_t n)
{
	if (n >= 0)
		return grt_format_u64(p, (uint64_t)n);
	*p++ = '-';
	return grt_format_u64(p, -(uint64_t)n);
}

/** grt_hex_of - the eight hexadecimal digits of a number as text, the first one in the lowest byte */
static inline uint64_t grt_hex_of(uint32_t n)
{
	uint64_t x = n, letters;

	x = (x | x << 16) & 0x0000ffff0000ffff;
	x = (x | x << 8) & 0x00ff00ff00ff00ff;
	x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
	letters = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
	return __builtin_bswap64(x + 0x3030303030303030 + letters * ('a' - '0' - 10));
}

/** grt_format_hex - hexadecimal, with 0x */
static inline char *grt_format_hex(char *p, uint64_t n)
{
	uint32_t high = (uint32_t)(n >> 32);
	unsigned int digits = (67 - (unsigned int)__builtin_clzll(n | 1)) / 4;
	uint64_t text = grt_hex_of(high ? high : (uint32_t)n);

	memcpy(p, "0x", 2);
	p += 2;
	text >>= 8 * (-digits & 7);
	memcpy(p, &text, sizeof(text));
	if (high) {
		text = grt_hex_of((uint32_t)n);
		memcpy(p + digits - 8, &text, sizeof(text));
	}
	return p + digits;
}

#endif /* GRT_BASE_OUTBUF_H */
