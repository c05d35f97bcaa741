/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * NVIDIA's Xid errors, counted by number and GPU. codes/codes.h has the meaning of the
 * numbers.
 */
#ifndef GRT_NVIDIA_XID_H
#define GRT_NVIDIA_XID_H

#include <grtrace/grtrace.h>

#include "base/bus.h"
#include "base/containers.h"

/* Most rows; Xids of further numbers and GPUs are counted. */
#define GRT_XIDS_MAX 1024U

/**
 * struct grt_xid_row - a number from a GPU
 * @code, @bus: see XID in events.def; @gpu: the bus as text
 * @pid, @tid: thread of the last Xid, 0: unknown
 * @count: number of Xids
 * @first, @last: time of the first and the last Xid, ns
 * @text: text of the last Xid, NUL terminated
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

/** struct grt_xids - set up by grt_xids_init(); @over: Xids without a row, because there were too many rows
 */
struct grt_xids {
	struct grt_keyed rows;
	uint64_t over;
};

/** grt_xids_init - begins without rows */
void grt_xids_init(struct grt_xids *x);

/** grt_xids_event - processes an event; uses XID. Return: 0 or -ENOMEM */
int grt_xids_event(struct grt_xids *x, const struct grt_event *e);

/**
 * grt_xids_list - lists the rows, sorted by number and GPU
 * @out: gets an array of @x->rows.used pointers, which the caller frees
 * Return: 0 or -ENOMEM
 */
int grt_xids_list(const struct grt_xids *x, const struct grt_xid_row ***out);

/** grt_xids_free - frees and empties it */
void grt_xids_free(struct grt_xids *x);

#endif /* GRT_NVIDIA_XID_H */
