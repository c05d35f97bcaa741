// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: what tracks promise to those who draw them, for any events.
 * An input is a list of events, see events.h. A track is told before its first item,
 * time does not go back on it, what ends has begun, and slices do not overlap.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>

#include <grtrace/event_table.h>
#include "export/tracks.h"
#include "events.h"

/* A wrong result is reported like a crash. */
#define CHECK(x) ((x) ? (void)0 : abort())

#define TRACKS 1024

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

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct grt_tracks_sink sink = {.track = on_track, .item = on_item};
	struct grt_tracks *t;
	union fuzz_event r;
	uint64_t time = 1000;

	memset(seen, 0, sizeof(seen));
	CHECK(!grt_tracks_new(&t, &sink));
	tracks = t;
	for (; size >= EVENT_STEP && size < EVENT_STEP * TRACKS / 4; data += EVENT_STEP, size -= EVENT_STEP)
		CHECK(!fuzz_event(&r, data, &time) || !grt_tracks_event(t, &r.e));
	CHECK(!grt_tracks_end(t));
	grt_tracks_free(t);
	return 0;
}
