/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The objects of RM clients, by handle, with their parents: a free also
 * frees descendants and dependants, and the last close of a file frees its clients. The
 * fields of the owner have the properties of an object; the tree has only the relations
 * between objects.
 */
#ifndef GRT_NVIDIA_TREE_H
#define GRT_NVIDIA_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index.h"

/* Most objects at one time; further ones are refused and counted. */
#define GRT_NV_NODES_MAX (1U << 19)

/* A parent, and up to two objects whose end is also this one's. */
#define GRT_NV_OWNERS 3

struct grt_nv_node;
struct grt_nv_memory;

/** struct grt_nv_link - @node goes with @owner; in the owner's list; @owner NULL: not used */
struct grt_nv_link {
	struct grt_nv_node *node;
	struct grt_nv_node *owner;
	struct grt_nv_link *prev;
	struct grt_nv_link *next;
};

/**
 * struct grt_nv_node - a handle, or a file
 * @kind: set by the owner
 * @key: client << 32 | handle (a client's handle is its own), or a file
 * @born: a file's first call, ns
 * @owned: nodes that are freed with it
 * @doomed: in a list of nodes to be freed, the next one
 * @number: a device's instance, a client's or file's process, a share's subcontext
 * @flag: a client's: its GPU may be a part of one (MIG); a file's: no process had it at the last check
 * @group, @channel, @memory: the object of the handle, NULL: another one
 * @sibling: the next handle of the same memory
 * The rest is private.
 */
struct grt_nv_node {
	uint8_t kind;
	bool flag;
	bool is_doomed;
	uint32_t number;
	uint64_t key;
	uint64_t born;
	struct grt_nv_link owners[GRT_NV_OWNERS];
	struct grt_nv_link *owned;
	struct grt_nv_node *doomed;
	struct grt_nv_node *chain;
	struct grt_nv_group *group;
	struct grt_nv_channel *channel;
	struct grt_nv_memory *memory;
	struct grt_nv_node *sibling;
};

/** struct grt_nv_tree - set up by grt_nv_tree_init() */
struct grt_nv_tree {
	struct grt_nv_node **bucket;
	uint32_t mask;
	uint32_t used;
	struct grt_hash_key secret;
};

/** grt_nv_tree_init - empty. Return: 0 or -ENOMEM */
int grt_nv_tree_init(struct grt_nv_tree *t);

/** grt_nv_tree_find - the node of a key, NULL without one */
struct grt_nv_node *grt_nv_tree_find(const struct grt_nv_tree *t, uint64_t key);

/** grt_nv_tree_add - a node that is not there. Return: 0, -ENOSPC, -ENOMEM */
int grt_nv_tree_add(struct grt_nv_tree *t, uint64_t key, struct grt_nv_node **out);

/** grt_nv_tree_own - @node goes with @owner from now on; NULL, the node itself, or more than fit: nothing */
void grt_nv_tree_own(struct grt_nv_node *owner, struct grt_nv_node *node);

/** grt_nv_tree_owner - the nearest node of a kind above it, as far as RM's objects are deep; NULL without one
 */
struct grt_nv_node *grt_nv_tree_owner(const struct grt_nv_node *node, uint8_t kind);

/**
 * grt_nv_tree_doom - the node and all that goes with it
 * Return: a list by @doomed that begins with @node; all are still in the tree
 */
struct grt_nv_node *grt_nv_tree_doom(struct grt_nv_node *node);

/** grt_nv_tree_remove - takes a node out, which must be doomed or own nothing, and frees it */
void grt_nv_tree_remove(struct grt_nv_tree *t, struct grt_nv_node *node);

/**
 * grt_nv_tree_each - calls @fn for every node; it must not change the tree
 * Return: 0, or what @fn returned that was not: it ends there
 */
int grt_nv_tree_each(const struct grt_nv_tree *t, int (*fn)(void *arg, struct grt_nv_node *n), void *arg);

/** grt_nv_tree_fini - frees all that is left */
void grt_nv_tree_fini(struct grt_nv_tree *t);

#endif /* GRT_NVIDIA_TREE_H */
