/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Binary heaps in arrays of their owners: the first element is slot[0].
 *
 * GRT_HEAP(name, type, context, before) defines them for elements of a type, where
 * before(const context *c, type const *a, type const *b) returns whether a comes first:
 *
 * name_sink(c, slot, used, at) - restores the order after slot[at] was changed to come later
 * name_rise(c, slot, at) - restores the order after slot[at] was changed to come earlier, or was appended
 */
#ifndef GRT_BASE_HEAP_H
#define GRT_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#define GRT_HEAP(name, type, context, before)                                                             \
	static inline __attribute__((unused)) void name##_sink(const context *c, type *slot, size_t used, \
							       size_t at)                                 \
	{                                                                                                 \
		type moving = slot[at];                                                                   \
		size_t child;                                                                             \
                                                                                                          \
		for (; (child = 2 * at + 1) < used; at = child) {                                         \
			if (child + 1 < used && before(c, &slot[child + 1], &slot[child]))                \
				child++;                                                                  \
			if (!before(c, &slot[child], &moving))                                            \
				break;                                                                    \
			slot[at] = slot[child];                                                           \
		}                                                                                         \
		slot[at] = moving;                                                                        \
	}                                                                                                 \
	static inline __attribute__((unused)) void name##_rise(const context *c, type *slot, size_t at)   \
	{                                                                                                 \
		type moving = slot[at];                                                                   \
                                                                                                          \
		for (; at && before(c, &moving, &slot[(at - 1) / 2]); at = (at - 1) / 2)                  \
			slot[at] = slot[(at - 1) / 2];                                                    \
		slot[at] = moving;                                                                        \
	}

#endif /* GRT_BASE_HEAP_H */
