// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The sorted table of functions.h. */
#include "functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/compare.h"
#include "base/containers.h"

/* How many functions before the nearest one are examined, because functions may overlap. */
#define BEHIND_MAX 32U

uint32_t grt_function_rank(enum grt_function_binding binding, const char *name, size_t length)
{
	uint32_t underscores = 0, most = 255;

	while (underscores < length && underscores < most && name[underscores] == '_')
		underscores++;
	if (length > GRT_FUNCTION_NAME_MAX)
		length = GRT_FUNCTION_NAME_MAX;
	return (uint32_t)binding << 24 | (most - underscores) << 16 | (uint32_t)length;
}

int grt_functions_add(struct grt_functions *f, const struct grt_function *function, const char *name,
		      size_t length)
{
	struct grt_function *added;

	if (length > GRT_FUNCTION_NAME_MAX)
		length = GRT_FUNCTION_NAME_MAX;
	if (f->used == GRT_FUNCTIONS_MAX)
		return -ENOSPC;
	if (grt_grow(&f->at, &f->room, f->used + 1, 256) ||
	    grt_grow(&f->names, &f->names_room, f->names_used + length + 1, 4096))
		return -ENOMEM;
	memcpy(f->names + f->names_used, name, length);
	f->names[f->names_used + length] = '\0';
	added = &f->at[f->used];
	*added = *function;
	added->name = f->names_used;
	added->order = f->used++ & 0x7fffffff;
	f->names_used += length + 1;
	f->sorted = false;
	return 0;
}

/* By address; of those at the same address, functions without a size come first, and the best name last. */
static int functions_by_start(const void *a, const void *b)
{
	const struct grt_function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->unsized != y->unsized)
		return x->unsized ? -1 : 1;
	return grt_compare(x->rank, y->rank) ?: grt_compare(x->order, y->order);
}

static void functions_sort(struct grt_functions *f)
{
	if (f->used)
		qsort(f->at, f->used, sizeof(*f->at), functions_by_start);
	f->sorted = true;
}

/*
 * @passed: number of functions that begin later, or begin at the same address and have a size; these end a
 *	function without a size.
 */
static bool functions_holds(const struct grt_function *f, uint64_t address, uint32_t passed)
{
	return address - f->start < f->size && !(f->unsized && passed);
}

const char *grt_functions_find(struct grt_functions *f, uint64_t address)
{
	uint32_t low;

	if (!f->sorted)
		functions_sort(f);
	low = grt_bisect(f->used, i, f->at[i].start <= address);
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
