/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The checks that a packet header and a record must pass before any of their fields
 * is used. They only read memory, and have no state.
 */
#ifndef GRT_TRACE_PACKET_H
#define GRT_TRACE_PACKET_H

#include <string.h>

#include <grtrace/grtrace.h>

/* More CPUs than any kernel supports: a larger number is invalid. */
#define GRT_CPU_MAX 8192U
/* Largest header, with room for additions by later programs of the same format. */
#define GRT_HEADER_MAX 4096U

/** enum grt_packet_look - the kind of the bytes at a possible begin of a packet */
enum grt_packet_look {
	GRT_LOOK_PACKET,
	GRT_LOOK_OTHER_FORMAT, /* the magic is right, but this program does not read the format */
	GRT_LOOK_GARBAGE,
};

/* The size of a record by type, 0 for unknown types. Records of newer programs may be larger.
 */
extern const uint16_t grt_record_size[GRT_EV_MAX];

/* The smallest size of a record by type: if a type got fields later, the size in older programs. */
extern const uint16_t grt_record_least_of[GRT_EV_MAX];

/* enum grt_class by type. */
extern const uint8_t grt_class_of[GRT_EV_MAX];

/* enum grt_trait by type. */
extern const uint8_t grt_traits_of[GRT_EV_MAX];

/** grt_has_trait - whether the type of an event has one of @traits; unknown types have none */
static inline bool grt_has_trait(const struct grt_event *e, unsigned int traits)
{
	return e->type < GRT_EV_MAX && grt_traits_of[e->type] & traits;
}

/** grt_has_job - whether ctx and seqno of an event identify a job */
static inline bool grt_has_job(const struct grt_event *e)
{
	return e->ctx && !grt_has_trait(e, GRT_TRAIT_OF_IMAGE);
}

/** grt_packet_look - checks a header; all of struct grt_packet must be readable */
static inline enum grt_packet_look grt_packet_look(const struct grt_packet *p)
{
	uint64_t content = p->content_size / 8;

	if (p->magic != GRT_PACKET_MAGIC)
		return GRT_LOOK_GARBAGE;
	if (p->format < GRT_FORMAT_MIN || p->format > GRT_FORMAT)
		return GRT_LOOK_OTHER_FORMAT;
	if (p->stream_id != GRT_STREAM_CPU || p->cpu_id >= GRT_CPU_MAX)
		return GRT_LOOK_GARBAGE;
	if (p->header_size < sizeof(*p) || p->header_size > GRT_HEADER_MAX || p->header_size % 8)
		return GRT_LOOK_GARBAGE;
	if (p->content_size % 64 || p->packet_size % 64 || content < p->header_size)
		return GRT_LOOK_GARBAGE;
	if (p->content_size > p->packet_size || p->packet_size / 8 > GRT_PACKET_MAX)
		return GRT_LOOK_GARBAGE;
	return p->timestamp_begin <= p->timestamp_end ? GRT_LOOK_PACKET : GRT_LOOK_GARBAGE;
}

/*
 * A count that was cleared within the packet ends lower than it began: its end value counts from the clear
 * on.
 */
static inline uint64_t grt_packet_moved(uint64_t begin, uint64_t end)
{
	return end >= begin ? end - begin : end;
}

/** grt_packet_emitted, grt_packet_fate - emitted events, and events with this fate, in a packet */
static inline uint64_t grt_packet_emitted(const struct grt_packet *p)
{
	return grt_packet_moved(p->begin.emitted, p->end.emitted);
}

static inline uint64_t grt_packet_fate(const struct grt_packet *p, unsigned int fate)
{
	return grt_packet_moved(p->begin.fate[fate], p->end.fate[fate]);
}

/** grt_record_least - the smallest size of a record of this type, bytes */
static inline uint32_t grt_record_least(uint16_t type)
{
	return type < GRT_EV_MAX ? grt_record_least_of[type] : sizeof(struct grt_event);
}

/**
 * grt_record_whole - a record with all fields of this program: fields that an older program did not have are
 * 0
 * @room: memory of GRT_RECORD_MAX bytes
 */
static inline const struct grt_event *grt_record_whole(const struct grt_event *e, void *room)
{
	uint32_t size = e->type < GRT_EV_MAX ? grt_record_size[e->type] : 0;

	if (__builtin_expect(e->size >= size, 1))
		return e;
	memcpy(room, e, e->size);
	memset((char *)room + e->size, 0, size - e->size);
	((struct grt_event *)room)->size = (uint16_t)size;
	return room;
}

/**
 * grt_record_sound - whether the size of a record is valid
 * @left: bytes of the packet from the record on, at least sizeof(*e)
 */
static inline bool grt_record_sound(const struct grt_event *e, uint64_t left)
{
	return e->size <= left && e->size % 8 == 0 && e->size >= grt_record_least(e->type);
}

/** grt_packet_next - the record behind @e in a packet, the first one for NULL. Return: NULL: there is none,
 * or it is broken */
static inline const struct grt_event *grt_packet_next(const struct grt_packet *p, const struct grt_event *e)
{
	const char *at = e ? (const char *)e + e->size : (const char *)p + p->header_size;
	size_t left = (size_t)((const char *)p + p->content_size / 8 - at);

	e = (const struct grt_event *)at;
	return left >= sizeof(*e) && grt_record_sound(e, left) ? e : NULL;
}

#endif /* GRT_TRACE_PACKET_H */
