// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Memory that processes have from NVIDIA's driver, see process_memory.h. */
#include "process_memory.h"

#include <errno.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/containers.h"
#include "base/units.h"

struct block {
	struct grt_memory_holder *holder;
	uint64_t bytes;
	uint32_t user;
	uint32_t kernel;
};

/** struct begun - the GPU that a process had at the first query of NVML; @several: it had more than one */
struct begun {
	uint32_t bus;
	bool several;
};

void grt_process_memory_init(struct grt_process_memory *m)
{
	*m = (struct grt_process_memory){.over = 0};
	grt_keyed_init(&m->numbers, sizeof(struct grt_memory_holder *), GRT_PROCESS_MEMORY_HOLDERS);
	grt_keyed_init(&m->blocks, sizeof(struct block), GRT_PROCESS_MEMORY_BLOCKS);
	grt_keyed_init(&m->begun, sizeof(struct begun), GRT_PROCESS_MEMORY_HOLDERS);
}

/* Elements do not move, because others have pointers to them. */
static struct grt_memory_holder *process_memory_new(struct grt_process_memory *m)
{
	struct grt_memory_holder *h = NULL;

	if (!grt_grow(&m->holder, &m->room, m->used + 1, 16))
		h = calloc(1, sizeof(*h));
	if (h) {
		h->number = m->used;
		m->holder[m->used++] = h;
	}
	return h;
}

static int process_memory_begun(struct grt_process_memory *m, const struct grt_ev_nv_memory *e)
{
	const struct grt_key key = {{e->owner}};
	struct begun *b;
	void *found;
	int ret = grt_keyed_get_or_count(&m->begun, &key, &m->over, &found);

	b = found;
	if (ret || !found)
		return ret;
	b->several |= b->bus && b->bus != e->bus;
	b->bus = e->bus;
	return 0;
}

/* 0: unknown */
static uint32_t process_memory_bus(const struct grt_process_memory *m, const struct grt_ev_nv_memory *e)
{
	const struct grt_key key = {{e->owner}};
	const struct begun *b;

	if (e->place != GRT_NV_MEMORY_OF_GPU || e->bus)
		return e->place == GRT_NV_MEMORY_OF_GPU ? e->bus : 0;
	b = grt_keyed_find(&m->begun, &key);
	return b && !b->several ? b->bus : 0;
}

/* *out NULL: there is no room. Return: 0 or -ENOMEM */
static int process_memory_holder(struct grt_process_memory *m, const struct grt_ev_nv_memory *e,
				 struct grt_memory_holder **out)
{
	uint32_t bus = process_memory_bus(m, e);
	const struct grt_key key = {{(uint64_t)e->owner << 32 | bus, e->place}};
	void *found;
	int ret = grt_keyed_get_or_count(&m->numbers, &key, &m->over, &found);

	*out = found ? *(struct grt_memory_holder **)found : NULL;
	if (ret || !found)
		return ret;
	if (!*out) {
		*(struct grt_memory_holder **)found = *out = process_memory_new(m);
		if (!*out)
			return -ENOMEM;
		(*out)->pid = e->owner;
		(*out)->bus = bus;
		(*out)->place = e->place;
	}
	(*out)->inferred |= bus && !e->bus;
	return 0;
}

static struct grt_holder_change process_memory_take(const struct block *b)
{
	struct grt_memory_holder *h = b->holder;

	h->live -= b->bytes;
	h->blocks--;
	return (struct grt_holder_change){h, b->user, b->kernel, true, -(int64_t)b->bytes};
}

static struct grt_holder_change process_memory_give(const struct block *b)
{
	struct grt_memory_holder *h = b->holder;

	h->live += b->bytes;
	h->blocks++;
	h->peak = h->live > h->peak ? h->live : h->peak;
	return (struct grt_holder_change){h, b->user, b->kernel, false, (int64_t)b->bytes};
}

static struct grt_key process_memory_key(const struct grt_ev_nv_memory *e)
{
	return (struct grt_key){{(uint64_t)e->client << 32 | e->object}};
}

/* Drops the memory that still has the handle: the record of its end is missing. */
static int process_memory_drop(struct grt_process_memory *m, const struct grt_ev_nv_memory *e,
			       struct grt_holder_change *out)
{
	const struct grt_key key = process_memory_key(e);
	struct block *b = grt_keyed_find(&m->blocks, &key);

	if (!b)
		return 0;
	*out = process_memory_take(b);
	grt_keyed_remove(&m->blocks, b);
	return 1;
}

static int process_memory_allocated(struct grt_process_memory *m, const struct grt_ev_nv_memory *e,
				    struct grt_memory_holder *h, struct grt_holder_change out[2])
{
	const struct grt_key key = process_memory_key(e);
	const struct block b = {h, e->bytes < GRT_MEMORY_BLOCK_MAX ? e->bytes : 0, e->user, e->kernel};
	int n = process_memory_drop(m, e, out);
	void *found;

	if (grt_keyed_get_or_count(&m->blocks, &key, &m->over, &found))
		return -ENOMEM;
	if (!found)
		return n;
	*(struct block *)found = b;
	h->allocations++;
	h->bytes += b.bytes;
	out[n++] = process_memory_give(found);
	return n;
}

/* Memory from before the trace is a part of what NVML has counted. */
static int process_memory_freed(struct grt_process_memory *m, const struct grt_ev_nv_memory *e,
				struct grt_memory_holder *h, struct grt_holder_change out[2])
{
	int n = process_memory_drop(m, e, out);

	if (n)
		out[0].holder->frees++;
	else
		h->before_left -= e->bytes < h->before_left ? e->bytes : h->before_left;
	return n;
}

static int process_memory_passed(struct grt_process_memory *m, const struct grt_ev_nv_memory *e,
				 struct grt_memory_holder *h, struct grt_holder_change out[2])
{
	const struct grt_key key = process_memory_key(e);
	struct block *b = grt_keyed_find(&m->blocks, &key);

	if (!b)
		return 0;
	out[0] = process_memory_take(b);
	b->holder = h;
	out[1] = process_memory_give(b);
	return 2;
}

/* NVML counts all memory of the GPU. */
static void process_memory_counted(struct grt_process_memory *m, const struct grt_ev_nv_memory *e,
				   struct grt_memory_holder *h)
{
	uint64_t rest;

	h->counted = e->bytes < GRT_MEMORY_BLOCK_MAX ? e->bytes : 0;
	rest = h->counted > h->live ? h->counted - h->live : 0;
	if (!h->asked && e->e.time == m->first) {
		h->had_before = rest;
		h->before = h->before_left = rest;
	}
	h->asked = true;
	h->before_left = rest < h->before_left ? rest : h->before_left;
	h->other = rest - h->before_left;
}

int grt_process_memory_event(struct grt_process_memory *m, const struct grt_ev_nv_memory *e,
			     struct grt_holder_change out[2])
{
	struct grt_memory_holder *h = NULL;
	int ret;

	if (e->what == GRT_NV_MEMORY_COUNTED && !m->first)
		m->first = e->e.time;
	if (!e->owner)
		return 0;
	ret = e->what == GRT_NV_MEMORY_COUNTED && e->e.time == m->first ? process_memory_begun(m, e) : 0;
	if (!ret)
		ret = process_memory_holder(m, e, &h);
	if (ret || !h)
		return ret;
	switch (e->what) {
	case GRT_NV_MEMORY_ALLOCATED:
		return process_memory_allocated(m, e, h, out);
	case GRT_NV_MEMORY_FREED:
		return process_memory_freed(m, e, h, out);
	case GRT_NV_MEMORY_PASSED:
		return process_memory_passed(m, e, h, out);
	case GRT_NV_MEMORY_COUNTED:
		process_memory_counted(m, e, h);
		break;
	case GRT_NV_MEMORY_SHARED:
		h->shared++;
		break;
	case GRT_NV_MEMORY_REFUSED:
		h->refused++;
		break;
	}
	return 0;
}

void grt_process_memory_restart(struct grt_process_memory *m)
{
	for (uint32_t i = 0; i < m->used; i++) {
		struct grt_memory_holder *h = m->holder[i];

		h->allocations = h->frees = h->bytes = h->shared = h->refused = 0;
		h->peak = h->live;
	}
}

static int process_memory_compare(const void *a, const void *b)
{
	const struct grt_memory_holder *x = *(void *const *)a, *y = *(void *const *)b;

	return grt_compare(x->place, y->place)
	       ?: grt_compare(y->peak + y->before, x->peak + x->before)
	       ?: grt_compare(x->pid, y->pid) ?: grt_compare(x->bus, y->bus);
}

void grt_process_memory_sort(struct grt_process_memory *m)
{
	if (m->used)
		qsort(m->holder, m->used, sizeof(*m->holder), process_memory_compare);
}

void grt_process_memory_free(struct grt_process_memory *m)
{
	for (uint32_t i = 0; i < m->used; i++)
		free(m->holder[i]);
	free(m->holder);
	grt_keyed_free(&m->numbers);
	grt_keyed_free(&m->blocks);
	grt_keyed_free(&m->begun);
}
