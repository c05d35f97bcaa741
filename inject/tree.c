// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Nodes are in an array in the order of their ids, so that a writer finds new ones by counting. A child is
 * found by its parent, which has the ids of two children, or else by its frame in a hash table of ids. A
 * node is complete before its id is entered, and neither changes afterwards, so a reader needs only one
 * acquire.
 */
#include "tree.h"

#include <errno.h>
#include <stddef.h>

#include "reserve.h"

/* Two slots per node, so that probes are short; there are never more nodes than slots. */
static uint32_t tree_slots_for(uint32_t max)
{
	uint32_t slots = 16;

	while (slots < 2 * max)
		slots *= 2;
	return slots;
}

int grt_tree_init(struct grt_tree *t, uint32_t max, uint32_t roots)
{
	if (max < roots)
		max = roots;
	/*
	 * The number of ids is increased before it is compared with the limit, so each thread may exceed the
	 * limit once.
	 */
	if (max > 1U << 29)
		max = 1U << 29;
	t->max = max;
	t->mask = tree_slots_for(max) - 1;
	t->node = reserve_memory(((size_t)max + 1) * sizeof(*t->node));
	t->slot = reserve_memory(((size_t)t->mask + 1) * sizeof(*t->slot));
	if (!t->node || !t->slot)
		return -ENOMEM;
	for (uint32_t id = 1; id <= roots; id++)
		atomic_store_explicit(&t->node[id].ready, 1, memory_order_relaxed);
	atomic_store(&t->used, roots);
	return 0;
}

/* Released, so that a writer that sees an id as taken also sees the ancestors of its node. */
static uint32_t tree_new_id(struct grt_tree *t)
{
	uint32_t used = atomic_load_explicit(&t->used, memory_order_relaxed);

	do {
		if (used >= t->max)
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(&t->used, &used, used + 1, memory_order_release,
							memory_order_relaxed));
	return used + 1;
}

static uint32_t tree_hash(uint32_t parent, uint64_t frame)
{
	return (uint32_t)(((frame ^ (uint64_t)parent * 0xc2b2ae3d27d4eb4fULL) * 0x9e3779b97f4a7c15ULL) >> 34);
}

static bool tree_is(const struct grt_tree *t, uint32_t id, uint32_t parent, uint64_t frame)
{
	return t->node[id].frame == frame && t->node[id].parent == parent;
}

static uint32_t tree_new_node(struct grt_tree *t, uint32_t parent, uint64_t frame)
{
	uint32_t id = tree_new_id(t);

	if (!id)
		return 0;
	t->node[id].frame = frame;
	t->node[id].parent = parent;
	atomic_store_explicit(&t->node[id].ready, 1, memory_order_release);
	return id;
}

/*
 * Enters a child in the first free slot. If another thread enters the same child meanwhile, that node is
 * used, and ours stays in the array: a writer stores it, and nothing refers to it.
 */
uint32_t grt_tree_far(struct grt_tree *t, uint32_t parent, uint64_t frame)
{
	_Atomic uint32_t *place = &t->node[parent].near[grt_tree_near(frame)];
	uint32_t at = tree_hash(parent, frame), mine = 0, there;

	for (;; place = &t->slot[at++ & t->mask]) {
		there = atomic_load_explicit(place, memory_order_acquire);
		if (!there) {
			mine = mine ? mine : tree_new_node(t, parent, frame);
			if (!mine || atomic_compare_exchange_strong_explicit(
					     place, &there, mine, memory_order_acq_rel, memory_order_acquire))
				return mine;
		}
		if (tree_is(t, there, parent, frame))
			return there;
	}
}

void grt_tree_forked(struct grt_tree *t)
{
	uint32_t used = atomic_load(&t->used);

	for (uint32_t id = 1; id <= used; id++)
		if (!atomic_load_explicit(&t->node[id].ready, memory_order_relaxed)) {
			t->node[id].frame = 0;
			t->node[id].parent = 0;
			atomic_store_explicit(&t->node[id].ready, 1, memory_order_relaxed);
		}
}

bool grt_tree_get(const struct grt_tree *t, uint32_t id, uint64_t *frame, uint32_t *parent)
{
	if (!t->node || !id || id > atomic_load_explicit(&t->used, memory_order_relaxed) ||
	    !atomic_load_explicit(&t->node[id].ready, memory_order_acquire))
		return false;
	*frame = t->node[id].frame;
	*parent = t->node[id].parent;
	return true;
}
