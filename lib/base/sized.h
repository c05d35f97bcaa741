/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Structs that programs compiled with an older or a newer header hand over.
 */
#ifndef GRT_BASE_SIZED_H
#define GRT_BASE_SIZED_H

#include <stddef.h>
#include <string.h>

/** grt_sized_copy - copies what both versions of a struct have; the rest of @to becomes 0 */
static inline void grt_sized_copy(void *to, size_t room, const void *from, size_t size)
{
	size_t both = room < size ? room : size;

	memcpy(to, from, both);
	memset((char *)to + both, 0, room - both);
}

#endif /* GRT_BASE_SIZED_H */
