// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Fewer slots, see slots.h. */
#include "slots.h"

#include <stdlib.h>

#include "base/compare.h"

static int slots_compare(const void *a, const void *b)
{
	const struct grt_slot *x = a, *y = b;

	return grt_compare(x->node, y->node) ?: grt_compare(x->slot, y->slot);
}

/* Sorted as they are, those of one node and slot become one. */
static void slots_merge(struct grt_slots *s)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->used; i++)
		if (kept && !slots_compare(&s->at[kept - 1], &s->at[i]))
			s->at[kept - 1].weight += s->at[i].weight;
		else
			s->at[kept++] = s->at[i];
	s->used = kept;
}

void grt_slots_fit(struct grt_slots *s, uint32_t most)
{
	if (s->used)
		qsort(s->at, s->used, sizeof(*s->at), slots_compare);
	slots_merge(s);
	while (s->used > most && s->n > 1) {
		s->n /= 2;
		for (uint32_t i = 0; i < s->used; i++)
			s->at[i].slot =
				s->at[i].slot == GRT_SLOTS_NEVER ? GRT_SLOTS_NEVER : s->at[i].slot / 2;
		slots_merge(s);
	}
}
