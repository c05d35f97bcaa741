// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Tracks of a trace, see tracks.h. How an event is drawn is a row of `rows` at
 * the end; an event without a row is an instant where it happened.
 */
#include "tracks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <grtrace/event_table.h>

#include "base/bus.h"
#include "codes/codes.h"
#include "codes/cuda_codes.h"
#include "trace/field.h"
#include "base/grow.h"
#include "codes/ioctl_names.h"
#include "trace/packet.h"
#include "stack/images.h"
#include "jobs/jobs.h"
#include "base/keyed.h"
#include "base/demangle.h"
#include "threads/threads.h"

/* What a thread can be inside of: an ioctl, and in it a wait; calls and functions of the kernel. */
#define DEPTH_MAX 8U
/* Channel groups that live. */
#define LIVES_MAX 16384U
#define TEXT_MAX 160U
/* Kernels whose names are remembered; graphs whose first kernel has come. */
#define KERNELS_MAX 65536U
#define GRAPHS_MAX 65536U
/* Threads and ioctls that were looked for last, by a simple hash. */
#define RECENT 64U

/** enum what - what a track stands for: the first number of its key */
enum what {
	OF_PROCESS = 1,
	OF_THREAD,
	OF_DEVICE,
	OF_GPU,
	OF_RING,
	OF_RING_EVENTS,
	OF_WINDOWS,
	OF_COUNTER,
	OF_CRTC,
	OF_BUS,
	OF_TSG,
	OF_LOSSES,
	OF_CPU,
	OF_CUDA_CALLS,
	OF_CUDA_WAITS,
	OF_CUDA_OVERHEAD,
	OF_CUDA_STREAM,
	OF_OFF_CPU,
	OF_LOG_CALLS,
	OF_LOG_NOTES,
	OF_LOG_QUEUE,
	OF_KERNEL_FUNCS,
};

/** enum inside - what a thread is inside of */
enum inside {
	INSIDE_IOCTL = 1,
	INSIDE_WAIT,
	INSIDE_CALL, /* ctx is the number of its name */
};

/** struct open_slice - a slice that has begun on a thread's track */
struct open_slice {
	enum inside inside;
	uint64_t ctx;
	uint64_t seqno;
};

/**
 * struct track - the state of a track
 * @name: number of its name in the trace, of grt_names
 * @named: how many names there were when that was looked up
 * @last: the end of what was drawn last, ns
 * @busy: something has begun on this lane
 * @open: what has begun on a thread's track, outermost first
 */
struct track {
	uint32_t id;
	uint32_t parent;
	uint32_t pid;
	uint32_t tid;
	uint32_t name;
	uint32_t named;
	uint64_t last;
	uint8_t kind;
	uint8_t lane;
	uint8_t depth;
	bool busy;
	struct open_slice open[DEPTH_MAX];
};

/** struct life - a channel group: the key of its track */
struct life {
	struct grt_key track;
};

/** struct recent_call - an ioctl's name; @named as in struct track */
struct recent_call {
	uint32_t device;
	uint32_t cmd;
	uint32_t name;
	uint32_t named;
};

/** struct args - values while they are collected */
struct args {
	struct grt_track_arg a[GRT_TRACK_ARGS_MAX];
	unsigned int n;
};

struct grt_tracks {
	struct grt_tracks_sink sink;
	struct grt_jobs *jobs;
	const struct grt_names *names;
	struct grt_keyed tracks;
	struct grt_keyed lives;
	struct grt_images images;
	struct grt_keyed kernels; /* elements are numbers of names */
	struct grt_keyed graphs;
	struct grt_texts texts;
	struct track
		*recent[RECENT]; /* threads by tid; good as long as there is room for @recent_room tracks */
	uint32_t recent_room;
	struct recent_call recent_call[RECENT];
	uint32_t *job_name; /* by number of grt_names: of the text, plus 1 */
	uint32_t job_names;
	uint32_t title[GRT_EV_MAX];
	uint32_t wait_name, window_name, lost_name, tsg_name;
	const char *arg_name[GRT_TRACK_ARG_IDS_MAX];
	uint32_t arg_names;
	uint8_t *field_arg[GRT_EV_MAX];
	struct args args; /* of the item that is being drawn: too large to be zeroed for each */
	struct grt_tracks_count count;
};

/* -------------------------------------------------------------- values */

/* Begins the values of an item: those of the one before are drawn. */
static struct args *no_args(struct grt_tracks *t)
{
	t->args.n = 0;
	return &t->args;
}

static void add_arg(struct args *a, unsigned int id, enum grt_track_value kind, uint64_t number)
{
	if (a->n < GRT_TRACK_ARGS_MAX)
		a->a[a->n++] =
			(struct grt_track_arg){.id = (uint16_t)id, .kind = (uint16_t)kind, .number = number};
}

static void tracks_add_number(struct args *a, unsigned int id, uint64_t number)
{
	add_arg(a, id, GRT_TRACK_U64, number);
}

static void tracks_add_text(struct args *a, unsigned int id, const char *text, size_t length)
{
	if (a->n < GRT_TRACK_ARGS_MAX)
		a->a[a->n++] = (struct grt_track_arg){
			.id = (uint16_t)id, .kind = GRT_TRACK_TEXT, .length = (uint32_t)length, .text = text};
}

static uint64_t field_number(const struct grt_field *f, const struct grt_event *e)
{
	uint64_t v = 0;

	memcpy(&v, (const char *)e + f->offset, f->size);
	return v;
}

static void add_field(struct args *a, unsigned int id, const struct grt_field *f, const struct grt_event *e)
{
	static const enum grt_track_value kinds[] = {[GRT_FIELD_DEC] = GRT_TRACK_U64,
						     [GRT_FIELD_HEX] = GRT_TRACK_HEX,
						     [GRT_FIELD_SIGNED] = GRT_TRACK_S64,
						     [GRT_FIELD_ENGINE] = GRT_TRACK_U64,
						     [GRT_FIELD_TIME] = GRT_TRACK_U64};
	unsigned int unused = 64 - 8 * f->size;
	const char *text = (const char *)e + f->offset;
	int64_t number;

	if (f->kind == GRT_FIELD_STR) {
		tracks_add_text(a, id, text, f->size);
	} else if (f->kind == GRT_FIELD_SIGNED) {
		number = (int64_t)(field_number(f, e) << unused) >> unused;
		if (!grt_field_is_unknown(f, e, number))
			add_arg(a, id, GRT_TRACK_S64, (uint64_t)number);
	} else if (!grt_field_is_unknown(f, e, (int64_t)field_number(f, e))) {
		add_arg(a, id, kinds[f->kind], field_number(f, e));
	}
}

static void add_fields(const struct grt_tracks *t, struct args *a, const struct grt_event *e)
{
	const struct grt_field *f = grt_event_table[e->type].fields();

	for (unsigned int i = 0; f[i].name; i++)
		add_field(a, t->field_arg[e->type][i], &f[i], e);
}

/* ------------------------------------------------------------- drawing */

/* Draws on a track; NULL: there was no place for it. Return: 0 or what the sink returned */
static int tracks_draw(struct grt_tracks *t, struct track *k, struct grt_track_item *i, const struct args *a)
{
	if (!k) {
		t->count.over++;
		return 0;
	}
	if (i->time < k->last) {
		t->count.back++;
		return 0;
	}
	k->last = i->kind == GRT_ITEM_SLICE ? i->end : i->time;
	i->track = k->id;
	i->arg = a ? a->a : NULL;
	i->args = a ? a->n : 0;
	t->count.slices += i->kind == GRT_ITEM_SLICE || i->kind == GRT_ITEM_BEGIN;
	t->count.instants += i->kind == GRT_ITEM_INSTANT;
	t->count.values += i->kind == GRT_ITEM_COUNTER;
	return t->sink.item(t->sink.arg, i);
}

static int announce(struct grt_tracks *t, const struct track *k, const char *name, const char *unit)
{
	struct grt_track out = {
		.id = k->id,
		.parent = k->parent,
		.kind = k->kind,
		.pid = k->pid,
		.tid = k->tid,
		.lane = k->lane,
		.name = name ?: "",
		.unit = unit ?: "",
	};

	return t->sink.track(t->sink.arg, &out);
}

static struct grt_key tracks_key_of(enum what what, uint64_t a, uint64_t b, uint64_t c)
{
	return (struct grt_key){{what, a, b, c}};
}

/*
 * The track of a key. @like: what a new one is; its id is given here
 * Return: 1: it is new and must be announced, 0: it is known, or *out is NULL: no place; or -ENOMEM
 */
static int get_track(struct grt_tracks *t, const struct grt_key *key, const struct track *like,
		     struct track **out)
{
	void *found;
	int ret = grt_keyed_get_or_count(&t->tracks, key, NULL, &found);

	*out = found;
	if (!*out || (*out)->id)
		return ret;
	**out = *like;
	(*out)->id = t->tracks.used;
	return 1;
}

/* The same for a track whose name never changes. Return: 0 or an error */
static int fixed_track(struct grt_tracks *t, const struct grt_key *key, const struct track *like,
		       const char *name, struct track **out)
{
	int ret = get_track(t, key, like, out);

	return ret > 0 ? announce(t, *out, name, NULL) : ret;
}

/* -------------------------------------------------------------- places */

static const char *tracks_name_of(const struct grt_tracks *t, unsigned int kind, uint32_t id,
				  uint32_t *number)
{
	*number = grt_names_find(t->names, kind, id);
	return grt_names_name(t->names, *number);
}

/* Whether the track has another name than the one written; names only ever come. */
static bool renamed(const struct grt_tracks *t, struct track *k, unsigned int kind, uint32_t id)
{
	uint32_t number;

	if (k->named == t->names->used)
		return false;
	k->named = t->names->used;
	number = grt_names_find(t->names, kind, id);
	if (number == k->name)
		return false;
	k->name = number;
	return true;
}

/* A process is called what its threads' names say. */
static int process_track(struct grt_tracks *t, uint32_t pid, uint32_t tid, uint32_t *id)
{
	struct grt_key key = tracks_key_of(OF_PROCESS, pid, 0, 0);
	struct track like = {.kind = GRT_TRACK_PROCESS, .pid = pid}, *k;
	int ret = get_track(t, &key, &like, &k);

	*id = k ? k->id : 0;
	if (ret < 0 || !k)
		return ret;
	if (renamed(t, k, GRT_NAME_THREAD, tid) || ret > 0)
		return announce(t, k, grt_names_owner(t->names, k->name), NULL);
	return 0;
}

/* A thread's track where it was looked for lately and has no other name since; else NULL. */
static struct track *recent_thread(struct grt_tracks *t, uint32_t pid, uint32_t tid)
{
	struct track *k = t->recent[tid % RECENT];

	/* elements move when there is more room for them */
	if (t->recent_room != t->tracks.room) {
		memset(t->recent, 0, sizeof(t->recent));
		t->recent_room = t->tracks.room;
		return NULL;
	}
	return k && k->tid == tid && k->pid == pid && k->named == t->names->used ? k : NULL;
}

static int tracks_find_thread(struct grt_tracks *t, uint32_t pid, uint32_t tid, struct track **out)
{
	struct grt_key key = tracks_key_of(OF_THREAD, pid, tid, 0);
	struct track like = {.kind = GRT_TRACK_THREAD, .pid = pid, .tid = tid};
	uint32_t process;
	int ret = get_track(t, &key, &like, out);

	if (ret < 0 || !*out || (!ret && (*out)->named == t->names->used))
		return ret;
	if (!renamed(t, *out, GRT_NAME_THREAD, tid) && !ret)
		return 0;
	ret = process_track(t, pid, tid, &process);
	/* the tracks may have moved */
	*out = grt_keyed_find(&t->tracks, &key);
	(*out)->parent = process;
	return ret ?: announce(t, *out, grt_names_name(t->names, (*out)->name), NULL);
}

/* Return: 0 with the track, NULL where there is no place; or an error */
static int thread_track(struct grt_tracks *t, uint32_t pid, uint32_t tid, struct track **out)
{
	int ret;

	*out = recent_thread(t, pid, tid);
	if (*out)
		return 0;
	ret = tracks_find_thread(t, pid, tid, out);
	if (t->recent_room == t->tracks.room)
		t->recent[tid % RECENT] = ret ? NULL : *out;
	return ret;
}

/* FNV-1a. The address of a GPU is all that its rings have in common. */
static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3ULL;
	return hash;
}

/* The GPU of a ring, by its address on its bus. Return: as device_track(), -ENOENT where it is unknown */
static int gpu_track(struct grt_tracks *t, uint32_t ring, uint32_t *id)
{
	struct track like = {.kind = GRT_TRACK_GROUP}, *k;
	const char *driver, *bus;
	char text[TEXT_MAX];
	struct grt_key key;
	uint32_t number;
	int ret;

	bus = tracks_name_of(t, GRT_NAME_RING_GPU, ring, &number);
	if (!bus)
		return -ENOENT;
	key = (struct grt_key){{OF_GPU, hash_text(bus)}};
	ret = get_track(t, &key, &like, &k);
	*id = k ? k->id : 0;
	if (ret < 0 || !k || !ret)
		return ret < 0 ? ret : 0;
	driver = grt_names_owner(t->names, grt_names_find(t->names, GRT_NAME_RING, ring));
	snprintf(text, sizeof(text), "GPU %s%s%s%s", bus, driver ? " (" : "", driver ?: "",
		 driver ? ")" : "");
	return announce(t, k, text, NULL);
}

static int device_track(struct grt_tracks *t, uint32_t device, uint32_t *id)
{
	struct grt_key key = tracks_key_of(OF_DEVICE, device, 0, 0);
	struct track like = {.kind = GRT_TRACK_GROUP}, *k;
	const char *name, *driver;
	char text[TEXT_MAX];
	int ret = get_track(t, &key, &like, &k);

	*id = k ? k->id : 0;
	if (ret < 0 || !k || (!renamed(t, k, GRT_NAME_DEVICE, device) && !ret))
		return ret;
	name = grt_names_name(t->names, k->name);
	driver = grt_names_owner(t->names, k->name);
	if (name)
		snprintf(text, sizeof(text), "GPU %s%s%s%s", name, driver ? " (" : "", driver ?: "",
			 driver ? ")" : "");
	else
		snprintf(text, sizeof(text), "GPU %u", device);
	return announce(t, k, text, NULL);
}

static void tracks_ring_text(const struct grt_tracks *t, uint32_t ring, char *text)
{
	uint32_t number;
	const char *name = tracks_name_of(t, GRT_NAME_RING, ring, &number);

	if (name)
		snprintf(text, TEXT_MAX, "%s", name);
	else if (ring != GRT_RING_NONE)
		snprintf(text, TEXT_MAX, "ring %u", ring);
	else
		snprintf(text, TEXT_MAX, "jobs");
}

/* A track under a device, told by @text after the ring's name. Return: as thread_track() */
static int ring_track(struct grt_tracks *t, const struct grt_key *key, uint32_t device, uint32_t ring,
		      uint32_t lane, const char *text, struct track **out)
{
	struct track like = {.kind = GRT_TRACK_SLICES, .lane = (uint8_t)lane};
	char name[TEXT_MAX], full[2 * TEXT_MAX];
	int ret = 0;

	*out = grt_keyed_find(&t->tracks, key);
	if (!*out) {
		ret = gpu_track(t, ring, &like.parent);
		if (ret == -ENOENT)
			ret = device_track(t, device, &like.parent);
		if (!ret)
			ret = get_track(t, key, &like, out);
	}
	if (ret < 0 || !*out || (!renamed(t, *out, GRT_NAME_RING, ring) && !ret))
		return ret;
	tracks_ring_text(t, ring, name);
	snprintf(full, sizeof(full), "%s%s", name, text);
	return announce(t, *out, full, NULL);
}

/* The first lane on which something may begin at @time; lanes are numbered in the last word of the key. */
static struct track *free_lane(struct grt_tracks *t, struct grt_key *key, uint64_t time)
{
	struct track *k;

	for (key->w[3] = 0; key->w[3] < GRT_TRACKS_LANES_MAX; key->w[3]++) {
		k = grt_keyed_find(&t->tracks, key);
		if (!k || (!k->busy && k->last <= time))
			return k;
	}
	return NULL;
}

/* Where it happened: the thread that ran, else ring, else device. Return: as thread_track() */
static int tracks_place_of(struct grt_tracks *t, const struct grt_event *e, struct track **out)
{
	struct grt_key key = tracks_key_of(OF_RING_EVENTS, e->device, e->ring, 0);

	if (grt_event_table[e->type].who == GRT_WHO_CURRENT && e->tid)
		return thread_track(t, e->pid, e->tid, out);
	return ring_track(t, &key, e->device, e->ring, 0,
			  e->ring == GRT_RING_NONE ? ": events of no ring" : ": events", out);
}

/* ------------------------------------------------------------- instants */

static void add_common(struct args *a, const struct grt_event *e, bool on_thread)
{
	if (!on_thread && e->pid)
		tracks_add_number(a, GRT_TRACK_ARG_PID, e->pid);
	if (grt_has_job(e)) {
		tracks_add_number(a, GRT_TRACK_ARG_CTX, e->ctx);
		tracks_add_number(a, GRT_TRACK_ARG_SEQNO, e->seqno);
	}
	if (e->flags & GRT_FLAG_INFERRED)
		add_arg(a, GRT_TRACK_ARG_INFERRED, GRT_TRACK_BOOL, 1);
}

static int draw_instant(struct grt_tracks *t, struct track *k, const struct grt_event *e, uint32_t name,
			enum grt_track_category category)
{
	struct grt_track_item i = {
		.kind = GRT_ITEM_INSTANT, .category = (uint8_t)category, .name = name, .time = e->time};
	struct args *a = no_args(t);

	add_common(a, e, k && k->kind == GRT_TRACK_THREAD);
	add_fields(t, a, e);
	return tracks_draw(t, k, &i, a);
}

static int on_instant(struct grt_tracks *t, const struct grt_event *e)
{
	struct track *k;
	int ret = tracks_place_of(t, e, &k);

	return ret ?: draw_instant(t, k, e, t->title[e->type], GRT_CATEGORY_EVENT);
}

static int tracks_on_vblank(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_vblank *v = (const struct grt_ev_vblank *)e;
	struct grt_key key = tracks_key_of(OF_CRTC, e->device, v->crtc, 0);
	struct track like = {.kind = GRT_TRACK_SLICES}, *k = grt_keyed_find(&t->tracks, &key);
	char text[32];
	int ret = 0;

	if (!k) {
		snprintf(text, sizeof(text), "CRTC %u", v->crtc);
		ret = device_track(t, e->device, &like.parent);
		ret = ret ?: fixed_track(t, &key, &like, text, &k);
	}
	return ret ?: draw_instant(t, k, e, t->title[e->type], GRT_CATEGORY_EVENT);
}

/* NVIDIA's errors belong to a PCI device, which is known by its place only. */
static int on_xid(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_xid *x = (const struct grt_ev_xid *)e;
	const struct grt_xid_info *info = grt_xid_info(x->code);
	struct grt_track_item i = {.kind = GRT_ITEM_INSTANT, .category = GRT_CATEGORY_EVENT, .time = e->time};
	struct grt_key key = tracks_key_of(OF_BUS, x->bus, 0, 0);
	struct track like = {.kind = GRT_TRACK_SLICES}, *k;
	struct args *a = no_args(t);
	char text[64], bus[GRT_BUS_MAX];
	int ret;

	snprintf(text, sizeof(text), "Xid of %s", grt_bus_text(bus, x->bus));
	ret = fixed_track(t, &key, &like, text, &k);
	snprintf(text, sizeof(text), "Xid %u", x->code);
	ret = ret ?: grt_texts_add(&t->texts, text, sizeof(text), &i.name);
	add_common(a, e, false);
	add_fields(t, a, e);
	if (info)
		tracks_add_text(a, GRT_TRACK_ARG_MEANING, info->meaning, strlen(info->meaning));
	return ret ?: tracks_draw(t, k, &i, a);
}

/* -------------------------------------------------------------- threads */

/* Closes the innermost slices of a thread until @depth are left; their ends were not seen. */
static int cut_down_to(struct grt_tracks *t, struct track *k, unsigned int depth, uint64_t time)
{
	struct grt_track_item i = {.kind = GRT_ITEM_END, .time = time};
	struct args a;
	int ret = 0;

	a.n = 0;
	add_arg(&a, GRT_TRACK_ARG_CUT, GRT_TRACK_BOOL, 1);
	while (!ret && k->depth > depth) {
		k->depth--;
		t->count.cut++;
		ret = tracks_draw(t, k, &i, &a);
	}
	return ret;
}

static int tracks_begin(struct grt_tracks *t, struct track *k, const struct open_slice *what,
			struct grt_track_item *i, const struct args *a)
{
	i->kind = GRT_ITEM_BEGIN;
	if (i->time >= k->last)
		k->open[k->depth++] = *what;
	return tracks_draw(t, k, i, a);
}

static int tracks_end(struct grt_tracks *t, struct track *k, unsigned int depth, struct grt_track_item *i,
		      const struct args *a)
{
	int ret = cut_down_to(t, k, depth + 1, i->time);

	i->kind = GRT_ITEM_END;
	k->depth = (uint8_t)depth;
	return ret ?: tracks_draw(t, k, i, a);
}

/* Return: 0 or -ENOMEM */
static int name_call(struct grt_tracks *t, uint32_t device, uint32_t cmd, uint32_t *name)
{
	uint32_t number = grt_names_find(t->names, GRT_NAME_DEVICE, device);
	const char *known = grt_ioctl_name(grt_names_owner(t->names, number), cmd);
	char text[32];

	snprintf(text, sizeof(text), "ioctl 0x%x", cmd);
	return grt_texts_add(&t->texts, known ?: text, known ? strlen(known) : sizeof(text), name);
}

/* An ioctl's name; the driver's may come later than its first ioctl. Return: 0 or -ENOMEM */
static int call_name(struct grt_tracks *t, uint32_t device, uint32_t cmd, uint32_t *name)
{
	struct recent_call *c = &t->recent_call[(cmd ^ cmd >> 6 ^ device) % RECENT];
	int ret = 0;

	if (!c->name || c->device != device || c->cmd != cmd || c->named != t->names->used) {
		*c = (struct recent_call){.device = device, .cmd = cmd, .named = t->names->used};
		ret = name_call(t, device, cmd, &c->name);
	}
	*name = c->name;
	return ret;
}

static int on_ioctl_enter(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_ioctl_enter *x = (const struct grt_ev_ioctl_enter *)e;
	struct grt_track_item i = {.category = GRT_CATEGORY_IOCTL, .time = e->time};
	struct open_slice what = {.inside = INSIDE_IOCTL};
	struct args *a = no_args(t);
	struct track *k;
	int ret = thread_track(t, e->pid, e->tid, &k);

	if (!ret)
		ret = call_name(t, e->device, x->cmd, &i.name);
	if (ret || !k)
		return ret ?: tracks_draw(t, NULL, &i, NULL);
	/* a thread is in one ioctl at a time */
	ret = cut_down_to(t, k, 0, e->time);
	if (x->fd != GRT_FD_UNKNOWN)
		add_arg(a, t->field_arg[e->type][1], GRT_TRACK_S64, (uint64_t)(int64_t)x->fd);
	return ret ?: tracks_begin(t, k, &what, &i, a);
}

static int on_ioctl_exit(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_ioctl_exit *x = (const struct grt_ev_ioctl_exit *)e;
	struct grt_track_item i = {.category = GRT_CATEGORY_IOCTL, .time = e->time};
	struct args *a = no_args(t);
	struct track *k;
	int ret = thread_track(t, e->pid, e->tid, &k);

	if (ret || !k)
		return ret ?: tracks_draw(t, NULL, &i, NULL);
	if (!k->depth || k->open[0].inside != INSIDE_IOCTL) {
		t->count.half++;
		return 0;
	}
	add_arg(a, t->field_arg[e->type][1], GRT_TRACK_S64, (uint64_t)(int64_t)x->ret);
	return tracks_end(t, k, 0, &i, a);
}

static bool waits_for(const struct open_slice *o, const struct grt_event *e)
{
	return o->inside == INSIDE_WAIT && o->ctx == e->ctx && o->seqno == e->seqno;
}

static int on_wait_enter(struct grt_tracks *t, const struct grt_event *e)
{
	struct grt_track_item i = {.category = GRT_CATEGORY_WAIT, .name = t->wait_name, .time = e->time};
	struct open_slice what = {INSIDE_WAIT, e->ctx, e->seqno};
	struct args *a = no_args(t);
	unsigned int depth;
	struct track *k;
	int ret = thread_track(t, e->pid, e->tid, &k);

	if (ret || !k)
		return ret ?: tracks_draw(t, NULL, &i, NULL);
	depth = k->depth;
	/* two sources may report it */
	if (depth && waits_for(&k->open[depth - 1], e))
		return 0;
	/* one call may wait for several */
	while (depth && k->open[depth - 1].inside == INSIDE_WAIT && !(e->flags & GRT_FLAG_CALL))
		depth--;
	ret = cut_down_to(t, k, depth, e->time);
	add_common(a, e, true);
	if (ret || k->depth < DEPTH_MAX)
		return ret ?: tracks_begin(t, k, &what, &i, a);
	i.kind = GRT_ITEM_INSTANT;
	return tracks_draw(t, k, &i, a);
}

static int tracks_on_wait_exit(struct grt_tracks *t, const struct grt_event *e)
{
	struct grt_track_item i = {.category = GRT_CATEGORY_WAIT, .time = e->time};
	unsigned int depth;
	struct track *k;
	int ret = thread_track(t, e->pid, e->tid, &k);

	if (ret || !k)
		return ret ?: tracks_draw(t, NULL, &i, NULL);
	depth = k->depth;
	while (depth && k->open[depth - 1].inside == INSIDE_WAIT && !waits_for(&k->open[depth - 1], e))
		depth--;
	if (depth && waits_for(&k->open[depth - 1], e))
		return tracks_end(t, k, depth - 1, &i, NULL);
	/* of more than can lie within each other, the innermost are instants */
	t->count.half += !(e->flags & GRT_FLAG_SEVERAL && k->depth == DEPTH_MAX);
	return 0;
}

/* ----------------------------------------------------------------- jobs */

/* The same number for the same job: exact where its identity fits, as those of today's kernels do. */
static uint64_t flow_of(uint64_t ctx, uint64_t seqno)
{
	uint64_t h = (ctx ^ seqno >> 32 ^ seqno << 32) * 0x9e3779b97f4a7c15ULL;

	if (!ctx)
		return 0;
	if (ctx < 1ULL << 22 && seqno < 1ULL << 40)
		return ctx << 40 | seqno;
	return (h ^ h >> 29) | 1ULL << 63;
}

static int tracks_on_submit(struct grt_tracks *t, const struct grt_event *e)
{
	struct grt_track_item i = {
		.kind = GRT_ITEM_INSTANT,
		.category = GRT_CATEGORY_SUBMIT,
		.name = t->title[e->type],
		.time = e->time,
		.flow_out = flow_of(e->ctx, e->seqno),
	};
	struct track *k;
	struct args *a;
	int ret = grt_jobs_event(t->jobs, e);

	if (ret || !e->tid)
		return ret;
	ret = thread_track(t, e->pid, e->tid, &k);
	a = no_args(t);
	add_common(a, e, true);
	return ret ?: tracks_draw(t, k, &i, a);
}

/* A job is called what its process is called. Return: 0 or -ENOMEM */
static int job_name(struct grt_tracks *t, const struct grt_job *job, uint32_t *name)
{
	const char *text = grt_names_owner(t->names, job->name) ?: grt_names_name(t->names, job->name);
	char pid[24];

	if (job->name < t->job_names && t->job_name[job->name]) {
		*name = t->job_name[job->name] - 1;
		return 0;
	}
	snprintf(pid, sizeof(pid), "pid %u", job->pid);
	if (grt_texts_add(&t->texts, text ?: job->pid ? pid : "job", 64, name))
		return -ENOMEM;
	if (!text)
		return 0;
	if (grt_grow_zeroed(&t->job_name, &t->job_names, job->name + 1, 64))
		return -ENOMEM;
	t->job_name[job->name] = *name + 1;
	return 0;
}

static void add_phase(struct args *a, const struct grt_job *job, enum grt_phase phase, unsigned int id)
{
	uint64_t ns;
	bool inferred;

	if (grt_job_phase(job, phase, &ns, &inferred))
		tracks_add_number(a, id, ns);
}

static void tracks_add_job(const struct grt_tracks *t, struct args *a, const struct grt_job *job)
{
	tracks_add_number(a, GRT_TRACK_ARG_CTX, job->ctx);
	tracks_add_number(a, GRT_TRACK_ARG_SEQNO, job->seqno);
	if (job->pid)
		tracks_add_number(a, GRT_TRACK_ARG_PID, job->pid);
	add_phase(a, job, GRT_PHASE_SCHED, GRT_TRACK_ARG_T_SCHED);
	add_phase(a, job, GRT_PHASE_QUEUE, GRT_TRACK_ARG_T_QUEUE);
	add_phase(a, job, GRT_PHASE_COMPLETE, GRT_TRACK_ARG_T_COMPLETE);
	if (job->inferred & 1U << GRT_STAMP_START)
		add_arg(a, GRT_TRACK_ARG_START_INFERRED, GRT_TRACK_BOOL, 1);
	if (job->inferred & 1U << GRT_STAMP_END)
		add_arg(a, GRT_TRACK_ARG_END_INFERRED, GRT_TRACK_BOOL, 1);
	if ((job->status || job->failed) && job->status != GRT_STATUS_UNKNOWN)
		add_arg(a, t->field_arg[GRT_EV_COMPLETE][0], GRT_TRACK_S64, (uint64_t)(int64_t)job->status);
	if (job->sample && job->sample < 100)
		tracks_add_number(a, GRT_TRACK_ARG_SAMPLE, job->sample);
	if (job->waits && !job->open_waits) {
		tracks_add_number(a, GRT_TRACK_ARG_WAITS, job->waits);
		tracks_add_number(a, GRT_TRACK_ARG_WAIT_NS, job->wait_ns);
	}
}

static int draw_job(struct grt_tracks *t, const struct grt_job *job)
{
	struct grt_track_item i = {.kind = GRT_ITEM_SLICE,
				   .category = GRT_CATEGORY_JOB,
				   .time = job->time[GRT_STAMP_START],
				   .end = job->time[GRT_STAMP_END]};
	struct grt_key key = tracks_key_of(OF_RING, job->device, job->ring, 0);
	struct args *a = no_args(t);
	struct track *k;
	bool inferred;
	uint64_t ns;
	int ret;

	if (!grt_job_phase(job, GRT_PHASE_EXEC, &ns, &inferred)) {
		t->count.undrawn++;
		return 0;
	}
	if (job->tid && job->seen & 1U << GRT_STAMP_SUBMIT)
		i.flow_in = flow_of(job->ctx, job->seqno);
	k = free_lane(t, &key, i.time);
	/* also where it is known: its name may have changed */
	if (k || key.w[3] < GRT_TRACKS_LANES_MAX)
		ret = ring_track(t, &key, job->device, job->ring, (uint32_t)key.w[3], "", &k);
	else
		ret = 0;
	ret = ret ?: job_name(t, job, &i.name);
	if (ret)
		return ret;
	t->count.jobs += !!k;
	t->count.inferred += k && inferred;
	t->count.sampled += k && job->sample && job->sample < 100;
	tracks_add_job(t, a, job);
	return tracks_draw(t, k, &i, a);
}

static int tracks_on_held(void *arg, const struct grt_job *job)
{
	return draw_job(arg, job);
}

static int tracks_on_job(void *arg, const struct grt_job *job)
{
	return job->held ? 0 : draw_job(arg, job);
}

static int on_stamp(struct grt_tracks *t, const struct grt_event *e)
{
	return grt_jobs_event(t->jobs, e);
}

/* What belongs to a job and stands for itself, too. */
static int on_stamp_instant(struct grt_tracks *t, const struct grt_event *e)
{
	return grt_jobs_event(t->jobs, e) ?: on_instant(t, e);
}

static int on_wait_in(struct grt_tracks *t, const struct grt_event *e)
{
	return grt_jobs_event(t->jobs, e) ?: on_wait_enter(t, e);
}

static int on_wait_out(struct grt_tracks *t, const struct grt_event *e)
{
	return grt_jobs_event(t->jobs, e) ?: tracks_on_wait_exit(t, e);
}

/* ------------------------------------------------------------- the rest */

static int on_window(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_aggregate *x = (const struct grt_ev_aggregate *)e;
	struct grt_track_item i = {.kind = GRT_ITEM_SLICE,
				   .category = GRT_CATEGORY_EVENT,
				   .name = t->window_name,
				   .time = x->begin,
				   .end = x->end < x->begin ? x->begin : x->end};
	struct grt_key key = tracks_key_of(OF_WINDOWS, e->device, e->ring, 0);
	struct args *a = no_args(t);
	struct track *k = free_lane(t, &key, i.time);
	int ret = 0;

	if (k || key.w[3] < GRT_TRACKS_LANES_MAX)
		ret = ring_track(t, &key, e->device, e->ring, (uint32_t)key.w[3], ": windows", &k);
	add_fields(t, a, e);
	return ret ?: tracks_draw(t, k, &i, a);
}

/* Return: as thread_track() */
static int counter_track(struct grt_tracks *t, const struct grt_ev_counter *x, struct track **out)
{
	struct grt_key key = tracks_key_of(OF_COUNTER, x->e.device, x->counter, x->instance);
	struct track like = {.kind = GRT_TRACK_COUNTER};
	const char *name;
	char text[TEXT_MAX];
	int ret = 0;

	*out = grt_keyed_find(&t->tracks, &key);
	if (!*out) {
		ret = device_track(t, x->e.device, &like.parent);
		ret = ret ?: get_track(t, &key, &like, out);
	}
	if (ret < 0 || !*out || (!renamed(t, *out, GRT_NAME_COUNTER, x->counter) && !ret))
		return ret;
	name = grt_names_name(t->names, (*out)->name);
	if (name)
		snprintf(text, sizeof(text), "%s", name);
	else
		snprintf(text, sizeof(text), "counter %u", x->counter);
	if (x->instance)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " of %u", x->instance);
	return announce(t, *out, text, grt_names_owner(t->names, (*out)->name));
}

static int on_counter(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_counter *x = (const struct grt_ev_counter *)e;
	struct grt_track_item i = {.kind = GRT_ITEM_COUNTER,
				   .category = GRT_CATEGORY_COUNTER,
				   .time = e->time,
				   .value = x->value};
	struct track *k;
	int ret = counter_track(t, x, &k);

	if (e->flags & GRT_FLAG_ENDED)
		t->count.ended++;
	return ret ?: tracks_draw(t, k, &i, NULL);
}

/* All TSG_ events begin with the same fields. */
static struct grt_key life_key(const struct grt_event *e)
{
	const struct grt_ev_tsg_destroy *x = (const struct grt_ev_tsg_destroy *)e;

	if (x->tsg)
		return (struct grt_key){{(uint64_t)x->client << 32 | x->tsg, 0, 1}};
	return (struct grt_key){{(uint64_t)x->runlist << 32 | x->grp, x->bus}};
}

static int begin_life(struct grt_tracks *t, const struct grt_event *e, struct grt_key *track)
{
	const struct grt_ev_tsg_init *x = (const struct grt_ev_tsg_init *)e;
	struct grt_track_item i = {
		.kind = GRT_ITEM_BEGIN, .category = GRT_CATEGORY_TSG, .name = t->tsg_name, .time = e->time};
	struct track like = {.kind = GRT_TRACK_SLICES, .pid = e->pid}, *k;
	struct args *a = no_args(t);
	int ret;

	*track = tracks_key_of(OF_TSG, e->pid, 0, 0);
	k = free_lane(t, track, e->time);
	like.lane = (uint8_t)track->w[3];
	if (!k && track->w[3] == GRT_TRACKS_LANES_MAX)
		return tracks_draw(t, NULL, &i, NULL);
	ret = process_track(t, e->pid, e->tid, &like.parent);
	ret = ret ?: fixed_track(t, track, &like, "channel groups", &k);
	if (ret)
		return ret;
	if (k)
		k->busy = true;
	if (x->e.type == GRT_EV_TSG_INIT)
		add_fields(t, a, e);
	return tracks_draw(t, k, &i, a);
}

static int end_life(struct grt_tracks *t, const struct grt_event *e, const struct life *life)
{
	struct grt_track_item i = {.kind = GRT_ITEM_END, .category = GRT_CATEGORY_TSG, .time = e->time};
	struct track *k = grt_keyed_find(&t->tracks, &life->track);
	struct args *a = no_args(t);

	add_arg(a, t->field_arg[e->type][6], GRT_TRACK_U64, ((const struct grt_ev_tsg_destroy *)e)->cause);
	if (!k)
		return 0;
	k->busy = false;
	return tracks_draw(t, k, &i, a);
}

/* One that nobody has answered, but that counts as made, has a timeslice. */
static bool is_made(const struct grt_event *e)
{
	const struct grt_ev_tsg_init *x = (const struct grt_ev_tsg_init *)e;

	return e->type == GRT_EV_TSG_INIT && (!x->status || x->timeslice);
}

/* A group whose making is not in the trace begins with the first that is heard of it. */
static int tracks_on_tsg(struct grt_tracks *t, const struct grt_event *e)
{
	struct grt_key key = life_key(e);
	struct life *life = grt_keyed_find(&t->lives, &key);
	void *found;
	int ret = 0;

	if (!life && is_made(e)) {
		ret = grt_keyed_get_or_count(&t->lives, &key, &t->count.over, &found);
		life = found;
		return life ? begin_life(t, e, &life->track) : ret;
	}
	ret = on_instant(t, e);
	if (ret || !life || e->type != GRT_EV_TSG_DESTROY)
		return ret;
	ret = end_life(t, e, life);
	grt_keyed_remove(&t->lives, life);
	return ret;
}

/* ----------------------------------------------------------------- CUDA */

/* Beside the numbers of flow_of(): those of calls and what the GPU did for them. */
static uint64_t launch_flow(const struct grt_image *image, uint64_t correlation)
{
	return correlation
		       ? 1ULL << 62 | (image->number & 0x3fffffULL) << 40 | (correlation & 0xffffffffffULL)
		       : 0;
}

/* What is 0 says nothing; stamps, and numbers of names, are drawn otherwise. */
static void add_work_fields(const struct grt_tracks *t, struct args *a, const struct grt_event *e)
{
	const struct grt_field *f = grt_event_table[e->type].fields();

	for (unsigned int i = 2; f[i].name; i++)
		if (field_number(&f[i], e) && strcmp(f[i].name, "name"))
			add_field(a, t->field_arg[e->type][i], &f[i], e);
}

/* A slice on the first free lane of a track of a process. */
static int draw_in_process(struct grt_tracks *t, const struct grt_event *e, struct grt_key *key,
			   const char *name, struct grt_track_item *i, const struct args *a)
{
	struct track like = {.kind = GRT_TRACK_SLICES, .pid = e->pid}, *k = free_lane(t, key, i->time);
	int ret = 0;

	i->kind = GRT_ITEM_SLICE;
	like.lane = (uint8_t)key->w[3];
	if (!k && key->w[3] < GRT_TRACKS_LANES_MAX) {
		ret = process_track(t, e->pid, e->tid, &like.parent);
		ret = ret ?: fixed_track(t, key, &like, name, &k);
	}
	return ret ?: tracks_draw(t, k, i, a);
}

static int on_launch(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_launch *x = (const struct grt_ev_launch *)e;
	const struct grt_cuda_call *call = grt_cuda_call(x->call);
	const struct grt_image *image = grt_images_of(&t->images, e);
	struct grt_track_item i = {.category = x->call & GRT_CUDA_DRIVER ? GRT_CATEGORY_DRIVER
									 : GRT_CATEGORY_RUNTIME,
				   .time = x->begin,
				   .end = e->time};
	struct grt_key key = tracks_key_of(OF_CUDA_CALLS, e->pid, e->tid, e->ctx);
	const char *name = call ? call->name : e->flags & GRT_FLAG_BPF ? "probe" : "CUDA call";
	struct args *a = no_args(t);
	char text[64];

	if (!image || grt_texts_add(&t->texts, name, strlen(name), &i.name))
		return -ENOMEM;
	if (i.end < i.time) {
		t->count.back++;
		return 0;
	}
	if (!grt_cuda_sync(call))
		i.flow_out = launch_flow(image, x->correlation);
	tracks_add_number(a, t->field_arg[e->type][1], x->correlation);
	if (x->result)
		add_arg(a, t->field_arg[e->type][5], GRT_TRACK_S64, (uint64_t)(int64_t)x->result);
	snprintf(text, sizeof(text), "CUDA calls of thread %u", e->tid);
	return draw_in_process(t, e, &key, text, &i, a);
}

/* A kernel's name as its source has it. Return: 0 or -ENOMEM */
static int kernel_name(struct grt_tracks *t, const struct grt_image *image, uint32_t string, uint32_t *name)
{
	struct grt_key key = {{image->number, string}};
	const char *linked;
	char *clean;
	void *found;
	int ret = grt_keyed_get(&t->kernels, &key, &found);

	if (ret == -ENOMEM)
		return ret;
	if (!ret && *(uint32_t *)found) {
		*name = *(uint32_t *)found;
		return 0;
	}
	linked = grt_image_string(image, string) ?: "kernel";
	clean = grt_demangle(linked);
	if (grt_texts_add(&t->texts, clean ?: linked, strlen(clean ?: linked), name))
		*name = GRT_TEXT_NONE;
	else if (!ret)
		*(uint32_t *)found = *name;
	free(clean);
	return 0;
}

/* Whether an arrow goes to it: a graph's goes to the kernel of it that comes first. Return: 1, 0, or -ENOMEM
 */
static int is_first(struct grt_tracks *t, const struct grt_image *image, uint64_t correlation, uint32_t graph)
{
	struct grt_key key = {{image->number, correlation}};
	void *found;

	if (!graph)
		return 1;
	if (grt_keyed_find(&t->graphs, &key))
		return 0;
	return grt_keyed_get_or_replace(&t->graphs, &key, NULL, &found) ? -ENOMEM : 1;
}

/* What the GPU did: @start and @end of it, on a stream of a device. */
static int draw_work(struct grt_tracks *t, const struct grt_event *e, const struct grt_image *image,
		     enum grt_track_category category, uint32_t name, uint64_t correlation, uint32_t graph,
		     const uint32_t place[3])
{
	const struct grt_ev_gpu_kernel *x = (const struct grt_ev_gpu_kernel *)e;
	struct grt_track_item i = {
		.category = (uint8_t)category, .name = name, .time = x->start, .end = x->end};
	struct grt_key key = tracks_key_of(OF_CUDA_STREAM, (uint64_t)e->pid << 32 | place[1],
					   (uint64_t)place[0] << 32 | place[2], e->ctx);
	struct args *a = no_args(t);
	char text[64];
	int first;

	/* without stamps, or it had not ended */
	if (!x->start || x->end < x->start) {
		t->count.undrawn++;
		return 0;
	}
	first = is_first(t, image, correlation, graph);
	if (first < 0)
		return first;
	i.flow_in = first ? launch_flow(image, correlation) : 0;
	add_work_fields(t, a, e);
	snprintf(text, sizeof(text), "CUDA device %u, stream %u", place[0], place[2]);
	return draw_in_process(t, e, &key, text, &i, a);
}

static int on_gpu_kernel(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_gpu_kernel *x = (const struct grt_ev_gpu_kernel *)e;
	const struct grt_image *image = grt_images_of(&t->images, e);
	const uint32_t place[3] = {x->gpu, x->context, x->cuda_stream};
	uint32_t name;

	if (!image || kernel_name(t, image, x->name, &name))
		return -ENOMEM;
	return draw_work(t, e, image, GRT_CATEGORY_KERNEL, name, x->correlation, x->graph, place);
}

static int on_gpu_copy(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_gpu_copy *x = (const struct grt_ev_gpu_copy *)e;
	const struct grt_image *image = grt_images_of(&t->images, e);
	const uint32_t place[3] = {x->gpu, x->context, x->cuda_stream};
	char text[32];
	uint32_t name;

	if (x->kind == GRT_CUDA_SET)
		snprintf(text, sizeof(text), "Memset");
	else
		snprintf(text, sizeof(text), "Memcpy %s", grt_cuda_copy_name(x->kind));
	if (!image || grt_texts_add(&t->texts, text, sizeof(text), &name))
		return -ENOMEM;
	return draw_work(t, e, image, x->kind == GRT_CUDA_SET ? GRT_CATEGORY_SET : GRT_CATEGORY_COPY, name,
			 x->correlation, x->graph, place);
}

/* Times of the CPU that CUPTI reports: begin and end are where those of kernels are. */
static int on_cuda_time(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_gpu_sync *x = (const struct grt_ev_gpu_sync *)e;
	bool waits = e->type == GRT_EV_GPU_SYNC;
	struct grt_track_item i = {.category = waits ? GRT_CATEGORY_WAIT : GRT_CATEGORY_OVERHEAD,
				   .name = t->title[e->type],
				   .time = x->start,
				   .end = x->end};
	struct grt_key key = tracks_key_of(waits ? OF_CUDA_WAITS : OF_CUDA_OVERHEAD, e->pid, 0, e->ctx);
	struct args *a = no_args(t);

	/* a stream will wait, and nobody does now: the call is drawn */
	if (waits && x->kind == GRT_CUDA_SYNC_ORDER)
		return 0;
	if (!x->start || x->end < x->start) {
		t->count.undrawn++;
		return 0;
	}
	add_work_fields(t, a, e);
	return draw_in_process(t, e, &key, waits ? "CUDA waits" : "CUDA overhead", &i, a);
}

/* Of what a process defines, names are needed. */
static int tracks_on_image(struct grt_tracks *t, const struct grt_event *e)
{
	return grt_images_event(&t->images, e);
}

static int tracks_on_name(struct grt_tracks *t, const struct grt_event *e)
{
	return grt_jobs_event(t->jobs, e);
}

static int put_off_cpu(struct grt_tracks *t, const struct grt_event *e, unsigned int state, uint64_t from,
		       uint64_t to)
{
	struct grt_track_item i = {.category = GRT_CATEGORY_WAIT, .time = from, .end = to};
	struct grt_key key = tracks_key_of(OF_OFF_CPU, e->pid, e->tid, 0);
	const char *name = grt_thread_state_name(state);
	const struct grt_ev_off_cpu *x = (const struct grt_ev_off_cpu *)e;
	struct args *a = no_args(t);
	char text[64];

	if (to <= from)
		return 0;
	if (grt_texts_add(&t->texts, name, strlen(name), &i.name))
		return -ENOMEM;
	if (x->call >= 0)
		tracks_add_number(a, t->field_arg[e->type][8], (uint64_t)x->call);
	snprintf(text, sizeof(text), "off the CPU: thread %u", e->tid);
	return draw_in_process(t, e, &key, text, &i, a);
}

/* What it waited for, and then a CPU. */
static int on_off_cpu(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_off_cpu *x = (const struct grt_ev_off_cpu *)e;
	bool woken = x->woken > x->start && x->woken < e->time;
	int ret;

	if (x->start > e->time) {
		t->count.back++;
		return 0;
	}
	ret = put_off_cpu(t, e, x->reason, x->start, woken ? x->woken : e->time);
	return ret || !woken ? ret : put_off_cpu(t, e, GRT_THREAD_RUNNABLE, x->woken, e->time);
}

/* ------------------------------------------- AMD's runtime and the kernel's functions */

/* A track of a layer in a process. */
static int layer_track(struct grt_tracks *t, const struct grt_event *e, enum what what, uint64_t which,
		       const char *name, struct track **out)
{
	struct grt_key key = tracks_key_of(what, e->pid, which, 0);
	struct track like = {.kind = GRT_TRACK_SLICES, .pid = e->pid};
	int ret = e->pid ? process_track(t, e->pid, e->tid, &like.parent) : 0;

	return ret ?: fixed_track(t, &key, &like, name, out);
}

static int enter_call(struct grt_tracks *t, struct track *k, struct grt_track_item *i, const struct args *a)
{
	const struct open_slice what = {.inside = INSIDE_CALL, .ctx = i->name};

	if (k && k->depth < DEPTH_MAX)
		return tracks_begin(t, k, &what, i, a);
	i->kind = GRT_ITEM_INSTANT;
	return tracks_draw(t, k, i, a);
}

/* Return: 1: it has not begun here */
static int leave_call(struct grt_tracks *t, struct track *k, struct grt_track_item *i, const struct args *a)
{
	unsigned int depth = k ? k->depth : 0;

	while (depth && k->open[depth - 1].ctx != i->name)
		depth--;
	return depth ? tracks_end(t, k, depth - 1, i, a) : 1;
}

static int on_log_call(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_log_call *x = (const struct grt_ev_log_call *)e;
	struct grt_track_item i = {.category = GRT_CATEGORY_HIP, .time = e->time};
	char text[64] = "HIP calls";
	struct track *k;
	int ret;

	if (x->thread)
		snprintf(text, sizeof(text), "HIP calls of thread 0x%llx", (unsigned long long)x->thread);
	ret = layer_track(t, e, OF_LOG_CALLS, x->thread, text, &k)
		      ?: grt_texts_add(&t->texts, x->function, sizeof(x->function), &i.name);
	if (ret)
		return ret;
	add_fields(t, no_args(t), e);
	if (x->step == GRT_CALL_ENTERED)
		return enter_call(t, k, &i, &t->args);
	ret = leave_call(t, k, &i, &t->args);
	t->count.half += ret == 1;
	return ret == 1 ? 0 : ret;
}

static int on_log_note(struct grt_tracks *t, const struct grt_event *e)
{
#define GRT_LOG_NOTE(number, NAME, name, help) [number] = #name,
	static const char *const names[] = {
#include <grtrace/log_notes.def>
	};
#undef GRT_LOG_NOTE
	const struct grt_ev_log_note *x = (const struct grt_ev_log_note *)e;
	const char *name = x->what < sizeof(names) / sizeof(names[0]) ? names[x->what] : NULL;
	struct track *k;
	uint32_t number;
	int ret = layer_track(t, e, OF_LOG_NOTES, 0, "AMD runtime", &k)
			  ?: grt_texts_add(&t->texts, name ?: "note", 64, &number);

	return ret ?: draw_instant(t, k, e, number, GRT_CATEGORY_EVENT);
}

static int on_log_dispatch(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_log_dispatch *x = (const struct grt_ev_log_dispatch *)e;
	char text[64], name[sizeof(x->name) + 1];
	struct track *k;
	uint32_t number;
	int ret;

	snprintf(text, sizeof(text), "hardware queue 0x%llx", (unsigned long long)x->queue);
	if (x->name[0])
		snprintf(name, sizeof(name), "%.*s", (int)sizeof(x->name), x->name);
	else
		snprintf(name, sizeof(name), "0x%llx", (unsigned long long)x->object);
	ret = layer_track(t, e, OF_LOG_QUEUE, x->queue, text, &k)
		      ?: grt_texts_add(&t->texts, name, sizeof(name), &number);
	return ret ?: draw_instant(t, k, e, number, GRT_CATEGORY_KERNEL);
}

/* A leaf of function_graph is reported once, with its duration. */
static int func_ended(struct grt_tracks *t, struct track *k, const struct grt_ev_func *x,
		      struct grt_track_item *i, const struct args *a)
{
	int ret = leave_call(t, k, i, a);

	if (ret != 1)
		return ret;
	if (!(x->known & GRT_FUNC_TOOK) || x->took > UINT64_MAX - i->time) {
		t->count.half++;
		return 0;
	}
	i->kind = GRT_ITEM_SLICE;
	i->end = i->time + x->took;
	return tracks_draw(t, k, i, a);
}

static int on_func(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_func *x = (const struct grt_ev_func *)e;
	struct grt_track_item i = {.kind = GRT_ITEM_INSTANT, .category = GRT_CATEGORY_FUNC, .time = e->time};
	struct track *k;
	char text[64];
	int ret;

	snprintf(text, sizeof(text), "kernel functions of thread %u", e->tid);
	ret = layer_track(t, e, OF_KERNEL_FUNCS, e->tid, text, &k)
		      ?: grt_texts_add(&t->texts, x->function, sizeof(x->function), &i.name);
	if (ret)
		return ret;
	add_fields(t, no_args(t), e);
	if (x->step == GRT_FUNC_ENTERED)
		return enter_call(t, k, &i, &t->args);
	if (x->step == GRT_FUNC_RETURNED)
		return func_ended(t, k, x, &i, &t->args);
	return tracks_draw(t, k, &i, &t->args);
}

static int tracks_on_nothing(struct grt_tracks *t, const struct grt_event *e)
{
	(void)t;
	(void)e;
	return 0;
}

/* How each event is drawn; those without a row are instants where they happened. */
static int (*const rows[GRT_EV_MAX])(struct grt_tracks *t, const struct grt_event *e) = {
	[GRT_EV_SUBMIT] = tracks_on_submit,
	[GRT_EV_COMMIT] = on_stamp,
	[GRT_EV_START] = on_stamp,
	[GRT_EV_END] = on_stamp,
	[GRT_EV_COMPLETE] = on_stamp,
	[GRT_EV_JOB] = on_stamp,
	[GRT_EV_ERROR] = on_stamp_instant,
	[GRT_EV_COMMAND] = on_stamp_instant,
	[GRT_EV_SYNC_WAIT_ENTER] = on_wait_in,
	[GRT_EV_SYNC_WAIT_EXIT] = on_wait_out,
	[GRT_EV_NAME] = tracks_on_name,
	[GRT_EV_IOCTL_ENTER] = on_ioctl_enter,
	[GRT_EV_IOCTL_EXIT] = on_ioctl_exit,
	[GRT_EV_VBLANK] = tracks_on_vblank,
	[GRT_EV_XID] = on_xid,
	[GRT_EV_COUNTER] = on_counter,
	[GRT_EV_STACK] = tracks_on_nothing,
	[GRT_EV_FRAME] = tracks_on_nothing,
	[GRT_EV_AGGREGATE] = on_window,
	[GRT_EV_TSG_INIT] = tracks_on_tsg,
	[GRT_EV_TSG_SCHEDULE] = tracks_on_tsg,
	[GRT_EV_TSG_TOKEN] = tracks_on_tsg,
	[GRT_EV_TSG_CHANNEL] = tracks_on_tsg,
	[GRT_EV_TSG_SET] = tracks_on_tsg,
	[GRT_EV_TSG_DESTROY] = tracks_on_tsg,
	[GRT_EV_PROCESS] = tracks_on_image,
	[GRT_EV_STRING] = tracks_on_image,
	[GRT_EV_NODE] = tracks_on_nothing,
	[GRT_EV_MAPPING] = tracks_on_nothing,
	[GRT_EV_CLOCK] = tracks_on_nothing,
	[GRT_EV_LAUNCH] = on_launch,
	[GRT_EV_GPU_KERNEL] = on_gpu_kernel,
	[GRT_EV_GPU_COPY] = on_gpu_copy,
	[GRT_EV_GPU_SYNC] = on_cuda_time,
	[GRT_EV_GPU_OVERHEAD] = on_cuda_time,
	[GRT_EV_OFF_CPU] = on_off_cpu,
	[GRT_EV_SAMPLE] = tracks_on_nothing,
	[GRT_EV_LOG_CALL] = on_log_call,
	[GRT_EV_LOG_NOTE] = on_log_note,
	[GRT_EV_LOG_DISPATCH] = on_log_dispatch,
	[GRT_EV_LOG_TEXT] = tracks_on_nothing,
	[GRT_EV_FUNC] = on_func,
};

_Static_assert(offsetof(struct grt_ev_gpu_kernel, start) == offsetof(struct grt_ev_gpu_copy, start) &&
		       offsetof(struct grt_ev_gpu_kernel, end) == offsetof(struct grt_ev_gpu_copy, end) &&
		       offsetof(struct grt_ev_gpu_sync, start) ==
			       offsetof(struct grt_ev_gpu_overhead, start) &&
		       offsetof(struct grt_ev_gpu_sync, end) == offsetof(struct grt_ev_gpu_overhead, end),
	       "stamps are at the same place");

int grt_tracks_event(struct grt_tracks *t, const struct grt_event *e)
{
	if (e->type >= GRT_EV_MAX || !grt_event_table[e->type].name)
		return 0;
	return rows[e->type] ? rows[e->type](t, e) : on_instant(t, e);
}

int grt_tracks_packet(struct grt_tracks *t, const struct grt_packet *p)
{
	uint64_t lost = grt_packet_fate(p, GRT_FATE_LOST);
	struct grt_track_item i = {.kind = GRT_ITEM_SLICE,
				   .category = GRT_CATEGORY_LOSS,
				   .name = t->lost_name,
				   .time = p->timestamp_begin,
				   .end = p->timestamp_end};
	struct grt_key group = tracks_key_of(OF_LOSSES, 0, 0, 0),
		       key = tracks_key_of(OF_CPU, p->cpu_id, 0, 0);
	struct track like = {.kind = GRT_TRACK_GROUP}, *k;
	struct args *a = no_args(t);
	char text[32];
	int ret;

	if (!lost || i.end < i.time)
		return 0;
	ret = fixed_track(t, &group, &like, "lost events", &k);
	if (ret)
		return ret;
	like = (struct track){.kind = GRT_TRACK_SLICES, .parent = k ? k->id : 0};
	k = free_lane(t, &key, i.time);
	like.lane = (uint8_t)key.w[3];
	snprintf(text, sizeof(text), "CPU %u", p->cpu_id);
	if (!k && key.w[3] < GRT_TRACKS_LANES_MAX)
		ret = fixed_track(t, &key, &like, text, &k);
	tracks_add_number(a, GRT_TRACK_ARG_LOST_EVENTS, lost);
	return ret ?: tracks_draw(t, k, &i, a);
}

int grt_tracks_end(struct grt_tracks *t)
{
	const struct track *k;
	int ret = grt_jobs_flush(t->jobs);

	for (k = grt_keyed_oldest(&t->tracks); k; k = grt_keyed_next(&t->tracks, k))
		t->count.cut += k->depth + k->busy;
	return ret;
}

/* --------------------------------------------------------- begin and end */

static unsigned int arg_id(struct grt_tracks *t, const char *name)
{
	for (unsigned int i = 0; i < t->arg_names; i++)
		if (t->arg_name[i][0] == name[0] && !strcmp(t->arg_name[i], name))
			return i;
	if (t->arg_names == GRT_TRACK_ARG_IDS_MAX)
		return 0;
	t->arg_name[t->arg_names] = name;
	return t->arg_names++;
}

/* Numbers for the names of all values, so that an item costs no search. */
static int number_fields(struct grt_tracks *t)
{
	static const char *const own[] = {
#define GRT_TRACK_ARG(NAME, name) #name,
		GRT_TRACK_ARGS(GRT_TRACK_ARG)
#undef GRT_TRACK_ARG
	};

	for (unsigned int i = 0; i < GRT_TRACK_ARG_FIELDS; i++)
		t->arg_name[t->arg_names++] = own[i];
	for (unsigned int type = 0; type < GRT_EV_MAX; type++) {
		const struct grt_field *f;
		unsigned int n = 0;

		if (!grt_event_table[type].name)
			continue;
		for (f = grt_event_table[type].fields(); f->name; f++)
			n++;
		t->field_arg[type] = calloc(n + 1, sizeof(*t->field_arg[type]));
		if (!t->field_arg[type])
			return -ENOMEM;
		for (unsigned int i = 0; i < n; i++)
			t->field_arg[type][i] = (uint8_t)arg_id(t, grt_event_table[type].fields()[i].name);
	}
	return 0;
}

static int name_items(struct grt_tracks *t)
{
	static const struct {
		const char *text;
		size_t place;
	} own[] = {{"wait", offsetof(struct grt_tracks, wait_name)},
		   {"window", offsetof(struct grt_tracks, window_name)},
		   {"lost", offsetof(struct grt_tracks, lost_name)},
		   {"channel group", offsetof(struct grt_tracks, tsg_name)}};
	int ret = 0;

	for (unsigned int i = 0; i < sizeof(own) / sizeof(own[0]) && !ret; i++)
		ret = grt_texts_add(&t->texts, own[i].text, 64, (uint32_t *)((char *)t + own[i].place));
	for (unsigned int type = 0; type < GRT_EV_MAX && !ret; type++)
		if (grt_event_table[type].title)
			ret = grt_texts_add(&t->texts, grt_event_table[type].title, 64, &t->title[type]);
	return ret;
}

int grt_tracks_new(struct grt_tracks **out, const struct grt_tracks_sink *sink)
{
	struct grt_tracks *t = calloc(1, sizeof(*t));
	struct grt_jobs_sink jobs = {.held = tracks_on_held, .job = tracks_on_job, .arg = t};

	*out = t;
	if (!t)
		return -ENOMEM;
	t->sink = *sink;
	grt_keyed_init(&t->tracks, sizeof(struct track), GRT_TRACKS_MAX);
	grt_keyed_init(&t->lives, sizeof(struct life), LIVES_MAX);
	grt_keyed_init(&t->kernels, sizeof(uint32_t), KERNELS_MAX);
	grt_keyed_init(&t->graphs, sizeof(uint32_t), GRAPHS_MAX);
	grt_images_init(&t->images);
	grt_texts_init(&t->texts, GRT_TRACKS_NAMES_MAX);
	if (!grt_jobs_new(&t->jobs, &jobs, NULL) && !number_fields(t) && !name_items(t)) {
		t->names = grt_jobs_names(t->jobs);
		return 0;
	}
	grt_tracks_free(t);
	*out = NULL;
	return -ENOMEM;
}

const char *grt_tracks_name(const struct grt_tracks *t, uint32_t name)
{
	return grt_texts_get(&t->texts, name);
}

uint32_t grt_tracks_name_length(const struct grt_tracks *t, uint32_t name)
{
	return grt_texts_length(&t->texts, name);
}

const char *grt_tracks_arg_name(const struct grt_tracks *t, uint32_t id)
{
	return id < t->arg_names ? t->arg_name[id] : "";
}

const char *grt_tracks_category(unsigned int category)
{
	static const char *const names[GRT_CATEGORIES] = {
#define GRT_TRACK_CATEGORY(NAME, name) [GRT_CATEGORY_##NAME] = #name,
		GRT_TRACK_CATEGORIES(GRT_TRACK_CATEGORY)
#undef GRT_TRACK_CATEGORY
	};

	return category < GRT_CATEGORIES ? names[category] : "";
}

const struct grt_tracks_count *grt_tracks_count(const struct grt_tracks *t)
{
	return &t->count;
}

void grt_tracks_free(struct grt_tracks *t)
{
	if (!t)
		return;
	for (unsigned int i = 0; i < GRT_EV_MAX; i++)
		free(t->field_arg[i]);
	grt_jobs_free(t->jobs);
	grt_keyed_free(&t->tracks);
	grt_keyed_free(&t->lives);
	grt_keyed_free(&t->kernels);
	grt_keyed_free(&t->graphs);
	grt_images_free(&t->images);
	grt_texts_free(&t->texts);
	free(t->job_name);
	free(t);
}
