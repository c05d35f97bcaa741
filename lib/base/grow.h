/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Arrays that grow by doubling. What else is done when one grows (a free list
 * to thread, a limit at which something gives way) is its owner's.
 */
#ifndef GRT_BASE_GROW_H
#define GRT_BASE_GROW_H

#include <stddef.h>
#include <stdint.h>

/**
 * grt_grow_array, grt_grow_array_zeroed - what the macros below call when the room does not suffice
 * @array: points to the pointer to the elements, which is NULL where there are none
 * @room: elements that there is room for; gets the new number
 * @n: elements that there shall be room for, more than *@room
 * @first: doubled until it suffices where *@room is 0, else that is; not 0
 * @size: of an element, bytes
 * @most: that *@room may become
 * Return: 0, or -ENOMEM with array and *@room as they were
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
 * grt_grow - room for at least so many elements
 * @array: points to the pointer to the elements, which move
 * @room: points to how many there is room for, a variable of any unsigned type; 0 with a NULL array at first
 * @n: elements that there shall be room for
 * @first: the least room
 * Return: 0, or -ENOMEM with array and room as they were
 */
#define grt_grow(array, room, n, first) GRT_GROW_BY(grt_grow_array, array, room, n, first)

/** grt_grow_zeroed - the same; elements that there was no room for are zeros */
#define grt_grow_zeroed(array, room, n, first) GRT_GROW_BY(grt_grow_array_zeroed, array, room, n, first)

static inline int grt_grow_power(void *array, size_t used, size_t size)
{
	return used & (used - 1) ? 0 : grt_grow_array(array, &used, used + 1, 1, size, SIZE_MAX);
}

/**
 * grt_grow_one - room for one element more, of a small array whose owner keeps no number of its room: that is
 * the power of two at or above @used
 * @array: as for grt_grow(); only this lets it grow
 * @used: elements in it
 * Return: as grt_grow()
 */
#define grt_grow_one(array, used) grt_grow_power((array), (used), sizeof(**(array)))

#endif /* GRT_BASE_GROW_H */
