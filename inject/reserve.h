/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Address space for tables of the largest size: memory is used as needed. */
#ifndef GRT_INJECT_RESERVE_H
#define GRT_INJECT_RESERVE_H

#include <stddef.h>
#include <sys/mman.h>

/** reserve_memory - zeroed memory. Return: NULL: there is none */
static inline void *reserve_memory(size_t bytes)
{
	void *at =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

#endif /* GRT_INJECT_RESERVE_H */
