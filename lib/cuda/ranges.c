// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Records come by the end of their ranges; they are sorted when somebody asks.
 */
#include "ranges.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

#define RANGES_MAX (1U << 24)

int grt_ranges_event(struct grt_ranges *r, const struct grt_image *image, const struct grt_event *e)
{
	const struct grt_ev_range *v = (const struct grt_ev_range *)e;

	if (e->type != GRT_EV_RANGE)
		return 0;
	if (r->ranges == RANGES_MAX) {
		r->over++;
		return 0;
	}
	if (grt_grow(&r->range, &r->room, r->ranges + 1, 256))
		return -ENOMEM;
	r->range[r->ranges++] = (struct grt_range){
		.image = image,
		.begin = v->begin,
		.end = v->end,
		.tid = e->tid,
		.name = v->name,
		.domain = v->domain,
		.chain = v->node,
		.depth = v->depth,
	};
	r->sorted = false;
	return 0;
}

static int ranges_compare(const void *a, const void *b)
{
	const struct grt_range *x = a, *y = b;

	if (x->image->number != y->image->number)
		return x->image->number < y->image->number ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	/* 0 is no end, so it is the last one */
	return x->end - 1 > y->end - 1 ? -1 : x->end != y->end;
}

const struct grt_range *grt_ranges_of(struct grt_ranges *r, const struct grt_image *image, uint32_t *n)
{
	uint32_t first = 0, last;

	if (!r->sorted && r->ranges)
		qsort(r->range, r->ranges, sizeof(*r->range), ranges_compare);
	r->sorted = true;
	while (first < r->ranges && r->range[first].image != image)
		first++;
	for (last = first; last < r->ranges && r->range[last].image == image;)
		last++;
	*n = last - first;
	return *n ? &r->range[first] : NULL;
}

void grt_ranges_free(struct grt_ranges *r)
{
	free(r->range);
	*r = (struct grt_ranges){.range = NULL};
}
