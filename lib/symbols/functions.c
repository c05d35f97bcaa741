// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The sorted table of functions.h. */
#include "functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/grow.h"

/* Functions looked at behind the nearest one, where they overlap. */
#define BEHIND_MAX 32U

int grt_functions_add(struct grt_functions *f, uint64_t start, uint64_t size, const char *name, size_t length)
{
	if (length > GRT_FUNCTION_NAME_MAX)
		length = GRT_FUNCTION_NAME_MAX;
	if (f->used == GRT_FUNCTIONS_MAX)
		return -ENOSPC;
	if (grt_grow(&f->at, &f->room, f->used + 1, 256) ||
	    grt_grow(&f->names, &f->names_room, f->names_used + length + 1, 4096))
		return -ENOMEM;
	memcpy(f->names + f->names_used, name, length);
	f->names[f->names_used + length] = '\0';
	f->at[f->used] = (struct grt_function){start, size, f->names_used, f->used};
	f->used++;
	f->names_used += length + 1;
	f->sorted = false;
	return 0;
}

/* By address; of those at the same one, those without a size first, and the latest last. */
static int by_start(const void *a, const void *b)
{
	const struct grt_function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (!x->size != !y->size)
		return x->size ? 1 : -1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void sort(struct grt_functions *f)
{
	if (f->used)
		qsort(f->at, f->used, sizeof(*f->at), by_start);
	f->sorted = true;
}

static bool holds(const struct grt_function *f, uint64_t address)
{
	return !f->size || address - f->start < f->size;
}

const char *grt_functions_find(struct grt_functions *f, uint64_t address)
{
	uint32_t low = 0, high = f->used, middle;

	if (!f->sorted)
		sort(f);
	while (low < high) {
		middle = low + (high - low) / 2;
		if (f->at[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (uint32_t n = 0; low && n < BEHIND_MAX; n++, low--)
		if (holds(&f->at[low - 1], address))
			return f->names + f->at[low - 1].name;
	return NULL;
}

void grt_functions_free(struct grt_functions *f)
{
	free(f->at);
	free(f->names);
	*f = (struct grt_functions){0};
}
