// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Events as JSON, see event_json.h. The contents of an object follow from the rows of events.def, from the
 * meaning of their fields (meaning.c), and from the table of names below. They become a plan per event when
 * writing begins; the JSON Schema of the objects is made from the same plan.
 */
#include "event_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <grtrace/event_table.h>

#include "base/outbuf.h"
#include "codes/codes.h"
#include "codes/nv_codes.h"
#include "meaning.h"
#include "shape.h"
#include "stack/images.h"
#include "trace/field.h"
#include "trace/names.h"
#include "trace/packet.h"

#define FIELDS_MAX 24
/* Time stamps with the same value divided by this share their first digits; the last eight digits differ. */
#define STAMP_NS 100000000ULL
/* Most bytes of JSON for the text of a program. */
#define TEXT_MAX 60000U
_Static_assert(2 * TEXT_MAX + 8192 <= GRT_EVENT_JSON_MAX, "two of them, and all else");

/* ----------------------------------------------------------------- plans */

/**
 * struct planned - a field
 * @plain: each value is shown, as a number
 */
struct planned {
	struct grt_key_text key;
	struct grt_field_word at;
	const struct grt_meaning *meaning;
	const struct grt_unknown *unknown;
	uint8_t show;
	uint8_t absent;
	bool plain;
	uint64_t ones;
};

struct beside;

/**
 * struct plan - an event
 * @type: `,"type":"SUBMIT"`
 * @beside: its @besides rows of besides
 */
struct plan {
	struct grt_key_text type;
	const struct beside *beside;
	uint8_t besides;
	uint8_t fields;
	struct planned field[FIELDS_MAX];
};

/**
 * struct grt_event_json - see event_json.h
 * @joined: what was joined to the last event
 * @stamp: the beginning of an object whose time stamp divided by STAMP_NS is @stamped
 */
struct grt_event_json {
	struct grt_joins joins;
	struct grt_joined joined;
	struct grt_images images;
	struct grt_names counters;
	uint64_t stamped;
	struct grt_key_text stamp;
	struct plan common;
	struct grt_key_text flag[GRT_FLAG_BITS];
	struct grt_key_text engine[GRT_ENGINE_MAX];
	struct grt_key_text delta[GRT_DELTAS];
	struct plan plan[GRT_EV_MAX];
	struct grt_shapes shapes;
};

static const char *const flag_names[] = {
#define GRT_FLAG(NAME, name, help) #name,
#include <grtrace/flags.def>
#undef GRT_FLAG
};

static void event_json_plan_field(struct plan *p, unsigned int type, const struct grt_field *f)
{
	const struct grt_meaning *m = grt_meaning_of(type, f);
	struct planned *at = &p->field[p->fields];

	*at = (struct planned){.at = grt_field_word(f),
			       .meaning = m,
			       .unknown = grt_unknown_of(type, f->offset),
			       .show = grt_show_of(m, f)};
	if (at->show == GRT_SHOW_NEVER)
		return;
	p->fields++;
	grt_key_text(&at->key, ",\"%s\":", f->name);
	if (at->show == GRT_SHOW_TEXT)
		return;
	/* a time stamp of 0 is unknown */
	at->absent = m ? m->absent : f->kind == GRT_FIELD_TIME ? GRT_ABSENT_ZERO : 0;
	at->ones = f->kind == GRT_FIELD_SIGNED ? UINT64_MAX : UINT64_MAX >> (64 - 8 * f->size);
	at->plain = at->show == GRT_SHOW_NUMBER && !at->absent && !at->unknown && !m;
}

/* ---------------------------------------------------------------- values */

static char *event_json_put_text(char *p, const char *text, size_t size)
{
	*p++ = '"';
	p += grt_escape(GRT_ESCAPE_JSON, p, TEXT_MAX, text, size);
	*p++ = '"';
	return p;
}

static char *event_json_put_word(char *p, const struct planned *f, uint64_t n)
{
	char room[GRT_WORD_MAX];
	const char *word = f->meaning->word(room, n);

	if (!word) {
		snprintf(room, sizeof(room), f->at.kind == GRT_FIELD_SIGNED ? "%lld" : "%llu", (long long)n);
		word = room;
	}
	*p++ = '"';
	p = grt_format_word(p, word);
	*p++ = '"';
	return p;
}

static bool is_absent(const struct planned *f, const struct grt_event *e, uint64_t n)
{
	const struct grt_meaning *m = f->meaning;

	return (f->absent & GRT_ABSENT_ZERO && !n) || (f->absent & GRT_ABSENT_ONES && n == f->ones) ||
	       grt_is_unknown(f->unknown, e, n) || (m && m->is_set && !m->is_set(e));
}

static char *event_json_put_string(struct grt_event_json *x, char *p, const struct planned *f,
				   const struct grt_event *e, uint64_t n)
{
	const struct grt_image *image = grt_images_of(&x->images, e);
	const char *text = image ? grt_image_string(image, (uint32_t)n) : NULL;

	return text ? event_json_put_text(grt_key_put(p, &f->key), text, strlen(text)) : p;
}

static inline char *event_json_put_field(struct grt_event_json *x, char *p, const struct planned *f,
					 const struct grt_event *e)
{
	uint64_t n;

	if (f->show == GRT_SHOW_TEXT)
		return event_json_put_text(grt_key_put(p, &f->key), (const char *)e + f->at.offset,
					   f->at.size);
	n = grt_field_read(&f->at, e);
	if ((f->absent || f->unknown || f->meaning) && is_absent(f, e, n))
		return p;
	if (f->show == GRT_SHOW_STRING)
		return event_json_put_string(x, p, f, e, n);
	p = grt_key_put(p, &f->key);
	switch (f->show) {
	case GRT_SHOW_WORD:
		return event_json_put_word(p, f, n);
	case GRT_SHOW_TRUTH:
		return grt_format_word(p, n ? "true" : "false");
	case GRT_SHOW_SIGNED:
		return grt_format_s64(p, (int64_t)n);
	}
	return grt_format_u64(p, n);
}

static char *event_json_put_fields(struct grt_event_json *x, char *p, const struct plan *plan,
				   const struct grt_event *e)
{
	for (const struct planned *f = plan->field; f < plan->field + plan->fields; f++)
		if (f->plain)
			p = grt_format_u64(grt_key_put(p, &f->key), grt_field_read(&f->at, e));
		else
			p = event_json_put_field(x, p, f, e);
	return p;
}

/* -------------------------------------------------------- the common part */

static char *put_flags(const struct grt_event_json *x, char *p, uint32_t flags)
{
	char *first;

	p = grt_format_word(p, ",\"flags\":");
	first = p;
	for (unsigned int i = 0; i < GRT_FLAG_BITS; i++)
		if (flags >> i & 1)
			p = grt_key_put(p, &x->flag[i]);
	if (flags >> GRT_FLAG_BITS) {
		p = grt_format_hex(grt_format_word(p, ",\""), flags >> GRT_FLAG_BITS << GRT_FLAG_BITS);
		*p++ = '"';
	}
	*first = '[';
	*p++ = ']';
	return p;
}

static char *event_json_put_engine(const struct grt_event_json *x, char *p, uint32_t engine)
{
	if (engine < GRT_ENGINE_MAX && grt_engine_names[engine])
		return grt_key_put(p, &x->engine[engine]);
	p = grt_format_u64(grt_format_word(p, ",\"engine\":\""), engine);
	*p++ = '"';
	return p;
}

/* An unknown name has no key; "" would mean that it is empty. */
static inline char *event_json_put_name(char *p, const char *key, const struct grt_joins_text *t)
{
	p = grt_format_word(p, key);
	/* whole pieces of its room are copied, and nearly all texts end within the first one */
	p = t->len <= GRT_JOINS_TEXT / GRT_PAD * GRT_PAD ? grt_format_padded(p, t->text, t->len)
							 : grt_format_text(p, t->text, t->len);
	*p++ = '"';
	return p;
}

static char *event_json_put_thread(char *p, const struct grt_joins_thread *t)
{
	p = event_json_put_name(p, ",\"comm\":\"", &t->comm);
	if (!t->as_told.owner[0])
		return p;
	return event_json_put_name(p, ",\"process\":\"", t->process.len ? &t->process : &t->comm);
}

static char *event_json_put_names(char *p, const struct grt_shape *s)
{
	if (s->ring && s->ring->name.len)
		p = event_json_put_name(p, ",\"ring_name\":\"", &s->ring->name);
	if (s->device && s->device->name.len)
		p = event_json_put_name(p, ",\"device_name\":\"", &s->device->name);
	if (s->ring && s->ring->driver.len)
		p = event_json_put_name(p, ",\"driver\":\"", &s->ring->driver);
	else if (s->device && s->device->driver.len)
		p = event_json_put_name(p, ",\"driver\":\"", &s->device->driver);
	return s->thread && s->thread->named ? event_json_put_thread(p, s->thread) : p;
}

/* Writes an event of a type that this program does not know. */
static char *put_unknown(char *p, unsigned int type)
{
	struct grt_key_text key;

	grt_key_text(&key, ",\"type\":\"UNKNOWN(%u)\"", type);
	return grt_key_put(p, &key);
}

/* The type and the common part; the job's number comes at its place among the fields. */
static __attribute__((noinline)) struct grt_shape *
event_json_make_shape(struct grt_event_json *x, uint64_t hash, const struct plan *plan,
		      const struct grt_event *e, unsigned int input)
{
	struct grt_shape *s = grt_shape_new(&x->shapes, hash, e, input, &x->joins);
	const struct planned *f = x->common.field, *end = f + x->common.fields;
	char *p = plan ? grt_key_put(s->text, &plan->type) : put_unknown(s->text, e->type);

	if (e->flags)
		p = put_flags(x, p, e->flags);
	if (e->engine)
		p = event_json_put_engine(x, p, e->engine);
	for (; f < end && f->at.offset != offsetof(struct grt_event, seqno); f++)
		p = event_json_put_field(x, p, f, e);
	s->head = (uint16_t)(p - s->text);
	for (f++; f < end; f++)
		p = event_json_put_field(x, p, f, e);
	s->end = (uint16_t)(event_json_put_names(p, s) - s->text);
	return s;
}

static inline char *event_json_put_shape(struct grt_event_json *x, char *p, const struct plan *plan,
					 const struct grt_event *e, unsigned int input)
{
	uint64_t hash = grt_shape_hash(e, input);
	const struct grt_shape *s = grt_shape_find(&x->shapes, hash, e, input, x->joins.version);

	if (!s)
		s = event_json_make_shape(x, hash, plan, e, input);
	x->joined.ring = s->ring;
	x->joined.device = s->device;
	p = grt_format_padded(p, s->text, s->head);
	/* if there is a context, 0 is a valid number */
	if (e->ctx || e->seqno)
		p = grt_format_u64(grt_format_word(p, ",\"seqno\":"), e->seqno);
	return grt_format_padded(p, s->text + s->head, (size_t)(s->end - s->head));
}

/* ------------------------------------------------------------- beside them */

/* Return: whether the name is that of a driver; a name that fills its field may be cut, and is not. */
static bool is_driver(const struct grt_joins_name *n, const char *driver)
{
	return !strncmp(n->owner, driver, sizeof(n->owner));
}

static bool is_nvidia(const struct grt_joined *j)
{
	return j->device && is_driver(&j->device->as_told, "nvidia");
}

static const char *name_of_command(const struct grt_event_json *x, const struct grt_event *e, char *room)
{
	const struct grt_joins_ring *ring = x->joined.ring;
	uint32_t cmd = e->type == GRT_EV_JOB ? ((const struct grt_ev_job *)e)->cmd
					     : ((const struct grt_ev_command *)e)->cmd;

	return ring && is_driver(&ring->as_told, "virtio_gpu") ? grt_virtio_gpu_name(cmd) : NULL;
}

_Static_assert(offsetof(struct grt_ev_submit, cmd) == offsetof(struct grt_ev_command, cmd), "the same place");

static const char *name_of_ioctl(const struct grt_event_json *x, const struct grt_event *e, char *room)
{
	uint32_t cmd = ((const struct grt_ev_ioctl_enter *)e)->cmd;
	const struct grt_joins_device *d = x->joined.device;

	if (!is_nvidia(&x->joined))
		return grt_ioctl_name_of(d ? d->ioctls : NULL, cmd);
	memcpy(room, d->as_told.name, sizeof(d->as_told.name));
	room[sizeof(d->as_told.name)] = '\0';
	return grt_nv_ioctl_name(room, cmd);
}

_Static_assert(offsetof(struct grt_ev_ioctl_enter, cmd) == offsetof(struct grt_ev_ioctl_exit, cmd), "cmd");

static const char *name_of_about(const struct grt_event_json *x, const struct grt_event *e, char *room)
{
	const struct grt_ev_ioctl_exit *ev = (const struct grt_ev_ioctl_exit *)e;
	enum grt_nv_about kind = grt_nv_about(ev->cmd);
	const char *name = NULL;

	if (!is_nvidia(&x->joined) || !ev->about || ev->about == UINT32_MAX)
		return NULL;
	if (kind == GRT_NV_ABOUT_CLASS || kind == GRT_NV_ABOUT_EITHER)
		name = grt_nv_class_name(ev->about);
	if (!name && (kind == GRT_NV_ABOUT_CONTROL || kind == GRT_NV_ABOUT_EITHER))
		name = grt_nv_control_name(ev->about);
	return name;
}

/* The driver's own answer; from 0xfffff001 on, the kernel answered in its place. */
static const char *nv_status(char *room, uint32_t status)
{
	if (status < 0xfffff001)
		return grt_nv_status_name(status);
	snprintf(room, GRT_WORD_MAX, "-%s", strerrorname_np(-(int32_t)status) ?: "?");
	return room;
}

static const char *name_of_answer(const struct grt_event_json *x, const struct grt_event *e, char *room)
{
	const struct grt_ev_ioctl_exit *ev = (const struct grt_ev_ioctl_exit *)e;

	/* if the call failed before the driver answered, 0 is no answer */
	if (!is_nvidia(&x->joined) || ev->status == UINT32_MAX || (!ev->status && ev->ret < 0))
		return NULL;
	return nv_status(room, ev->status);
}

#define TSG_STATUS(fn, evt)                                                                          \
	static const char *fn(const struct grt_event_json *x, const struct grt_event *e, char *room) \
	{                                                                                            \
		return nv_status(room, ((const struct grt_ev_##evt *)e)->status);                    \
	}

TSG_STATUS(status_of_init, tsg_init)
TSG_STATUS(status_of_schedule, tsg_schedule)
TSG_STATUS(status_of_token, tsg_token)
TSG_STATUS(status_of_set, tsg_set)
TSG_STATUS(status_of_destroy, tsg_destroy)

#define XID(fn, member)                                                                               \
	static const char *fn(const struct grt_event_json *x, const struct grt_event *e, char *room)  \
	{                                                                                             \
		const struct grt_xid_info *info = grt_xid_info(((const struct grt_ev_xid *)e)->code); \
                                                                                                      \
		return info ? info->member : NULL;                                                    \
	}

XID(xid_name, name)
XID(xid_meaning, meaning)
XID(xid_todo, todo)

static uint32_t counter_of(const struct grt_event_json *x, const struct grt_event *e)
{
	return grt_names_find(&x->counters, GRT_NAME_COUNTER, ((const struct grt_ev_counter *)e)->counter);
}

static const char *counter_name(const struct grt_event_json *x, const struct grt_event *e, char *room)
{
	return grt_names_name(&x->counters, counter_of(x, e));
}

static const char *counter_unit(const struct grt_event_json *x, const struct grt_event *e, char *room)
{
	return grt_names_owner(&x->counters, counter_of(x, e));
}

/*
 * Keys in addition to an event's fields: the names of numbers. The function returns a text, untrusted, or
 * NULL.
 */
static const struct beside {
	uint16_t type;
	const char *key;
	const char *(*text)(const struct grt_event_json *x, const struct grt_event *e, char *room);
} besides[] = {
	{GRT_EV_SUBMIT, "cmd_name", name_of_command},
	{GRT_EV_COMMAND, "cmd_name", name_of_command},
	{GRT_EV_JOB, "cmd_name", name_of_command},
	{GRT_EV_IOCTL_ENTER, "cmd_name", name_of_ioctl},
	{GRT_EV_IOCTL_EXIT, "cmd_name", name_of_ioctl},
	{GRT_EV_IOCTL_EXIT, "about_name", name_of_about},
	{GRT_EV_IOCTL_EXIT, "status_name", name_of_answer},
	{GRT_EV_XID, "code_name", xid_name},
	{GRT_EV_XID, "meaning", xid_meaning},
	{GRT_EV_XID, "what_to_do", xid_todo},
	{GRT_EV_COUNTER, "counter_name", counter_name},
	{GRT_EV_COUNTER, "unit", counter_unit},
	{GRT_EV_TSG_INIT, "status_name", status_of_init},
	{GRT_EV_TSG_SCHEDULE, "status_name", status_of_schedule},
	{GRT_EV_TSG_TOKEN, "status_name", status_of_token},
	{GRT_EV_TSG_SET, "status_name", status_of_set},
	{GRT_EV_TSG_DESTROY, "status_name", status_of_destroy},
};
#define BESIDES (sizeof(besides) / sizeof(besides[0]))

static char *put_besides(const struct grt_event_json *x, char *p, const struct plan *plan,
			 const struct grt_event *e)
{
	char room[GRT_WORD_MAX];

	for (const struct beside *b = plan->beside, *end = b ? b + plan->besides : NULL; b < end; b++) {
		const char *text = b->text(x, e, room);

		if (!text)
			continue;
		p = grt_format_word(grt_format_word(p, ",\""), b->key);
		p = event_json_put_text(grt_format_word(p, "\":"), text, strlen(text));
	}
	return p;
}

/* ------------------------------------------------------------------ lines */

static void make_plan(struct plan *p, unsigned int type, const char *title, const struct grt_field *f)
{
	grt_key_text(&p->type, ",\"type\":\"%s\"", title);
	for (; f && f->name; f++)
		event_json_plan_field(p, type, f);
	for (const struct beside *b = besides; b < besides + BESIDES; b++) {
		if (b->type != type)
			continue;
		p->beside = p->besides++ ? p->beside : b;
	}
}

static void event_json_make_plans(struct grt_event_json *x)
{
	make_plan(&x->common, 0, "", grt_common_fields);
	for (unsigned int i = 0; i < GRT_EV_MAX; i++)
		if (grt_event_table[i].name)
			make_plan(&x->plan[i], i, grt_event_table[i].title, grt_event_table[i].fields());
	for (unsigned int i = 0; i < GRT_FLAG_BITS; i++)
		grt_key_text(&x->flag[i], ",\"%s\"", flag_names[i]);
	for (unsigned int i = 0; i < GRT_ENGINE_MAX; i++)
		grt_key_text(&x->engine[i], ",\"engine\":\"%s\"", grt_engine_names[i] ?: "?");
	for (unsigned int i = 0; i < GRT_DELTAS; i++)
		grt_key_text(&x->delta[i], ",\"%s\":", grt_delta_names[i]);
}

int grt_event_json_new(struct grt_event_json **out)
{
	struct grt_event_json *x = calloc(1, sizeof(*x));

	*out = x;
	if (!x)
		return -ENOMEM;
	grt_joins_init(&x->joins, GRT_ESCAPE_JSON);
	grt_images_init(&x->images);
	event_json_make_plans(x);
	return 0;
}

void grt_event_json_free(struct grt_event_json *x)
{
	if (!x)
		return;
	grt_joins_fini(&x->joins);
	grt_images_free(&x->images);
	grt_names_free(&x->counters);
	free(x);
}

struct grt_joins *grt_event_json_joins(struct grt_event_json *x)
{
	return &x->joins;
}

int grt_event_json_see(struct grt_event_json *x, const struct grt_event *e, unsigned int input)
{
	const struct grt_ev_name *name = (const struct grt_ev_name *)e;

	x->joined.has = 0;
	x->joined.has_fd = false;
	if (e->type == GRT_EV_NAME && name->kind == GRT_NAME_COUNTER)
		return grt_names_add(&x->counters, name);
	if (e->type == GRT_EV_NAME)
		return grt_joins_name(&x->joins, name, input);
	if (e->type == GRT_EV_PROCESS || e->type == GRT_EV_STRING)
		return grt_images_event(&x->images, e);
	return grt_joins_event(&x->joins, e, &x->joined);
}

static char *event_json_put_deltas(const struct grt_event_json *x, char *p)
{
	if (x->joined.has_fd)
		p = grt_format_s64(grt_format_word(p, ",\"fd\":"), x->joined.fd);
	for (uint32_t has = x->joined.has; has; has &= has - 1) {
		unsigned int which = (unsigned int)__builtin_ctz(has);

		p = grt_format_u64(grt_key_put(p, &x->delta[which]), x->joined.ns[which]);
	}
	return p;
}

/* The beginning of an object; most stamps differ from the one before in the last eight digits only. */
static char *event_json_put_time(struct grt_event_json *x, char *p, uint64_t ns)
{
	uint64_t high = ns / STAMP_NS;

	if (high != x->stamped || !x->stamp.len)
		grt_key_text(&x->stamp, "{\"time\":%.0llu", (unsigned long long)high);
	x->stamped = high;
	p = grt_key_put(p, &x->stamp);
	return high ? grt_format_eight(p, (uint32_t)(ns % STAMP_NS)) : grt_format_u64(p, ns);
}

char *grt_event_json_put(struct grt_event_json *x, char *p, const struct grt_event *e, uint32_t cpu,
			 unsigned int input)
{
	const struct plan *plan =
		e->type < GRT_EV_MAX && x->plan[e->type].type.len ? &x->plan[e->type] : NULL;

	p = event_json_put_time(x, p, e->time);
	if (cpu != UINT32_MAX)
		p = grt_format_u64(grt_format_word(p, ",\"cpu\":"), cpu);
	p = event_json_put_shape(x, p, plan, e, input);
	if (!plan)
		return p;
	p = event_json_put_fields(x, p, plan, e);
	return event_json_put_deltas(x, put_besides(x, p, plan, e));
}

void grt_event_json_print(struct grt_event_json *x, FILE *out, const struct grt_event *e, uint32_t cpu,
			  const char *more)
{
	static char line[GRT_EVENT_JSON_MAX];
	char *end = grt_event_json_put(x, line, e, cpu, 0);

	fwrite(line, 1, (size_t)(end - line), out);
	fputs(more, out);
	fputs("}\n", out);
}

/* ----------------------------------------------------------------- schema */

/* Keys that any event may have in addition to the fields of the common part and the times of joins.h. */
static const struct {
	const char *key;
	const char *type;
	const char *help;
} common_keys[] = {
	{"time", "integer", "ns; CLOCK_MONOTONIC, unless the recording names another clock"},
	{"cpu", "integer", "CPU that wrote the record"},
	{"type", "string", "type of the event, see grtrace-stream(5)"},
	{"flags", "array", "names of the flags that are set"},
	{"engine", "string", "engine of the GPU"},
	{"ring_name", "string", "name of the ring"},
	{"device_name", "string", "name of the device file"},
	{"driver", "string", "driver of the ring or device"},
	{"comm", "string", "name of the thread"},
	{"process", "string", "name of the process"},
	{"fd", "integer", "IOCTL_EXIT: descriptor of the file"},
	{"released", "integer", "monitor: number of waits that this fence ended"},
	{"partly_known", "boolean", "sched: the channel group existed before the trace began"},
};
#define COMMON_KEYS (sizeof(common_keys) / sizeof(common_keys[0]))

static void schema_key(FILE *out, const char **sep, const char *key, const char *type, const char *help)
{
	fprintf(out, "%s\"%s\": {\"type\": \"%s\"", *sep, key, type);
	*sep = ",\n";
	if (help) {
		fputs(", \"description\": \"", out);
		grt_escape_print(GRT_ESCAPE_JSON, out, help, strlen(help));
		putc('"', out);
	}
	putc('}', out);
}

static const char *schema_type(const struct planned *f)
{
	switch (f->show) {
	case GRT_SHOW_NUMBER:
	case GRT_SHOW_SIGNED:
		return "integer";
	case GRT_SHOW_TRUTH:
		return "boolean";
	}
	return "string";
}

/* The fields of a plan are the rows that are shown, in their order. */
static void schema_fields(FILE *out, const char **sep, const struct plan *plan, unsigned int type,
			  const struct grt_field *row)
{
	for (const struct planned *f = plan->field; row && row->name; row++)
		if (grt_show_of(grt_meaning_of(type, row), row) != GRT_SHOW_NEVER)
			schema_key(out, sep, row->name, schema_type(f++), row->help);
}

/* Return: whether the schema requires a field, because it is always written. */
static bool is_required(const struct planned *f)
{
	return !f->absent && !f->unknown && f->show != GRT_SHOW_STRING && !(f->meaning && f->meaning->is_set);
}

/* The name in a key of the form `,"name":`. */
static void schema_name(FILE *out, const char **sep, const struct grt_key_text *key)
{
	fprintf(out, "%s%.*s", *sep, (int)key->len - 2, key->text + 1);
	*sep = ", ";
}

static void schema_event(FILE *out, const struct grt_event_json *x, unsigned int type)
{
	const struct grt_event_desc *d = &grt_event_table[type];
	const struct plan *plan = &x->plan[type];
	const char *sep = "", *names = "";

	fprintf(out,
		",\n{\"if\": {\"properties\": {\"type\": {\"const\": \"%s\"}}},\n \"then\": {\"description\": \"",
		d->title);
	grt_escape_print(GRT_ESCAPE_JSON, out, d->help, strlen(d->help));
	fputs("\", \"properties\": {\n", out);
	schema_fields(out, &sep, plan, type, d->fields());
	for (const struct beside *b = plan->beside, *end = b ? b + plan->besides : NULL; b < end; b++)
		schema_key(out, &sep, b->key, "string", NULL);
	fputs("},\n\"required\": [", out);
	for (unsigned int i = 0; i < plan->fields; i++)
		if (is_required(&plan->field[i]))
			schema_name(out, &names, &plan->field[i].key);
	fputs("],\n\"propertyNames\": {\"anyOf\": [{\"$ref\": \"#/definitions/common\"}, {\"enum\": [\"type\"",
	      out);
	names = ", ";
	for (unsigned int i = 0; i < plan->fields; i++)
		schema_name(out, &names, &plan->field[i].key);
	for (const struct beside *b = plan->beside, *end = b ? b + plan->besides : NULL; b < end; b++)
		fprintf(out, ", \"%s\"", b->key);
	fputs("]}]}}}", out);
}

static void schema_common(FILE *out, const struct grt_event_json *x)
{
	const char *sep = "";

	fputs("\"properties\": {\n", out);
	for (size_t i = 0; i < COMMON_KEYS; i++)
		schema_key(out, &sep, common_keys[i].key, common_keys[i].type, common_keys[i].help);
	schema_fields(out, &sep, &x->common, 0, grt_common_fields);
	for (unsigned int i = 0; i < GRT_DELTAS; i++)
		schema_key(out, &sep, grt_delta_names[i], "integer", NULL);
	fputs("},\n\"definitions\": {\"common\": {\"enum\": [", out);
	sep = "";
	for (unsigned int i = 0; i < x->common.fields; i++)
		schema_name(out, &sep, &x->common.field[i].key);
	for (unsigned int i = 0; i < GRT_DELTAS; i++)
		schema_name(out, &sep, &x->delta[i]);
	for (size_t i = 0; i < COMMON_KEYS; i++)
		fprintf(out, ", \"%s\"", common_keys[i].key);
	fputs("]}},\n", out);
}

void grt_event_json_schema(FILE *out)
{
	struct grt_event_json *x;

	if (grt_event_json_new(&x))
		return;
	fputs("{\"$schema\": \"http://json-schema.org/draft-07/schema#\",\n"
	      "\"title\": \"an event, as grtrace writes it in JSON\",\n"
	      "\"type\": \"object\", \"required\": [\"time\", \"type\"],\n",
	      out);
	schema_common(out, x);
	fputs("\"allOf\": [{\"properties\": {\"type\": {\"anyOf\": [{\"pattern\": \"^UNKNOWN[(][0-9]+[)]$\"}, {\"enum\": [",
	      out);
	for (unsigned int i = 0, n = 0; i < GRT_EV_MAX; i++)
		if (grt_event_table[i].name)
			fprintf(out, "%s\"%s\"", n++ ? ", " : "", grt_event_table[i].title);
	fputs("]}]}}}", out);
	for (unsigned int i = 0; i < GRT_EV_MAX; i++)
		if (grt_event_table[i].name)
			schema_event(out, x, i);
	fputs("\n]}\n", out);
	grt_event_json_free(x);
}
