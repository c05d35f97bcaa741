// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The reader of text: chooses a form for an input, passes it the lines, and makes one stream of the events,
 * in the order of time.
 *
 * A file is read twice. The first reading reads only the time stamps of the lines. It finds the time span of
 * the file, and how far its lines are out of order: the window for which records must be held back is just
 * that, and 0 for a sorted file. A pipe has a window of a second and bounded memory. text_order.c sorts.
 *
 * If a form needs its lines in the order of time, and the input is a pipe or a file that is not sorted, lines
 * are held back and sorted before they are parsed; otherwise, records are.
 */
#include "text_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <grtrace/grtrace.h>

#include "base/lines_in.h"
#include "base/scan.h"
#include "codes/engine.h"
#include "text_order.h"
#include "trace/unpack.h"
#include "trace/session.h"

/* ------------------------------------------------------------ text names */

/*
 * The names of threads, devices and rings in a text, and counts of its skipped events. All tables have a
 * fixed size: names that do not fit are reported again, and events that do not fit are counted together.
 */

/* Number of remembered names; a forgotten name is reported again. */
#define GRT_TEXT_NAMES 4096U
/* Maximum number of rings; further rings are GRT_RING_NONE. */
#define GRT_TEXT_RINGS 1024U
/* Maximum number of kinds of skipped events; further kinds are counted together. */
#define GRT_TEXT_SKIPPED 256U

/**
 * struct grt_text_name - a name
 * @time: earliest time at which the name was reported, ns
 */
struct grt_text_name {
	uint64_t time;
	uint32_t kind;
	uint32_t id;
	char name[sizeof(((struct grt_ev_name *)0)->name)];
	char owner[sizeof(((struct grt_ev_name *)0)->owner)];
};

/** struct grt_text_ring - a ring; @name: cut to the size in NAME records; @gpu: empty: unknown */
struct grt_text_ring {
	uint64_t time;
	char name[sizeof(((struct grt_ev_name *)0)->name)];
	char owner[sizeof(((struct grt_ev_name *)0)->owner)];
	char gpu[sizeof(((struct grt_ev_name *)0)->name)];
	uint8_t engine;
};

/** struct grt_text_names - all zero is empty */
struct grt_text_names {
	struct grt_text_name name[GRT_TEXT_NAMES];
	struct grt_text_ring ring[GRT_TEXT_RINGS];
	uint32_t rings;
	uint16_t ring_slot[2 * GRT_TEXT_RINGS]; /* ring id plus 1, by a hash of the name */
	struct grt_skipped skipped[GRT_TEXT_SKIPPED];
	char skipped_name[GRT_TEXT_SKIPPED][48];
	uint32_t skips;
	uint16_t skipped_slot[2 * GRT_TEXT_SKIPPED];
};

/*
 * Names of a text.
 */

/* Places that are looked at for a name. */
#define WAYS 4U

/* Return: whether a field of a NAME record has exactly this text, cut to its size. */
static inline bool text_names_holds(const char *field, size_t size, const char *text, size_t len)
{
	if (len >= size)
		return !memcmp(field, text, size);
	return !memcmp(field, text, len) && !field[len];
}

static void text_names_set(char *field, size_t size, const char *text, size_t len)
{
	memset(field, 0, size);
	if (len)
		memcpy(field, text, len < size ? len : size);
}

/* A NUL would end the field for some readers and not for others. */
static size_t text_len(const char *text, size_t len)
{
	const char *nul = len ? memchr(text, '\0', len) : NULL;

	return nul ? (size_t)(nul - text) : len;
}

static void make_record(struct grt_ev_name *e, uint32_t kind, uint32_t id, uint64_t time, const char *name,
			const char *owner)
{
	*e = (struct grt_ev_name){
		.e = {.time = time, .type = GRT_EV_NAME, .ring = GRT_RING_NONE},
		.kind = kind,
		.id = id,
	};
	memcpy(e->name, name, sizeof(e->name));
	memcpy(e->owner, owner, sizeof(e->owner));
}

/* The name's place: where it is, or the one that is to be taken. */
static struct grt_text_name *text_names_place_of(struct grt_text_names *n, uint32_t kind, uint32_t id)
{
	uint32_t hash = (id * 0x9e3779b1U ^ kind * 0x85ebca6bU) >> 8,
		 home = hash % GRT_TEXT_NAMES & ~(WAYS - 1);

	for (uint32_t i = 0; i < WAYS; i++) {
		struct grt_text_name *at = &n->name[home + i];

		if ((at->id == id && at->kind == kind) || !at->kind)
			return at;
	}
	return &n->name[home + (hash >> 16) % WAYS];
}

static inline bool name_is_current(const struct grt_text_name *at, uint32_t kind, uint32_t id, uint64_t time,
				   const char *name, size_t name_len, const char *owner, size_t owner_len)
{
	return at->id == id && at->kind == kind && time >= at->time &&
	       text_names_holds(at->name, sizeof(at->name), name, name_len) &&
	       (owner_len ? text_names_holds(at->owner, sizeof(at->owner), owner, owner_len) : !at->owner[0]);
}

/*
 * Whether a NAME record is needed before an event at @time
 * @e: gets the record without its size
 */
static bool text_names_update(struct grt_text_names *n, uint32_t kind, uint32_t id, uint64_t time,
			      const char *name, size_t name_len, const char *owner, size_t owner_len,
			      struct grt_ev_name *e)
{
	struct grt_text_name *at = text_names_place_of(n, kind, id);

	/* a text with a NUL is cut there first, so it differs from the held one */
	if (name_is_current(at, kind, id, time, name, name_len, owner, owner_len))
		return false;
	name_len = text_len(name, name_len);
	owner_len = owner ? text_len(owner, owner_len) : 0;
	if (name_is_current(at, kind, id, time, name, name_len, owner, owner_len))
		return false;
	at->time = time;
	at->kind = kind;
	at->id = id;
	text_names_set(at->name, sizeof(at->name), name, name_len);
	text_names_set(at->owner, sizeof(at->owner), owner, owner_len);
	make_record(e, kind, id, time, at->name, at->owner);
	return true;
}

/* Return: whether the ring has this name, and is not of another driver or GPU. */
static bool text_names_same_ring(const struct grt_text_ring *r, const char *name, size_t len,
				 const char *driver, size_t driver_len, const char *gpu, size_t gpu_len)
{
	return text_names_holds(r->name, sizeof(r->name), name, len) &&
	       (!driver_len || !r->owner[0] ||
		text_names_holds(r->owner, sizeof(r->owner), driver, driver_len)) &&
	       (!gpu_len || !r->gpu[0] || text_names_holds(r->gpu, sizeof(r->gpu), gpu, gpu_len));
}

static struct grt_text_ring *text_names_add_ring(struct grt_text_names *n, uint16_t *slot, const char *name,
						 size_t len)
{
	struct grt_text_ring *r = &n->ring[n->rings];

	if (n->rings == GRT_TEXT_RINGS)
		return NULL;
	*slot = (uint16_t)++n->rings;
	text_names_set(r->name, sizeof(r->name), name, len);
	r->engine = (uint8_t)grt_engine_of_ring(name, len);
	r->time = UINT64_MAX;
	return r;
}

/*
 * The ring of a name
 * @gpu: bus address of its GPU, @gpu_len bytes; NULL: the text does not have it
 * @tell: gets whether a NAME record is needed, which @e then gets
 * Return: the ring; NULL: there are too many
 */
static const struct grt_text_ring *text_names_ring(struct grt_text_names *n, uint64_t time, const char *name,
						   size_t name_len, const char *driver, size_t driver_len,
						   const char *gpu, size_t gpu_len, bool *tell,
						   struct grt_ev_name *e)
{
	struct grt_text_ring *r = NULL;
	uint32_t i;

	*tell = false;
	name_len = text_len(name, name_len);
	if (name_len > sizeof(r->name))
		name_len = sizeof(r->name);
	driver_len = driver ? text_len(driver, driver_len) : 0;
	gpu_len = gpu ? text_len(gpu, gpu_len) : 0;
	if (gpu_len > sizeof(r->gpu))
		gpu_len = sizeof(r->gpu);
	/* At most half full: an empty slot ends the search. */
	for (i = grt_hash_text(name, name_len) % (2 * GRT_TEXT_RINGS); n->ring_slot[i];
	     i = (i + 1) % (2 * GRT_TEXT_RINGS)) {
		r = &n->ring[n->ring_slot[i] - 1];
		if (text_names_same_ring(r, name, name_len, driver, driver_len, gpu, gpu_len))
			break;
	}
	if (!n->ring_slot[i])
		r = text_names_add_ring(n, &n->ring_slot[i], name, name_len);
	if (!r)
		return NULL;
	if (gpu_len && !r->gpu[0])
		text_names_set(r->gpu, sizeof(r->gpu), gpu, gpu_len);
	*tell = time < r->time || (driver_len && !r->owner[0]);
	if (!*tell)
		return r;
	if (driver_len)
		text_names_set(r->owner, sizeof(r->owner), driver, driver_len);
	r->time = time < r->time ? time : r->time;
	make_record(e, GRT_NAME_RING, (uint32_t)(r - n->ring), time, r->name, r->owner);
	return r;
}

/* The last place counts lines that have no place of their own. */
static struct grt_skipped *add_skipped(struct grt_text_names *n, uint16_t *slot, const char *name, size_t len)
{
	struct grt_skipped *s;

	if (n->skips >= GRT_TEXT_SKIPPED - 1) {
		n->skips = GRT_TEXT_SKIPPED;
		s = &n->skipped[GRT_TEXT_SKIPPED - 1];
		s->name = "(others)";
		return s;
	}
	s = &n->skipped[n->skips];
	memcpy(n->skipped_name[n->skips], name, len);
	s->name = n->skipped_name[n->skips];
	*slot = (uint16_t)++n->skips;
	return s;
}

/* Counts a skipped event. */
static void text_names_skip(struct grt_text_names *n, const char *name, size_t len)
{
	struct grt_skipped *s = NULL;
	uint32_t i;

	len = text_len(name, len);
	if (len > sizeof(n->skipped_name[0]) - 1)
		len = sizeof(n->skipped_name[0]) - 1;
	for (i = grt_hash_text(name, len) % (2 * GRT_TEXT_SKIPPED); n->skipped_slot[i];
	     i = (i + 1) % (2 * GRT_TEXT_SKIPPED)) {
		s = &n->skipped[n->skipped_slot[i] - 1];
		if (!memcmp(s->name, name, len) && !s->name[len])
			break;
	}
	if (!n->skipped_slot[i])
		s = add_skipped(n, &n->skipped_slot[i], name, len);
	s->events++;
}

/* ------------------------------------------------------------ text input */

/*
 * A form is chosen by the lines of this many bytes: of the first part of the input that has lines that are
 * certain.
 */
#define PROBE (64U << 10)
/* Records that are more out of order are sorted in files. */
#define WINDOW_MAX GRT_NS_PER_S
/* Bytes of a pipe's lines that are held at most; lines are longer than their records. */
#define PIPE_BUDGET (8U << 20)

static const struct grt_text_format *const formats[] = {
#define GRT_TEXT(name, help) &grt_text_##name,
#include "text.def"
#undef GRT_TEXT
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

/**
 * struct grt_text - an input that is being read
 * @lines: the lines of @fd; @label: its name in messages
 * @state: state of @format
 * @learned: state of its time()
 * @hint: hint of its time() for @text
 * @text: sorts lines, if @sorts; @run: the lines that are next; @held: the line that follows them, NULL:
 *	none, and its @place
 * @number: number of the current line, and @sorted_at: its time, if @sorts
 * @late: the current line should have come before others
 * @health: health of the session, while lines are read
 * @disorder: the most by which lines are out of order; @window: the same for their events
 * @used: lines have been read: a pipe cannot be read again
 * @ended: there are no more lines
 * @code: a negative errno that ends the run
 */
struct grt_text {
	const struct grt_text_format *format;
	struct grt_lines lines;
	struct grt_order order;
	struct grt_text_names names;
	char *label;
	void *state;
	void *learned;
	void *hint;
	struct grt_order text;
	struct grt_order_run run;
	const char *held;
	const char *held_end;
	struct grt_order_place place;
	uint64_t number;
	uint64_t sorted_at;
	struct grt_health *health;
	uint64_t window;
	uint64_t disorder;
	bool sorts;
	bool late;
	bool read_all;
	bool used;
	bool ended;
	int code;
	struct grt_err err;
};

/* Functions that forms call */

void *grt_text_state(struct grt_text *t)
{
	return t->state;
}

const void *grt_text_learned(const struct grt_text *t)
{
	return t->learned;
}

bool grt_text_sorted_at(const struct grt_text *t, uint64_t *ns)
{
	if (t->sorts)
		*ns = t->sorted_at;
	return t->sorts;
}

/* Reading ends with this error. */
static void text_no_memory(struct grt_text *t)
{
	t->code = grt_err_set(&t->err, -ENOMEM, strerror(ENOMEM), NULL, "%s: line %llu: cannot read",
			      t->label, (unsigned long long)t->number);
}

static void note_late(struct grt_text *t, uint64_t now, uint64_t time)
{
	grt_fault(t->health, GRT_FAULT_TIME, 0,
		  "its lines are out of order by more than a pipe can be sorted",
		  "a file instead of the pipe, which is sorted whatever its order",
		  "%s: line %llu or before: time goes back from %llu to %llu ns", t->label,
		  (unsigned long long)t->lines.number, (unsigned long long)now, (unsigned long long)time);
}

void grt_text_put(struct grt_text *t, struct grt_event *e, uint32_t cpu)
{
	if (e->type >= GRT_EV_MAX || !grt_record_size[e->type])
		return;
	if (t->late && e->type != GRT_EV_NAME) {
		note_late(t, t->text.out, e->time);
		t->late = false;
	}
	e->size = grt_record_size[e->type];
	if (grt_order_put(&t->order, e, cpu)) {
		text_no_memory(t);
		return;
	}
	t->health->balance.emitted++;
	t->health->balance.fate[GRT_FATE_DELIVERED]++;
}

void grt_text_put_held(struct grt_text *t, struct grt_event *e, uint32_t cpu)
{
	uint64_t reordered = t->order.reordered;

	grt_text_put(t, e, cpu);
	t->order.reordered = reordered;
}

void grt_text_name(struct grt_text *t, uint32_t kind, uint32_t id, uint64_t time, const char *name,
		   size_t name_len, const char *owner, size_t owner_len)
{
	struct grt_ev_name e;

	if (text_names_update(&t->names, kind, id, time, name, name_len, owner, owner_len, &e))
		grt_text_put(t, &e.e, 0);
}

uint32_t grt_text_ring(struct grt_text *t, uint64_t time, const char *name, size_t name_len,
		       const char *driver, size_t driver_len, uint8_t *engine)
{
	return grt_text_ring_of(t, time, name, name_len, driver, driver_len, NULL, 0, engine);
}

uint32_t grt_text_ring_of(struct grt_text *t, uint64_t time, const char *name, size_t name_len,
			  const char *driver, size_t driver_len, const char *gpu, size_t gpu_len,
			  uint8_t *engine)
{
	const struct grt_text_ring *r;
	struct grt_ev_name e;
	bool tell;

	r = text_names_ring(&t->names, time, name, name_len, driver, driver_len, gpu, gpu_len, &tell, &e);
	*engine = r ? r->engine : GRT_ENGINE_UNKNOWN;
	if (!r)
		return GRT_RING_NONE;
	if (tell)
		grt_text_put(t, &e.e, 0);
	if (gpu_len)
		grt_text_name(t, GRT_NAME_RING_GPU, (uint32_t)(r - t->names.ring), time, gpu, gpu_len, NULL,
			      0);
	return (uint32_t)(r - t->names.ring);
}

uint32_t grt_text_driver(struct grt_text *t, uint64_t time, const char *driver)
{
	static const char *const drivers[] = {"amdgpu", "i915", "xe", "msm"};
	uint32_t n = 0;

	while (n < sizeof(drivers) / sizeof(drivers[0]) && strcmp(drivers[n], driver))
		n++;
	grt_text_name(t, GRT_NAME_DEVICE, UINT32_MAX - n, time, driver, strlen(driver), driver,
		      strlen(driver));
	return UINT32_MAX - n;
}

void grt_text_unknown(struct grt_text *t, const char *name, size_t len)
{
	text_names_skip(&t->names, name, len);
	t->health->text.skipped++;
}

void grt_text_lost(struct grt_text *t, uint64_t events)
{
	t->health->text.gaps += !events;
	t->health->balance.emitted += events;
	t->health->balance.fate[GRT_FATE_LOST] += events;
}

/* Reading */

static void note_bad(struct grt_text *t, const char *line, const char *end)
{
	struct grt_health_text *h = &t->health->text;
	size_t len = (size_t)(end - line);

	if (h->bad++ && h->bad_line < t->number)
		return;
	h->bad_line = t->number;
	if (len > sizeof(h->bad_text) - 1)
		len = sizeof(h->bad_text) - 1;
	memcpy(h->bad_text, line, len);
	h->bad_text[len] = '\0';
	/* the text may contain a NUL */
	for (size_t i = 0; i < len; i++)
		if (!h->bad_text[i])
			h->bad_text[i] = ' ';
}

/* The next line of the text. Return: 1, 0 at its end, or a negative errno */
static inline int text_input_next_line(struct grt_text *t, const char **line, const char **end)
{
	int ret;

	do {
		ret = grt_lines_next(&t->lines, line, end);
		if (ret <= 0)
			return ret;
		t->health->text.lines++;
	} while (t->format->outside && t->format->outside(t, *line, *end));
	return 1;
}

static inline void parse_line(struct grt_text *t, const char *line, const char *end)
{
	if (t->format->line(t, line, end) == GRT_LINE_BAD)
		note_bad(t, line, end);
}

/* Lines until there is enough to be looked at. Return: 1, 0 at the end of the text, or a negative errno */
static int text_input_read_lines(struct grt_text *t)
{
	const char *line, *end;
	int ret = 1;

	while (!t->code && !grt_order_full(&t->order)) {
		ret = text_input_next_line(t, &line, &end);
		if (ret <= 0)
			break;
		t->number = t->lines.number;
		parse_line(t, line, end);
	}
	return ret;
}

static enum grt_text_place text_input_place_of(struct grt_text *t, const char *line, const char *end)
{
	t->place = (struct grt_order_place){.step = 0};
	if (t->format->place)
		return t->format->place(t, line, end, &t->place, t->hint);
	return t->format->time(line, end, &t->place.time, t->hint) ? GRT_PLACE_STAMP : GRT_PLACE_BEHIND;
}

/*
 * Takes the line that is held, and the lines without a time stamp that follow it, into one record; holds the
 * next line. Return: 1, 0: the end of the text, or a negative errno
 */
static int text_input_take_lines(struct grt_text *t)
{
	const char *line = t->held, *end = t->held_end;
	enum grt_text_place place = line ? GRT_PLACE_STAMP : GRT_PLACE_NOWHERE;
	int ret;

	t->held = NULL;
	for (;;) {
		uint64_t number = t->lines.number;

		ret = 0;
		if (place == GRT_PLACE_STAMP)
			ret = grt_order_put_line(&t->text, &t->place, number, line, (size_t)(end - line));
		else if (place == GRT_PLACE_BEHIND)
			ret = grt_order_follow(&t->text, number, line, (size_t)(end - line));
		ret = ret ?: text_input_next_line(t, &line, &end);
		if (ret <= 0)
			return ret;
		place = text_input_place_of(t, line, end);
		if (place == GRT_PLACE_STAMP && grt_order_full(&t->text))
			break;
	}
	t->held = line;
	t->held_end = end;
	return 1;
}

/* Parses a record of lines. */
static void parse_lines(struct grt_text *t, const struct grt_order_line *l)
{
	const char *line = l->text, *end = l->text + l->bytes, *stop;

	t->number = l->number;
	t->sorted_at = l->time;
	for (; line < end; line = stop + 1, t->number++) {
		stop = memchr(line, '\n', (size_t)(end - line));
		parse_line(t, line, stop);
	}
	t->late = false;
}

/*
 * Delivers lines that are ready, until there are enough records. Return: 1, 0: none is ready, or a negative
 * errno
 */
static int give_lines(struct grt_text *t)
{
	const struct grt_order_line *l;
	int ret;

	while (!t->code && !grt_order_full(&t->order)) {
		if (t->run.ptr == t->run.end) {
			ret = grt_order_next(&t->text, &t->run);
			if (ret <= 0)
				return ret;
		}
		l = (const struct grt_order_line *)t->run.ptr;
		t->run.ptr += l->size;
		t->late = t->run.late;
		parse_lines(t, l);
	}
	return 1;
}

/* The same as read_lines(), in the order of time. */
static int read_sorted(struct grt_text *t)
{
	bool taken = false;
	int ret;

	while (!(ret = give_lines(t)) && !t->read_all && !(taken && t->order.used)) {
		ret = text_input_take_lines(t);
		if (ret < 0)
			return ret;
		taken = true;
		t->read_all = !ret;
		ret = grt_order_settle(&t->text, t->read_all);
		if (ret)
			break;
	}
	if (ret < 0 && !t->code) {
		t->err = t->text.err;
		t->code = ret;
	}
	return ret;
}

/* Records until there is enough to be looked at. Return: 0 or a negative errno */
static int read_records(struct grt_text *t)
{
	int ret = t->sorts ? read_sorted(t) : text_input_read_lines(t);

	t->ended = !ret && (!t->sorts || t->read_all);
	if (t->ended && t->format->end)
		t->format->end(t);
	return ret < 0 ? ret : t->code;
}

static int text_input_fail(struct grt_text *t, struct grt_stream *st, int code, const struct grt_err *err)
{
	t->code = code;
	if (err != &t->err)
		t->err = *err;
	st->failure = &t->err;
	return code;
}

static int text_input_read_failed(struct grt_text *t, struct grt_stream *st, int code)
{
	if (!t->code)
		grt_err_set(&t->err, code, strerror(-code), NULL, "%s: line %llu: cannot read", t->label,
			    (unsigned long long)t->lines.number + 1);
	return text_input_fail(t, st, code, &t->err);
}

static void take_run(struct grt_text *t, struct grt_stream *st, const struct grt_order_run *run)
{
	st->ptr = run->ptr;
	st->end = run->end;
	st->cpu = run->cpu;
	st->last = run->last;
	st->at = GRT_AT_RECORDS;
	if (!run->late)
		st->key = run->first;
	else if (!t->sorts)
		note_late(t, st->key, run->first);
}

static void text_input_count(struct grt_text *t, struct grt_health *h)
{
	h->bytes = t->lines.pos - (t->lines.fill - t->lines.at);
	h->text.reordered = t->sorts ? t->text.reordered : t->order.reordered;
	h->text.sorted = t->sorts ? t->text.sorted : t->order.sorted;
}

static int text_next(struct grt_stream *st)
{
	struct grt_text *t = st->owner;
	struct grt_order_run run;
	int ret;

	t->health = st->health;
	t->used = true;
	for (;;) {
		if (t->code)
			return text_input_fail(t, st, t->code, &t->err);
		ret = grt_order_next(&t->order, &run);
		if (ret < 0)
			return text_input_fail(t, st, ret, &t->order.err);
		if (ret) {
			take_run(t, st, &run);
			return 1;
		}
		if (t->ended) {
			st->at = GRT_AT_END;
			return 0;
		}
		ret = read_records(t);
		if (ret)
			return text_input_read_failed(t, st, ret);
		/* their lines are in order, so nothing is to be waited for */
		if (t->sorts && !t->format->back)
			t->order.goal = 0;
		ret = grt_order_settle(&t->order, t->ended);
		text_input_count(t, st->health);
		if (ret)
			return text_input_fail(t, st, ret, &t->order.err);
	}
}

static void free_state(struct grt_text *t)
{
	if (t->state && t->format->fini)
		t->format->fini(t->state);
	free(t->state);
	t->state = NULL;
}

/* Begins the order in which lines or records are held back. */
static void begin_order(struct grt_text *t)
{
	bool is_pipe = t->lines.is_pipe;

	t->sorts = t->format->in_time && t->disorder;
	t->held = NULL;
	t->run = (struct grt_order_run){.ptr = NULL};
	t->read_all = t->late = false;
	grt_order_fini(&t->text);
	grt_order_fini(&t->order);
	grt_order_init(&t->order, t->sorts ? t->format->back : t->window, !is_pipe, 0);
	grt_order_init(&t->text, t->disorder, !is_pipe, is_pipe ? PIPE_BUDGET : 0);
	free(t->hint);
	t->hint = t->sorts ? calloc(1, t->format->learned_size + sizeof(size_t)) : NULL;
	if (t->sorts && !t->hint)
		text_no_memory(t);
}

static void text_rewind(struct grt_stream *st)
{
	struct grt_text *t = st->owner;

	st->key = 0;
	st->at = GRT_AT_GAP;
	st->ready = false;
	st->failure = NULL;
	t->code = 0;
	if (t->used && t->lines.is_pipe) {
		t->code = grt_err_set(&t->err, -ESPIPE, "the data that came through it is gone",
				      "a file instead of the pipe", "%s: a pipe can be read once", t->label);
		return;
	}
	free_state(t);
	begin_order(t);
	memset(&t->names, 0, sizeof(t->names));
	/* of a pipe, what precedes the first line of a form was read when it was opened */
	if (!t->lines.is_pipe)
		grt_lines_rewind(&t->lines);
	t->ended = false;
	t->state = calloc(1, t->format->state_size + 1);
	if (!t->state)
		text_no_memory(t);
}

static void free_text(struct grt_text *t)
{
	if (t->format)
		free_state(t);
	free(t->learned);
	free(t->hint);
	grt_order_fini(&t->text);
	grt_order_fini(&t->order);
	grt_lines_fini(&t->lines);
	if (t->lines.fd >= 0)
		close(t->lines.fd);
	free(t->label);
	free(t);
}

static void text_fini(struct grt_stream *st)
{
	if (st->owner)
		free_text(st->owner);
	st->owner = NULL;
}

static const struct grt_stream_source text_source = {
	.next = text_next,
	.rewind = text_rewind,
	.fini = text_fini,
};

static unsigned int text_skipped(const void *owner, const struct grt_skipped **list)
{
	const struct grt_text *t = owner;

	*list = t->names.skipped;
	return t->names.skips;
}

/* Opening */

struct votes {
	uint64_t of[FORMATS];
	uint64_t lines;
	bool any;
};

/* Return: whether the first character of a line excludes the form. */
static bool is_of_another(const struct grt_text_format *format, char first)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (formats[i]->mark == first && formats[i] != format)
			return true;
	return false;
}

static void vote(struct votes *v, const char *line, const char *end)
{
	const char *first = line;

	v->lines++;
	grt_scan_blanks(&first, end);
	for (size_t i = 0; i < FORMATS; i++) {
		bool takes =
			first < end && !is_of_another(formats[i], *first) && formats[i]->takes(line, end);

		v->of[i] += takes;
		v->any = v->any || takes;
	}
}

/* Stops waiting for a pipe as soon as it has given a line that is certain. Return: 0 or a negative errno */
static int text_input_probe(struct grt_text *t, struct votes *v)
{
	const char *line, *end;
	size_t bytes = 0;
	int ret = 1;

	while (!(v->any && (bytes > PROBE || (t->lines.is_pipe && grt_lines_waits(&t->lines))))) {
		ret = grt_lines_next(&t->lines, &line, &end);
		if (ret <= 0 || (t->lines.pinned && t->lines.passing))
			break;
		vote(v, line, end);
		if (v->any)
			bytes += (size_t)(end - line) + 1;
	}
	return ret < 0 ? ret : 0;
}

static const struct grt_text_format *elected(const struct votes *v)
{
	size_t best = 0;

	for (size_t i = 1; i < FORMATS; i++)
		if (v->of[i] > v->of[best])
			best = i;
	return v->of[best] ? formats[best] : NULL;
}

static int no_form(const struct grt_text *t, const struct grt_session *s, uint64_t lines, struct grt_err *err)
{
	const char *what, *fix;
	char forms[200] = "";

	for (size_t i = 0; i < FORMATS; i++)
		snprintf(forms + strlen(forms), sizeof(forms) - strlen(forms), "%s%s", i ? ", " : "",
			 formats[i]->name);
	if (!lines && !t->lines.json.on)
		return grt_err_set(err, -ENODATA, "nothing came through it", "", "%s: the input is empty",
				   t->label);
	if (t->lines.json.on && !t->lines.json.found)
		return grt_err_set(err, -EINVAL, "JSON has it as the string \"systemTraceEvents\"",
				   "cat /sys/kernel/tracing/trace > FILE",
				   "%s: a JSON trace without ftrace text", t->label);
	if (!t->lines.json.on && s->head && grt_foreign_text(s->head, s->head_len, &what, &fix))
		return grt_err_set(err, -EINVAL, what, fix, "%s: not a trace", t->label);
	return grt_err_set(err, -EINVAL, "none of its lines is of a form that can be read",
			   "trace-cmd report > FILE, or cat /sys/kernel/tracing/trace > FILE",
			   "%s: line 1 to %llu: no events (%s)", t->label, (unsigned long long)lines, forms);
}

static int choose_form(struct grt_text *t, const struct grt_session *s, struct grt_err *err)
{
	struct votes v = {.lines = 0};
	int ret;

	t->lines.pinned = t->lines.is_pipe;
	ret = text_input_probe(t, &v);
	if (ret)
		return grt_err_set(err, ret, strerror(-ret), NULL, "%s: line %llu: cannot read", t->label,
				   (unsigned long long)v.lines + 1);
	t->format = elected(&v);
	if (!t->format)
		return no_form(t, s, v.lines, err);
	if (t->lines.is_pipe)
		grt_lines_unpin(&t->lines);
	else
		grt_lines_rewind(&t->lines);
	return 0;
}

/* Reads the stamps of a file. Return: 0 or a negative errno */
static int read_stamps(struct grt_text *t, struct grt_session *s, struct grt_err *err)
{
	uint64_t back = 0, latest = 0, ns;
	const char *line, *end;
	int ret;

	t->learned = calloc(1, t->format->learned_size + sizeof(size_t));
	if (!t->learned)
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "%s: cannot open", t->label);
	while ((ret = grt_lines_next(&t->lines, &line, &end)) > 0) {
		if (!t->format->time(line, end, &ns, t->learned))
			continue;
		if (ns < s->first)
			s->first = ns;
		if (ns >= latest)
			latest = ns;
		else if (latest - ns > back)
			back = latest - ns;
	}
	if (s->first <= latest)
		s->last = latest;
	if (t->format->span)
		t->format->span(t->learned, &s->first, &s->last);
	t->disorder = back > WINDOW_MAX ? GRT_WINDOW_ALL : back;
	t->window = t->disorder > GRT_WINDOW_ALL - t->format->back ? GRT_WINDOW_ALL
								   : t->disorder + t->format->back;
	if (ret)
		return grt_err_set(err, ret, strerror(-ret), NULL, "%s: line %llu: cannot read", t->label,
				   (unsigned long long)t->lines.number + 1);
	return 0;
}

static int text_input_prepare(struct grt_text *t, struct grt_session *s, struct grt_err *err)
{
	int ret;

	t->lines.is_pipe = s->is_pipe;
	t->disorder = t->window = WINDOW_MAX;
	t->label = strdup(strcmp(s->path, "-") ? s->path : "standard input");
	if (!t->label || grt_lines_init(&t->lines, s->is_pipe ? s->head : NULL, s->is_pipe ? s->head_len : 0))
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "%s: cannot open", s->path);
	ret = choose_form(t, s, err);
	if (!ret && !s->is_pipe)
		ret = read_stamps(t, s, err);
	s->found.text.form = t->format ? t->format->name : NULL;
	return ret;
}

static bool text_takes(const struct stat *st, const char *head, size_t len)
{
	if (S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode))
		return !len || grt_head_is_text(head, len);
	return S_ISREG(st->st_mode) && grt_head_is_text(head, len);
}

static int text_open(struct grt_session *s, int fd, struct grt_err *err)
{
	struct grt_text *t = calloc(1, sizeof(*t));
	int ret;

	if (!t)
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "%s: cannot open", s->path);
	t->lines.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (t->lines.fd < 0)
		ret = grt_err_set(err, -errno, strerror(errno), NULL, "%s: cannot open", s->path);
	else
		ret = text_input_prepare(t, s, err);
	if (ret) {
		free_text(t);
		return ret;
	}
	s->skipped = text_skipped;
	return grt_session_add_source(s, &text_source, t, t->label, err);
}

const struct grt_reader grt_reader_text_input = {
	.name = "text",
	.takes = text_takes,
	.open = text_open,
};
