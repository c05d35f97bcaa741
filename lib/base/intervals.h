/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Sets of disjoint intervals in sorted arrays of their owners. Touching intervals are
 * merged.
 *
 * GRT_INTERVALS(name, type) defines them for elements with members from and to:
 *
 * name_ending(v, n, time) - index of the first interval that ends at or after @time, @n: none does
 * name_behind(v, n, i, time) - index of the first interval from @i on that begins after @time
 * name_unite(v, n, i, end) - merges the intervals from @i up to @end, or makes a free place if there is none;
 *	the result has the members of the first one. The array must have room for one more
 */
#ifndef GRT_BASE_INTERVALS_H
#define GRT_BASE_INTERVALS_H

#include <stdint.h>
#include <string.h>

#include "bisect.h"

#define GRT_INTERVALS(name, type)                                                                  \
	static inline uint32_t name##_ending(const type *v, uint32_t n, uint64_t time)             \
	{                                                                                          \
		/* Usually it is after all intervals, or in the last one. */                       \
		if (!n || v[n - 1].to < time)                                                      \
			return n;                                                                  \
		if (v[n - 1].from <= time && (n < 2 || v[n - 2].to < time))                        \
			return n - 1;                                                              \
		return grt_bisect(n, i, v[i].to < time);                                           \
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
