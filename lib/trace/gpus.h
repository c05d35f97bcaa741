/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Which events of a trace are of one GPU. A number in grt_event.device means
 * something else with each driver, so the GPU of an event is that of its ring,
 * else that of its job's context, else that of the device file it names.
 */
#ifndef GRT_TRACE_GPUS_H
#define GRT_TRACE_GPUS_H

#include <grtrace/grtrace.h>

#include "base/keyed.h"

/* GPUs that a message names where the one requested is not among them. */
#define GRT_GPUS_SEEN 8

/**
 * struct grt_gpus - set up by grt_gpus_init(), to be given to grt_gpus_free()
 * @asked: as requested: an address on a bus, or the name of a device file
 * @bus: its address, empty: only @asked is known
 * @cards: "card0=ADDRESS renderD128=ADDRESS ..." as far as it is known
 * @names: whether a ring or device number is the GPU's, from NAME records
 * @contexts: the same of contexts, from their rings
 * @seen: addresses of GPUs that the trace names
 * @found: the GPU requested is among them
 */
struct grt_gpus {
	char asked[33];
	char bus[33];
	char *cards;
	struct grt_keyed names;
	struct grt_keyed contexts;
	char seen[GRT_GPUS_SEEN][33];
	bool found;
};

/**
 * grt_gpus_init - no event was seen yet
 * @asked: "0000:03:00.0" or another address, "card0" or another device file, or "0", the number of a card
 * @cards: as in the struct; NULL: unknown
 * Return: 0 or -ENOMEM
 */
int grt_gpus_init(struct grt_gpus *g, const char *asked, const char *cards);

/**
 * grt_gpus_wants - whether an event is the GPU's, or names or defines what its events use
 * @h: counts those that are not
 * Return: 1, 0 or -ENOMEM
 */
int grt_gpus_wants(struct grt_gpus *g, const struct grt_event *e, struct grt_health *h);

/**
 * grt_gpus_complete - the device file of a ring's GPU, of which who named the ring knew the address only
 * @cards: as in struct grt_gpus
 * @e: a NAME record
 * @room: for the completed one
 * Return: @e, or @room
 */
const struct grt_event *grt_gpus_complete(const char *cards, const struct grt_event *e,
					  struct grt_ev_name *room);

/** grt_gpus_free - frees it */
void grt_gpus_free(struct grt_gpus *g);

#endif /* GRT_TRACE_GPUS_H */
