// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Waits are divided in steps: by the work of their stream, of their context, and of their process. For each
 * step, the work is sorted by place and time, and time that earlier work covers is removed. So the work of
 * one place does not overlap, and the first work of a wait is found by its end.
 */
#include "gpu_waits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/compare.h"
#include "base/containers.h"
#include "base/hist.h"
#include "base/index.h"
#include "codes/cuda_codes.h"
#include "jobs/jobs.h"
#include "stack/flame_shapes.h"
#include "stack/image_frames.h"
#include "trace/packet.h"

#define ANY UINT32_MAX

enum step { BY_STREAM, BY_CONTEXT, BY_PROCESS, STEPS };

/** struct place - where work runs, and for what a wait waits; ANY: all of them */
struct place {
	uint32_t pid;
	uint32_t context;
	uint32_t stream;
};

/**
 * struct work - a kernel, a copy or a job
 * @what: its number, by kind
 */
struct work {
	struct place place;
	uint32_t what;
	uint64_t from;
	uint64_t to;
};

/**
 * struct wait
 * @place: for what it waits, known once it is divided
 * @step: the step that divides it; @last: the last step that does
 */
struct wait {
	struct grt_gpu_wait w;
	struct place place;
	uint8_t step;
	uint8_t last;
};

/**
 * struct target - for what a call waited
 * @copy: it is a copy, before which more may have to end
 */
struct target {
	struct place place;
	bool copy;
	uint64_t call;
	uint64_t from;
	uint64_t to;
};

/** struct what - a kernel, a kind of copies, or a ring's jobs, for which @name is the ring */
struct what {
	uint32_t image;
	uint32_t name;
	uint32_t device;
	uint32_t leaf;
};

struct grt_gpu_waits {
	int (*part)(void *arg, const struct grt_gpu_wait *w, uint32_t work);
	void *arg;
	struct grt_images images;
	struct grt_image_frames *frames;
	struct grt_jobs *jobs;
	struct grt_hash_key key;
	struct work *work;
	uint32_t works, work_room;
	struct work *row; /* the work, after it was sorted and overlaps were removed */
	uint32_t rows, row_room;
	struct wait *wait;
	uint32_t waits, wait_room;
	struct wait *due; /* the waits that are being divided */
	uint32_t dues, due_room;
	struct target *target;
	uint32_t targets, target_room;
	struct what *what;
	uint32_t whats, what_room;
	struct grt_index index;
	uint64_t divided; /* all waits before this moment have been divided */
	struct grt_gpu_waits_count count;
};

/* ------------------------------------------------------------- the work */

static struct place place_in(const struct place *p, enum step step)
{
	return (struct place){p->pid, step < BY_PROCESS ? p->context : ANY,
			      step < BY_CONTEXT ? p->stream : ANY};
}

static int compare_places(const struct place *a, const struct place *b)
{
	return grt_compare(a->pid, b->pid)
		       ?: grt_compare(a->context, b->context) ?: grt_compare(a->stream, b->stream);
}

static int compare_works(const void *a, const void *b)
{
	const struct work *x = a, *y = b;

	return compare_places(&x->place, &y->place)
		       ?: grt_compare(x->from, y->from)
		       ?: grt_compare(x->to, y->to) ?: grt_compare(x->what, y->what);
}

static int lay_out(struct grt_gpu_waits *g, enum step step)
{
	if (grt_grow(&g->row, &g->row_room, g->works, 256))
		return -ENOMEM;
	for (uint32_t i = 0; i < g->works; i++) {
		g->row[i] = g->work[i];
		g->row[i].place = place_in(&g->work[i].place, step);
	}
	if (g->works)
		qsort(g->row, g->works, sizeof(*g->row), compare_works);
	g->rows = 0;
	for (uint32_t i = 0; i < g->works; i++) {
		const struct work *last = g->rows ? &g->row[g->rows - 1] : NULL;
		struct work w = g->row[i];

		if (last && !compare_places(&last->place, &w.place) && last->to > w.from)
			w.from = last->to;
		if (w.from < w.to)
			g->row[g->rows++] = w;
	}
	return 0;
}

static bool ends_before(const struct work *r, const struct place *place, uint64_t moment)
{
	int order = compare_places(&r->place, place);

	return order < 0 || (!order && r->to <= moment);
}

/* Return: the first work of a place that ends after a moment. */
static uint32_t first_row(const struct grt_gpu_waits *g, const struct place *place, uint64_t moment)
{
	return grt_bisect(g->rows, i, ends_before(&g->row[i], place, moment));
}

/* ------------------------------------------------------------ the waits */

static int put_part(struct grt_gpu_waits *g, const struct wait *wait, uint64_t from, uint64_t to,
		    uint32_t what)
{
	struct grt_gpu_wait w = wait->w;

	w.from = from;
	w.to = to;
	return from < to ? g->part(g->arg, &w, what) : 0;
}

/* Leaves time that no work covers to the next step, or after the last step to the wait itself. */
static int put_rest(struct grt_gpu_waits *g, const struct wait *wait, uint64_t from, uint64_t to)
{
	struct wait w = *wait;

	if (from >= to || w.step == w.last)
		return put_part(g, wait, from, to, 0);
	if (grt_grow(&g->due, &g->due_room, g->dues + 1, 256))
		return -ENOMEM;
	w.w.from = from;
	w.w.to = to;
	w.step++;
	g->due[g->dues++] = w;
	return 0;
}

static int divide_wait(struct grt_gpu_waits *g, const struct wait *w)
{
	struct place place = place_in(&w->place, w->step);
	uint64_t at = w->w.from;
	int ret = 0;

	for (uint32_t i = first_row(g, &place, at); i < g->rows && !ret; i++) {
		const struct work *k = &g->row[i];
		uint64_t from = k->from > at ? k->from : at, to = k->to < w->w.to ? k->to : w->w.to;

		if (compare_places(&k->place, &place) || k->from >= w->w.to)
			break;
		ret = put_rest(g, w, at, from) ?: put_part(g, w, from, to, k->what);
		at = to;
	}
	return ret ?: put_rest(g, w, at, w->w.to);
}

static int compare_targets(const void *a, const void *b)
{
	const struct target *x = a, *y = b;

	return grt_compare(x->place.pid, y->place.pid)
		       ?: grt_compare(x->call, y->call) ?: grt_compare(x->to, y->to);
}

static bool is_target_of(const struct target *t, const struct wait *w)
{
	return t->place.pid == w->w.pid && t->call == w->w.call;
}

/*
 * Return: the call with the wait's number. Numbers begin anew in each image of a process, so it is the first
 * one that ends after the wait's begin, or else the last one.
 */
static const struct target *find_target(const struct grt_gpu_waits *g, const struct wait *w)
{
	struct target key = {.place = {.pid = w->w.pid}, .call = w->w.call, .to = w->w.from};
	uint32_t low = grt_bisect(g->targets, i, compare_targets(&g->target[i], &key) <= 0);

	if (!w->w.call)
		return NULL;
	if (low < g->targets && is_target_of(&g->target[low], w))
		return &g->target[low];
	return low && is_target_of(&g->target[low - 1], w) ? &g->target[low - 1] : NULL;
}

static void aim(const struct grt_gpu_waits *g, struct wait *w)
{
	const struct target *t = find_target(g, w);

	w->place = t ? t->place : (struct place){w->w.pid, ANY, ANY};
	w->step = w->place.stream != ANY ? BY_STREAM : w->place.context != ANY ? BY_CONTEXT : BY_PROCESS;
	w->last = t && t->copy ? BY_CONTEXT : w->step;
}

/* Divides the part of the waits before a moment. */
static int take_due(struct grt_gpu_waits *g, uint64_t upto)
{
	uint32_t left = 0;

	g->dues = 0;
	if (grt_grow(&g->due, &g->due_room, g->waits, 256))
		return -ENOMEM;
	for (uint32_t i = 0; i < g->waits; i++) {
		struct wait w = g->wait[i];

		if (w.w.from < upto) {
			aim(g, &w);
			g->due[g->dues] = w;
			g->due[g->dues++].w.to = w.w.to < upto ? w.w.to : upto;
			w.w.from = upto;
		}
		if (w.w.from < w.w.to)
			g->wait[left++] = w;
	}
	g->waits = left;
	return 0;
}

/* Drops what ended before a moment and is no longer needed. */
static void drop_before(struct grt_gpu_waits *g, uint64_t moment)
{
	uint32_t works = 0, targets = 0;

	for (uint32_t i = 0; i < g->works; i++)
		if (g->work[i].to > moment)
			g->work[works++] = g->work[i];
	g->works = works;
	for (uint32_t i = 0; i < g->targets; i++)
		if (g->target[i].to > moment)
			g->target[targets++] = g->target[i];
	g->targets = targets;
	g->divided = moment;
}

static int divide_before(struct grt_gpu_waits *g, uint64_t moment)
{
	int ret;

	if (g->targets)
		qsort(g->target, g->targets, sizeof(*g->target), compare_targets);
	ret = take_due(g, moment);
	for (enum step step = BY_STREAM; step < STEPS && g->dues && !ret; step++) {
		ret = lay_out(g, step);
		for (uint32_t i = 0; i < g->dues && !ret; i++)
			if (g->due[i].step == step) {
				struct wait w = g->due[i];

				ret = divide_wait(g, &w);
			}
	}
	drop_before(g, moment);
	return ret;
}

static int compare_moments(const void *a, const void *b)
{
	return grt_compare(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Makes room by dividing those waits that end before the middle of all ends. */
static int make_room(struct grt_gpu_waits *g, const void *array, uint32_t n, size_t size, size_t to)
{
	uint64_t *end = n < GRT_GPU_WAITS_MAX ? NULL : malloc(n * sizeof(*end));
	int ret;

	if (!end)
		return n < GRT_GPU_WAITS_MAX ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		memcpy(&end[i], (const char *)array + i * size + to, sizeof(*end));
	qsort(end, n, sizeof(*end), compare_moments);
	ret = divide_before(g, end[n / 2]);
	free(end);
	return ret;
}

int grt_gpu_waits_add(struct grt_gpu_waits *g, const struct grt_gpu_wait *w)
{
	int ret = make_room(g, g->wait, g->waits, sizeof(*g->wait), offsetof(struct wait, w.to));

	if (w->from < g->divided)
		g->count.late_ns += (w->to < g->divided ? w->to : g->divided) - w->from;
	if (ret || grt_grow(&g->wait, &g->wait_room, g->waits + 1, 256))
		return ret ?: -ENOMEM;
	g->wait[g->waits++] = (struct wait){.w = *w};
	return 0;
}

/* --------------------------------------------------------------- events */

static bool same_what(const void *owner, uint32_t id, const void *key)
{
	return !memcmp(&((const struct grt_gpu_waits *)owner)->what[id], key, sizeof(struct what));
}

static int number_of(struct grt_gpu_waits *g, const struct what *what, uint32_t *number)
{
	uint32_t tag = grt_hash(&g->key, (uint64_t)what->image << 32 | what->name,
				(uint64_t)what->device << 32 | what->leaf);
	uint32_t at = grt_index_find(&g->index, tag, same_what, g, what);

	*number = (at == GRT_NOWHERE ? g->whats : at) + 1;
	if (at != GRT_NOWHERE)
		return 0;
	if (grt_grow(&g->what, &g->what_room, g->whats + 1, 64))
		return -ENOMEM;
	g->what[g->whats] = *what;
	return grt_index_add(&g->index, tag, g->whats++);
}

static int add_work(struct grt_gpu_waits *g, const struct work *w)
{
	int ret = make_room(g, g->work, g->works, sizeof(*g->work), offsetof(struct work, to));

	g->count.late += w->from < g->divided;
	if (ret || grt_grow(&g->work, &g->work_room, g->works + 1, 256))
		return ret ?: -ENOMEM;
	g->work[g->works++] = *w;
	return 0;
}

static int add_target(struct grt_gpu_waits *g, const struct target *t)
{
	int ret = make_room(g, g->target, g->targets, sizeof(*g->target), offsetof(struct target, to));

	if (ret || grt_grow(&g->target, &g->target_room, g->targets + 1, 256))
		return ret ?: -ENOMEM;
	g->target[g->targets++] = *t;
	return 0;
}

static int take_kernel(struct grt_gpu_waits *g, const struct grt_image *i, const struct grt_ev_gpu_kernel *k)
{
	struct what what = {i->number, k->name, k->gpu, GRT_FLAME_LEAF_KERNEL};
	struct work w = {{i->pid, k->context, k->cuda_stream}, 0, k->start, k->end};

	if (!k->start || k->end <= k->start)
		return 0;
	return number_of(g, &what, &w.what) ?: add_work(g, &w);
}

/* A copy in the default stream may wait for more, see gpu_waits.h. */
static int take_copy(struct grt_gpu_waits *g, const struct grt_image *i, const struct grt_ev_gpu_copy *c)
{
	struct what what = {i->number, c->kind, c->gpu,
			    c->kind == GRT_CUDA_SET ? GRT_FLAME_LEAF_SET : GRT_FLAME_LEAF_COPY};
	struct work w = {{i->pid, c->context, c->cuda_stream}, 0, c->start, c->end};
	struct target t = {w.place, true, c->correlation, c->start, c->end};

	if (!c->start || c->end <= c->start)
		return 0;
	return number_of(g, &what, &w.what) ?: add_work(g, &w) ?: c->correlation ? add_target(g, &t) : 0;
}

static int take_sync(struct grt_gpu_waits *g, const struct grt_image *i, const struct grt_ev_gpu_sync *s)
{
	struct target t = {
		{i->pid, s->context ?: ANY, s->cuda_stream}, false, s->correlation, s->start, s->end};

	return s->correlation && s->kind != GRT_CUDA_SYNC_ORDER ? add_target(g, &t) : 0;
}

/* A sampled job stands for others, which ran at other times. */
static int take_job(void *arg, const struct grt_job *job)
{
	struct what what = {.name = job->ring, .leaf = GRT_FLAME_LEAF_JOB};
	struct work w = {{job->pid, ANY, ANY}, 0, job->time[GRT_STAMP_START], job->time[GRT_STAMP_END]};
	struct grt_gpu_waits *g = arg;
	bool inferred;
	uint64_t ns;

	if (!job->pid || grt_weight(job->sample) != GRT_WEIGHT_ONE ||
	    !grt_job_phase(job, GRT_PHASE_EXEC, &ns, &inferred) || !ns)
		return 0;
	return number_of(g, &what, &w.what) ?: add_work(g, &w);
}

int grt_gpu_waits_event(struct grt_gpu_waits *g, const struct grt_event *e)
{
	const struct grt_image *i;

	if (!grt_has_trait(e, GRT_TRAIT_OF_IMAGE))
		return grt_jobs_event(g->jobs, e);

	if (e->type != GRT_EV_GPU_KERNEL && e->type != GRT_EV_GPU_COPY && e->type != GRT_EV_GPU_SYNC)
		return grt_images_event(&g->images, e);
	i = grt_images_of(&g->images, e);
	if (!i)
		return -ENOMEM;
	if (e->type == GRT_EV_GPU_KERNEL)
		return take_kernel(g, i, (const struct grt_ev_gpu_kernel *)e);
	return e->type == GRT_EV_GPU_COPY ? take_copy(g, i, (const struct grt_ev_gpu_copy *)e)
					  : take_sync(g, i, (const struct grt_ev_gpu_sync *)e);
}

/* -------------------------------------------------------------- in, out */

int grt_gpu_waits_new(struct grt_gpu_waits **out,
		      int (*part)(void *arg, const struct grt_gpu_wait *w, uint32_t work), void *arg)
{
	struct grt_gpu_waits *g = calloc(1, sizeof(*g));
	struct grt_jobs_sink sink = {.job = take_job, .arg = g};

	*out = g;
	if (!g)
		return -ENOMEM;
	g->part = part;
	g->arg = arg;
	g->key = grt_hash_key_new();
	grt_images_init(&g->images);
	if (!grt_image_frames_new(&g->frames) && !grt_jobs_new(&g->jobs, &sink, NULL))
		return 0;
	grt_gpu_waits_free(g);
	*out = NULL;
	return -ENOMEM;
}

int grt_gpu_waits_flush(struct grt_gpu_waits *g)
{
	return grt_jobs_flush(g->jobs) ?: divide_before(g, UINT64_MAX);
}

static bool has_several_devices(const struct grt_gpu_waits *g)
{
	uint32_t device = ANY;

	for (uint32_t i = 0; i < g->whats; i++) {
		if (g->what[i].leaf == GRT_FLAME_LEAF_JOB)
			continue;
		if (device != ANY && g->what[i].device != device)
			return true;
		device = g->what[i].device;
	}
	return false;
}

static int put_ring(const struct grt_gpu_waits *g, uint32_t ring, struct grt_stacks *tree, uint32_t *node)
{
	const struct grt_names *names = grt_jobs_names(g->jobs);
	const char *gpu = grt_names_name(names, grt_names_find(names, GRT_NAME_RING_GPU, ring));
	char number[24] = "", room[GRT_FLAME_QUEUE];
	const char *name = grt_names_name(names, grt_names_find(names, GRT_NAME_RING, ring));

	if (ring != GRT_RING_NONE)
		snprintf(number, sizeof(number), "ring %u", ring);
	return grt_stacks_frame(tree, *node, room,
				grt_flame_queue(room, name ?: number, grt_names_gpus(names) ? gpu : NULL),
				node);
}

int grt_gpu_waits_put(struct grt_gpu_waits *g, uint32_t work, struct grt_stacks *tree, uint32_t *node)
{
	const struct what *w = &g->what[work - 1];
	char gpu[GRT_FLAME_GPU];
	const char *name = "";
	size_t len = 0;
	int ret = 0;

	if (w->leaf == GRT_FLAME_LEAF_JOB)
		return put_ring(g, w->name, tree, node);
	grt_flame_gpu(gpu, has_several_devices(g) ? w->device : GRT_FLAME_NO_DEVICE);
	if (w->leaf == GRT_FLAME_LEAF_KERNEL)
		ret = grt_image_kernel_name(g->frames, g->images.image[w->image], w->name, &name, &len);
	else if (w->leaf == GRT_FLAME_LEAF_COPY)
		len = strlen(name = grt_cuda_copy_name(w->name));
	return ret ?: grt_flame_put_leaf(tree, w->leaf, gpu, name, len, node);
}

struct grt_gpu_waits_count grt_gpu_waits_count(const struct grt_gpu_waits *g)
{
	return g->count;
}

void grt_gpu_waits_free(struct grt_gpu_waits *g)
{
	if (!g)
		return;
	grt_images_free(&g->images);
	grt_image_frames_free(g->frames);
	grt_jobs_free(g->jobs);
	grt_index_free(&g->index);
	free(g->work);
	free(g->row);
	free(g->wait);
	free(g->due);
	free(g->target);
	free(g->what);
	free(g);
}
