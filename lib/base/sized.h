/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Structs from programs that were compiled with an older or a newer header.
 */
#ifndef GRT_BASE_SIZED_H
#define GRT_BASE_SIZED_H

#include <stddef.h>
#include <string.h>

/** grt_sized_copy - copies the members that both versions of a struct have; the rest of @to is zeroed */
static inline void grt_sized_copy(void *to, size_t room, const void *from, size_t size)
{
	size_t both = room < size ? room : size;

	memcpy(to, from, both);
	memset((char *)to + both, 0, room - both);
}

#endif /* GRT_BASE_SIZED_H */
