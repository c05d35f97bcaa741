// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Lines of the forms annotate and merged. What is in a line follows from the
 * rows of events.def, made into a plan per event when writing begins; lines for
 * people are in pretty.c, JSON in event_json.c.
 */
#include "line_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <grtrace/event_table.h>

#include "trace/packet.h"
#include "trace/field.h"
#include "event_json.h"
#include "joins.h"
#include "base/outbuf.h"
#include "pretty.h"

#define NS_PER_S 1000000000ULL
/* What stamps have in common that differ in the last eight digits only. */
#define STAMP_NS 100000000ULL

/* More than the longest line: a dozen escaped texts and numbers. */
#define LINE_MAX_BYTES 8192

/* The event of a merged line is padded to this. */
#define TITLE_WIDTH 16
#define TITLE_MAX 64
/* What the first key of a merged line has too much before it: its comma. */
#define OVERLAP 2

/** enum key - what lines carry beside the fields of the events' rows */
enum key {
	KEY_PID,
	KEY_TID,
	KEY_COMM,
	KEY_PROCESS,
	KEY_CTX,
	KEY_ENGINE,
	KEY_RING,
	KEY_SEQ,
	KEY_RING_NAME,
	KEY_DRIVER,
	KEY_DEV,
	KEY_DEVICE,
	KEY_NAME,
	KEY_FLAGS,
	KEY_SAMPLE,
	KEY_DELTA, /* the first of as many as there are deltas */
	KEYS = KEY_DELTA + GRT_DELTAS,
};

static const char *const key_names[KEY_DELTA] = {
	[KEY_PID] = "pid",	   [KEY_TID] = "tid",	  [KEY_COMM] = "comm",
	[KEY_PROCESS] = "process", [KEY_CTX] = "ctx",	  [KEY_ENGINE] = "engine",
	[KEY_RING] = "ring",	   [KEY_SEQ] = "seq",	  [KEY_RING_NAME] = "ring_name",
	[KEY_DRIVER] = "driver",   [KEY_DEV] = "dev",	  [KEY_DEVICE] = "device",
	[KEY_NAME] = "name",	   [KEY_FLAGS] = "flags", [KEY_SAMPLE] = "sample",
};

/** struct key_text - a key with what precedes it and after it; copied whole, used up to @len */
struct key_text {
	char text[31];
	uint8_t len;
};

/* All texts of a record, and their keys and numbers. */
#define SHAPE_MAX (5 * GRT_JOINS_TEXT + 20 * GRT_PAD)

/**
 * struct shape - what is the same in all lines of a type by the same thread
 * about the same context, ring and device
 * @of: such an event; @input: where it came from; @version: of the names then
 * @ioctls: what the device's ioctls are called
 * @numbered: the job's number follows @head
 * @head, @late, @end: where in @text the fields come, those that come late, and where it ends
 */
struct shape {
	struct grt_event of;
	uint64_t version;
	uint64_t input;
	const struct grt_ioctl_driver *ioctls;
	bool numbered;
	uint16_t head;
	uint16_t late;
	uint16_t end;
	char text[SHAPE_MAX];
};

/* Where shapes are looked for: sets, by the lowest bits of a hash, of so many each. */
#define SHAPE_SETS 64U
#define SHAPE_WAYS 4U

/** struct ioctl_text - an ioctl's number, of @cmd_len bytes, and behind it its name, as a line has them */
struct ioctl_text {
	const struct grt_ioctl_driver *driver;
	uint32_t cmd;
	bool known;
	uint8_t cmd_len;
	uint8_t len;
	char text[128 + GRT_PAD];
};

/* By the lowest bits of their number. */
#define IOCTLS 64U
#define CMD "cmd"

/** enum when - when a field of a row is in the line */
enum when {
	ALWAYS,	      /* as "-" where it is unknown */
	NOT_ZERO,     /* what reads back as 0 needs not be said */
	KNOWN,	      /* neither is a status that is unknown */
	NOT_NEGATIVE, /* a descriptor that is unknown is -1 */
};

/** enum how - how its value is written */
enum how {
	DECIMAL,
	SIGNED,
	HEX,
	STRING,
};

#define FIELDS_MAX 24
#define NUMBER_MAX 24

/* All fields of every row have a place in its plan, and room in a line beside the rest. */
#define GRT_U(bits, name, base, help) +1
#define GRT_I(bits, name, help) +1
#define GRT_STR(size, name, help) +1
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) \
	_Static_assert(0 fields <= FIELDS_MAX, #NAME);
#include <grtrace/events.def>
#undef GRT_STR
#define GRT_STR(size, name, help) +GRT_JOINS_TEXT / NUMBER_MAX + 1
#undef GRT_EVENT
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help)                                     \
	_Static_assert(TITLE_MAX + SHAPE_MAX + sizeof(struct ioctl_text) +                             \
				       (GRT_DELTAS fields) * (sizeof(struct key_text) + NUMBER_MAX) <= \
			       LINE_MAX_BYTES,                                                         \
		       #NAME);
#include <grtrace/events.def>
#undef GRT_EVENT
#undef GRT_STR
#undef GRT_I
#undef GRT_U

/**
 * struct plan - a line of one event
 * @title: what stands between stamp and keys
 * @field: of its row, in the order of the line; @early of the @fields stand before the names
 * @cpu, @job: it is what the CPU did; reports a job
 * @ioctl: it has the number of an ioctl
 * @who_first: the thread precedes everything else
 * @up, @down: what a field's word is shifted by, so that nothing else is left of it
 * @offset: of the word that a field is in, of a string
 * @unknown: its value that is none; NULL: it has no such
 */
struct plan {
	char title[TITLE_MAX];
	uint8_t title_len;
	uint8_t fields;
	uint8_t early;
	bool cpu;
	bool job;
	bool ioctl;
	bool who_first;
	struct planned {
		struct key_text key;
		uint8_t how;
		uint8_t when;
		uint8_t up;
		uint8_t down;
		uint16_t offset;
		uint16_t size;
		const struct grt_unknown *unknown;
	} field[FIELDS_MAX];
};

/**
 * struct grt_line_out - see line_out.h
 * @json: of the form JSON, else NULL; it has joins of its own
 * @stamp: the beginning of a line and of its stamp, but for eight digits, @stamp_len of it; right for the
 *	stamps from @stamped on that begin so
 * @shape_hash, @shape: shapes by the hashes of their keys, as they were made
 */
struct grt_line_out {
	struct grt_outbuf out;
	enum grt_line_form form;
	struct grt_line_out_count count;
	struct grt_event_json *json;
	struct grt_joins joins;
	struct grt_joined joined;
	uint64_t stamped;
	uint8_t stamp_len;
	char stamp[32];
	struct key_text key[KEYS];
	struct plan plan[GRT_EV_MAX];
	struct ioctl_text ioctl[IOCTLS];
	uint64_t shape_hash[SHAPE_SETS][SHAPE_WAYS];
	struct shape shape[SHAPE_SETS][SHAPE_WAYS];
	uint8_t shapes_made[SHAPE_SETS];
};

/* ----------------------------------------------------------------- plans */

static const struct {
	const char *before;
	const char *after;
	const char *open;
	const char *title;
} forms[GRT_LINE_FORMS] = {
	[GRT_LINE_OUT_ANNOTATE] = {" ", "=", "[", "] "},
	[GRT_LINE_OUT_MERGED] = {", ", "=", "[", NULL},
	[GRT_LINE_OUT_PRETTY] = {" ", "=", "", ""},
};

static void line_out_make_key(const struct grt_line_out *l, struct key_text *k, const char *name)
{
	int n = snprintf(k->text, sizeof(k->text), "%s%s%s", forms[l->form].before, name,
			 forms[l->form].after);

	k->len = (uint8_t)(n < (int)sizeof(k->text) ? n : (int)sizeof(k->text) - 1);
}

bool grt_line_out_is_cpu(uint16_t type)
{
	return type < GRT_EV_MAX && grt_class_of[type] == GRT_CLASS_call;
}

static enum when when_of(unsigned int type, const struct grt_field *f)
{
	if (type == GRT_EV_IOCTL_ENTER && !strcmp(f->name, "fd"))
		return NOT_NEGATIVE;
	if ((type == GRT_EV_COMPLETE || type == GRT_EV_FENCE) && !strcmp(f->name, "status"))
		return KNOWN;
	/* only NVIDIA's ioctls have them */
	if (type == GRT_EV_IOCTL_EXIT && (!strcmp(f->name, "about") || !strcmp(f->name, "status")))
		return NOT_ZERO;
	if (f->kind == GRT_FIELD_SIGNED || grt_class_of[type] == GRT_CLASS_call)
		return ALWAYS;
	return NOT_ZERO;
}

static uint8_t how_of(const struct grt_field *f)
{
	if (f->kind == GRT_FIELD_STR)
		return STRING;
	if (f->kind == GRT_FIELD_SIGNED)
		return SIGNED;
	return f->kind == GRT_FIELD_HEX ? HEX : DECIMAL;
}

/* Fields are aligned to their sizes: each lies in one word, and records consist of words. */
static void line_out_plan_field(const struct grt_line_out *l, unsigned int type, const struct grt_field *f)
{
	struct plan *p = (struct plan *)&l->plan[type];
	struct planned *at = &p->field[p->fields];

	p->fields++;
	line_out_make_key(l, &at->key, f->name);
	at->how = how_of(f);
	at->when = (uint8_t)when_of(type, f);
	at->size = f->size;
	at->unknown = grt_unknown_of(type, f->offset);
	at->offset = f->offset;
	if (at->how == STRING)
		return;
	at->offset = f->offset / 8 * 8;
	at->down = (uint8_t)(64 - 8 * f->size);
	at->up = (uint8_t)(at->down - 8 * (f->offset % 8));
}

static void plan_title(const struct grt_line_out *l, struct plan *p, const char *name)
{
	int n = 0;

	if (l->form == GRT_LINE_OUT_MERGED)
		n = snprintf(p->title, sizeof(p->title), "] %s %-*s ", p->cpu ? "CPU" : "GPU", TITLE_WIDTH,
			     name);
	else
		n = snprintf(p->title, sizeof(p->title), "%s%s", forms[l->form].title, name);
	p->title_len = (uint8_t)n;
}

static void line_out_plan_event(struct grt_line_out *l, unsigned int type)
{
	const struct grt_event_desc *d = &grt_event_table[type];
	struct plan *p = &l->plan[type];
	char unknown[16];

	snprintf(unknown, sizeof(unknown), "EVENT_%u", type);
	p->cpu = grt_line_out_is_cpu((uint16_t)type);
	p->job = grt_class_of[type] == GRT_CLASS_job;
	p->ioctl = type == GRT_EV_IOCTL_ENTER || type == GRT_EV_IOCTL_EXIT;
	p->who_first = p->cpu && l->form != GRT_LINE_OUT_MERGED;
	plan_title(l, p, d->name ? d->title : unknown);
	if (!d->name)
		return;
	/* an ioctl's number is kept as text with its name */
	for (const struct grt_field *f = d->fields(); f->name; f++)
		if (when_of(type, f) != NOT_NEGATIVE && !(p->ioctl && !strcmp(f->name, CMD)))
			line_out_plan_field(l, type, f);
	p->early = p->fields;
	for (const struct grt_field *f = d->fields(); f->name; f++)
		if (when_of(type, f) == NOT_NEGATIVE)
			line_out_plan_field(l, type, f);
}

static void line_out_make_plans(struct grt_line_out *l)
{
	bool merged = l->form == GRT_LINE_OUT_MERGED;

	for (unsigned int i = 0; i < KEYS; i++)
		line_out_make_key(l, &l->key[i],
				  i < KEY_DELTA ? key_names[i] : grt_delta_names[i - KEY_DELTA]);
	line_out_make_key(l, &l->key[KEY_CTX], merged ? "ctx_id" : "ctx");
	line_out_make_key(l, &l->key[KEY_SEQ], merged ? "seqno" : "seq");
	for (unsigned int i = 0; i < GRT_EV_MAX; i++)
		line_out_plan_event(l, i);
}

int grt_line_out_new(struct grt_line_out **out, enum grt_line_form form, int fd)
{
	struct grt_line_out *l = calloc(1, sizeof(*l));

	*out = l;
	if (!l || grt_outbuf_init(&l->out, fd)) {
		free(l);
		*out = NULL;
		return -ENOMEM;
	}
	l->form = form;
	grt_joins_init(&l->joins, GRT_ESCAPE_TERM);
	if (form != GRT_LINE_OUT_JSON) {
		line_out_make_plans(l);
		return 0;
	}
	if (!grt_event_json_new(&l->json))
		return 0;
	grt_line_out_free(l);
	*out = NULL;
	return -ENOMEM;
}

void grt_line_out_free(struct grt_line_out *l)
{
	if (!l)
		return;
	grt_event_json_free(l->json);
	grt_joins_fini(&l->joins);
	grt_outbuf_fini(&l->out);
	free(l);
}

/* ---------------------------------------------------------------- values */

static inline char *line_out_put_key(const struct grt_line_out *l, char *p, unsigned int key)
{
	/* a copy of fixed size is one instruction; what is too much is written over */
	memcpy(p, l->key[key].text, sizeof(l->key[key].text));
	return p + l->key[key].len;
}

static inline char *line_out_put_u64(const struct grt_line_out *l, char *p, unsigned int key, uint64_t n)
{
	return grt_format_u64(line_out_put_key(l, p, key), n);
}

static inline char *line_out_put_hex(const struct grt_line_out *l, char *p, unsigned int key, uint64_t n)
{
	return grt_format_hex(line_out_put_key(l, p, key), n);
}

static char *line_out_put_text(const struct grt_line_out *l, char *p, unsigned int key,
			       const struct grt_joins_text *t)
{
	return t->len ? grt_format_text(line_out_put_key(l, p, key), t->text, t->len) : p;
}

static char *put_string_field(const struct grt_line_out *l, char *p, const struct planned *f,
			      const struct grt_event *e)
{
	struct grt_joins_text t;

	grt_joins_escape(l->joins.escape, &t, (const char *)e + f->offset, f->size, false);
	if (!t.len)
		return p;
	memcpy(p, f->key.text, sizeof(f->key.text));
	return grt_format_text(p + f->key.len, t.text, t.len);
}

static inline char *line_out_put_field(const struct grt_line_out *l, char *p, const struct planned *f,
				       const struct grt_event *e)
{
	bool unknown;
	uint64_t n;

	if (f->how == STRING)
		return put_string_field(l, p, f, e);
	memcpy(&n, (const char *)e + f->offset, sizeof(n));
	n <<= f->up;
	n = f->how == SIGNED ? (uint64_t)((int64_t)n >> f->down) : n >> f->down;
	unknown = f->unknown && grt_is_unknown(f->unknown, e, n);
	if ((f->when == NOT_ZERO && !n) || (f->when == KNOWN && unknown) ||
	    (f->when == NOT_NEGATIVE && (int64_t)n < 0))
		return p;
	memcpy(p, f->key.text, sizeof(f->key.text));
	p += f->key.len;
	if (unknown)
		return grt_format_word(p, l->form == GRT_LINE_OUT_JSON ? "null" : "-");
	if (f->how == HEX)
		return grt_format_hex(p, n);
	/* most are 0 or a few of something */
	if (n < 10) {
		*p++ = (char)('0' + n);
		return p;
	}
	return f->how == SIGNED ? grt_format_s64(p, (int64_t)n) : grt_format_u64(p, n);
}

/* ---------------------------------------------------------------- shapes */

static char *line_out_put_who(const struct grt_line_out *l, char *p, const struct plan *plan,
			      const struct grt_event *e)
{
	const struct grt_joins_thread *t = l->joined.thread;
	bool known = t && t->named;

	if (!known && !plan->cpu && !e->pid && !e->tid)
		return p;
	p = line_out_put_u64(l, p, KEY_PID, e->pid);
	p = line_out_put_u64(l, p, KEY_TID, e->tid);
	/* also an empty one: else readers of the line take the one before for it */
	if (known)
		p = grt_format_text(line_out_put_key(l, p, KEY_COMM), t->comm.text, t->comm.len);
	if (known && !plan->who_first)
		return line_out_put_text(l, p, KEY_PROCESS, &t->process);
	if (!known && plan->who_first && l->form == GRT_LINE_OUT_ANNOTATE)
		p = grt_format_text(line_out_put_key(l, p, KEY_COMM), "<...>", 5);
	return p;
}

static char *line_out_put_engine(const struct grt_line_out *l, char *p, const struct grt_event *e)
{
	const char *name = e->engine < GRT_ENGINE_MAX ? grt_engine_names[e->engine] : NULL;

	if (!name)
		return line_out_put_u64(l, p, KEY_ENGINE, e->engine);
	return grt_format_text(line_out_put_key(l, p, KEY_ENGINE), name, strlen(name));
}

/* A job's identity up to its number, or where something without one was. */
static char *line_out_put_place(const struct grt_line_out *l, char *p, const struct grt_event *e,
				bool numbered)
{
	if (numbered)
		p = line_out_put_hex(l, p, KEY_CTX, e->ctx);
	if (numbered || e->engine)
		p = line_out_put_engine(l, p, e);
	if (e->ring != GRT_RING_NONE)
		p = line_out_put_u64(l, p, KEY_RING, e->ring);
	return numbered ? line_out_put_key(l, p, KEY_SEQ) : p;
}

/* A ring has a driver too; without one it is the device that reports it. */
static char *line_out_put_names(const struct grt_line_out *l, char *p, const struct grt_event *e)
{
	const struct grt_joins_device *d = l->joined.device;
	const struct grt_joins_ring *ring = l->joined.ring;

	if (ring)
		p = line_out_put_text(l, line_out_put_text(l, p, KEY_RING_NAME, &ring->name), KEY_DRIVER,
				      &ring->driver);
	if (d)
		p = line_out_put_text(l, p, KEY_DEV, &d->name);
	if (d ? !d->known_by_name : e->device != 0)
		p = line_out_put_u64(l, p, KEY_DEVICE, e->device);
	return d && !ring ? line_out_put_text(l, p, KEY_DRIVER, &d->driver) : p;
}

static char *put_rest(const struct grt_line_out *l, char *p, const struct plan *plan,
		      const struct grt_event *e)
{
	/* which source reported it matters for jobs, which two may report */
	unsigned int flags = plan->cpu ? e->flags & ~GRT_FLAG_BPF : e->flags;

	/* the process image of CUDA's events, by which readers of the line join them */
	if (e->ctx && !grt_has_job(e) && !plan->job)
		p = line_out_put_hex(l, p, KEY_CTX, e->ctx);
	if (flags)
		p = line_out_put_hex(l, p, KEY_FLAGS, flags);
	return e->sample ? line_out_put_u64(l, p, KEY_SAMPLE, e->sample) : p;
}

/* In the form annotate, events of the CPU have their thread first; what is not of that form comes last. */
static void write_shape(struct grt_line_out *l, struct shape *s, const struct plan *plan,
			const struct grt_event *e)
{
	char *p = grt_format_text(s->text, plan->title, plan->title_len);

	grt_joins_look(&l->joins, e, (unsigned int)s->input, &l->joined);
	s->ioctls = l->joined.device ? l->joined.device->ioctls : NULL;
	s->numbered = grt_has_job(e) || plan->job;
	if (l->form == GRT_LINE_OUT_MERGED)
		p -= OVERLAP;
	if (plan->who_first)
		p = line_out_put_who(l, p, plan, e);
	p = line_out_put_place(l, p, e, s->numbered);
	s->head = (uint16_t)(p - s->text);
	p = line_out_put_names(l, p, e);
	s->late = (uint16_t)(p - s->text);
	p = put_rest(l, p, plan, e);
	if (!plan->who_first)
		p = line_out_put_who(l, p, plan, e);
	else if (l->joined.thread)
		p = line_out_put_text(l, p, KEY_PROCESS, &l->joined.thread->process);
	s->end = (uint16_t)(p - s->text);
}

/* The words of an event that do not change from one to the next of its kind. */
enum word {
	WORD_TYPE = offsetof(struct grt_event, type),
	WORD_WHO = offsetof(struct grt_event, pid),
	WORD_CTX = offsetof(struct grt_event, ctx),
	WORD_PLACE = offsetof(struct grt_event, ring),
};

_Static_assert(WORD_WHO == WORD_TYPE + 8 && WORD_CTX == WORD_WHO + 8 &&
		       sizeof(struct grt_event) == WORD_PLACE + 8,
	       "everything but the stamp and the number is in them");

static inline uint64_t word_of(const struct grt_event *e, enum word at)
{
	uint64_t word;

	memcpy(&word, (const char *)e + at, sizeof(word));
	return word;
}

static inline uint64_t line_out_differs(const struct grt_event *a, const struct grt_event *b, enum word at)
{
	return word_of(a, at) ^ word_of(b, at);
}

static inline bool is_shape(const struct shape *s, const struct grt_event *e, unsigned int input,
			    uint64_t version)
{
	return !(line_out_differs(&s->of, e, WORD_TYPE) | line_out_differs(&s->of, e, WORD_WHO) |
		 line_out_differs(&s->of, e, WORD_CTX) | line_out_differs(&s->of, e, WORD_PLACE) |
		 (s->version ^ version) | (s->input ^ input));
}

/* A new one, in a place of the set in turn. */
static __attribute__((noinline)) const struct shape *make_shape(struct grt_line_out *l, uint64_t hash,
								const struct plan *plan,
								const struct grt_event *e, unsigned int input)
{
	unsigned int set = hash % SHAPE_SETS, way = l->shapes_made[set]++ % SHAPE_WAYS;
	struct shape *s = &l->shape[set][way];

	l->shape_hash[set][way] = hash;
	s->of = *e;
	s->input = input;
	s->version = l->joins.version;
	write_shape(l, s, plan, e);
	return s;
}

static inline const struct shape *shape_of(struct grt_line_out *l, const struct plan *plan,
					   const struct grt_event *e, unsigned int input)
{
	uint64_t version = l->joins.version, hash;
	const struct shape *s;

	hash = (word_of(e, WORD_TYPE) + (word_of(e, WORD_CTX) << 7)) * 0x9e3779b97f4a7c15ULL +
	       (word_of(e, WORD_WHO) + (word_of(e, WORD_PLACE) << 5) + input) * 0xd1b54a32d192ed03ULL;
	hash ^= hash >> 32;
	for (unsigned int way = 0; way < SHAPE_WAYS; way++) {
		s = &l->shape[hash % SHAPE_SETS][way];
		if (l->shape_hash[hash % SHAPE_SETS][way] == hash && is_shape(s, e, input, version))
			return s;
	}
	return make_shape(l, hash, plan, e, input);
}

/* ----------------------------------------------------------------- parts */

static inline char *line_out_put_deltas(const struct grt_line_out *l, char *p)
{
	for (uint32_t has = l->joined.has; has; has &= has - 1) {
		unsigned int which = (unsigned int)__builtin_ctz(has);

		p = line_out_put_u64(l, p, KEY_DELTA + which, l->joined.ns[which]);
	}
	return p;
}

static __attribute__((noinline)) void make_ioctl(const struct grt_line_out *l, struct ioctl_text *t,
						 const struct grt_ioctl_driver *driver, uint32_t cmd)
{
	const char *name = grt_ioctl_name_of(driver, cmd);
	struct key_text key;
	char *p;

	line_out_make_key(l, &key, CMD);
	p = grt_format_text(t->text, key.text, key.len);
	p = grt_format_hex(p, cmd);
	t->cmd_len = (uint8_t)(p - t->text);
	if (name)
		p = grt_format_text(line_out_put_key(l, p, KEY_NAME), name, strnlen(name, 60));
	t->len = (uint8_t)(p - t->text);
	t->driver = driver;
	t->cmd = cmd;
	t->known = true;
}

/* NULL: it is no ioctl. */
static inline const struct ioctl_text *ioctl_of(struct grt_line_out *l, const struct plan *plan,
						const struct grt_ioctl_driver *driver,
						const struct grt_event *e)
{
	struct ioctl_text *t;
	uint32_t cmd;

	if (!plan->ioctl)
		return NULL;
	/* where an exit has it too */
	cmd = ((const struct grt_ev_ioctl_enter *)e)->cmd;
	t = &l->ioctl[cmd % IOCTLS];
	if (!t->known || t->cmd != cmd || t->driver != driver)
		make_ioctl(l, t, driver, cmd);
	return t;
}

_Static_assert(offsetof(struct grt_ev_ioctl_enter, cmd) == offsetof(struct grt_ev_ioctl_exit, cmd), "cmd");

static __attribute__((noinline)) char *line_out_put_fields(const struct grt_line_out *l, char *p,
							   const struct planned *f, const struct planned *end,
							   const struct grt_event *e)
{
	for (; f < end; f++)
		p = line_out_put_field(l, p, f, e);
	return p;
}

static inline char *line_out_put_body(struct grt_line_out *l, char *p, const struct plan *plan,
				      const struct grt_event *e, unsigned int input)
{
	const struct planned *late = plan->field + plan->early;
	const struct shape *s = shape_of(l, plan, e, input);
	const struct ioctl_text *ioctl = ioctl_of(l, plan, s->ioctls, e);
	const char *rest = s->text + s->head;

	p = grt_format_padded(p, s->text, s->head);
	if (s->numbered)
		p = grt_format_u64(p, e->seqno);
	else if (e->seqno)
		p = line_out_put_u64(l, p, KEY_SEQ, e->seqno);
	/* an exit may come without its number */
	if (ioctl && (ioctl->cmd || e->type == GRT_EV_IOCTL_ENTER))
		p = grt_format_padded(p, ioctl->text, ioctl->cmd_len);
	p = line_out_put_fields(l, p, plan->field, late, e);
	p = line_out_put_deltas(l, p);
	if (ioctl)
		p = grt_format_padded(p, ioctl->text + ioctl->cmd_len, ioctl->len - (size_t)ioctl->cmd_len);
	if (plan->early < plan->fields) {
		p = grt_format_padded(p, rest, s->late - (size_t)s->head);
		p = line_out_put_fields(l, p, late, plan->field + plan->fields, e);
		rest = s->text + s->late;
	}
	return grt_format_padded(p, rest, (size_t)(s->text + s->end - rest));
}

/* ----------------------------------------------------------------- lines */

static void make_stamp(struct grt_line_out *l, uint64_t ns)
{
	char *end = grt_format_text(l->stamp, forms[l->form].open, strlen(forms[l->form].open));

	end = grt_format_u64(end, ns / NS_PER_S);
	*end++ = '.';
	*end++ = (char)('0' + ns % NS_PER_S / STAMP_NS);
	l->stamp_len = (uint8_t)(end - l->stamp);
	l->stamped = ns - ns % STAMP_NS;
}

static inline char *put_stamp(struct grt_line_out *l, char *p, uint64_t ns)
{
	if (ns - l->stamped >= STAMP_NS || !l->stamp_len)
		make_stamp(l, ns);
	memcpy(p, l->stamp, sizeof(l->stamp));
	return grt_format_eight(p + l->stamp_len, (uint32_t)(ns - l->stamped));
}

static char *line_out_line_pretty(struct grt_line_out *l, char *p, const struct plan *plan,
				  const struct grt_event *e, unsigned int input)
{
	grt_joins_look(&l->joins, e, input, &l->joined);
	p = put_stamp(l, p, e->time);
	p = grt_format_text(p, plan->cpu ? "  [CPU]  " : "  [GPU]  ", 9);
	return grt_pretty_body(p, e, &l->joined, grt_event_table[e->type].name ?: plan->title, plan->cpu);
}

/* The first field of a merged line has no comma: it lies on the end of the title, which then is put back. */
static inline char *end_merged(const struct plan *plan, char *title, char *p)
{
	char *keys = title + plan->title_len;

	memcpy(keys - OVERLAP, plan->title + plan->title_len - OVERLAP, OVERLAP);
	return p > keys ? p : keys;
}

static inline char *line_out_put_line(struct grt_line_out *l, char *p, const struct grt_event *e,
				      unsigned int input)
{
	const struct plan *plan = &l->plan[e->type];
	char *title;

	if (l->form == GRT_LINE_OUT_PRETTY)
		return line_out_line_pretty(l, p, plan, e, input);
	title = put_stamp(l, p, e->time);
	p = line_out_put_body(l, title, plan, e, input);
	return l->form == GRT_LINE_OUT_MERGED ? end_merged(plan, title, p) : p;
}

static int put_object(struct grt_line_out *l, const struct grt_event *e, uint32_t cpu, unsigned int input)
{
	char *p = grt_outbuf_room(&l->out, GRT_EVENT_JSON_MAX);

	p = grt_event_json_put(l->json, p, e, cpu, input);
	grt_outbuf_take(&l->out, grt_format_text(p, "}\n", 2));
	return l->out.error;
}

/* Takes in what is joined with later events. Return: 0 or -ENOMEM */
static inline int line_out_see(struct grt_line_out *l, const struct grt_event *e, unsigned int input)
{
	if (l->json)
		return grt_event_json_see(l->json, e, input);
	if (e->type == GRT_EV_NAME)
		return grt_joins_name(&l->joins, (const struct grt_ev_name *)e, input);
	return grt_joins_event(&l->joins, e, &l->joined);
}

int grt_line_out_event(struct grt_line_out *l, const struct grt_event *e, uint32_t cpu, unsigned int input)
{
	int ret = line_out_see(l, e, input);
	char *p;

	if (e->type == GRT_EV_NAME || e->type == GRT_EV_STACK || e->type == GRT_EV_FRAME ||
	    e->type >= GRT_EV_MAX)
		return ret;
	l->count.events[e->type]++;
	if (ret || l->out.fd < 0)
		return ret;
	if (l->json)
		return put_object(l, e, cpu, input);
	p = grt_outbuf_room(&l->out, LINE_MAX_BYTES);
	p = line_out_put_line(l, p, e, input);
	*p++ = '\n';
	grt_outbuf_take(&l->out, p);
	return l->out.error;
}

int grt_line_out_text(struct grt_line_out *l, const char *text)
{
	size_t len = strnlen(text, LINE_MAX_BYTES - 1);
	char *p;

	if (l->out.fd < 0)
		return 0;
	p = grt_format_text(grt_outbuf_room(&l->out, LINE_MAX_BYTES), text, len);
	*p++ = '\n';
	grt_outbuf_take(&l->out, p);
	return l->out.error;
}

int grt_line_out_flush(struct grt_line_out *l)
{
	return l->out.fd < 0 ? 0 : grt_outbuf_flush(&l->out);
}

const struct grt_line_out_count *grt_line_out_count(struct grt_line_out *l)
{
	const struct grt_joins *joins = l->json ? grt_event_json_joins(l->json) : &l->joins;
	struct grt_line_out_count *c = &l->count;

	c->lines = 0;
	for (unsigned int i = 0; i < GRT_EV_MAX; i++)
		c->lines += c->events[i];
	c->open_exits = joins->open_exits;
	c->calls = c->events[GRT_EV_IOCTL_EXIT] - c->open_exits;
	c->submits = joins->deltas[GRT_DELTA_SINCE_IOCTL];
	c->jobs = joins->deltas[GRT_DELTA_TOTAL];
	return c;
}
