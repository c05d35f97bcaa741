/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Selects the events of one GPU. The meaning of grt_event.device depends on the
 * driver, so the GPU of an event is the GPU of its ring, else of its job's context,
 * else of the device file in the event; of the work and memory of CUDA programs, that of the
 * process's device, whose DEVICE record comes first.
 */
#ifndef GRT_TRACE_GPUS_H
#define GRT_TRACE_GPUS_H

#include <grtrace/grtrace.h>

#include "base/containers.h"

/* Most GPUs that a message lists if the requested one does not exist. */
#define GRT_GPUS_SEEN 8

/**
 * struct grt_gpus - initialised by grt_gpus_init(), freed by grt_gpus_free()
 * @asked: the request: a bus address, or the name of a device file
 * @bus: the address of the GPU, empty: only @asked is known
 * @cards: "card0=ADDRESS renderD128=ADDRESS nvidia0=ADDRESS GPU-...=ADDRESS ..." where known
 * @names: whether a ring or device number belongs to the GPU, from NAME records
 * @contexts: whether a context belongs to the GPU, from its ring
 * @seen: addresses of GPUs in the trace
 * @found: the requested GPU is one of them
 * @unplaced: a CUDA program used a GPU of which it is unknown which one it is
 */
struct grt_gpus {
	char asked[49];
	char bus[33];
	char *cards;
	struct grt_keyed names;
	struct grt_keyed contexts;
	char seen[GRT_GPUS_SEEN][33];
	bool found;
	bool unplaced;
};

/**
 * grt_gpus_init - begins, before the first event
 * @asked: "0000:03:00.0" or another form of an address, "card0" or another device file, the UUID of a GPU of
 *	NVIDIA or its beginning, or "0", the number of a card or of a file of NVIDIA's driver
 * @cards: as in the struct; NULL: unknown
 * Return: 0, -EINVAL if two GPUs match, or -ENOMEM
 */
int grt_gpus_init(struct grt_gpus *g, const char *asked, const char *cards);

/**
 * grt_gpus_wants - whether an event belongs to the GPU, or names or defines something for its events
 * @h: counts the other events
 * Return: 1, 0 or -ENOMEM
 */
int grt_gpus_wants(struct grt_gpus *g, const struct grt_event *e, struct grt_health *h);

/**
 * grt_gpus_complete - adds the device file of the GPU to the NAME record of a ring that only has the GPU's
 * address
 * @cards: as in struct grt_gpus
 * @e: a NAME record
 * @room: memory for the completed record
 * Return: @e, or @room
 */
const struct grt_event *grt_gpus_complete(const char *cards, const struct grt_event *e,
					  struct grt_ev_name *room);

/** grt_gpus_free - frees it */
void grt_gpus_free(struct grt_gpus *g);

#endif /* GRT_TRACE_GPUS_H */
