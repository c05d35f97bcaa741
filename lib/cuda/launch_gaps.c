// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Intervals of a device wait in a heap, the earliest on top, until there are many
 * of them or the trace is over; then they are taken in order, and where one begins
 * behind the end of all before it there is a gap.
 */
#include "launch_gaps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codes/cuda_codes.h"
#include "base/grow.h"
#include "base/heap.h"
#include "stack/image_frames.h"
#include "base/keyed.h"

#define WAITING_MAX 32768U
#define CALLS_MAX 131072U
#define DEVICES_MAX 4096U
#define THREADS_MAX 65536U
#define KINDS_MAX 65536U
/* And for each device one of each enum grt_gap_why, which take what finds no place: sums stay whole. */
#define KINDS_ALL (KINDS_MAX + 4 * DEVICES_MAX)
/* Number of the calls that have no name: one for all, as they are one row. */
#define NO_NAME UINT32_MAX

/** struct interval - @image: the process whose work it is; @known: its launch is: @begin, @tid, @node */
struct interval {
	uint64_t from;
	uint64_t to;
	uint64_t begin;
	uint32_t image;
	uint32_t pid;
	uint32_t tid;
	uint32_t node;
	bool known;
};

/** struct device - @gpu: in the process that was the first to name it; @reached: end of all that was taken;
 * @taken: begin of the last that was; @gaps: so far */
struct device {
	struct interval *heap;
	uint32_t used, room;
	uint32_t gpu;
	uint64_t reached;
	uint64_t taken;
	uint64_t gaps;
	bool any;
};

/** struct kind - @last: which of its device's gaps had such a part last */
struct kind {
	struct grt_launch_gap gap;
	uint64_t last;
};

struct call {
	uint64_t begin;
	uint64_t end;
	uint32_t call;
};

/** struct thread - its last calls in a ring; @calls: in all */
struct thread {
	struct call *call;
	uint32_t room;
	uint64_t calls;
};

struct grt_launch_gaps {
	const struct grt_windows *windows;
	struct grt_keyed devices;
	struct grt_keyed threads;
	struct grt_keyed kinds;
	uint32_t named; /* of these, with a stack or a function */
	struct grt_launch_gap **list;
	struct grt_launch_gaps_count count;
};

int grt_launch_gaps_new(struct grt_launch_gaps **out)
{
	struct grt_launch_gaps *g = calloc(1, sizeof(*g));

	*out = g;
	if (!g)
		return -ENOMEM;
	grt_keyed_init(&g->devices, sizeof(struct device), DEVICES_MAX);
	grt_keyed_init(&g->threads, sizeof(struct thread), THREADS_MAX);
	grt_keyed_init(&g->kinds, sizeof(struct kind), KINDS_ALL);
	return 0;
}

void grt_launch_gaps_windows(struct grt_launch_gaps *g, const struct grt_windows *windows)
{
	g->windows = windows;
}

/* ---------------------------------------------------------------- calls */

int grt_launch_gaps_call(struct grt_launch_gaps *g, uint32_t image, const struct grt_ev_launch *e)
{
	struct grt_key key = {{image, e->e.tid}};
	struct thread *t;
	void *found;
	int ret = grt_keyed_get_or_count(&g->threads, &key, &g->count.calls_over, &found);

	t = found;
	if (!t)
		return ret;
	/* a ring that is full before it is as large as it may be is not wrapped yet */
	if (t->room < CALLS_MAX && grt_grow(&t->call, &t->room, t->calls + 1, 64))
		return -ENOMEM;
	t->call[t->calls++ % t->room] = (struct call){e->begin, e->e.time, e->call};
	return 0;
}

/* ----------------------------------------------------------------- gaps */

/* The kind of a part; when there are too many, what is left of it without its stack or function. */
static int launch_gaps_find_kind(struct grt_launch_gaps *g, const struct grt_key *device,
				 const struct interval *i, enum grt_gap_why why, uint32_t number, void **out)
{
	struct grt_key key = {{device->w[0], i->image, why, number}};
	uint32_t rest = why == GRT_GAP_CALL ? NO_NAME : 0;

	*out = grt_keyed_find(&g->kinds, &key);
	if (*out)
		return 0;
	if (number != rest && g->named == KINDS_MAX) {
		g->count.unnamed++;
		key.w[3] = rest;
	}
	g->named += key.w[3] != rest;
	return grt_keyed_get(&g->kinds, &key, out);
}

static int launch_gaps_add(struct grt_launch_gaps *g, const struct grt_key *device, const struct device *d,
			   const struct interval *i, enum grt_gap_why why, uint32_t number, uint64_t ns)
{
	struct grt_launch_gap *k;
	struct kind *kind;
	void *found = NULL;
	int ret = ns ? launch_gaps_find_kind(g, device, i, why, number, &found) : 0;

	kind = found;
	if (!kind)
		return ret;
	k = &kind->gap;
	k->device = (uint32_t)device->w[0];
	k->image = i->image;
	k->gpu = d->gpu;
	k->pid = i->pid;
	k->why = why;
	k->number = (uint32_t)grt_keyed_key(kind)->w[3];
	/* calls cut a gap into many pieces of few kinds */
	k->gaps += kind->last != d->gaps;
	kind->last = d->gaps;
	k->ns += ns;
	k->max = ns > k->max ? ns : k->max;
	return 0;
}

/* The first of a thread's calls that ended behind a moment. */
static uint64_t first_behind(const struct thread *t, uint64_t moment)
{
	uint64_t low = t->calls > t->room ? t->calls - t->room : 0, high = t->calls;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (t->call[mid % t->room].end > moment)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* What a thread did from @from until it made the launch at @to. */
static int launch_gaps_add_thread(struct grt_launch_gaps *g, const struct grt_key *device,
				  const struct device *d, const struct interval *i, uint64_t from,
				  uint64_t to)
{
	struct grt_key key = {{i->image, i->tid}};
	const struct thread *t = grt_keyed_find(&g->threads, &key);
	uint64_t at = from, n = t ? first_behind(t, from) : 0;
	uint64_t oldest = t && t->calls > t->room ? t->calls - t->room : 0;
	int ret = 0;

	/* its calls are not remembered: too many threads */
	if (!t)
		return launch_gaps_add(g, device, d, i, GRT_GAP_UNKNOWN, 0, to - from);
	/* further back than what is remembered */
	if (oldest && n == oldest && t->call[n % t->room].begin > from) {
		at = t->call[n % t->room].begin < to ? t->call[n % t->room].begin : to;
		ret = launch_gaps_add(g, device, d, i, GRT_GAP_UNKNOWN, 0, at - from);
	}
	for (; n < t->calls && at < to && !ret; n++) {
		const struct call *c = &t->call[n % t->room];
		uint64_t begin = c->begin > at ? c->begin : at, end = c->end < to ? c->end : to;

		if (c->begin >= to)
			break;
		ret = launch_gaps_add(g, device, d, i, GRT_GAP_CODE, i->node, begin - at);
		if (!ret && end > begin)
			ret = launch_gaps_add(g, device, d, i, GRT_GAP_CALL,
					      grt_cuda_call(c->call) ? c->call : NO_NAME, end - begin);
		at = end > at ? end : at;
	}
	return ret || at >= to ? ret : launch_gaps_add(g, device, d, i, GRT_GAP_CODE, i->node, to - at);
}

static int add_gap(struct grt_launch_gaps *g, const struct grt_key *device, struct device *d,
		   const struct interval *i)
{
	uint64_t from = d->reached, launched;
	int ret = 0;

	d->gaps++;
	if (!i->known)
		return launch_gaps_add(g, device, d, i, GRT_GAP_UNKNOWN, 0, i->from - from);
	launched = i->begin < from ? from : i->begin < i->from ? i->begin : i->from;
	if (launched > from)
		ret = launch_gaps_add_thread(g, device, d, i, from, launched);
	return ret ? ret : launch_gaps_add(g, device, d, i, GRT_GAP_LAUNCHED, 0, i->from - launched);
}

static int launch_gaps_take(struct grt_launch_gaps *g, const struct grt_key *device, struct device *d,
			    const struct interval *i)
{
	struct grt_interval hole;
	int ret = 0;

	/* no launch ended what was idle when a window ended */
	while (g->windows && d->any && grt_windows_hole(g->windows, d->reached, i->from, &hole))
		d->reached = hole.to;
	g->count.late += d->any && i->from < d->taken;
	if (d->any && i->from > d->reached)
		ret = add_gap(g, device, d, i);
	d->taken = i->from > d->taken ? i->from : d->taken;
	d->reached = i->to > d->reached ? i->to : d->reached;
	d->any = true;
	return ret;
}

/* ----------------------------------------------------------------- heap */

static bool gap_before(const struct device *d, const struct interval *a, const struct interval *b)
{
	return a->from < b->from;
}

GRT_HEAP(gap, struct interval, struct device, gap_before)

static struct interval launch_gaps_pop(struct device *d)
{
	struct interval top = d->heap[0];

	d->heap[0] = d->heap[--d->used];
	if (d->used)
		gap_sink(d, d->heap, d->used, 0);
	return top;
}

int grt_launch_gaps_work(struct grt_launch_gaps *g, const struct grt_image *image,
			 const struct grt_device *device, uint64_t from, uint64_t to,
			 const struct grt_launch *launch)
{
	struct grt_key key = {{device->number}};
	struct interval i = {.from = from,
			     .to = to,
			     .image = image->number,
			     .pid = image->pid,
			     .known = launch},
			first;
	struct device *d;
	void *found;
	int ret = grt_keyed_get_or_count(&g->devices, &key, &g->count.work_over, &found);

	d = found;
	if (!d)
		return ret;
	d->gpu = device->gpu;
	if (launch) {
		i.begin = launch->begin;
		i.tid = launch->tid;
		i.node = launch->node;
	}
	if (d->used == WAITING_MAX) {
		first = launch_gaps_pop(d);
		ret = launch_gaps_take(g, &key, d, &first);
	}
	ret = ret ?: grt_grow(&d->heap, &d->room, d->used + 1, 256);
	if (ret)
		return ret;
	d->heap[d->used] = i;
	gap_rise(d, d->heap, d->used++);
	return 0;
}

/* ----------------------------------------------------------------- list */

static int name_gap(struct grt_launch_gap *k, const struct grt_images *images,
		    struct grt_image_frames *frames)
{
	const struct grt_image *image = images->image[k->image];
	const struct grt_cuda_call *call = grt_cuda_call(k->number);
	char *stack = NULL;
	int n = 0, ret = 0;

	k->process = grt_image_process_name(image, k->pid_text);
	k->uuid =
		images->devices.device[k->device]->known ? images->devices.device[k->device]->is.uuid : NULL;
	if (k->why == GRT_GAP_CODE && k->number)
		ret = grt_image_frames_brief(frames, image, k->number, &stack);
	if (ret)
		return ret;
	if (k->why == GRT_GAP_CALL)
		n = asprintf(&k->text, "%s", call ? call->name : "a call");
	else if (k->why == GRT_GAP_CODE)
		n = asprintf(&k->text, "code before a launch%s%s", stack ? " in " : "", stack ? stack : "");
	else
		n = asprintf(&k->text, k->why == GRT_GAP_LAUNCHED ? "queued behind earlier work" : "unknown");
	free(stack);
	return n < 0 ? -ENOMEM : 0;
}

static int launch_gaps_compare(const void *a, const void *b)
{
	const struct grt_launch_gap *x = *(const struct grt_launch_gap *const *)a,
				    *y = *(const struct grt_launch_gap *const *)b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->why != y->why ? (int)x->why - (int)y->why
				: (x->number > y->number) - (x->number < y->number);
}

static int launch_gaps_by_text(const void *a, const void *b)
{
	const struct grt_launch_gap *x = *(const struct grt_launch_gap *const *)a,
				    *y = *(const struct grt_launch_gap *const *)b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return strcmp(x->text, y->text) ?: launch_gaps_compare(a, b);
}

/*
 * Stacks that differ further out only are one for a reader. A gap ends with one
 * launch, so no two of them have a part of the same gap. Return: how many rows are left
 */
static uint32_t launch_gaps_merge(struct grt_launch_gap **list, uint32_t n)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct grt_launch_gap *k = used ? list[used - 1] : NULL, *next = list[i];

		if (!k || k->device != next->device || k->image != next->image ||
		    strcmp(k->text, next->text)) {
			list[used++] = next;
			continue;
		}
		k->gaps += next->gaps;
		k->ns += next->ns;
		k->max = next->max > k->max ? next->max : k->max;
	}
	return used;
}

/* What waits is taken. */
static int launch_gaps_take_rest(struct grt_launch_gaps *g)
{
	struct interval first;
	int ret = 0;

	for (struct device *d = grt_keyed_oldest(&g->devices); d; d = grt_keyed_next(&g->devices, d))
		while (d->used && !ret) {
			first = launch_gaps_pop(d);
			ret = launch_gaps_take(g, grt_keyed_key(d), d, &first);
		}
	return ret;
}

int64_t grt_launch_gaps_list(struct grt_launch_gaps *g, const struct grt_images *images,
			     struct grt_image_frames *frames, const struct grt_launch_gap *const **out)
{
	void **list;
	uint32_t n;

	if (launch_gaps_take_rest(g) || grt_keyed_list(&g->kinds, launch_gaps_compare, &list))
		return -ENOMEM;
	free(g->list);
	g->list = (struct grt_launch_gap **)list;
	for (uint32_t i = 0; i < g->kinds.used; i++)
		if (name_gap(g->list[i], images, frames))
			return -ENOMEM;
	qsort(g->list, g->kinds.used, sizeof(*g->list), launch_gaps_by_text);
	n = launch_gaps_merge(g->list, g->kinds.used);
	qsort(g->list, n, sizeof(*g->list), launch_gaps_compare);
	*out = (const struct grt_launch_gap *const *)g->list;
	return n;
}

struct grt_launch_gaps_count grt_launch_gaps_count(const struct grt_launch_gaps *g)
{
	return g->count;
}

void grt_launch_gaps_free(struct grt_launch_gaps *g)
{
	if (!g)
		return;
	for (struct device *d = grt_keyed_oldest(&g->devices); d; d = grt_keyed_next(&g->devices, d))
		free(d->heap);
	for (struct thread *t = grt_keyed_oldest(&g->threads); t; t = grt_keyed_next(&g->threads, t))
		free(t->call);
	for (struct kind *k = grt_keyed_oldest(&g->kinds); k; k = grt_keyed_next(&g->kinds, k))
		free(k->gap.text);
	grt_keyed_free(&g->devices);
	grt_keyed_free(&g->threads);
	grt_keyed_free(&g->kinds);
	free(g->list);
	free(g);
}
