/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Arrays that grow, elements found by a key, and texts that have a number. index.h is the hash table below
 * the last two.
 */
#ifndef GRT_BASE_CONTAINERS_H
#define GRT_BASE_CONTAINERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index.h"

/* ------------------------------------------------------ arrays that grow */

/*
 * Arrays that grow by doubling. The owner of an array does all other work when it grows (such
 * as linking a free list, or removing elements at a limit).
 */

/**
 * grt_grow_array, grt_grow_array_zeroed - called by the macros below if the room is too small
 * @array: points to the pointer to the elements, which is NULL if there are none
 * @room: number of allocated elements; gets the new number
 * @n: needed number of elements, more than *@room
 * @first: the first room; *@room, or @first if *@room is 0, is doubled until it is enough; not 0
 * @size: size of an element, bytes
 * @most: largest allowed *@room
 * Return: 0, or -ENOMEM with array and *@room unchanged
 */
int grt_grow_array(void *array, size_t *room, size_t n, size_t first, size_t size, size_t most);
int grt_grow_array_zeroed(void *array, size_t *room, size_t n, size_t first, size_t size, size_t most);

#define GRT_GROW_BY(grow, array, room, n, first)                                              \
	({                                                                                    \
		__auto_type grt_at = (room);                                                  \
		size_t grt_n = (n), grt_room = *grt_at;                                       \
		int grt_ret = 0;                                                              \
                                                                                              \
		if (__builtin_expect(grt_n > grt_room, 0)) {                                  \
			grt_ret = grow((array), &grt_room, grt_n, (first), sizeof(**(array)), \
				       (typeof(*grt_at))-1);                                  \
			*grt_at = (typeof(*grt_at))grt_room;                                  \
		}                                                                             \
		grt_ret;                                                                      \
	})

/**
 * grt_grow - makes room for at least @n elements
 * @array: points to the pointer to the elements, which move
 * @room: points to the number of allocated elements, a variable of any unsigned type; at first 0, with a NULL
 *	array
 * @n: needed number of elements
 * @first: the smallest room
 * Return: 0, or -ENOMEM with array and room unchanged
 */
#define grt_grow(array, room, n, first) GRT_GROW_BY(grt_grow_array, array, room, n, first)

/** grt_grow_zeroed - grt_grow(); new elements are zeroed */
#define grt_grow_zeroed(array, room, n, first) GRT_GROW_BY(grt_grow_array_zeroed, array, room, n, first)

static inline int grt_grow_power(void *array, size_t used, size_t size)
{
	return used & (used - 1) ? 0 : grt_grow_array(array, &used, used + 1, 1, size, SIZE_MAX);
}

/**
 * grt_grow_one - makes room for one more element of a small array whose owner does not store its room: the
 * room is the power of two at or above @used
 * @array: as for grt_grow(); grown only by this function
 * @used: number of elements
 * Return: as grt_grow()
 */
#define grt_grow_one(array, used) grt_grow_power((array), (used), sizeof(**(array)))

/* ------------------------------------------------------- elements by key */

/*
 * Elements of one size, found by a key of up to four numbers, in bounded
 * memory and ordered by age: most analyses store their state here. When the table is
 * full, its owner either refuses and counts new elements, or replaces the oldest ones
 * and counts them.
 */

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

/* ----------------------------------------------------------------- texts */

/*
 * Texts by number: each different text is stored once, NUL terminated, and keeps
 * its number.
 */

/* The number of no text. */
#define GRT_TEXT_NONE 0U

/** struct grt_texts_at - place and length in the arena */
struct grt_texts_at {
	size_t at;
	uint32_t length;
};

/**
 * struct grt_texts - initialised by grt_texts_init(), freed by grt_texts_free()
 * @used: number of texts, including number 0
 * @max: most texts
 * @dropped: how often a text had no place
 * The rest is private.
 */
struct grt_texts {
	uint32_t used;
	uint32_t max;
	uint64_t dropped;
	uint32_t room;
	struct grt_texts_at *text;
	char *arena;
	size_t arena_used;
	size_t arena_room;
	struct grt_index index;
	struct grt_hash_key key;
};

/** grt_texts_init - an empty table for at most @max texts */
void grt_texts_init(struct grt_texts *t, uint32_t max);

/**
 * grt_texts_add - the number of a text; adds a new text
 * @text: ends after @length bytes or at an earlier NUL
 * @number: GRT_TEXT_NONE if there is no place, which is counted
 * Return: 0 or -ENOMEM
 */
int grt_texts_add(struct grt_texts *t, const char *text, size_t length, uint32_t *number);

/** grt_texts_get - a text; "" for GRT_TEXT_NONE. Valid until the next grt_texts_add() */
const char *grt_texts_get(const struct grt_texts *t, uint32_t number);

/** grt_texts_length - the length of a text, bytes */
uint32_t grt_texts_length(const struct grt_texts *t, uint32_t number);

/** grt_texts_free - frees and empties it */
void grt_texts_free(struct grt_texts *t);

#endif /* GRT_BASE_CONTAINERS_H */
