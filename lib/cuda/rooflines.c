// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Counters of GPUs during kernels, see rooflines.h. A kernel's record comes after its end, when the values
 * of its time have arrived. If they have not, later values are unknown.
 */
#include "rooflines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/packet.h"

#define GPUS_MAX 1024U
#define ROWS_MAX 65536U
#define POINTS_FIRST 1024U
#define POINTS_MAX 131072U

/** struct point - from @time on the counter had @value; -1: it is unknown */
struct point {
	uint64_t time;
	int64_t value;
};

/**
 * struct values - of a counter, by time
 * @begun: all values from this time on are known
 */
struct values {
	struct point *point;
	uint32_t points;
	uint32_t room;
};

/**
 * struct sampled - a GPU
 * @phase: begin of a sample; the others begin at multiples of @interval from it
 */
struct sampled {
	char uuid[48];
	uint64_t interval;
	uint64_t phase;
	struct values values[GRT_METRICS];
};

int grt_rooflines_init(struct grt_rooflines *r)
{
	memset(r, 0, sizeof(*r));
	r->to = UINT64_MAX;
	grt_images_init(&r->images);
	grt_keyed_init(&r->gpus, sizeof(struct sampled), GPUS_MAX);
	grt_keyed_init(&r->rows, sizeof(struct grt_roofline), ROWS_MAX);
	return grt_image_frames_new(&r->frames);
}

void grt_rooflines_free(struct grt_rooflines *r)
{
	for (struct sampled *g = grt_keyed_oldest(&r->gpus); g; g = grt_keyed_next(&r->gpus, g))
		for (unsigned int i = 0; i < GRT_METRICS; i++)
			free(g->values[i].point);
	for (struct grt_roofline *k = grt_keyed_oldest(&r->rows); k; k = grt_keyed_next(&r->rows, k))
		free(k->kernel);
	grt_keyed_free(&r->gpus);
	grt_keyed_free(&r->rows);
	grt_images_free(&r->images);
	grt_image_frames_free(r->frames);
	free(r->row);
}

/* ------------------------------------------------------------------ values */

/* Drops the older half if there is no more room. */
static int values_make_room(struct values *v)
{
	uint32_t room = v->room ? v->room * 2 : POINTS_FIRST;
	struct point *point;

	if (v->points < v->room)
		return 0;
	if (v->room == POINTS_MAX) {
		v->points /= 2;
		memmove(v->point, v->point + v->points, v->points * sizeof(*v->point));
		return 0;
	}
	point = realloc(v->point, room * sizeof(*point));
	if (!point)
		return -ENOMEM;
	v->point = point;
	v->room = room;
	return 0;
}

static int values_add(struct values *v, uint64_t time, int64_t value)
{
	struct point *last = v->points ? &v->point[v->points - 1] : NULL;
	int ret;

	if (last && last->time >= time) {
		last->value = value;
		return 0;
	}
	ret = values_make_room(v);
	if (!ret)
		v->point[v->points++] = (struct point){time, value};
	return ret;
}

/* The last point that is not after a time; 0 also if all are after it. */
static uint32_t values_at(const struct values *v, uint64_t time)
{
	uint32_t low = 0, high = v->points;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (v->point[middle].time <= time)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Adds the values from @start to @end. */
static void values_sum(const struct values *v, uint64_t start, uint64_t end, unsigned __int128 *area,
		       uint64_t *known)
{
	for (uint32_t i = values_at(v, start); i < v->points && v->point[i].time < end; i++) {
		uint64_t from = v->point[i].time > start ? v->point[i].time : start;
		uint64_t until = i + 1 < v->points && v->point[i + 1].time < end ? v->point[i + 1].time : end;

		if (v->point[i].value < 0 || until <= from)
			continue;
		*area += (unsigned __int128)(uint64_t)v->point[i].value * (until - from);
		*known += until - from;
	}
}

static int rooflines_gpu(struct grt_rooflines *r, uint32_t device, struct sampled **out)
{
	const struct grt_key key = {{device}};

	return grt_keyed_get_or_count(&r->gpus, &key, &r->over, (void **)out);
}

static int rooflines_take_sampler(struct grt_rooflines *r, const struct grt_ev_gpu_sampler *e)
{
	struct sampled *g;
	int ret = rooflines_gpu(r, e->e.device, &g);

	if (ret || !g)
		return ret;
	memcpy(g->uuid, e->uuid, sizeof(g->uuid));
	g->uuid[sizeof(g->uuid) - 1] = '\0';
	g->interval = r->interval = e->interval;
	if (!g->phase)
		g->phase = e->e.time;
	return 0;
}

static int rooflines_take_counter(struct grt_rooflines *r, const struct grt_ev_counter *e,
				  const struct grt_names *names)
{
	uint32_t name = grt_names_find(names, GRT_NAME_COUNTER, e->counter);
	int metric = grt_metric_find(grt_names_name(names, name), grt_names_owner(names, name));
	struct sampled *g;
	int ret;

	if (metric < 0 || e->instance)
		return 0;
	ret = rooflines_gpu(r, e->e.device, &g);
	if (ret || !g)
		return ret;
	return values_add(&g->values[metric], e->e.time,
			  e->e.flags & GRT_FLAG_ENDED || e->value < 0 ? -1 : e->value);
}

/* ----------------------------------------------------------------- kernels */

static struct sampled *rooflines_find(const struct grt_rooflines *r, const char *uuid)
{
	struct sampled *g = grt_keyed_oldest(&r->gpus);

	while (g && strncmp(g->uuid, uuid, sizeof(g->uuid)) != 0)
		g = grt_keyed_next(&r->gpus, g);
	return g;
}

/* A sample has ended: weights it with the part of it in which the kernel ran. */
static void roofline_end_slot(struct grt_roofline *k, uint64_t interval)
{
	uint64_t ns = k->slot_ns < interval ? k->slot_ns : interval;

	k->own_ns += (uint64_t)((unsigned __int128)ns * ns / interval);
	k->own_of += ns;
	k->slot_ns = 0;
}

/* The samples during which a kernel ran; those in the middle are its own. */
static void roofline_add_slots(struct grt_roofline *k, const struct sampled *g, uint64_t start, uint64_t end)
{
	while (g->interval && start < end) {
		uint64_t slot = start > g->phase ? (start - g->phase) / g->interval : 0;
		uint64_t until = g->phase + (slot + 1) * g->interval;
		uint64_t whole = end > until ? (end - until) / g->interval : 0;

		/* time stamps of a malicious trace */
		if (until <= start)
			return;
		if (slot != k->slot && k->slot_ns)
			roofline_end_slot(k, g->interval);
		k->slot = slot;
		k->slot_ns += (end < until ? end : until) - start;
		start = end < until ? end : until;
		if (whole) {
			roofline_end_slot(k, g->interval);
			k->own_ns += whole * g->interval;
			k->own_of += whole * g->interval;
			start += whole * g->interval;
		}
	}
}

static int rooflines_row(struct grt_rooflines *r, const struct grt_image *i, uint32_t name,
			 const struct grt_device *device, struct grt_roofline **out)
{
	const struct grt_key key = {{i->number, name, device->number}};
	int ret = grt_keyed_get_or_count(&r->rows, &key, &r->over, (void **)out);
	struct grt_roofline *k = *out;

	if (ret || !k || k->calls)
		return ret;
	k->image = i->number;
	k->name = name;
	k->pid = i->pid;
	memcpy(k->uuid, device->is.uuid, sizeof(k->uuid));
	k->uuid[sizeof(k->uuid) - 1] = '\0';
	return 0;
}

static int rooflines_take_kernel(struct grt_rooflines *r, const struct grt_ev_gpu_kernel *e)
{
	const struct grt_image *i = grt_images_of(&r->images, &e->e);
	const struct grt_device *device = i ? grt_devices_of(&r->images.devices, i->number, e->gpu) : NULL;
	struct grt_roofline *k;
	struct sampled *g;
	int ret;

	if (!device)
		return -ENOMEM;
	if (!e->start || e->end <= e->start || e->end < r->from || e->start > r->to)
		return 0;
	g = device->known ? rooflines_find(r, device->is.uuid) : NULL;
	if (!g) {
		r->apart++;
		r->unknown += !device->known;
		return 0;
	}
	ret = rooflines_row(r, i, e->name, device, &k);
	if (ret || !k)
		return ret;
	k->calls++;
	k->ns += e->end - e->start;
	for (unsigned int m = 0; m < GRT_METRICS; m++)
		values_sum(&g->values[m], e->start, e->end < e->e.time ? e->end : e->e.time, &k->area[m],
			   &k->known[m]);
	roofline_add_slots(k, g, e->start, e->end);
	return 0;
}

int grt_rooflines_event(struct grt_rooflines *r, const struct grt_event *e, const struct grt_names *names)
{
	switch (e->type) {
	case GRT_EV_GPU_SAMPLER:
		return rooflines_take_sampler(r, (const void *)e);
	case GRT_EV_COUNTER:
		return rooflines_take_counter(r, (const void *)e, names);
	case GRT_EV_GPU_KERNEL:
		return rooflines_take_kernel(r, (const void *)e);
	}
	/* of an image, only names and devices are used here */
	if (grt_class_of[e->type] != GRT_CLASS_image || e->type == GRT_EV_NODE)
		return 0;
	return grt_images_event(&r->images, e);
}

/* -------------------------------------------------------------------- rows */

static int rooflines_by_time(const void *a, const void *b)
{
	const struct grt_roofline *x = *(void *const *)a, *y = *(void *const *)b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->image > y->image) - (x->image < y->image) ?: (x->name > y->name) - (x->name < y->name);
}

static int rooflines_name(struct grt_rooflines *r, struct grt_roofline *k)
{
	const struct grt_image *i = r->images.image[k->image];
	size_t length;
	const char *text;
	int ret;

	k->process = grt_image_process_name(i, k->pid_text);
	if (k->kernel)
		return 0;
	ret = grt_image_kernel_name(r->frames, i, k->name, &text, &length);
	k->kernel = ret ? NULL : strndup(text, length);
	return ret ?: k->kernel ? 0 : -ENOMEM;
}

int grt_rooflines_finish(struct grt_rooflines *r)
{
	int ret = 0;

	for (struct grt_roofline *k = grt_keyed_oldest(&r->rows); k && !ret;
	     k = grt_keyed_next(&r->rows, k)) {
		if (k->slot_ns && r->interval)
			roofline_end_slot(k, r->interval);
		ret = rooflines_name(r, k);
	}
	free(r->row);
	r->row = NULL;
	return ret ?: grt_keyed_list(&r->rows, rooflines_by_time, (void ***)&r->row);
}

bool grt_roofline_mean(const struct grt_roofline *row, enum grt_metric_id metric, uint64_t *mean)
{
	uint64_t known = row->known[metric];

	*mean = known ? (uint64_t)((row->area[metric] + known / 2) / known) : 0;
	return known;
}
