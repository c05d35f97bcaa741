/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Comparison of numbers, for functions that qsort() calls.
 */
#ifndef GRT_BASE_COMPARE_H
#define GRT_BASE_COMPARE_H

#include <stdint.h>

/** grt_compare - Return: below 0, 0 or above 0, as @a is less than, equal to or greater than @b */
static inline int grt_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/** grt_compare_u64, grt_compare_u32 - compare two elements of an array of numbers, for qsort() */
static inline int grt_compare_u64(const void *a, const void *b)
{
	return grt_compare(*(const uint64_t *)a, *(const uint64_t *)b);
}

static inline int grt_compare_u32(const void *a, const void *b)
{
	return grt_compare(*(const uint32_t *)a, *(const uint32_t *)b);
}

#endif /* GRT_BASE_COMPARE_H */
