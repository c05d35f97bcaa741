/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Waits for fences that have begun and not ended, by thread and fence:
 * (tid, ctx, seqno). Bounded: the oldest gives way.
 */
#ifndef GRT_JOBS_WAITS_H
#define GRT_JOBS_WAITS_H

#include <grtrace/grtrace.h>

#include "base/index.h"

/**
 * struct grt_wait - a wait that has begun
 * @begin: stamp of SYNC_WAIT_ENTER, ns
 * @job, @serial: the job waited for: its slot, and which of the slot's jobs
 * @prev, @next, @tag: private
 */
struct grt_wait {
	uint64_t ctx;
	uint64_t seqno;
	uint64_t begin;
	uint64_t serial;
	uint32_t tid;
	uint32_t job;
	uint32_t tag;
	uint32_t prev;
	uint32_t next;
};

/** struct grt_waits - set up by grt_waits_init(), to be given to grt_waits_free() */
struct grt_waits {
	struct grt_wait *wait;
	struct grt_index index;
	struct grt_hash_key key;
	uint32_t room;
	uint32_t max;
	uint32_t used;
	uint32_t free;
	uint32_t oldest;
	uint32_t newest;
};

/** grt_waits_init - an empty set of at most @max waits */
void grt_waits_init(struct grt_waits *w, uint32_t max);

/**
 * grt_waits_begin - remembers a wait that is not in the set
 * @gone: gets the oldest wait when that had to give way
 * Return: 1 when @gone was filled, 0, or -ENOMEM
 */
int grt_waits_begin(struct grt_waits *w, const struct grt_event *e, uint32_t job, uint64_t serial,
		    struct grt_wait *gone);

/** grt_waits_end - takes the wait of this thread for this fence out of the set. Return: whether there is one
 */
bool grt_waits_end(struct grt_waits *w, const struct grt_event *e, struct grt_wait *out);

/** grt_waits_pop - takes out the oldest. Return: whether there is one */
bool grt_waits_pop(struct grt_waits *w, struct grt_wait *out);

/** grt_waits_free - frees and empties it */
void grt_waits_free(struct grt_waits *w);

#endif /* GRT_JOBS_WAITS_H */
