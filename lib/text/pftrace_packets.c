// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* See pftrace_packets.h. */
#include "pftrace_packets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers.h"
#include "export/perfetto_numbers.h"

#ifdef GRT_HAVE_ZLIB
#include <zlib.h>
#endif

/* Bytes that packed packets may have together; Perfetto packs less than 1 MiB at once. */
#define PLAIN_MAX (64U << 20)
/* Packed packets grow to some ten times their size. Beyond this, a small file would take minutes to read. */
#define GROWTH_MAX 256U
#define GROWTH_FREE (UINT64_C(16) << 20)
#define THINGS_MAX 1048576U
#define TEXTS_MAX (1U << 20)
#define TRACKS_MAX 65536U
#define PARENTS_MAX 16U
/* Built-in clocks, and after them the clocks of a sequence. */
#define CLOCKS 64U
#define CLOCKS_OWN 128U
#define BOOTTIME 6U
#define MONOTONIC 3U

/* track_event.proto, gpu_track_event.proto */
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_MOMENT = 3 };

/** struct sequence - @generation: how often its state was cleared; @clock, @track: its defaults */
struct sequence {
	uint32_t generation;
	uint32_t clock;
	uint64_t track;
};

/** struct own_clock - of a sequence: @value at which the time of the trace is @offset more */
struct own_clock {
	uint64_t value;
	uint64_t offset;
	uint64_t multiplier;
	bool known;
	bool incremental;
};

/** struct packet_track - @open: slices that have begun, the outermost first; @depth: how many, with those
 * that found no place */
struct packet_track {
	uint64_t parent;
	uint32_t pid;
	uint32_t tid;
	uint32_t name;
	uint32_t depth;
	struct pftrace_slice *open;
};

/** struct packet - the fields of a packet that are used */
struct packet {
	uint64_t sequence;
	uint64_t flags;
	uint64_t time;
	uint64_t clock;
	bool has_time;
	bool has_clock;
	struct grt_span ftrace, snapshot, event, interned, stage, defaults, track, gpus, compressed;
};

/**
 * struct pftrace_packets - a file
 * @at: where the packet begins; @buf: the packet; @plain: the unpacked packets in it, if @is_plain
 * @packed, @unpacked: bytes of all packed packets so far, and of what was in them
 * @offset: by built-in clock: what to add to its time stamps; bits of @clocks: known ones
 */
struct pftrace_packets {
	int fd;
	uint64_t size;
	uint64_t at;
	char *buf;
	size_t room;
	char *plain;
	size_t plain_room;
	bool is_plain;
	uint64_t packed;
	uint64_t unpacked;
	struct grt_texts texts;
	struct grt_keyed names;
	struct grt_keyed sequences;
	struct grt_keyed own_clocks;
	struct grt_keyed tracks;
	uint64_t offset[CLOCKS];
	uint64_t clocks;
	struct pftrace_count count;
	const struct pftrace_sink *sink;
	const char *why;
};

static int packets_bad(struct pftrace_packets *p, const char *why)
{
	p->why = why;
	return -EPROTO;
}

#define SPOILED "a field of it is cut or damaged"

static int packets_text(struct pftrace_packets *p, struct grt_span text, uint32_t *number)
{
	*number = 0;
	if (!text.len)
		return 0;
	if (text.len > 65536)
		text.len = 65536;
	return grt_texts_add(&p->texts, text.at, text.len, number);
}

struct grt_span pftrace_packets_text(const struct pftrace_packets *p, uint32_t number)
{
	return (struct grt_span){grt_texts_get(&p->texts, number), grt_texts_length(&p->texts, number)};
}

static struct sequence *packets_sequence(struct pftrace_packets *p, uint64_t id)
{
	struct grt_key key = {{id}};
	void *found;
	int ret = grt_keyed_get(&p->sequences, &key, &found);

	return ret ? NULL : found;
}

static struct grt_key name_key(const struct packet *k, const struct sequence *s, uint64_t table, uint64_t iid)
{
	return (struct grt_key){{k->sequence, s->generation, table, iid}};
}

/* NULL: it is not there, which is counted */
static const struct pftrace_name *packets_name(struct pftrace_packets *p, const struct packet *k,
					       const struct sequence *s, unsigned int table, uint64_t iid)
{
	struct grt_key key = name_key(k, s, table, iid);
	const struct pftrace_name *n = grt_keyed_find(&p->names, &key);

	p->count.unnamed += !n;
	return n;
}

static uint32_t packets_name_text(struct pftrace_packets *p, const struct packet *k, const struct sequence *s,
				  unsigned int table, uint64_t iid)
{
	const struct pftrace_name *n = packets_name(p, k, s, table, iid);

	return n ? n->text : 0;
}

/* ---------------------------------------------------------------- clocks */

/** struct clock_reading - of a snapshot */
struct clock_reading {
	uint64_t id;
	uint64_t value;
	uint64_t multiplier;
	bool incremental;
};

static bool read_clock(struct grt_span message, struct clock_reading *c)
{
	struct grt_pb_in in = grt_pb_read(message);
	struct grt_pb_field f;

	*c = (struct clock_reading){.multiplier = 1};
	while (grt_pb_next(&in, &f)) {
		if (f.number == 1)
			c->id = f.value;
		else if (f.number == 2)
			c->value = f.value;
		else if (f.number == 3)
			c->incremental = f.value;
		else if (f.number == 4 && f.value)
			c->multiplier = f.value;
	}
	return !in.bad;
}

static int set_clock(struct pftrace_packets *p, const struct packet *k, const struct clock_reading *c,
		     uint64_t base)
{
	struct grt_key key = {{k->sequence, c->id}};
	void *found;
	int ret;

	if (c->id < CLOCKS) {
		p->offset[c->id] = base - c->value * c->multiplier;
		p->clocks |= 1ULL << c->id;
		return 0;
	}
	if (c->id >= CLOCKS_OWN)
		return 0;
	ret = grt_keyed_get(&p->own_clocks, &key, &found);
	if (!ret)
		*(struct own_clock *)found = (struct own_clock){.value = c->value,
								.offset = base - c->value * c->multiplier,
								.multiplier = c->multiplier,
								.known = true,
								.incremental = c->incremental};
	return ret == -ENOSPC ? 0 : ret;
}

/* The time of the trace is that of CLOCK_MONOTONIC, else of the clock of boot time. */
static int packets_snapshot(struct pftrace_packets *p, const struct packet *k)
{
	struct grt_pb_in in = grt_pb_read(k->snapshot);
	struct clock_reading c, base = {0};
	struct grt_pb_field f;
	int ret = 0;

	while (grt_pb_next(&in, &f)) {
		if (f.number != 1)
			continue;
		if (!read_clock(f.bytes, &c))
			return packets_bad(p, SPOILED);
		if (c.id == MONOTONIC || (c.id == BOOTTIME && base.id != MONOTONIC))
			base = c;
	}
	if (in.bad)
		return packets_bad(p, SPOILED);
	if (!base.id)
		return 0;
	in = grt_pb_read(k->snapshot);
	while (!ret && grt_pb_next(&in, &f))
		if (f.number == 1 && read_clock(f.bytes, &c))
			ret = set_clock(p, k, &c, base.value * base.multiplier);
	return ret;
}

/* Return: the clock is known */
static bool packets_time(struct pftrace_packets *p, const struct packet *k, const struct sequence *s,
			 uint64_t *out)
{
	uint64_t clock = k->has_clock ? k->clock : s->clock ? s->clock : BOOTTIME;
	struct grt_key key = {{k->sequence, clock}};
	struct own_clock *own;

	if (clock < CLOCKS) {
		*out = k->time + (p->clocks >> clock & 1 ? p->offset[clock] : 0);
		return p->clocks >> clock & 1 || clock == BOOTTIME || clock == MONOTONIC;
	}
	own = grt_keyed_find(&p->own_clocks, &key);
	if (!own || !own->known)
		return false;
	own->value = own->incremental ? own->value + k->time : k->time;
	*out = own->value * own->multiplier + own->offset;
	return true;
}

/* -------------------------------------------------------------- interned */

/* Most have a text in their second field; kernels have two. */
static int intern_one(struct pftrace_packets *p, const struct packet *k, const struct sequence *s,
		      uint64_t table, struct grt_span message)
{
	struct grt_pb_in in = grt_pb_read(message);
	struct grt_span text = {NULL, 0};
	struct pftrace_name name = {0};
	struct grt_pb_field f;
	struct grt_key key;
	uint64_t iid = 0;
	void *found;
	int ret;

	while (grt_pb_next(&in, &f)) {
		if (f.number == 1)
			iid = f.value;
		else if (f.number == 2 && f.wire == 2)
			text = f.bytes;
		else if (f.number == 2)
			name.pid = (uint32_t)f.value;
		else if (f.number == 3 && table == PFTRACE_CONTEXTS)
			name.value = f.value;
	}
	if (in.bad)
		return packets_bad(p, SPOILED);
	key = name_key(k, s, table, iid);
	ret = packets_text(p, text, &name.text);
	ret = ret ?: grt_keyed_get(&p->names, &key, &found);
	if (!ret)
		*(struct pftrace_name *)found = name;
	return ret == -ENOSPC ? packets_bad(p, "there are more names before it than can be kept") : ret;
}

static int packets_intern(struct pftrace_packets *p, const struct packet *k, const struct sequence *s)
{
	struct grt_pb_in in = grt_pb_read(k->interned);
	struct grt_pb_field f;
	int ret = 0;

	while (!ret && grt_pb_next(&in, &f))
		if (f.wire == 2 && (f.number <= PFTRACE_ARG_NAMES || f.number == PFTRACE_CONTEXTS ||
				    f.number == PFTRACE_SPECIFICATIONS || f.number == PFTRACE_KERNELS ||
				    f.number == PFTRACE_LAUNCH_ARG_NAMES))
			ret = intern_one(p, k, s, f.number, f.bytes);
	return ret ?: in.bad ? packets_bad(p, SPOILED) : 0;
}

/* -------------------------------------------------------------- values */

static void set_value(struct pftrace_values *out, struct grt_span name, uint64_t value)
{
#define PFTRACE_ARG(NAME, name) name,
	static const char *const names[] = {PFTRACE_ARGS(PFTRACE_ARG)};
#undef PFTRACE_ARG

	for (unsigned int i = 0; i < PFTRACE_ARG_COUNT; i++)
		if (grt_span_is(name, names[i])) {
			out->has |= 1U << i;
			out->v[i] = value;
		}
}

/* Reads a DebugAnnotation or an ExtraComputeArg, whose members have different numbers. */
static bool read_value(struct pftrace_packets *p, const struct packet *k, const struct sequence *s,
		       bool of_launch, struct grt_span message, struct pftrace_values *out)
{
	struct grt_pb_in in = grt_pb_read(message);
	struct grt_span name = {NULL, 0};
	uint64_t iid = 0, value = 0;
	struct grt_pb_field f;
	bool number = false;

	while (grt_pb_next(&in, &f)) {
		if (f.number == 1)
			iid = f.value;
		else if (f.number == (of_launch ? 2 : 10) && f.wire == 2)
			name = f.bytes;
		else if (f.wire == 0 && f.number >= 2 && f.number <= 7) {
			value = f.value;
			number = true;
		}
	}
	if (iid && number)
		name = pftrace_packets_text(
			p, packets_name_text(p, k, s,
					     of_launch ? PFTRACE_LAUNCH_ARG_NAMES : PFTRACE_ARG_NAMES, iid));
	if (number)
		set_value(out, name, value);
	return !in.bad;
}

/* -------------------------------------------------------- slices of GPUs */

static bool read_extent(struct grt_span message, uint64_t out[3])
{
	struct grt_pb_in in = grt_pb_read(message);
	struct grt_pb_field f;

	while (grt_pb_next(&in, &f))
		if (f.number <= 3)
			out[f.number - 1] = f.value;
	return !in.bad;
}

static bool read_launch(struct pftrace_packets *p, const struct packet *k, const struct sequence *s,
			struct grt_span message, struct pftrace_work *w)
{
	struct grt_pb_in in = grt_pb_read(message);
	struct grt_pb_field f;
	bool good = true;

	while (good && grt_pb_next(&in, &f)) {
		if (f.wire != 2)
			continue;
		if (f.number == 1 || f.number == 2) {
			good = read_extent(f.bytes, f.number == 1 ? w->grid : w->block);
			w->is_kernel = true;
		} else if (f.number == 3) {
			good = read_value(p, k, s, true, f.bytes, &w->args);
		}
	}
	return good && !in.bad;
}

static void work_context(struct pftrace_packets *p, const struct packet *k, const struct sequence *s,
			 uint64_t iid, struct pftrace_work *w)
{
	const struct pftrace_name *n = iid ? packets_name(p, k, s, PFTRACE_CONTEXTS, iid) : NULL;

	w->pid = n ? n->pid : 0;
	w->api = n ? (uint32_t)n->value : 0;
}

/*
 * Reads gpu_render_stage_event.proto; a stage without a queue in the tables of its sequence has none. Return:
 * 0 or an error
 */
static int read_stage(struct pftrace_packets *p, const struct packet *k, const struct sequence *s,
		      struct pftrace_work *w)
{
	struct grt_pb_in in = grt_pb_read(k->stage);
	struct grt_pb_field f;
	int ret = 0;

	while (!ret && grt_pb_next(&in, &f)) {
		if (f.number == 1)
			w->number = f.value;
		else if (f.number == 2)
			w->duration = f.value;
		else if (f.number == 5)
			work_context(p, k, s, f.value, w);
		else if (f.number == 11)
			w->gpu = f.value;
		else if (f.number == 13) {
			w->queue_iid = f.value;
			w->queue = packets_name_text(p, k, s, PFTRACE_SPECIFICATIONS, f.value);
		} else if (f.number == 14)
			w->stage = packets_name_text(p, k, s, PFTRACE_SPECIFICATIONS, f.value);
		else if (f.number == 17 && f.wire == 2)
			ret = packets_text(p, f.bytes, &w->name);
		else if (f.number == 19) {
			w->linked = packets_name_text(p, k, s, PFTRACE_KERNELS, f.value);
			w->is_kernel = true;
		} else if (f.number == 20)
			w->name = packets_name_text(p, k, s, PFTRACE_EVENT_NAMES, f.value);
		else if (f.number == 21 && f.wire == 2 && !read_launch(p, k, s, f.bytes, w))
			ret = packets_bad(p, SPOILED);
	}
	return ret ?: in.bad ? packets_bad(p, SPOILED) : 0;
}

static int packets_stage(struct pftrace_packets *p, const struct packet *k, const struct sequence *s,
			 uint64_t time)
{
	struct pftrace_work w = {.time = time};
	int ret = read_stage(p, k, s, &w);

	if (ret || !w.number || !p->sink->work || w.duration > UINT64_MAX - time)
		return ret;
	if (!w.name)
		w.name = w.stage;
	return p->sink->work(p->sink->arg, &w);
}

static int packets_gpus(struct pftrace_packets *p, const struct packet *k)
{
	struct grt_pb_in in = grt_pb_read(k->gpus), gpu;
	struct grt_pb_field f, g;
	uint64_t number = 0;
	int ret = 0;

	while (!ret && grt_pb_next(&in, &f)) {
		if (f.number != 1 || f.wire != 2)
			continue;
		for (gpu = grt_pb_read(f.bytes); !ret && grt_pb_next(&gpu, &g);)
			if (g.number == 1 && g.wire == 2 && p->sink->gpu)
				ret = p->sink->gpu(p->sink->arg, number, g.bytes);
		if (!ret && gpu.bad)
			return packets_bad(p, SPOILED);
		number++;
	}
	return ret ?: in.bad ? packets_bad(p, SPOILED) : 0;
}

/* ------------------------------------------------------ slices of tracks */

/* NULL: there is no place for it, or no memory */
static struct packet_track *packets_track(struct pftrace_packets *p, uint64_t uuid)
{
	struct grt_key key = {{uuid}};
	void *found;

	return grt_keyed_get(&p->tracks, &key, &found) ? NULL : found;
}

/* Reads the numbers of a process or a thread, and the field with its name. */
static bool read_owner(struct packet_track *t, struct grt_span message, bool thread, struct grt_span *name)
{
	struct grt_pb_in in = grt_pb_read(message);
	struct grt_pb_field f;

	while (grt_pb_next(&in, &f)) {
		if (f.number == 1)
			t->pid = (uint32_t)f.value;
		else if (f.number == 2 && thread)
			t->tid = (uint32_t)f.value;
		else if (f.number == (thread ? 5 : 6) && f.wire == 2)
			*name = f.bytes;
	}
	return !in.bad;
}

static int packets_descriptor(struct pftrace_packets *p, const struct packet *k)
{
	struct packet_track like = {0}, *t;
	struct grt_pb_in in = grt_pb_read(k->track);
	struct grt_span name = {NULL, 0};
	struct grt_pb_field f;
	bool good = true, process = false;
	uint64_t uuid = 0;
	int ret;

	while (good && grt_pb_next(&in, &f)) {
		if (f.number == 1)
			uuid = f.value;
		else if (f.number == 2 && f.wire == 2)
			name = f.bytes;
		else if (f.number == 5)
			like.parent = f.value;
		else if ((f.number == 3 || f.number == 4) && f.wire == 2) {
			good = read_owner(&like, f.bytes, f.number == 4, &name);
			process = process || f.number == 3;
		}
	}
	if (!good || in.bad)
		return packets_bad(p, SPOILED);
	ret = packets_text(p, name, &like.name);
	t = ret ? NULL : packets_track(p, uuid);
	if (!t)
		return ret;
	t->parent = like.parent;
	t->pid = like.pid;
	t->tid = like.tid;
	t->name = like.name;
	return process && name.len && p->sink->process ? p->sink->process(p->sink->arg, like.pid, name) : 0;
}

/* Sets the owner of a track: that of the nearest track above it that has one. */
static void track_owner(const struct pftrace_packets *p, const struct packet_track *t,
			struct pftrace_slice *s)
{
	struct grt_key key;

	s->track = t->name;
	for (unsigned int i = 0; t && i < PARENTS_MAX; i++) {
		if (!s->tid)
			s->tid = t->tid;
		s->pid = t->pid;
		if (s->pid || !t->parent)
			return;
		key = (struct grt_key){{t->parent}};
		t = grt_keyed_find(&p->tracks, &key);
	}
}

static bool read_submitted(struct grt_span message, struct pftrace_slice *s)
{
	struct grt_pb_in in = grt_pb_read(message);
	struct grt_pb_field f;

	while (grt_pb_next(&in, &f))
		if (f.number == 1 && f.wire == 0)
			s->number = f.value;
	return !in.bad;
}

/* track_event.proto. Return: its type, 0: none, or a negative errno */
static int read_event(struct pftrace_packets *p, const struct packet *k, const struct sequence *q,
		      struct pftrace_slice *s, uint64_t *track)
{
	struct grt_pb_in in = grt_pb_read(k->event);
	struct grt_pb_field f;
	int type = 0, ret = 0;
	bool good = true;

	while (good && !ret && grt_pb_next(&in, &f)) {
		if (f.number == 3 && f.wire == 0)
			s->category = packets_name_text(p, k, q, PFTRACE_CATEGORIES, f.value);
		else if (f.number == 4 && f.wire == 2)
			good = read_value(p, k, q, false, f.bytes, &s->args);
		else if (f.number == 9)
			type = f.value <= TYPE_MOMENT ? (int)f.value : 0;
		else if (f.number == 10)
			s->name = packets_name_text(p, k, q, PFTRACE_EVENT_NAMES, f.value);
		else if (f.number == 11)
			*track = f.value;
		else if ((f.number == 22 || f.number == 23) && f.wire == 2)
			ret = packets_text(p, f.bytes, f.number == 22 ? &s->category : &s->name);
		else if (f.number == 3000 && f.wire == 2)
			good = read_submitted(f.bytes, s);
	}
	return ret ?: !good || in.bad ? packets_bad(p, SPOILED) : type;
}

static int slice_begins(struct pftrace_packets *p, struct packet_track *t, const struct pftrace_slice *s)
{
	if (!t->open)
		t->open = calloc(PFTRACE_OPEN_MAX, sizeof(*t->open));
	if (!t->open)
		return -ENOMEM;
	if (t->depth < PFTRACE_OPEN_MAX)
		t->open[t->depth] = *s;
	else
		p->count.half++;
	t->depth++;
	return 0;
}

static int slice_ends(struct pftrace_packets *p, struct packet_track *t, const struct pftrace_slice *end)
{
	struct pftrace_slice *s;

	if (!t->depth) {
		p->count.half++;
		return 0;
	}
	if (--t->depth >= PFTRACE_OPEN_MAX)
		return 0;
	s = &t->open[t->depth];
	s->end = end->time;
	for (unsigned int i = 0; i < PFTRACE_ARG_COUNT; i++)
		if (end->args.has >> i & 1)
			s->args.v[i] = end->args.v[i];
	s->args.has |= end->args.has;
	return s->end >= s->time && p->sink->slice ? p->sink->slice(p->sink->arg, s) : 0;
}

static int packets_event(struct pftrace_packets *p, const struct packet *k, const struct sequence *q,
			 uint64_t time)
{
	struct pftrace_slice s = {.time = time, .end = time};
	struct packet_track *t;
	uint64_t track = q->track;
	int type = read_event(p, k, q, &s, &track);

	if (type <= 0)
		return type;
	t = packets_track(p, track);
	if (!t)
		return 0;
	track_owner(p, t, &s);
	if (type == TYPE_BEGIN)
		return slice_begins(p, t, &s);
	if (type == TYPE_END)
		return slice_ends(p, t, &s);
	s.moment = true;
	return p->sink->slice ? p->sink->slice(p->sink->arg, &s) : 0;
}

/* --------------------------------------------------------------- packets */

static bool read_packet(struct grt_span message, struct packet *k)
{
	struct grt_pb_in in = grt_pb_read(message);
	struct grt_pb_field f;

	*k = (struct packet){0};
	while (grt_pb_next(&in, &f)) {
		switch (f.number) {
		case PACKET_FTRACE:
			k->ftrace = f.bytes;
			break;
		case PACKET_CLOCK_SNAPSHOT:
			k->snapshot = f.bytes;
			break;
		case PACKET_TIMESTAMP:
			k->time = f.value;
			k->has_time = true;
			break;
		case PACKET_SEQUENCE_ID:
			k->sequence = f.value;
			break;
		case PACKET_TRACK_EVENT:
			k->event = f.bytes;
			break;
		case PACKET_INTERNED_DATA:
			k->interned = f.bytes;
			break;
		case PACKET_SEQUENCE_FLAGS:
			k->flags = f.value;
			break;
		case PACKET_RENDER_STAGE:
			k->stage = f.bytes;
			break;
		case PACKET_TIMESTAMP_CLOCK_ID:
			k->clock = f.value;
			k->has_clock = true;
			break;
		case PACKET_DEFAULTS:
			k->defaults = f.bytes;
			break;
		case PACKET_TRACK_DESCRIPTOR:
			k->track = f.bytes;
			break;
		case PACKET_COMPRESSED:
			k->compressed = f.bytes;
			break;
		case PACKET_GPU_INFO:
			k->gpus = f.bytes;
			break;
		default:
			break;
		}
	}
	return !in.bad;
}

static int packets_defaults(struct pftrace_packets *p, const struct packet *k, struct sequence *s)
{
	struct grt_pb_in in = grt_pb_read(k->defaults), inner = {0};
	struct grt_pb_field f, g;

	while (grt_pb_next(&in, &f)) {
		if (f.number == 58)
			s->clock = f.value < CLOCKS_OWN ? (uint32_t)f.value : 0;
		if (f.number != 11 || f.wire != 2)
			continue;
		for (inner = grt_pb_read(f.bytes); grt_pb_next(&inner, &g);)
			if (g.number == 11)
				s->track = g.value;
	}
	return in.bad || inner.bad ? packets_bad(p, SPOILED) : 0;
}

/* Applies the changes of a packet to the state, in this order. */
static int packets_state(struct pftrace_packets *p, const struct packet *k, struct sequence *s)
{
	int ret = 0;

	if (k->flags & 1) {
		s->generation++;
		s->clock = 0;
		s->track = 0;
	}
	if (k->defaults.at)
		ret = packets_defaults(p, k, s);
	if (!ret && k->interned.at)
		ret = packets_intern(p, k, s);
	if (!ret && k->snapshot.at)
		ret = packets_snapshot(p, k);
	if (!ret && k->track.at)
		ret = packets_descriptor(p, k);
	if (!ret && k->gpus.at)
		ret = packets_gpus(p, k);
	return ret;
}

static int packets_take(struct pftrace_packets *p, struct grt_span message);

#ifdef GRT_HAVE_ZLIB
/* Return: bytes of the unpacked packets, or a negative errno */
static int64_t packets_inflate(struct pftrace_packets *p, struct grt_span packed)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)packed.at, .avail_in = (uInt)packed.len};
	int code = inflateInit(&z) == Z_OK ? Z_OK : Z_MEM_ERROR;

	while (code == Z_OK && z.total_out < PLAIN_MAX) {
		if (grt_grow(&p->plain, &p->plain_room, z.total_out + 65536, 65536)) {
			code = Z_MEM_ERROR;
			break;
		}
		z.next_out = (Bytef *)p->plain + z.total_out;
		z.avail_out = (uInt)(p->plain_room - z.total_out);
		code = inflate(&z, Z_NO_FLUSH);
	}
	inflateEnd(&z);
	if (code == Z_MEM_ERROR)
		return -ENOMEM;
	p->packed += packed.len;
	p->unpacked += z.total_out;
	if (p->unpacked > GROWTH_FREE && p->unpacked / GROWTH_MAX > p->packed)
		return packets_bad(p,
				   "packets are packed in it, which would be more than 256 times as large");
	return code == Z_STREAM_END ? (int64_t)z.total_out
				    : packets_bad(p, "packets are packed in it, which cannot be unpacked");
}
#else
static int64_t packets_inflate(struct pftrace_packets *p, struct grt_span packed)
{
	return packets_bad(p, "packets are packed in it, and this grtrace was built without zlib");
}
#endif

/* Packets that are packed, which others may not be in. Return: 0 or a negative errno */
static int packets_unpack(struct pftrace_packets *p, struct grt_span packed)
{
	struct grt_pb_in in;
	struct grt_pb_field f;
	int64_t n = packed.len > PLAIN_MAX || p->is_plain
			    ? packets_bad(p, "packets are packed in it more than once, or too many")
			    : packets_inflate(p, packed);
	int ret = n < 0 ? (int)n : 0;

	in = grt_pb_read((struct grt_span){p->plain, ret ? 0 : (size_t)n});
	p->is_plain = true;
	while (!ret && grt_pb_next(&in, &f))
		if (f.number == TRACE_PACKET && f.wire == 2)
			ret = packets_take(p, f.bytes);
	p->is_plain = false;
	return ret ?: in.bad ? packets_bad(p, SPOILED) : 0;
}

static int packets_take(struct pftrace_packets *p, struct grt_span message)
{
	struct sequence *s;
	struct packet k;
	uint64_t time = 0;
	bool timed;
	int ret;

	p->count.packets++;
	if (!read_packet(message, &k))
		return packets_bad(p, SPOILED);
	if (k.compressed.at)
		return packets_unpack(p, k.compressed);
	s = packets_sequence(p, k.sequence);
	if (!s)
		return packets_bad(p, "there are more sequences before it than can be kept");
	ret = packets_state(p, &k, s);
	if (ret || (!k.has_time && !k.ftrace.at))
		return ret;
	/* also for packets that are not used: time stamps may be differences */
	timed = packets_time(p, &k, s, &time);
	if (k.ftrace.at)
		return p->sink->ftrace ? p->sink->ftrace(p->sink->arg, k.ftrace,
							 p->clocks >> BOOTTIME & 1 ? p->offset[BOOTTIME] : 0)
				       : 0;
	if (!timed) {
		p->count.timeless += k.stage.at || k.event.at;
		return 0;
	}
	if (k.stage.at)
		return packets_stage(p, &k, s, time);
	return k.event.at ? packets_event(p, &k, s, time) : 0;
}

/* --------------------------------------------------------------- the file */

/* Reads this many bytes of the file. Return: 0 or a negative errno */
static int packets_fetch(struct pftrace_packets *p, uint64_t at, size_t want, size_t *got)
{
	ssize_t n = 1;

	if (grt_grow(&p->buf, &p->room, want ?: 1, 65536))
		return -ENOMEM;
	for (*got = 0; *got < want && n; *got += (size_t)n) {
		do
			n = pread(p->fd, p->buf + *got, want - *got, (off_t)(at + *got));
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return -errno;
	}
	return 0;
}

#define WINDOW (1U << 20)

/*
 * Reads one packet at the beginning of the bytes. Return: its bytes, 0: it is not complete, or a negative
 * errno; @need: gets the bytes that it needs
 */
static int64_t packets_one(struct pftrace_packets *p, const char *at, size_t len, uint64_t *need)
{
	struct grt_pb_in in = grt_pb_read((struct grt_span){at, len});
	uint64_t key, n;
	int ret;

	*need = 0;
	if (!grt_pb_take_varint(&in, &key) || !grt_pb_take_varint(&in, &n))
		return len < 20 ? packets_bad(p, "the file ends in it") : packets_bad(p, "it has no length");
	if (key != (TRACE_PACKET << 3 | 2))
		return packets_bad(p, "it is no packet of Perfetto");
	*need = (uint64_t)((const char *)in.p - at);
	if (n > p->size - p->at - *need)
		return packets_bad(p, "the file ends in it");
	*need += n;
	if (*need > len)
		return 0;
	ret = packets_take(p, (struct grt_span){(const char *)in.p, (size_t)n});
	return ret ? ret : (int64_t)*need;
}

static int packets_window(struct pftrace_packets *p, size_t want)
{
	size_t got, used = 0;
	uint64_t need;
	int64_t n;
	int ret = packets_fetch(p, p->at, want, &got);

	if (!ret && !got)
		return packets_bad(p, "the file got shorter while it was read");
	while (!ret && used < got) {
		n = packets_one(p, p->buf + used, got - used, &need);
		if (n < 0) {
			/* its length may be in the next part */
			if (!(p->why && got - used < 20 && used && p->at + got - used < p->size))
				return (int)n;
			p->why = NULL;
			return 0;
		}
		if (!n)
			return used ? 0 : packets_window(p, (size_t)need);
		used += (size_t)n;
		p->at += (uint64_t)n;
	}
	return ret;
}

static void packets_forget(struct pftrace_packets *p)
{
	for (struct packet_track *t = grt_keyed_oldest(&p->tracks); t; t = grt_keyed_next(&p->tracks, t))
		free(t->open);
	grt_keyed_free(&p->names);
	grt_keyed_free(&p->sequences);
	grt_keyed_free(&p->own_clocks);
	grt_keyed_free(&p->tracks);
	grt_texts_free(&p->texts);
}

static void packets_init(struct pftrace_packets *p)
{
	grt_texts_init(&p->texts, TEXTS_MAX);
	grt_keyed_init(&p->names, sizeof(struct pftrace_name), THINGS_MAX);
	grt_keyed_init(&p->sequences, sizeof(struct sequence), THINGS_MAX);
	grt_keyed_init(&p->own_clocks, sizeof(struct own_clock), THINGS_MAX);
	grt_keyed_init(&p->tracks, sizeof(struct packet_track), TRACKS_MAX);
	memset(p->offset, 0, sizeof(p->offset));
	p->clocks = 0;
	p->at = 0;
	p->why = NULL;
	p->count = (struct pftrace_count){0};
}

int pftrace_packets_read(struct pftrace_packets *p, const struct pftrace_sink *sink)
{
	int ret = 0;

	packets_forget(p);
	packets_init(p);
	p->sink = sink;
	while (!ret && p->at < p->size)
		ret = packets_window(p, p->size - p->at < WINDOW ? (size_t)(p->size - p->at) : WINDOW);
	return ret;
}

const char *pftrace_packets_why(const struct pftrace_packets *p, uint64_t *byte)
{
	*byte = p->at;
	return p->why;
}

const struct pftrace_count *pftrace_packets_count(const struct pftrace_packets *p)
{
	return &p->count;
}

int pftrace_packets_new(struct pftrace_packets **out, int fd)
{
	struct pftrace_packets *p = *out = calloc(1, sizeof(*p));
	struct stat st;

	if (!p)
		return -ENOMEM;
	packets_init(p);
	p->fd = fd;
	if (fstat(fd, &st))
		return -errno;
	p->size = (uint64_t)st.st_size;
	return 0;
}

void pftrace_packets_free(struct pftrace_packets *p)
{
	if (!p)
		return;
	packets_forget(p);
	free(p->buf);
	free(p->plain);
	free(p);
}

/* Whether what there is of a packet begins with a field of its own. */
static bool begins_packet(const char *at, size_t len)
{
	static const uint8_t messages[] = {PACKET_FTRACE,	    PACKET_CLOCK_SNAPSHOT, PACKET_TRACK_EVENT,
					   PACKET_INTERNED_DATA,    PACKET_RENDER_STAGE,   PACKET_DEFAULTS,
					   PACKET_TRACK_DESCRIPTOR, PACKET_COMPRESSED};
	static const uint8_t numbers[] = {PACKET_TIMESTAMP, PACKET_SEQUENCE_ID, PACKET_SEQUENCE_FLAGS,
					  PACKET_TIMESTAMP_CLOCK_ID};
	struct grt_pb_in in = grt_pb_read((struct grt_span){at, len});
	uint64_t key, n;

	if (!grt_pb_take_varint(&in, &key) || !grt_pb_take_varint(&in, &n) ||
	    key != (TRACE_PACKET << 3 | 2) || !grt_pb_take_varint(&in, &key) || key >> 3 > UINT8_MAX ||
	    !(key >> 3))
		return false;
	return (key & 7) == 2 ? memchr(messages, (int)(key >> 3), sizeof(messages)) != NULL
			      : !(key & 7) && memchr(numbers, (int)(key >> 3), sizeof(numbers));
}

/* Whole packets, the last of which may be cut by the end of the head; where it is the first, it has to begin
 * with a field that packets have. */
bool pftrace_is_packets(const char *head, size_t len)
{
	struct grt_pb_in in = grt_pb_read((struct grt_span){head, len});
	struct grt_pb_field f;
	struct packet k;
	unsigned int packets = 0;

	while (grt_pb_next(&in, &f)) {
		if (f.number != TRACE_PACKET || f.wire != 2 || !read_packet(f.bytes, &k))
			return packets > 0;
		packets += k.sequence || k.has_time || k.ftrace.at || k.snapshot.at || k.compressed.at;
	}
	return packets || (in.bad && begins_packet(head, len));
}
