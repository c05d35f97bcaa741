// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Perfetto's format: a file of TracePackets, encoded here without Perfetto's library. This file writes the
 * tracks of events, perfetto_work.c the GPU's work, perfetto_stacks.c the stacks; perfetto_later.c has the
 * thread that draws.
 */
#include <errno.h>

#include "base/escape.h"
#include "base/containers.h"
#include "perfetto_parts.h"

/* clock_snapshot.proto */
enum { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2 };
enum { CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, CLOCK_IS_INCREMENTAL = 3 };

/* track_event.proto: TrackEventDefaults */
enum { EVENT_DEFAULTS_TRACK = 11 };

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
	EVENT_GPU_CORRELATION = 3000,
};
enum { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

/* gpu_track_event.proto: work that was submitted to the GPU, and work that a thread waited for */
enum { CORRELATION_SUBMITTED = 1, CORRELATION_WAITED = 2 };

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

/* The uuid of the recording's own track. Those of other tracks are small numbers. */
#define OWN_TRACK 0xffffffffU

/* Whether the text is valid UTF-8 as it is. */
static bool is_ascii(const char *text, size_t length)
{
	uint64_t word, all = 0;

	for (; length >= sizeof(word); text += sizeof(word), length -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		all |= word;
	}
	while (length--)
		all |= (unsigned char)*text++;
	return !(all & 0x8080808080808080ULL);
}

uint8_t *perfetto_put_text(uint8_t *p, unsigned int field, const char *text, size_t length)
{
	char clean[3 * TEXT_MAX + 1];

	length = strnlen(text, length < TEXT_MAX ? length : TEXT_MAX);
	if (is_ascii(text, length))
		return grt_pb_bytes(p, field, text, length);
	return grt_pb_bytes(p, field, clean, grt_escape(GRT_ESCAPE_UTF8, clean, sizeof(clean), text, length));
}

uint8_t *perfetto_put_interned(uint8_t *p, unsigned int table, uint64_t iid, const char *text, size_t length)
{
	uint8_t *start = p = grt_pb_open(p, table);

	p = grt_pb_number(p, INTERNED_IID, iid);
	p = perfetto_put_text(p, INTERNED_NAME, text, length);
	return grt_pb_close(start, p);
}

/* ------------------------------------------------------------- sequences */

/* Finds or creates the state of a track's sequence. Return: NULL: no memory */
static inline struct sequence *find_sequence(struct perfetto *f, uint32_t track)
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

static uint8_t *put_defaults(uint8_t *p, const struct sequence *s, uint32_t track)
{
	uint8_t *start = p = grt_pb_open(p, PACKET_DEFAULTS), *event;

	p = grt_pb_number(p, DEFAULTS_CLOCK_ID, OWN_CLOCK);
	if (s->queue)
		return grt_pb_close(start, p);
	event = p = grt_pb_open(p, DEFAULTS_TRACK_EVENT);
	p = grt_pb_number(p, EVENT_DEFAULTS_TRACK, track);
	return grt_pb_close(start, grt_pb_close(event, p));
}

/* Writes the defaults of a sequence, which precede all its packets. */
static uint8_t *begin_sequence(uint8_t *p, struct sequence *s, uint32_t track)
{
	uint8_t *packet = p = grt_pb_open(p, TRACE_PACKET), *head = s->head, *end;

	s->begun = true;
	head = grt_pb_number(head, PACKET_SEQUENCE_ID, track + 1);
	head = grt_pb_number(head, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	s->head_bytes = (uint8_t)(head - s->head);
	end = head = grt_pb_open(head, PACKET_TRACK_EVENT);
	head = grt_pb_close(end, grt_pb_number(head, EVENT_TYPE, TYPE_SLICE_END));
	s->end_bytes = (uint8_t)(head - s->head - s->head_bytes);
	p = grt_pb_number(p, PACKET_SEQUENCE_ID, track + 1);
	p = grt_pb_number(p, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
	p = grt_pb_number(p, PACKET_FIRST_ON_SEQUENCE, 1);
	return grt_pb_close(packet, put_defaults(p, s, track));
}

/* Writes the start of a sequence's clock, which precedes the track's first item. */
static uint8_t *begin_clock(uint8_t *p, struct sequence *s, uint32_t track, uint64_t time)
{
	uint8_t *packet, *snapshot;

	if (!s->begun)
		p = begin_sequence(p, s, track);
	packet = p = grt_pb_open(p, TRACE_PACKET);
	p = grt_pb_number(p, PACKET_SEQUENCE_ID, track + 1);
	p = grt_pb_number(p, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	snapshot = p = grt_pb_open(p, PACKET_CLOCK_SNAPSHOT);
	p = put_clock(p, OWN_CLOCK, time, true);
	p = put_clock(p, MONOTONIC, time, false);
	s->timed = true;
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

/* A queue has no track descriptor: its sequence defines it. */
static int on_queue(struct perfetto *f, const struct grt_track *t)
{
	struct sequence *s = find_sequence(f, t->id);
	uint8_t *p = perfetto_room(f, 8 * TEXT_MAX);

	if (!s)
		return -ENOMEM;
	if (!s->begun) {
		s->queue = t->queue;
		p = begin_sequence(p, s, t->id);
		s->queue = 0;
	}
	return perfetto_take(f, perfetto_put_queue(p, s, t));
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
	uint8_t *p, *packet, *track;

	if (t->queue)
		return on_queue(f, t);
	packet = p = grt_pb_open(perfetto_room(f, 8 * TEXT_MAX), TRACE_PACKET);
	p = grt_pb_number(p, PACKET_SEQUENCE_ID, OWN_SEQUENCE);
	track = p = grt_pb_open(p, PACKET_TRACK_DESCRIPTOR);
	p = grt_pb_number(p, TRACK_UUID, t->id);
	p = put[t->kind](p, t);
	return perfetto_take(f, grt_pb_close(packet, grt_pb_close(track, p)));
}

/* ----------------------------------------------------------------- items */

/* Whether the last item with one value had the same names: most calls of a thread are the same. */
static bool has_same_names(const struct sequence *s, const struct grt_track_item *i)
{
	return i->name && i->name == s->last_name && i->category == s->last_category && i->args == 1 &&
	       i->arg[0].id == s->last_arg;
}

/*
 * Interns the names of an item that are new on its sequence. Return: the position after them, NULL: no memory
 */
static uint8_t *put_new_names(const struct perfetto *f, uint8_t *p, struct sequence *s,
			      const struct grt_track_item *i)
{
	uint8_t *before = p, *start = p = grt_pb_open(p, PACKET_INTERNED_DATA);
	int known = i->name ? perfetto_sees(&s->names, i->name) : 1;

	if (known < 0)
		return NULL;
	if (!known)
		p = perfetto_put_interned(p, INTERNED_EVENT_NAMES, i->name,
					  grt_tracks_name(f->tracks, i->name),
					  grt_tracks_name_length(f->tracks, i->name));
	if (i->name && !perfetto_knows(&s->categories, i->category))
		p = perfetto_put_interned(p, INTERNED_CATEGORIES, i->category + 1U,
					  grt_tracks_category(i->category), 64);
	for (unsigned int n = 0; n < i->args; n++)
		if (!perfetto_knows(s->args, i->arg[n].id))
			p = perfetto_put_interned(p, INTERNED_ANNOTATION_NAMES, i->arg[n].id + 1U,
						  grt_tracks_arg_name(f->tracks, i->arg[n].id), 64);
	if (i->args == 1) {
		s->last_name = i->name;
		s->last_category = i->category;
		s->last_arg = i->arg[0].id;
	}
	return p == start ? before : grt_pb_close(start, p);
}

/* Writes a number's value up to the number itself. */
static uint8_t *put_annotation_head(uint8_t *p, const struct grt_track_arg *a)
{
	static const uint8_t fields[] = {[GRT_TRACK_U64] = ANNOTATION_UINT,
					 [GRT_TRACK_HEX] = ANNOTATION_POINTER,
					 [GRT_TRACK_S64] = ANNOTATION_INT,
					 [GRT_TRACK_BOOL] = ANNOTATION_BOOL};

	p = grt_pb_number(p, ANNOTATION_NAME_IID, a->id + 1U);
	return grt_pb_key(p, fields[a->kind], GRT_PB_VARINT);
}

static uint8_t *put_annotation(uint8_t *p, const struct grt_track_arg *a)
{
	uint8_t *start = p = grt_pb_open(p, EVENT_ANNOTATIONS);

	if (a->kind != GRT_TRACK_TEXT)
		return grt_pb_close(start, grt_pb_varint(put_annotation_head(p, a), a->number));
	p = grt_pb_number(p, ANNOTATION_NAME_IID, a->id + 1U);
	p = perfetto_put_text(p, ANNOTATION_STRING, a->text, a->length < 400 ? a->length : 400);
	return grt_pb_close(start, p);
}

/* Writes the work that a call submitted to the GPU, and the work that it waited for. */
static uint8_t *put_correlation(uint8_t *p, const struct grt_track_item *i)
{
	uint8_t *start = p = grt_pb_open(p, EVENT_GPU_CORRELATION);

	if (i->flow_out)
		p = grt_pb_number_wide(p, CORRELATION_SUBMITTED, i->flow_out);
	for (uint32_t n = 0; n < i->waits; n++)
		p = grt_pb_number(p, CORRELATION_WAITED, i->wait[n]);
	return grt_pb_close(start, p);
}

static uint8_t *put_name(uint8_t *p, const struct grt_track_item *i)
{
	if (!i->name)
		return p;
	p = grt_pb_number(p, EVENT_CATEGORY_IIDS, i->category + 1U);
	return grt_pb_number(p, EVENT_NAME_IID, i->name);
}

static uint8_t *perfetto_put_body(uint8_t *p, unsigned int type, const struct grt_track_item *i)
{
	p = grt_pb_number(p, EVENT_TYPE, type);
	if (type == TYPE_COUNTER)
		return grt_pb_number(p, EVENT_COUNTER_VALUE, (uint64_t)i->value);
	p = put_name(p, i);
	for (unsigned int n = 0; n < i->args; n++)
		p = put_annotation(p, &i->arg[n]);
	return i->flow_out || i->waits ? put_correlation(p, i) : p;
}

/* Writes an item as one packet. Return: the position after it, NULL: no memory */
static uint8_t *put_item(const struct perfetto *f, uint8_t *p, struct sequence *s, unsigned int type,
			 const struct grt_track_item *i)
{
	uint8_t *packet = p = grt_pb_open(p, TRACE_PACKET), *event;

	p = perfetto_put_head(p, s, i->time);
	if (!has_same_names(s, i))
		p = put_new_names(f, p, s, i);
	if (!p)
		return NULL;
	event = p = grt_pb_open(p, PACKET_TRACK_EVENT);
	p = perfetto_put_body(p, type, i);
	return grt_pb_close(packet, grt_pb_close(event, p));
}

static inline __attribute__((always_inline)) uint8_t *put_slice_end(uint8_t *p, struct sequence *s,
								    const struct grt_track_item *i)
{
	uint8_t *packet = p = grt_pb_open(p, TRACE_PACKET);

	/* its event is behind the head */
	return grt_pb_close(packet, perfetto_put_head(p, s, i->end) + s->end_bytes);
}

/* ------------------------------------------------- slices like the one before */

_Static_assert(PERFETTO_BODY >= 4 * GRT_PB_MESSAGE_MAX - 8, "a begin up to its number has room");

/* The calls of a thread differ in their times and one number: the other bytes are stored. */
static void keep_body(struct sequence *s, const struct grt_track_item *i)
{
	uint8_t *value, *p = grt_pb_number(s->body, EVENT_TYPE, TYPE_SLICE_BEGIN);

	s->body_bytes = 0;
	if (!has_same_names(s, i) || i->arg->kind == GRT_TRACK_TEXT)
		return;
	value = p = grt_pb_open(put_name(p, i), EVENT_ANNOTATIONS);
	p = put_annotation_head(p, i->arg);
	s->body_kind = i->arg->kind;
	s->body_value = (uint8_t)(p - value);
	s->body_bytes = (uint8_t)(p - s->body);
}

/* Whether put_like_last() can write it. */
static inline bool is_like_last(const struct sequence *s, const struct grt_track_item *i)
{
	return i->kind == GRT_ITEM_SLICE && s->body_bytes && has_same_names(s, i) &&
	       i->arg->kind == s->body_kind && !i->waits;
}

/* Writes both packets of a slice. All lengths are below 128. */
static inline uint8_t *put_like_last(uint8_t *p, struct sequence *s, const struct grt_track_item *i)
{
	uint8_t *packet = p = grt_pb_open(p, TRACE_PACKET), *event, *flow;

	event = p = grt_pb_open(perfetto_put_head(p, s, i->time), PACKET_TRACK_EVENT);
	memcpy(p, s->body, sizeof(s->body));
	p = grt_pb_varint(p + s->body_bytes, i->arg->number);
	event[s->body_bytes - s->body_value - 1] = (uint8_t)(p - event - s->body_bytes + s->body_value);
	if (i->flow_out) {
		flow = p = grt_pb_open(p, EVENT_GPU_CORRELATION);
		p = grt_pb_number_wide(p, CORRELATION_SUBMITTED, i->flow_out);
		flow[-1] = (uint8_t)(p - flow);
	}
	event[-1] = (uint8_t)(p - event);
	packet[-1] = (uint8_t)(p - packet);
	return put_slice_end(p, s, i);
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

/* Writes an item that is not like the one before. Return: 0 or a negative errno */
static __attribute__((noinline)) int put_other(struct perfetto *f, struct sequence *s,
					       const struct grt_track_item *i)
{
	static const uint8_t types[] = {[GRT_ITEM_BEGIN] = TYPE_SLICE_BEGIN,
					[GRT_ITEM_END] = TYPE_SLICE_END,
					[GRT_ITEM_SLICE] = TYPE_SLICE_BEGIN,
					[GRT_ITEM_INSTANT] = TYPE_INSTANT,
					[GRT_ITEM_COUNTER] = TYPE_COUNTER};
	uint8_t *p = perfetto_room(f, 2 * ITEM_MAX);

	if (!s->timed)
		p = begin_clock(p, s, i->track, i->time);
	if (s->queue && i->kind == GRT_ITEM_SLICE) {
		p = perfetto_put_work(f, p, s, i);
		return p ? perfetto_take(f, p) : -ENOMEM;
	}
	p = put_item(f, p, s, types[i->kind], i);
	if (p && i->kind == GRT_ITEM_SLICE) {
		p = put_slice_end(p, s, i);
		keep_body(s, i);
	}
	return p ? perfetto_take(f, p) : -ENOMEM;
}

static int perfetto_on_item(void *arg, const struct grt_track_item *i)
{
	struct perfetto *f = arg;
	struct sequence *s = find_sequence(f, i->track);
	uint8_t *p;

	if (!s)
		return -ENOMEM;
	see_time(f, i);
	if (is_like_last(s, i))
		return perfetto_take(f, put_like_last(perfetto_room(f, 2 * ITEM_MAX), s, i));
	if (!s->queue || !s->timed || i->kind != GRT_ITEM_SLICE)
		return put_other(f, s, i);
	p = perfetto_put_work(f, perfetto_room(f, 2 * ITEM_MAX), s, i);
	return p ? perfetto_take(f, p) : -ENOMEM;
}

/* --------------------------------------------------------- begin and end */

/* Writes the clocks of the recording. The time stamps of the file are CLOCK_MONOTONIC. */
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

/* Begins an instant on the recording's own track, whose names are not interned. */
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

/* Writes the properties of the recording, at the beginning of the trace. */
static int put_recording(struct perfetto *f, const struct grt_session *s)
{
	uint8_t *packet, *event, *p = begin_note(f, "recording", f->first, &packet, &event);

#define GRT_EXPORT_ENV(key) p = put_note_env(p, s, #key);
	GRT_EXPORT_ENVS(GRT_EXPORT_ENV)
#undef GRT_EXPORT_ENV
	return perfetto_take(f, grt_pb_close(packet, grt_pb_close(event, p)));
}

/* Writes the counts of events by what happened to them, and of items that are not drawn, at the end. */
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
	p = put_note_number(p, "stack_samples", perfetto_stacks_samples(f->stacks));
	return perfetto_take(f, grt_pb_close(packet, grt_pb_close(event, p)));
}

/* A filter says of the last event only whether it is selected. */
static int begin_later(struct grt_export *x)
{
	return x->filter ? 0 : perfetto_later_new(x->state);
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
	grt_tracks_filter(x->tracks, x->filter);
	perfetto_find_roles(f);
	if (perfetto_stacks_new(&f->stacks, f))
		return -ENOMEM;
	return put_clocks(f, &x->clocks) ?: perfetto_on_track(f, &own) ?: begin_later(x);
}

static int perfetto_event(struct grt_export *x, const struct grt_event *e, uint32_t cpu)
{
	struct perfetto *f = x->state;

	return perfetto_later_event(f, e, false) ?: perfetto_stacks_event(f->stacks, e);
}

static void perfetto_within(struct grt_export *x, uint64_t from, uint64_t to)
{
	perfetto_stacks_within(((struct perfetto *)x->state)->stacks, from, to);
}

static int perfetto_lasting(struct grt_export *x, const struct grt_event *e)
{
	return perfetto_later_event(x->state, e, true);
}

static int perfetto_packet(struct grt_export *x, const struct grt_packet *p)
{
	return perfetto_later_packet(x->state, p);
}

static int perfetto_end(struct grt_export *x, const struct grt_health *h)
{
	struct perfetto *f = x->state;
	int ret = perfetto_later_settle(f) ?: grt_tracks_end(x->tracks);

	ret = ret ?: perfetto_stacks_end(f->stacks) ?: perfetto_later_settle(f) ?: perfetto_put_gpus(f);
	return ret ?: put_recording(f, x->session) ?: put_balance(f, h) ?: grt_outbuf_flush(&f->out);
}

static void perfetto_free(struct grt_export *x)
{
	struct perfetto *f = x->state;

	if (!f)
		return;
	perfetto_later_free(f);
	for (uint32_t i = 0; i < f->sequences; i++) {
		free(f->sequence[i].names.bits);
		free(f->sequence[i].kernels.bits);
		free(f->sequence[i].contexts.bits);
	}
	free(f->sequence);
	free(f->work);
	free(f->samples);
	grt_keyed_free(&f->contexts);
	perfetto_stacks_free(f->stacks);
	grt_outbuf_fini(&f->out);
	free(f);
}

const struct grt_export_format grt_export_perfetto = {
	.whole = true,
	.joins = true,
	.begin = perfetto_begin,
	.event = perfetto_event,
	.beyond = perfetto_event,
	.late = perfetto_event,
	.lasting = perfetto_lasting,
	.within = perfetto_within,
	.packet = perfetto_packet,
	.end = perfetto_end,
	.free = perfetto_free,
};
