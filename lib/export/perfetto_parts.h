/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What the files of Perfetto's format share. Field numbers are those of
 * protos/perfetto/trace of Perfetto v58.2, in the files named beside them.
 */
#ifndef GRT_EXPORT_PERFETTO_PARTS_H
#define GRT_EXPORT_PERFETTO_PARTS_H

#include <errno.h>

#include "base/grow.h"
#include "base/keyed.h"
#include "base/outbuf.h"
#include "base/protobuf.h"
#include "export.h"
#include "perfetto_numbers.h"

enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };

/* builtin_clock.proto */
enum { REALTIME = 1, MONOTONIC = 3, BOOTTIME = 6, OWN_CLOCK = 64 };

/* trace_packet_defaults.proto */
enum { DEFAULTS_TRACK_EVENT = 11, DEFAULTS_CLOCK_ID = 58, DEFAULTS_STACK_SAMPLE = 100 };

/* interned_data.proto, gpu_interned_data.proto; the members of most of its messages */
enum {
	INTERNED_CATEGORIES = 1,
	INTERNED_EVENT_NAMES = 2,
	INTERNED_ANNOTATION_NAMES = 3,
	INTERNED_FUNCTION_NAMES = 5,
	INTERNED_FRAMES = 6,
	INTERNED_CALLSTACKS = 7,
	INTERNED_CONTEXTS = 23,
	INTERNED_SPECIFICATIONS = 24,
	INTERNED_KERNELS = 1000,
	INTERNED_ARG_NAMES = 1001,
};
enum { INTERNED_IID = 1, INTERNED_NAME = 2 };

/* The sequence of what belongs to no track; track N is on sequence N + 1, stacks are behind the last one. */
#define OWN_SEQUENCE 1U
#define STACK_SEQUENCE (GRT_TRACKS_MAX + 2)
/* Longer texts are cut. */
#define TEXT_MAX 4096U
/* Room for an item: its values, and each of them, the name, the category and a kernel's other name interned.
 */
#define ITEM_MAX (GRT_TRACK_ARGS_MAX * 1400 + 6 * TEXT_MAX + 4096)

_Static_assert(ITEM_MAX < GRT_OUTBUF_ROOM / 2, "a slice is two items");

/* Bytes of a sequence's id and flags, at most: they are copied as a whole. */
#define PERFETTO_HEAD 16U

/** struct perfetto_seen - a set of numbers */
struct perfetto_seen {
	uint64_t *bits;
	uint32_t words;
};

/**
 * struct sequence - what a sequence's reader knows
 * @last: stamp of its last packet
 * @args, @categories: bits of those interned
 * @names, @kernels, @contexts: the same
 * @queue: it is that of a queue: the number of this, 0: it is not; @gpu, @context, @pid: as in struct
 * grt_track
 * @renamed: how often the queue got another name
 * @user, @user_context: the last one's pid, and the number of its context
 * @head: what its packets have behind their stamp, @head_bytes of it
 * @begun: it has its defaults; @timed: and its clock
 */
struct sequence {
	uint64_t last;
	uint8_t head[PERFETTO_HEAD];
	uint8_t head_bytes;
	uint64_t args[GRT_TRACK_ARG_IDS_MAX / 64];
	uint64_t categories;
	struct perfetto_seen names;
	struct perfetto_seen kernels;
	struct perfetto_seen contexts;
	uint32_t queue;
	uint32_t gpu;
	uint32_t context;
	uint32_t pid;
	uint32_t renamed;
	uint32_t user;
	uint32_t user_context;
	bool begun;
	bool timed;
};

/** enum perfetto_role - what a value of a kernel is for Perfetto; the first six are members of messages */
enum perfetto_role {
	ROLE_NONE,
	ROLE_GRID_X,
	ROLE_GRID_Y,
	ROLE_GRID_Z,
	ROLE_BLOCK_X,
	ROLE_BLOCK_Y,
	ROLE_BLOCK_Z,
	ROLE_REGISTERS,
	ROLE_SHARED_STATIC,
	ROLE_SHARED_DYNAMIC,
};

struct perfetto_stacks;
struct perfetto_work;

/**
 * struct perfetto - the export
 * @sequence: by track id
 * @contexts: number of a context, by pid and its number in the process
 * @role: by number of a value's name
 * @work: packets of work that came before, NULL: none did
 * @stacks: the samples
 */
struct perfetto {
	struct grt_outbuf out;
	struct grt_tracks *tracks;
	struct sequence *sequence;
	uint32_t sequences;
	struct grt_keyed contexts;
	uint8_t role[GRT_TRACK_ARG_IDS_MAX];
	struct perfetto_work *work;
	struct perfetto_stacks *stacks;
	uint64_t first;
	uint64_t last;
	bool has_first;
};

/* Room for a packet or two, at most GRT_OUTBUF_ROOM bytes; what is written there up to @end is taken. */
static inline uint8_t *perfetto_room(struct perfetto *f, size_t bytes)
{
	return (uint8_t *)grt_outbuf_room(&f->out, bytes);
}

static inline int perfetto_take(struct perfetto *f, const uint8_t *end)
{
	grt_outbuf_take(&f->out, (const char *)end);
	return f->out.error;
}

/* What all packets with a track's items begin with; up to PERFETTO_HEAD bytes behind it are overwritten. */
static inline uint8_t *perfetto_put_head(uint8_t *p, struct sequence *s, uint64_t time)
{
	p = grt_pb_number(p, PACKET_TIMESTAMP, time - s->last);
	s->last = time;
	memcpy(p, s->head, sizeof(s->head));
	return p + s->head_bytes;
}

/* A string of the protocol is UTF-8. */
uint8_t *perfetto_put_text(uint8_t *p, unsigned int field, const char *text, size_t length);

/* An entry of a table of names. */
uint8_t *perfetto_put_interned(uint8_t *p, unsigned int table, uint64_t iid, const char *text, size_t length);

/* Whether a number is in the set; from now on it is. Return: 1, 0, or -ENOMEM */
static inline int perfetto_sees(struct perfetto_seen *seen, uint32_t number)
{
	uint64_t bit = 1ULL << number % 64;

	if (grt_grow_zeroed(&seen->bits, &seen->words, number / 64 + 1, 4))
		return -ENOMEM;
	if (seen->bits[number / 64] & bit)
		return 1;
	seen->bits[number / 64] |= bit;
	return 0;
}

/* The same of bits. */
static inline bool perfetto_knows(uint64_t *bits, unsigned int i)
{
	uint64_t bit = 1ULL << i % 64, *word = &bits[i / 64];
	bool known = *word & bit;

	*word |= bit;
	return known;
}

/* ------------------------------------------------- perfetto_work.c: GPUs */

/* Which values are what. */
void perfetto_find_roles(struct perfetto *f);

/* A queue was told, or got another name; its sequence has begun. Return: the place behind */
uint8_t *perfetto_put_queue(uint8_t *p, struct sequence *s, const struct grt_track *t);

/* A slice on a queue, as one packet. Return: the place behind, NULL: no memory */
uint8_t *perfetto_put_work(struct perfetto *f, uint8_t *p, struct sequence *s,
			   const struct grt_track_item *i);

/* All GPUs, when all of them are known. Return: 0 or a negative errno */
int perfetto_put_gpus(struct perfetto *f);

/* --------------------------------------------- perfetto_stacks.c: samples */

/* Begins. Return: 0 or -ENOMEM */
int perfetto_stacks_new(struct perfetto_stacks **out, struct perfetto *f);

/* Takes in an event. Return: 0 or a negative errno */
int perfetto_stacks_event(struct perfetto_stacks *s, const struct grt_event *e);

/* The trace is over. Return: 0 or a negative errno */
int perfetto_stacks_end(struct perfetto_stacks *s);

/* How many samples there are, and the GPU time that they stand for, ns. */
uint64_t perfetto_stacks_samples(const struct perfetto_stacks *s);

/* Frees it; NULL is allowed. */
void perfetto_stacks_free(struct perfetto_stacks *s);

#endif /* GRT_EXPORT_PERFETTO_PARTS_H */
