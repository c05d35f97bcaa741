// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Perfetto: a file of TracePackets, by hand. Field numbers are those of
 * protos/perfetto/trace of Perfetto v57.2, in the files named beside them.
 *
 * Every track is a packet sequence of its own. So a track's id is reported once
 * (TrackEventDefaults), its stamps are differences (a clock of the sequence,
 * incremental), and time never goes back in it, as tracks.h promises. Names are
 * interned by sequence.
 */
#include <errno.h>

#include "base/escape.h"
#include "base/grow.h"
#include "export.h"
#include "base/outbuf.h"
#include "base/protobuf.h"

/* trace.proto, trace_packet.proto */
enum {
	TRACE_PACKET = 1,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TIMESTAMP_CLOCK_ID = 58,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_FIRST_ON_SEQUENCE = 87,
};
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };

/* clock_snapshot.proto; builtin_clock.proto */
enum { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2 };
enum { CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, CLOCK_IS_INCREMENTAL = 3 };
enum { REALTIME = 1, MONOTONIC = 3, BOOTTIME = 6, OWN_CLOCK = 64 };

/* trace_packet_defaults.proto, track_event.proto: TrackEventDefaults */
enum { DEFAULTS_TRACK_EVENT = 11, DEFAULTS_CLOCK_ID = 58, EVENT_DEFAULTS_TRACK = 11 };

/* track_descriptor.proto, process_descriptor.proto, thread_descriptor.proto, counter_descriptor.proto */
enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_UNIT_NAME = 6 };

/* track_event.proto */
enum {
	EVENT_CATEGORY_IIDS = 3,
	EVENT_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_NAME = 23,
	EVENT_COUNTER_VALUE = 30,
	EVENT_FLOW_IDS = 47,
	EVENT_TERMINATING_FLOW_IDS = 48,
};
enum { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

/* debug_annotation.proto */
enum {
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_STRING = 6,
	ANNOTATION_POINTER = 7,
	ANNOTATION_NAME = 10,
};

/* interned_data.proto */
enum { INTERNED_CATEGORIES = 1, INTERNED_EVENT_NAMES = 2, INTERNED_ANNOTATION_NAMES = 3 };
enum { INTERNED_IID = 1, INTERNED_NAME = 2 };

/* The sequence of what belongs to no track; track N is on sequence N + 1. */
#define OWN_SEQUENCE 1U
/* The uuid of the recording's own track; those of others are small. */
#define OWN_TRACK 0xffffffffU
/* Longer texts are cut. */
#define TEXT_MAX 4096U
/* Room for an item: its values, and each of them, the name and the category interned. */
#define ITEM_MAX (GRT_TRACK_ARGS_MAX * 1400 + 3 * TEXT_MAX + 4096)

_Static_assert(ITEM_MAX < GRT_OUTBUF_ROOM / 2, "a slice is two items");

/**
 * struct sequence - what a sequence's reader knows
 * @last: stamp of its last packet, 0: it has not begun
 * @args, @categories: bits of those interned
 * @names: the same for names, @words words
 */
struct sequence {
	uint64_t last;
	uint64_t args[GRT_TRACK_ARG_IDS_MAX / 64];
	uint64_t categories;
	uint64_t *names;
	uint32_t words;
	bool begun;
};

struct perfetto {
	struct grt_outbuf out;
	struct grt_tracks *tracks;
	struct sequence *sequence; /* by track id */
	uint32_t sequences;
	uint64_t first;
	uint64_t last;
	bool has_first;
};

static uint8_t *perfetto_room(struct perfetto *f, size_t bytes)
{
	return (uint8_t *)grt_outbuf_room(&f->out, bytes);
}

static int perfetto_take(struct perfetto *f, const uint8_t *end)
{
	grt_outbuf_take(&f->out, (const char *)end);
	return f->out.error;
}

/* A string of the protocol is UTF-8. */
static uint8_t *perfetto_put_text(uint8_t *p, unsigned int field, const char *text, size_t length)
{
	char clean[3 * TEXT_MAX + 1];
	size_t n = grt_escape(GRT_ESCAPE_UTF8, clean, sizeof(clean), text,
			      length < TEXT_MAX ? length : TEXT_MAX);

	return grt_pb_bytes(p, field, clean, n);
}

/* ------------------------------------------------------------- sequences */

/* The state of a track's sequence, NULL without memory. */
static struct sequence *find_sequence(struct perfetto *f, uint32_t track)
{
	if (grt_grow_zeroed(&f->sequence, &f->sequences, track + 1, 64))
		return NULL;
	return &f->sequence[track];
}

static uint8_t *put_clock(uint8_t *p, unsigned int id, uint64_t time, bool incremental)
{
	uint8_t *start = p = grt_pb_open(p, SNAPSHOT_CLOCKS);

	p = grt_pb_number(p, CLOCK_ID, id);
	p = grt_pb_number(p, CLOCK_TIMESTAMP, time);
	if (incremental)
		p = grt_pb_number(p, CLOCK_IS_INCREMENTAL, 1);
	return grt_pb_close(start, p);
}

static uint8_t *put_defaults(uint8_t *p, uint32_t track)
{
	uint8_t *start = p = grt_pb_open(p, PACKET_DEFAULTS), *event;

	p = grt_pb_number(p, DEFAULTS_CLOCK_ID, OWN_CLOCK);
	event = p = grt_pb_open(p, DEFAULTS_TRACK_EVENT);
	p = grt_pb_number(p, EVENT_DEFAULTS_TRACK, track);
	return grt_pb_close(start, grt_pb_close(event, p));
}

/* What precedes a track's first item: its defaults, and what its clock begins at. */
static uint8_t *begin_sequence(uint8_t *p, struct sequence *s, uint32_t track, uint64_t time)
{
	uint8_t *packet, *snapshot;

	packet = p = grt_pb_open(p, TRACE_PACKET);
	p = grt_pb_number(p, PACKET_SEQUENCE_ID, track + 1);
	p = grt_pb_number(p, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
	p = grt_pb_number(p, PACKET_FIRST_ON_SEQUENCE, 1);
	p = grt_pb_close(packet, put_defaults(p, track));

	packet = p = grt_pb_open(p, TRACE_PACKET);
	p = grt_pb_number(p, PACKET_SEQUENCE_ID, track + 1);
	p = grt_pb_number(p, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	snapshot = p = grt_pb_open(p, PACKET_CLOCK_SNAPSHOT);
	p = put_clock(p, OWN_CLOCK, time, true);
	p = put_clock(p, MONOTONIC, time, false);
	s->begun = true;
	s->last = time;
	return grt_pb_close(packet, grt_pb_close(snapshot, p));
}

/* --------------------------------------------------------------- tracks */

static uint8_t *perfetto_put_process(uint8_t *p, const struct grt_track *t)
{
	uint8_t *start = p = grt_pb_open(p, TRACK_PROCESS);

	p = grt_pb_number(p, PROCESS_PID, t->pid);
	if (*t->name)
		p = perfetto_put_text(p, PROCESS_NAME, t->name, strlen(t->name));
	return grt_pb_close(start, p);
}

static uint8_t *perfetto_put_thread(uint8_t *p, const struct grt_track *t)
{
	uint8_t *start = p = grt_pb_open(p, TRACK_THREAD);

	p = grt_pb_number(p, THREAD_PID, t->pid);
	p = grt_pb_number(p, THREAD_TID, t->tid);
	if (*t->name)
		p = perfetto_put_text(p, THREAD_NAME, t->name, strlen(t->name));
	return grt_pb_close(start, p);
}

static uint8_t *put_named(uint8_t *p, const struct grt_track *t)
{
	if (t->parent)
		p = grt_pb_number(p, TRACK_PARENT, t->parent);
	return perfetto_put_text(p, TRACK_NAME, t->name, strlen(t->name));
}

static uint8_t *perfetto_put_counter(uint8_t *p, const struct grt_track *t)
{
	uint8_t *start;

	p = put_named(p, t);
	start = p = grt_pb_open(p, TRACK_COUNTER);
	if (*t->unit)
		p = perfetto_put_text(p, COUNTER_UNIT_NAME, t->unit, strlen(t->unit));
	return grt_pb_close(start, p);
}

static int perfetto_on_track(void *arg, const struct grt_track *t)
{
	static uint8_t *(*const put[])(uint8_t * p, const struct grt_track *t) = {
		[GRT_TRACK_GROUP] = put_named,
		[GRT_TRACK_PROCESS] = perfetto_put_process,
		[GRT_TRACK_THREAD] = perfetto_put_thread,
		[GRT_TRACK_SLICES] = put_named,
		[GRT_TRACK_COUNTER] = perfetto_put_counter,
	};
	struct perfetto *f = arg;
	uint8_t *p = perfetto_room(f, 8 * TEXT_MAX), *packet, *track;

	packet = p = grt_pb_open(p, TRACE_PACKET);
	p = grt_pb_number(p, PACKET_SEQUENCE_ID, OWN_SEQUENCE);
	track = p = grt_pb_open(p, PACKET_TRACK_DESCRIPTOR);
	p = grt_pb_number(p, TRACK_UUID, t->id);
	p = put[t->kind](p, t);
	return perfetto_take(f, grt_pb_close(packet, grt_pb_close(track, p)));
}

/* ----------------------------------------------------------------- items */

static uint8_t *put_interned(uint8_t *p, unsigned int table, uint64_t iid, const char *text, size_t length)
{
	uint8_t *start = p = grt_pb_open(p, table);

	p = grt_pb_number(p, INTERNED_IID, iid);
	p = perfetto_put_text(p, INTERNED_NAME, text, length);
	return grt_pb_close(start, p);
}

/* Whether the reader of the sequence knows a name; from now on it does. Return: 1, 0, or -ENOMEM */
static int knows_name(struct sequence *s, uint32_t name)
{
	uint64_t bit = 1ULL << name % 64;

	if (grt_grow_zeroed(&s->names, &s->words, name / 64 + 1, 4))
		return -ENOMEM;
	if (s->names[name / 64] & bit)
		return 1;
	s->names[name / 64] |= bit;
	return 0;
}

static bool knows(uint64_t *bits, unsigned int i)
{
	uint64_t bit = 1ULL << i % 64, *word = &bits[i / 64];
	bool known = *word & bit;

	*word |= bit;
	return known;
}

/* The names of an item that come for the first time on its sequence. Return: the place behind, NULL: no
 * memory */
static uint8_t *put_new_names(const struct perfetto *f, uint8_t *p, struct sequence *s,
			      const struct grt_track_item *i)
{
	uint8_t *before = p, *start = p = grt_pb_open(p, PACKET_INTERNED_DATA);
	int known = i->name ? knows_name(s, i->name) : 1;

	if (known < 0)
		return NULL;
	if (!known)
		p = put_interned(p, INTERNED_EVENT_NAMES, i->name, grt_tracks_name(f->tracks, i->name),
				 grt_tracks_name_length(f->tracks, i->name));
	if (i->name && !knows(&s->categories, i->category))
		p = put_interned(p, INTERNED_CATEGORIES, i->category + 1U, grt_tracks_category(i->category),
				 64);
	for (unsigned int n = 0; n < i->args; n++)
		if (!knows(s->args, i->arg[n].id))
			p = put_interned(p, INTERNED_ANNOTATION_NAMES, i->arg[n].id + 1U,
					 grt_tracks_arg_name(f->tracks, i->arg[n].id), 64);
	return p == start ? before : grt_pb_close(start, p);
}

static uint8_t *put_annotation(uint8_t *p, const struct grt_track_arg *a)
{
	static const uint8_t fields[] = {[GRT_TRACK_U64] = ANNOTATION_UINT,
					 [GRT_TRACK_HEX] = ANNOTATION_POINTER,
					 [GRT_TRACK_S64] = ANNOTATION_INT,
					 [GRT_TRACK_BOOL] = ANNOTATION_BOOL};
	uint8_t *start = p = grt_pb_open(p, EVENT_ANNOTATIONS);

	p = grt_pb_number(p, ANNOTATION_NAME_IID, a->id + 1U);
	if (a->kind == GRT_TRACK_TEXT)
		p = perfetto_put_text(p, ANNOTATION_STRING, a->text, a->length < 400 ? a->length : 400);
	else
		p = grt_pb_number(p, fields[a->kind], a->number);
	return grt_pb_close(start, p);
}

static uint8_t *perfetto_put_body(uint8_t *p, unsigned int type, const struct grt_track_item *i)
{
	p = grt_pb_number(p, EVENT_TYPE, type);
	if (type == TYPE_COUNTER)
		return grt_pb_number(p, EVENT_COUNTER_VALUE, (uint64_t)i->value);
	if (i->name) {
		p = grt_pb_number(p, EVENT_CATEGORY_IIDS, i->category + 1U);
		p = grt_pb_number(p, EVENT_NAME_IID, i->name);
	}
	for (unsigned int n = 0; n < i->args; n++)
		p = put_annotation(p, &i->arg[n]);
	if (i->flow_out)
		p = grt_pb_fixed64(p, EVENT_FLOW_IDS, i->flow_out);
	if (i->flow_in)
		p = grt_pb_fixed64(p, EVENT_TERMINATING_FLOW_IDS, i->flow_in);
	return p;
}

/* One packet. Return: the place behind, NULL without memory */
static uint8_t *put_item(const struct perfetto *f, uint8_t *p, struct sequence *s, unsigned int type,
			 uint64_t time, const struct grt_track_item *i)
{
	uint8_t *packet = p = grt_pb_open(p, TRACE_PACKET), *event;

	p = grt_pb_number(p, PACKET_TIMESTAMP, time - s->last);
	p = grt_pb_number(p, PACKET_SEQUENCE_ID, i->track + 1);
	p = grt_pb_number(p, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	s->last = time;
	p = put_new_names(f, p, s, i);
	if (!p)
		return NULL;
	event = p = grt_pb_open(p, PACKET_TRACK_EVENT);
	p = perfetto_put_body(p, type, i);
	return grt_pb_close(packet, grt_pb_close(event, p));
}

static void see_time(struct perfetto *f, const struct grt_track_item *i)
{
	uint64_t end = i->kind == GRT_ITEM_SLICE ? i->end : i->time;

	if (!f->has_first || i->time < f->first)
		f->first = i->time;
	f->has_first = true;
	if (end > f->last)
		f->last = end;
}

static int perfetto_on_item(void *arg, const struct grt_track_item *i)
{
	static const uint8_t types[] = {[GRT_ITEM_BEGIN] = TYPE_SLICE_BEGIN,
					[GRT_ITEM_END] = TYPE_SLICE_END,
					[GRT_ITEM_SLICE] = TYPE_SLICE_BEGIN,
					[GRT_ITEM_INSTANT] = TYPE_INSTANT,
					[GRT_ITEM_COUNTER] = TYPE_COUNTER};
	struct grt_track_item end = {.track = i->track};
	struct perfetto *f = arg;
	struct sequence *s = find_sequence(f, i->track);
	uint8_t *p = perfetto_room(f, 2 * ITEM_MAX);

	if (!s)
		return -ENOMEM;
	see_time(f, i);
	if (!s->begun)
		p = begin_sequence(p, s, i->track, i->time);
	p = put_item(f, p, s, types[i->kind], i->time, i);
	if (p && i->kind == GRT_ITEM_SLICE)
		p = put_item(f, p, s, TYPE_SLICE_END, i->end, &end);
	return p ? perfetto_take(f, p) : -ENOMEM;
}

/* --------------------------------------------------------- begin and end */

/* All that is known about clocks; the stamps of the file are CLOCK_MONOTONIC. */
static int put_clocks(struct perfetto *f, const struct grt_export_clocks *c)
{
	uint8_t *p = perfetto_room(f, 256), *packet = p = grt_pb_open(p, TRACE_PACKET), *snapshot;

	p = grt_pb_number(p, PACKET_SEQUENCE_ID, OWN_SEQUENCE);
	snapshot = p = grt_pb_open(p, PACKET_CLOCK_SNAPSHOT);
	p = put_clock(p, MONOTONIC, c->monotonic, false);
	if (c->known) {
		p = put_clock(p, BOOTTIME, c->boottime, false);
		p = put_clock(p, REALTIME, c->realtime, false);
	}
	p = grt_pb_number(p, SNAPSHOT_PRIMARY, MONOTONIC);
	return perfetto_take(f, grt_pb_close(packet, grt_pb_close(snapshot, p)));
}

/* An instant on the recording's own track, whose names are not interned. */
static uint8_t *begin_note(struct perfetto *f, const char *name, uint64_t time, uint8_t **packet,
			   uint8_t **event)
{
	uint8_t *p = perfetto_room(f, 16 * TEXT_MAX);

	*packet = p = grt_pb_open(p, TRACE_PACKET);
	p = grt_pb_number(p, PACKET_SEQUENCE_ID, OWN_SEQUENCE);
	p = grt_pb_number(p, PACKET_TIMESTAMP, time);
	p = grt_pb_number(p, PACKET_TIMESTAMP_CLOCK_ID, MONOTONIC);
	*event = p = grt_pb_open(p, PACKET_TRACK_EVENT);
	p = grt_pb_number(p, EVENT_TYPE, TYPE_INSTANT);
	p = grt_pb_number(p, EVENT_TRACK_UUID, OWN_TRACK);
	return perfetto_put_text(p, EVENT_NAME, name, strlen(name));
}

static uint8_t *put_note_text(uint8_t *p, const char *name, const char *text)
{
	uint8_t *start = p = grt_pb_open(p, EVENT_ANNOTATIONS);

	p = perfetto_put_text(p, ANNOTATION_NAME, name, strlen(name));
	p = perfetto_put_text(p, ANNOTATION_STRING, text, strlen(text));
	return grt_pb_close(start, p);
}

static uint8_t *put_note_number(uint8_t *p, const char *name, uint64_t number)
{
	uint8_t *start = p = grt_pb_open(p, EVENT_ANNOTATIONS);

	p = perfetto_put_text(p, ANNOTATION_NAME, name, strlen(name));
	p = grt_pb_number(p, ANNOTATION_UINT, number);
	return grt_pb_close(start, p);
}

static uint8_t *put_note_env(uint8_t *p, const struct grt_session *s, const char *key)
{
	const char *value = grt_session_env(s, key);

	return value && *value ? put_note_text(p, key, value) : p;
}

/* What was recorded where, at the beginning. */
static int put_recording(struct perfetto *f, const struct grt_session *s)
{
	uint8_t *packet, *event, *p = begin_note(f, "recording", f->first, &packet, &event);

#define GRT_EXPORT_ENV(key) p = put_note_env(p, s, #key);
	GRT_EXPORT_ENVS(GRT_EXPORT_ENV)
#undef GRT_EXPORT_ENV
	return perfetto_take(f, grt_pb_close(packet, grt_pb_close(event, p)));
}

/* What became of all events, and what of them is not drawn, at the end. */
static int put_balance(struct perfetto *f, const struct grt_health *h)
{
	const struct grt_tracks_count *n = grt_tracks_count(f->tracks);
	uint8_t *packet, *event, *p = begin_note(f, "balance", f->last, &packet, &event);

	p = put_note_number(p, "emitted", h->balance.emitted);
#define GRT_FATE(NAME, name, help) p = put_note_number(p, #name, h->balance.fate[GRT_FATE_##NAME]);
#include <grtrace/fates.def>
#undef GRT_FATE
	p = put_note_number(p, "missing", h->missing_events);
	p = put_note_number(p, "jobs_not_drawn", n->undrawn);
	p = put_note_number(p, "jobs_inferred", n->inferred);
	p = put_note_number(p, "jobs_sampled", n->sampled);
	p = put_note_number(p, "ends_without_beginning", n->half);
	p = put_note_number(p, "without_end", n->cut);
	p = put_note_number(p, "without_track", n->over + n->back);
	return perfetto_take(f, grt_pb_close(packet, grt_pb_close(event, p)));
}

static int perfetto_begin(struct grt_export *x)
{
	const struct grt_track own = {
		.id = OWN_TRACK, .kind = GRT_TRACK_SLICES, .name = "grtrace", .unit = ""};
	struct perfetto *f = x->state = calloc(1, sizeof(*f));
	struct grt_tracks_sink sink = {.track = perfetto_on_track, .item = perfetto_on_item, .arg = f};

	if (!f || grt_outbuf_init(&f->out, x->fd) || grt_tracks_new(&x->tracks, &sink))
		return -ENOMEM;
	f->tracks = x->tracks;
	return put_clocks(f, &x->clocks) ?: perfetto_on_track(f, &own);
}

static int perfetto_event(struct grt_export *x, const struct grt_event *e, uint32_t cpu)
{
	return grt_tracks_event(x->tracks, e);
}

static int perfetto_packet(struct grt_export *x, const struct grt_packet *p)
{
	return grt_tracks_packet(x->tracks, p);
}

static int perfetto_end(struct grt_export *x, const struct grt_health *h)
{
	struct perfetto *f = x->state;

	return grt_tracks_end(x->tracks) ?: put_recording(f, x->session) ?: put_balance(f, h) ?: grt_outbuf_flush(&f->out);
}

static void perfetto_free(struct grt_export *x)
{
	struct perfetto *f = x->state;

	if (!f)
		return;
	for (uint32_t i = 0; i < f->sequences; i++)
		free(f->sequence[i].names);
	free(f->sequence);
	grt_outbuf_fini(&f->out);
	free(f);
}

const struct grt_export_format grt_export_perfetto = {
	.begin = perfetto_begin,
	.event = perfetto_event,
	.beyond = perfetto_event,
	.packet = perfetto_packet,
	.end = perfetto_end,
	.free = perfetto_free,
};
