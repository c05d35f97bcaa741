/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A minimal encoder of protocol buffers
 * (https://protobuf.dev/programming-guides/encoding/). Each function writes at
 * @p, where there must be room, and returns the place after its bytes.
 */
#ifndef GRT_BASE_PROTOBUF_H
#define GRT_BASE_PROTOBUF_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Most bytes of a number with its key, and of a message's key and length. */
#define GRT_PB_NUMBER_MAX 15U
#define GRT_PB_MESSAGE_MAX 10U

enum grt_pb_wire { GRT_PB_VARINT = 0, GRT_PB_FIXED64 = 1, GRT_PB_BYTES = 2 };

static inline uint8_t *grt_pb_varint(uint8_t *p, uint64_t n)
{
	/* compilers make no constant bytes of the loop */
	if (__builtin_constant_p(n) && n >= 0x80 && n < 1U << 21) {
		*p++ = (uint8_t)(n | 0x80);
		if (n >= 1U << 14)
			*p++ = (uint8_t)(n >> 7 | 0x80);
		*p++ = (uint8_t)(n >> (n >= 1U << 14 ? 14 : 7));
		return p;
	}
	while (n >= 0x80) {
		*p++ = (uint8_t)(n | 0x80);
		n >>= 7;
	}
	*p++ = (uint8_t)n;
	return p;
}

/**
 * grt_pb_wide - a number that is mostly large: its bytes are made at once. Up to 7 bytes after the place that
 * it returns may be written
 */
static inline uint8_t *grt_pb_wide(uint8_t *p, uint64_t n)
{
	uint64_t x = n & 0x00ffffffffffffff;
	unsigned int more;

	/* 56 bits become 8 groups of 7 */
	x = (x & 0x000000000fffffff) | (x & 0x00fffffff0000000) << 4;
	x = (x & 0x00003fff00003fff) | (x & 0x0fffc0000fffc000) << 2;
	x = (x & 0x007f007f007f007f) | (x & 0x3f803f803f803f80) << 1;
	more = n >> 56 ? 8 : (63 - (unsigned int)__builtin_clzll(x | 1)) / 8;
	x = htole64(x | (0x8080808080808080 & (more == 8 ? UINT64_MAX : (1ULL << 8 * more) - 1)));
	memcpy(p, &x, sizeof(x));
	return more == 8 ? grt_pb_varint(p + 8, n >> 56) : p + more + 1;
}

static inline uint8_t *grt_pb_key(uint8_t *p, unsigned int field, enum grt_pb_wire wire)
{
	return grt_pb_varint(p, (uint64_t)field << 3 | wire);
}

/** grt_pb_number - any integer, enum or bool; a negative one as its two's complement */
static inline uint8_t *grt_pb_number(uint8_t *p, unsigned int field, uint64_t n)
{
	return grt_pb_varint(grt_pb_key(p, field, GRT_PB_VARINT), n);
}

/** grt_pb_number_wide - the same of a number that is mostly large, see grt_pb_wide() */
static inline uint8_t *grt_pb_number_wide(uint8_t *p, unsigned int field, uint64_t n)
{
	return grt_pb_wide(grt_pb_key(p, field, GRT_PB_VARINT), n);
}

/** grt_pb_bytes - a string, or bytes */
static inline uint8_t *grt_pb_bytes(uint8_t *p, unsigned int field, const void *bytes, size_t n)
{
	p = grt_pb_varint(grt_pb_key(p, field, GRT_PB_BYTES), n);
	memcpy(p, bytes, n);
	return p + n;
}

/**
 * grt_pb_open - begins a message: bytes from the returned place on belong to it,
 * until grt_pb_close(), which gets this place
 */
static inline uint8_t *grt_pb_open(uint8_t *p, unsigned int field)
{
	/* room for the length of a short message, as most are */
	return grt_pb_key(p, field, GRT_PB_BYTES) + 1;
}

/** grt_pb_close - ends a message that began at @start, before @end; up to 4 bytes after @end are used */
static inline uint8_t *grt_pb_close(uint8_t *start, uint8_t *end)
{
	size_t n = (size_t)(end - start), more = 0;

	if (__builtin_expect(n < 0x80, 1)) {
		start[-1] = (uint8_t)n;
		return end;
	}
	for (size_t rest = n >> 7; rest; rest >>= 7)
		more++;
	memmove(start + more, start, n);
	grt_pb_varint(start - 1, n);
	return end + more;
}

#endif /* GRT_BASE_PROTOBUF_H */
