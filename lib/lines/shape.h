/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A cache of the text of lines, to write lines fast. Lines of events of one type that have the same thread,
 * context, ring and device differ only in their time stamp, the job's number and the fields of their type. A
 * shape is the text that such lines have in common: a line is copied from it, and only the rest is formatted.
 */
#ifndef GRT_LINES_SHAPE_H
#define GRT_LINES_SHAPE_H

#include "base/outbuf.h"
#include "joins.h"

/* The longest text of a shape: all texts of a record with their keys and numbers. */
#define GRT_SHAPE_MAX (5 * GRT_JOINS_TEXT + 20 * GRT_PAD)

/**
 * struct grt_shape - the common text of lines
 * @of: one of the events; @input: its input
 * @version: version of the names for which the text was made, see struct grt_joins
 * @thread, @ring, @device: see struct grt_joined
 * @numbered: the lines have the number of a job, after @head
 * @head, @late, @end: offsets in @text: where the job's number and the event's fields are inserted; where
 *	fields that follow the names are inserted; the end of the text
 */
struct grt_shape {
	struct grt_event of;
	uint64_t version;
	uint64_t input;
	struct grt_joins_thread *thread;
	struct grt_joins_ring *ring;
	struct grt_joins_device *device;
	bool numbered;
	uint16_t head;
	uint16_t late;
	uint16_t end;
	char text[GRT_SHAPE_MAX];
};

/* A shape is in one of GRT_SHAPE_WAYS places of a set; the lowest bits of its hash choose the set. */
#define GRT_SHAPE_SETS 64U
#define GRT_SHAPE_WAYS 4U

/** struct grt_shapes - the cache, all bytes zero at first; @made: number of shapes made in each set */
struct grt_shapes {
	uint64_t hash[GRT_SHAPE_SETS][GRT_SHAPE_WAYS];
	uint8_t made[GRT_SHAPE_SETS];
	struct grt_shape shape[GRT_SHAPE_SETS][GRT_SHAPE_WAYS];
};

/* Offsets of the 64-bit words of an event that are equal in all events of one shape. */
enum grt_shape_word {
	GRT_SHAPE_TYPE = offsetof(struct grt_event, type),
	GRT_SHAPE_WHO = offsetof(struct grt_event, pid),
	GRT_SHAPE_CTX = offsetof(struct grt_event, ctx),
	GRT_SHAPE_PLACE = offsetof(struct grt_event, ring),
};

_Static_assert(GRT_SHAPE_WHO == GRT_SHAPE_TYPE + 8 && GRT_SHAPE_CTX == GRT_SHAPE_WHO + 8 &&
		       sizeof(struct grt_event) == GRT_SHAPE_PLACE + 8,
	       "everything but the stamp and the number is in them");

static inline uint64_t grt_shape_word(const struct grt_event *e, enum grt_shape_word at)
{
	uint64_t word;

	memcpy(&word, (const char *)e + at, sizeof(word));
	return word;
}

static inline uint64_t grt_shape_differs(const struct grt_event *a, const struct grt_event *b,
					 enum grt_shape_word at)
{
	return grt_shape_word(a, at) ^ grt_shape_word(b, at);
}

static inline bool grt_shape_is(const struct grt_shape *s, const struct grt_event *e, unsigned int input,
				uint64_t version)
{
	return !(grt_shape_differs(&s->of, e, GRT_SHAPE_TYPE) | grt_shape_differs(&s->of, e, GRT_SHAPE_WHO) |
		 grt_shape_differs(&s->of, e, GRT_SHAPE_CTX) | grt_shape_differs(&s->of, e, GRT_SHAPE_PLACE) |
		 (s->version ^ version) | (s->input ^ input));
}

static inline uint64_t grt_shape_hash(const struct grt_event *e, unsigned int input)
{
	uint64_t hash;

	hash = (grt_shape_word(e, GRT_SHAPE_TYPE) + (grt_shape_word(e, GRT_SHAPE_CTX) << 7)) *
		       0x9e3779b97f4a7c15ULL +
	       (grt_shape_word(e, GRT_SHAPE_WHO) + (grt_shape_word(e, GRT_SHAPE_PLACE) << 5) + input) *
		       0xd1b54a32d192ed03ULL;
	return hash ^ hash >> 32;
}

/** grt_shape_find - Return: the shape of the event, made with names of @version; NULL: there is none */
static inline struct grt_shape *grt_shape_find(struct grt_shapes *x, uint64_t hash, const struct grt_event *e,
					       unsigned int input, uint64_t version)
{
	unsigned int set = hash % GRT_SHAPE_SETS;

	for (unsigned int way = 0; way < GRT_SHAPE_WAYS; way++)
		if (x->hash[set][way] == hash && grt_shape_is(&x->shape[set][way], e, input, version))
			return &x->shape[set][way];
	return NULL;
}

/**
 * grt_shape_new - makes a shape for the event; it replaces the oldest shape of its set
 * @hash: grt_shape_hash() of the event
 * @j: its current names become those of the shape
 * Return: the shape, whose text the caller writes
 */
static inline struct grt_shape *grt_shape_new(struct grt_shapes *x, uint64_t hash, const struct grt_event *e,
					      unsigned int input, struct grt_joins *j)
{
	unsigned int set = hash % GRT_SHAPE_SETS, way = x->made[set]++ % GRT_SHAPE_WAYS;
	struct grt_shape *s = &x->shape[set][way];
	struct grt_joined joined;

	x->hash[set][way] = hash;
	grt_joins_look(j, e, input, &joined);
	s->of = *e;
	s->input = input;
	s->version = j->version;
	s->thread = joined.thread;
	s->ring = joined.ring;
	s->device = joined.device;
	return s;
}

#endif /* GRT_LINES_SHAPE_H */
