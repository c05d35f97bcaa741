/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Arrays that grow by doubling. The owner of an array does all other work when it grows (such
 * as linking a free list, or removing elements at a limit).
 */
#ifndef GRT_BASE_GROW_H
#define GRT_BASE_GROW_H

#include <stddef.h>
#include <stdint.h>

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

#endif /* GRT_BASE_GROW_H */
