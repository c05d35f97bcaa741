/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Sets of event types: one bit per number below GRT_EV_MAX. Used by kernel
 * modules, BPF programs and user code alike.
 */
#ifndef GRTRACE_TYPE_SET_H
#define GRTRACE_TYPE_SET_H

#include "event.h"

#define GRT_TYPE_WORDS (GRT_EV_MAX / 64)

/** struct grt_type_set - event types; all zero: none */
struct grt_type_set {
	__u64 word[GRT_TYPE_WORDS];
};

_Static_assert(GRT_EV_MAX % 64 == 0, "whole words");

/** grt_types_has - whether @type, any 16-bit number, is in the set */
static inline int grt_types_has(const struct grt_type_set *s, unsigned int type)
{
	return type < GRT_EV_MAX && s->word[type / 64] >> (type % 64) & 1;
}

/** grt_types_add, grt_types_del - @type is below GRT_EV_MAX */
static inline void grt_types_add(struct grt_type_set *s, unsigned int type)
{
	s->word[type / 64] |= (__u64)1 << (type % 64);
}

static inline void grt_types_del(struct grt_type_set *s, unsigned int type)
{
	s->word[type / 64] &= ~((__u64)1 << (type % 64));
}

/** grt_types_fill - all types or none, those without a row included */
static inline void grt_types_fill(struct grt_type_set *s, int all)
{
	unsigned int i;

	for (i = 0; i < GRT_TYPE_WORDS; i++)
		s->word[i] = all ? ~(__u64)0 : 0;
}

/** grt_types_invert - what was in the set is not, and the other way round */
static inline void grt_types_invert(struct grt_type_set *s)
{
	unsigned int i;

	for (i = 0; i < GRT_TYPE_WORDS; i++)
		s->word[i] = ~s->word[i];
}

/** grt_types_same - whether two sets have the same types */
static inline int grt_types_same(const struct grt_type_set *a, const struct grt_type_set *b)
{
	__u64 differ = 0;
	unsigned int i;

	for (i = 0; i < GRT_TYPE_WORDS; i++)
		differ |= a->word[i] ^ b->word[i];
	return !differ;
}

/** grt_types_empty - whether there is no type in the set */
static inline int grt_types_empty(const struct grt_type_set *s)
{
	__u64 any = 0;
	unsigned int i;

	for (i = 0; i < GRT_TYPE_WORDS; i++)
		any |= s->word[i];
	return !any;
}

#endif /* GRTRACE_TYPE_SET_H */
