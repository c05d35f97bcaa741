/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A tree of paths, such as call stacks: (parent, frame) -> node, for the whole process,
 * without locks.
 */
#ifndef GRT_INJECT_TREE_H
#define GRT_INJECT_TREE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A frame in a word: an address with its origin, or the number of a Python
 * text. 0 is a root.
 */
#define GRT_FRAME_PYTHON (1ULL << 63)
#define GRT_FRAME_GUESSED (1ULL << 62)
#define GRT_FRAME_MODULE_SHIFT 48
#define GRT_FRAME_ADDRESS 0xffffffffffffULL

/*
 * A parent has the numbers of at most two children, so that the nodes of a path that was added at once are
 * adjacent.
 */
#define GRT_TREE_NEAR 2

struct grt_tree_node {
	uint64_t frame;
	uint32_t parent;
	_Atomic uint32_t ready;
	_Atomic uint32_t near[GRT_TREE_NEAR];
};

struct grt_tree {
	struct grt_tree_node *node;
	_Atomic uint32_t *slot;
	uint32_t mask;
	uint32_t max;
	_Atomic uint32_t used;
};

/** grt_tree_init - allocates a tree for @max nodes, including the roots 1..@roots; 0 or -ENOMEM */
int grt_tree_init(struct grt_tree *t, uint32_t max, uint32_t roots);

/** grt_tree_far - finds or adds a child whose number is not in its parent; 0 if the tree is full */
uint32_t grt_tree_far(struct grt_tree *t, uint32_t parent, uint64_t frame);

/** grt_tree_forked - called in the child: abandons nodes that another thread of the parent was adding */
void grt_tree_forked(struct grt_tree *t);

/** grt_tree_get - a node's @frame and @parent; false if @id does not exist (yet) */
bool grt_tree_get(const struct grt_tree *t, uint32_t id, uint64_t *frame, uint32_t *parent);

static inline unsigned int grt_tree_near(uint64_t frame)
{
	return (frame ^ frame >> 4) % GRT_TREE_NEAR;
}

/** grt_tree_child - finds or adds the node of a frame under a parent; 0 if the tree is full */
static inline uint32_t grt_tree_child(struct grt_tree *t, uint32_t parent, uint64_t frame)
{
	const struct grt_tree_node *node = t->node;
	uint32_t id = atomic_load_explicit(&node[parent].near[grt_tree_near(frame)], memory_order_acquire);

	if (id && node[id].frame == frame)
		return id;
	return grt_tree_far(t, parent, frame);
}

#endif /* GRT_INJECT_TREE_H */
