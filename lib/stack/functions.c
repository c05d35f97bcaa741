// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The sorted table of functions.h. */
#include "functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Functions looked at behind the nearest one, where they overlap. */
#define BEHIND_MAX 32U

static int functions_add(struct grt_functions *f, struct grt_function function, const char *name,
			 size_t length)
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
	function.name = f->names_used;
	function.order = f->used;
	f->at[f->used++] = function;
	f->names_used += length + 1;
	f->sorted = false;
	return 0;
}

int grt_functions_add(struct grt_functions *f, uint64_t start, uint64_t size, const char *name, size_t length)
{
	return functions_add(f, (struct grt_function){.start = start, .size = size}, name, length);
}

int grt_functions_add_unsized(struct grt_functions *f, uint64_t start, uint64_t most, const char *name,
			      size_t length)
{
	return functions_add(f, (struct grt_function){.start = start, .size = most, .unsized = true}, name,
			     length);
}

/* By address; of those at the same one, those without a size first, and the latest last. */
static int functions_by_start(const void *a, const void *b)
{
	const struct grt_function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->unsized != y->unsized)
		return x->unsized ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void functions_sort(struct grt_functions *f)
{
	if (f->used)
		qsort(f->at, f->used, sizeof(*f->at), functions_by_start);
	f->sorted = true;
}

/* @passed: functions that begin behind it, or have a size and begin where it does; they end one without */
static bool functions_holds(const struct grt_function *f, uint64_t address, uint32_t passed)
{
	return address - f->start < f->size && !(f->unsized && passed);
}

const char *grt_functions_find(struct grt_functions *f, uint64_t address)
{
	uint32_t low = 0, high = f->used, middle;

	if (!f->sorted)
		functions_sort(f);
	while (low < high) {
		middle = low + (high - low) / 2;
		if (f->at[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (uint32_t n = 0; low && n < BEHIND_MAX; n++, low--)
		if (functions_holds(&f->at[low - 1], address, n))
			return f->names + f->at[low - 1].name;
	return NULL;
}

void grt_functions_free(struct grt_functions *f)
{
	free(f->at);
	free(f->names);
	*f = (struct grt_functions){0};
}
