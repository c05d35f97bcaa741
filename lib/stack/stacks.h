/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A tree of call stacks with a weight for each stack, from which every kind of flame graph is made. The text
 * of a frame is stored once, and so is each path from the root.
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
/* Frames of a path. Deeper frames have no node: their weight stays with the last frame that has one. */
#define GRT_STACKS_DEPTH_MAX 4096U
/* Maximum of all weights of a side together, so that no sum overflows. */
#define GRT_STACKS_WEIGHT_MAX (UINT64_MAX >> 1)

/** enum grt_stacks_side - side of a weight: one of the two compared traces, or another weight of the stacks
 * of NOW
 */
enum grt_stacks_side {
	GRT_STACKS_NOW,
	GRT_STACKS_BEFORE,
	GRT_STACKS_LAUNCHES,
	GRT_STACKS_BYTES,
	GRT_STACKS_WALL,
	GRT_STACKS_SIDES,
};

/** struct grt_stacks_node - a frame of a stack; @weight: weight of the stacks that end here, on the side NOW
 */
struct grt_stacks_node {
	uint32_t parent;
	uint32_t name;
	uint64_t weight;
};

struct grt_stacks;

/** grt_stacks_new - makes an empty tree. Return: 0 or -ENOMEM */
int grt_stacks_new(struct grt_stacks **out);

/** grt_stacks_id - a number, not 0, that no other tree has; a later tree may have the same address */
uint64_t grt_stacks_id(const struct grt_stacks *s);

/**
 * grt_stacks_name - the number of a frame's text
 * Control characters are stored as \xNN, and `;` as `:`, see GRT_ESCAPE_FRAME; an empty text is stored as
 * "[unknown]".
 * Return: 0 or -ENOMEM
 */
int grt_stacks_name(struct grt_stacks *s, const char *text, size_t len, uint32_t *name);

/** grt_stacks_child - the node of frame @name under @parent. Return: 0 or -ENOMEM */
int grt_stacks_child(struct grt_stacks *s, uint32_t parent, uint32_t name, uint32_t *node);

/* Maximum number of lookups in a call of grt_stacks_children(). */
#define GRT_STACKS_BATCH 64U

/**
 * grt_stacks_children - grt_stacks_child() of @n frames under @n nodes, at most GRT_STACKS_BATCH
 * A large tree is not in the processor's caches: the function fetches all places together, so that it waits
 * only once. Return: 0 or -ENOMEM
 */
int grt_stacks_children(struct grt_stacks *s, unsigned int n, const uint32_t *parent, const uint32_t *name,
			uint32_t *node);

/** grt_stacks_frame - grt_stacks_name() and grt_stacks_child() */
int grt_stacks_frame(struct grt_stacks *s, uint32_t parent, const char *text, size_t len, uint32_t *node);

/** grt_stacks_word - grt_stacks_frame() of a terminated text under *@node, which becomes the node of the
 * frame */
static inline int grt_stacks_word(struct grt_stacks *s, const char *text, uint32_t *node)
{
	return grt_stacks_frame(s, *node, text, strlen(text), node);
}

/**
 * grt_stacks_add - adds to the weight of the stack that ends in @node
 * Return: 0, -ENOMEM, or -EOVERFLOW if the side would weigh more than GRT_STACKS_WEIGHT_MAX (then nothing is
 * added)
 */
int grt_stacks_add(struct grt_stacks *s, uint32_t node, enum grt_stacks_side side, uint64_t weight);

/** grt_stacks_seal - frees the memory that only adding needs; nothing may be added after this */
void grt_stacks_seal(struct grt_stacks *s);

/** grt_stacks_nodes - number of nodes, with the root; they are an array that begins at grt_stacks_node(s, 0)
 */
uint32_t grt_stacks_nodes(const struct grt_stacks *s);
const struct grt_stacks_node *grt_stacks_node(const struct grt_stacks *s, uint32_t node);

/** grt_stacks_weight - weight of the stacks of a side that end in a node */
uint64_t grt_stacks_weight(const struct grt_stacks *s, uint32_t node, enum grt_stacks_side side);

/** grt_stacks_text - a frame's text, not terminated */
const char *grt_stacks_text(const struct grt_stacks *s, uint32_t name, size_t *len);

/**
 * grt_stacks_lines - notes a source line of a frame's function; only the base name of @file is stored
 * Return: 0 or -ENOMEM
 */
int grt_stacks_lines(struct grt_stacks *s, uint32_t name, const char *file, uint32_t line);

/** grt_stacks_source - file and lines of a frame, as FILE:FIRST or FILE:FIRST-LAST; "": they are unknown, or
 * several files have functions of this name */
void grt_stacks_source(const struct grt_stacks *s, uint32_t name, char *out, size_t room);

/** grt_stacks_names - number of different frames; their numbers begin with 0 */
uint32_t grt_stacks_names(const struct grt_stacks *s);

/** grt_stacks_total - the weight of all stacks of a side */
uint64_t grt_stacks_total(const struct grt_stacks *s, enum grt_stacks_side side);

/** grt_stacks_compared - whether weight was added on the side BEFORE */
bool grt_stacks_compared(const struct grt_stacks *s);

/**
 * grt_stacks_sums - the weight of every node together with all nodes below it
 * @out: gets an array by number of node, for free()
 * Return: 0 or -ENOMEM
 */
int grt_stacks_sums(const struct grt_stacks *s, enum grt_stacks_side side, uint64_t **out);

/**
 * struct grt_stacks_step - a node on a walk
 * @depth: distance from the root, which has 0
 * @start: weight of the nodes left of it, in the order of the walk
 */
struct grt_stacks_step {
	uint32_t node;
	uint32_t depth;
	uint64_t start;
};

/**
 * grt_stacks_walk - visits every node after its parent, children in the order of their texts
 * @sum: the sums by grt_stacks_sums()
 * @least: nodes with smaller sums are left out, with all nodes below them
 * @step: called for each node; a result other than 0 ends the walk
 * Return: 0, -ENOMEM, or what @step returned
 */
int grt_stacks_walk(const struct grt_stacks *s, const uint64_t *sum, uint64_t least,
		    int (*step)(void *arg, const struct grt_stacks_step *at), void *arg);

void grt_stacks_free(struct grt_stacks *s);

#endif /* GRT_STACK_STACKS_H */
