/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Numbers of rings in one timeline of several traces: each trace counts its
 * rings itself, and two rings with one number would be one to every reader.
 */
#ifndef GRT_MERGE_RINGS_H
#define GRT_MERGE_RINGS_H

#include <grtrace/grtrace.h>

#include "base/keyed.h"

/** struct grt_rings - of all inputs; empty by grt_rings_init(), to be given to grt_keyed_free(&all) */
struct grt_rings {
	struct grt_keyed all;
	uint32_t next_free;
	unsigned int inputs;
};

/** grt_rings_init - none yet */
void grt_rings_init(struct grt_rings *r);

/**
 * grt_rings_number - gives a ring its number in the timeline: its own, unless another input's ring has that.
 * Inputs that have one number, name and driver for it mean the same ring.
 * @name: what names it, NULL: an event of it
 * @ring: its number in @input, then that of the timeline; GRT_RING_NONE where there are too many
 * Return: 0 or -ENOMEM
 */
int grt_rings_number(struct grt_rings *r, unsigned int input, const struct grt_ev_name *name, uint32_t *ring);

#endif /* GRT_MERGE_RINGS_H */
