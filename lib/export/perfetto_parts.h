/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Shared by the files that write Perfetto's format. Field numbers are those of protos/perfetto/trace of
 * Perfetto v58.2; a comment names the file that defines them.
 */
#ifndef GRT_EXPORT_PERFETTO_PARTS_H
#define GRT_EXPORT_PERFETTO_PARTS_H

#include <errno.h>
#include <stddef.h>

#include "base/containers.h"
#include "base/outbuf.h"
#include "base/protobuf.h"
#include "export.h"
#include "perfetto_numbers.h"

enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };

/* builtin_clock.proto */
enum { REALTIME = 1, MONOTONIC = 3, BOOTTIME = 6, OWN_CLOCK = 64 };

/* trace_packet_defaults.proto */
enum { DEFAULTS_TRACK_EVENT = 11, DEFAULTS_CLOCK_ID = 58, DEFAULTS_STACK_SAMPLE = 100 };

/* interned_data.proto, gpu_interned_data.proto; then the members that most interned messages have */
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

/*
 * The sequence of packets without a track. Track N has sequence N + 1; the stacks have the sequence after the
 * last track's.
 */
#define OWN_SEQUENCE 1U
#define STACK_SEQUENCE (GRT_TRACKS_MAX + 2)
/* Longer texts are truncated to this length. */
#define TEXT_MAX 4096U
/*
 * Bytes reserved for an item: its values; and, in case they are interned with it, the names of the values,
 * its name, its category and the kernel's other name.
 */
#define ITEM_MAX (GRT_TRACK_ARGS_MAX * 1400 + 6 * TEXT_MAX + 4096)

_Static_assert(ITEM_MAX < GRT_OUTBUF_ROOM / 2, "a slice is two items");

/* Maximum size of a sequence's id and flags, and of a slice's end. This many bytes are always copied. */
#define PERFETTO_HEAD 16U
/* The same for an item up to its value's number. */
#define PERFETTO_BODY 32U

/** struct perfetto_seen - a set of numbers */
struct perfetto_seen {
	uint64_t *bits;
	uint32_t words;
};

/**
 * struct sequence - the state of a packet sequence, as its reader has it
 * @last: time stamp of its last packet
 * @head: the @head_bytes bytes that follow the time stamp in each of its packets, and behind them the
 *	@end_bytes of the event that ends a slice
 * @args, @categories: bit sets of the interned names of values, and of the interned categories
 * @names, @kernels, @contexts: the interned numbers of each kind
 * @last_name, @last_category, @last_arg: of the last item with one value that was written with its names
 * @body: the bytes of a slice's begin like it, up to the value's number; @body_bytes: 0: there are none
 * @body_kind: enum grt_track_value of it
 * @body_value: bytes of the value's message among them, up to its number
 * @queue: number of its queue; 0: it is not the sequence of a queue
 * @gpu, @context, @pid, @hip: of the queue, as in struct grt_track
 * @renamed: how often the queue's name changed
 * @user, @user_context: pid of the last user of the queue, and the number of this user's context
 * @begun: its defaults are written
 * @timed: the start of its clock is written
 */
struct sequence {
	uint64_t last;
	uint8_t head[PERFETTO_HEAD];
	uint8_t head_bytes;
	uint8_t end_bytes;
	uint64_t args[GRT_TRACK_ARG_IDS_MAX / 64];
	uint64_t categories;
	struct perfetto_seen names;
	struct perfetto_seen kernels;
	struct perfetto_seen contexts;
	uint32_t last_name;
	uint16_t last_arg;
	uint8_t last_category;
	uint8_t body_kind;
	uint8_t body_bytes;
	uint8_t body_value;
	uint8_t body[PERFETTO_BODY];
	uint32_t queue;
	uint32_t gpu;
	uint32_t context;
	uint32_t pid;
	uint32_t renamed;
	uint32_t user;
	uint32_t user_context;
	bool hip;
	bool begun;
	bool timed;
};

/**
 * enum perfetto_role - the meaning of a kernel's value in Perfetto; the first six have members in messages
 */
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

struct perfetto_later;
struct perfetto_samples;
struct perfetto_stacks;

/** struct perfetto_sample - a stack sample; @time: of the call; @node: number of its callstack */
struct perfetto_sample {
	uint64_t time;
	uint64_t weight;
	uint32_t node;
	uint32_t pid;
	uint32_t tid;
};

_Static_assert(sizeof(struct perfetto_sample) % 8 == 0, "as records are");
struct perfetto_work;

/**
 * struct perfetto - the state of the export. The reader's thread looks at @stacks and @later with each event
 * while the thread of @later writes what comes after @role: they must not be in one cache line
 * @sequence: by number of the track
 * @contexts: maps a pid and the number of a context in the process to a number of the file
 * @role: the role of a value, by number of its name
 * @work: packets of earlier work, see perfetto_work.c; NULL: none so far
 * @stacks: the stack samples; @samples: what they are written with
 * @later: what the thread draws that owns all other members until perfetto_later_settle(); NULL: everything
 * is drawn at once
 */
struct perfetto {
	struct perfetto_stacks *stacks;
	struct perfetto_later *later;
	uint8_t role[GRT_TRACK_ARG_IDS_MAX];
	struct grt_outbuf out;
	struct grt_tracks *tracks;
	struct sequence *sequence;
	uint32_t sequences;
	struct grt_keyed contexts;
	struct perfetto_work *work;
	struct perfetto_samples *samples;
	uint64_t first;
	uint64_t last;
	bool has_first;
};

_Static_assert(offsetof(struct perfetto, out) >= offsetof(struct perfetto, later) + 128,
	       "what one thread reads and another one writes is in different pairs of cache lines");

/*
 * perfetto_room() reserves at most GRT_OUTBUF_ROOM bytes, enough for two packets; perfetto_take() adds those
 * before @end to the output.
 */
static inline uint8_t *perfetto_room(struct perfetto *f, size_t bytes)
{
	return (uint8_t *)grt_outbuf_room(&f->out, bytes);
}

static inline int perfetto_take(struct perfetto *f, const uint8_t *end)
{
	grt_outbuf_take(&f->out, (const char *)end);
	return f->out.error;
}

/*
 * Writes the beginning of a packet for an item of a track. It may overwrite PERFETTO_HEAD bytes after the
 * position that it returns.
 */
static inline uint8_t *perfetto_put_head(uint8_t *p, struct sequence *s, uint64_t time)
{
	p = grt_pb_number(p, PACKET_TIMESTAMP, time - s->last);
	s->last = time;
	memcpy(p, s->head, sizeof(s->head));
	return p + s->head_bytes;
}

/* Writes a text as a string field, which must be UTF-8. */
uint8_t *perfetto_put_text(uint8_t *p, unsigned int field, const char *text, size_t length);

/* Writes an entry of a table of interned names. */
uint8_t *perfetto_put_interned(uint8_t *p, unsigned int table, uint64_t iid, const char *text, size_t length);

/* Adds a number to a set. Return: 1: it was in the set before, 0: it was not, or -ENOMEM */
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

/* Sets a bit. Return: whether it was set before */
static inline bool perfetto_knows(uint64_t *bits, unsigned int i)
{
	uint64_t bit = 1ULL << i % 64, *word = &bits[i / 64];
	bool known = *word & bit;

	*word |= bit;
	return known;
}

/* ------------------------------------------------- perfetto_work.c: GPUs */

/* Finds the role of each value by its name. */
void perfetto_find_roles(struct perfetto *f);

/*
 * Defines a queue on its sequence, which has begun, or gives it another name. Return: the position after it
 */
uint8_t *perfetto_put_queue(uint8_t *p, struct sequence *s, const struct grt_track *t);

/* Writes a slice on a queue as one packet. Return: the position after it, NULL: no memory */
uint8_t *perfetto_put_work(struct perfetto *f, uint8_t *p, struct sequence *s,
			   const struct grt_track_item *i);

/* Writes the description of all GPUs; call this once they are known. Return: 0 or a negative errno */
int perfetto_put_gpus(struct perfetto *f);

/* -------------------------------------- perfetto_later.c: another thread */

/* From now on another thread draws. Return: 0 or -ENOMEM */
int perfetto_later_new(struct perfetto *f);

/* Draws an event; @beyond: it only changes the state. Return: 0 or a negative errno, also of an earlier event
 */
int perfetto_later_event(struct perfetto *f, const struct grt_event *e, bool beyond);

/* Draws the losses of a packet. Return: the same */
int perfetto_later_packet(struct perfetto *f, const struct grt_packet *p);

/*
 * As perfetto_room() and perfetto_take(), for packets that do not come from tracks. Return: NULL: an earlier
 * event failed, with the error that perfetto_later_settle() returns
 */
uint8_t *perfetto_later_room(struct perfetto *f, size_t bytes);
int perfetto_later_take(struct perfetto *f, const uint8_t *end);

/* Writes a stack sample, see perfetto_put_sample(). Return: as perfetto_later_event() */
int perfetto_later_sample(struct perfetto *f, const struct perfetto_sample *s);

/* Waits until everything is drawn. Return: 0 or a negative errno */
int perfetto_later_settle(struct perfetto *f);

/* Waits for the thread and frees what waits. */
void perfetto_later_free(struct perfetto *f);

/* --------------------------------------------- perfetto_stacks.c: samples */

/* Creates an empty set of samples. Return: 0 or -ENOMEM */
int perfetto_stacks_new(struct perfetto_stacks **out, struct perfetto *f);

/* Before the first event: only work that is partly in this time is a sample. */
void perfetto_stacks_within(struct perfetto_stacks *s, uint64_t from, uint64_t to);

/* Processes an event. Return: 0 or a negative errno */
int perfetto_stacks_event(struct perfetto_stacks *s, const struct grt_event *e);

/* Writes a sample whose callstack is defined. Return: 0 or a negative errno */
int perfetto_put_sample(struct perfetto *f, const struct perfetto_sample *sample);

/* Processes the end of the trace. Return: 0 or a negative errno */
int perfetto_stacks_end(struct perfetto_stacks *s);

/* Return: the number of samples */
uint64_t perfetto_stacks_samples(const struct perfetto_stacks *s);

/* Frees it; NULL is allowed. */
void perfetto_stacks_free(struct perfetto_stacks *s);

#endif /* GRT_EXPORT_PERFETTO_PARTS_H */
