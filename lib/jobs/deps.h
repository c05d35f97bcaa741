/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Dependency waits: from the moment when the scheduler found a fence on which a job
 * depends (WAIT_DEP) to the signal of this fence (FENCE, or COMPLETE for the fence of a
 * job), joined by (context, seqno). The time is 0 if the fence was already signalled, by
 * the event's flag, or because its signal is in the trace.
 */
#ifndef GRT_JOBS_DEPS_H
#define GRT_JOBS_DEPS_H

#include <grtrace/grtrace.h>

#include "base/hist.h"

/* Most pending waits; beyond that, the oldest is dropped and counted. */
#define GRT_DEPS_OPEN_MAX 65536U
/* Most signalled fences that are kept. */
#define GRT_DEPS_SIGNALLED_MAX 16384U
/* Most contexts whose ring and process are kept. */
#define GRT_DEPS_CONTEXTS_MAX 16384U
/* Most rings with a row. */
#define GRT_DEPS_RINGS_MAX 1024U

/**
 * struct grt_dep_ring - the waits of a ring's jobs
 * @ring, @device: ring of the waiting jobs, GRT_RING_NONE if unknown
 * @met: WAIT_DEP events
 * @signalled: waits whose fence was already signalled
 * @cut: waits whose end cannot be known: dropped, or job or fence has no identity
 * @time: times of ended waits, and 0 for @signalled, ns. All other waits are pending
 */
struct grt_dep_ring {
	uint32_t ring;
	uint32_t device;
	uint64_t met;
	uint64_t signalled;
	uint64_t cut;
	struct grt_hist time;
};

/**
 * struct grt_deps_count - sums of all rings
 * @met, @signalled: as in struct grt_dep_ring
 * @ended: waits whose end came
 * @open: pending waits
 * @forgotten: dropped because more than GRT_DEPS_OPEN_MAX were pending
 * @repeated: further WAIT_DEP events of a pending wait; counted once in @met
 * @over: WAIT_DEP events of rings beyond GRT_DEPS_RINGS_MAX
 */
struct grt_deps_count {
	uint64_t met;
	uint64_t signalled;
	uint64_t ended;
	uint64_t open;
	uint64_t forgotten;
	uint64_t repeated;
	uint64_t over;
};

/** struct grt_dep_context - data of a fence context from events */
struct grt_dep_context {
	uint32_t ring;
	uint32_t device;
	uint32_t pid;
	uint32_t tid;
};

/** struct grt_deps_limits - limits; 0: the defaults above. Tests use small limits */
struct grt_deps_limits {
	uint32_t open;
	uint32_t signalled;
	uint32_t contexts;
};

struct grt_deps;

/** grt_deps_new - begins; @limits may be NULL. Return: 0 or -ENOMEM */
int grt_deps_new(struct grt_deps **out, const struct grt_deps_limits *limits);

/**
 * grt_deps_event - processes an event; uses SUBMIT, COMMIT, COMPLETE, FENCE and WAIT_DEP
 * Return: number of waits that ended with it, or -ENOMEM
 */
int grt_deps_event(struct grt_deps *d, const struct grt_event *e);

/** grt_deps_count - the sums so far */
struct grt_deps_count grt_deps_count(const struct grt_deps *d);

/** grt_deps_time - the times of all rings */
const struct grt_hist *grt_deps_time(const struct grt_deps *d);

/** grt_deps_ring - the waits of a ring, NULL if it has none */
const struct grt_dep_ring *grt_deps_ring(const struct grt_deps *d, uint32_t device, uint32_t ring);

/**
 * grt_deps_each - the rings in order of appearance: the one after @last, the first for NULL; NULL at the end
 */
const struct grt_dep_ring *grt_deps_each(const struct grt_deps *d, const struct grt_dep_ring *last);

/** grt_deps_context - a fence context, NULL if unknown or dropped */
const struct grt_dep_context *grt_deps_context(const struct grt_deps *d, uint64_t ctx);

/** grt_deps_free - frees it; NULL is allowed */
void grt_deps_free(struct grt_deps *d);

#endif /* GRT_JOBS_DEPS_H */
