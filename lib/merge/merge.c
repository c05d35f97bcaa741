// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Merges the streams of all inputs with one heap. It is the loop of trace/flow.c with four differences: the
 * converted time stamp determines the order of streams, only the events of the input's side are delivered,
 * rings have numbers of their own, and outside of the requested time only NAME is delivered, because lines
 * refer to nothing else.
 */
#include "merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <grtrace/event_table.h>
#include <grtrace/grtrace.h>

#include "base/containers.h"
#include "trace/session.h"

/* ---------------------------------------------------------------- merged */

/*
 * The sink of merged events: counts, and hands on to line_out.c.
 */

static int merged_on_event(void *arg, const struct grt_event *e, uint32_t cpu, unsigned int input)
{
	struct grt_merged *m = arg;
	struct grt_merged_input *in = &m->input[input];

	if (m->stop && *m->stop)
		return -EINTR;
	if (e->type != GRT_EV_NAME) {
		in->events[e->type]++;
		if (!in->total++)
			in->first = e->time;
		in->last = e->time;
	}
	return grt_line_out_event(m->lines, e, cpu, input);
}

int grt_merged_init(struct grt_merged *m, enum grt_line_form form, int fd, unsigned int inputs)
{
	*m = (struct grt_merged){.sink = {.event = merged_on_event}, .inputs = inputs};
	m->sink.arg = m;
	m->input = calloc(inputs + 1, sizeof(*m->input));
	if (!m->input)
		return -ENOMEM;
	return grt_line_out_new(&m->lines, form, fd);
}

void grt_merged_fini(struct grt_merged *m)
{
	grt_line_out_free(m->lines);
	free(m->input);
	*m = (struct grt_merged){.inputs = 0};
}

/* ----------------------------------------------------------------- rings */

/*
 * Numbers of rings in one timeline of several traces: each trace numbers
 * its own rings, and readers would take two rings with one number for one ring.
 */

/** struct grt_rings - the rings of all inputs; set up by rings_init(), freed by grt_keyed_free(&all) */
struct grt_rings {
	struct grt_keyed all;
	uint32_t next_free;
	unsigned int inputs;
};

/*
 * Rings are numbered when they occur, because the rings of a pipe are not known in
 * advance.
 */

#define RINGS_MAX 65536U
/* New numbers begin here, so that rings of other inputs that occur later mostly keep their numbers. */
#define OTHERS 100U
/* In place of an input: numbers that are used in the timeline. */
#define TAKEN UINT32_MAX

/** struct ring - a ring of an input, and its first name; empty: no name was reported yet */
struct ring {
	uint32_t number;
	char name[sizeof(((struct grt_ev_name *)0)->name)];
	char owner[sizeof(((struct grt_ev_name *)0)->owner)];
};

/* Begins without rings. */
static void rings_init(struct grt_rings *r)
{
	*r = (struct grt_rings){.next_free = OTHERS};
	grt_keyed_init(&r->all, sizeof(struct ring), RINGS_MAX);
}

static struct ring *rings_find(const struct grt_rings *r, unsigned int input, uint32_t ring)
{
	return grt_keyed_find(&r->all, &(struct grt_key){{input, ring}});
}

/*
 * Return: the same ring in another input; NULL: there is none. A ring without a name is never the same as
 * another.
 */
static const struct ring *rings_find_same(const struct grt_rings *r, uint32_t own,
					  const struct grt_ev_name *name)
{
	for (unsigned int i = 0; name && name->name[0] && i < r->inputs; i++) {
		const struct ring *ring = rings_find(r, i, own);

		if (ring && !memcmp(ring->name, name->name, sizeof(ring->name)) &&
		    !memcmp(ring->owner, name->owner, sizeof(ring->owner)))
			return ring;
	}
	return NULL;
}

static int rings_take_number(struct grt_rings *r, uint32_t own, uint32_t *number)
{
	void *place;

	*number = own;
	if (rings_find(r, TAKEN, own)) {
		while (rings_find(r, TAKEN, r->next_free))
			r->next_free++;
		*number = r->next_free;
	}
	return grt_keyed_get(&r->all, &(struct grt_key){{TAKEN, *number}}, &place);
}

static int rings_add(struct grt_rings *r, unsigned int input, uint32_t own, const struct grt_ev_name *name)
{
	const struct ring *same = rings_find_same(r, own, name);
	uint32_t number = same ? same->number : 0;
	int ret = same ? 0 : rings_take_number(r, own, &number);
	void *place;

	ret = ret ?: grt_keyed_get(&r->all, &(struct grt_key){{input, own}}, &place);
	if (ret)
		return ret;
	r->inputs = input < r->inputs ? r->inputs : input + 1;
	((struct ring *)place)->number = number;
	return 0;
}

/*
 * Gives a ring its number in the timeline: its own, unless another input's ring has that.
 * Inputs that have one number, name and driver for it mean the same ring.
 * @name: the NAME event of the ring, NULL: another event of the ring
 * @ring: its number in @input, replaced by its number in the timeline; GRT_RING_NONE: there are too many
 * rings Return: 0 or -ENOMEM
 */
static int rings_number(struct grt_rings *r, unsigned int input, const struct grt_ev_name *name,
			uint32_t *ring)
{
	uint32_t own = *ring;
	int ret = rings_find(r, input, own) ? 0 : rings_add(r, input, own, name);
	struct ring *known = rings_find(r, input, own);

	*ring = ret ? GRT_RING_NONE : known->number;
	if (!ret && name && !known->name[0]) {
		memcpy(known->name, name->name, sizeof(known->name));
		memcpy(known->owner, name->owner, sizeof(known->owner));
	}
	return ret == -ENOSPC ? 0 : ret;
}

/**
 * struct input - one trace
 * @types: those that take part
 * @plain: size of the whole records of these types that go out as they are: known, no NAME, not moved, of no
 *	ring that another may be; UINT16_MAX, which no record has: others
 * @kinds: bit per kind of name that takes part
 * @offset: added to its stamps, ns
 * @renumbered: another input may have rings of the same numbers
 */
struct input {
	struct grt_session *session;
	enum grt_merge_side side;
	struct grt_type_set types;
	uint16_t plain[GRT_EV_MAX];
	uint32_t kinds;
	int64_t offset;
	bool renumbered;
};

/**
 * struct lane - a stream and its input; found by the stream's index
 * @in, @offset: the input and its offset during a run
 */
struct lane {
	struct grt_stream *st;
	unsigned int input;
	struct input *in;
	int64_t offset;
};

struct grt_merge {
	struct input *input;
	unsigned int inputs;
	struct lane *lane;
	unsigned int lanes;
	struct grt_kway kway;
	struct grt_rings rings;
	const struct grt_merge_sink *sink;
	uint64_t from;
	uint64_t width;
	uint64_t whole[GRT_RECORD_MAX / 8];
};

/* Different inputs have different rings with the same numbers, but the same threads and devices. */
#define CPU_KINDS (1U << GRT_NAME_THREAD | 1U << GRT_NAME_DEVICE)

int grt_merge_new(struct grt_merge **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	rings_init(&(*out)->rings);
	return 0;
}

static bool is_of_cpu(unsigned int type)
{
	return grt_class_of[type] == GRT_CLASS_call || grt_class_of[type] == GRT_CLASS_stack;
}

static void set_side(struct input *in, enum grt_merge_side side)
{
	in->side = side;
	in->kinds = side == GRT_MERGE_CPU ? CPU_KINDS : ~0U;
	grt_types_fill(&in->types, side != GRT_MERGE_CPU);
	for (unsigned int type = 0; type < GRT_EV_MAX; type++) {
		if (side == GRT_MERGE_CPU && (is_of_cpu(type) || type == GRT_EV_NAME))
			grt_types_add(&in->types, type);
		if (side == GRT_MERGE_GPU && is_of_cpu(type))
			grt_types_del(&in->types, type);
	}
}

static void set_plain(struct input *in)
{
	bool same = !in->offset && !in->renumbered;

	for (unsigned int type = 0; type < GRT_EV_MAX; type++)
		in->plain[type] = same && grt_record_size[type] && type != GRT_EV_NAME &&
						  grt_types_has(&in->types, type)
					  ? grt_record_size[type]
					  : UINT16_MAX;
}

static int lib_merge_no_memory(struct grt_err *err)
{
	return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "cannot merge");
}

static int add_lanes(struct grt_merge *m, struct grt_session *s, unsigned int input)
{
	struct lane *lanes = realloc(m->lane, (m->lanes + s->streams + 1) * sizeof(*lanes));

	if (!lanes)
		return -ENOMEM;
	m->lane = lanes;
	for (unsigned int i = 0; i < s->streams; i++) {
		/* at equal times, the input that was given first comes first */
		s->stream[i].index = m->lanes;
		m->lane[m->lanes++] = (struct lane){.st = &s->stream[i], .input = input};
	}
	return 0;
}

int grt_merge_add(struct grt_merge *m, struct grt_session *s, enum grt_merge_side side, struct grt_err *err)
{
	struct grt_kway_slot *slots;
	struct input *in;

	if (grt_grow_one(&m->input, m->inputs)) {
		grt_session_close(s);
		return lib_merge_no_memory(err);
	}
	in = &m->input[m->inputs];
	*in = (struct input){.session = s};
	set_side(in, side);
	if (add_lanes(m, in->session, m->inputs++))
		return lib_merge_no_memory(err);
	slots = realloc(m->kway.slot, (m->lanes + 1) * sizeof(*slots));
	if (!slots)
		return lib_merge_no_memory(err);
	m->kway.slot = slots;
	return 0;
}

unsigned int grt_merge_inputs(const struct grt_merge *m)
{
	return m->inputs;
}

struct grt_session *grt_merge_session(const struct grt_merge *m, unsigned int input)
{
	return m->input[input].session;
}

enum grt_merge_side grt_merge_side(const struct grt_merge *m, unsigned int input)
{
	return m->input[input].side;
}

void grt_merge_offset(struct grt_merge *m, unsigned int input, int64_t ns)
{
	m->input[input].offset = ns;
}

/* Converts time stamps in payloads. There, 0 means unknown, so no stamp becomes 0. */
static void move_payload(struct grt_event *e, int64_t offset)
{
	for (const struct grt_field *f = grt_event_table[e->type].fields(); f->name; f++) {
		__u64 *stamp = (__u64 *)((char *)e + f->offset);

		if (f->kind == GRT_FIELD_TIME && *stamp)
			*stamp = grt_kway_moved(*stamp, offset) ?: 1;
	}
}

int grt_merge_span(const struct grt_merge *m, uint64_t *first, uint64_t *last)
{
	uint64_t from, to;
	int ret;

	*first = UINT64_MAX;
	*last = 0;
	for (unsigned int i = 0; i < m->inputs; i++) {
		const struct input *in = &m->input[i];

		ret = grt_session_span(in->session, &from, &to);
		if (ret == -ENODATA)
			continue;
		if (ret)
			return ret;
		from = grt_kway_moved(from, in->offset);
		to = grt_kway_moved(to, in->offset);
		*first = from < *first ? from : *first;
		*last = to > *last ? to : *last;
	}
	return *first > *last ? -ENODATA : 0;
}

static int wanted_name(const struct input *in, const struct grt_event *e)
{
	uint32_t kind = ((const struct grt_ev_name *)e)->kind;

	return kind < 32 && in->kinds >> kind & 1;
}

/*
 * The number in the timeline of the ring to which an event belongs, or which it names. Return: 0 or -ENOMEM
 */
static int renumber(struct grt_merge *m, unsigned int input, struct grt_event *e)
{
	struct grt_ev_name *name = (struct grt_ev_name *)e;

	if (e->type == GRT_EV_NAME && name->kind == GRT_NAME_RING)
		return rings_number(&m->rings, input, name, &name->id);
	if (e->type == GRT_EV_NAME)
		return name->kind == GRT_NAME_RING_GPU ? rings_number(&m->rings, input, NULL, &name->id) : 0;
	return e->ring == GRT_RING_NONE ? 0 : rings_number(&m->rings, input, NULL, &e->ring);
}

/* Delivers events that are not plain. Return: 0 or the result of the sink */
static int hand_out_other(struct grt_merge *m, const struct lane *lane, const struct grt_event *e)
{
	const struct input *in = lane->in;
	int ret;
	union {
		struct grt_event e;
		char room[GRT_RECORD_MAX];
	} copy;

	if (e->type >= GRT_EV_MAX || !grt_record_size[e->type]) {
		in->session->health.unknown++;
		return 0;
	}
	if (!grt_types_has(&in->types, e->type) || (e->type == GRT_EV_NAME && !wanted_name(in, e)))
		return 0;
	if (in->offset || in->renumbered) {
		memcpy(&copy, e, grt_record_size[e->type]);
		copy.e.time = grt_kway_moved(e->time, in->offset);
		if (in->offset)
			move_payload(&copy.e, in->offset);
		ret = in->renumbered ? renumber(m, lane->input, &copy.e) : 0;
		if (ret)
			return ret;
		e = &copy.e;
	}
	if (e->time - m->from > m->width && e->type != GRT_EV_NAME)
		return 0;
	return m->sink->event(m->sink->arg, e, lane->st->cpu, lane->input);
}

static inline int merge_hand_out(struct grt_merge *m, const struct lane *lane, const struct grt_event *e)
{
	const struct input *in = lane->in;

	in->session->health.events++;
	if (e->type >= GRT_EV_MAX || e->size < in->plain[e->type])
		return hand_out_other(m, lane, grt_record_whole(e, m->whole));
	if (e->time - m->from > m->width)
		return 0;
	return m->sink->event(m->sink->arg, e, lane->st->cpu, lane->input);
}

static inline __attribute__((always_inline)) int hand_out_item(void *arg, struct grt_stream *st)
{
	const struct grt_event *e = (const struct grt_event *)st->ptr;
	struct grt_merge *m = arg;

	if (st->at == GRT_AT_PACKET) {
		grt_stream_count_packet(st);
		st->at = GRT_AT_RECORDS;
		return 0;
	}
	st->ptr += e->size;
	return merge_hand_out(m, &m->lane[st->index], e);
}

static int64_t merge_offset(const void *arg, const struct grt_stream *st)
{
	return ((const struct grt_merge *)arg)->lane[st->index].offset;
}

/* The CPU's side names no rings: the rings of its events are those of the other inputs. */
static void begin_inputs(struct grt_merge *m)
{
	unsigned int with_rings = 0;

	for (unsigned int i = 0; i < m->inputs; i++)
		with_rings += m->input[i].side != GRT_MERGE_CPU;
	for (unsigned int i = 0; i < m->inputs; i++) {
		struct input *in = &m->input[i];

		in->session->health = in->session->found;
		in->renumbered = with_rings > 1 && in->side != GRT_MERGE_CPU;
		set_plain(in);
	}
	grt_keyed_free(&m->rings.all);
	rings_init(&m->rings);
}

int grt_merge_run(struct grt_merge *m, const struct grt_merge_sink *sink, uint64_t from, uint64_t to,
		  struct grt_err *err)
{
	int ret = 0;

	m->sink = sink;
	m->from = from;
	m->width = to - from;
	m->kway.used = 0;
	begin_inputs(m);
	for (unsigned int i = 0; i < m->lanes && !ret; i++) {
		struct lane *lane = &m->lane[i];

		lane->in = &m->input[lane->input];
		lane->offset = lane->in->offset;
		grt_stream_rewind(lane->st);
		ret = grt_kway_begin(&m->kway, lane->st, lane->offset, err);
	}
	return ret ?: grt_kway_run(&m->kway, UINT64_MAX, hand_out_item, merge_offset, m, err);
}

void grt_merge_free(struct grt_merge *m)
{
	if (!m)
		return;
	for (unsigned int i = 0; i < m->inputs; i++)
		grt_session_close(m->input[i].session);
	grt_keyed_free(&m->rings.all);
	free(m->kway.slot);
	free(m->lane);
	free(m->input);
	free(m);
}
