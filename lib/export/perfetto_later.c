// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Tracks are drawn by a thread of their own, because they take as long as reading the trace and joining the
 * stacks. It gets events and packets as copies, and between them the packets of the stacks, so that the file
 * is the same as from one thread. A filter says of the last event whether it is selected; with one,
 * everything is drawn at once.
 */
#include <errno.h>
#include <stdlib.h>

#include <grtrace/event_table.h>

#include "base/relay.h"
#include "perfetto_parts.h"
#include "tracks_parts.h"
#include "tracks_places.h"
#include "trace/packet.h"

#define BATCH_BYTES (1U << 20)

/** enum later_kind - what an entry is; LATER_BEYOND: an event outside of the time that is drawn */
enum later_kind { LATER_EVENT, LATER_SAMPLE, LATER_BEYOND, LATER_PACKET, LATER_BYTES };

/** struct later_entry - followed by @size bytes, and what makes their number one of whole words */
struct later_entry {
	uint32_t kind;
	uint32_t size;
};

_Static_assert(sizeof(struct later_entry) == 8, "what follows is aligned as events are");
_Static_assert(BATCH_BYTES > GRT_OUTBUF_ROOM + 2 * sizeof(struct later_entry), "each entry has room");

/** struct later_batch - entries, up to @used; @ret: of the last one that was drawn */
struct later_batch {
	char *bytes;
	uint32_t used;
	int ret;
};

/**
 * struct perfetto_later - what waits
 * @to: the export
 * @collected: by the reader's thread; @drawn: by the thread of @relay while it has it
 * @size: of each type's record; 0: it is unknown
 */
struct perfetto_later {
	struct perfetto *to;
	struct later_batch collected;
	struct later_batch drawn;
	struct grt_relay relay;
	uint16_t size[GRT_EV_MAX];
};

/* ---------------------------------------------------------------- drawing */

static int draw_bytes(struct perfetto *f, const void *bytes, uint32_t size)
{
	uint8_t *p = perfetto_room(f, size);

	memcpy(p, bytes, size);
	return perfetto_take(f, p + size);
}

/* What grt_tracks_event() does without a filter; only known types were collected. */
static inline int draw_event(struct grt_tracks *t, const struct grt_event *e)
{
	return t->draw[e->type] ? t->draw[e->type](t, e) : tracks_instant(t, e);
}

static int draw_entry(struct perfetto *f, const struct later_entry *entry)
{
	const void *what = entry + 1;

	switch ((enum later_kind)entry->kind) {
	case LATER_EVENT:
		break;
	case LATER_SAMPLE:
		return perfetto_put_sample(f, what);
	case LATER_BEYOND:
		return tracks_remember(f->tracks, what);
	case LATER_PACKET:
		return grt_tracks_packet(f->tracks, what);
	case LATER_BYTES:
		return draw_bytes(f, what, entry->size);
	}
	return 0;
}

static inline uint32_t later_bytes(uint32_t size)
{
	return (uint32_t)sizeof(struct later_entry) + ((size + 7) & ~7U);
}

/* The batch beside this one has another thread, which should not wait for its cache line: so nothing is
 * written to it before the end. */
static void draw_batch(struct perfetto *f, struct later_batch *b)
{
	const char *const bytes = b->bytes, *const end = bytes + b->used;
	const struct later_entry *entry;
	int ret = b->ret;

	for (const char *at = bytes; at < end && !ret; at += later_bytes(entry->size)) {
		entry = (const struct later_entry *)at;
		ret = __builtin_expect(entry->kind == LATER_EVENT, 1)
			      ? draw_event(f->tracks, (const void *)(entry + 1))
			      : draw_entry(f, entry);
	}
	b->ret = ret;
	b->used = 0;
}

static void later_work(void *arg)
{
	struct perfetto_later *l = arg;

	draw_batch(l->to, &l->drawn);
}

/* -------------------------------------------------------------- collecting */

/* Gives the full batch to the thread, and takes the one that it has drawn. Return: the thread's error, or 0
 */
static __attribute__((noinline)) int hand_over(struct perfetto_later *l)
{
	struct later_batch full = l->collected;

	grt_relay_wait(&l->relay);
	if (l->drawn.ret)
		return l->drawn.ret;
	l->collected = l->drawn;
	l->drawn = full;
	grt_relay_go(&l->relay);
	return 0;
}

/* Return: the place for an entry of at most @size bytes, NULL: the thread has failed */
static inline __attribute__((always_inline)) struct later_entry *later_room(struct perfetto_later *l,
									    uint32_t size)
{
	if (l->collected.used + later_bytes(size) > BATCH_BYTES && hand_over(l))
		return NULL;
	return (struct later_entry *)(l->collected.bytes + l->collected.used);
}

static inline void later_take(struct perfetto_later *l, struct later_entry *entry, enum later_kind kind,
			      uint32_t size)
{
	*entry = (struct later_entry){.kind = kind, .size = size};
	l->collected.used += later_bytes(size);
}

static inline __attribute__((always_inline)) int collect(struct perfetto_later *l, enum later_kind kind,
							 const void *what, uint32_t size)
{
	struct later_entry *entry = later_room(l, size);

	if (!entry)
		return l->drawn.ret;
	/* for sizes that are known here, compilers make no call */
	if (size == sizeof(struct grt_ev_launch))
		memcpy(entry + 1, what, sizeof(struct grt_ev_launch));
	else if (size == sizeof(struct grt_ev_gpu_kernel))
		memcpy(entry + 1, what, sizeof(struct grt_ev_gpu_kernel));
	else
		memcpy(entry + 1, what, size);
	later_take(l, entry, kind, size);
	return 0;
}

int perfetto_later_event(struct perfetto *f, const struct grt_event *e, bool beyond)
{
	struct perfetto_later *l = f->later;
	uint32_t size;

	if (!l)
		return beyond ? tracks_remember(f->tracks, e) : grt_tracks_event(f->tracks, e);
	size = e->type < GRT_EV_MAX ? l->size[e->type] : 0;
	return size ? collect(l, beyond ? LATER_BEYOND : LATER_EVENT, e, size) : 0;
}

int perfetto_later_sample(struct perfetto *f, const struct perfetto_sample *s)
{
	return f->later ? collect(f->later, LATER_SAMPLE, s, sizeof(*s)) : perfetto_put_sample(f, s);
}

int perfetto_later_packet(struct perfetto *f, const struct grt_packet *p)
{
	return f->later ? collect(f->later, LATER_PACKET, p, sizeof(*p)) : grt_tracks_packet(f->tracks, p);
}

uint8_t *perfetto_later_room(struct perfetto *f, size_t bytes)
{
	struct later_entry *entry;

	if (!f->later)
		return perfetto_room(f, bytes);
	entry = later_room(f->later, (uint32_t)bytes);
	return entry ? (uint8_t *)(entry + 1) : NULL;
}

int perfetto_later_take(struct perfetto *f, const uint8_t *end)
{
	struct perfetto_later *l = f->later;
	struct later_entry *entry;

	if (!l)
		return perfetto_take(f, end);
	entry = (struct later_entry *)(l->collected.bytes + l->collected.used);
	later_take(l, entry, LATER_BYTES, (uint32_t)(end - (const uint8_t *)(entry + 1)));
	return 0;
}

/* ----------------------------------------------------------- begin and end */

int perfetto_later_new(struct perfetto *f)
{
	struct perfetto_later *l = f->later = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->to = f;
	l->collected.bytes = malloc(BATCH_BYTES);
	l->drawn.bytes = malloc(BATCH_BYTES);
	for (unsigned int type = 0; type < GRT_EV_MAX; type++)
		l->size[type] = grt_event_table[type].name ? grt_event_table[type].size : 0;
	grt_relay_init(&l->relay, later_work, l);
	return l->collected.bytes && l->drawn.bytes ? 0 : -ENOMEM;
}

int perfetto_later_settle(struct perfetto *f)
{
	struct perfetto_later *l = f->later;

	if (!l)
		return 0;
	grt_relay_wait(&l->relay);
	if (!l->drawn.ret)
		draw_batch(f, &l->collected);
	return l->drawn.ret ?: l->collected.ret;
}

void perfetto_later_free(struct perfetto *f)
{
	struct perfetto_later *l = f->later;

	if (!l)
		return;
	grt_relay_fini(&l->relay);
	free(l->collected.bytes);
	free(l->drawn.bytes);
	free(l);
}
