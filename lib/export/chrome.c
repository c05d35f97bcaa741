// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Chrome's Trace Event Format, its object form:
 * https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
 *
 * Stamps are microseconds since the first one, whose value is in
 * baseTimeNanoseconds: readers keep them as doubles, which have no digits left
 * for the ns of a clock. A device has a process number beyond those of Linux,
 * and so has what belongs to no thread a thread number.
 *
 * What tools for traces of PyTorch's profiler look for has the names that they know: categories, device,
 * stream, correlation, the arrows of launches, the rank of the process.
 */
#include <errno.h>
#include <inttypes.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/containers.h"
#include "export.h"
#include "base/outbuf.h"
#include "trace/session.h"
#include "tracks_parts.h"

/* Pids end below 2^22. */
#define FIRST_OWN 0x40000000U
#define TEXT_MAX 4096U
#define ESCAPED_MAX GRT_ESCAPED_MAX(TEXT_MAX)
#define ITEM_MAX (GRT_TRACK_ARGS_MAX * 2600 + 2 * ESCAPED_MAX)
/* Above this, a reader's double is not exact. */
#define EXACT_MAX (1ULL << 53)

/** struct place - a track: process and thread number, and a counter's name, escaped */
struct place {
	uint32_t pid;
	uint32_t tid;
	char *name;
};

/** struct chrome - @base is where stamps count from; @places by track id; @rank: RANK of the only process
 * that has one, @ranks: how many different ones there are; @nccl: kernels of NCCL were drawn */
struct chrome {
	struct grt_outbuf out;
	struct grt_tracks *tracks;
	struct place *place;
	uint32_t places;
	uint64_t base;
	uint32_t rank;
	uint32_t world;
	uint32_t ranks;
	bool nccl;
	bool begun;
	bool comma;
};

static char *chrome_room(struct chrome *f)
{
	return grt_outbuf_room(&f->out, ITEM_MAX + 4096);
}

static int chrome_take(struct chrome *f, const char *end)
{
	grt_outbuf_take(&f->out, end);
	return f->out.error;
}

#define put_literal(p, text) grt_format_text(p, text, sizeof(text) - 1)

static char *chrome_put_string(char *p, const char *text, size_t length)
{
	*p++ = '"';
	p += grt_escape(GRT_ESCAPE_JSON, p, ESCAPED_MAX, text, length < TEXT_MAX ? length : TEXT_MAX);
	*p++ = '"';
	return p;
}

static char *chrome_put_ns(char *p, uint64_t ns)
{
	p = grt_format_u64(p, ns / 1000);
	*p++ = '.';
	*p++ = (char)('0' + ns / 100 % 10);
	*p++ = (char)('0' + ns / 10 % 10);
	*p++ = (char)('0' + ns % 10);
	return p;
}

static char *chrome_put_time(const struct chrome *f, char *p, uint64_t time)
{
	if (time >= f->base)
		return chrome_put_ns(p, time - f->base);
	*p++ = '-';
	return chrome_put_ns(p, f->base - time);
}

static char *chrome_begin_event(struct chrome *f, char *p, char phase)
{
	if (f->comma)
		*p++ = ',';
	f->comma = true;
	p = put_literal(p, "\n{\"ph\":\"");
	*p++ = phase;
	return put_literal(p, "\"");
}

static char *chrome_put_place(char *p, uint32_t pid, uint32_t tid)
{
	p = put_literal(p, ",\"pid\":");
	p = grt_format_u64(p, pid);
	p = put_literal(p, ",\"tid\":");
	return grt_format_u64(p, tid);
}

/* --------------------------------------------------------------- tracks */

static struct place *chrome_find_place(struct chrome *f, uint32_t track)
{
	if (grt_grow_zeroed(&f->place, &f->places, track + 1, 64))
		return NULL;
	return &f->place[track];
}

static int name_place(struct chrome *f, const char *what, const struct place *at, const char *name,
		      uint32_t lane)
{
	char *p = chrome_begin_event(f, chrome_room(f), 'M'), full[TEXT_MAX];

	snprintf(full, sizeof(full), lane ? "%s (%u)" : "%s", name, lane + 1);
	p = put_literal(p, ",\"name\":\"");
	p = grt_format_word(p, what);
	p = put_literal(p, "\"");
	p = chrome_put_place(p, at->pid, at->tid);
	p = put_literal(p, ",\"args\":{\"name\":");
	p = chrome_put_string(p, full, sizeof(full));
	return chrome_take(f, put_literal(p, "}}"));
}

static int keep_counter(struct place *at, const struct grt_track *t)
{
	char full[TEXT_MAX], escaped[ESCAPED_MAX];

	snprintf(full, sizeof(full), *t->unit ? "%s [%s]" : "%s", t->name, t->unit);
	grt_escape(GRT_ESCAPE_JSON, escaped, sizeof(escaped), full, sizeof(full));
	free(at->name);
	at->name = strdup(escaped);
	return at->name ? 0 : -ENOMEM;
}

static int chrome_on_track(void *arg, const struct grt_track *t)
{
	struct chrome *f = arg;
	struct place *at = chrome_find_place(f, t->id), parent = {.pid = 0};

	if (!at)
		return -ENOMEM;
	if (t->parent)
		parent = f->place[t->parent];
	at->pid = t->pid ?: t->parent ? parent.pid : FIRST_OWN + t->id;
	at->tid = t->tid ?: FIRST_OWN + t->id;
	if (t->kind == GRT_TRACK_COUNTER)
		return keep_counter(at, t);
	if (!*t->name)
		return 0;
	if (!t->parent && t->kind != GRT_TRACK_THREAD)
		return name_place(f, "process_name", at, t->name, 0);
	return name_place(f, "thread_name", at, t->name, t->lane);
}

/* ----------------------------------------------------------------- items */

static char *chrome_put_number(char *p, const struct grt_track_arg *a)
{
	int64_t s = (int64_t)a->number;
	bool is_signed = a->kind == GRT_TRACK_S64;
	bool exact = is_signed ? s < (int64_t)EXACT_MAX && s > -(int64_t)EXACT_MAX : a->number < EXACT_MAX;

	if (!exact)
		*p++ = '"';
	p = is_signed ? grt_format_s64(p, s) : grt_format_u64(p, a->number);
	if (!exact)
		*p++ = '"';
	return p;
}

static char *put_value(char *p, const struct grt_track_arg *a)
{
	if (a->kind == GRT_TRACK_TEXT)
		return chrome_put_string(p, a->text, a->length < 400 ? a->length : 400);
	if (a->kind == GRT_TRACK_BOOL)
		return a->number ? put_literal(p, "true") : put_literal(p, "false");
	if (a->kind != GRT_TRACK_HEX)
		return chrome_put_number(p, a);
	*p++ = '"';
	p = grt_format_hex(p, a->number);
	*p++ = '"';
	return p;
}

static char *put_args(const struct chrome *f, char *p, const struct grt_track_item *i)
{
	p = put_literal(p, ",\"args\":{");
	for (unsigned int n = 0; n < i->args; n++) {
		if (n)
			*p++ = ',';
		*p++ = '"';
		p = grt_format_word(p, grt_tracks_arg_name(f->tracks, i->arg[n].id));
		p = put_literal(p, "\":");
		p = put_value(p, &i->arg[n]);
	}
	*p++ = '}';
	return p;
}

/* Return: whether an item is a call of CUDA, or GPU work of CUDA. */
static bool is_cuda(const struct grt_track_item *i)
{
	return i->category >= GRT_CATEGORY_RUNTIME && i->category <= GRT_CATEGORY_SET;
}

/* The end of an arrow belongs to the slice around it, its begin to the slice in which it happened. */
static char *put_flow(struct chrome *f, char *p, char phase, uint64_t id, const struct place *at,
		      const struct grt_track_item *i)
{
	p = chrome_begin_event(f, p, phase);
	if (phase == 'f')
		p = put_literal(p, ",\"bp\":\"e\"");
	p = is_cuda(i) ? put_literal(p, ",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":\"")
		       : put_literal(p, ",\"cat\":\"flow\",\"name\":\"submit\",\"id\":\"");
	p = grt_format_hex(p, id);
	*p++ = '"';
	p = chrome_put_place(p, at->pid, at->tid);
	p = put_literal(p, ",\"ts\":");
	p = chrome_put_time(f, p, i->time);
	*p++ = '}';
	return p;
}

static char *chrome_put_counter(const struct chrome *f, char *p, const struct place *at,
				const struct grt_track_item *i)
{
	struct grt_track_arg value = {.kind = GRT_TRACK_S64, .number = (uint64_t)i->value};

	p = put_literal(p, ",\"name\":\"");
	p = grt_format_word(p, at->name ?: "");
	p = put_literal(p, "\",\"ts\":");
	p = chrome_put_time(f, p, i->time);
	p = chrome_put_place(p, at->pid, at->tid);
	p = put_literal(p, ",\"args\":{\"value\":");
	p = chrome_put_number(p, &value);
	return put_literal(p, "}}");
}

static char *chrome_put_event(const struct chrome *f, char *p, const struct place *at,
			      const struct grt_track_item *i)
{
	if (i->kind == GRT_ITEM_INSTANT)
		p = put_literal(p, ",\"s\":\"t\"");
	if (i->name) {
		p = put_literal(p, ",\"cat\":\"");
		p = grt_format_word(p, grt_tracks_category(i->category));
		p = put_literal(p, "\",\"name\":");
		p = chrome_put_string(p, grt_tracks_name(f->tracks, i->name),
				      grt_tracks_name_length(f->tracks, i->name));
	}
	p = put_literal(p, ",\"ts\":");
	p = chrome_put_time(f, p, i->time);
	if (i->kind == GRT_ITEM_SLICE) {
		p = put_literal(p, ",\"dur\":");
		p = chrome_put_ns(p, i->end - i->time);
	}
	p = chrome_put_place(p, at->pid, at->tid);
	if (i->args)
		p = put_args(f, p, i);
	*p++ = '}';
	return p;
}

static int chrome_on_item(void *arg, const struct grt_track_item *i)
{
	static const char phases[] = {[GRT_ITEM_BEGIN] = 'B',
				      [GRT_ITEM_END] = 'E',
				      [GRT_ITEM_SLICE] = 'X',
				      [GRT_ITEM_INSTANT] = 'i',
				      [GRT_ITEM_COUNTER] = 'C'};
	struct chrome *f = arg;
	const struct place *at = chrome_find_place(f, i->track);
	char *p = chrome_begin_event(f, chrome_room(f), phases[i->kind]);

	if (i->kind == GRT_ITEM_COUNTER)
		return chrome_take(f, chrome_put_counter(f, p, at, i));
	if (i->category == GRT_CATEGORY_KERNEL && !f->nccl)
		f->nccl = !strncmp(grt_tracks_name(f->tracks, i->name), "nccl", 4);
	p = chrome_put_event(f, p, at, i);
	if (i->flow_out)
		p = put_flow(f, p, 's', i->flow_out, at, i);
	if (i->flow_in)
		p = put_flow(f, p, 'f', i->flow_in, at, i);
	return chrome_take(f, p);
}

/* --------------------------------------------------------- begin and end */

/*
 * Some events are reported when they have ended, and began before the first event. Perfetto drops items
 * before 0, so time stamps count from this long before the first event. At this many microseconds, a double
 * still has room for ns.
 */
#define BEFORE (24 * 3600 * GRT_NS_PER_S)

static int chrome_put_head(struct grt_export *x, uint64_t first)
{
	struct chrome *f = x->state;
	char *p = chrome_room(f);

	/* that of the trace, if it is known, because files of its processes are compared without the base */
	if (x->session->first <= x->session->last && x->session->first)
		first = x->session->first;
	f->begun = true;
	f->base = first > BEFORE ? first - BEFORE : 0;
	p = put_literal(p, "{\"schemaVersion\":1,\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":");
	p = grt_format_u64(p, f->base);
	return chrome_take(f, put_literal(p, ",\"traceEvents\":["));
}

static int chrome_begin(struct grt_export *x)
{
	struct chrome *f = x->state = calloc(1, sizeof(*f));
	struct grt_tracks_sink sink = {.track = chrome_on_track, .item = chrome_on_item, .arg = f};

	if (!f || grt_outbuf_init(&f->out, x->fd) || grt_tracks_new(&x->tracks, &sink))
		return -ENOMEM;
	f->tracks = x->tracks;
	grt_tracks_filter(x->tracks, x->filter);
	return 0;
}

static void chrome_see_rank(struct chrome *f, const struct grt_event *e)
{
	const struct grt_ev_rank *r = (const struct grt_ev_rank *)e;

	if (e->type != GRT_EV_RANK)
		return;
	f->ranks += !f->ranks || r->rank != f->rank;
	f->rank = r->rank;
	f->world = r->world;
}

static int chrome_event(struct grt_export *x, const struct grt_event *e, uint32_t cpu)
{
	struct chrome *f = x->state;
	int ret = f->begun ? 0 : chrome_put_head(x, e->time);

	chrome_see_rank(f, e);
	return ret ?: grt_tracks_event(x->tracks, e);
}

/* It may end a job that is drawn. */
static int chrome_lasting(struct grt_export *x, const struct grt_event *e)
{
	struct chrome *f = x->state;
	int ret = f->begun ? 0 : chrome_put_head(x, e->time);

	return ret ?: tracks_remember(x->tracks, e);
}

static int chrome_packet(struct grt_export *x, const struct grt_packet *p)
{
	struct chrome *f = x->state;
	int ret = f->begun ? 0 : chrome_put_head(x, p->timestamp_begin);

	return ret ?: grt_tracks_packet(x->tracks, p);
}

static char *put_pair(char *p, const char *key, const char *value)
{
	*p++ = '"';
	p = grt_format_word(p, key);
	p = put_literal(p, "\":");
	p = chrome_put_string(p, value ?: "", TEXT_MAX);
	*p++ = ',';
	return p;
}

static char *put_count(char *p, const char *key, uint64_t number)
{
	*p++ = ',';
	*p++ = '"';
	p = grt_format_word(p, key);
	p = put_literal(p, "\":");
	return grt_format_u64(p, number);
}

/* Only in a file of one rank; readers look for it line by line, with a blank after the colon. */
static char *chrome_put_rank(const struct chrome *f, char *p)
{
	if (f->ranks != 1)
		return p;
	p = put_literal(p, ",\n\"distributedInfo\":{\"rank\": ");
	p = grt_format_u64(p, f->rank);
	if (f->world != UINT32_MAX) {
		p = put_literal(p, ",\"world_size\": ");
		p = grt_format_u64(p, f->world);
	}
	if (f->nccl)
		p = put_literal(p, ",\"backend\": \"nccl\"");
	*p++ = '}';
	return p;
}

/*
 * Writes where the recording was made, the counts of all events by fate, and those of items that are not
 * drawn.
 */
static int put_tail(struct grt_export *x, const struct grt_health *h)
{
	const struct grt_tracks_count *n = grt_tracks_count(x->tracks);
	struct chrome *f = x->state;
	char *p = put_literal(chrome_room(f), "\n]");

	p = put_literal(chrome_put_rank(f, p), ",\"otherData\":{");

#define GRT_EXPORT_ENV(key)                    \
	if (grt_session_env(x->session, #key)) \
		p = put_pair(p, #key, grt_session_env(x->session, #key));
	GRT_EXPORT_ENVS(GRT_EXPORT_ENV)
#undef GRT_EXPORT_ENV
	p = put_literal(p, "\"clock\":\"CLOCK_MONOTONIC\"");
	if (x->clocks.known)
		p = put_count(p, "realtime_minus_monotonic", x->clocks.realtime - x->clocks.monotonic);
	p = put_count(p, "emitted", h->balance.emitted);
#define GRT_FATE(NAME, name, help) p = put_count(p, #name, h->balance.fate[GRT_FATE_##NAME]);
#include <grtrace/fates.def>
#undef GRT_FATE
	p = put_count(p, "missing", h->missing_events);
	p = put_count(p, "jobs_not_drawn", n->undrawn);
	p = put_count(p, "jobs_inferred", n->inferred);
	p = put_count(p, "jobs_sampled", n->sampled);
	p = put_count(p, "ends_without_beginning", n->half);
	p = put_count(p, "without_end", n->cut);
	p = put_count(p, "without_track", n->over + n->back);
	chrome_take(f, put_literal(p, "}}\n"));
	return grt_outbuf_flush(&f->out);
}

static int chrome_end(struct grt_export *x, const struct grt_health *h)
{
	struct chrome *f = x->state;
	int ret = f->begun ? 0 : chrome_put_head(x, 0);

	return ret ?: grt_tracks_end(x->tracks) ?: put_tail(x, h);
}

static void chrome_free(struct grt_export *x)
{
	struct chrome *f = x->state;

	if (!f)
		return;
	for (uint32_t i = 0; i < f->places; i++)
		free(f->place[i].name);
	free(f->place);
	grt_outbuf_fini(&f->out);
	free(f);
}

const struct grt_export_format grt_export_chrome = {
	.whole = true,
	.joins = true,
	.begin = chrome_begin,
	.event = chrome_event,
	.beyond = chrome_event,
	.lasting = chrome_lasting,
	.late = chrome_event,
	.packet = chrome_packet,
	.end = chrome_end,
	.free = chrome_free,
};
