// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: what tracks promise to those who draw them, for any events.
 * An input is a list of events: a byte each for type, time, thread and number,
 * and one that fills the payload. A track is told before its first item, time
 * does not go back on it, what ends has begun, and slices do not overlap.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>

#include <grtrace/event_table.h>

#include "export/tracks.h"

/* A wrong result is reported like a crash. */
#define CHECK(x) ((x) ? (void)0 : abort())

#define TRACKS 1024
#define STEP 5

static struct seen {
	bool told;
	unsigned int depth;
	uint64_t last;
} seen[TRACKS];
static const struct grt_tracks *tracks;

static int on_track(void *arg, const struct grt_track *t)
{
	(void)arg;
	CHECK(t->id && t->id < TRACKS && t->parent < TRACKS);
	CHECK(!t->parent || seen[t->parent].told);
	CHECK(t->name && t->unit);
	seen[t->id].told = true;
	return 0;
}

static int on_item(void *arg, const struct grt_track_item *i)
{
	struct seen *s = &seen[i->track];

	(void)arg;
	CHECK(i->track < TRACKS && s->told && i->time >= s->last);
	CHECK(i->category < GRT_CATEGORIES && strlen(grt_tracks_name(tracks, i->name)) < 8192);
	for (unsigned int n = 0; n < i->args; n++)
		CHECK(*grt_tracks_arg_name(tracks, i->arg[n].id));
	s->last = i->time;
	if (i->kind == GRT_ITEM_BEGIN)
		s->depth++;
	if (i->kind == GRT_ITEM_END)
		CHECK(s->depth--);
	if (i->kind == GRT_ITEM_SLICE) {
		CHECK(!s->depth && i->end >= i->time);
		s->last = i->end;
	}
	return 0;
}

/* A byte in all fields of the payload, so that identities meet; or many different ones. */
static void fill(struct grt_event *e, size_t size, unsigned char byte)
{
	unsigned char *p = (unsigned char *)(e + 1);

	for (size_t i = 0; i < size - sizeof(*e); i++)
		p[i] = byte < 128 ? (i % 8 ? 0 : byte) : (unsigned char)(byte * (i + 3));
}

static void feed(struct grt_tracks *t, const unsigned char *in, uint64_t *time)
{
	union {
		struct grt_event e;
		char room[GRT_RECORD_MAX];
	} r;
	const struct grt_event_desc *d = &grt_event_table[in[0] % GRT_EV_MAX];

	*time += in[1];
	if (!d->name)
		return;
	memset(&r, 0, sizeof(r));
	fill(&r.e, d->size, in[4]);
	r.e.time = *time;
	r.e.type = (uint16_t)(d - grt_event_table);
	r.e.size = d->size;
	r.e.flags = in[2] >> 4 & 3;
	r.e.pid = in[2] & 1;
	r.e.tid = in[2] & 7;
	r.e.ctx = in[3] & 3;
	r.e.seqno = in[3] >> 2 & 15;
	r.e.ring = in[3] >> 6 == 3 ? GRT_RING_NONE : in[3] >> 6;
	CHECK(!grt_tracks_event(t, &r.e));
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct grt_tracks_sink sink = {.track = on_track, .item = on_item};
	struct grt_tracks *t;
	uint64_t time = 1000;

	memset(seen, 0, sizeof(seen));
	CHECK(!grt_tracks_new(&t, &sink));
	tracks = t;
	for (; size >= STEP && size < STEP * TRACKS / 4; data += STEP, size -= STEP)
		feed(t, data, &time);
	CHECK(!grt_tracks_end(t));
	grt_tracks_free(t);
	return 0;
}
