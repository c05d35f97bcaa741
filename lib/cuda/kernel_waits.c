// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * See kernel_waits.h. A slice is written when it has ended, with a clock that differs by some us from that
 * of kernels. So kernels wait here until many later ones have arrived, or the trace has ended.
 */
#include "kernel_waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/bus.h"
#include "base/containers.h"
#include "trace/names.h"

#define PLACES_MAX 512U
#define ROWS_MAX 65536U
#define SLICES_MAX 4194304U
/* The limit while there are no slices, because most such traces have none later. */
#define WAITS_MAX_BARE 65536U
#define WAITS_MAX 1048576U

/** struct slice - @pid had the GPU */
struct slice {
	uint64_t start;
	uint64_t end;
	uint32_t pid;
};

/**
 * struct place - a GPU or an instance of one: its slices in the order of time
 * @bus: UINT32_MAX: unknown
 */
struct place {
	uint32_t bus;
	struct slice *slice;
	uint32_t used, room;
};

/**
 * struct stream
 * @called: its last call
 * @end: when its work, and all work before it, has ended
 */
struct stream {
	uint64_t called;
	uint64_t end;
};

/**
 * struct kernel_wait - the wait of a kernel
 * @before: when the earlier work of its stream ended, 0: unknown
 * @bus: of its device
 */
struct kernel_wait {
	uint64_t called;
	uint64_t start;
	uint64_t before;
	uint32_t bus;
	uint32_t image;
	uint32_t name;
	uint32_t pid;
};

void grt_kernel_waits_init(struct grt_kernel_waits *w)
{
	memset(w, 0, sizeof(*w));
	grt_keyed_init(&w->places, sizeof(struct place), PLACES_MAX);
	grt_keyed_init(&w->users, sizeof(bool), ROWS_MAX);
	grt_keyed_init(&w->streams, sizeof(struct stream), ROWS_MAX);
	grt_keyed_init(&w->sums, sizeof(struct grt_kernel_wait_sum), ROWS_MAX);
	grt_keyed_init(&w->others, sizeof(uint64_t), ROWS_MAX);
}

void grt_kernel_waits_free(struct grt_kernel_waits *w)
{
	for (struct place *p = grt_keyed_oldest(&w->places); p; p = grt_keyed_next(&w->places, p))
		free(p->slice);
	grt_keyed_free(&w->places);
	grt_keyed_free(&w->users);
	grt_keyed_free(&w->streams);
	grt_keyed_free(&w->sums);
	grt_keyed_free(&w->others);
	free(w->wait);
}

/* --------------------------------------------------------------- slices */

/* "nvidia0 0000:c6:00.0" */
static uint32_t kernel_waits_bus(const struct grt_names *names, uint32_t device)
{
	const char *name = grt_names_name(names, grt_names_find(names, GRT_NAME_DEVICE, device));
	const char *bus = name ? strrchr(name, ' ') : NULL;

	return bus ? grt_bus_number(bus + 1) : UINT32_MAX;
}

static struct grt_key kernel_waits_user(const struct grt_key *place, uint32_t pid)
{
	return (struct grt_key){{place->w[0], place->w[1], pid}};
}

int grt_kernel_waits_slice(struct grt_kernel_waits *w, const struct grt_ev_gpu_slice *e,
			   const struct grt_names *names)
{
	struct grt_key key = {{e->e.device, (uint64_t)e->mig_gpu << 32 | e->mig_compute}}, user;
	struct place *p;
	uint64_t start = e->start;
	void *found;
	int ret = grt_keyed_get_or_count(&w->places, &key, &w->over, &found);

	p = found;
	if (!p)
		return ret;
	if (!p->used || p->bus == UINT32_MAX)
		p->bus = kernel_waits_bus(names, e->e.device);
	user = kernel_waits_user(&key, e->e.pid);
	ret = grt_keyed_get_or_count(&w->users, &user, &w->over, &found);
	if (ret)
		return ret;
	if (p->used && start < p->slice[p->used - 1].end)
		start = p->slice[p->used - 1].end;
	if (start >= e->e.time)
		return 0;
	if (w->slices == SLICES_MAX) {
		w->over++;
		return 0;
	}
	if (grt_grow(&p->slice, &p->room, p->used + 1, 64))
		return -ENOMEM;
	p->slice[p->used++] = (struct slice){start, e->e.time, e->e.pid};
	w->slices++;
	return 0;
}

/* ---------------------------------------------------------------- waits */

static uint32_t kernel_waits_bus_of(struct grt_kernel_waits *w, const struct grt_device *device)
{
	if (w->device != device)
		w->bus = device->known ? grt_bus_number(device->is.bus) : UINT32_MAX;
	w->device = device;
	return w->bus;
}

/* The only place on the device's bus of which the process has slices; NULL: none, or several. */
static const struct place *kernel_waits_place(const struct grt_kernel_waits *w, const struct kernel_wait *x)
{
	const struct place *found = NULL, *p;
	struct grt_key user;

	for (p = grt_keyed_oldest(&w->places); p; p = grt_keyed_next(&w->places, p)) {
		user = kernel_waits_user(grt_keyed_key(p), x->pid);
		if (p->bus != x->bus || !grt_keyed_find(&w->users, &user))
			continue;
		if (found)
			return NULL;
		found = p;
	}
	return found;
}

/* The first slice that ends after @time. */
static uint32_t kernel_waits_first(const struct place *p, uint64_t time)
{
	return grt_bisect(p->used, i, p->slice[i].end <= time);
}

static uint64_t kernel_waits_overlap(const struct slice *s, uint64_t from, uint64_t to)
{
	uint64_t start = s->start > from ? s->start : from, end = s->end < to ? s->end : to;

	return end > start ? end - start : 0;
}

static int kernel_waits_add_other(struct grt_kernel_waits *w, const struct kernel_wait *x, uint32_t pid,
				  uint64_t ns)
{
	struct grt_key key = {{x->image, x->name, pid}};
	void *found;
	int ret = grt_keyed_get_or_count(&w->others, &key, &w->over, &found);

	if (found)
		*(uint64_t *)found += ns;
	return ret;
}

static int kernel_waits_divide(struct grt_kernel_waits *w, const struct kernel_wait *x)
{
	const struct place *p = kernel_waits_place(w, x);
	uint64_t before = x->before < x->start ? x->before : x->start, others = 0, behind = 0;
	struct grt_key key = {{x->image, x->name}};
	struct grt_kernel_wait_sum *sum;
	void *found;
	int ret = 0;

	if (!p)
		return 0;
	for (uint32_t i = kernel_waits_first(p, x->called);
	     !ret && i < p->used && p->slice[i].start < x->start; i++) {
		const struct slice *s = &p->slice[i];

		if (s->pid == x->pid)
			continue;
		others += kernel_waits_overlap(s, x->called, x->start);
		behind += kernel_waits_overlap(s, x->called, before);
		ret = kernel_waits_add_other(w, x, s->pid, kernel_waits_overlap(s, x->called, x->start));
	}
	if (!ret)
		ret = grt_keyed_get_or_count(&w->sums, &key, &w->over, &found);
	if (ret || !found)
		return ret;
	sum = found;
	behind = before > x->called ? before - x->called - behind : 0;
	sum->waits++;
	sum->others += others;
	sum->own += behind;
	sum->unknown += x->start - x->called - others - behind;
	sum->longest = others > sum->longest ? others : sum->longest;
	return 0;
}

/* Finishes the oldest @n. */
static int kernel_waits_resolve(struct grt_kernel_waits *w, uint32_t n)
{
	int ret = 0;

	for (uint32_t i = 0; i < n && !ret; i++)
		ret = kernel_waits_divide(w, &w->wait[i]);
	w->used -= n;
	if (w->used)
		memmove(w->wait, w->wait + n, w->used * sizeof(*w->wait));
	return ret;
}

/* When the earlier work of its stream ended; its own end counts for the next one. */
static int kernel_waits_before(struct grt_kernel_waits *w, const struct grt_kernel_work *work,
			       uint64_t *before)
{
	struct stream *s;
	void *found;
	int ret = grt_keyed_get_or_count(&w->streams, &work->stream, &w->over, &found);

	*before = 0;
	s = found;
	if (!s || work->called < s->called)
		return ret;
	*before = s->end;
	s->called = work->called;
	s->end = work->end > s->end ? work->end : s->end;
	return 0;
}

int grt_kernel_waits_work(struct grt_kernel_waits *w, const struct grt_kernel_work *work)
{
	uint64_t before;
	int ret;

	if (!work->called || work->start < work->called || work->end < work->start)
		return 0;
	ret = kernel_waits_before(w, work, &before);
	if (ret || !work->kernel || kernel_waits_bus_of(w, work->device) == UINT32_MAX)
		return ret;
	if (w->used >= (w->slices ? WAITS_MAX : WAITS_MAX_BARE))
		ret = kernel_waits_resolve(w, w->used / 2);
	if (ret || grt_grow(&w->wait, &w->room, w->used + 1, 1024))
		return -ENOMEM;
	w->wait[w->used++] = (struct kernel_wait){.bus = w->bus,
						  .called = work->called,
						  .start = work->start,
						  .before = before,
						  .image = work->image,
						  .name = work->name,
						  .pid = work->pid};
	return 0;
}

int grt_kernel_waits_finish(struct grt_kernel_waits *w)
{
	int ret = kernel_waits_resolve(w, w->used);

	for (uint64_t *ns = grt_keyed_oldest(&w->others); ns && !ret; ns = grt_keyed_next(&w->others, ns)) {
		const struct grt_key *other = grt_keyed_key(ns);
		struct grt_key key = {{other->w[0], other->w[1]}};
		struct grt_kernel_wait_sum *sum = grt_keyed_find(&w->sums, &key);

		if (!sum || *ns <= sum->pid_ns)
			continue;
		sum->pid_ns = *ns;
		sum->pid = (uint32_t)other->w[2];
	}
	return ret;
}

struct grt_kernel_wait_sum grt_kernel_waits_of(const struct grt_kernel_waits *w, uint32_t image,
					       uint32_t name)
{
	struct grt_key key = {{image, name}};
	const struct grt_kernel_wait_sum *sum = grt_keyed_find(&w->sums, &key);

	return sum ? *sum : (struct grt_kernel_wait_sum){0};
}

uint64_t grt_kernel_waits_over(const struct grt_kernel_waits *w)
{
	return w->over;
}
