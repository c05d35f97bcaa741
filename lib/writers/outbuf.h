/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Text in one large buffer, for writers of many lines: numbers are formatted
 * in place and a line costs no call. The owner asks for room once a line and
 * moves a pointer through it.
 */
#ifndef GRT_WRITERS_OUTBUF_H
#define GRT_WRITERS_OUTBUF_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GRT_OUTBUF_ROOM (256U << 10)

/**
 * struct grt_outbuf - begun by grt_outbuf_init()
 * @fd: where it goes; stays its owner's
 * @error: errno of the first write that failed, as a negative number; what
 *	comes after it is dropped
 */
struct grt_outbuf {
	char *buf;
	size_t used;
	int fd;
	int error;
};

/** grt_outbuf_init - an empty one. Return: 0 or -ENOMEM */
static inline int grt_outbuf_init(struct grt_outbuf *b, int fd)
{
	*b = (struct grt_outbuf){.buf = malloc(GRT_OUTBUF_ROOM), .fd = fd};
	return b->buf ? 0 : -ENOMEM;
}

/** grt_outbuf_flush - writes what is in it. Return: 0 or the error of this or an earlier write */
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

/** grt_outbuf_room - where the next @bytes go, at most GRT_OUTBUF_ROOM; tell with grt_outbuf_take() */
static inline char *grt_outbuf_room(struct grt_outbuf *b, size_t bytes)
{
	if (b->used + bytes > GRT_OUTBUF_ROOM)
		grt_outbuf_flush(b);
	return b->buf + b->used;
}

/** grt_outbuf_take - everything up to @end is text now */
static inline void grt_outbuf_take(struct grt_outbuf *b, const char *end)
{
	b->used = (size_t)(end - b->buf);
}

/** grt_outbuf_fini - frees it; what was not flushed is lost */
static inline void grt_outbuf_fini(struct grt_outbuf *b)
{
	free(b->buf);
	b->buf = NULL;
}

/* Each of these writes at @p and returns the place behind. */

/** grt_format_text - @len bytes */
static inline char *grt_format_text(char *p, const char *text, size_t len)
{
	memcpy(p, text, len);
	return p + len;
}

/* What grt_format_padded() may read behind a text, and write behind the place it returns. */
#define GRT_PAD 32U

/** grt_format_padded - the same for a text with GRT_PAD readable bytes behind it: no call for short ones */
static inline char *grt_format_padded(char *p, const char *text, size_t len)
{
	size_t i = 0;

	do {
		memcpy(p + i, text + i, GRT_PAD);
		i += GRT_PAD;
	} while (i < len);
	return p + len;
}

/** grt_format_pair - 0..99 as two digits */
static inline char *grt_format_pair(char *p, uint32_t n)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";

	return grt_format_text(p, pairs + 2 * (size_t)n, 2);
}

/** grt_format_u64 - decimal; GRT_PAD bytes behind the place returned may be written */
static inline char *grt_format_u64(char *p, uint64_t n)
{
	/* the copy is of fixed size, which costs no call */
	char digits[40];
	char *at = digits + 20;

	for (; n >= 100; n /= 100) {
		at -= 2;
		grt_format_pair(at, (uint32_t)(n % 100));
	}
	if (n >= 10) {
		at -= 2;
		grt_format_pair(at, (uint32_t)n);
	} else {
		*--at = (char)('0' + n);
	}
	memcpy(p, at, 20);
	return p + (digits + 20 - at);
}

/** grt_format_s64 - decimal, with its sign */
static inline char *grt_format_s64(char *p, int64_t n)
{
	if (n >= 0)
		return grt_format_u64(p, (uint64_t)n);
	*p++ = '-';
	return grt_format_u64(p, -(uint64_t)n);
}

/** grt_format_hex - hexadecimal, with 0x */
static inline char *grt_format_hex(char *p, uint64_t n)
{
	unsigned int digits = n ? (67 - (unsigned int)__builtin_clzll(n)) / 4 : 1;

	*p++ = '0';
	*p++ = 'x';
	while (digits--)
		*p++ = "0123456789abcdef"[n >> (4 * digits) & 15];
	return p;
}

/** grt_format_nano - 0..999999999 as nine digits */
static inline char *grt_format_nano(char *p, uint32_t n)
{
	*p++ = (char)('0' + n / 100000000);
	n %= 100000000;
	p = grt_format_pair(p, n / 1000000);
	n %= 1000000;
	p = grt_format_pair(p, n / 10000);
	n %= 10000;
	p = grt_format_pair(p, n / 100);
	return grt_format_pair(p, n % 100);
}

#endif /* GRT_WRITERS_OUTBUF_H */
