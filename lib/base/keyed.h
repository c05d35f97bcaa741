/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Elements of one size, found by a key of up to four numbers, in bounded
 * memory and ordered by age: most analyses store their state here. When the table is
 * full, its owner either refuses and counts new elements, or replaces the oldest ones
 * and counts them.
 */
#ifndef GRT_BASE_KEYED_H
#define GRT_BASE_KEYED_H

#include <stdbool.h>
#include <stddef.h>

#include "index.h"

/** struct grt_key - a key; unneeded numbers are 0 */
struct grt_key {
	uint64_t w[4];
};

/**
 * struct grt_keyed - initialised by grt_keyed_init(), freed by grt_keyed_free()
 * @used: number of elements
 * @max: most elements
 * @room: number of allocated elements; elements move when it changes
 * The rest is private.
 */
struct grt_keyed {
	char *slot;
	struct grt_index index;
	struct grt_hash_key secret;
	uint64_t no_half; /* hash of an unneeded second half of a key */
	size_t stride;
	uint32_t used;
	uint32_t max;
	uint32_t room;
	uint32_t free;
	uint32_t oldest;
	uint32_t newest;
};

/** struct grt_keyed_head - private; comes before each element, whose alignment it keeps */
struct grt_keyed_head {
	struct grt_key key;
	uint32_t tag;
	uint32_t prev;
	uint32_t next;
	uint32_t id;
};

_Static_assert(sizeof(struct grt_keyed_head) % 16 == 0, "elements are aligned after it");

static inline struct grt_keyed_head *grt_keyed_head(const struct grt_keyed *k, uint32_t id)
{
	return (struct grt_keyed_head *)(k->slot + id * k->stride);
}

static inline bool grt_keyed_has(const struct grt_keyed *k, uint32_t id, const struct grt_key *b)
{
	const struct grt_key *a = &grt_keyed_head(k, id)->key;

	return !((a->w[0] ^ b->w[0]) | (a->w[1] ^ b->w[1]) | (a->w[2] ^ b->w[2]) | (a->w[3] ^ b->w[3]));
}

/** grt_keyed_init - an empty table for at most @max elements of @size bytes (alignment 16) */
void grt_keyed_init(struct grt_keyed *k, size_t size, uint32_t max);

/** grt_keyed_search - what grt_keyed_find() calls for a table that is not empty */
void *grt_keyed_search(const struct grt_keyed *k, const struct grt_key *key);

/** grt_keyed_find - the element of a key, NULL if there is none; valid until the next grt_keyed_get() */
static inline void *grt_keyed_find(const struct grt_keyed *k, const struct grt_key *key)
{
	return k->used ? grt_keyed_search(k, key) : NULL;
}

/**
 * grt_keyed_get - the element of a key; adds a zeroed element if there is none
 * Return: 0, -ENOSPC if the table is full, -ENOMEM
 */
int grt_keyed_get(struct grt_keyed *k, const struct grt_key *key, void **out);

/**
 * grt_keyed_get_or_count - grt_keyed_get(); a full table is not an error
 * @over: counts refused elements; may be NULL
 * Return: 0, with *out NULL if the table is full; or -ENOMEM
 */
static inline int grt_keyed_get_or_count(struct grt_keyed *k, const struct grt_key *key, uint64_t *over,
					 void **out)
{
	int ret = grt_keyed_get(k, key, out);

	if (ret != -ENOSPC)
		return ret;
	if (over)
		++*over;
	return 0;
}

/**
 * grt_keyed_get_or_replace - grt_keyed_get(); in a full table, replaces the oldest element
 * @gone: counts replaced elements; may be NULL
 * Return: 0 or -ENOMEM
 */
int grt_keyed_get_or_replace(struct grt_keyed *k, const struct grt_key *key, uint64_t *gone, void **out);

/**
 * grt_keyed_near - the element of a key if it has the number @near, which grt_keyed_number() gave for a key
 * that was looked for before; 0: none was. Much faster than a search. Return: NULL: it has to be searched for
 */
static inline void *grt_keyed_near(const struct grt_keyed *k, uint32_t near, const struct grt_key *key)
{
	const uint32_t id = near - 1;

	return id < k->room && grt_keyed_head(k, id)->prev != id && grt_keyed_has(k, id, key)
		       ? grt_keyed_head(k, id) + 1
		       : NULL;
}
uint32_t grt_keyed_number(const void *element);

/** grt_keyed_full - whether there is no place for a new element */
static inline bool grt_keyed_full(const struct grt_keyed *k)
{
	return k->used == k->max;
}

/** grt_keyed_remove - removes an element; its bytes stay valid until the next grt_keyed_get() */
void grt_keyed_remove(struct grt_keyed *k, void *element);

/** grt_keyed_oldest, grt_keyed_next - the elements by age; NULL after the last */
void *grt_keyed_oldest(const struct grt_keyed *k);
void *grt_keyed_next(const struct grt_keyed *k, const void *element);

/** grt_keyed_key - an element's key */
const struct grt_key *grt_keyed_key(const void *element);

/**
 * grt_keyed_list - all elements, sorted
 * @compare: gets pointers to pointers to elements, as in qsort()
 * @out: gets an array of @k->used pointers, which the caller frees
 * Return: 0 or -ENOMEM
 */
int grt_keyed_list(const struct grt_keyed *k, int (*compare)(const void *a, const void *b), void ***out);

/** grt_keyed_free - frees and empties it */
void grt_keyed_free(struct grt_keyed *k);

#endif /* GRT_BASE_KEYED_H */
