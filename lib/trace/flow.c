// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The flow: a k-way merge of the streams by time that passes packets and
 * events to a consumer. Consecutive events of one stream are passed on without
 * touching the heap, and events are not copied out of the stream's buffer.
 */
#include "session.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/fnv.h"
#include "base/containers.h"
#include "base/sized.h"
#include "packet.h"

/* --------------------------------------------------------- linkage names */

/* Most names occur many times, so recent ones are cached. */

/* Number of cached names; a name replaces another one of the same element. */
#define KEPT 2048U
#define SYMBOL_MAX (GRT_LINKAGE_PART + 1)

/** struct kept - a demangled name; @linkage is NULL: unused */
struct kept {
	char *linkage;
	char symbol[SYMBOL_MAX];
};

/**
 * struct rest - the further parts of a name that have arrived so far
 * @parts: number of parts
 */
struct rest {
	uint32_t stack;
	uint32_t index;
	uint32_t parts;
	uint32_t used;
	char text[GRT_LINKAGE_MAX];
};

struct grt_linkage {
	struct rest **of_stream;
	uint32_t streams;
	struct grt_ev_frame out;
	struct kept kept[KEPT];
};

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

unsigned int grt_linkage_parts(const char *name, unsigned int depth)
{
	size_t length = strnlen(name, GRT_LINKAGE_MAX),
	       parts = (length + GRT_LINKAGE_PART - 1) / GRT_LINKAGE_PART;

	if (!is_mangled(name) || length == GRT_LINKAGE_MAX || parts * depth > UINT16_MAX)
		return 1;
	return (unsigned int)parts;
}

void grt_linkage_put(struct grt_ev_frame *f, const char *name, uint16_t index, unsigned int part)
{
	const char *from = name + part * GRT_LINKAGE_PART;

	f->index = (uint16_t)(part * f->depth + index);
	memset(f->symbol, 0, sizeof(f->symbol));
	memcpy(f->symbol, from, strnlen(from, GRT_LINKAGE_PART));
}

static int get_rest(struct grt_linkage *l, uint32_t stream, struct rest **out)
{
	if (grt_grow_zeroed(&l->of_stream, &l->streams, stream + 1, 16))
		return -ENOMEM;
	if (!l->of_stream[stream])
		l->of_stream[stream] = calloc(1, sizeof(**l->of_stream));
	*out = l->of_stream[stream];
	return *out ? 0 : -ENOMEM;
}

/* A part that does not follow the last one ends the name. */
static int add_part(struct grt_linkage *l, uint32_t stream, const struct grt_ev_frame *f)
{
	uint32_t part = f->index / f->depth, index = f->index % f->depth, length;
	struct rest *r;
	int ret = get_rest(l, stream, &r);

	if (ret)
		return ret;
	if (part == 1)
		*r = (struct rest){.stack = f->stack, .index = index};
	length = (uint32_t)strnlen(f->symbol, sizeof(f->symbol));
	if (r->stack != f->stack || r->index != index || r->parts + 1 != part ||
	    r->used + length >= sizeof(r->text))
		return 0;
	memcpy(r->text + r->used, f->symbol, length);
	r->used += length;
	r->parts = part;
	return 0;
}

/* The whole name of a frame in @name; its other parts are no longer needed. */
static void linkage_join(struct grt_linkage *l, uint32_t stream, const struct grt_ev_frame *f, char *name)
{
	struct rest *r = stream < l->streams ? l->of_stream[stream] : NULL;
	size_t used = strnlen(f->symbol, sizeof(f->symbol));

	memcpy(name, f->symbol, used);
	if (r && r->parts && r->stack == f->stack && r->index == f->index) {
		memcpy(name + used, r->text, r->used);
		used += r->used;
	}
	if (r)
		r->parts = r->used = 0;
	name[used] = '\0';
}

static uint32_t linkage_place_of(const char *name)
{
	uint64_t hash = grt_fnv_text(name);

	return (uint32_t)(hash ^ hash >> 32) % KEPT;
}

static int demangle(struct grt_linkage *l, const char *name, const char **symbol)
{
	struct kept *k = &l->kept[linkage_place_of(name)];
	char *copy, *clean;

	*symbol = k->symbol;
	if (k->linkage && !strcmp(k->linkage, name))
		return 0;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	free(k->linkage);
	k->linkage = copy;
	clean = grt_demangle(name);
	memset(k->symbol, 0, sizeof(k->symbol));
	memcpy(k->symbol, clean ? clean : name, strnlen(clean ? clean : name, GRT_LINKAGE_PART));
	free(clean);
	return 0;
}

/*
 * grt_linkage_see - processes the FRAME records of a stream in order
 * @l: NULL at first; pass it to grt_linkage_free()
 * @stream: number of the stream
 * @e: gets the record to deliver instead, valid until the next call
 * Return: 0 or -ENOMEM
 */
static int grt_linkage_see(struct grt_linkage **at, uint32_t stream, const struct grt_event **e)
{
	const struct grt_ev_frame *f = (const struct grt_ev_frame *)*e;
	bool part = f->depth && f->index >= f->depth;
	char name[SYMBOL_MAX + GRT_LINKAGE_MAX];
	const char *symbol;
	struct grt_linkage *l;

	if (!part && !is_mangled(f->symbol))
		return 0;
	if (!*at)
		*at = calloc(1, sizeof(**at));
	l = *at;
	if (!l)
		return -ENOMEM;
	if (part)
		return add_part(l, stream, f);
	linkage_join(l, stream, f, name);
	if (demangle(l, name, &symbol))
		return -ENOMEM;
	l->out = *f;
	l->out.e.size = sizeof(l->out);
	memcpy(l->out.symbol, symbol, sizeof(l->out.symbol));
	*e = &l->out.e;
	return 0;
}

void grt_linkage_free(struct grt_linkage *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->streams; i++)
		free(l->of_stream[i]);
	for (unsigned int i = 0; i < KEPT; i++)
		free(l->kept[i].linkage);
	free(l->of_stream);
	free(l);
}

/* ------------------------------------------------------- missing records */

/* Images beyond these are not tracked. */
#define WRITTEN_MAX (1U << 19)

static uint64_t missing_of(const struct grt_written_image *i)
{
	return i->made > i->here ? i->made - i->here : 0;
}

/* Makes the event's image the current one; if the table has no room for it, there is none. */
static int written_find_image(struct grt_written *w, const struct grt_event *e)
{
	const struct grt_key key = {{e->ctx, e->pid}};
	void *image;
	int ret;

	if (!w->image.max)
		grt_keyed_init(&w->image, sizeof(*w->last), WRITTEN_MAX);
	ret = grt_keyed_get_or_count(&w->image, &key, NULL, &image);
	w->last = image;
	if (!ret && image)
		*w->last = (struct grt_written_image){e->pid, e->ctx, w->last->made, w->last->here};
	return ret;
}

static void written_take_process(struct grt_written *w, struct grt_written_image *i,
				 const struct grt_ev_process *p)
{
	uint64_t made = p->launches + p->gpu_records + p->ranges + p->fields;
	uint64_t lost = p->launches_lost + p->gpu_lost + p->ranges_lost + p->fields_lost;

	made = made > lost ? made - lost : 0;
	/* if older segments were deleted, its begin is repeated after records that come late */
	if (i->number) {
		i->made = made > i->made ? made : i->made;
		return;
	}
	/* images without a number: a new one ends the previous one */
	if (p->what == 1 && i->made) {
		w->before += missing_of(i);
		i->made = i->here = 0;
	}
	i->made = made;
}

int grt_written_other(struct grt_written *w, const struct grt_event *e)
{
	int ret = 0;

	if (!w->last || w->last->pid != e->pid || w->last->number != e->ctx)
		ret = written_find_image(w, e);
	if (ret)
		return ret;
	if (!w->last) {
		w->untracked++;
		return 0;
	}
	if (e->type == GRT_EV_PROCESS)
		written_take_process(w, w->last, (const struct grt_ev_process *)e);
	else
		w->last->here++;
	return 0;
}

uint64_t grt_written_missing(const struct grt_written *w)
{
	uint64_t n = w->before;

	/* a table without elements may not be initialised yet */
	for (void *i = w->image.used ? grt_keyed_oldest(&w->image) : NULL; i;
	     i = grt_keyed_next(&w->image, i))
		n += missing_of(i);
	return n;
}

void grt_written_free(struct grt_written *w)
{
	grt_keyed_free(&w->image);
	*w = (struct grt_written){.last = NULL};
}

/* ---------------------------------------------------------------- filter */

/* Most jobs whose submitter is remembered; a new job replaces the oldest one. */
#define JOBS_MAX 65536U

/** struct owner - the submitter of a job, and its ring */
struct owner {
	uint32_t pid;
	uint32_t tid;
	uint32_t ring;
};

bool grt_filter_any(const struct grt_filter *f)
{
	return f->pid || f->comm || f->ring || f->by_type;
}

static bool has_name(const struct grt_names *names, uint32_t tid, const char *comm)
{
	uint32_t number = tid ? grt_names_find(names, GRT_NAME_THREAD, tid) : GRT_NAME_UNKNOWN;
	const char *thread = grt_names_name(names, number), *process = grt_names_owner(names, number);

	return (thread && !strcmp(thread, comm)) || (process && !strcmp(process, comm));
}

static bool is_ring(const struct grt_names *names, uint32_t ring, const char *asked)
{
	bool number = *asked && !asked[strspn(asked, "0123456789")];
	const char *name;

	if (ring == GRT_RING_NONE)
		return false;
	if (number)
		return strtoull(asked, NULL, 10) == ring;
	name = grt_names_name(names, grt_names_find(names, GRT_NAME_RING, ring));
	return name && !strcmp(name, asked);
}

bool grt_filter_wants_job(const struct grt_filter *f, const struct grt_names *names, uint32_t pid,
			  uint32_t tid, uint32_t ring)
{
	if (f->pid && pid != f->pid)
		return false;
	if (f->comm && !has_name(names, tid ? tid : pid, f->comm))
		return false;
	return !f->ring || is_ring(names, ring, f->ring);
}

/* Interrupts and kernel threads report later events of a job, which belongs to its submitter. */
static int job_owner(struct grt_filter *f, const struct grt_event *e, struct owner *out)
{
	const struct grt_key key = {{e->ctx, e->seqno}};
	struct owner *known = grt_keyed_find(&f->jobs, &key);
	void *made;

	if (!known && (e->type == GRT_EV_SUBMIT || e->pid)) {
		if (grt_keyed_get_or_replace(&f->jobs, &key, NULL, &made))
			return -ENOMEM;
		known = made;
		*known = *out;
	}
	if (!known)
		return 0;
	if (e->type == GRT_EV_SUBMIT || !known->pid)
		*known = (struct owner){out->pid, out->tid,
					out->ring == GRT_RING_NONE ? known->ring : out->ring};
	if (known->ring == GRT_RING_NONE)
		known->ring = out->ring;
	*out = *known;
	return 0;
}

static void filter_see(struct grt_filter *f, const struct owner *o)
{
	struct grt_filter_seen new = {f->ring ? o->ring : o->pid, o->tid};

	if (f->ring ? o->ring == GRT_RING_NONE : !o->pid)
		return;
	for (uint32_t i = 0; i < f->seens; i++)
		if (f->seen[i].id == new.id)
			return;
	if (f->seens < GRT_FILTER_SEEN_MAX)
		f->seen[f->seens++] = new;
	else
		f->more = true;
}

const char *grt_filter_named(const struct grt_filter *f, const struct grt_filter_seen *seen)
{
	if (f->ring)
		return grt_names_name(&f->names, grt_names_find(&f->names, GRT_NAME_RING, seen->id));
	return grt_names_owner(&f->names, grt_names_find(&f->names, GRT_NAME_THREAD, seen->tid));
}

/* Return: 1, 0 or -ENOMEM */
static int is_wanted(struct grt_filter *f, const struct grt_event *e)
{
	struct owner owner = {e->pid, e->tid, e->ring};
	bool wanted;

	if (grt_has_job(e) && grt_class_of[e->type] == GRT_CLASS_job && job_owner(f, e, &owner))
		return -ENOMEM;
	wanted = grt_filter_wants_job(f, &f->names, owner.pid, owner.tid, owner.ring);
	f->found |= wanted;
	if (!f->found)
		filter_see(f, &owner);
	return wanted && (!f->by_type || grt_types_has(&f->types, e->type));
}

/* Return: whether other events refer to the event, or jobs are joined from it. */
static bool is_needed(const struct grt_filter *f, const struct grt_event *e)
{
	unsigned int class = grt_class_of[e->type];

	return e->type == GRT_EV_NAME || grt_has_trait(e, GRT_TRAIT_DEFINING) || class == GRT_CLASS_image ||
	       e->type == GRT_EV_LOG_TEXT ||
	       ((f->joins || f->whole) && (class == GRT_CLASS_job || class == GRT_CLASS_wait));
}

/* Return: whether the event belongs to a selected thread and to no ring. */
static bool is_beside(const struct grt_filter *f, const struct grt_event *e)
{
	unsigned int class = grt_class_of[e->type];
	struct grt_filter all = {.pid = f->pid, .comm = f->comm};

	return f->joins && f->ring && (class == GRT_CLASS_thread || class == GRT_CLASS_call) &&
	       e->ring == GRT_RING_NONE && grt_filter_wants_job(&all, &f->names, e->pid, e->tid, e->ring);
}

/* Whether to deliver an event. Return: 1, 0 or -ENOMEM */
static int grt_filter_wants(struct grt_filter *f, const struct grt_event *e)
{
	int ret;

	if (e->type >= GRT_EV_MAX)
		return f->shown = !grt_filter_any(f);
	if (!f->ready)
		grt_keyed_init(&f->jobs, sizeof(struct owner), JOBS_MAX);
	f->ready = true;
	if (e->type == GRT_EV_NAME && grt_names_add(&f->names, (const struct grt_ev_name *)e))
		return -ENOMEM;
	ret = is_wanted(f, e);
	if (ret < 0)
		return ret;
	f->shown = ret;
	f->beside = !ret && is_beside(f, e);
	return ret || f->beside || (!f->strict && is_needed(f, e));
}

void grt_filter_free(struct grt_filter *f)
{
	grt_names_free(&f->names);
	if (f->ready)
		grt_keyed_free(&f->jobs);
	f->ready = f->found = f->more = false;
	f->seens = 0;
}

/* ------------------------------------------------------------------ flow */

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
