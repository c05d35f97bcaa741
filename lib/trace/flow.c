// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The flow: a k-way merge of the streams by time that passes packets and
 * events to a consumer. Consecutive events of one stream are passed on without
 * touching the heap, and events are not copied out of the stream's buffer.
 */
#include "session.h"

#include <errno.h>
#include <string.h>

#include "base/sized.h"

typedef int (*event_fn)(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu);

/* The callback of each type besides `event`, as its offset in struct grt_consumer. */
static const uint8_t callback_of[GRT_EV_MAX] = {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) \
	[id] = offsetof(struct grt_consumer, CLASS) / sizeof(event_fn),
#include <grtrace/events.def>
#undef GRT_EVENT
};

/**
 * struct flow_type - how events of a type are delivered
 * @fn: the callback; NULL: the consumer has none for them
 * @plain: size of a record that needs nothing but the callback and @counted; UINT16_MAX, which no record has:
 *	events of this type need more
 * @counted: the events are compared with the number that their program has written
 */
struct flow_type {
	event_fn fn;
	uint16_t plain;
	bool counted;
};

/**
 * struct flow - one run
 * @c: passed to the callbacks
 * @on: the callbacks, in the layout of this version
 * @by_type: element 0 is for unknown types
 * @written: the records that traced programs have made
 * @gpus, @filter: select events; NULL: all
 * @cards: device files of GPUs in the recording; @named: a record that was completed from them
 * @linkage: parts of names
 * @from, @width: the requested time; width is last - first
 */
struct flow {
	struct grt_consumer *c;
	struct grt_consumer on;
	struct grt_health *h;
	struct grt_written *written;
	struct grt_gpus *gpus;
	struct grt_filter *filter;
	const char *cards;
	struct grt_ev_name named;
	uint64_t whole[GRT_RECORD_MAX / 8];
	struct grt_linkage **linkage;
	event_fn event;
	struct flow_type by_type[GRT_EV_MAX];
	uint64_t from;
	uint64_t width;
	bool outside;
};

static event_fn flow_callback(const struct grt_consumer *c, unsigned int type)
{
	event_fn fn;

	if (!grt_record_size[type])
		return c->unknown;
	if (!callback_of[type])
		return NULL;
	memcpy(&fn, (const char *)c + callback_of[type] * sizeof(fn), sizeof(fn));
	return fn;
}

static uint16_t flow_plain(const struct flow *f, unsigned int type)
{
	bool plain = grt_record_size[type] && type != GRT_EV_FRAME && type != GRT_EV_NAME && !f->filter &&
		     !f->gpus;

	return plain ? grt_record_size[type] : UINT16_MAX;
}

static void flow_init(struct flow *f, struct grt_session *s, struct grt_consumer *c, size_t size)
{
	memset(f, 0, sizeof(*f));
	f->c = c;
	grt_sized_copy(&f->on, sizeof(f->on), c, size);
	f->h = &s->health;
	f->written = &s->written;
	f->gpus = s->gpus;
	f->filter = s->filter;
	f->cards = grt_session_env(s, "gpus");
	f->linkage = &s->linkage;
	f->outside = s->whole;
	f->event = f->on.event;
	for (unsigned int i = 0; i < GRT_EV_MAX; i++)
		f->by_type[i] = (struct flow_type){flow_callback(&f->on, i), flow_plain(f, i),
						   grt_traits_of[i] & GRT_TRAIT_COUNTED};
	f->width = UINT64_MAX;
}

/* See grt_session_whole(). */
static bool flow_is_of_whole(const struct flow *f, const struct grt_event *e)
{
	enum grt_class class = e->type < GRT_EV_MAX ? grt_class_of[e->type] : GRT_CLASS_unknown;

	if (!f->outside)
		return false;
	if (class == GRT_CLASS_thread)
		return e->time < f->from;
	return class == GRT_CLASS_job || class == GRT_CLASS_wait || class == GRT_CLASS_error ||
	       e->type == GRT_EV_STACK;
}

/* Events outside of the requested time, apart from the usual path. Return: 0, or the result of a callback */
static __attribute__((noinline, cold)) int flow_pass_over(struct flow *f, const struct grt_event *e,
							  uint32_t cpu)
{
	f->h->before += e->time < f->from;
	f->h->after += e->time >= f->from;
	if (f->on.beyond &&
	    (grt_has_trait(e, GRT_TRAIT_DEFINING | GRT_TRAIT_LASTING) || flow_is_of_whole(f, e)))
		return f->on.beyond(f->c, e, cpu);
	if (f->on.late && grt_has_trait(e, GRT_TRAIT_LATE))
		return f->on.late(f->c, e, cpu);
	return 0;
}

/* Events of threads belong to no GPU; they explain why each GPU was idle. Calls of CUDA, which do the same,
 * have the stacks of its work, too. */
static bool flow_is_beside(const struct flow *f, unsigned int type)
{
	if (!f->filter)
		return false;
	switch (type) {
	case GRT_EV_LAUNCH:
	case GRT_EV_GPU_SYNC:
	case GRT_EV_RANGE:
	case GRT_EV_MARK:
	case GRT_EV_PAYLOAD:
	case GRT_EV_COLLECTIVE:
		return f->filter->joins || f->filter->whole;
	default:
		return f->filter->joins && grt_class_of[type] == GRT_CLASS_thread;
	}
}

/* Return: 0, -ENOMEM, or what a callback returned */
static inline int hand_out_event(struct flow *f, const struct grt_event *e, uint32_t cpu)
{
	unsigned int type = e->type < GRT_EV_MAX ? e->type : 0;
	int ret;

	f->h->events++;
	if (!grt_record_size[type])
		f->h->unknown++;
	if (grt_traits_of[type] & GRT_TRAIT_COUNTED) {
		ret = grt_written_event(f->written, e);
		if (ret)
			return ret;
	}
	if (f->gpus && !flow_is_beside(f, type)) {
		ret = grt_gpus_wants(f->gpus, e, f->h);
		if (ret <= 0)
			return ret;
	}
	if (f->filter) {
		ret = grt_filter_wants(f->filter, e);
		f->h->left_out += !ret;
		if (ret <= 0)
			return ret;
	}
	if (e->time - f->from > f->width && type != GRT_EV_NAME)
		return flow_pass_over(f, e, cpu);
	if (f->event) {
		ret = f->event(f->c, e, cpu);
		if (ret)
			return ret;
	}
	return f->by_type[type].fn ? f->by_type[type].fn(f->c, e, cpu) : 0;
}

static int hand_out_packet(struct flow *f, struct grt_stream *st)
{
	grt_stream_count_packet(st);
	st->at = GRT_AT_RECORDS;
	return f->on.packet ? f->on.packet(f->c, &st->packet) : 0;
}

/* Events that are not plain, or that a program of another version has written. */
static __attribute__((noinline)) int flow_look_at(struct flow *f, struct grt_stream *st,
						  const struct grt_event *e)
{
	e = grt_record_whole(e, f->whole);
	if (e->type == GRT_EV_FRAME && grt_linkage_see(f->linkage, st->index, &e))
		return -ENOMEM;
	if (e->type == GRT_EV_NAME && f->cards)
		e = grt_gpus_complete(f->cards, e, &f->named);
	return hand_out_event(f, e, st->cpu);
}

static inline __attribute__((always_inline)) int flow_hand_out(void *arg, struct grt_stream *st)
{
	const struct grt_event *e = (const struct grt_event *)st->ptr;
	const struct flow_type *type;
	struct flow *f = arg;
	int ret;

	if (st->at == GRT_AT_PACKET)
		return hand_out_packet(f, st);
	st->ptr += e->size;
	type = &f->by_type[e->type < GRT_EV_MAX ? e->type : 0];
	if (e->size < type->plain || e->time - f->from > f->width)
		return flow_look_at(f, st, e);
	f->h->events++;
	ret = type->counted ? grt_written_event(f->written, e) : 0;
	if (!ret && f->event)
		ret = f->event(f->c, e, st->cpu);
	return ret || !type->fn ? ret : type->fn(f->c, e, st->cpu);
}

/* Delivers everything up to the time @until. Return: 0, the result of a callback, or a negative errno */
static int flow_run(struct flow *f, struct grt_session *s, uint64_t until, struct grt_err *err)
{
	int ret = 0;

	s->kway.used = 0;
	for (unsigned int i = 0; i < s->streams && !ret; i++)
		ret = grt_kway_begin(&s->kway, &s->stream[i], 0, err);
	return ret ?: grt_kway_run(&s->kway, until, flow_hand_out, NULL, f, err);
}

int grt_session_run_sized(struct grt_session *s, struct grt_consumer *c, size_t size, uint64_t from,
			  uint64_t to, struct grt_err *err)
{
	uint64_t unwritten, elsewhere;
	struct flow f;
	int ret;

	if (s->is_live)
		return grt_err_set(err, -ENOTSUP, "it has no end", NULL, "%s: cannot be read as a whole",
				   s->path);
	if (from > to)
		return grt_err_set(err, -EINVAL, "the end is before the start", NULL, "%s: no such time",
				   s->path);
	flow_init(&f, s, c, size);
	f.from = from;
	f.width = to - from;
	s->health = s->found;
	for (unsigned int i = 0; i < s->streams; i++)
		grt_stream_rewind(&s->stream[i]);
	grt_written_free(&s->written);
	grt_linkage_free(s->linkage);
	s->linkage = NULL;
	ret = flow_run(&f, s, UINT64_MAX, err);
	if (ret)
		return ret;
	/* events of missing packets, and those outside of the window, have counts of their own */
	unwritten = grt_written_missing(&s->written);
	elsewhere = s->health.missing_events + s->window.counted;
	s->health.unwritten_events = unwritten > elsewhere ? unwritten - elsewhere : 0;
	if (s->written.untracked)
		grt_fault(
			&s->health, GRT_FAULT_GAP, 0, "it has more traced programs than grtrace can compare",
			NULL,
			"%s: it is unknown whether records of %llu {other process is|other processes are} missing",
			s->path, (unsigned long long)s->written.untracked);
	return 0;
}

static bool all_ended(const struct grt_session *s)
{
	for (unsigned int i = 0; i < s->streams; i++)
		if (s->stream[i].at != GRT_AT_END)
			return false;
	return true;
}

int grt_session_run_live_sized(struct grt_session *s, struct grt_consumer *c, size_t size, uint64_t until,
			       struct grt_err *err)
{
	struct flow f;
	int ret;

	if (!s->is_live)
		return grt_err_set(err, -ENOTSUP, "it is not live", NULL, "%s: cannot be read up to a time",
				   s->path);
	if (!until)
		return 1;
	flow_init(&f, s, c, size);
	ret = flow_run(&f, s, until == UINT64_MAX ? until : until - 1, err);
	return ret ? ret : !all_ended(s);
}
