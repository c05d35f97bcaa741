// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * CUDA: calls of a thread, waits and overhead of a process, and the work of each
 * stream; arrows go from a launch to what the GPU did for it.
 */
#include "tracks_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "codes/cuda_codes.h"
#include "stack/images.h"

/* Kernels whose names are remembered; graphs whose first kernel has come. */
#define KERNELS_MAX 65536U
#define GRAPHS_MAX 65536U

enum {
	OF_CALLS = TRACKS_KEYS(tracks_cuda),
	OF_WAITS,
	OF_OVERHEAD,
	OF_STREAM,
	OF_RANGES,
};

/* Elements of @kernels are numbers of names. */
struct tracks_cuda {
	struct grt_images images;
	struct grt_keyed kernels;
	struct grt_keyed graphs;
};

static struct tracks_cuda *cuda_of(const struct grt_tracks *t)
{
	return t->state[IN_tracks_cuda];
}

/* Beside the numbers of flow_of(): those of calls and what the GPU did for them. */
static uint64_t launch_flow(const struct grt_image *image, uint64_t correlation)
{
	return correlation
		       ? 1ULL << 62 | (image->number & 0x3fffffULL) << 40 | (correlation & 0xffffffffffULL)
		       : 0;
}

/* What is 0 says nothing; stamps, and numbers of names, are drawn otherwise. */
static void add_work_fields(const struct grt_tracks *t, struct tracks_args *a, const struct grt_event *e)
{
	const struct grt_field *f = grt_event_table[e->type].fields();

	for (unsigned int i = 2; f[i].name; i++)
		if (grt_field_value(&f[i], e) && strcmp(f[i].name, "name"))
			tracks_add_field(a, t->field_arg[e->type][i], &f[i], e);
}

static int on_launch(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_launch *x = (const struct grt_ev_launch *)e;
	const struct grt_cuda_call *call = grt_cuda_call(x->call);
	const struct grt_image *image = grt_images_of(&cuda_of(t)->images, e);
	struct grt_track_item i = {.category = x->call & GRT_CUDA_DRIVER ? GRT_CATEGORY_DRIVER
									 : GRT_CATEGORY_RUNTIME,
				   .time = x->begin,
				   .end = e->time};
	struct grt_key key = tracks_key_of(OF_CALLS, e->pid, e->tid, e->ctx);
	const char *name = call ? call->name : e->flags & GRT_FLAG_BPF ? "probe" : "CUDA call";
	struct tracks_args *a = tracks_no_args(t);
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
		tracks_add_arg(a, t->field_arg[e->type][5], GRT_TRACK_S64, (uint64_t)(int64_t)x->result);
	snprintf(text, sizeof(text), "CUDA calls of thread %u", e->tid);
	return tracks_draw_in_process(t, e, &key, text, &i, a);
}

/* A kernel's name as its source has it. Return: 0 or -ENOMEM */
static int kernel_name(struct grt_tracks *t, const struct grt_image *image, uint32_t string, uint32_t *name)
{
	struct grt_key key = {{image->number, string}};
	const char *linked;
	char *clean;
	void *found;
	int ret = grt_keyed_get(&cuda_of(t)->kernels, &key, &found);

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
	if (grt_keyed_find(&cuda_of(t)->graphs, &key))
		return 0;
	return grt_keyed_get_or_replace(&cuda_of(t)->graphs, &key, NULL, &found) ? -ENOMEM : 1;
}

/* What the GPU did: @start and @end of it, on a stream of a device. */
static int draw_work(struct grt_tracks *t, const struct grt_event *e, const struct grt_image *image,
		     enum grt_track_category category, uint32_t name, uint64_t correlation, uint32_t graph,
		     const uint32_t place[3])
{
	const struct grt_ev_gpu_kernel *x = (const struct grt_ev_gpu_kernel *)e;
	struct grt_track_item i = {
		.category = (uint8_t)category, .name = name, .time = x->start, .end = x->end};
	struct grt_key key = tracks_key_of(OF_STREAM, (uint64_t)e->pid << 32 | place[1],
					   (uint64_t)place[0] << 32 | place[2], e->ctx);
	struct tracks_args *a = tracks_no_args(t);
	const struct grt_device *device =
		grt_devices_of(&cuda_of(t)->images.devices, image->number, place[0]);
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
	if (!device)
		return -ENOMEM;
	if (device->known)
		snprintf(text, sizeof(text), "CUDA device %u (%.*s), stream %u", place[0],
			 GRT_DEVICE_LABEL_LENGTH, device->is.uuid, place[2]);
	else
		snprintf(text, sizeof(text), "CUDA device %u, stream %u", place[0], place[2]);
	return tracks_draw_in_process(t, e, &key, text, &i, a);
}

static int on_gpu_kernel(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_gpu_kernel *x = (const struct grt_ev_gpu_kernel *)e;
	const struct grt_image *image = grt_images_of(&cuda_of(t)->images, e);
	const uint32_t place[3] = {x->gpu, x->context, x->cuda_stream};
	uint32_t name;

	if (!image || kernel_name(t, image, x->name, &name))
		return -ENOMEM;
	return draw_work(t, e, image, GRT_CATEGORY_KERNEL, name, x->correlation, x->graph, place);
}

static int on_gpu_copy(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_gpu_copy *x = (const struct grt_ev_gpu_copy *)e;
	const struct grt_image *image = grt_images_of(&cuda_of(t)->images, e);
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

/* Times of the CPU that CUPTI tells: begin and end are where those of kernels are. */
static int on_cuda_time(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_gpu_sync *x = (const struct grt_ev_gpu_sync *)e;
	bool waits = e->type == GRT_EV_GPU_SYNC;
	struct grt_track_item i = {.category = waits ? GRT_CATEGORY_WAIT : GRT_CATEGORY_OVERHEAD,
				   .name = t->title[e->type],
				   .time = x->start,
				   .end = x->end};
	struct grt_key key = tracks_key_of(waits ? OF_WAITS : OF_OVERHEAD, e->pid, 0, e->ctx);
	struct tracks_args *a = tracks_no_args(t);

	/* a stream will wait, and nobody does now: the call is drawn */
	if (waits && x->kind == GRT_CUDA_SYNC_ORDER)
		return 0;
	if (!x->start || x->end < x->start) {
		t->count.undrawn++;
		return 0;
	}
	add_work_fields(t, a, e);
	return tracks_draw_in_process(t, e, &key, waits ? "CUDA waits" : "CUDA overhead", &i, a);
}

/* Ranges come by their ends, so that an inner one is drawn before the one around it, on a lane of its own. */
static int on_range(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_range *x = (const struct grt_ev_range *)e;
	const struct grt_image *image = grt_images_of(&cuda_of(t)->images, e);
	const char *name = image ? grt_image_string(image, x->name) ?: "range" : "";
	const char *domain = image ? grt_image_string(image, x->domain) ?: "" : "";
	bool started = x->kind == 2;
	struct grt_track_item i = {.category = GRT_CATEGORY_RANGE, .time = x->begin, .end = e->time};
	struct grt_key key = tracks_key_of(OF_RANGES, e->pid, started ? 0 : e->tid, e->ctx ^ x->domain);
	struct tracks_args *a = tracks_no_args(t);
	char text[96];

	if (!image || grt_texts_add(&t->texts, name, strlen(name), &i.name))
		return -ENOMEM;
	if (i.end < i.time) {
		t->count.back++;
		return 0;
	}
	add_work_fields(t, a, e);
	if (started)
		snprintf(text, sizeof(text), "NVTX ranges %.40s", domain);
	else
		snprintf(text, sizeof(text), "NVTX ranges of thread %u %.40s", e->tid, domain);
	text[strlen(text) - (text[strlen(text) - 1] == ' ')] = '\0';
	return tracks_draw_in_process(t, e, &key, text, &i, a);
}

static int on_mark(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_mark *x = (const struct grt_ev_mark *)e;
	const struct grt_image *image = grt_images_of(&cuda_of(t)->images, e);
	const char *text = image ? grt_image_string(image, x->name) ?: "mark" : "";
	struct track *k;
	uint32_t name;
	int ret;

	if (!image || grt_texts_add(&t->texts, text, strlen(text), &name))
		return -ENOMEM;
	ret = tracks_thread(t, e->pid, e->tid, &k);
	return ret ?: tracks_draw_instant(t, k, e, name, GRT_CATEGORY_RANGE);
}

/* Of what a process defines, names are needed. */
static int tracks_on_image(struct grt_tracks *t, const struct grt_event *e)
{
	return grt_images_event(&cuda_of(t)->images, e);
}

_Static_assert(offsetof(struct grt_ev_gpu_kernel, start) == offsetof(struct grt_ev_gpu_copy, start) &&
		       offsetof(struct grt_ev_gpu_kernel, end) == offsetof(struct grt_ev_gpu_copy, end) &&
		       offsetof(struct grt_ev_gpu_sync, start) ==
			       offsetof(struct grt_ev_gpu_overhead, start) &&
		       offsetof(struct grt_ev_gpu_sync, end) == offsetof(struct grt_ev_gpu_overhead, end),
	       "stamps are at the same place");

static int cuda_begin(struct grt_tracks *t, void *state)
{
	struct tracks_cuda *c = state;

	grt_keyed_init(&c->kernels, sizeof(uint32_t), KERNELS_MAX);
	grt_keyed_init(&c->graphs, sizeof(uint32_t), GRAPHS_MAX);
	grt_images_init(&c->images);
	return 0;
}

static void cuda_free(void *state)
{
	struct tracks_cuda *c = state;

	grt_keyed_free(&c->kernels);
	grt_keyed_free(&c->graphs);
	grt_images_free(&c->images);
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
	{GRT_EV_LAUNCH, on_launch},
	{GRT_EV_GRAPH_NODE, tracks_nothing},
	{GRT_EV_RANGE_NODE, tracks_nothing},
	{GRT_EV_RANGE, on_range},
	{GRT_EV_MARK, on_mark},
	{GRT_EV_GPU_KERNEL, on_gpu_kernel},
	{GRT_EV_GPU_COPY, on_gpu_copy},
	{GRT_EV_ALLOC, tracks_nothing},
	{GRT_EV_GPU_SYNC, on_cuda_time},
	{GRT_EV_GPU_OVERHEAD, on_cuda_time},
	{0},
};

const struct tracks_provider tracks_cuda = {
	.draws = cuda_draws,
	.state = sizeof(struct tracks_cuda),
	.begin = cuda_begin,
	.free = cuda_free,
};
