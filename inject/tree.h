/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The tree of call paths: (parent, frame) -> node, for the whole process,
 * without locks.
 */
#ifndef GRT_INJECT_TREE_H
#define GRT_INJECT_TREE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A frame in a word: an address and where it is from, or a number of a Python
 * text. 0 is a root.
 */
#define GRT_FRAME_PYTHON (1ULL << 63)
#define GRT_FRAME_GUESSED (1ULL << 62)
#define GRT_FRAME_MODULE_SHIFT 48
#define GRT_FRAME_ADDRESS 0xffffffffffffULL

struct grt_tree_node {
	uint64_t frame;
	uint32_t parent;
	_Atomic uint32_t ready;
};

struct grt_tree {
	struct grt_tree_node *node;
	_Atomic uint32_t *slot;
	uint32_t mask;
	uint32_t max;
	_Atomic uint32_t used;
};

extern struct grt_tree grt_tree;

/** grt_tree_init - for @max nodes, the roots 1..@roots among them; 0 or -ENOMEM */
int grt_tree_init(uint32_t max, uint32_t roots);

/** grt_tree_add - a child that is not there yet, to be entered from slot @at on; 0 when the tree is full */
uint32_t grt_tree_add(uint32_t parent, uint64_t frame, uint32_t at);

/** grt_tree_forked - in the child: nodes that another thread of the parent was making are given up */
void grt_tree_forked(void);

/** grt_tree_get - false where @id is not there (yet) */
bool grt_tree_get(uint32_t id, struct grt_tree_node *node);

static inline uint32_t grt_tree_hash(uint32_t parent, uint64_t frame)
{
	return (uint32_t)(((frame ^ (uint64_t)parent * 0xc2b2ae3d27d4eb4fULL) * 0x9e3779b97f4a7c15ULL) >> 40);
}

/** grt_tree_child - the node of a frame under a parent; 0 when the tree is full */
static inline uint32_t grt_tree_child(uint32_t parent, uint64_t frame)
{
	const struct grt_tree *t = &grt_tree;
	uint32_t at = grt_tree_hash(parent, frame), id;

	for (;; at++) {
		id = atomic_load_explicit(&t->slot[at & t->mask], memory_order_acquire);
		if (!id)
			return grt_tree_add(parent, frame, at);
		if (t->node[id].frame == frame && t->node[id].parent == parent)
			return id;
	}
}

#endif /* GRT_INJECT_TREE_H */
