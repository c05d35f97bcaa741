/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Parses untrusted protocol buffers field by field, without reading after a message's end and without
 * allocating memory (https://protobuf.dev/programming-guides/encoding/).
 */
#ifndef GRT_BASE_PROTOBUF_IN_H
#define GRT_BASE_PROTOBUF_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scan.h"

/** struct grt_pb_in - the rest of a message; @bad: it cannot be parsed further */
struct grt_pb_in {
	const uint8_t *p;
	const uint8_t *end;
	bool bad;
};

/** struct grt_pb_field - a field; @value: of a number; @bytes: of all other kinds */
struct grt_pb_field {
	uint64_t number;
	unsigned int wire;
	uint64_t value;
	struct grt_span bytes;
};

/** grt_pb_read - begins a message; if a field is a number where a message is expected, it counts as an empty
 * message */
static inline struct grt_pb_in grt_pb_read(struct grt_span message)
{
	const uint8_t *p = (const uint8_t *)message.at;

	return (struct grt_pb_in){p, message.len ? p + message.len : p, false};
}

/** grt_pb_take_varint - reads a varint. Return: false: it is cut, or has more than 64 bits */
static inline bool grt_pb_take_varint(struct grt_pb_in *in, uint64_t *out)
{
	*out = 0;
	for (unsigned int shift = 0; shift < 64 && in->p < in->end; shift += 7) {
		*out |= (uint64_t)(*in->p & 0x7f) << shift;
		if (*in->p++ < 0x80)
			return true;
	}
	return false;
}

/* The value of a field whose key has been read. */
static inline bool grt_pb_take_value(struct grt_pb_in *in, struct grt_pb_field *f)
{
	uint64_t n = f->wire == 1 ? 8 : 4;

	if (f->wire == 0)
		return grt_pb_take_varint(in, &f->value);
	if (f->wire == 2 ? !grt_pb_take_varint(in, &n) : f->wire != 1 && f->wire != 5)
		return false;
	if (n > (uint64_t)(in->end - in->p))
		return false;
	f->bytes = (struct grt_span){(const char *)in->p, (size_t)n};
	f->value = 0;
	for (unsigned int i = 0; f->wire != 2 && i < n; i++)
		f->value |= (uint64_t)in->p[i] << 8 * i;
	in->p += n;
	return true;
}

/** grt_pb_next - the next field of a message. Return: false at the end, or with @in->bad */
static inline bool grt_pb_next(struct grt_pb_in *in, struct grt_pb_field *f)
{
	uint64_t key;

	*f = (struct grt_pb_field){0};
	if (in->bad || in->p == in->end)
		return false;
	in->bad = !grt_pb_take_varint(in, &key);
	f->number = key >> 3;
	f->wire = key & 7;
	in->bad = in->bad || !f->number || !grt_pb_take_value(in, f);
	return !in->bad;
}

#endif /* GRT_BASE_PROTOBUF_IN_H */
