/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A tree of call stacks with a weight at each: what every kind of flame graph
 * is made from, wherever its stacks come from. A frame's text is kept once, a
 * path from the root once.
 *
 * Nodes are numbered from the root, 0, and a parent is always before its
 * children. Memory is 16 bytes and a place in a table for each node.
 */
#ifndef GRT_STACK_STACKS_H
#define GRT_STACK_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GRT_STACKS_ROOT 0U
/* Frames of a path; what is below has no node, its weight stays with the last one that has. */
#define GRT_STACKS_DEPTH_MAX 4096U
/* All weights of a side together: sums of any of them fit. */
#define GRT_STACKS_WEIGHT_MAX (UINT64_MAX >> 1)

/** enum grt_stacks_side - which of two things that are compared; or what else is known of what weighs NOW */
enum grt_stacks_side {
	GRT_STACKS_NOW,
	GRT_STACKS_BEFORE,
	GRT_STACKS_LAUNCHES,
	GRT_STACKS_BYTES,
	GRT_STACKS_WALL,
	GRT_STACKS_SIDES,
};

/** struct grt_stacks_node - @weight: of the stacks that end here, on the side NOW */
struct grt_stacks_node {
	uint32_t parent;
	uint32_t name;
	uint64_t weight;
};

struct grt_stacks;

/** grt_stacks_new - an empty tree. Return: 0 or -ENOMEM */
int grt_stacks_new(struct grt_stacks **out);

/** grt_stacks_id - a number, not 0, of this tree alone: another one may be at its address later */
uint64_t grt_stacks_id(const struct grt_stacks *s);

/**
 * grt_stacks_name - the number of a frame's text
 * Control characters and the like are kept as \xNN and `;` as `:`, see
 * GRT_ESCAPE_FRAME; an empty text is "[unknown]".
 * Return: 0 or -ENOMEM
 */
int grt_stacks_name(struct grt_stacks *s, const char *text, size_t len, uint32_t *name);

/** grt_stacks_child - the node of frame @name under @parent. Return: 0 or -ENOMEM */
int grt_stacks_child(struct grt_stacks *s, uint32_t parent, uint32_t name, uint32_t *node);

/* Look-ups that grt_stacks_children() takes at once. */
#define GRT_STACKS_BATCH 64U

/**
 * grt_stacks_children - grt_stacks_child() of @n frames under @n nodes, at most GRT_STACKS_BATCH
 * A large tree is not in the processor's caches: the places are fetched
 * together, so that one wait serves them all.
 * Return: 0 or -ENOMEM
 */
int grt_stacks_children(struct grt_stacks *s, unsigned int n, const uint32_t *parent, const uint32_t *name,
			uint32_t *node);

/** grt_stacks_frame - grt_stacks_name() and grt_stacks_child() */
int grt_stacks_frame(struct grt_stacks *s, uint32_t parent, const char *text, size_t len, uint32_t *node);

/** grt_stacks_word - the same of a text that ends, below *@node, which becomes it */
static inline int grt_stacks_word(struct grt_stacks *s, const char *text, uint32_t *node)
{
	return grt_stacks_frame(s, *node, text, strlen(text), node);
}

/**
 * grt_stacks_add - a stack that ends in @node weighs so much more
 * Return: 0, -ENOMEM, or -EOVERFLOW where the side would weigh more than
 *	GRT_STACKS_WEIGHT_MAX (and nothing is added)
 */
int grt_stacks_add(struct grt_stacks *s, uint32_t node, enum grt_stacks_side side, uint64_t weight);

/** grt_stacks_seal - nothing is added after this; gives the memory back that only adding needs */
void grt_stacks_seal(struct grt_stacks *s);

/** grt_stacks_nodes - how many there are, with the root; they are at grt_stacks_node(s, 0) and behind it */
uint32_t grt_stacks_nodes(const struct grt_stacks *s);
const struct grt_stacks_node *grt_stacks_node(const struct grt_stacks *s, uint32_t node);

/** grt_stacks_weight - of the stacks of a side that end in a node */
uint64_t grt_stacks_weight(const struct grt_stacks *s, uint32_t node, enum grt_stacks_side side);

/** grt_stacks_text - a frame's text, not terminated */
const char *grt_stacks_text(const struct grt_stacks *s, uint32_t name, size_t *len);

/**
 * grt_stacks_lines - a frame's function was met at a line of a source file, of which the base name is kept
 * Return: 0 or -ENOMEM
 */
int grt_stacks_lines(struct grt_stacks *s, uint32_t name, const char *file, uint32_t line);

/** grt_stacks_source - file and lines of a frame, as FILE:FIRST or FILE:FIRST-LAST; "" where these are
 * unknown, and where functions of one name are in several files */
void grt_stacks_source(const struct grt_stacks *s, uint32_t name, char *out, size_t room);

/** grt_stacks_names - how many different frames there are; they are numbered from 0 */
uint32_t grt_stacks_names(const struct grt_stacks *s);

/** grt_stacks_total - the weight of all stacks of a side */
uint64_t grt_stacks_total(const struct grt_stacks *s, enum grt_stacks_side side);

/** grt_stacks_compared - something was added on the side BEFORE */
bool grt_stacks_compared(const struct grt_stacks *s);

/**
 * grt_stacks_sums - the weight of every node with all that is below it
 * @out: gets an array by node, to be freed
 * Return: 0 or -ENOMEM
 */
int grt_stacks_sums(const struct grt_stacks *s, enum grt_stacks_side side, uint64_t **out);

/**
 * struct grt_stacks_step - a node on a walk
 * @depth: 0 is the root
 * @start: weight of what stands left of it, in the order of the walk
 */
struct grt_stacks_step {
	uint32_t node;
	uint32_t depth;
	uint64_t start;
};

/**
 * grt_stacks_walk - every node after its parent, children by their text
 * @sum: of grt_stacks_sums()
 * @least: nodes whose sum is less are passed over, with all below them
 * @step: a result other than 0 ends the walk
 * Return: 0, -ENOMEM, or what @step returned
 */
int grt_stacks_walk(const struct grt_stacks *s, const uint64_t *sum, uint64_t least,
		    int (*step)(void *arg, const struct grt_stacks_step *at), void *arg);

void grt_stacks_free(struct grt_stacks *s);

#endif /* GRT_STACK_STACKS_H */
