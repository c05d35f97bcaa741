/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Numbers of rings in one timeline of several traces: each trace numbers
 * its own rings, and readers would take two rings with one number for one ring.
 */
#ifndef GRT_MERGE_RINGS_H
#define GRT_MERGE_RINGS_H

#include <grtrace/grtrace.h>

#include "base/keyed.h"

/** struct grt_rings - the rings of all inputs; set up by grt_rings_init(), freed by grt_keyed_free(&all) */
struct grt_rings {
	struct grt_keyed all;
	uint32_t next_free;
	unsigned int inputs;
};

/** grt_rings_init - begins without rings */
void grt_rings_init(struct grt_rings *r);

/**
 * grt_rings_number - gives a ring its number in the timeline: its own, unless another input's ring has that.
 * Inputs that have one number, name and driver for it mean the same ring.
 * @name: the NAME event of the ring, NULL: another event of the ring
 * @ring: its number in @input, replaced by its number in the timeline; GRT_RING_NONE: there are too many
 * rings Return: 0 or -ENOMEM
 */
int grt_rings_number(struct grt_rings *r, unsigned int input, const struct grt_ev_name *name, uint32_t *ring);

#endif /* GRT_MERGE_RINGS_H */
