// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Memory that CUDA programs hold, see device_memory.h. */
#include "device_memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/containers.h"
#include "base/units.h"

static const char *const kind_names[GRT_MEMORY_KINDS] = {"?",	    "device", "pool",	   "physical",
							 "managed", "pinned", "registered"};

/* grt_ev_process.what */
#define ENDED 3

struct block {
	uint64_t bytes;
	uint32_t device;
	uint32_t owner;
};

const char *grt_memory_kind_name(uint32_t kind)
{
	return kind_names[kind < GRT_MEMORY_KINDS ? kind : 0];
}

void grt_device_memory_init(struct grt_device_memory *m)
{
	*m = (struct grt_device_memory){.live = NULL};
	grt_keyed_init(&m->blocks, sizeof(struct block), GRT_DEVICE_MEMORY_BLOCKS);
}

/* Handles, memory of the host and addresses of devices are numbers of their own. */
static struct grt_key device_memory_key(const struct grt_image *i, const struct grt_ev_alloc *e)
{
	bool apart = e->kind == GRT_MEMORY_PHYSICAL || e->kind >= GRT_MEMORY_PINNED;

	return (struct grt_key){{i->number, apart ? e->kind : 0, e->address}};
}

int grt_device_memory_place(struct grt_images *images, const struct grt_image *i,
			    const struct grt_ev_alloc *e, uint32_t *device)
{
	const struct grt_device *d = NULL;

	if (e->kind < GRT_MEMORY_PINNED && e->gpu != UINT32_MAX) {
		d = grt_devices_of(&images->devices, i->number, e->gpu);
		if (!d)
			return -ENOMEM;
	}
	*device = d ? d->number : GRT_DEVICE_MEMORY_HOST;
	return 0;
}

/* GRT_DEVICE_MEMORY_HOST plus 1 is 0. */
static struct grt_memory_change device_memory_change(struct grt_device_memory *m, const struct block *b,
						     bool freed)
{
	uint64_t *live = &m->live[b->device + 1U];

	*live += freed ? -b->bytes : b->bytes;
	return (struct grt_memory_change){.device = b->device,
					  .owner = b->owner,
					  .freed = freed,
					  .bytes = freed ? -(int64_t)b->bytes : (int64_t)b->bytes,
					  .live = *live};
}

int grt_device_memory_process(struct grt_device_memory *m, const struct grt_image *i,
			      const struct grt_ev_process *e)
{
	if (e->what != ENDED)
		return 0;
	if (grt_grow(&m->end, &m->room, m->ends + 1, 8))
		return -ENOMEM;
	m->end[m->ends++] = (struct grt_memory_end){i->number, e->e.time};
	return 0;
}

int grt_device_memory_release(struct grt_device_memory *m, const struct grt_image *i,
			      int (*fn)(void *arg, const struct grt_memory_change *c, uint64_t time),
			      void *arg)
{
	struct block *next;
	int ret = 0;

	if (!m->ends || i->process.what == ENDED)
		return 0;
	for (uint32_t n = 0; n < m->ends; n++)
		for (struct block *b = grt_keyed_oldest(&m->blocks); b && !ret; b = next) {
			struct grt_memory_change c;

			next = grt_keyed_next(&m->blocks, b);
			if (grt_keyed_key(b)->w[0] != m->end[n].image)
				continue;
			c = device_memory_change(m, b, true);
			c.ended = true;
			grt_keyed_remove(&m->blocks, b);
			ret = fn(arg, &c, m->end[n].time);
		}
	m->ends = 0;
	return ret;
}

int grt_device_memory_event(struct grt_device_memory *m, const struct grt_image *i,
			    const struct grt_ev_alloc *e, uint32_t device, uint32_t owner,
			    struct grt_memory_change out[2])
{
	const struct grt_key key = device_memory_key(i, e);
	struct block *b = grt_keyed_find(&m->blocks, &key);
	void *found;
	int n = 0;

	if (b) {
		out[n++] = device_memory_change(m, b, true);
		grt_keyed_remove(&m->blocks, b);
	}
	if (e->what != 1) {
		m->unknown += !n;
		return n;
	}
	if (grt_grow_zeroed(&m->live, &m->devices, device + 2U, 4) ||
	    grt_keyed_get_or_count(&m->blocks, &key, &m->over, &found))
		return -ENOMEM;
	if (!found)
		return n;
	b = found;
	m->unsized += !e->bytes || e->bytes >= GRT_MEMORY_BLOCK_MAX;
	*b = (struct block){e->bytes < GRT_MEMORY_BLOCK_MAX ? e->bytes : 0, device, owner};
	out[n++] = device_memory_change(m, b, false);
	return n;
}

void grt_device_memory_notes(const struct grt_device_memory *m, const struct grt_health *h,
			     struct grt_notes *n)
{
	uint64_t lost = h ? grt_health_lost(h) : 0;

	if (m->unsized)
		grt_note(n,
			 "the size of %" PRIu64
			 " {allocation is|allocations are} unknown: sums of memory are too low",
			 m->unsized);
	if (lost && grt_keyed_oldest(&m->blocks))
		grt_note(
			n,
			"memory: %" PRIu64
			" {event is|events are} not in the trace: no sum includes allocations and frees among {it|them}",
			lost);
}

void grt_device_memory_free(struct grt_device_memory *m)
{
	grt_keyed_free(&m->blocks);
	free(m->live);
	free(m->end);
}
