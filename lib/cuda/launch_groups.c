// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A kind of group is a row of `kinds`, which says what its members have in common. Everything else is the
 * same for all kinds.
 */
#include "launch_groups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codes/cuda_codes.h"
#include "occupancy.h"
#include "stack/image_frames.h"
#include "base/compare.h"
#include "base/containers.h"
#include "base/say.h"

/* Octaves of all histograms: 128 MiB. */
#define OCTAVES_MAX 32768U
#define STREAMS_MAX 65536U
/* Work of a stream that has not ended when a call is made; larger numbers are shown as this one. */
#define QUEUE_MAX 65536U
/* Most bytes of all stacks' texts; when they are used up, stacks with less time lose some frames. */
#define STACKS_TEXT_MAX (32U << 20)
#define STACK_TEXT_LEAST 512U

/** struct work - a record of the GPU, or with @probed a call of a probed function */
struct work {
	const struct grt_image *image;
	const struct grt_launch *launch;
	uint64_t start;
	uint64_t end;
	uint64_t bytes;
	const struct grt_device *device;
	uint32_t name;
	uint32_t gpu;
	uint32_t context;
	uint32_t stream;
	uint32_t from;
	uint32_t to;
	bool copy;
	bool unsized;
	bool placed;
	bool pageable;
	bool probed;
	bool by_gpu;
	const struct grt_ev_gpu_kernel *kernel;
};

/**
 * struct queue - a stream: a ring of the ends of its work from @head
 * @launched: call of the last work
 */
struct queue {
	uint64_t *end;
	uint32_t head, used, room;
	uint64_t launched;
};

struct grt_launch_groups {
	enum grt_launch_by by;
	struct grt_launches *launches;
	struct grt_image_frames *frames;
	struct grt_keyed groups;
	struct grt_keyed queues;
	struct grt_launch_group **list;
	size_t text; /* bytes of stacks' texts */
	uint32_t octaves;
	struct grt_hist_late exec;
	struct grt_hist_late latency;
	uint64_t over;
	struct grt_interval span;
	struct grt_interval within;
	struct grt_estimate_sums all;
	uint64_t beside;
	struct grt_kernel_waits waits;
};

/* ----------------------------------------------------------------- keys */

static struct grt_key launch_groups_stream(const struct work *w)
{
	return (struct grt_key){{w->image->number, w->gpu, w->context, w->stream}};
}

static bool key_kernel(struct grt_key *key, const struct work *w)
{
	*key = (struct grt_key){{w->image->number, w->name}};
	return !w->copy;
}

static bool key_stack(struct grt_key *key, const struct work *w)
{
	*key = (struct grt_key){{w->image->number, w->launch ? w->launch->node : 0,
				 w->launch && !w->launch->node ? w->launch->call + 1U : 0, w->by_gpu}};
	return true;
}

static bool key_stream(struct grt_key *key, const struct work *w)
{
	*key = launch_groups_stream(w);
	return true;
}

static bool key_device(struct grt_key *key, const struct work *w)
{
	*key = (struct grt_key){{w->device->number}};
	return true;
}

static bool key_copy(struct grt_key *key, const struct work *w)
{
	*key = (struct grt_key){{w->image->number, w->name, w->gpu, (uint64_t)w->from << 32 | w->to}};
	return w->copy;
}

/** struct kind - @key: false: it is in no group of this kind; @busy: the union of times is wanted */
static const struct kind {
	bool (*key)(struct grt_key *key, const struct work *w);
	bool busy;
	bool queue;
} kinds[GRT_LAUNCH_BYS] = {
	[GRT_LAUNCH_BY_KERNEL] = {key_kernel, false, false},
	[GRT_LAUNCH_BY_STACK] = {key_stack, false, false},
	[GRT_LAUNCH_BY_STREAM] = {key_stream, true, true},
	[GRT_LAUNCH_BY_DEVICE] = {key_device, true, false},
	[GRT_LAUNCH_BY_COPY] = {key_copy, false, false},
};

/* ----------------------------------------------------------------- work */

static bool queue_room(struct queue *q)
{
	uint32_t room = q->room ? 2 * q->room : 64;
	uint64_t *more;

	if (q->used < q->room || q->room == QUEUE_MAX)
		return true;
	more = malloc(room * sizeof(*more));
	if (!more)
		return false;
	for (uint32_t i = 0; i < q->used; i++)
		more[i] = q->end[(q->head + i) % q->room];
	free(q->end);
	q->end = more;
	q->head = 0;
	q->room = room;
	return true;
}

/*
 * A stream runs its work in the order of the calls, so the work that has not ended is the last in its queue.
 */
static int launch_groups_add_depth(struct grt_launch_groups *g, struct grt_launch_group *group,
				   const struct work *w)
{
	struct grt_key key = launch_groups_stream(w);
	struct queue *q;
	void *found;
	int ret = grt_keyed_get_or_count(&g->queues, &key, NULL, &found);

	q = found;
	if (!q)
		return ret;
	/* records that do not come in the order of their stream tell nothing about this */
	if (w->launch->begin < q->launched)
		return 0;
	while (q->used && q->end[q->head] <= w->launch->begin) {
		q->head = (q->head + 1) % q->room;
		q->used--;
	}
	/* kernels of a graph are of one call */
	if (w->launch->begin != q->launched) {
		group->depths++;
		group->depth_sum += q->used;
		group->depth_max = q->used > group->depth_max ? q->used : group->depth_max;
	}
	q->launched = w->launch->begin;
	if (!queue_room(q))
		return -ENOMEM;
	if (q->used == q->room) {
		q->head = (q->head + 1) % q->room;
		q->used--;
	}
	q->end[(q->head + q->used++) % q->room] = w->end;
	return 0;
}

/* Sums of an invalid trace stay at the largest number. */
static void add_bytes(uint64_t *sum, uint64_t bytes)
{
	if (__builtin_add_overflow(*sum, bytes, sum))
		*sum = UINT64_MAX;
}

static int add_times(struct grt_launch_groups *g, struct grt_launch_group *group, const struct work *w)
{
	int ret = 0;

	grt_hist_add_late(&group->exec, w->end - w->start, GRT_WEIGHT_ONE, false, &g->octaves, &g->exec);
	add_bytes(&group->timed_bytes, w->bytes);
	group->unsized_ns += w->unsized ? w->end - w->start : 0;
	if (w->launch && w->start >= w->launch->begin)
		grt_hist_add_late(&group->latency, w->start - w->launch->begin, GRT_WEIGHT_ONE, false,
				  &g->octaves, &g->latency);
	else
		group->before_call += w->launch != NULL;
	if (kinds[g->by].busy)
		ret = grt_busy_within(&group->busy, &g->span, w->start, w->end);
	if (!ret && kinds[g->by].queue && w->launch)
		ret = launch_groups_add_depth(g, group, w);
	return ret;
}

static void launch_groups_begin(struct grt_launch_group *group, const struct work *w)
{
	group->image = w->image->number;
	group->pid = w->image->pid;
	group->number = w->name;
	group->gpu = w->gpu;
	group->device = w->device;
	group->context = w->context;
	group->stream = w->stream;
	group->from = w->from;
	group->to = w->to;
}

static void launch_groups_add_occupancy(struct grt_launch_group *group, const struct work *w)
{
	struct grt_occupancy o;

	if (!w->kernel || !w->device->known || !grt_occupancy_of(&w->device->is, w->kernel, &o) || !o.blocks)
		return;
	group->fits++;
	group->fits_sum += (uint64_t)o.warps * 100000 / o.most;
	group->waves_sum += o.waves;
	group->limits |= o.limits;
}

/*
 * Adds work to the window of its launch; for work that a kernel launched, the time of the launch is unknown.
 */
static int launch_groups_add_window(struct grt_launch_groups *g, struct grt_launch_group *group,
				    const struct work *w)
{
	uint64_t ns = w->start && w->end > w->start ? w->end - w->start : 0;
	uint32_t number;

	if (!w->image->watch.parts)
		return 0;
	number = grt_estimate_begun(&w->image->watch, w->launch ? w->launch->begin : w->start, g->within.from,
				    g->within.to);
	return number ? grt_estimate_add(&group->windows, number, ns, 1) : 0;
}

static int launch_groups_add(struct grt_launch_groups *g, const struct work *w)
{
	struct grt_launch_group *group;
	struct grt_key key;
	void *found;
	int ret;

	if (!kinds[g->by].key(&key, w))
		return 0;
	ret = grt_keyed_get_or_count(&g->groups, &key, &g->over, &found);
	group = found;
	if (!group)
		return ret;
	if (!group->kernels && !group->copies && !group->probed)
		launch_groups_begin(group, w);
	group->several |= group->image != w->image->number;
	group->probed += w->probed;
	group->kernels += !w->copy && !w->probed;
	group->copies += w->copy;
	group->unsized += w->unsized;
	add_bytes(&group->bytes, w->bytes);
	group->placed += w->placed;
	group->pageable += w->pageable;
	add_bytes(&group->pageable_bytes, w->pageable ? w->bytes : 0);
	launch_groups_add_occupancy(group, w);
	if (w->probed)
		return 0;
	ret = launch_groups_add_window(g, group, w);
	if (!ret && w->start && w->end >= w->start)
		return add_times(g, group, w);
	group->untimed += !(w->start && w->end >= w->start);
	return ret;
}

static void launch_groups_take_kernel(struct work *w, const struct grt_ev_gpu_kernel *k)
{
	w->kernel = k;
	w->start = k->start;
	w->end = k->end;
	w->name = k->name;
	w->gpu = k->gpu;
	w->context = k->context;
	w->stream = k->cuda_stream;
}

static void launch_groups_take_copy(struct work *w, const struct grt_ev_gpu_copy *c)
{
	w->copy = true;
	w->start = c->start;
	w->end = c->end;
	w->unsized = c->bytes == GRT_BYTES_UNKNOWN;
	w->bytes = w->unsized ? 0 : c->bytes;
	w->name = c->kind;
	w->gpu = c->gpu;
	w->context = c->context;
	w->stream = c->cuda_stream;
	w->from = c->from_gpu;
	w->to = c->to_gpu;
	w->placed = c->from_memory || c->to_memory;
	w->pageable = c->from_memory == GRT_CUDA_PAGEABLE || c->to_memory == GRT_CUDA_PAGEABLE;
}

static int launch_groups_add_wait(struct grt_launch_groups *g, const struct work *w)
{
	const struct grt_kernel_work work = {.kernel = !w->copy,
					     .image = w->image->number,
					     .name = w->name,
					     .pid = w->image->pid,
					     .device = w->device,
					     .stream = launch_groups_stream(w),
					     .called = w->launch ? w->launch->begin : 0,
					     .start = w->start,
					     .end = w->end};

	return g->by == GRT_LAUNCH_BY_KERNEL ? grt_kernel_waits_work(&g->waits, &work) : 0;
}

int grt_launch_groups_work(struct grt_launch_groups *g, const struct grt_event *e,
			   const struct grt_image *image, const struct grt_launch *launch,
			   enum grt_launched_how how)
{
	struct work w = {.image = image, .launch = launch, .by_gpu = how == GRT_LAUNCHED_BY_GPU};

	if (e->type == GRT_EV_GPU_SYNC)
		return 0;
	/* launched a moment before or after a window */
	if (image->watch.parts && how == GRT_LAUNCHED_UNKNOWN) {
		g->beside++;
		return 0;
	}
	if (e->type == GRT_EV_GPU_KERNEL)
		launch_groups_take_kernel(&w, (const struct grt_ev_gpu_kernel *)e);
	else
		launch_groups_take_copy(&w, (const struct grt_ev_gpu_copy *)e);
	w.device = grt_launches_device(g->launches, image, w.gpu);
	if (!w.device)
		return -ENOMEM;
	return launch_groups_add_wait(g, &w) ?: launch_groups_add(g, &w);
}

/* A launch without any work is no work of the GPU; a probed function counts as itself. */
int grt_launch_groups_nothing(struct grt_launch_groups *g, const struct grt_launch *launch)
{
	struct work w = {.image = launch->image, .launch = launch, .probed = true};

	return launch->call == GRT_CUDA_PROBED && g->by == GRT_LAUNCH_BY_STACK ? launch_groups_add(g, &w) : 0;
}

/* --------------------------------------------------------------- in, out */

int grt_launch_groups_new(struct grt_launch_groups **out, enum grt_launch_by by,
			  struct grt_launches *launches)
{
	struct grt_launch_groups *g = calloc(1, sizeof(*g));

	*out = g;
	if (!g)
		return -ENOMEM;
	g->by = by;
	g->launches = launches;
	g->octaves = OCTAVES_MAX;
	grt_launch_groups_span(g, 0, UINT64_MAX);
	g->within = g->span;
	grt_keyed_init(&g->groups, sizeof(struct grt_launch_group), GRT_LAUNCH_GROUPS_MAX);
	grt_keyed_init(&g->queues, sizeof(struct queue), STREAMS_MAX);
	grt_kernel_waits_init(&g->waits);
	if (!grt_image_frames_new(&g->frames))
		return 0;
	grt_launch_groups_free(g);
	*out = NULL;
	return -ENOMEM;
}

void grt_launch_groups_span(struct grt_launch_groups *g, uint64_t first, uint64_t last)
{
	g->span = (struct grt_interval){first, last};
}

void grt_launch_groups_within(struct grt_launch_groups *g, uint64_t from, uint64_t to)
{
	g->within = (struct grt_interval){from, to};
}

int grt_launch_groups_slice(struct grt_launch_groups *g, const struct grt_event *e,
			    const struct grt_names *names)
{
	if (e->type != GRT_EV_GPU_SLICE)
		return 0;
	return grt_kernel_waits_slice(&g->waits, (const struct grt_ev_gpu_slice *)e, names);
}

/* ----------------------------------------------------------------- names */

/* Sets a stack as folded text and in a brief form; without a stack, the launch's function. */
static int stack_name(struct grt_launch_groups *g, struct grt_launch_group *group,
		      const struct grt_image *image, const struct grt_key *key)
{
	const struct grt_cuda_call *call = key->w[2] ? grt_cuda_call((uint32_t)key->w[2] - 1) : NULL;
	int ret;

	group->number = (uint32_t)key->w[1];
	if (group->number) {
		ret = grt_image_frames_folded(g->frames, image, group->number, true,
					      g->text < STACKS_TEXT_MAX ? GRT_IMAGE_FRAMES_FOLDED_MAX
									: STACK_TEXT_LEAST,
					      &group->name);
		g->text += ret ? 0 : strlen(group->name);
		return ret ? ret : grt_image_frames_brief(g->frames, image, group->number, &group->brief);
	}
	group->name = strdup(call ? call->name : key->w[3] ? "[device launch]" : "[unmatched]");
	group->brief = group->name ? strdup(group->name) : NULL;
	return group->brief ? 0 : -ENOMEM;
}

static int copy_name(struct grt_launch_group *group)
{
	int n = group->number == GRT_CUDA_SET ? asprintf(&group->name, "set")
		: group->from != group->to
			? asprintf(&group->name, "%s %u to %u", grt_cuda_copy_name(group->number),
				   group->from, group->to)
			: asprintf(&group->name, "%s", grt_cuda_copy_name(group->number));

	return n < 0 ? -ENOMEM : 0;
}

static int launch_groups_name_group(struct grt_launch_groups *g, struct grt_launch_group *group)
{
	const struct grt_image *image = grt_launches_images(g->launches)->image[group->image];
	const char *text;
	size_t len;
	int ret;

	group->process = grt_image_process_name(image, group->pid_text);
	if (group->several) {
		grt_say_text(group->pid_text, sizeof(group->pid_text), "%u {process|processes}",
			     group->device->users);
		group->process = group->pid_text;
	}
	if (g->by == GRT_LAUNCH_BY_KERNEL)
		group->waits = grt_kernel_waits_of(&g->waits, group->image, group->number);
	if (group->name)
		return 0;
	if (g->by == GRT_LAUNCH_BY_STACK)
		return stack_name(g, group, image, grt_keyed_key(group));
	if (g->by == GRT_LAUNCH_BY_COPY)
		return copy_name(group);
	if (g->by != GRT_LAUNCH_BY_KERNEL)
		return 0;
	ret = grt_image_kernel_name(g->frames, image, group->number, &text, &len);
	group->name = ret ? NULL : strndup(text, len);
	return group->name ? 0 : -ENOMEM;
}

static int launch_groups_compare(const void *a, const void *b)
{
	const struct grt_launch_group *x = *(const struct grt_launch_group *const *)a,
				      *y = *(const struct grt_launch_group *const *)b;
	uint64_t p = grt_hist_sum(&x->exec), q = grt_hist_sum(&y->exec);

	return grt_compare(q, p)
	       ?: grt_compare(y->probed, x->probed)
	       ?: grt_compare(x->image, y->image)
	       ?: memcmp(grt_keyed_key(x), grt_keyed_key(y), sizeof(struct grt_key));
}

int64_t grt_launch_groups_list(struct grt_launch_groups *g, const struct grt_launch_group *const **out)
{
	int ret = grt_kernel_waits_finish(&g->waits);
	void **list;

	grt_hist_settle(&g->exec);
	grt_hist_settle(&g->latency);
	if (ret || grt_keyed_list(&g->groups, launch_groups_compare, &list))
		return -ENOMEM;
	free(g->list);
	g->list = (struct grt_launch_group **)list;
	for (uint32_t i = 0; i < g->groups.used && !ret; i++)
		ret = launch_groups_name_group(g, g->list[i]);
	if (ret)
		return -ENOMEM;
	*out = (const struct grt_launch_group *const *)list;
	return g->groups.used;
}

/* Adds the windows of a process; windows of several processes with the same period count once. */
static int launch_groups_add_windows(struct grt_launch_groups *g, const struct grt_watch *w,
				     struct grt_launch_watched *out)
{
	uint64_t of, watched;
	uint32_t windows;
	int ret = 0;

	if (!w->parts)
		return 0;
	watched = grt_estimate_watched(w, g->within.from, g->within.to, &of, &windows);
	out->watched += watched;
	out->of += of;
	out->windows += windows;
	out->missed += grt_estimate_missed(w, g->within.from, g->within.to);
	for (uint32_t i = 0; i < w->windows && !ret; i++)
		if (grt_estimate_window(w, w->window[i].begin, g->within.from, g->within.to))
			ret = grt_estimate_add(&g->all, w->window[i].number, 0, 0);
	return ret;
}

/* Adds the work of a group to that of all, after the windows that did not end are known. */
static int launch_groups_add_all(struct grt_launch_groups *g, struct grt_launch_group *group)
{
	const struct grt_images *images = grt_launches_images(g->launches);
	int ret = 0;

	/* of several processes, a window with work of any of them counts */
	if (!group->several)
		grt_estimate_settle(&group->windows, &images->image[group->image]->watch, g->within.from,
				    g->within.to);
	for (uint32_t i = 0; i < group->windows.cells && !ret; i++)
		ret = grt_estimate_add(&g->all, group->windows.cell[i].number, group->windows.cell[i].ns,
				       group->windows.cell[i].works);
	return ret;
}

int grt_launch_groups_estimate(struct grt_launch_groups *g, struct grt_launch_watched *out)
{
	const struct grt_images *images = grt_launches_images(g->launches);
	int ret = 0;

	grt_estimate_free(&g->all);
	*out = (struct grt_launch_watched){.beside = g->beside};
	for (uint32_t i = 0; i < images->images && !ret; i++)
		ret = launch_groups_add_windows(g, &images->image[i]->watch, out);
	for (uint32_t i = 0; i < g->groups.used && !ret && out->windows; i++)
		ret = launch_groups_add_all(g, g->list[i]);
	for (uint32_t i = 0; i < g->groups.used && !ret && out->windows; i++) {
		struct grt_launch_group *group = g->list[i];
		const struct grt_watch *w = &images->image[group->image]->watch;

		if (group->several || !w->parts)
			continue;
		group->total = grt_estimate_total(w, &group->windows, g->within.from, g->within.to);
		group->part = grt_estimate_share(&group->windows, &g->all);
	}
	return ret;
}

uint64_t grt_launch_groups_recorded(const struct grt_launch_groups *g, uint64_t from, uint64_t to)
{
	return grt_windows_sum(&grt_launches_images(g->launches)->windows, from, to);
}

struct grt_launches_count grt_launch_groups_count(const struct grt_launch_groups *g)
{
	return grt_launches_count(g->launches);
}

uint64_t grt_launch_groups_over(const struct grt_launch_groups *g)
{
	return g->over;
}

uint64_t grt_launch_groups_waits_over(const struct grt_launch_groups *g)
{
	return grt_kernel_waits_over(&g->waits);
}

void grt_launch_groups_free(struct grt_launch_groups *g)
{
	if (!g)
		return;
	for (struct grt_launch_group *i = grt_keyed_oldest(&g->groups); i;
	     i = grt_keyed_next(&g->groups, i)) {
		free(i->name);
		free(i->brief);
		grt_estimate_free(&i->windows);
		grt_hist_free(&i->exec);
		grt_hist_free(&i->latency);
		grt_busy_free(&i->busy);
	}
	for (struct queue *q = grt_keyed_oldest(&g->queues); q; q = grt_keyed_next(&g->queues, q))
		free(q->end);
	grt_keyed_free(&g->groups);
	grt_keyed_free(&g->queues);
	grt_kernel_waits_free(&g->waits);
	grt_image_frames_free(g->frames);
	grt_estimate_free(&g->all);
	free(g->list);
	free(g);
}
