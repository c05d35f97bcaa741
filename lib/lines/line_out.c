// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Lines of the forms annotate and merged. The contents of a line follow from the rows of events.def, which
 * become a plan per event when writing begins. event_json.c writes JSON.
 */
#include "line_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <grtrace/event_table.h>

#include "base/outbuf.h"
#include "base/units.h"
#include "event_json.h"
#include "event_text.h"
#include "joins.h"
#include "shape.h"
#include "trace/packet.h"

/* ---------------------------------------------------------------- pretty */

/*
 * Lines of a merged timeline for people: the thread and its action,
 * and after an arrow the values that follow from it.
 */

/** grt_pretty_fields - the fields that are shown */
extern const struct grt_text_row grt_pretty_fields[];

/*
 * The body of a line for people. Numbers before the arrow are exact and are read back; those
 * after it are rounded.
 */

/* U+2190, and U+00B5 for the u in us */
#define ARROW "   \xe2\x86\x90 "
#define MICRO "\xc2\xb5"

static char *pretty_put(char *p, const char *text)
{
	return grt_format_text(p, text, strlen(text));
}

static char *pretty_put_text(char *p, const struct grt_joins_text *t)
{
	return grt_format_text(p, t->text, t->len);
}

static char *pretty_put_time(char *p, uint64_t ns)
{
	char text[GRT_UNITS_MAX];

	grt_units_ns(text, ns);
	for (const char *c = text; *c; c++) {
		if (*c == 'u')
			p = pretty_put(p, MICRO);
		else
			*p++ = *c;
	}
	return p;
}

/* ---------------------------------------------------------------- fields */

static char *pretty_put_who(char *p, const struct grt_event *e, const struct grt_joined *j)
{
	if (j->thread && j->thread->comm.len)
		p = pretty_put_text(p, &j->thread->comm);
	else
		p = pretty_put(p, "<...>");
	*p++ = '(';
	p = grt_format_u64(p, e->pid);
	return pretty_put(p, ") ");
}

static char *put_tid(char *p, const struct grt_event *e)
{
	return e->tid == e->pid ? p : grt_format_u64(pretty_put(p, " tid="), e->tid);
}

const struct grt_text_row grt_pretty_fields[] = {
	GRT_TEXT_ROW(IOCTL_ENTER, cmd),
	GRT_TEXT_ROW(IOCTL_ENTER, arg),
	GRT_TEXT_ROW(IOCTL_EXIT, cmd),
	GRT_TEXT_ROW(IOCTL_EXIT, ret),
	GRT_TEXT_ROW(IOCTL_EXIT, about, .hide = GRT_TEXT_HIDE_ZERO),
	GRT_TEXT_ROW(IOCTL_EXIT, status, .hide = GRT_TEXT_HIDE_ZERO),
	{.field = NULL},
};

static char *put_ring(char *p, const struct grt_event *e, const struct grt_joined *j)
{
	if (e->ring == GRT_RING_NONE)
		return p;
	p = pretty_put(p, " ring=");
	return j->ring && j->ring->name.len ? pretty_put_text(p, &j->ring->name) : grt_format_u64(p, e->ring);
}

/* ----------------------------------------------------------------- notes */

/* Notes from a delta, written as BEFORE duration AFTER. */
static const struct {
	const char *before;
	const char *after;
} delta_notes[GRT_DELTAS] = {
	[GRT_DELTA_DURATION] = {"took ", ""},
	[GRT_DELTA_SINCE_IOCTL] = {"", " after its ioctl began"},
	[GRT_DELTA_SCHED] = {"scheduled after ", ""},
	[GRT_DELTA_QUEUE] = {"queued ", ""},
	[GRT_DELTA_EXEC] = {"ran ", ""},
	[GRT_DELTA_SINCE_SUBMIT] = {"", " after its submit"},
	[GRT_DELTA_COMPLETE] = {"signalled after ", ""},
	[GRT_DELTA_TOTAL] = {"", " in all"},
	[GRT_DELTA_WAIT] = {"waited ", ""},
};

static char *pretty_put_deltas(char *p, const struct grt_joined *j, const char **sep)
{
	for (unsigned int i = 0; j->has >> i; i++) {
		if (!(j->has >> i & 1))
			continue;
		p = pretty_put(pretty_put(p, *sep), delta_notes[i].before);
		p = pretty_put(pretty_put_time(p, j->ns[i]), delta_notes[i].after);
		*sep = ", ";
	}
	return p;
}

static char *note_call(char *p, const struct grt_event *e, const struct grt_joined *j, const char **sep)
{
	const struct grt_ioctl_driver *d = j->device ? j->device->ioctls : NULL;
	const char *name = grt_ioctl_name_of(d, ((const struct grt_ev_ioctl_enter *)e)->cmd);

	if (!name)
		return p;
	p = pretty_put(pretty_put(p, *sep), name);
	*sep = ", ";
	return p;
}

static char *pretty_note_submit(char *p, const struct grt_event *e, const struct grt_joined *j,
				const char **sep)
{
	if (!j->thread || !j->thread->comm.len)
		return p;
	p = pretty_put(pretty_put(p, *sep), "by ");
	p = pretty_put_text(p, &j->thread->comm);
	*p++ = '(';
	p = grt_format_u64(p, e->pid);
	*p++ = ')';
	*sep = ", ";
	return p;
}

static char *note_status(char *p, const struct grt_event *e, const struct grt_joined *j, const char **sep)
{
	/* COMPLETE and ERROR begin with their status */
	int32_t status = ((const struct grt_ev_complete *)e)->status;

	if (!status || status == GRT_STATUS_UNKNOWN)
		return p;
	p = grt_format_s64(pretty_put(pretty_put(p, *sep), "failed: "), status);
	*sep = ", ";
	return p;
}

static char *note_xid(char *p, const struct grt_event *e, const struct grt_joined *j, const char **sep)
{
	const struct grt_ev_xid *x = (const struct grt_ev_xid *)e;
	struct grt_joins_text text;

	grt_joins_escape(GRT_ESCAPE_TERM, &text, x->text, sizeof(x->text), false);
	p = grt_format_u64(pretty_put(pretty_put(p, *sep), "Xid "), x->code);
	*sep = ", ";
	return text.len ? pretty_put_text(pretty_put(p, ": "), &text) : p;
}

static char *(*const notes[GRT_EV_MAX])(char *p, const struct grt_event *e, const struct grt_joined *j,
					const char **sep) = {
	[GRT_EV_IOCTL_ENTER] = note_call,     [GRT_EV_IOCTL_EXIT] = note_call,
	[GRT_EV_SUBMIT] = pretty_note_submit, [GRT_EV_COMPLETE] = note_status,
	[GRT_EV_ERROR] = note_status,	      [GRT_EV_XID] = note_xid,
};

/*
 * The code above reads ERROR and COMPLETE with one struct, and the two ioctl events begin with their number.
 */
_Static_assert(offsetof(struct grt_ev_error, status) == offsetof(struct grt_ev_complete, status), "status");
_Static_assert(offsetof(struct grt_ev_ioctl_enter, cmd) == offsetof(struct grt_ev_ioctl_exit, cmd), "cmd");

/*
 * Writes the part of a line after its source
 * @fields: writes the fields of grt_pretty_fields
 * @p: room for some thousand bytes
 * @name: name of the event, in lower case
 * @cpu: it is an event of the CPU
 * Return: the end of the text
 */
static char *pretty_body(const struct grt_event_text *fields, char *p, const struct grt_event *e,
			 const struct grt_joined *j, const char *name, bool cpu)
{
	const char *sep = ARROW;

	if (cpu) {
		p = pretty_put(pretty_put_who(p, e, j), name);
		p = put_tid(grt_event_text_put(fields, p, e), e);
	} else {
		if (grt_has_job(e))
			p = pretty_put(grt_format_hex(pretty_put(p, "ctx="), e->ctx), " ");
		p = pretty_put(p, name);
		if (grt_has_job(e))
			p = grt_format_u64(pretty_put(p, " seq="), e->seqno);
		p = put_ring(p, e, j);
	}
	if (notes[e->type])
		p = notes[e->type](p, e, j, &sep);
	return pretty_put_deltas(p, j, &sep);
}

/* -------------------------------------------------------------- line out */

#define NS_PER_S 1000000000ULL
/* Time stamps with the same value divided by this share their first digits; the last eight digits differ. */
#define STAMP_NS 100000000ULL

/* More than the longest line: a dozen escaped texts and numbers. */
#define LINE_MAX_BYTES 8192

/* The event of a merged line is padded to this. */
#define TITLE_WIDTH 16
#define TITLE_MAX 64
/* Characters to remove before the first key of a merged line: its comma and blank. */
#define OVERLAP 2

/** enum key - the keys of lines in addition to the fields of the events' rows */
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

/** struct ioctl_text - the text of an ioctl's number, of @cmd_len bytes, and its name after that */
struct ioctl_text {
	const struct grt_ioctl_driver *driver;
	uint32_t cmd;
	bool known;
	uint8_t cmd_len;
	uint8_t len;
	char text[128 + GRT_PAD];
};

/* Number of elements, which are found by the lowest bits of their number. */
#define IOCTLS 64U
#define CMD "cmd"
#define NUMBER_MAX 24

/**
 * struct plan - how to write a line of one type of event
 * @title: the text between time stamp and keys
 * @cpu: it is an event of the CPU; @job: it names a job
 * @ioctl: it has the number of an ioctl
 * @late: it has fields that come after the names
 * @who_first: the thread comes before all other keys
 */
struct plan {
	char title[TITLE_MAX];
	uint8_t title_len;
	bool cpu;
	bool job;
	bool ioctl;
	bool late;
	bool who_first;
};

/**
 * struct grt_line_out - see line_out.h
 * @json: of the form JSON, else NULL; it has joins of its own
 * @stamp: the beginning of a line with its time stamp without the last eight digits, @stamp_len bytes; right
 *	for time stamps from @stamped on that begin so
 * @early, @late: the fields of events before and after the names
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
	struct grt_key_text key[KEYS];
	struct plan plan[GRT_EV_MAX];
	struct grt_event_text *early;
	struct grt_event_text *late;
	struct ioctl_text ioctl[IOCTLS];
	struct grt_shapes shapes;
};

_Static_assert(TITLE_MAX + GRT_SHAPE_MAX + sizeof(struct ioctl_text) + GRT_EVENT_TEXT_MAX +
			       GRT_DELTAS * (sizeof(struct grt_key_text) + NUMBER_MAX) <=
		       LINE_MAX_BYTES,
	       "a line has room");

/* ----------------------------------------------------------------- plans */

static const char *line_out_before(enum grt_line_form form)
{
	return form == GRT_LINE_OUT_MERGED ? ", " : " ";
}

static void line_out_make_key(const struct grt_line_out *l, struct grt_key_text *k, const char *name)
{
	grt_key_text(k, "%s%s=", line_out_before(l->form), name);
}

bool grt_line_out_is_cpu(uint16_t type)
{
	return type < GRT_EV_MAX && grt_class_of[type] == GRT_CLASS_call;
}

/* Fields that read back as 0 if they are missing are not written as 0, nor is an unknown status. */
static uint8_t line_out_hide(unsigned int type, const struct grt_field *f)
{
	bool status = !strcmp(f->name, "status");

	/* an ioctl's number is kept as text with its name, and its descriptor comes after that */
	if (!strcmp(f->name, CMD) && (type == GRT_EV_IOCTL_ENTER || type == GRT_EV_IOCTL_EXIT))
		return GRT_TEXT_HIDE;
	if (type == GRT_EV_IOCTL_ENTER && !strcmp(f->name, "fd"))
		return GRT_TEXT_HIDE;
	if ((type == GRT_EV_COMPLETE || type == GRT_EV_FENCE) && status)
		return GRT_TEXT_HIDE_UNKNOWN;
	/* only NVIDIA's ioctls have them */
	if (type == GRT_EV_IOCTL_EXIT && (status || !strcmp(f->name, "about")))
		return GRT_TEXT_HIDE_ZERO;
	return f->kind == GRT_FIELD_SIGNED || grt_line_out_is_cpu((uint16_t)type) ? 0 : GRT_TEXT_HIDE_ZERO;
}

static const struct grt_text_row late_fields[] = {
	GRT_TEXT_ROW(IOCTL_ENTER, fd, .hide = GRT_TEXT_HIDE_NEGATIVE),
	{.field = NULL},
};

static void line_out_plan_event(struct grt_line_out *l, unsigned int type)
{
	const char *name = grt_event_table[type].title;
	struct plan *p = &l->plan[type];
	char unknown[16];
	int n;

	snprintf(unknown, sizeof(unknown), "EVENT_%u", type);
	name = name ?: unknown;
	p->cpu = grt_line_out_is_cpu((uint16_t)type);
	p->job = grt_class_of[type] == GRT_CLASS_job;
	p->late = type == GRT_EV_IOCTL_ENTER;
	p->ioctl = p->late || type == GRT_EV_IOCTL_EXIT;
	p->who_first = p->cpu && l->form != GRT_LINE_OUT_MERGED;
	if (l->form == GRT_LINE_OUT_MERGED)
		n = snprintf(p->title, sizeof(p->title), "] %s %-*s ", p->cpu ? "CPU" : "GPU", TITLE_WIDTH,
			     name);
	else
		n = snprintf(p->title, sizeof(p->title), "%s%s", l->form == GRT_LINE_OUT_ANNOTATE ? "] " : "",
			     name);
	p->title_len = (uint8_t)n;
}

static int line_out_make_plans(struct grt_line_out *l)
{
	const struct grt_text_style early = {.rows = l->form == GRT_LINE_OUT_PRETTY ? grt_pretty_fields
										    : NULL,
					     .hide = line_out_hide,
					     .before = line_out_before(l->form),
					     .bare = true};
	const struct grt_text_style late = {.rows = late_fields, .before = early.before};
	bool merged = l->form == GRT_LINE_OUT_MERGED;

	for (unsigned int i = 0; i < KEYS; i++)
		line_out_make_key(l, &l->key[i],
				  i < KEY_DELTA ? key_names[i] : grt_delta_names[i - KEY_DELTA]);
	line_out_make_key(l, &l->key[KEY_CTX], merged ? "ctx_id" : "ctx");
	line_out_make_key(l, &l->key[KEY_SEQ], merged ? "seqno" : "seq");
	for (unsigned int i = 0; i < GRT_EV_MAX; i++)
		line_out_plan_event(l, i);
	return grt_event_text_new(&l->early, &early) ?: grt_event_text_new(&l->late, &late);
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
	if (form == GRT_LINE_OUT_JSON ? !grt_event_json_new(&l->json) : !line_out_make_plans(l))
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
	grt_event_text_free(l->early);
	grt_event_text_free(l->late);
	grt_joins_fini(&l->joins);
	grt_outbuf_fini(&l->out);
	free(l);
}

/* ---------------------------------------------------------------- values */

static inline char *line_out_put_key(const struct grt_line_out *l, char *p, unsigned int key)
{
	return grt_key_put(p, &l->key[key]);
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

/* ---------------------------------------------------------------- shapes */

static char *line_out_put_who(const struct grt_line_out *l, char *p, const struct plan *plan,
			      const struct grt_shape *s)
{
	const struct grt_joins_thread *t = s->thread;
	const struct grt_event *e = &s->of;
	bool known = t && t->named;

	if (!known && !plan->cpu && !e->pid && !e->tid)
		return p;
	p = line_out_put_u64(l, p, KEY_PID, e->pid);
	p = line_out_put_u64(l, p, KEY_TID, e->tid);
	/* also an empty one: otherwise readers of the line would use the previous one */
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

/* Writes a job's identity up to its number, or an event without a job. */
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

/* Writes the names of ring and driver; without a ring, those of the device. */
static char *line_out_put_names(const struct grt_line_out *l, char *p, const struct grt_shape *s)
{
	const struct grt_joins_device *d = s->device;
	const struct grt_joins_ring *ring = s->ring;

	if (ring)
		p = line_out_put_text(l, line_out_put_text(l, p, KEY_RING_NAME, &ring->name), KEY_DRIVER,
				      &ring->driver);
	if (d)
		p = line_out_put_text(l, p, KEY_DEV, &d->name);
	if (d ? !d->known_by_name : s->of.device != 0)
		p = line_out_put_u64(l, p, KEY_DEVICE, s->of.device);
	return d && !ring ? line_out_put_text(l, p, KEY_DRIVER, &d->driver) : p;
}

static char *put_rest(const struct grt_line_out *l, char *p, const struct plan *plan,
		      const struct grt_event *e)
{
	/* for jobs, it matters which source reported it, because two may report one */
	unsigned int flags = plan->cpu ? e->flags & ~GRT_FLAG_BPF : e->flags;

	/* the process image of CUDA's events, by which readers of the line join them */
	if (e->ctx && !grt_has_job(e) && !plan->job)
		p = line_out_put_hex(l, p, KEY_CTX, e->ctx);
	if (flags)
		p = line_out_put_hex(l, p, KEY_FLAGS, flags);
	return e->sample ? line_out_put_u64(l, p, KEY_SAMPLE, e->sample) : p;
}

/*
 * In the form annotate, events of the CPU have their thread first; keys that are not of that form come last.
 */
static void write_shape(const struct grt_line_out *l, struct grt_shape *s, const struct plan *plan)
{
	char *p = grt_format_text(s->text, plan->title, plan->title_len);

	s->numbered = grt_has_job(&s->of) || plan->job;
	if (l->form == GRT_LINE_OUT_MERGED)
		p -= OVERLAP;
	if (plan->who_first)
		p = line_out_put_who(l, p, plan, s);
	p = line_out_put_place(l, p, &s->of, s->numbered);
	s->head = (uint16_t)(p - s->text);
	p = line_out_put_names(l, p, s);
	s->late = (uint16_t)(p - s->text);
	p = put_rest(l, p, plan, &s->of);
	if (!plan->who_first)
		p = line_out_put_who(l, p, plan, s);
	else if (s->thread)
		p = line_out_put_text(l, p, KEY_PROCESS, &s->thread->process);
	s->end = (uint16_t)(p - s->text);
}

static __attribute__((noinline)) const struct grt_shape *make_shape(struct grt_line_out *l, uint64_t hash,
								    const struct plan *plan,
								    const struct grt_event *e,
								    unsigned int input)
{
	struct grt_shape *s = grt_shape_new(&l->shapes, hash, e, input, &l->joins);

	write_shape(l, s, plan);
	return s;
}

static inline const struct grt_shape *shape_of(struct grt_line_out *l, const struct plan *plan,
					       const struct grt_event *e, unsigned int input)
{
	uint64_t hash = grt_shape_hash(e, input);

	return grt_shape_find(&l->shapes, hash, e, input, l->joins.version)
		       ?: make_shape(l, hash, plan, e, input);
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
	struct grt_key_text key;
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

static inline char *line_out_put_body(struct grt_line_out *l, char *p, const struct plan *plan,
				      const struct grt_event *e, unsigned int input)
{
	const struct grt_shape *s = shape_of(l, plan, e, input);
	const struct ioctl_text *ioctl = ioctl_of(l, plan, s->device ? s->device->ioctls : NULL, e);
	const char *rest = s->text + s->head;

	p = grt_format_padded(p, s->text, s->head);
	if (s->numbered)
		p = grt_format_u64(p, e->seqno);
	else if (e->seqno)
		p = line_out_put_u64(l, p, KEY_SEQ, e->seqno);
	/* an exit may come without its number */
	if (ioctl && (ioctl->cmd || e->type == GRT_EV_IOCTL_ENTER))
		p = grt_format_padded(p, ioctl->text, ioctl->cmd_len);
	p = grt_event_text_put(l->early, p, e);
	p = line_out_put_deltas(l, p);
	if (ioctl)
		p = grt_format_padded(p, ioctl->text + ioctl->cmd_len, ioctl->len - (size_t)ioctl->cmd_len);
	if (plan->late) {
		p = grt_format_padded(p, rest, s->late - (size_t)s->head);
		p = grt_event_text_put(l->late, p, e);
		rest = s->text + s->late;
	}
	return grt_format_padded(p, rest, (size_t)(s->text + s->end - rest));
}

/* ----------------------------------------------------------------- lines */

static void make_stamp(struct grt_line_out *l, uint64_t ns)
{
	char *end = grt_format_word(l->stamp, l->form == GRT_LINE_OUT_PRETTY ? "" : "[");

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
	return pretty_body(l->early, p, e, &l->joined, grt_event_table[e->type].name ?: plan->title,
			   plan->cpu);
}

/*
 * The first field of a merged line has no comma: it overwrites the end of the title, which is then restored.
 */
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

/* Takes an event that is joined with later ones. Return: 0 or -ENOMEM */
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

	if (e->type == GRT_EV_NAME || e->type >= GRT_EV_MAX ||
	    (grt_class_of[e->type] == GRT_CLASS_stack && e->type != GRT_EV_STACK_END))
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
