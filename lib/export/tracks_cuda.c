// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * CUDA: calls of a thread, waits and overhead of a process, and the work of each
 * stream; arrows go from a launch to what the GPU did for it.
 */
#include "tracks_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bus.h"
#include "base/demangle.h"
#include "base/containers.h"
#include "base/heap.h"
#include "codes/cuda_codes.h"
#include "cuda/device_memory.h"
#include "stack/images.h"

/* Limits: kernels whose names are cached; graphs whose first kernel was seen. */
#define KERNELS_MAX 65536U
#define GRAPHS_MAX 65536U
/* Most streams, and most contexts, whose last work is remembered. */
#define LASTS_MAX 65536U
/* Number of those that were last looked up, found by a simple hash, for work that is no kernel of a set. */
#define LASTS_NEAR 64U

enum {
	OF_CALLS = TRACKS_KEYS(tracks_cuda),
	OF_WAITS,
	OF_OVERHEAD,
	OF_STREAM,
	OF_RANGES,
	OF_MEMORY,
	OF_MEMORY_DEVICE,
};

/*
 * CUPTI reports work in no order, so work is held, and drawn in the order of its start. Otherwise, work that
 * is drawn after later work of its stream would need a lane of its own. 2 s are four times the interval at
 * which the library takes CUPTI's records.
 */
#define HELD_MAX 65536U
#define HELD_NS 2000000000ULL

/** struct held - work or a wait that is not drawn yet; @number: of arrival, which decides where times are
 * equal; of a free place: the next free one, plus 1 */
struct held {
	uint64_t number;
	union {
		struct grt_event e;
		struct grt_ev_gpu_kernel kernel;
		struct grt_ev_gpu_copy copy;
		struct grt_ev_gpu_sync sync;
	};
};

/**
 * struct held_at - place of work in @held; @time: its start; for a wait its end, because the work for which
 * it waited began before
 */
struct held_at {
	uint64_t time;
	uint32_t place;
};

/** struct last_work - the work of a stream or context that was launched last, and the one that ends last */
struct last_work {
	uint64_t correlation;
	uint64_t end;
	uint64_t number;
};

/** struct kernel_names - of a kernel: numbers of its name in the source, and of that which the linker knows
 */
struct kernel_names {
	uint32_t name;
	uint32_t linked;
};

/**
 * struct kernel_set - kernels that differ in their times and correlation alone
 * @number: of the set, 0: this is none; @image, @kernel: of all of them, without what differs
 * @args: their values; @varies: that of the correlation
 * @last: of their stream and context, for grt_keyed_near()
 */
struct kernel_set {
	uint64_t number;
	const struct grt_image *image;
	struct grt_ev_gpu_kernel kernel;
	struct kernel_names names;
	struct tracks_args args;
	uint32_t varies;
	uint32_t last[2];
};

/*
 * Sets that were used last, by a hash: a training step has some hundred different ones. Those with the same
 * hash have KERNEL_SETS_NEAR places, because a set that lost its place has all its values made again.
 */
#define KERNEL_SETS_BITS 10
#define KERNEL_SETS (1U << KERNEL_SETS_BITS)
#define KERNEL_SETS_NEAR 4U

/**
 * struct named_call - a call that was looked up
 * @call: its row in the tables; NULL: none was looked up
 * @number: of the call; @name: number of its name
 * @waits: it waits for the GPU
 */
struct named_call {
	const struct grt_cuda_call *call;
	uint32_t number;
	uint32_t name;
	bool waits;
};

#define NAMED_CALLS 64U

/* Most ranges with a struct whose end has not come; if there are more, the oldest lose their fields. */
#define STRUCTS_MAX 65536U

/** struct fields_text - fields of structs of a range or mark, as NAME=VALUE, ... */
struct fields_text {
	uint32_t length;
	char text[252];
};

/* @named: the calls that came last, by a simple hash. Elements of @kernels are struct kernel_names, those of
 * @last struct last_work; @drawn: bits of the fields of an event that are values. What is held waits in a
 * ring, @line, where it comes in order, and else in a heap; @free: a place in @held, plus 1. @set:
 * KERNEL_SETS of them, NULL: none came yet; @sets: how many there were
 * @last_near: of work without a set, as @last of a set */
struct tracks_cuda {
	struct grt_tracks *tracks;
	struct grt_images images;
	struct named_call named[NAMED_CALLS];
	struct grt_keyed kernels;
	struct grt_keyed graphs;
	struct grt_keyed last;
	uint32_t last_near[LASTS_NEAR][2];
	struct grt_keyed structs;
	struct held *held;
	uint32_t held_places, held_room, free;
	struct held_at *line, *heap;
	uint32_t line_first, lined;
	uint32_t heaped, heap_room;
	uint64_t arrived;
	struct grt_device_memory memory;
	uint64_t drawn[GRT_EV_MAX];
	struct kernel_set *set;
	uint64_t sets;
};

static bool held_before(const struct tracks_cuda *c, const struct held_at *a, const struct held_at *b)
{
	return a->time < b->time ||
	       (a->time == b->time && c->held[a->place].number < c->held[b->place].number);
}

GRT_HEAP(held, struct held_at, struct tracks_cuda, held_before)

static struct tracks_cuda *cuda_of(const struct grt_tracks *t)
{
	return t->state[IN_tracks_cuda];
}

/* Different from the numbers of flow_of(): those of calls and their GPU work. */
static uint64_t launch_flow(const struct grt_image *image, uint64_t correlation)
{
	return correlation
		       ? 1ULL << 62 | (image->number & 0x3fffffULL) << 40 | (correlation & 0xffffffffffULL)
		       : 0;
}

/*
 * The key of a track of a process image; a later image of the process, after exec(), has tracks of its own.
 * The last word is the number of the lane.
 */
static struct grt_key cuda_key(unsigned int what, const struct grt_image *image, uint64_t a, uint64_t b)
{
	return (struct grt_key){{(uint64_t)image->number << 32 | what, a, b}};
}

/* Adds fields of work; those that are 0 are unknown, except for the bytes of a copy. */
static void add_work_fields(const struct grt_tracks *t, struct tracks_args *a, const struct grt_event *e)
{
	for (uint64_t rest = cuda_of(t)->drawn[e->type]; rest; rest &= rest - 1) {
		const struct tracks_field *f = &t->field[e->type][__builtin_ctzll(rest)];

		if (grt_field_read(&f->at, e) ||
		    (e->type == GRT_EV_GPU_COPY && f->at.offset == offsetof(struct grt_ev_gpu_copy, bytes)))
			tracks_add_field(a, f, e);
	}
}

/* Which fields are values: stamps, numbers of names, and the place of work are drawn otherwise. */
static void find_drawn(struct tracks_cuda *c, unsigned int type)
{
	const struct grt_field *f = grt_event_table[type].fields();
	bool work = type == GRT_EV_GPU_KERNEL || type == GRT_EV_GPU_COPY;

	for (unsigned int i = 2; f[i].name && i < 64; i++)
		if (strcmp(f[i].name, "name") &&
		    !(work && (!strcmp(f[i].name, "gpu") || !strcmp(f[i].name, "cuda_stream"))))
			c->drawn[type] |= 1ULL << i;
}

/* Looks the call of a launch up, if it is not the last one in its place. Return: NULL: no memory */
static const struct named_call *find_call(struct grt_tracks *t, const struct grt_ev_launch *x)
{
	struct named_call *n = &cuda_of(t)->named[x->call % NAMED_CALLS];
	const char *text;

	if (n->call && n->number == x->call)
		return n;
	*n = (struct named_call){.call = grt_cuda_call(x->call), .number = x->call};
	n->waits = grt_cuda_sync(n->call);
	text = n->call ? n->call->name : x->e.flags & GRT_FLAG_BPF ? "probe" : "CUDA call";
	return grt_texts_add(&t->texts, text, strlen(text), &n->name) ? NULL : n;
}

static int on_launch(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_launch *x = (const struct grt_ev_launch *)e;
	const struct named_call *call = find_call(t, x);
	struct grt_image *image = grt_images_of(&cuda_of(t)->images, e);
	struct grt_track_item i = {.name = call ? call->name : 0,
				   .category = x->call & GRT_CUDA_DRIVER ? GRT_CATEGORY_DRIVER
									 : GRT_CATEGORY_RUNTIME,
				   .time = x->begin,
				   .end = e->time};
	struct tracks_args *a = tracks_no_args(t);
	struct grt_key key;
	char text[64];
	int ret;

	if (!image || !call)
		return -ENOMEM;
	if (tracks_is_outside(t, x->begin, e->time))
		return 0;
	if (i.end < i.time) {
		t->count.back++;
		return 0;
	}
	key = cuda_key(OF_CALLS, image, e->tid, 0);
	if (!call->waits)
		i.flow_out = launch_flow(image, x->correlation);
	tracks_add_number(a, t->field[e->type][1].id, x->correlation);
	if (x->result)
		tracks_add_arg(a, t->field[e->type][5].id, GRT_TRACK_S64, (uint64_t)(int64_t)x->result);
	if (tracks_draw_on_known(t, &key, &i, a, &ret))
		return ret;
	/* of a new thread: whose calls these are is the same in all of a process */
	image->hip |= (x->call & GRT_HIP_CALL) != 0;
	snprintf(text, sizeof(text), "%s calls of thread %u", image->hip ? "HIP" : "CUDA", e->tid);
	return tracks_draw_in_process(t, e, &key, text, &i, a);
}

/* Gets the names of a kernel. Return: 0 or -ENOMEM */
static int kernel_name(struct grt_tracks *t, const struct grt_image *image, uint32_t string,
		       struct kernel_names *names)
{
	struct grt_key key = {{image->number, string}};
	const char *linked;
	char *clean;
	void *found;
	int ret = grt_keyed_get(&cuda_of(t)->kernels, &key, &found);

	if (ret == -ENOMEM)
		return ret;
	if (!ret && ((struct kernel_names *)found)->name) {
		*names = *(struct kernel_names *)found;
		return 0;
	}
	linked = grt_image_string(image, string) ?: "kernel";
	clean = grt_demangle(linked);
	if (grt_texts_add(&t->texts, clean ?: linked, strlen(clean ?: linked), &names->name))
		names->name = GRT_TEXT_NONE;
	if (!clean || grt_texts_add(&t->texts, linked, strlen(linked), &names->linked))
		names->linked = GRT_TEXT_NONE;
	if (!ret)
		*(struct kernel_names *)found = *names;
	free(clean);
	return 0;
}

/*
 * Whether an arrow goes to this work: the arrow of a graph goes to its first kernel. Return: 1, 0, or
 * -ENOMEM
 */
static int is_first(struct grt_tracks *t, const struct grt_image *image, uint64_t correlation, uint32_t graph)
{
	struct grt_key key = {{image->number, correlation}};
	void *found;

	if (!graph)
		return 1;
	if (grt_keyed_find(&cuda_of(t)->graphs, &key))
		return 0;
	return grt_keyed_get_or_replace(&cuda_of(t)->graphs, &key, NULL, &found) ? -ENOMEM : 1;
}

/* Work of a stream, or of all streams of a context. */
#define ALL_STREAMS (1ULL << 32)

static struct grt_key last_key(const struct grt_image *image, uint32_t context, uint64_t stream)
{
	return (struct grt_key){{image->number, context, stream}};
}

/*
 * Notes the work as the last one, for which a later wait may wait. @near: of this key or another one, for
 * grt_keyed_near(). Return: 0 or -ENOMEM
 */
static inline __attribute__((always_inline)) int is_last(struct tracks_cuda *c, const struct grt_key *key,
							 uint32_t *near, uint64_t correlation, uint64_t end,
							 uint64_t number)
{
	struct last_work *l = grt_keyed_near(&c->last, *near, key);
	void *found;

	if (!l) {
		if (grt_keyed_get_or_replace(&c->last, key, NULL, &found))
			return -ENOMEM;
		*near = grt_keyed_number(found);
		l = found;
	}
	if (correlation > l->correlation)
		l->correlation = correlation;
	if (end >= l->end) {
		l->end = end;
		l->number = number;
	}
	return 0;
}

/*
 * Return: the end of a wait, which is that of the last of the work that was launched before it; 0: unknown.
 * Calls of a process are numbered, so that work is known, unless later work had begun as well.
 */
static uint64_t waited_for(struct grt_tracks *t, const struct grt_image *image,
			   const struct grt_ev_gpu_sync *x)
{
	bool all = x->kind == GRT_CUDA_SYNC_CONTEXT;
	struct grt_key key = last_key(image, x->context, all ? ALL_STREAMS : x->cuda_stream);
	const struct last_work *l = NULL;

	if (x->correlation && (all || (x->kind == GRT_CUDA_SYNC_STREAM && x->cuda_stream != UINT32_MAX)))
		l = grt_keyed_find(&cuda_of(t)->last, &key);
	return l && l->correlation < x->correlation && l->end <= x->end ? l->number : 0;
}

/* The number of a process's device in the timeline. */
static int work_gpu(struct grt_tracks *t, const struct grt_device *device, uint32_t *number)
{
	const struct grt_key other = {{OF_STREAM, device->number}};
	uint32_t bus = device->known && !device->is.mig ? grt_bus_number(device->is.bus) : UINT32_MAX;
	char text[GRT_TRACKS_GPU_NAME], label[GRT_DEVICE_LABEL];

	snprintf(text, sizeof(text), "%s%s%s", grt_device_label(&cuda_of(t)->images.devices, device, label),
		 device->name ? " " : "", device->name ?: "");
	return tracks_gpu_number(t, bus, &other, device, text, number);
}

/* Draws it on a new lane of its stream. */
static __attribute__((noinline)) int draw_on_new_lane(struct grt_tracks *t, const struct grt_event *e,
						      struct grt_key *key, const struct grt_device *device,
						      const uint32_t place[3], struct grt_track_item *i,
						      const struct tracks_args *a)
{
	struct track like = {
		.kind = GRT_TRACK_SLICES, .pid = e->pid, .context = place[1], .queue = TRACKS_FIRST_LANE};
	const struct grt_image *image = grt_images_of(&cuda_of(t)->images, e);
	const struct track *first;
	const char *api;
	char text[64];
	int ret;

	if (!image)
		return -ENOMEM;
	like.hip = image->hip;
	api = image->hip ? "HIP" : "CUDA";
	key->w[3] = 0;
	first = grt_keyed_find(&t->tracks, key);
	if (first)
		like.queue = first->queue;
	ret = work_gpu(t, device, &like.gpu);
	if (device->known)
		snprintf(text, sizeof(text), "%s device %u (%.*s), stream %u", api, place[0],
			 GRT_DEVICE_LABEL_LENGTH, device->is.uuid, place[2]);
	else
		snprintf(text, sizeof(text), "%s device %u, stream %u", api, place[0], place[2]);
	return ret ?: tracks_draw_on_lane(t, e, key, &like, text, i, a);
}

/* Draws it on the first free lane of its stream. */
static int draw_on_stream(struct grt_tracks *t, const struct grt_event *e, struct grt_key *key,
			  const struct grt_device *device, const uint32_t place[3], struct grt_track_item *i,
			  const struct tracks_args *a)
{
	int ret;

	return tracks_draw_on_known(t, key, i, a, &ret) ? ret
							: draw_on_new_lane(t, e, key, device, place, i, a);
}

/* @near: of the stream and the context */
static inline int remember_work(struct tracks_cuda *c, const struct grt_image *image, const uint32_t place[3],
				uint32_t near[2], uint64_t correlation, const struct grt_track_item *i)
{
	const struct grt_key stream = last_key(image, place[1], place[2]);
	const struct grt_key context = last_key(image, place[1], ALL_STREAMS);

	return is_last(c, &stream, &near[0], correlation, i->end, i->number)
		       ?: is_last(c, &context, &near[1], correlation, i->end, i->number);
}

/* The values of what the GPU did. */
static void add_work_args(struct grt_tracks *t, struct tracks_args *a, const struct grt_event *e,
			  const uint32_t place[3])
{
	add_work_fields(t, a, e);
	/* as PyTorch's profiler calls them: readers of its traces know work of a GPU by its stream, also 0 */
	tracks_add_number(a, GRT_TRACK_ARG_DEVICE, place[0]);
	tracks_add_number(a, GRT_TRACK_ARG_STREAM, place[2]);
}

/*
 * Draws what the GPU did on a stream of a device. @i: has its category, name, process and set; @near: as for
 * remember_work()
 */
static inline int draw_work_near(struct grt_tracks *t, const struct grt_event *e,
				 const struct grt_image *image, struct grt_track_item *i,
				 const struct tracks_args *a, uint64_t correlation, uint32_t graph,
				 const uint32_t place[3], uint32_t near[2])
{
	const struct grt_ev_gpu_kernel *x = (const struct grt_ev_gpu_kernel *)e;
	struct grt_key key = cuda_key(OF_STREAM, image, place[1], (uint64_t)place[0] << 32 | place[2]);
	const struct grt_device *device =
		grt_devices_of(&cuda_of(t)->images.devices, image->number, place[0]);
	int first = is_first(t, image, correlation, graph);

	if (first < 0 || !device)
		return -ENOMEM;
	i->time = x->start;
	i->end = x->end;
	i->flow_in = first ? launch_flow(image, correlation) : 0;
	i->number = i->flow_in ?: tracks_next_number(t);
	return draw_on_stream(t, e, &key, device, place, i, a)
		       ?: remember_work(cuda_of(t), image, place, near, correlation, i);
}

static __attribute__((noinline)) int draw_work(struct grt_tracks *t, const struct grt_event *e,
					       const struct grt_image *image, struct grt_track_item *i,
					       const struct tracks_args *a, uint64_t correlation,
					       uint32_t graph, const uint32_t place[3])
{
	uint32_t *near = cuda_of(t)->last_near[(place[1] * 3 + place[2]) % LASTS_NEAR];

	return draw_work_near(t, e, image, i, a, correlation, graph, place, near);
}

/* The work has no time stamps, or had not ended. */
static bool is_undrawn(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_gpu_kernel *x = (const struct grt_ev_gpu_kernel *)e;
	bool undrawn = !x->start || x->end < x->start;

	t->count.undrawn += undrawn;
	return undrawn;
}

/* From here to the end is what kernels of a set have in common, beside their process. */
#define SET_FROM offsetof(struct grt_ev_gpu_kernel, graph_node)
#define SET_BYTES (sizeof(struct grt_ev_gpu_kernel) - SET_FROM)

static bool set_has(const struct kernel_set *s, const struct grt_image *image,
		    const struct grt_ev_gpu_kernel *x)
{
	return s->number && s->image == image &&
	       !memcmp((const char *)&s->kernel + SET_FROM, (const char *)x + SET_FROM, SET_BYTES);
}

static uint32_t kernel_set_place(const struct grt_ev_gpu_kernel *x)
{
	uint64_t what = (uint64_t)x->cuda_stream << 32 | x->name;

	return (uint32_t)((what + x->graph_node * 31) * 0x9e3779b97f4a7c15ULL >> (64 - KERNEL_SETS_BITS));
}

/* Fills the place of a new set, which may have been that of another one. Return: NULL: no memory */
static __attribute__((noinline)) struct kernel_set *new_kernel_set(struct grt_tracks *t,
								   const struct grt_image *image,
								   const struct grt_ev_gpu_kernel *x,
								   uint32_t first)
{
	const uint32_t place[3] = {x->gpu, x->context, x->cuda_stream};
	struct tracks_cuda *c = cuda_of(t);
	struct kernel_set *s = &c->set[first];

	for (uint32_t i = 1; i < KERNEL_SETS_NEAR && s->number; i++)
		s = &c->set[first ^ i];
	/* all are taken */
	if (s->number)
		s = &c->set[first];
	if (kernel_name(t, image, x->name, &s->names))
		return NULL;
	s->number = ++c->sets;
	s->image = image;
	s->kernel = *x;
	s->args.n = 0;
	add_work_args(t, &s->args, &x->e, place);
	s->varies = 0;
	while (s->args.a[s->varies].id != t->field[x->e.type][2].id)
		s->varies++;
	return s;
}

/* The set of a kernel that has a correlation. Return: NULL: no memory */
static inline struct kernel_set *kernel_set_of(struct grt_tracks *t, const struct grt_image *image,
					       const struct grt_ev_gpu_kernel *x)
{
	struct tracks_cuda *c = cuda_of(t);
	uint32_t first = kernel_set_place(x);

	if (!c->set && !(c->set = calloc(KERNEL_SETS, sizeof(*c->set))))
		return NULL;
	for (uint32_t i = 0; i < KERNEL_SETS_NEAR; i++)
		if (set_has(&c->set[first ^ i], image, x))
			return &c->set[first ^ i];
	return new_kernel_set(t, image, x, first);
}

static int draw_kernel_of(struct grt_tracks *t, const struct grt_event *e, const struct grt_image *image,
			  struct kernel_set *s)
{
	const struct grt_ev_gpu_kernel *x = (const struct grt_ev_gpu_kernel *)e;
	const uint32_t place[3] = {x->gpu, x->context, x->cuda_stream};
	struct grt_track_item i = {
		.category = GRT_CATEGORY_KERNEL,
		.name = s->names.name,
		.linked = s->names.linked,
		.pid = e->pid,
		.set = s->number,
		.varies = s->varies,
	};

	s->args.a[s->varies].number = x->correlation;
	return draw_work_near(t, e, image, &i, &s->args, x->correlation, x->graph, place, s->last);
}

static int draw_kernel_without_call(struct grt_tracks *t, const struct grt_event *e,
				    const struct grt_image *image)
{
	const struct grt_ev_gpu_kernel *x = (const struct grt_ev_gpu_kernel *)e;
	const uint32_t place[3] = {x->gpu, x->context, x->cuda_stream};
	struct grt_track_item i = {.category = GRT_CATEGORY_KERNEL, .pid = e->pid};
	struct kernel_names names;

	if (kernel_name(t, image, x->name, &names))
		return -ENOMEM;
	i.name = names.name;
	i.linked = names.linked;
	add_work_args(t, tracks_no_args(t), e, place);
	return draw_work(t, e, image, &i, &t->args, 0, x->graph, place);
}

static int draw_kernel(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_gpu_kernel *x = (const struct grt_ev_gpu_kernel *)e;
	const struct grt_image *image = grt_images_of(&cuda_of(t)->images, e);
	struct kernel_set *s;

	if (!image)
		return -ENOMEM;
	if (is_undrawn(t, e))
		return 0;
	if (!x->correlation)
		return draw_kernel_without_call(t, e, image);
	s = kernel_set_of(t, image, x);
	return s ? draw_kernel_of(t, e, image, s) : -ENOMEM;
}

/* Names a copy as PyTorch's profiler does: "Memcpy HtoD (Pageable -> Device)", "Memset (Device)". */
static void copy_text(const struct grt_ev_gpu_copy *x, char *text, size_t room)
{
	const char *from = grt_cuda_memory_name(x->from_memory), *to = grt_cuda_memory_name(x->to_memory);
	int n = x->kind == GRT_CUDA_SET ? snprintf(text, room, "Memset")
					: snprintf(text, room, "Memcpy %s", grt_cuda_copy_name(x->kind));

	if (x->kind == GRT_CUDA_SET && to)
		snprintf(text + n, room - (size_t)n, " (%s)", to);
	else if (from && to)
		snprintf(text + n, room - (size_t)n, " (%s -> %s)", from, to);
}

static int draw_copy(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_gpu_copy *x = (const struct grt_ev_gpu_copy *)e;
	const struct grt_image *image = grt_images_of(&cuda_of(t)->images, e);
	const uint32_t place[3] = {x->gpu, x->context, x->cuda_stream};
	struct grt_track_item i = {.category = x->kind == GRT_CUDA_SET ? GRT_CATEGORY_SET : GRT_CATEGORY_COPY,
				   .pid = e->pid};
	char text[64];

	copy_text(x, text, sizeof(text));
	if (!image || grt_texts_add(&t->texts, text, sizeof(text), &i.name))
		return -ENOMEM;
	if (is_undrawn(t, e))
		return 0;
	add_work_args(t, tracks_no_args(t), e, place);
	return draw_work(t, e, image, &i, &t->args, x->correlation, x->graph, place);
}

/* Whether nothing of the work, wait or overhead is drawn; without time stamps, the time of its record counts.
 */
static bool work_is_outside(const struct grt_tracks *t, const struct grt_event *e)
{
	bool work = e->type == GRT_EV_GPU_KERNEL || e->type == GRT_EV_GPU_COPY;
	uint64_t start = work ? ((const struct grt_ev_gpu_kernel *)e)->start
			      : ((const struct grt_ev_gpu_sync *)e)->start;
	uint64_t end =
		work ? ((const struct grt_ev_gpu_kernel *)e)->end : ((const struct grt_ev_gpu_sync *)e)->end;

	return start ? tracks_is_outside(t, start, end ?: UINT64_MAX)
		     : tracks_is_outside(t, e->time, e->time);
}

/* Times of the CPU that CUPTI reports: begin and end have the same offsets as those of kernels. */
static int draw_cuda_time(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_gpu_sync *x = (const struct grt_ev_gpu_sync *)e;
	bool waits = e->type == GRT_EV_GPU_SYNC;
	struct grt_track_item i = {.category = waits ? GRT_CATEGORY_WAIT : GRT_CATEGORY_OVERHEAD,
				   .name = t->title[e->type],
				   .time = x->start,
				   .end = x->end};
	const struct grt_image *image = grt_images_of(&cuda_of(t)->images, e);
	struct tracks_args *a = tracks_no_args(t);
	struct grt_key key;
	uint64_t number;

	if (!image)
		return -ENOMEM;
	/* a stream will wait and no thread does, so only the call is drawn */
	if ((waits && x->kind == GRT_CUDA_SYNC_ORDER) || work_is_outside(t, e))
		return 0;
	if (!x->start || x->end < x->start) {
		t->count.undrawn++;
		return 0;
	}
	if (waits) {
		number = waited_for(t, image, x);
		i.wait = &number;
		i.waits = number != 0;
	}
	add_work_fields(t, a, e);
	key = cuda_key(waits ? OF_WAITS : OF_OVERHEAD, image, 0, 0);
	return tracks_draw_in_process(t, e, &key, waits ? "CUDA waits" : "CUDA overhead", &i, a);
}

/* Return: the held work with the earliest time; NULL: there is none. */
static const struct held_at *first_held(const struct tracks_cuda *c)
{
	const struct held_at *line = c->lined ? &c->line[c->line_first] : NULL;

	return !c->heaped || (line && held_before(c, line, c->heap)) ? line : c->heap;
}

/* Removes it. Return: its element, which stays valid */
static uint32_t take_first(struct tracks_cuda *c)
{
	const struct held_at *first = first_held(c);
	uint32_t place = first->place;

	if (first != c->heap) {
		c->line_first = (c->line_first + 1) % HELD_MAX;
		c->lined--;
		return place;
	}
	c->heap[0] = c->heap[--c->heaped];
	if (c->heaped)
		held_sink(c, c->heap, c->heaped, 0);
	return place;
}

/* Draws the work that began first. */
static int draw_held(struct tracks_cuda *c)
{
	uint32_t place = take_first(c);
	struct held *h = &c->held[place];
	const struct grt_event *e = &h->e;

	h->number = c->free;
	c->free = place + 1;
	if (e->type == GRT_EV_GPU_SYNC)
		return draw_cuda_time(c->tracks, e);
	return e->type == GRT_EV_GPU_KERNEL ? draw_kernel(c->tracks, e) : draw_copy(c->tracks, e);
}

/* Return: a free element with a number of arrival; NULL: no memory */
static struct held *new_held(struct tracks_cuda *c)
{
	struct held *h;

	if (!c->free) {
		if (grt_grow(&c->held, &c->held_room, c->held_places + 1, 256))
			return NULL;
		c->held[c->held_places].number = 0;
		c->free = ++c->held_places;
	}
	h = &c->held[c->free - 1];
	c->free = (uint32_t)h->number;
	h->number = c->arrived++;
	return h;
}

/* Return: 0 or -ENOMEM */
static int put_in_order(struct tracks_cuda *c, const struct held_at *at)
{
	if (!c->line && !(c->line = malloc(HELD_MAX * sizeof(*c->line))))
		return -ENOMEM;
	if (!c->lined || c->line[(c->line_first + c->lined - 1) % HELD_MAX].time <= at->time) {
		c->line[(c->line_first + c->lined++) % HELD_MAX] = *at;
		return 0;
	}
	if (grt_grow(&c->heap, &c->heap_room, c->heaped + 1, 256))
		return -ENOMEM;
	c->heap[c->heaped] = *at;
	held_rise(c, c->heap, c->heaped++);
	return 0;
}

static int on_work(struct grt_tracks *t, const struct grt_event *e)
{
	static const size_t sizes[] = {sizeof(struct grt_ev_gpu_kernel), sizeof(struct grt_ev_gpu_copy),
				       sizeof(struct grt_ev_gpu_sync)};
	struct tracks_cuda *c = cuda_of(t);
	const struct held_at *first;
	struct held *h;
	int ret = 0;

	if (work_is_outside(t, e))
		return 0;
	while (!ret && (first = first_held(c)) &&
	       (c->lined + c->heaped == HELD_MAX || first->time + HELD_NS < e->time))
		ret = draw_held(c);
	h = ret ? NULL : new_held(c);
	if (!h)
		return ret ?: -ENOMEM;
	memcpy(&h->e, e, sizes[e->type - GRT_EV_GPU_KERNEL]);
	return put_in_order(
		c, &(struct held_at){.time = e->type == GRT_EV_GPU_SYNC ? h->sync.end : h->kernel.start,
				     .place = (uint32_t)(h - c->held)});
}

static int cuda_flush(void *state)
{
	struct tracks_cuda *c = state;
	int ret = 0;

	while (!ret && first_held(c))
		ret = draw_held(c);
	return ret;
}

/* Ranges come by their ends, so that an inner one is drawn before the one around it, on a lane of its own. */
/* Payloads come before their range, which has their thread and their begin. */
static int on_payload(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_payload *x = (const struct grt_ev_payload *)e;
	const struct grt_image *image = grt_images_of(&cuda_of(t)->images, e);
	struct grt_key key = {{image ? image->number : 0, e->tid, x->begin}};
	struct fields_text *f;
	const char *name;
	void *found;
	int n;

	if (!image || grt_keyed_get_or_replace(&cuda_of(t)->structs, &key, NULL, &found))
		return -ENOMEM;
	f = found;
	name = grt_image_string(image, x->name);
	n = snprintf(f->text + f->length, sizeof(f->text) - f->length, "%s%s%s%.*s", f->length ? ", " : "",
		     name ?: "", name ? "=" : "", (int)sizeof(x->text), x->text);
	f->length += n > 0 ? (uint32_t)n : 0;
	if (f->length > sizeof(f->text) - 1)
		f->length = sizeof(f->text) - 1;
	return 0;
}

static struct fields_text *fields_of(struct grt_tracks *t, const struct grt_image *image,
				     const struct grt_event *e, uint64_t begin)
{
	const struct grt_key key = {{image->number, e->tid, begin}};

	return cuda_of(t)->structs.used ? grt_keyed_find(&cuda_of(t)->structs, &key) : NULL;
}

static int on_range(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_range *x = (const struct grt_ev_range *)e;
	const struct grt_image *image = grt_images_of(&cuda_of(t)->images, e);
	const char *name = image ? grt_image_string(image, x->name) ?: "range" : "";
	const char *domain = image ? grt_image_string(image, x->domain) ?: "" : "";
	bool started = x->kind == 2;
	struct grt_track_item i = {.category = GRT_CATEGORY_RANGE, .time = x->begin, .end = e->time};
	struct tracks_args *a = tracks_no_args(t);
	struct fields_text *fields = NULL;
	struct grt_key key;
	char text[96];
	int ret;

	if (!image || grt_texts_add(&t->texts, name, strlen(name), &i.name))
		return -ENOMEM;
	if (i.end < i.time) {
		t->count.back++;
		return 0;
	}
	add_work_fields(t, a, e);
	fields = fields_of(t, image, e, x->begin);
	if (fields)
		tracks_add_text(a, GRT_TRACK_ARG_FIELDS_OF, fields->text, fields->length);
	key = cuda_key(OF_RANGES, image, started ? 0 : (uint64_t)e->tid, x->domain);
	if (started)
		snprintf(text, sizeof(text), "NVTX ranges %.40s", domain);
	else
		snprintf(text, sizeof(text), "NVTX ranges of thread %u %.40s", e->tid, domain);
	text[strlen(text) - (text[strlen(text) - 1] == ' ')] = '\0';
	ret = tracks_is_outside(t, i.time, i.end) ? 0 : tracks_draw_in_process(t, e, &key, text, &i, a);
	if (fields)
		grt_keyed_remove(&cuda_of(t)->structs, fields);
	return ret;
}

static int on_mark(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_mark *x = (const struct grt_ev_mark *)e;
	const struct grt_image *image = grt_images_of(&cuda_of(t)->images, e);
	const char *text = image ? grt_image_string(image, x->name) ?: "mark" : "";
	struct fields_text *fields = image ? fields_of(t, image, e, e->time) : NULL;
	struct grt_track_item i = {.kind = GRT_ITEM_INSTANT, .category = GRT_CATEGORY_RANGE, .time = e->time};
	struct tracks_args *a = tracks_no_args(t);
	struct track *k;
	int ret;

	if (!image || grt_texts_add(&t->texts, text, strlen(text), &i.name))
		return -ENOMEM;
	ret = tracks_thread(t, e->pid, e->tid, &k);
	if (ret)
		return ret;
	tracks_add_common(a, e, k && k->kind == GRT_TRACK_THREAD);
	tracks_add_fields(t, a, e);
	if (fields)
		tracks_add_text(a, GRT_TRACK_ARG_FIELDS_OF, fields->text, fields->length);
	ret = tracks_is_outside(t, i.time, i.time) ? 0 : tracks_draw(t, k, &i, a);
	if (fields)
		grt_keyed_remove(&cuda_of(t)->structs, fields);
	return ret;
}

/* The counter of a device's memory, or of the host's, for all processes together. */
static int memory_track(struct grt_tracks *t, uint32_t number, struct track **out)
{
	const struct grt_devices *all = &cuda_of(t)->images.devices;
	const struct grt_device *device = number == GRT_DEVICE_MEMORY_HOST ? NULL : all->device[number];
	struct grt_key group = tracks_key_of(OF_MEMORY_DEVICE, number, 0, 0);
	struct grt_key key = tracks_key_of(OF_MEMORY, number, 0, 0);
	struct track like = {.kind = GRT_TRACK_GROUP}, *k;
	char label[GRT_DEVICE_LABEL], text[64] = "memory of the host for CUDA";
	int ret;

	if (device)
		snprintf(text, sizeof(text), "CUDA %s", grt_device_label(all, device, label));
	ret = tracks_get_fixed(t, &group, &like, text, &k);
	like = (struct track){.kind = GRT_TRACK_COUNTER, .parent = k ? k->id : 0};
	if (ret)
		return ret;
	ret = tracks_get(t, &key, &like, out);
	return ret > 0 ? tracks_announce(t, *out, device ? "CUDA memory" : "pinned memory", "B") : ret;
}

/** struct memory_change - who draws a change of memory, and when */
struct memory_change {
	struct grt_tracks *tracks;
	uint64_t time;
};

static int memory_draw(void *arg, const struct grt_memory_change *c, uint64_t ended)
{
	const struct memory_change *m = arg;
	struct grt_track_item i = {.kind = GRT_ITEM_COUNTER,
				   .category = GRT_CATEGORY_COUNTER,
				   .time = m->time,
				   .value = (int64_t)c->live};
	struct track *k;

	if (m->tracks->beyond)
		return 0;
	return memory_track(m->tracks, c->device, &k) ?: tracks_draw(m->tracks, k, &i, NULL);
}

static int on_alloc(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_image *image = grt_images_of(&cuda_of(t)->images, e);
	struct memory_change draw = {t, e->time};
	struct grt_memory_change change[2];
	uint32_t device;
	int n, ret = image ? grt_device_memory_place(&cuda_of(t)->images, image, (const void *)e, &device)
			   : -ENOMEM;

	ret = ret ?: grt_device_memory_release(&cuda_of(t)->memory, image, memory_draw, &draw);
	if (ret)
		return ret;
	n = grt_device_memory_event(&cuda_of(t)->memory, image, (const void *)e, device, 0, change);
	for (int c = 0; c < n && !ret; c++)
		ret = memory_draw(&draw, &change[c], e->time);
	return n < 0 ? n : ret;
}

/* A call shows that its process goes on: the memory of those that have ended is free. */
static int on_call(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_image *image;
	struct memory_change draw = {t, e->time};
	int ret;

	if (!cuda_of(t)->memory.ends)
		return on_launch(t, e);
	image = grt_images_of(&cuda_of(t)->images, e);
	ret = image ? grt_device_memory_release(&cuda_of(t)->memory, image, memory_draw, &draw) : -ENOMEM;
	return ret ?: on_launch(t, e);
}

/* Only the names in the definitions of a process are needed. */
static int tracks_on_image(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_image *image;
	int ret = 0;

	if (e->type == GRT_EV_PROCESS) {
		image = grt_images_of(&cuda_of(t)->images, e);
		ret = image ? grt_device_memory_process(&cuda_of(t)->memory, image, (const void *)e)
			    : -ENOMEM;
	}
	return ret ?: grt_images_event(&cuda_of(t)->images, e);
}

_Static_assert(GRT_EV_GPU_COPY == GRT_EV_GPU_KERNEL + 1 && GRT_EV_GPU_SYNC == GRT_EV_GPU_KERNEL + 2 &&
		       offsetof(struct grt_ev_gpu_kernel, start) == offsetof(struct grt_ev_gpu_copy, start) &&
		       offsetof(struct grt_ev_gpu_kernel, end) == offsetof(struct grt_ev_gpu_copy, end) &&
		       offsetof(struct grt_ev_gpu_sync, start) ==
			       offsetof(struct grt_ev_gpu_overhead, start) &&
		       offsetof(struct grt_ev_gpu_sync, end) == offsetof(struct grt_ev_gpu_overhead, end),
	       "kinds of work follow each other, and stamps are at the same place");

static int cuda_begin(struct grt_tracks *t, void *state)
{
	struct tracks_cuda *c = state;

	c->tracks = t;
	find_drawn(c, GRT_EV_GPU_KERNEL);
	find_drawn(c, GRT_EV_GPU_COPY);
	find_drawn(c, GRT_EV_GPU_SYNC);
	find_drawn(c, GRT_EV_GPU_OVERHEAD);
	find_drawn(c, GRT_EV_RANGE);
	grt_keyed_init(&c->kernels, sizeof(struct kernel_names), KERNELS_MAX);
	grt_keyed_init(&c->last, sizeof(struct last_work), LASTS_MAX);
	grt_keyed_init(&c->structs, sizeof(struct fields_text), STRUCTS_MAX);
	grt_keyed_init(&c->graphs, sizeof(uint32_t), GRAPHS_MAX);
	grt_images_init(&c->images);
	grt_device_memory_init(&c->memory);
	return 0;
}

static void cuda_free(void *state)
{
	struct tracks_cuda *c = state;

	grt_keyed_free(&c->kernels);
	grt_keyed_free(&c->graphs);
	grt_keyed_free(&c->last);
	grt_keyed_free(&c->structs);
	grt_device_memory_free(&c->memory);
	grt_images_free(&c->images);
	free(c->set);
	free(c->held);
	free(c->line);
	free(c->heap);
}

static const struct tracks_draw cuda_draws[] = {
	{GRT_EV_PROCESS, tracks_on_image},
	{GRT_EV_STRING, tracks_on_image},
	{GRT_EV_NODE, tracks_nothing},
	{GRT_EV_MAPPING, tracks_nothing},
	{GRT_EV_CODE, tracks_nothing},
	{GRT_EV_CLOCK, tracks_nothing},
	{GRT_EV_RANK, tracks_nothing},
	{GRT_EV_DEVICE, tracks_on_image},
	{GRT_EV_CAPTURE, tracks_on_image},
	{GRT_EV_LAUNCH, on_call},
	{GRT_EV_GRAPH_NODE, tracks_nothing},
	{GRT_EV_RANGE_NODE, tracks_nothing},
	{GRT_EV_RANGE, on_range},
	{GRT_EV_MARK, on_mark},
	{GRT_EV_PAYLOAD, on_payload},
	{GRT_EV_GPU_KERNEL, on_work},
	{GRT_EV_GPU_COPY, on_work},
	{GRT_EV_ALLOC, on_alloc},
	{GRT_EV_PC_SAMPLE, tracks_nothing},
	{GRT_EV_PC_COUNT, tracks_nothing},
	{GRT_EV_STALL_REASON, tracks_nothing},
	{GRT_EV_CUBIN, tracks_nothing},
	{GRT_EV_PC_LINE, tracks_nothing},
	{GRT_EV_PC_INLINED, tracks_nothing},
	{GRT_EV_COMMUNICATOR, tracks_nothing},
	{GRT_EV_COLLECTIVE, tracks_nothing},
	{GRT_EV_GPU_SYNC, on_work},
	{GRT_EV_GPU_OVERHEAD, draw_cuda_time},
	{0},
};

const struct tracks_provider tracks_cuda = {
	.draws = cuda_draws,
	.state = sizeof(struct tracks_cuda),
	.begin = cuda_begin,
	.flush = cuda_flush,
	.free = cuda_free,
};
