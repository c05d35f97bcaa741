// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The slow half of grow.h. */
#include "grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int grt_grow_array(void *array, size_t *room, size_t n, size_t first, size_t size, size_t most)
{
	size_t want = *room ? *room : first;
	void *old, *more;

	while (want < n && want <= most / 2)
		want *= 2;
	if (want < n || want > most || want > SIZE_MAX / size)
		return -ENOMEM;
	/* a pointer to elements of any type */
	memcpy(&old, array, sizeof(old));
	more = realloc(old, want * size);
	if (!more)
		return -ENOMEM;
	memcpy(array, &more, sizeof(more));
	*room = want;
	return 0;
}

int grt_grow_array_zeroed(void *array, size_t *room, size_t n, size_t first, size_t size, size_t most)
{
	size_t had = *room;
	int ret = grt_grow_array(array, room, n, first, size, most);
	char *elements;

	if (ret)
		return ret;
	memcpy(&elements, array, sizeof(elements));
	memset(elements + had * size, 0, (*room - had) * size);
	return 0;
}
