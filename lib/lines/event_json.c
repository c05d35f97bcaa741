// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Events as JSON, see event_json.h. What an object holds follows from the rows
 * of events.def, and from the tables below: what a field's number means, when
 * it says nothing, and what is called how. They are made into a plan per event
 * when writing begins.
 */
#include "event_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <grtrace/event_table.h>

#include "base/bus.h"
#include "base/outbuf.h"
#include "codes/codes.h"
#include "codes/cuda_codes.h"
#include "codes/nv_codes.h"
#include "codes/syscalls.h"
#include "stack/images.h"
#include "trace/field.h"
#include "trace/names.h"
#include "trace/packet.h"

#define FIELDS_MAX 24
#define ROOM 64
/* A program's text is cut behind so many bytes of JSON. */
#define TEXT_MAX 60000U
_Static_assert(2 * TEXT_MAX + 8192 <= GRT_EVENT_JSON_MAX, "two of them, and all else");

/* -------------------------------------------------------------- meanings */

/** enum show - how a field is written */
enum show {
	NUMBER,
	SIGNED,
	TEXT,	/* its bytes */
	TRUTH,	/* true, where it is not 0 */
	WORD,	/* what struct meaning.word calls it */
	STRING, /* the program's string of this number */
	NEVER,
};

/** enum absent - the values of a field that say nothing, beside those of trace/unknown.def */
enum absent {
	ZERO = 1 << 0,
	ONES = 1 << 1, /* all bits set */
};

/**
 * struct meaning - what a field means beyond its kind
 * @type: of the event, 0: of any
 * @word: its number as a word, in @room where it is made; NULL: it has none, and is written as a number in a
 * string
 * @is_set: false: of this event the field says nothing; may be NULL
 */
struct meaning {
	uint8_t type;
	const char *field;
	uint8_t show;
	uint8_t absent;
	const char *(*word)(char *room, uint64_t n);
	bool (*is_set)(const struct grt_event *e);
};

/* A function that knows the words of numbers from 0 on. */
#define WORDS(fn, ...)                                                         \
	static const char *fn(char *room, uint64_t n)                          \
	{                                                                      \
		static const char *const words[] = {__VA_ARGS__};              \
                                                                               \
		(void)room;                                                    \
		return n < sizeof(words) / sizeof(words[0]) ? words[n] : NULL; \
	}

WORDS(word_name_kind, NULL, "thread", "ring", "device", "counter", "ring_gpu")
WORDS(word_process, NULL, "began", "counts", "ended", "not_traced", "note")
WORDS(word_thread, NULL, "made", "named", "seen_on", "seen_off", "ended", "left_on")
WORDS(word_call_step, NULL, "entered", "returned")
WORDS(word_func_step, NULL, "called", "entered", "returned", "event")
WORDS(word_kernel_kind, "regular", "cooperative", "cooperative_devices", "command_list")
WORDS(word_sync_kind, NULL, "event", "stream_event", "stream", "context")
WORDS(word_stack, "none", "node", "bpf")
WORDS(word_cause, NULL, "freed", "owner", "close", "exit")
/* The same for words that stand in a file of rows. */
#define ROWS(fn, words)                                                        \
	static const char *fn(char *room, uint64_t n)                          \
	{                                                                      \
		(void)room;                                                    \
		return n < sizeof(words) / sizeof(words[0]) ? words[n] : NULL; \
	}

#define GRT_LOG_NOTE(number, NAME, name, help) [number] = #name,
static const char *const note_names[] = {
#include <grtrace/log_notes.def>
};
#undef GRT_LOG_NOTE
#define GRT_THREAD_STATE(number, NAME, name, help) [number] = #name,
static const char *const reason_names[] = {
#include <grtrace/thread_states.def>
};
#undef GRT_THREAD_STATE
ROWS(word_note, note_names)
ROWS(word_reason, reason_names)

static const char *word_overhead(char *room, uint64_t n)
{
	static const char *const words[] = {NULL,      "flush",	  "instrumentation",	 "resource",
					    "loading", "loading", "full_command_buffer", "buffer_request"};

	(void)room;
	if (n == 1)
		return "compiler";
	return n % 0x10000 || n / 0x10000 >= sizeof(words) / sizeof(words[0]) ? NULL : words[n / 0x10000];
}

static const char *word_copy(char *room, uint64_t n)
{
	const char *name = n == GRT_CUDA_SET ? "set" : grt_cuda_copy_name((uint32_t)n);

	(void)room;
	return strcmp(name, "?") ? name : NULL;
}

static const char *word_cuda_call(char *room, uint64_t n)
{
	const struct grt_cuda_call *call = grt_cuda_call((uint32_t)n);

	(void)room;
	return call ? call->name : NULL;
}

static const char *word_syscall(char *room, uint64_t n)
{
	(void)room;
	return grt_syscall_name(n);
}

/* The letter of ps: that of the lowest bit, as the kernel chooses it. */
static const char *word_state(char *room, uint64_t n)
{
	static const char letters[] = "SDTtXZPI";
	unsigned int bit = (unsigned int)__builtin_ctzll(n | 1ULL << 63);

	if (n && bit >= sizeof(letters) - 1)
		return NULL;
	room[0] = n ? letters[bit] : 'R';
	room[1] = '\0';
	return room;
}

static const char *word_bus(char *room, uint64_t n)
{
	return grt_bus_text(room, (uint32_t)n);
}

static const char *word_interleave(char *room, uint64_t n)
{
	(void)room;
	return grt_nv_interleave_name((uint32_t)n);
}

static const char *word_nv_engine(char *room, uint64_t n)
{
	return grt_nv_engine_name(room, (uint32_t)n);
}

/* 0 is a number as any, where there is a context. */
static bool has_seqno(const struct grt_event *e)
{
	return e->ctx || e->seqno;
}

static bool has_value(const struct grt_event *e)
{
	return !(e->flags & GRT_FLAG_ENDED);
}

static bool is_set_memory(const struct grt_event *e)
{
	return ((const struct grt_ev_gpu_copy *)e)->kind == GRT_CUDA_SET;
}

static bool is_between_gpus(const struct grt_event *e)
{
	return ((const struct grt_ev_gpu_copy *)e)->kind == 10;
}

/* What the driver hands out where it refuses is no token. */
static bool has_token(const struct grt_event *e)
{
	const struct grt_ev_tsg_token *t = (const struct grt_ev_tsg_token *)e;

	return !t->status || t->chid != UINT32_MAX;
}

/* The first row that fits is the field's; what has none is a number, and always there. */
static const struct meaning meanings[] = {
	{.field = "reserved", .show = NEVER},
	{.field = "bus", .show = WORD, .word = word_bus},
	{.type = GRT_EV_ERROR, .field = "status", .show = SIGNED, .absent = ZERO},
	{.type = GRT_EV_NAME, .field = "kind", .show = WORD, .word = word_name_kind},
	{.type = GRT_EV_IOCTL_ENTER, .field = "fd", .show = SIGNED, .absent = ONES},
	{.type = GRT_EV_IOCTL_EXIT, .field = "about", .show = NUMBER, .absent = ZERO},
	/* that it agreed is in its name, of drivers that answer */
	{.type = GRT_EV_IOCTL_EXIT, .field = "status", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_CLOSE, .field = "at_exit", .show = TRUTH},
	{.type = GRT_EV_VBLANK, .field = "high_prec", .show = TRUTH},
	{.type = GRT_EV_VBLANK_QUEUED, .field = "file", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_VBLANK_DELIVERED, .field = "file", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_MEM_FAULT, .field = "gtt", .show = TRUTH},
	{.type = GRT_EV_MEM_FAULT, .field = "writing", .show = TRUTH},
	{.type = GRT_EV_COUNTER, .field = "value", .show = SIGNED, .is_set = has_value},
	{.type = GRT_EV_STACK, .field = "user", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_STACK, .field = "kernel", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_SAMPLE, .field = "user", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_SAMPLE, .field = "kernel", .show = NUMBER, .absent = ZERO},
	{.field = "nv_engine", .show = WORD, .word = word_nv_engine},
	{.field = "interleave", .show = WORD, .word = word_interleave},
	{.field = "channel", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_TSG_SCHEDULE, .field = "on", .show = TRUTH},
	{.type = GRT_EV_TSG_CHANNEL, .field = "bound", .show = TRUTH},
	{.type = GRT_EV_TSG_TOKEN, .field = "token", .show = NUMBER, .is_set = has_token},
	{.type = GRT_EV_TSG_DESTROY, .field = "cause", .show = WORD, .word = word_cause},
	{.type = GRT_EV_PROCESS, .field = "what", .show = WORD, .word = word_process},
	{.type = GRT_EV_PROCESS, .field = "text", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_NODE, .field = "caller", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_NODE, .field = "ip", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_NODE, .field = "module", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_NODE, .field = "function", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_NODE, .field = "file", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_MAPPING, .field = "path", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_LAUNCH, .field = "node", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_LAUNCH, .field = "call", .show = WORD, .absent = ZERO, .word = word_cuda_call},
	{.type = GRT_EV_LAUNCH, .field = "stack", .show = WORD, .word = word_stack},
	{.field = "correlation", .show = NUMBER, .absent = ZERO},
	{.field = "graph_node", .show = NUMBER, .absent = ZERO},
	{.field = "graph", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_GPU_KERNEL, .field = "name", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_GPU_KERNEL, .field = "kind", .show = WORD, .word = word_kernel_kind},
	{.type = GRT_EV_GPU_KERNEL, .field = "by_gpu", .show = TRUTH},
	{.type = GRT_EV_GPU_COPY, .field = "kind", .show = WORD, .word = word_copy},
	{.type = GRT_EV_GPU_COPY, .field = "value", .show = NUMBER, .is_set = is_set_memory},
	{.type = GRT_EV_GPU_COPY, .field = "from_gpu", .show = NUMBER, .is_set = is_between_gpus},
	{.type = GRT_EV_GPU_COPY, .field = "to_gpu", .show = NUMBER, .is_set = is_between_gpus},
	{.type = GRT_EV_GPU_SYNC, .field = "kind", .show = WORD, .word = word_sync_kind},
	{.type = GRT_EV_GPU_OVERHEAD, .field = "kind", .show = WORD, .word = word_overhead},
	{.field = "thread", .show = NUMBER, .absent = ZERO},
	{.field = "queue", .show = NUMBER, .absent = ZERO},
	{.field = "soft_queue", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_LOG_CALL, .field = "step", .show = WORD, .word = word_call_step},
	{.type = GRT_EV_LOG_CALL, .field = "torn", .show = TRUTH},
	{.type = GRT_EV_LOG_CALL, .field = "took", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_LOG_NOTE, .field = "what", .show = WORD, .word = word_note},
	{.type = GRT_EV_LOG_NOTE, .field = "object", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_LOG_DISPATCH, .field = "signal", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_LOG_DISPATCH, .field = "kernel", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_FUNC, .field = "step", .show = WORD, .word = word_func_step},
	{.type = GRT_EV_FUNC, .field = "known", .show = NEVER},
	{.type = GRT_EV_THREAD, .field = "what", .show = WORD, .word = word_thread},
	{.type = GRT_EV_THREAD, .field = "parent", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_OFF_CPU, .field = "user", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_OFF_CPU, .field = "kernel", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_OFF_CPU, .field = "state", .show = WORD, .word = word_state},
	{.type = GRT_EV_OFF_CPU, .field = "reason", .show = WORD, .word = word_reason},
	{.type = GRT_EV_OFF_CPU, .field = "over", .show = TRUTH},
	{.type = GRT_EV_OFF_CPU, .field = "call", .show = WORD, .absent = ONES, .word = word_syscall},
	/* of the common part */
	{.field = "flags", .show = NEVER},
	{.field = "engine", .show = NEVER},
	{.field = "sample", .show = NUMBER, .absent = ZERO},
	{.field = "pid", .show = NUMBER, .absent = ZERO},
	{.field = "tid", .show = NUMBER, .absent = ZERO},
	{.field = "ctx", .show = NUMBER, .absent = ZERO},
	{.field = "seqno", .show = NUMBER, .is_set = has_seqno},
	{.field = "ring", .show = NUMBER, .absent = ONES},
	{.field = "device", .show = NUMBER, .absent = ZERO},
};
#define MEANINGS (sizeof(meanings) / sizeof(meanings[0]))

/* ----------------------------------------------------------------- plans */

/** struct key - a key with what stands around it; copied whole, used up to @len */
struct key {
	char text[31];
	uint8_t len;
};

/** struct planned - a field, in the word at @offset between @up and @down; strings are @size bytes there */
struct planned {
	struct key key;
	const struct meaning *meaning;
	const struct grt_unknown *unknown;
	uint8_t show;
	uint8_t absent;
	uint8_t kind;
	uint8_t up;
	uint8_t down;
	uint16_t size;
	uint16_t offset;
	uint64_t ones;
};

struct beside;

/** struct plan - an event; @type: `,"type":"SUBMIT"`; @beside: the rows of besides that are its, of which
 * there are @besides */
struct plan {
	struct key type;
	const struct beside *beside;
	uint8_t besides;
	uint8_t fields;
	struct planned field[FIELDS_MAX];
};

/** struct grt_event_json - see event_json.h; @joined: what was found about the event that was seen last */
struct grt_event_json {
	struct grt_joins joins;
	struct grt_joined joined;
	struct grt_images images;
	struct grt_names counters;
	struct plan common;
	struct key flag[GRT_FLAG_BITS];
	struct key engine[GRT_ENGINE_MAX];
	struct key delta[GRT_DELTAS];
	struct plan plan[GRT_EV_MAX];
};

static const char *const flag_names[] = {
#define GRT_FLAG(NAME, name, help) #name,
#include <grtrace/flags.def>
#undef GRT_FLAG
};

static void __attribute__((format(printf, 2, 3))) make_key(struct key *k, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(k->text, sizeof(k->text), fmt, ap);
	va_end(ap);
	k->len = (uint8_t)n;
}

static const struct meaning *meaning_of(unsigned int type, const struct grt_field *f)
{
	for (size_t i = 0; i < MEANINGS; i++)
		if ((!meanings[i].type || meanings[i].type == type) && !strcmp(meanings[i].field, f->name))
			return &meanings[i];
	return NULL;
}

static uint8_t show_of(const struct meaning *m, const struct grt_field *f)
{
	/* a text may have the name of a number in another event */
	if (f->kind == GRT_FIELD_STR)
		return TEXT;
	if (m)
		return m->show;
	return f->kind == GRT_FIELD_SIGNED ? SIGNED : NUMBER;
}

/* Fields are aligned to their sizes: each lies in one word, and records consist of words. */
static void plan_field(struct plan *p, unsigned int type, const struct grt_field *f)
{
	const struct meaning *m = meaning_of(type, f);
	struct planned *at = &p->field[p->fields];

	*at = (struct planned){
		.meaning = m, .unknown = grt_unknown_of(type, f->offset), .show = show_of(m, f), .kind = f->kind, .size = f->size, .offset = f->offset};
	if (at->show == NEVER)
		return;
	p->fields++;
	make_key(&at->key, ",\"%s\":", f->name);
	if (at->show == TEXT)
		return;
	/* a stamp of 0 is none */
	at->absent = m ? m->absent : f->kind == GRT_FIELD_TIME ? ZERO : 0;
	at->ones = f->kind == GRT_FIELD_SIGNED ? UINT64_MAX : UINT64_MAX >> (64 - 8 * f->size);
	at->offset = f->offset / 8 * 8;
	at->down = (uint8_t)(64 - 8 * f->size);
	at->up = (uint8_t)(at->down - 8 * (f->offset % 8));
}

/* ---------------------------------------------------------------- values */

static inline char *put_key(char *p, const struct key *key)
{
	/* a copy of fixed size is one instruction; what is too much is written over */
	memcpy(p, key->text, sizeof(key->text));
	return p + key->len;
}

static char *put_text(char *p, const char *text, size_t size)
{
	*p++ = '"';
	p += grt_escape(GRT_ESCAPE_JSON, p, TEXT_MAX, text, size);
	*p++ = '"';
	return p;
}

static char *put_word(char *p, const struct planned *f, uint64_t n)
{
	char room[ROOM];
	const char *word = f->meaning->word(room, n);

	if (!word) {
		snprintf(room, sizeof(room), f->kind == GRT_FIELD_SIGNED ? "%lld" : "%llu", (long long)n);
		word = room;
	}
	*p++ = '"';
	p = grt_format_word(p, word);
	*p++ = '"';
	return p;
}

static bool is_absent(const struct planned *f, const struct grt_event *e, uint64_t n)
{
	const struct meaning *m = f->meaning;

	return (f->absent & ZERO && !n) || (f->absent & ONES && n == f->ones) ||
	       grt_is_unknown(f->unknown, e, n) || (m && m->is_set && !m->is_set(e));
}

static char *put_string(struct grt_event_json *x, char *p, const struct planned *f, const struct grt_event *e,
			uint64_t n)
{
	const struct grt_image *image = grt_images_of(&x->images, e);
	const char *text = image ? grt_image_string(image, (uint32_t)n) : NULL;

	return text ? put_text(put_key(p, &f->key), text, strlen(text)) : p;
}

static inline char *put_field(struct grt_event_json *x, char *p, const struct planned *f,
			      const struct grt_event *e)
{
	uint64_t n;

	if (f->show == TEXT)
		return put_text(put_key(p, &f->key), (const char *)e + f->offset, f->size);
	memcpy(&n, (const char *)e + f->offset, sizeof(n));
	n <<= f->up;
	n = f->kind == GRT_FIELD_SIGNED ? (uint64_t)((int64_t)n >> f->down) : n >> f->down;
	if ((f->absent || f->unknown || f->meaning) && is_absent(f, e, n))
		return p;
	if (f->show == STRING)
		return put_string(x, p, f, e, n);
	p = put_key(p, &f->key);
	switch (f->show) {
	case WORD:
		return put_word(p, f, n);
	case TRUTH:
		return grt_format_word(p, n ? "true" : "false");
	case SIGNED:
		return grt_format_s64(p, (int64_t)n);
	}
	return grt_format_u64(p, n);
}

static char *put_fields(struct grt_event_json *x, char *p, const struct plan *plan, const struct grt_event *e)
{
	for (const struct planned *f = plan->field; f < plan->field + plan->fields; f++)
		p = put_field(x, p, f, e);
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
			p = put_key(p, &x->flag[i]);
	if (flags >> GRT_FLAG_BITS) {
		p = grt_format_hex(grt_format_word(p, ",\""), flags >> GRT_FLAG_BITS << GRT_FLAG_BITS);
		*p++ = '"';
	}
	*first = '[';
	*p++ = ']';
	return p;
}

static char *put_engine(const struct grt_event_json *x, char *p, uint32_t engine)
{
	if (engine < GRT_ENGINE_MAX && grt_engine_names[engine])
		return put_key(p, &x->engine[engine]);
	p = grt_format_u64(grt_format_word(p, ",\"engine\":\""), engine);
	*p++ = '"';
	return p;
}

/* A name that is not known has no key: "" would say that there is none. */
static char *put_name(char *p, const char *key, const struct grt_joins_text *t)
{
	p = grt_format_word(p, key);
	p = grt_format_text(p, t->text, t->len);
	*p++ = '"';
	return p;
}

static char *put_thread(char *p, const struct grt_joins_thread *t)
{
	p = put_name(p, ",\"comm\":\"", &t->comm);
	if (!t->as_told.owner[0])
		return p;
	return put_name(p, ",\"process\":\"", t->process.len ? &t->process : &t->comm);
}

static char *put_names(char *p, const struct grt_joined *j)
{
	if (j->ring && j->ring->name.len)
		p = put_name(p, ",\"ring_name\":\"", &j->ring->name);
	if (j->device && j->device->name.len)
		p = put_name(p, ",\"device_name\":\"", &j->device->name);
	if (j->ring && j->ring->driver.len)
		p = put_name(p, ",\"driver\":\"", &j->ring->driver);
	else if (j->device && j->device->driver.len)
		p = put_name(p, ",\"driver\":\"", &j->device->driver);
	return j->thread && j->thread->named ? put_thread(p, j->thread) : p;
}

static char *put_common(struct grt_event_json *x, char *p, const struct grt_event *e)
{
	if (e->flags)
		p = put_flags(x, p, e->flags);
	if (e->engine)
		p = put_engine(x, p, e->engine);
	p = put_fields(x, p, &x->common, e);
	return put_names(p, &x->joined);
}

/* ------------------------------------------------------------- beside them */

/* A driver's name is shorter than its field, where it is one that is known here. */
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

	(void)room;
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

	(void)room;
	if (!is_nvidia(&x->joined) || !ev->about || ev->about == UINT32_MAX)
		return NULL;
	if (kind == GRT_NV_ABOUT_CLASS || kind == GRT_NV_ABOUT_EITHER)
		name = grt_nv_class_name(ev->about);
	if (!name && (kind == GRT_NV_ABOUT_CONTROL || kind == GRT_NV_ABOUT_EITHER))
		name = grt_nv_control_name(ev->about);
	return name;
}

/* The driver's own answer; from 0xfffff001 on what the kernel answered in its place. */
static const char *nv_status(char *room, uint32_t status)
{
	if (status < 0xfffff001)
		return grt_nv_status_name(status);
	snprintf(room, ROOM, "-%s", strerrorname_np(-(int32_t)status) ?: "?");
	return room;
}

static const char *name_of_answer(const struct grt_event_json *x, const struct grt_event *e, char *room)
{
	const struct grt_ev_ioctl_exit *ev = (const struct grt_ev_ioctl_exit *)e;

	/* where the call failed before the driver answered, 0 is no answer */
	if (!is_nvidia(&x->joined) || ev->status == UINT32_MAX || (!ev->status && ev->ret < 0))
		return NULL;
	return nv_status(room, ev->status);
}

#define TSG_STATUS(fn, evt)                                                                          \
	static const char *fn(const struct grt_event_json *x, const struct grt_event *e, char *room) \
	{                                                                                            \
		(void)x;                                                                             \
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
		(void)x;                                                                              \
		(void)room;                                                                           \
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
	(void)room;
	return grt_names_name(&x->counters, counter_of(x, e));
}

static const char *counter_unit(const struct grt_event_json *x, const struct grt_event *e, char *room)
{
	(void)room;
	return grt_names_owner(&x->counters, counter_of(x, e));
}

/* Keys beside an event's fields: what numbers are called; the function gives a text, untrusted, or NULL. */
static const struct beside {
	uint8_t type;
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
	char room[ROOM];

	for (const struct beside *b = plan->beside; b < plan->beside + plan->besides; b++) {
		const char *text = b->text(x, e, room);

		if (!text)
			continue;
		p = grt_format_word(grt_format_word(p, ",\""), b->key);
		p = put_text(grt_format_word(p, "\":"), text, strlen(text));
	}
	return p;
}

/* ------------------------------------------------------------------ lines */

static void make_plan(struct plan *p, unsigned int type, const char *title, const struct grt_field *f)
{
	if (title)
		make_key(&p->type, ",\"type\":\"%s\"", title);
	else
		make_key(&p->type, ",\"type\":\"UNKNOWN(%u)\"", type);
	for (; f && f->name; f++)
		plan_field(p, type, f);
	for (const struct beside *b = besides; b < besides + BESIDES; b++) {
		if (b->type != type)
			continue;
		p->beside = p->besides++ ? p->beside : b;
	}
}

static void make_plans(struct grt_event_json *x)
{
	make_plan(&x->common, 0, "", grt_common_fields);
	for (unsigned int i = 0; i < GRT_EV_MAX; i++)
		make_plan(&x->plan[i], i, grt_event_table[i].title,
			  grt_event_table[i].name ? grt_event_table[i].fields() : NULL);
	for (unsigned int i = 0; i < GRT_FLAG_BITS; i++)
		make_key(&x->flag[i], ",\"%s\"", flag_names[i]);
	for (unsigned int i = 0; i < GRT_ENGINE_MAX; i++)
		make_key(&x->engine[i], ",\"engine\":\"%s\"", grt_engine_names[i] ?: "?");
	for (unsigned int i = 0; i < GRT_DELTAS; i++)
		make_key(&x->delta[i], ",\"%s\":", grt_delta_names[i]);
}

int grt_event_json_new(struct grt_event_json **out)
{
	struct grt_event_json *x = calloc(1, sizeof(*x));

	*out = x;
	if (!x)
		return -ENOMEM;
	grt_joins_init(&x->joins, GRT_ESCAPE_JSON);
	grt_images_init(&x->images);
	make_plans(x);
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

static char *put_deltas(const struct grt_event_json *x, char *p)
{
	if (x->joined.has_fd)
		p = grt_format_s64(grt_format_word(p, ",\"fd\":"), x->joined.fd);
	for (uint32_t has = x->joined.has; has; has &= has - 1) {
		unsigned int which = (unsigned int)__builtin_ctz(has);

		p = grt_format_u64(put_key(p, &x->delta[which]), x->joined.ns[which]);
	}
	return p;
}

/* Of a type that this program does not know. */
static __attribute__((noinline)) char *put_unknown(char *p, unsigned int type)
{
	struct plan plan = {.fields = 0};

	make_plan(&plan, type, NULL, NULL);
	return put_key(p, &plan.type);
}

char *grt_event_json_put(struct grt_event_json *x, char *p, const struct grt_event *e, uint32_t cpu,
			 unsigned int input)
{
	const struct plan *plan = e->type < GRT_EV_MAX ? &x->plan[e->type] : NULL;

	grt_joins_look(&x->joins, e, input, &x->joined);
	p = grt_format_u64(grt_format_word(p, "{\"time\":"), e->time);
	if (cpu != UINT32_MAX)
		p = grt_format_u64(grt_format_word(p, ",\"cpu\":"), cpu);
	p = plan ? put_key(p, &plan->type) : put_unknown(p, e->type);
	p = put_common(x, p, e);
	if (!plan)
		return p;
	p = put_fields(x, p, plan, e);
	return put_deltas(x, put_besides(x, p, plan, e));
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
