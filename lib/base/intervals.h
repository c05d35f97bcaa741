/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Sets of intervals: sorted arrays of their owners, disjoint. What touches one or
 * several of them becomes one with these.
 *
 * GRT_INTERVALS(name, type) defines them for elements with members from and to:
 *
 * name_ending(v, n, time) - index of the first that ends at or after @time, @n: none does
 * name_behind(v, n, i, time) - index of the first from @i on that begins after @time
 * name_unite(v, n, i, end) - those from @i up to @end become one, or open a place where there is none;
 *	it has what the first of them had. There is room for one more
 */
#ifndef GRT_BASE_INTERVALS_H
#define GRT_BASE_INTERVALS_H

#include <stdint.h>
#include <string.h>

#define GRT_INTERVALS(name, type)                                                                  \
	static inline uint32_t name##_ending(const type *v, uint32_t n, uint64_t time)             \
	{                                                                                          \
		uint32_t low = 0, high = n, mid;                                                   \
                                                                                                   \
		/* Mostly it is behind all, or in the last one. */                                 \
		if (!n || v[n - 1].to < time)                                                      \
			return n;                                                                  \
		if (v[n - 1].from <= time && (n < 2 || v[n - 2].to < time))                        \
			return n - 1;                                                              \
		while (low < high) {                                                               \
			mid = (low + high) / 2;                                                    \
			if (v[mid].to < time)                                                      \
				low = mid + 1;                                                     \
			else                                                                       \
				high = mid;                                                        \
		}                                                                                  \
		return low;                                                                        \
	}                                                                                          \
	static inline uint32_t name##_behind(const type *v, uint32_t n, uint32_t i, uint64_t time) \
	{                                                                                          \
		while (i < n && v[i].from <= time)                                                 \
			i++;                                                                       \
		return i;                                                                          \
	}                                                                                          \
	static inline void name##_unite(type *v, uint32_t *n, uint32_t i, uint32_t end)            \
	{                                                                                          \
		if (end != i + 1)                                                                  \
			memmove(v + i + 1, v + end, (*n - end) * sizeof(*v));                      \
		*n = *n - end + i + 1;                                                             \
	}

#endif /* GRT_BASE_INTERVALS_H */
