/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The weights of a tree of stacks over time: the time is divided into slots of equal length, with the weight
 * that each node got in each slot.
 */
#ifndef GRT_STACK_SLOTS_H
#define GRT_STACK_SLOTS_H

#include <errno.h>

#include "base/containers.h"
#include "stacks.h"

/* The slot of weights without a time. */
#define GRT_SLOTS_NEVER UINT16_MAX

/** struct grt_slot - the weight that the stacks which end in @node got in @slot */
struct grt_slot {
	uint32_t node;
	uint16_t slot;
	uint64_t weight;
};

/** struct grt_slots - @n slots from @from to @to, ns; @at: the weights, for free() */
struct grt_slots {
	uint64_t from;
	uint64_t to;
	uint16_t n;
	struct grt_slot *at;
	uint32_t used, room;
};

/** grt_slots_of - slot of a time */
static inline uint16_t grt_slots_of(const struct grt_slots *s, uint64_t time)
{
	uint64_t span = s->to - s->from + 1;

	if (time <= s->from)
		return 0;
	return time > s->to ? (uint16_t)(s->n - 1)
			    : (uint16_t)((unsigned __int128)(time - s->from) * s->n / span);
}

/** grt_slots_begin - start of a slot, ns */
static inline uint64_t grt_slots_begin(const struct grt_slots *s, uint16_t slot)
{
	uint64_t span = s->to - s->from + 1;

	return s->from + (uint64_t)(((unsigned __int128)slot * span + s->n - 1) / s->n);
}

/** grt_slots_part - end of the slot of @from, or @to if that is earlier; @slot gets the slot */
static inline uint64_t grt_slots_part(const struct grt_slots *s, uint64_t from, uint64_t to, uint16_t *slot)
{
	uint64_t end;

	*slot = grt_slots_of(s, from);
	if (*slot + 1 == s->n)
		return to;
	end = grt_slots_begin(s, (uint16_t)(*slot + 1));
	return end < to ? end : to;
}

/** grt_slots_add - adds weight of a node in a slot. Return: 0 or -ENOMEM */
static inline int grt_slots_add(struct grt_slots *s, uint32_t node, uint16_t slot, uint64_t weight)
{
	if (grt_grow(&s->at, &s->room, s->used + 1, 256))
		return -ENOMEM;
	s->at[s->used++] = (struct grt_slot){node, slot, weight};
	return 0;
}

/**
 * grt_slots_fit - merges pairs of slots until there are at most @most weights, or one slot; then the weights
 * are sorted by node and slot
 * @s: its number of slots is a power of two
 */
void grt_slots_fit(struct grt_slots *s, uint32_t most);

#endif /* GRT_STACK_SLOTS_H */
