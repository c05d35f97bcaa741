/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * NVIDIA's Xid errors: which number came how often from which GPU. What a
 * number means is in codes/codes.h.
 */
#ifndef GRT_NVIDIA_XID_H
#define GRT_NVIDIA_XID_H

#include <grtrace/grtrace.h>

#include "base/bus.h"
#include "base/keyed.h"

/* Numbers and GPUs that are distinguished. */
#define GRT_XIDS_MAX 1024U

/**
 * struct grt_xid_row - a number from a GPU
 * @code, @bus: see XID in events.def; @gpu: the bus as text
 * @pid, @tid: of the last one, 0 where unknown
 * @count: how often
 * @first, @last: stamps, ns
 * @text: of the last one, NUL terminated
 */
struct grt_xid_row {
	uint32_t code;
	uint32_t bus;
	char gpu[GRT_BUS_MAX];
	uint32_t pid;
	uint32_t tid;
	uint64_t count;
	uint64_t first;
	uint64_t last;
	char text[sizeof(((struct grt_ev_xid *)0)->text) + 1];
};

/** struct grt_xids - set up by grt_xids_init(); @over: Xids in no row, because there were too many */
struct grt_xids {
	struct grt_keyed rows;
	uint64_t over;
};

/** grt_xids_init - empty */
void grt_xids_init(struct grt_xids *x);

/** grt_xids_event - takes in an event; of use is XID. Return: 0 or -ENOMEM */
int grt_xids_event(struct grt_xids *x, const struct grt_event *e);

/**
 * grt_xids_list - the rows, by number and GPU
 * @out: gets an array of @x->rows.used pointers, which the caller frees
 * Return: 0 or -ENOMEM
 */
int grt_xids_list(const struct grt_xids *x, const struct grt_xid_row ***out);

/** grt_xids_free - frees and empties it */
void grt_xids_free(struct grt_xids *x);

#endif /* GRT_NVIDIA_XID_H */
