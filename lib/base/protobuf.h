/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A minimal encoder of protocol buffers
 * (https://protobuf.dev/programming-guides/encoding/). Each function writes at
 * @p, where there must be room, and returns the place after its bytes.
 */
#ifndef GRT_BASE_PROTOBUF_H
#define GRT_BASE_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Most bytes of a number with its key, and of a message's key and length. */
#define GRT_PB_NUMBER_MAX 15U
#define GRT_PB_MESSAGE_MAX 10U

enum grt_pb_wire { GRT_PB_VARINT = 0, GRT_PB_FIXED64 = 1, GRT_PB_BYTES = 2 };

static inline uint8_t *grt_pb_varint(uint8_t *p, uint64_t n)
{
	while (n >= 0x80) {
		*p++ = (uint8_t)(n | 0x80);
		n >>= 7;
	}
	*p++ = (uint8_t)n;
	return p;
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

	for (size_t rest = n >> 7; rest; rest >>= 7)
		more++;
	if (more)
		memmove(start + more, start, n);
	grt_pb_varint(start - 1, n);
	return end + more;
}

#endif /* GRT_BASE_PROTOBUF_H */
