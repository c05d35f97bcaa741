// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Calls are stored as they come, work once its launch is known. Both come almost in the order of time, and
 * are sorted when the trace has ended.
 */
#include "step_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "codes/cuda_codes.h"
#include "base/bisect.h"
#include "base/compare.h"
#include "base/containers.h"

struct grt_step_log {
	struct grt_launches *launches;
	uint64_t from, to;
	struct grt_step_process *process; /* by number of the image */
	uint32_t processes;
	bool sorted;
};

/* Names of kernels that communicate contain one of these words. */
static const char *const communicates[] = {"ncclDevKernel", "ncclKernel", "ncclSymDevKernel",
					   "ncclSymkDevKernel", "ncclDevFunc"};

static struct grt_step_process *step_log_process_of(struct grt_step_log *l, const struct grt_image *image)
{
	struct grt_step_process *p;

	if (grt_grow_zeroed(&l->process, &l->processes, image->number + 1, 8))
		return NULL;
	p = &l->process[image->number];
	p->image = image;
	return p;
}

/* ---------------------------------------------------------------- calls */

static __attribute__((noinline)) int step_log_add_call(struct grt_step_log *l, const struct grt_ev_launch *e)
{
	const struct grt_image *image = grt_launches_image(l->launches, &e->e);
	struct grt_step_process *p = image ? step_log_process_of(l, image) : NULL;

	if (e->call == GRT_CUDA_PROBED || e->e.time < l->from || e->begin > l->to)
		return image ? 0 : -ENOMEM;
	if (!p)
		return -ENOMEM;
	if (p->calls == GRT_STEP_LOG_MAX) {
		p->over++;
		return 0;
	}
	if (grt_spill_add(&p->call_bytes,
			  &(struct grt_step_call){.begin = e->begin,
						  .end = e->e.time,
						  .tid = e->e.tid,
						  .node = e->node,
						  .call = e->call},
			  sizeof(struct grt_step_call)))
		return -ENOMEM;
	p->calls++;
	return 0;
}

/* ----------------------------------------------------------------- work */

static int step_log_add_work(struct grt_step_process *p, const struct grt_step_work *w)
{
	if (!w->start || w->end < w->start)
		return 0;
	if (p->works == GRT_STEP_LOG_MAX) {
		p->over++;
		return 0;
	}
	if (grt_spill_add(&p->work_bytes, w, sizeof(*w)))
		return -ENOMEM;
	p->works++;
	return 0;
}

int grt_step_log_work(struct grt_step_log *l, const struct grt_event *e, const struct grt_image *image,
		      const struct grt_launch *launch, enum grt_launched_how how)
{
	const struct grt_ev_gpu_kernel *k = (const void *)e;
	const struct grt_ev_gpu_copy *c = (const void *)e;
	struct grt_step_process *p = step_log_process_of(l, image);
	struct grt_step_work w = {.launched = launch ? launch->begin : 0,
				  .node = launch ? launch->node : 0,
				  .call = UINT32_MAX};

	if (!p)
		return -ENOMEM;
	if (e->type == GRT_EV_GPU_KERNEL) {
		w.start = k->start;
		w.end = k->end;
		w.name = k->name;
		w.gpu = k->gpu;
		w.context = (uint16_t)k->context;
		w.stream = (uint16_t)k->cuda_stream;
		w.key = k->graph_node ?: k->correlation;
		w.replayed = k->graph_node != 0;
	} else if (e->type == GRT_EV_GPU_COPY) {
		w.start = c->start;
		w.end = c->end;
		w.gpu = c->gpu;
		w.context = (uint16_t)c->context;
		w.stream = (uint16_t)c->cuda_stream;
		w.class = GRT_STEP_COPIES;
	}
	return step_log_add_work(p, &w);
}

/* --------------------------------------------------------------- ranges */

static int step_log_add_range(struct grt_step_log *l, const struct grt_event *e,
			      const struct grt_step_range *range)
{
	const struct grt_image *image = grt_launches_image(l->launches, e);
	struct grt_step_process *p = image ? step_log_process_of(l, image) : NULL;

	if (!p)
		return -ENOMEM;
	if (range->begin < l->from || range->end > l->to || range->end < range->begin)
		return 0;
	if (p->ranges == GRT_STEP_LOG_MAX) {
		p->over++;
		return 0;
	}
	if (grt_grow(&p->range, &p->range_room, p->ranges + 1, 64))
		return -ENOMEM;
	p->range[p->ranges++] = *range;
	return 0;
}

/* A range that was open at the end of the recording is not complete. */
static __attribute__((noinline)) int step_log_on_range(struct grt_step_log *l, const struct grt_event *e)
{
	const struct grt_ev_range *r = (const void *)e;
	const struct grt_ev_mark *m = (const void *)e;

	if (e->type == GRT_EV_RANGE)
		return r->end ? step_log_add_range(l, e,
						   &(struct grt_step_range){r->begin, r->end, e->tid,
									    r->domain, r->name, false})
			      : 0;
	return step_log_add_range(
		l, e, &(struct grt_step_range){e->time, e->time, e->tid, m->domain, m->name, true});
}

/* ----------------------------------------------------------- collectives */

static __attribute__((noinline)) int step_log_on_nccl(struct grt_step_log *l, const struct grt_event *e)
{
	const struct grt_image *image = grt_launches_image(l->launches, e);
	struct grt_step_process *p = image ? step_log_process_of(l, image) : NULL;

	return p ? grt_nccl_log_event(&p->nccl, e) : -ENOMEM;
}

/* --------------------------------------------------------------- in, out */

int grt_step_log_new(struct grt_step_log **out, struct grt_launches *launches)
{
	struct grt_step_log *l = calloc(1, sizeof(*l));

	*out = l;
	if (!l)
		return -ENOMEM;
	l->launches = launches;
	l->to = UINT64_MAX;
	return 0;
}

void grt_step_log_within(struct grt_step_log *l, uint64_t from, uint64_t to)
{
	l->from = from;
	l->to = to;
}

bool grt_step_log_is_whole(const struct grt_step_log *l)
{
	return !l->from && l->to == UINT64_MAX;
}

/* Most events are about GPU work and stacks: these need few registers. */
int grt_step_log_event(struct grt_step_log *l, const struct grt_event *e)
{
	switch (e->type) {
	case GRT_EV_LAUNCH:
		return step_log_add_call(l, (const struct grt_ev_launch *)e);
	case GRT_EV_RANGE:
	case GRT_EV_MARK:
		return step_log_on_range(l, e);
	case GRT_EV_COMMUNICATOR:
	case GRT_EV_COLLECTIVE:
	case GRT_EV_GRAPH_NODE:
	case GRT_EV_PROCESS:
		return step_log_on_nccl(l, e);
	}
	return 0;
}

/* ------------------------------------------------------------------ sort */

static int step_log_by_begin(const void *a, const void *b)
{
	const struct grt_step_call *x = a, *y = b;

	return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1) : (x->end > y->end) - (x->end < y->end);
}

static int step_log_by_start(const void *a, const void *b)
{
	const struct grt_step_work *x = a, *y = b;

	return grt_compare(x->gpu, y->gpu) ?: grt_compare(x->start, y->start) ?: grt_compare(x->end, y->end);
}

static int step_log_by_range(const void *a, const void *b)
{
	const struct grt_step_range *x = a, *y = b;

	return grt_compare(x->begin, y->begin);
}

/* Sorts an array of @p, which often is in order already. */
static void step_log_order(const struct grt_step_process *p, void *array, uint32_t n, size_t size,
			   int (*compare)(const void *a, const void *b))
{
	const char *at = array;

	for (uint32_t i = 1; i < n; i = grt_step_log_next(p, i), at += size)
		if (compare(at, at + size) > 0) {
			qsort(array, n, size, compare);
			break;
		}
	grt_step_log_leave(p);
}

uint32_t grt_step_log_first_call(const struct grt_step_process *p, uint64_t from)
{
	return grt_bisect(p->calls, i, p->call[i].begin < from);
}

uint32_t grt_step_log_first_work(const struct grt_step_process *p, uint32_t gpu, uint64_t from)
{
	const struct grt_step_work *w = p->work;

	return grt_bisect(p->works, i, w[i].gpu < gpu || (w[i].gpu == gpu && w[i].start < from));
}

static bool step_log_communicates(const char *name)
{
	for (size_t i = 0; name && i < sizeof(communicates) / sizeof(communicates[0]); i++)
		if (strstr(name, communicates[i]))
			return true;
	return false;
}

/* Return: what @known has for a name: 0: nothing, else its class plus 1. */
static uint8_t step_log_class(const struct grt_image *image, uint32_t name, uint8_t *known)
{
	uint8_t *at = name && name <= image->strings ? &known[name - 1] : NULL;
	uint8_t class = at && *at					       ? *at - 1
			: step_log_communicates(grt_image_string(image, name)) ? GRT_STEP_COMMUNICATES
									       : GRT_STEP_COMPUTES;

	if (at)
		*at = class + 1;
	return class;
}

/* Kernels of a graph are many, and have no name in common. */
static void step_log_join(struct grt_step_process *p, struct grt_step_work *w, uint32_t *near)
{
	/* mostly the same as for the previous work, or the next one */
	uint32_t at = *near;
	const struct grt_cuda_call *row;

	for (; at < p->calls && at < *near + 2 && p->call[at].begin != w->launched; at++)
		;
	if (w->launched && (at >= p->calls || p->call[at].begin != w->launched))
		at = grt_step_log_first_call(p, w->launched);
	if (!w->launched || at == p->calls || p->call[at].begin != w->launched)
		return;
	*near = at;
	w->call = at;
	p->call[at].works = true;
	/* stacks that BPF recorded come after their launches */
	p->call[at].node = p->call[at].node ?: w->node;
	row = grt_cuda_call(p->call[at].call);
	if (row && row->kind == GRT_CUDA_KIND_KERNEL && !p->call[at].name)
		p->call[at].name = w->name;
}

static int step_log_sort_process(struct grt_step_process *p)
{
	int ret = grt_spill_use(&p->call_bytes, &p->call) ?: grt_spill_use(&p->work_bytes, &p->work);
	uint8_t *known = ret ? NULL : calloc((size_t)p->image->strings + 1, 1);
	uint32_t near = 0;

	if (!known)
		return ret ?: -ENOMEM;
	step_log_order(p, p->call, p->calls, sizeof(*p->call), step_log_by_begin);
	step_log_order(p, p->work, p->works, sizeof(*p->work), step_log_by_start);
	step_log_order(p, p->range, p->ranges, sizeof(*p->range), step_log_by_range);
	grt_nccl_log_sort(&p->nccl);
	for (uint32_t i = 0; i < p->works; i = grt_step_log_next(p, i)) {
		if (p->work[i].class != GRT_STEP_COPIES)
			p->work[i].class = step_log_class(p->image, p->work[i].name, known);
		if (p->work[i].replayed && p->nccl.ops && p->work[i].class == GRT_STEP_COMMUNICATES)
			p->work[i].key = grt_nccl_log_source(&p->nccl, p->work[i].key);
		step_log_join(p, &p->work[i], &near);
	}
	grt_step_log_leave(p);
	free(known);
	return 0;
}

int64_t grt_step_log_sort(struct grt_step_log *l)
{
	int ret = 0;

	for (uint32_t i = 0; i < l->processes && !ret && !l->sorted; i++)
		if (l->process[i].image)
			ret = step_log_sort_process(&l->process[i]);
	/* what cannot be used is not there for those who look in spite of the error */
	for (uint32_t i = 0; i < l->processes; i++) {
		l->process[i].calls = l->process[i].call ? l->process[i].calls : 0;
		l->process[i].works = l->process[i].work ? l->process[i].works : 0;
	}
	l->sorted = true;
	return ret ? (int64_t)ret : (int64_t)l->processes;
}

const struct grt_step_process *grt_step_log_process(const struct grt_step_log *l, uint32_t number)
{
	return &l->process[number];
}

const char *grt_step_log_uuid(struct grt_step_log *l, uint32_t process, uint32_t gpu)
{
	const struct grt_device *d = grt_launches_device(l->launches, l->process[process].image, gpu);

	return d && d->known ? d->is.uuid : NULL;
}

struct grt_launches_count grt_step_log_count(const struct grt_step_log *l)
{
	return grt_launches_count(l->launches);
}

void grt_step_log_free(struct grt_step_log *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->processes; i++) {
		grt_spill_free(&l->process[i].call_bytes);
		grt_spill_free(&l->process[i].work_bytes);
		free(l->process[i].range);
		grt_nccl_log_free(&l->process[i].nccl);
	}
	free(l->process);
	free(l);
}
