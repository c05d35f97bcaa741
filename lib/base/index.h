/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * An open-addressing table from a hash to the index of an element that lives
 * in an array of its owner. The owner compares keys; a slot has 8 bytes, so that a
 * miss and most hits cost one cache line.
 */
#ifndef GRT_BASE_INDEX_H
#define GRT_BASE_INDEX_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#define GRT_NOWHERE UINT32_MAX

/**
 * struct grt_index_slot - one slot
 * @tag: the element's hash; its low bits are the slot where the search begins
 * @ref: index of the element plus 1, 0: empty
 */
struct grt_index_slot {
	uint32_t tag;
	uint32_t ref;
};

/** struct grt_index - all zero is an empty table; at most half full, so that probe sequences stay short */
struct grt_index {
	struct grt_index_slot *slot;
	uint32_t mask;
	uint32_t used;
};

/** struct grt_hash_key - a random key per run, so that a trace cannot be made to cause collisions */
struct grt_hash_key {
	uint64_t a;
	uint64_t b;
};

static inline struct grt_hash_key grt_hash_key_new(void)
{
	struct grt_hash_key k = {0x9e3779b97f4a7c15ULL, 0xd1b54a32d192ed03ULL};
	uint64_t r[2];

	if (getrandom(r, sizeof(r), GRND_NONBLOCK) == sizeof(r)) {
		k.a ^= r[0];
		k.b ^= r[1];
	}
	return k;
}

static inline uint32_t grt_hash(const struct grt_hash_key *k, uint64_t a, uint64_t b)
{
	unsigned __int128 m = (unsigned __int128)(a ^ k->a) * (b ^ k->b);
	uint64_t fold = (uint64_t)m ^ (uint64_t)(m >> 64);

	return (uint32_t)(fold ^ fold >> 32);
}

/**
 * grt_index_find - the element of a key
 * @same: whether element @id has the key that @key points to
 * Return: its index, GRT_NOWHERE if there is none
 */
static inline __attribute__((always_inline)) uint32_t
grt_index_find(const struct grt_index *x, uint32_t tag,
	       bool (*same)(const void *owner, uint32_t id, const void *key), const void *owner,
	       const void *key)
{
	if (!x->slot)
		return GRT_NOWHERE;
	for (uint32_t i = tag & x->mask; x->slot[i].ref; i = (i + 1) & x->mask)
		if (x->slot[i].tag == tag && same(owner, x->slot[i].ref - 1, key))
			return x->slot[i].ref - 1;
	return GRT_NOWHERE;
}

static inline void grt_index_place(struct grt_index *x, struct grt_index_slot s)
{
	uint32_t i = s.tag & x->mask;

	while (x->slot[i].ref)
		i = (i + 1) & x->mask;
	x->slot[i] = s;
}

static inline int grt_index_grow(struct grt_index *x)
{
	struct grt_index old = *x;
	uint32_t slots = old.slot ? 2 * (old.mask + 1) : 64;

	x->slot = calloc(slots, sizeof(*x->slot));
	if (!x->slot) {
		*x = old;
		return -ENOMEM;
	}
	x->mask = slots - 1;
	for (uint32_t i = 0; old.slot && i <= old.mask; i++)
		if (old.slot[i].ref)
			grt_index_place(x, old.slot[i]);
	free(old.slot);
	return 0;
}

/** grt_index_add - adds an element that is not in the table. Return: 0 or -ENOMEM */
static inline int grt_index_add(struct grt_index *x, uint32_t tag, uint32_t id)
{
	if ((!x->slot || 2 * x->used > x->mask) && grt_index_grow(x))
		return -ENOMEM;
	grt_index_place(x, (struct grt_index_slot){.tag = tag, .ref = id + 1});
	x->used++;
	return 0;
}

/** grt_index_remove - removes an element that is in the table */
static inline void grt_index_remove(struct grt_index *x, uint32_t tag, uint32_t id)
{
	uint32_t hole = tag & x->mask, i;

	while (x->slot[hole].ref != id + 1)
		hole = (hole + 1) & x->mask;
	/* Elements after the hole move back into it: without tombstones, a long run stays fast. */
	for (i = (hole + 1) & x->mask; x->slot[i].ref; i = (i + 1) & x->mask) {
		uint32_t home = x->slot[i].tag & x->mask;

		if (((i - home) & x->mask) >= ((i - hole) & x->mask)) {
			x->slot[hole] = x->slot[i];
			hole = i;
		}
	}
	x->slot[hole].ref = 0;
	x->used--;
}

static inline void grt_index_free(struct grt_index *x)
{
	free(x->slot);
	*x = (struct grt_index){0};
}

#endif /* GRT_BASE_INDEX_H */
