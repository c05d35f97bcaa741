// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The reader of text: chooses a form for an input, has it understand line by
 * line, and makes one stream in time order of the events that it puts.
 *
 * A file is read twice. First only the stamps of its lines, which tells what
 * it spans and how far it is out of order: the window in which records must be
 * held back is just that, and nothing for a sorted file. A pipe has a window
 * of a second and bounded memory. The order itself is made in text_order.c.
 */
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/session.h"
#include "scan.h"
#include "text_lines.h"
#include "text_names.h"
#include "text_order.h"

/* A form is chosen by the lines of so many bytes, of the first part of the input that has any that are
 * certain. */
#define PROBE (64U << 10)
/* What stands further behind is sorted in files. */
#define WINDOW_MAX GRT_NS_PER_S

static const struct grt_text_format *const formats[] = {
#define GRT_TEXT(name, help) &grt_text_##name,
#include "text.def"
#undef GRT_TEXT
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

/**
 * struct grt_text - an input that is being read
 * @lines: of @fd; @label names it in messages
 * @state: of @format
 * @learned: by its time()
 * @health: of the session, while lines are read
 * @used: lines have been read: a pipe cannot be read again
 * @ended: there are no more
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
	struct grt_health *health;
	uint64_t window;
	bool used;
	bool ended;
	int code;
	struct grt_err err;
};

/* What forms call */

void *grt_text_state(struct grt_text *t)
{
	return t->state;
}

const void *grt_text_learned(const struct grt_text *t)
{
	return t->learned;
}

void grt_text_no_memory(struct grt_text *t)
{
	t->code = grt_err_set(&t->err, -ENOMEM, strerror(ENOMEM), NULL, "%s: line %llu: cannot read",
			      t->label, (unsigned long long)t->lines.number);
}

void grt_text_put(struct grt_text *t, struct grt_event *e, uint32_t cpu)
{
	if (e->type >= GRT_EV_MAX || !grt_record_size[e->type])
		return;
	e->size = grt_record_size[e->type];
	if (grt_order_put(&t->order, e, cpu)) {
		grt_text_no_memory(t);
		return;
	}
	t->health->balance.emitted++;
	t->health->balance.fate[GRT_FATE_DELIVERED]++;
}

void grt_text_name(struct grt_text *t, uint32_t kind, uint32_t id, uint64_t time, const char *name,
		   size_t name_len, const char *owner, size_t owner_len)
{
	struct grt_ev_name e;

	if (grt_text_names_tell(&t->names, kind, id, time, name, name_len, owner, owner_len, &e))
		grt_text_put(t, &e.e, 0);
}

uint32_t grt_text_ring(struct grt_text *t, uint64_t time, const char *name, size_t name_len,
		       const char *driver, size_t driver_len, uint8_t *engine)
{
	const struct grt_text_ring *r;
	struct grt_ev_name e;
	bool tell;

	r = grt_text_names_ring(&t->names, time, name, name_len, driver, driver_len, &tell, &e);
	*engine = r ? r->engine : GRT_ENGINE_UNKNOWN;
	if (!r)
		return GRT_RING_NONE;
	if (tell)
		grt_text_put(t, &e.e, 0);
	return (uint32_t)(r - t->names.ring);
}

void grt_text_unknown(struct grt_text *t, const char *name, size_t len)
{
	grt_text_names_skip(&t->names, name, len);
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

	if (h->bad++)
		return;
	h->bad_line = t->lines.number;
	if (len > sizeof(h->bad_text) - 1)
		len = sizeof(h->bad_text) - 1;
	memcpy(h->bad_text, line, len);
	h->bad_text[len] = '\0';
	/* a NUL does not end what is told */
	for (size_t i = 0; i < len; i++)
		if (!h->bad_text[i])
			h->bad_text[i] = ' ';
}

/* Lines until there is enough to be looked at. Return: 0 or a negative errno */
static int read_lines(struct grt_text *t)
{
	const char *line, *end;
	int ret = 1;

	while (!t->code && !grt_order_full(&t->order)) {
		ret = grt_lines_next(&t->lines, &line, &end);
		if (ret <= 0)
			break;
		t->health->text.lines++;
		if (t->format->line(t, line, end) == GRT_LINE_BAD)
			note_bad(t, line, end);
	}
	t->ended = ret == 0;
	if (t->ended && t->format->end)
		t->format->end(t);
	return ret < 0 ? ret : t->code;
}

static int fail(struct grt_text *t, struct grt_stream *st, int code, const struct grt_err *err)
{
	t->code = code;
	if (err != &t->err)
		t->err = *err;
	st->failure = &t->err;
	return code;
}

static int read_failed(struct grt_text *t, struct grt_stream *st, int code)
{
	if (!t->code)
		grt_err_set(&t->err, code, strerror(-code), NULL, "%s: line %llu: cannot read", t->label,
			    (unsigned long long)t->lines.number + 1);
	return fail(t, st, code, &t->err);
}

static void take_run(struct grt_text *t, struct grt_stream *st, const struct grt_order_run *run)
{
	st->ptr = run->ptr;
	st->end = run->end;
	st->cpu = run->cpu;
	st->last = run->last;
	st->at = GRT_AT_RECORDS;
	if (!run->late) {
		st->key = run->first;
		return;
	}
	grt_fault(st->health, GRT_FAULT_TIME, 0,
		  "its lines are out of order by more than a pipe can be sorted",
		  "a file instead of the pipe, which is sorted whatever its order",
		  "%s: line %llu or before: time goes back from %llu to %llu ns", t->label,
		  (unsigned long long)t->lines.number, (unsigned long long)st->key,
		  (unsigned long long)run->first);
}

static void count(struct grt_text *t, struct grt_health *h)
{
	h->bytes = t->lines.pos - (t->lines.fill - t->lines.at);
	h->text.reordered = t->order.reordered;
	h->text.sorted = t->order.sorted;
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
			return fail(t, st, t->code, &t->err);
		ret = grt_order_next(&t->order, &run);
		if (ret < 0)
			return fail(t, st, ret, &t->order.err);
		if (ret) {
			take_run(t, st, &run);
			return 1;
		}
		if (t->ended) {
			st->at = GRT_AT_END;
			return 0;
		}
		ret = read_lines(t);
		if (ret)
			return read_failed(t, st, ret);
		ret = grt_order_settle(&t->order, t->ended);
		count(t, st->health);
		if (ret)
			return fail(t, st, ret, &t->order.err);
	}
}

static void free_state(struct grt_text *t)
{
	if (t->state && t->format->fini)
		t->format->fini(t->state);
	free(t->state);
	t->state = NULL;
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
		t->code = grt_err_set(&t->err, -ESPIPE, "what came through it is gone",
				      "a file instead of the pipe", "%s: a pipe can be read once", t->label);
		return;
	}
	free_state(t);
	grt_order_fini(&t->order);
	grt_order_init(&t->order, t->window, !t->lines.is_pipe, 0);
	memset(&t->names, 0, sizeof(t->names));
	/* of a pipe, what stands before the first line of a form was read when it was opened */
	if (!t->lines.is_pipe)
		grt_lines_rewind(&t->lines);
	t->ended = false;
	t->state = calloc(1, t->format->state_size + 1);
	if (!t->state)
		grt_text_no_memory(t);
}

static void free_text(struct grt_text *t)
{
	if (t->format)
		free_state(t);
	free(t->learned);
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

static void vote(struct votes *v, const char *line, const char *end)
{
	v->lines++;
	for (size_t i = 0; i < FORMATS; i++) {
		bool takes = formats[i]->takes(line, end);

		v->of[i] += takes;
		v->any = v->any || takes;
	}
}

/* As soon as a pipe has given a line that is certain it is not waited for. Return: 0 or a negative errno */
static int probe(struct grt_text *t, struct votes *v)
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

static int no_form(const struct grt_text *t, uint64_t lines, struct grt_err *err)
{
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
	return grt_err_set(err, -EINVAL, "none of its lines is of a form that can be read",
			   "trace-cmd report > FILE, or cat /sys/kernel/tracing/trace > FILE",
			   "%s: line 1 to %llu: no events (%s)", t->label, (unsigned long long)lines, forms);
}

static int choose_form(struct grt_text *t, struct grt_err *err)
{
	struct votes v = {.lines = 0};
	int ret;

	t->lines.pinned = t->lines.is_pipe;
	ret = probe(t, &v);
	if (ret)
		return grt_err_set(err, ret, strerror(-ret), NULL, "%s: line %llu: cannot read", t->label,
				   (unsigned long long)v.lines + 1);
	t->format = elected(&v);
	if (!t->format)
		return no_form(t, v.lines, err);
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
	back = back > WINDOW_MAX ? GRT_WINDOW_ALL : back;
	t->window = back > GRT_WINDOW_ALL - t->format->back ? GRT_WINDOW_ALL : back + t->format->back;
	if (ret)
		return grt_err_set(err, ret, strerror(-ret), NULL, "%s: line %llu: cannot read", t->label,
				   (unsigned long long)t->lines.number + 1);
	return 0;
}

static int prepare(struct grt_text *t, struct grt_session *s, struct grt_err *err)
{
	int ret;

	t->lines.is_pipe = s->is_pipe;
	t->window = WINDOW_MAX;
	t->label = strdup(strcmp(s->path, "-") ? s->path : "standard input");
	if (!t->label || grt_lines_init(&t->lines, s->is_pipe ? s->head : NULL, s->is_pipe ? s->head_len : 0))
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "%s: cannot open", s->path);
	ret = choose_form(t, err);
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
		ret = prepare(t, s, err);
	if (ret) {
		free_text(t);
		return ret;
	}
	s->skipped = text_skipped;
	return grt_session_add_source(s, &text_source, t, t->label, err);
}

const struct grt_reader grt_reader_text = {
	.name = "text",
	.takes = text_takes,
	.open = text_open,
};
