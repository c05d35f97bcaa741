// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The tree of tree.h: nodes in a hash table with chains, and for each node a list of the links to nodes that
 * go with it.
 */
#include "tree.h"

#include <errno.h>
#include <stdlib.h>

#define BUCKETS_FIRST 64U
/* Most levels: file, client, device, group, share, channel, and what may be between them. */
#define DEPTH_MAX 16

static uint32_t bucket_of(const struct grt_nv_tree *t, uint64_t key)
{
	return grt_hash(&t->secret, key, 0) & t->mask;
}

int grt_nv_tree_init(struct grt_nv_tree *t)
{
	*t = (struct grt_nv_tree){.mask = BUCKETS_FIRST - 1, .secret = grt_hash_key_new()};
	t->bucket = calloc(BUCKETS_FIRST, sizeof(*t->bucket));
	return t->bucket ? 0 : -ENOMEM;
}

struct grt_nv_node *grt_nv_tree_find(const struct grt_nv_tree *t, uint64_t key)
{
	struct grt_nv_node *n = t->bucket[bucket_of(t, key)];

	while (n && n->key != key)
		n = n->chain;
	return n;
}

static void tree_insert(struct grt_nv_tree *t, struct grt_nv_node *n)
{
	struct grt_nv_node **head = &t->bucket[bucket_of(t, n->key)];

	n->chain = *head;
	*head = n;
}

/* Without memory, chains get longer, which is not an error. */
static void tree_grow(struct grt_nv_tree *t)
{
	struct grt_nv_node **old = t->bucket, *n, *next;
	uint32_t mask = t->mask;

	t->bucket = calloc(2 * (mask + 1), sizeof(*t->bucket));
	if (!t->bucket) {
		t->bucket = old;
		return;
	}
	t->mask = 2 * mask + 1;
	for (uint32_t i = 0; i <= mask; i++)
		for (n = old[i]; n; n = next) {
			next = n->chain;
			tree_insert(t, n);
		}
	free(old);
}

int grt_nv_tree_add(struct grt_nv_tree *t, uint64_t key, struct grt_nv_node **out)
{
	struct grt_nv_node *n;

	*out = NULL;
	if (t->used == GRT_NV_NODES_MAX)
		return -ENOSPC;
	n = calloc(1, sizeof(*n));
	if (!n)
		return -ENOMEM;
	if (t->used > t->mask)
		tree_grow(t);
	n->key = key;
	tree_insert(t, n);
	t->used++;
	*out = n;
	return 0;
}

void grt_nv_tree_own(struct grt_nv_node *owner, struct grt_nv_node *node)
{
	struct grt_nv_link *l = node->owners;

	while (l < node->owners + GRT_NV_OWNERS && l->owner && l->owner != owner)
		l++;
	if (!owner || owner == node || l == node->owners + GRT_NV_OWNERS || l->owner)
		return;
	*l = (struct grt_nv_link){.node = node, .owner = owner, .next = owner->owned};
	if (l->next)
		l->next->prev = l;
	owner->owned = l;
}

static void unlink_owner(struct grt_nv_link *l)
{
	if (!l->owner)
		return;
	if (l->prev)
		l->prev->next = l->next;
	else
		l->owner->owned = l->next;
	if (l->next)
		l->next->prev = l->prev;
	l->owner = NULL;
}

/* The parent is the first owner. */
struct grt_nv_node *grt_nv_tree_owner(const struct grt_nv_node *node, uint8_t kind)
{
	struct grt_nv_node *n = node->owners[0].owner;

	for (unsigned int i = 0; n && n->kind != kind && i < DEPTH_MAX; i++)
		n = n->owners[0].owner;
	return n && n->kind == kind ? n : NULL;
}

/* Nodes that a node of the list owns are appended to the list, so that each node is visited once. */
struct grt_nv_node *grt_nv_tree_doom(struct grt_nv_node *node)
{
	struct grt_nv_node *last = node;

	node->is_doomed = true;
	for (struct grt_nv_node *n = node; n; n = n->doomed)
		for (struct grt_nv_link *l = n->owned; l; l = l->next) {
			if (l->node->is_doomed)
				continue;
			l->node->is_doomed = true;
			last->doomed = l->node;
			last = l->node;
		}
	return node;
}

void grt_nv_tree_remove(struct grt_nv_tree *t, struct grt_nv_node *node)
{
	struct grt_nv_node **at = &t->bucket[bucket_of(t, node->key)];

	while (*at != node)
		at = &(*at)->chain;
	*at = node->chain;
	for (unsigned int i = 0; i < GRT_NV_OWNERS; i++)
		unlink_owner(&node->owners[i]);
	while (node->owned)
		unlink_owner(node->owned);
	t->used--;
	free(node);
}

int grt_nv_tree_each(const struct grt_nv_tree *t, int (*fn)(void *arg, struct grt_nv_node *n), void *arg)
{
	int ret = 0;

	for (uint32_t i = 0; i <= t->mask && !ret; i++)
		for (struct grt_nv_node *n = t->bucket[i]; n && !ret; n = n->chain)
			ret = fn(arg, n);
	return ret;
}

void grt_nv_tree_fini(struct grt_nv_tree *t)
{
	struct grt_nv_node *n, *next;

	for (uint32_t i = 0; t->bucket && i <= t->mask; i++)
		for (n = t->bucket[i]; n; n = next) {
			next = n->chain;
			free(n);
		}
	free(t->bucket);
	*t = (struct grt_nv_tree){.bucket = NULL};
}
