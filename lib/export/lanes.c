// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The lanes of lanes.h. The tracks' providers decide what is drawn on which track. */
#include "lanes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "flamegraph/flamegraph.h"
#include "threads/threads.h"
#include "trace/session.h"
#include "trace/env.h"
#include "tracks.h"

#define NO_LANE UINT32_MAX
#define NAMES_MAX 65536U

/** enum lane_kind - what a lane shows; the names are in kind_names */
enum lane_kind {
	LANE_GPU,    /* what ran on a ring, a queue, a stream */
	LANE_IDLE,   /* why a device was idle */
	LANE_THREAD, /* states */
	LANE_VALUE,  /* values of a counter */
	LANE_LOSS,   /* where events are missing */
	LANE_XID,
	LANE_KINDS,
};

static const char *const kind_names[LANE_KINDS] = {"gpu", "idle", "thread", "value", "loss", "xid"};

/**
 * struct lane_item - a slice, or neighbours that became one
 * @busy: time in it in which something ran; of a counter its value
 * @name: of the longest
 */
struct lane_item {
	uint64_t start;
	uint64_t end;
	uint64_t busy;
	uint32_t name;
};

/** struct lane - @track: its track, 0: none; @submits: the thread requested GPU work */
struct lane {
	enum lane_kind kind;
	uint32_t track;
	uint32_t name;
	uint32_t group;
	uint32_t unit;
	uint32_t pid;
	uint32_t tid;
	uint32_t gpu;
	bool submits;
	uint64_t busy;
	struct lane_item *item;
	uint32_t items, room;
};

/** struct lane_track - a track of tracks.h, by its id; @lane: NO_LANE until something is drawn on it */
struct lane_track {
	enum grt_track_kind kind;
	uint32_t parent;
	uint32_t name;
	uint32_t unit;
	uint32_t pid;
	uint32_t tid;
	uint32_t lane;
	bool submits;
};

struct grt_lanes {
	struct grt_consumer c;
	struct grt_tracks *tracks;
	struct grt_threads *threads;
	struct grt_texts texts;
	struct lane_track *track;
	uint32_t tracks_used, track_room;
	struct lane *lane;
	uint32_t lanes, lane_room;
	uint32_t *of_thread; /* by its number: its lane + 1 */
	uint32_t of_thread_room;
	uint32_t *of_device; /* by its number: its lane of idle time + 1 */
	uint32_t of_device_room;
	uint32_t xids;
	uint64_t items;
	uint64_t resolution;
	uint64_t from, to;
};

/* --------------------------------------------------------------- items */

/* Return: the item of a step of the resolution to which an item is added; NULL: there is none. */
static struct lane_item *lane_same(const struct lane *k, const struct lane_item *it, uint32_t first,
				   uint32_t kept)
{
	bool any = k->kind == LANE_GPU || k->kind == LANE_VALUE;

	for (uint32_t i = kept; i-- > first;)
		if (any || k->item[i].name == it->name)
			return &k->item[i];
	return NULL;
}

static void lane_add_to(const struct lane *k, struct lane_item *to, const struct lane_item *it)
{
	if (it->end - it->start > to->end - to->start)
		to->name = it->name;
	if (k->kind != LANE_VALUE)
		to->busy += it->busy;
	else if ((int64_t)it->busy > (int64_t)to->busy)
		to->busy = it->busy;
}

/* The merged items of a step have the same time, so that items stay in order by begin and by end. */
static void lane_close_step(struct lane *k, uint32_t first, uint32_t kept, uint64_t end)
{
	for (uint32_t i = first; i < kept; i++) {
		k->item[i].start = k->item[first].start;
		k->item[i].end = end;
	}
}

/* Short items in one step of the resolution become one item for each name, and for each GPU. */
static void lane_thin(struct lane *k, uint64_t resolution)
{
	uint32_t first = 0, kept = 0;
	bool open = false;
	uint64_t end = 0;

	for (uint32_t i = 0; i < k->items; i++) {
		struct lane_item it = k->item[i], *same;
		bool is_short = it.end - it.start < resolution;
		bool joins = open && is_short && k->item[first].start / resolution == it.start / resolution;

		same = joins ? lane_same(k, &it, first, kept) : NULL;
		if (!joins) {
			lane_close_step(k, first, kept, end);
			first = kept;
			end = it.end;
		}
		open = is_short;
		end = it.end > end ? it.end : end;
		if (same)
			lane_add_to(k, same, &it);
		else
			k->item[kept++] = it;
	}
	lane_close_step(k, first, kept, end);
	k->items = kept;
}

static void lanes_thin(struct grt_lanes *l)
{
	while (l->items > GRT_LANES_ITEMS_MAX && l->resolution < UINT64_MAX / 2) {
		l->resolution *= 2;
		l->items = 0;
		for (uint32_t i = 0; i < l->lanes; i++) {
			lane_thin(&l->lane[i], l->resolution);
			l->items += l->lane[i].items;
		}
	}
}

static int lanes_put(struct grt_lanes *l, uint32_t lane, const struct lane_item *item)
{
	struct lane *k = &l->lane[lane];
	struct lane_item it = *item;

	if (it.end < l->from || it.start > l->to)
		return 0;
	if (k->kind != LANE_VALUE) {
		it.start = it.start < l->from ? l->from : it.start;
		it.end = it.end > l->to ? l->to : it.end;
		it.busy = it.end - it.start;
		k->busy += it.busy;
	}
	if (grt_grow(&k->item, &k->room, k->items + 1, 16))
		return -ENOMEM;
	k->item[k->items++] = it;
	/* twice as many as stay, so that thinning is rare */
	if (++l->items > 2 * (uint64_t)GRT_LANES_ITEMS_MAX)
		lanes_thin(l);
	return 0;
}

static int lanes_new_lane(struct grt_lanes *l, const struct lane *like, uint32_t *out)
{
	if (grt_grow(&l->lane, &l->lane_room, l->lanes + 1, 16))
		return -ENOMEM;
	l->lane[l->lanes] = *like;
	*out = l->lanes++;
	return 0;
}

static int lanes_text(struct grt_lanes *l, const char *text, uint32_t *number)
{
	return grt_texts_add(&l->texts, text ?: "", strlen(text ?: ""), number);
}

/* -------------------------------------------------------------- tracks */

static int lanes_on_track(void *arg, const struct grt_track *t)
{
	struct grt_lanes *l = arg;
	struct lane_track *k;
	bool known = t->id <= l->tracks_used;

	if (grt_grow_zeroed(&l->track, &l->track_room, t->id + 1, 64))
		return -ENOMEM;
	k = &l->track[t->id];
	if (!known || !k->kind)
		k->lane = NO_LANE;
	k->kind = t->kind;
	k->parent = t->parent;
	k->pid = t->pid;
	k->tid = t->tid;
	l->tracks_used = t->id > l->tracks_used ? t->id : l->tracks_used;
	/* it may be announced again with a better name */
	if (lanes_text(l, t->name, &k->name) || lanes_text(l, t->unit, &k->unit))
		return -ENOMEM;
	if (k->lane != NO_LANE)
		l->lane[k->lane].name = k->name;
	return 0;
}

/* Return: the kind of lane for an item; LANE_KINDS: it is not part of the page */
static enum lane_kind lanes_kind_of(const struct grt_track_item *i)
{
	if (i->kind == GRT_ITEM_COUNTER)
		return LANE_VALUE;
	if (i->kind != GRT_ITEM_SLICE)
		return LANE_KINDS;
	switch (i->category) {
	case GRT_CATEGORY_JOB:
	case GRT_CATEGORY_KERNEL:
	case GRT_CATEGORY_COPY:
	case GRT_CATEGORY_SET:
	case GRT_CATEGORY_CONTEXT:
	case GRT_CATEGORY_MIGRATION:
		return LANE_GPU;
	case GRT_CATEGORY_LOSS:
		return LANE_LOSS;
	default:
		return LANE_KINDS;
	}
}

static bool lanes_submits(const struct grt_track_item *i)
{
	return i->category == GRT_CATEGORY_SUBMIT || i->category == GRT_CATEGORY_RUNTIME ||
	       i->category == GRT_CATEGORY_DRIVER || i->category == GRT_CATEGORY_HIP;
}

static int lanes_on_item(void *arg, const struct grt_track_item *i)
{
	struct grt_lanes *l = arg;
	enum lane_kind kind = lanes_kind_of(i);
	struct lane_track *k = &l->track[i->track];
	struct lane_item it = {.start = i->time, .end = i->end};
	int ret = 0;

	k->submits |= lanes_submits(i);
	/* The event may be in the requested time although its work was before it: such work has no lane. */
	if (kind == LANE_KINDS || i->time > l->to || (kind != LANE_VALUE && i->end < l->from))
		return 0;
	if (k->lane == NO_LANE) {
		struct lane like = {.kind = kind,
				    .track = i->track,
				    .name = k->name,
				    .unit = k->unit,
				    .group = k->parent ? l->track[k->parent].name : 0,
				    .pid = k->pid,
				    .tid = k->tid};

		ret = lanes_new_lane(l, &like, &k->lane);
	}
	if (kind == LANE_VALUE) {
		it.end = it.start;
		it.busy = (uint64_t)i->value;
	} else if (!ret) {
		ret = grt_texts_add(&l->texts, grt_tracks_name(l->tracks, i->name),
				    grt_tracks_name_length(l->tracks, i->name), &it.name);
	}
	return ret ? ret : lanes_put(l, k->lane, &it);
}

/* ------------------------------------------------------------- threads */

static int lanes_new_thread(struct grt_lanes *l, const struct grt_thread *t, uint32_t *lane)
{
	struct lane like = {.kind = LANE_THREAD, .pid = t->pid, .tid = t->tid};

	return lanes_new_lane(l, &like, lane);
}

/* A thread may change its name; its last name is used. */
static int lanes_name_threads(struct grt_lanes *l)
{
	const struct grt_names *names = grt_threads_names(l->threads);
	const struct grt_thread *t;
	char text[64];
	int ret = 0;

	for (uint32_t i = 0; i < l->of_thread_room && !ret && (t = grt_threads_at(l->threads, i)); i++) {
		struct lane *k = &l->lane[l->of_thread[i] - 1];

		if (!l->of_thread[i])
			continue;
		snprintf(text, sizeof(text), "%s %u", grt_names_name(names, t->name) ?: "thread", t->tid);
		ret = lanes_text(l, text, &k->name);
		snprintf(text, sizeof(text), "%s %u", grt_names_owner(names, t->name) ?: "pid", t->pid);
		ret = ret ? ret : lanes_text(l, text, &k->group);
	}
	return ret;
}

static int lanes_on_piece(void *arg, const struct grt_thread *t, const struct grt_thread_piece *p)
{
	struct lane_item it = {.start = p->start, .end = p->end};
	struct grt_lanes *l = arg;
	uint32_t lane;

	if (p->sample || t->tracer || p->end <= p->start)
		return 0;
	if (grt_grow_zeroed(&l->of_thread, &l->of_thread_room, t->number + 1, 64) ||
	    lanes_text(l, grt_thread_state_name(p->state), &it.name))
		return -ENOMEM;
	if (!l->of_thread[t->number]) {
		if (lanes_new_thread(l, t, &lane))
			return -ENOMEM;
		l->of_thread[t->number] = lane + 1;
	}
	return lanes_put(l, l->of_thread[t->number] - 1, &it);
}

/* ----------------------------------------------------------- idle time */

/* Until the rows have their causes, an item is named by the number of its row. */
static int lanes_on_idle(void *arg, const struct grt_idleness_part *p)
{
	struct lane_item it = {.start = p->from, .end = p->to, .name = p->row};
	struct lane like = {.kind = LANE_IDLE};
	struct grt_lanes *l = arg;
	uint32_t lane;

	if (grt_grow_zeroed(&l->of_device, &l->of_device_room, p->device + 1, 8))
		return -ENOMEM;
	if (!l->of_device[p->device]) {
		if (lanes_new_lane(l, &like, &lane))
			return -ENOMEM;
		l->of_device[p->device] = lane + 1;
	}
	return lanes_put(l, l->of_device[p->device] - 1, &it);
}

/* Writes the cause, and after a blank the place, or the two places around the code. */
static int lanes_name_idle(struct grt_lanes *l, const struct grt_idleness_row *r, uint32_t *name)
{
	char text[256];

	snprintf(text, sizeof(text), "%s%s%s%s%s", grt_idleness_cause_name(r->cause), r->place ? " " : "",
		 r->since ?: "", r->since ? " - " : "", r->place ?: "");
	return lanes_text(l, text, name);
}

static int lanes_on_idle_end(void *arg, const struct grt_idleness *x)
{
	const struct grt_idleness_device *d;
	struct grt_lanes *l = arg;
	int ret = 0;

	for (uint32_t i = 0; i < l->of_device_room && !ret && (d = grt_idleness_device(x, i)); i++) {
		struct lane *k = &l->lane[l->of_device[i] - 1];

		if (!l->of_device[i])
			continue;
		k->pid = d->pid;
		k->gpu = d->cuda ? d->gpu : d->ring;
		ret = lanes_text(l, d->name, &k->name);
		for (uint32_t n = 0; n < k->items && !ret; n++)
			ret = lanes_name_idle(l, grt_idleness_row(x, k->item[n].name), &k->item[n].name);
	}
	return ret;
}

struct grt_idleness_sink grt_lanes_idle(struct grt_lanes *l)
{
	return (struct grt_idleness_sink){.part = lanes_on_idle, .end = lanes_on_idle_end, .arg = l};
}

/* -------------------------------------------------------------- events */

static int lanes_on_xid(struct grt_lanes *l, const struct grt_ev_xid *e)
{
	struct lane_item it = {.start = e->e.time, .end = e->e.time};
	char text[sizeof(e->text) + 16];

	if (l->xids == NO_LANE) {
		struct lane like = {.kind = LANE_XID};

		if (lanes_text(l, "Xids", &like.name) || lanes_new_lane(l, &like, &l->xids))
			return -ENOMEM;
	}
	snprintf(text, sizeof(text), "Xid %u: %.*s", e->code, (int)strnlen(e->text, sizeof(e->text)),
		 e->text);
	return lanes_text(l, text, &it.name) ?: lanes_put(l, l->xids, &it);
}

static int lanes_on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct grt_lanes *l = (struct grt_lanes *)c;
	int ret = grt_tracks_event(l->tracks, e);

	if (!ret)
		ret = grt_threads_event(l->threads, e);
	if (!ret && e->type == GRT_EV_XID)
		ret = lanes_on_xid(l, (const struct grt_ev_xid *)e);
	return ret;
}

static int lanes_on_packet(struct grt_consumer *c, const struct grt_packet *p)
{
	return grt_tracks_packet(((struct grt_lanes *)c)->tracks, p);
}

int grt_lanes_new(struct grt_lanes **out)
{
	struct grt_lanes *l = calloc(1, sizeof(*l));
	struct grt_tracks_sink tracks = {.track = lanes_on_track, .item = lanes_on_item, .arg = l};
	struct grt_threads_sink threads = {.piece = lanes_on_piece, .arg = l};

	*out = l;
	if (!l)
		return -ENOMEM;
	l->c = (struct grt_consumer){.event = lanes_on_event,
				     .beyond = lanes_on_event,
				     .late = lanes_on_event,
				     .packet = lanes_on_packet};
	l->to = UINT64_MAX;
	l->resolution = 1;
	l->xids = NO_LANE;
	grt_texts_init(&l->texts, NAMES_MAX);
	if (!grt_tracks_new(&l->tracks, &tracks) && !grt_threads_new(&l->threads, &threads))
		return 0;
	grt_lanes_free(l);
	*out = NULL;
	return -ENOMEM;
}

void grt_lanes_filter(struct grt_lanes *l, const struct grt_filter *filter)
{
	grt_tracks_filter(l->tracks, filter);
}

void grt_lanes_within(struct grt_lanes *l, uint64_t from, uint64_t to)
{
	l->from = from;
	l->to = to;
	grt_threads_from(l->threads, from);
}

struct grt_consumer *grt_lanes_consumer(struct grt_lanes *l)
{
	return &l->c;
}

/* Marks the lanes of threads that requested GPU work, as their tracks note it. */
static void lanes_mark_submitters(struct grt_lanes *l)
{
	for (uint32_t i = 1; i <= l->tracks_used; i++)
		for (uint32_t k = 0; l->track[i].submits && k < l->lanes; k++)
			l->lane[k].submits |= l->lane[k].kind == LANE_THREAD &&
					      l->lane[k].tid == l->track[i].tid &&
					      l->lane[k].pid == l->track[i].pid;
}

int grt_lanes_end(struct grt_lanes *l)
{
	int ret = grt_tracks_end(l->tracks) ?: grt_threads_flush(l->threads);

	lanes_mark_submitters(l);
	lanes_thin(l);
	return ret ? ret : lanes_name_threads(l);
}

/* ----------------------------------------------------------------- out */

/* Seven bits per byte, the lowest first; the last byte has no high bit. */
static void lanes_put_number(struct grt_page *p, uint64_t number)
{
	for (; number > 127; number >>= 7)
		grt_page_u8(p, (uint8_t)(number | 128));
	grt_page_u8(p, (uint8_t)number);
}

/*
 * Writes a start as the difference from the previous start, and a counter's value from the previous value,
 * because most differences are small.
 */
static void lanes_put_column(const struct grt_lanes *l, struct grt_page *p, unsigned int column)
{
	static const char *const names[] = {"lane-start", "lane-length", "lane-busy", "lane-name"};

	grt_page_block(p, names[column]);
	for (uint32_t i = 0; i < l->lanes; i++) {
		const struct lane *k = &l->lane[i];
		struct lane_item before = {.start = l->from};

		for (uint32_t n = 0; n < k->items; before = k->item[n++]) {
			const struct lane_item *it = &k->item[n];
			const int64_t value = (int64_t)(it->busy - before.busy),
				      back = (int64_t)(it->start - before.start);
			/* a length is stored without the time that ran, which is mostly 0 */
			const uint64_t number[] = {
				(uint64_t)back << 1 ^ (uint64_t)(back >> 63), it->end - it->start,
				k->kind == LANE_VALUE ? (uint64_t)value << 1 ^ (uint64_t)(value >> 63)
						      : it->end - it->start - it->busy,
				it->name};

			lanes_put_number(p, number[column]);
		}
	}
	grt_page_block_end(p);
}

static void lanes_put_string(const struct grt_lanes *l, struct grt_page *p, const char *name, uint32_t text)
{
	grt_page_printf(p, ", \"%s\": ", name);
	grt_page_string(p, grt_texts_get(&l->texts, text), grt_texts_length(&l->texts, text));
}

static void lanes_put_lane(const struct grt_lanes *l, struct grt_page *p, const struct lane *k)
{
	grt_page_printf(p,
			"{\"kind\": \"%s\", \"items\": %u, \"busy\": %" PRIu64 ", \"pid\": %u, \"tid\": %u, "
			"\"gpu\": %u, \"submits\": %s",
			kind_names[k->kind], k->items, k->busy, k->pid, k->tid, k->gpu,
			k->submits ? "true" : "false");
	lanes_put_string(l, p, "name", k->name);
	lanes_put_string(l, p, "group", k->group);
	lanes_put_string(l, p, "unit", k->unit);
	grt_page_text(p, "}");
}

/** struct lane_legend - a state or a cause; @colour: 0xRRGGBB, 0: as in flame graphs */
struct lane_legend {
	const char *name;
	const char *help;
	uint32_t colour;
};

static const struct lane_legend legend_states[] = {
#define GRT_THREAD_STATE(number, NAME, name, help) {#name, help, 0},
#include <grtrace/thread_states.def>
#undef GRT_THREAD_STATE
	{.name = NULL},
};

static const struct lane_legend legend_causes[] = {
#define GRT_IDLE_CAUSE(NAME, name, colour, phrase, help) {#name, help, colour},
#include "idle/idle_causes.def"
	{.name = NULL},
};

static void lanes_put_legend(struct grt_page *p, const char *list, const struct lane_legend *k)
{
	unsigned int rgb[3];
	char frame[32];

	grt_page_printf(p, "],\n\"%s\": [", list);
	for (const char *comma = ""; k->name; k++, comma = ",") {
		snprintf(frame, sizeof(frame), "[%s]", k->name);
		grt_flamegraph_colour(frame, rgb);
		for (int i = 0; i < 3 && k->colour; i++)
			rgb[i] = k->colour >> (16 - 8 * i) & 255;
		grt_page_printf(p, "%s\n{\"name\": \"%s\", \"help\": \"%s\", \"colour\": [%u, %u, %u]}",
				comma, k->name, k->help, rgb[0], rgb[1], rgb[2]);
	}
}

static void lanes_put_windows(struct grt_page *p, const struct grt_session *s)
{
	static const char suffix[] = "_window";
	const char *comma = "\n";
	struct grt_window w;

	grt_page_text(p, "],\n\"windows\": [");
	for (unsigned int i = 0; i < s->env.used; i++) {
		const char *key = s->env.entry[i].key;
		size_t len = strlen(key), source = len - (sizeof(suffix) - 1);

		if (len < sizeof(suffix) || strcmp(key + source, suffix) ||
		    !grt_window_read(&w, s->env.entry[i].value))
			continue;
		grt_page_printf(p, "%s{\"from\": %" PRIu64, comma, w.from);
		if (w.to != UINT64_MAX)
			grt_page_printf(p, ", \"to\": %" PRIu64, w.to);
		grt_page_printf(p,
				", \"before_start\": %" PRIu64 ", \"after_end\": %" PRIu64 ", \"source\": ",
				w.before, w.after);
		grt_page_string(p, key, source);
		grt_page_text(p, "}");
		comma = ",\n";
	}
	grt_page_text(p, "]}\n");
}

void grt_lanes_put(const struct grt_lanes *l, const struct grt_session *s, struct grt_page *p)
{
	grt_page_block(p, "lanes");
	grt_page_printf(
		p, "{\"from\": %" PRIu64 ", \"to\": %" PRIu64 ", \"resolution\": %" PRIu64 ",\n\"names\": [",
		l->from, l->to, l->resolution);
	for (uint32_t i = 0; i < l->texts.used; i++) {
		grt_page_text(p, i ? ",\n" : "\n");
		grt_page_string(p, grt_texts_get(&l->texts, i), grt_texts_length(&l->texts, i));
	}
	lanes_put_legend(p, "states", legend_states);
	lanes_put_legend(p, "causes", legend_causes);
	grt_page_text(p, "],\n\"lanes\": [");
	for (uint32_t i = 0; i < l->lanes; i++) {
		grt_page_text(p, i ? ",\n" : "\n");
		lanes_put_lane(l, p, &l->lane[i]);
	}
	lanes_put_windows(p, s);
	grt_page_block_end(p);
	for (unsigned int column = 0; column < 4; column++)
		lanes_put_column(l, p, column);
}

void grt_lanes_free(struct grt_lanes *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->lanes; i++)
		free(l->lane[i].item);
	grt_tracks_free(l->tracks);
	grt_threads_free(l->threads);
	grt_texts_free(&l->texts);
	free(l->lane);
	free(l->track);
	free(l->of_thread);
	free(l->of_device);
	free(l);
}
