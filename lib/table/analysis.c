// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* What analyses share that bring their rows into order. */
#include "analysis.h"

#include <stdlib.h>

struct order {
	const struct grt_column *sort;
	const void *view;
	int (*tie)(const void *a, const void *b);
};

static int compare_rows(const void *a, const void *b, void *arg)
{
	const void *x = *(const void *const *)a, *y = *(const void *const *)b;
	const struct order *o = arg;
	struct grt_cell p, q;
	int order = 0;

	if (o->sort) {
		p = grt_column_get(o->sort, o->view, x);
		q = grt_column_get(o->sort, o->view, y);
		order = grt_cell_order(o->sort, &p, &q);
	}
	return order || !o->tie ? order : o->tie(x, y);
}

void grt_rows_sort(const void *rows, uint64_t n, const struct grt_column *sort, const void *view,
		   int (*tie)(const void *a, const void *b))
{
	struct order o = {sort, view, tie};

	if (sort || tie)
		qsort_r((void *)rows, n, sizeof(void *), compare_rows, &o);
}
