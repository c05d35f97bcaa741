/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef GRT_BASE_BISECT_H
#define GRT_BASE_BISECT_H

/**
 * grt_bisect - binary search: how many elements at the front of a sorted array are before a place, which is
 *	the index of the first one that is not
 * @n: number of elements
 * @i: name of an index, for @before
 * @before: whether element @i is before the place: true for some elements at the front and false for all
 *	others
 */
#define grt_bisect(n, i, before)                                           \
	({                                                                 \
		__typeof__((n) + 0U) bisect_low = 0, bisect_high = (n), i; \
                                                                           \
		while (bisect_low < bisect_high) {                         \
			(i) = bisect_low + (bisect_high - bisect_low) / 2; \
			if (before)                                        \
				bisect_low = (i) + 1;                      \
			else                                               \
				bisect_high = (i);                         \
		}                                                          \
		bisect_low;                                                \
	})

#endif /* GRT_BASE_BISECT_H */
