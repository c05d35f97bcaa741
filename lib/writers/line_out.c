// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Lines of the forms annotate, merged and JSON. What stands in a line follows
 * from the rows of events.def, made into a plan per event when writing begins;
 * lines for people are in pretty.c.
 */
#include "line_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <grtrace/event_table.h>

#include "joins.h"
#include "outbuf.h"
#include "pretty.h"

#define NS_PER_S 1000000000ULL

/* More than the longest line: a dozen escaped texts and numbers. */
#define LINE_MAX_BYTES 8192

/* The event of a merged line is padded to this. */
#define TITLE_WIDTH 16
#define TITLE_MAX 32

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

static const char *const key_names[KEYS] = {
	[KEY_PID] = "pid",
	[KEY_TID] = "tid",
	[KEY_COMM] = "comm",
	[KEY_PROCESS] = "process",
	[KEY_CTX] = "ctx",
	[KEY_ENGINE] = "engine",
	[KEY_RING] = "ring",
	[KEY_SEQ] = "seq",
	[KEY_RING_NAME] = "ring_name",
	[KEY_DRIVER] = "driver",
	[KEY_DEV] = "dev",
	[KEY_DEVICE] = "device",
	[KEY_NAME] = "name",
	[KEY_FLAGS] = "flags",
	[KEY_SAMPLE] = "sample",
	[KEY_DELTA + GRT_DELTA_DURATION] = "duration_ns",
	[KEY_DELTA + GRT_DELTA_SINCE_IOCTL] = "since_ioctl_ns",
	[KEY_DELTA + GRT_DELTA_SCHED] = "t_sched_ns",
	[KEY_DELTA + GRT_DELTA_QUEUE] = "t_queue_ns",
	[KEY_DELTA + GRT_DELTA_EXEC] = "t_exec_ns",
	[KEY_DELTA + GRT_DELTA_SINCE_SUBMIT] = "since_submit_ns",
	[KEY_DELTA + GRT_DELTA_COMPLETE] = "t_complete_ns",
	[KEY_DELTA + GRT_DELTA_TOTAL] = "t_total_ns",
	[KEY_DELTA + GRT_DELTA_WAIT] = "t_wait_ns",
};

/** struct key_text - a key with what stands before it and after it; copied whole, used up to @len */
struct key_text {
	char text[GRT_PAD - 1];
	uint8_t len;
};

/** struct job_text - a job's identity up to its number, as a line has it */
struct job_text {
	uint64_t ctx;
	uint32_t ring;
	uint8_t engine;
	uint8_t len;
	char text[90 + GRT_PAD];
};

/** struct ioctl_text - an ioctl's name, as a line has it */
struct ioctl_text {
	const struct grt_ioctl_driver *driver;
	uint32_t cmd;
	bool known;
	uint8_t len;
	char text[80 + GRT_PAD];
};

/* Of each kind, by the lowest bits of what is asked for. */
#define RECENT 64U

/** enum when - when a field of a row stands in the line */
enum when {
	ALWAYS,
	NOT_ZERO,     /* what reads back as 0 needs not be said */
	NOT_NEGATIVE, /* a descriptor that is not known is -1 */
};

#define FIELDS_MAX 8

/** struct plan - a line of one event: its name and the fields of its row in the order of the line */
struct plan {
	char title[TITLE_MAX];
	uint8_t title_len;
	uint8_t fields;
	bool cpu;
	bool job;
	bool who_first;
	struct planned {
		struct key_text key;
		uint8_t kind;
		uint8_t when;
		uint16_t offset;
		uint16_t size;
	} field[FIELDS_MAX];
};

/**
 * struct grt_line_out - see line_out.h
 * @stamp: the beginning of a line up to the dot, made for @second
 */
struct grt_line_out {
	struct grt_outbuf out;
	enum grt_line_form form;
	struct grt_line_out_count count;
	struct grt_joins joins;
	struct grt_joined joined;
	uint64_t second;
	uint8_t stamp_len;
	char stamp[32 + GRT_PAD];
	struct key_text key[KEYS];
	struct plan plan[GRT_EV_MAX];
	struct job_text job[RECENT];
	struct ioctl_text ioctl[RECENT];
};

/* ----------------------------------------------------------------- plans */

static const struct {
	const char *before;
	const char *after;
	const char *open;
} forms[GRT_LINE_FORMS] = {
	[GRT_LINE_OUT_ANNOTATE] = {" ", "=", "["},
	[GRT_LINE_OUT_MERGED] = {", ", "=", "["},
	[GRT_LINE_OUT_PRETTY] = {" ", "=", ""},
	[GRT_LINE_OUT_JSON] = {",\"", "\":", ""},
};

static void make_key(const struct grt_line_out *l, struct key_text *k, const char *name)
{
	int n = snprintf(k->text, sizeof(k->text), "%s%s%s", forms[l->form].before, name,
			 forms[l->form].after);

	k->len = (uint8_t)(n < (int)sizeof(k->text) ? n : (int)sizeof(k->text) - 1);
}

#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) [id] = #CLASS,
static const char *const class_of[GRT_EV_MAX] = {
#include <grtrace/events.def>
};
#undef GRT_EVENT

static bool is_class(uint16_t type, const char *name)
{
	return type < GRT_EV_MAX && class_of[type] && !strcmp(class_of[type], name);
}

bool grt_line_out_is_cpu(uint16_t type)
{
	return is_class(type, "call");
}

static enum when when_of(unsigned int type, const struct grt_field *f)
{
	if (type == GRT_EV_IOCTL_ENTER && !strcmp(f->name, "fd"))
		return NOT_NEGATIVE;
	/* an exit that came without its number */
	if (type == GRT_EV_IOCTL_EXIT && !strcmp(f->name, "cmd"))
		return NOT_ZERO;
	if (f->kind == GRT_FIELD_SIGNED || is_class((uint16_t)type, "call"))
		return ALWAYS;
	return NOT_ZERO;
}

static void plan_field(const struct grt_line_out *l, unsigned int type, const struct grt_field *f)
{
	struct plan *p = (struct plan *)&l->plan[type];
	struct planned *at = &p->field[p->fields];

	if (p->fields == FIELDS_MAX)
		return;
	p->fields++;
	make_key(l, &at->key, f->name);
	at->kind = f->kind;
	at->offset = f->offset;
	at->size = f->size;
	at->when = (uint8_t)when_of(type, f);
}

static void plan_event(struct grt_line_out *l, unsigned int type)
{
	const struct grt_event_desc *d = &grt_event_table[type];
	struct plan *p = &l->plan[type];
	int n = d->name ? snprintf(p->title, sizeof(p->title), "%s", d->title)
			: snprintf(p->title, sizeof(p->title), "EVENT_%u", type);

	p->title_len = (uint8_t)n;
	if (l->form == GRT_LINE_OUT_MERGED)
		p->title_len = (uint8_t)snprintf(p->title + n, sizeof(p->title) - (size_t)n, "%*s ",
						 n < TITLE_WIDTH ? TITLE_WIDTH - n : 0, "") +
			       (uint8_t)n;
	p->cpu = grt_line_out_is_cpu((uint16_t)type);
	p->job = is_class((uint16_t)type, "job");
	p->who_first = p->cpu && l->form != GRT_LINE_OUT_MERGED;
	if (!d->name)
		return;
	for (const struct grt_field *f = d->fields(); f->name; f++)
		if (when_of(type, f) != NOT_NEGATIVE)
			plan_field(l, type, f);
	for (const struct grt_field *f = d->fields(); f->name; f++)
		if (when_of(type, f) == NOT_NEGATIVE)
			plan_field(l, type, f);
}

static void make_plans(struct grt_line_out *l)
{
	bool merged = l->form == GRT_LINE_OUT_MERGED;

	for (unsigned int i = 0; i < KEYS; i++)
		make_key(l, &l->key[i], key_names[i]);
	make_key(l, &l->key[KEY_CTX], merged ? "ctx_id" : "ctx");
	make_key(l, &l->key[KEY_SEQ], merged || l->form == GRT_LINE_OUT_JSON ? "seqno" : "seq");
	for (unsigned int i = 0; i < GRT_EV_MAX; i++)
		plan_event(l, i);
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
	l->second = UINT64_MAX;
	grt_joins_init(&l->joins, form == GRT_LINE_OUT_JSON ? GRT_ESCAPE_JSON : GRT_ESCAPE_TERM);
	make_plans(l);
	return 0;
}

void grt_line_out_free(struct grt_line_out *l)
{
	if (!l)
		return;
	grt_joins_fini(&l->joins);
	grt_outbuf_fini(&l->out);
	free(l);
}

/* ---------------------------------------------------------------- values */

static inline char *put_key(const struct grt_line_out *l, char *p, unsigned int key)
{
	/* a copy of fixed size is one instruction; what is too much is written over */
	memcpy(p, l->key[key].text, sizeof(l->key[key].text));
	return p + l->key[key].len;
}

static inline char *put_u64(const struct grt_line_out *l, char *p, unsigned int key, uint64_t n)
{
	return grt_format_u64(put_key(l, p, key), n);
}

/* A number that text shows in hexadecimal, which JSON does not have. */
static inline char *put_hex(const struct grt_line_out *l, char *p, unsigned int key, uint64_t n)
{
	p = put_key(l, p, key);
	return l->form == GRT_LINE_OUT_JSON ? grt_format_u64(p, n) : grt_format_hex(p, n);
}

static char *put_text_value(const struct grt_line_out *l, char *p, const char *text, size_t len)
{
	if (l->form != GRT_LINE_OUT_JSON)
		return grt_format_text(p, text, len);
	*p++ = '"';
	p = grt_format_text(p, text, len);
	*p++ = '"';
	return p;
}

static char *put_text(const struct grt_line_out *l, char *p, unsigned int key, const struct grt_joins_text *t)
{
	return t->len ? put_text_value(l, put_key(l, p, key), t->text, t->len) : p;
}

/* Of fixed sizes, each of which is one instruction. */
static inline uint64_t load(const struct planned *f, const struct grt_event *e)
{
	const char *at = (const char *)e + f->offset;
	uint32_t word;
	uint16_t half;
	uint64_t v;

	if (f->size == sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		return word;
	}
	if (f->size == sizeof(v)) {
		memcpy(&v, at, sizeof(v));
		return v;
	}
	memcpy(&half, at, sizeof(half));
	return f->size == sizeof(half) ? half : (uint8_t)*at;
}

static inline int64_t load_signed(const struct planned *f, const struct grt_event *e)
{
	unsigned int unused = 64 - 8 * f->size;

	return (int64_t)(load(f, e) << unused) >> unused;
}

static char *put_string_field(const struct grt_line_out *l, char *p, const struct planned *f,
			      const struct grt_event *e)
{
	struct grt_joins_text t;

	grt_joins_escape(l->joins.escape, &t, (const char *)e + f->offset, f->size, false);
	if (!t.len)
		return p;
	memcpy(p, f->key.text, sizeof(f->key.text));
	return put_text_value(l, p + f->key.len, t.text, t.len);
}

static inline char *put_field(const struct grt_line_out *l, char *p, const struct planned *f,
			      const struct grt_event *e)
{
	int64_t n;

	if (f->kind == GRT_FIELD_STR)
		return put_string_field(l, p, f, e);
	n = f->kind == GRT_FIELD_SIGNED ? load_signed(f, e) : (int64_t)load(f, e);
	if ((f->when == NOT_ZERO && !n) || (f->when == NOT_NEGATIVE && n < 0))
		return p;
	memcpy(p, f->key.text, sizeof(f->key.text));
	p += f->key.len;
	if (f->kind == GRT_FIELD_SIGNED)
		return grt_format_s64(p, n);
	return f->kind == GRT_FIELD_HEX && l->form != GRT_LINE_OUT_JSON ? grt_format_hex(p, (uint64_t)n)
									: grt_format_u64(p, (uint64_t)n);
}

/* ----------------------------------------------------------------- parts */

/* In the form annotate, events of the CPU have their thread first; what is not of that form comes last. */
static char *put_known_thread(const struct grt_line_out *l, char *p, const struct plan *plan,
			      struct grt_joins_thread *t, const struct grt_event *e)
{
	char *end = t->line.text;

	if (!t->line.len || t->line_pid != e->pid || t->line_first != plan->who_first) {
		end = put_u64(l, end, KEY_PID, e->pid);
		end = put_u64(l, end, KEY_TID, e->tid);
		end = put_text(l, end, KEY_COMM, &t->comm);
		if (!plan->who_first)
			end = put_text(l, end, KEY_PROCESS, &t->process);
		t->line.len = (uint16_t)(end - t->line.text);
		t->line_pid = e->pid;
		t->line_first = plan->who_first;
	}
	return grt_format_padded(p, t->line.text, t->line.len);
}

static char *put_who(const struct grt_line_out *l, char *p, const struct plan *plan,
		     const struct grt_event *e)
{
	struct grt_joins_thread *t = l->joined.thread;

	if (t && t->comm.len)
		return put_known_thread(l, p, plan, t, e);
	if (!plan->cpu && !e->pid && !e->tid)
		return p;
	p = put_u64(l, p, KEY_PID, e->pid);
	p = put_u64(l, p, KEY_TID, e->tid);
	if (plan->who_first && l->form == GRT_LINE_OUT_ANNOTATE)
		p = grt_format_text(put_key(l, p, KEY_COMM), "<...>", 5);
	return p;
}

static char *put_engine(const struct grt_line_out *l, char *p, const struct grt_event *e)
{
	const char *name = e->engine < GRT_ENGINE_MAX ? grt_engine_names[e->engine] : NULL;

	if (!name)
		return put_u64(l, p, KEY_ENGINE, e->engine);
	return put_text_value(l, put_key(l, p, KEY_ENGINE), name, strlen(name));
}

/* Everything of a job's identity but its number: the same for many events. */
static void make_job(const struct grt_line_out *l, struct job_text *t, const struct grt_event *e)
{
	char *p = put_hex(l, t->text, KEY_CTX, e->ctx);

	p = put_engine(l, p, e);
	if (e->ring != GRT_RING_NONE)
		p = put_u64(l, p, KEY_RING, e->ring);
	p = put_key(l, p, KEY_SEQ);
	t->len = (uint8_t)(p - t->text);
	t->ctx = e->ctx;
	t->ring = e->ring;
	t->engine = e->engine;
}

static char *put_job(struct grt_line_out *l, char *p, const struct plan *plan, const struct grt_event *e)
{
	struct job_text *t = &l->job[e->ctx % RECENT];

	if (e->ctx || plan->job) {
		if (!t->len || t->ctx != e->ctx || t->ring != e->ring || t->engine != e->engine)
			make_job(l, t, e);
		return grt_format_u64(grt_format_padded(p, t->text, t->len), e->seqno);
	}
	if (e->engine)
		p = put_engine(l, p, e);
	return e->ring == GRT_RING_NONE ? p : put_u64(l, p, KEY_RING, e->ring);
}

static char *put_deltas(const struct grt_line_out *l, char *p)
{
	for (unsigned int i = 0; l->joined.has >> i; i++)
		if (l->joined.has >> i & 1)
			p = put_u64(l, p, KEY_DELTA + i, l->joined.ns[i]);
	return p;
}

static void make_ioctl(const struct grt_line_out *l, struct ioctl_text *t,
		       const struct grt_ioctl_driver *driver, uint32_t cmd)
{
	const char *name = grt_ioctl_name_of(driver, cmd);
	char *p = t->text;

	if (name)
		p = put_text_value(l, put_key(l, p, KEY_NAME), name, strnlen(name, 60));
	t->len = (uint8_t)(p - t->text);
	t->driver = driver;
	t->cmd = cmd;
	t->known = true;
}

static char *put_ioctl_name(struct grt_line_out *l, char *p, const struct grt_event *e)
{
	/* where an exit has it too */
	uint32_t cmd = ((const struct grt_ev_ioctl_enter *)e)->cmd;
	const struct grt_ioctl_driver *driver = l->joined.device ? l->joined.device->ioctls : NULL;
	struct ioctl_text *t = &l->ioctl[cmd % RECENT];

	if (!t->known || t->cmd != cmd || t->driver != driver)
		make_ioctl(l, t, driver, cmd);
	return grt_format_padded(p, t->text, t->len);
}

_Static_assert(offsetof(struct grt_ev_ioctl_enter, cmd) == offsetof(struct grt_ev_ioctl_exit, cmd), "cmd");

static char *put_ring_name(const struct grt_line_out *l, char *p, struct grt_joins_ring *ring)
{
	char *end = ring->line.text;

	if (!ring->line.len) {
		end = put_text(l, end, KEY_RING_NAME, &ring->name);
		end = put_text(l, end, KEY_DRIVER, &ring->driver);
		ring->line.len = (uint16_t)(end - ring->line.text);
	}
	return grt_format_padded(p, ring->line.text, ring->line.len);
}

static char *put_known_device(const struct grt_line_out *l, char *p, const struct grt_joins_device *d,
			      const struct grt_event *e)
{
	p = put_text(l, p, KEY_DEV, &d->name);
	return d->known_by_name ? p : put_u64(l, p, KEY_DEVICE, e->device);
}

/* A ring has a driver too; without one it is the device that tells it. */
static char *put_device_alone(const struct grt_line_out *l, char *p, struct grt_joins_device *d,
			      const struct grt_event *e)
{
	char *end = d->line.text;

	if (!d->line.len) {
		end = put_known_device(l, end, d, e);
		end = put_text(l, end, KEY_DRIVER, &d->driver);
		d->line.len = (uint16_t)(end - d->line.text);
	}
	return grt_format_padded(p, d->line.text, d->line.len);
}

static char *put_device(const struct grt_line_out *l, char *p, const struct grt_event *e)
{
	struct grt_joins_device *d = l->joined.device;

	if (!l->joined.ring && d)
		return put_device_alone(l, p, d, e);
	if (l->joined.ring)
		p = put_ring_name(l, p, l->joined.ring);
	if (d)
		return put_known_device(l, p, d, e);
	return e->device ? put_u64(l, p, KEY_DEVICE, e->device) : p;
}

static char *put_rest(const struct grt_line_out *l, char *p, const struct plan *plan,
		      const struct grt_event *e)
{
	/* which source told of it matters for jobs, which two may tell of */
	unsigned int flags = plan->cpu ? e->flags & ~GRT_FLAG_BPF : e->flags;

	if (flags)
		p = put_hex(l, p, KEY_FLAGS, flags);
	return e->sample ? put_u64(l, p, KEY_SAMPLE, e->sample) : p;
}

static char *put_body(struct grt_line_out *l, char *p, const struct plan *plan, const struct grt_event *e)
{
	const struct planned *f = plan->field;

	if (plan->who_first)
		p = put_who(l, p, plan, e);
	p = put_job(l, p, plan, e);
	for (; f < plan->field + plan->fields && f->when != NOT_NEGATIVE; f++)
		p = put_field(l, p, f, e);
	p = put_deltas(l, p);
	if (e->type == GRT_EV_IOCTL_ENTER || e->type == GRT_EV_IOCTL_EXIT)
		p = put_ioctl_name(l, p, e);
	p = put_device(l, p, e);
	for (; f < plan->field + plan->fields; f++)
		p = put_field(l, p, f, e);
	p = put_rest(l, p, plan, e);
	if (!plan->who_first)
		return put_who(l, p, plan, e);
	return l->joined.thread ? put_text(l, p, KEY_PROCESS, &l->joined.thread->process) : p;
}

/* ----------------------------------------------------------------- lines */

static char *put_stamp(struct grt_line_out *l, char *p, uint64_t ns)
{
	uint64_t second = ns / NS_PER_S;
	char *end;

	if (second != l->second) {
		end = grt_format_text(l->stamp, forms[l->form].open, strlen(forms[l->form].open));
		end = grt_format_u64(end, second);
		*end++ = '.';
		l->stamp_len = (uint8_t)(end - l->stamp);
		l->second = second;
	}
	p = grt_format_padded(p, l->stamp, l->stamp_len);
	return grt_format_nano(p, (uint32_t)(ns % NS_PER_S));
}

static char *line_annotate(struct grt_line_out *l, char *p, const struct plan *plan,
			   const struct grt_event *e)
{
	p = grt_format_text(put_stamp(l, p, e->time), "] ", 2);
	p = grt_format_padded(p, plan->title, plan->title_len);
	return put_body(l, p, plan, e);
}

/* The first field has no comma before it: the body begins in the padding, which then is put back. */
static char *line_merged(struct grt_line_out *l, char *p, const struct plan *plan, const struct grt_event *e)
{
	char *body, keep[2];

	p = grt_format_text(put_stamp(l, p, e->time), plan->cpu ? "] CPU " : "] GPU ", 6);
	body = grt_format_padded(p, plan->title, plan->title_len);
	memcpy(keep, body - 2, 2);
	p = put_body(l, body - 2, plan, e);
	memcpy(body - 2, keep, 2);
	return p > body ? p : body;
}

static char *line_pretty(struct grt_line_out *l, char *p, const struct plan *plan, const struct grt_event *e)
{
	p = put_stamp(l, p, e->time);
	p = grt_format_text(p, plan->cpu ? "  [CPU]  " : "  [GPU]  ", 9);
	return grt_pretty_body(p, e, &l->joined, grt_event_table[e->type].name ?: plan->title, plan->cpu);
}

static char *line_json(struct grt_line_out *l, char *p, const struct plan *plan, const struct grt_event *e)
{
	p = grt_format_text(p, "{\"time\":", 8);
	p = grt_format_u64(p, e->time);
	p = grt_format_text(p, ",\"event\":\"", 10);
	p = grt_format_text(p, plan->title, plan->title_len);
	*p++ = '"';
	p = put_body(l, p, plan, e);
	*p++ = '}';
	return p;
}

static char *(*const line_of[GRT_LINE_FORMS])(struct grt_line_out *l, char *p, const struct plan *plan,
					      const struct grt_event *e) = {
	[GRT_LINE_OUT_ANNOTATE] = line_annotate,
	[GRT_LINE_OUT_MERGED] = line_merged,
	[GRT_LINE_OUT_PRETTY] = line_pretty,
	[GRT_LINE_OUT_JSON] = line_json,
};

static void count(struct grt_line_out *l, const struct grt_event *e)
{
	const struct grt_joined *j = &l->joined;

	l->count.lines++;
	l->count.events[e->type < GRT_EV_MAX ? e->type : 0]++;
	l->count.calls += e->type == GRT_EV_IOCTL_EXIT && !j->open_exit;
	l->count.open_exits += j->open_exit;
	l->count.submits += j->has >> GRT_DELTA_SINCE_IOCTL & 1;
	l->count.jobs += j->has >> GRT_DELTA_TOTAL & 1;
}

int grt_line_out_event(struct grt_line_out *l, const struct grt_event *e, unsigned int input)
{
	int ret;
	char *p;

	if (e->type == GRT_EV_NAME)
		return grt_joins_name(&l->joins, (const struct grt_ev_name *)e, input);
	if (e->type == GRT_EV_STACK || e->type == GRT_EV_FRAME || e->type >= GRT_EV_MAX)
		return 0;
	ret = grt_joins_event(&l->joins, e, input, &l->joined);
	if (ret)
		return ret;
	count(l, e);
	if (l->out.fd < 0)
		return 0;
	p = grt_outbuf_room(&l->out, LINE_MAX_BYTES);
	p = line_of[l->form](l, p, &l->plan[e->type], e);
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

const struct grt_line_out_count *grt_line_out_count(const struct grt_line_out *l)
{
	return &l->count;
}
