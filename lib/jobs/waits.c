// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The set of waits.h: an array with a free list, a hash over it and a list by
 * age through it.
 */
#include "waits.h"

static bool same_wait(const void *owner, uint32_t id, const void *key)
{
	const struct grt_wait *a = &((const struct grt_waits *)owner)->wait[id];
	const struct grt_event *e = key;

	return a->ctx == e->ctx && a->seqno == e->seqno && a->tid == e->tid;
}

static uint32_t waits_tag_of(const struct grt_waits *w, const struct grt_event *e)
{
	return grt_hash(&w->key, e->ctx ^ (uint64_t)e->tid << 32, e->seqno);
}

void grt_waits_init(struct grt_waits *w, uint32_t max)
{
	*w = (struct grt_waits){
		.key = grt_hash_key_new(),
		.max = max,
		.free = GRT_NOWHERE,
		.oldest = GRT_NOWHERE,
		.newest = GRT_NOWHERE,
	};
}

static void waits_take_out(struct grt_waits *w, uint32_t id, struct grt_wait *out)
{
	struct grt_wait *a = &w->wait[id];

	*out = *a;
	grt_index_remove(&w->index, a->tag, id);
	*(a->prev == GRT_NOWHERE ? &w->oldest : &w->wait[a->prev].next) = a->next;
	*(a->next == GRT_NOWHERE ? &w->newest : &w->wait[a->next].prev) = a->prev;
	a->next = w->free;
	w->free = id;
	w->used--;
}

static int waits_make_room(struct grt_waits *w)
{
	uint32_t room = w->room ? 2 * w->room : 64;
	struct grt_wait *more = realloc(w->wait, room * sizeof(*more));

	if (!more)
		return -ENOMEM;
	w->wait = more;
	for (uint32_t i = room; i-- > w->room;) {
		more[i].next = w->free;
		w->free = i;
	}
	w->room = room;
	return 0;
}

int grt_waits_begin(struct grt_waits *w, const struct grt_event *e, uint32_t job, uint64_t serial,
		    struct grt_wait *gone)
{
	bool full = w->used == w->max;
	uint32_t id;

	if (full)
		grt_waits_pop(w, gone);
	if (w->free == GRT_NOWHERE && waits_make_room(w))
		return -ENOMEM;
	id = w->free;
	if (grt_index_add(&w->index, waits_tag_of(w, e), id))
		return -ENOMEM;
	w->free = w->wait[id].next;
	w->wait[id] = (struct grt_wait){
		.ctx = e->ctx,
		.seqno = e->seqno,
		.begin = e->time,
		.tid = e->tid,
		.job = job,
		.serial = serial,
		.tag = waits_tag_of(w, e),
		.prev = w->newest,
		.next = GRT_NOWHERE,
	};
	*(w->newest == GRT_NOWHERE ? &w->oldest : &w->wait[w->newest].next) = id;
	w->newest = id;
	w->used++;
	return full;
}

bool grt_waits_end(struct grt_waits *w, const struct grt_event *e, struct grt_wait *out)
{
	uint32_t id = grt_index_find(&w->index, waits_tag_of(w, e), same_wait, w, e);

	if (id == GRT_NOWHERE)
		return false;
	waits_take_out(w, id, out);
	return true;
}

bool grt_waits_pop(struct grt_waits *w, struct grt_wait *out)
{
	if (w->oldest == GRT_NOWHERE)
		return false;
	waits_take_out(w, w->oldest, out);
	return true;
}

void grt_waits_free(struct grt_waits *w)
{
	free(w->wait);
	grt_index_free(&w->index);
	grt_waits_init(w, w->max);
}
