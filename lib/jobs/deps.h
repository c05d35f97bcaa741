/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Dependency waits: from the moment when the scheduler met a fence that a job
 * depends on (WAIT_DEP) to that fence's signal (FENCE, or COMPLETE where it is
 * a job's), by (context, seqno). A fence that had been signalled already costs
 * no time: 0, by the event's flag, or because its signal is in the trace.
 */
#ifndef GRT_JOBS_DEPS_H
#define GRT_JOBS_DEPS_H

#include <grtrace/grtrace.h>

#include "base/hist.h"

/* Waits that go on; of more, the oldest is counted and forgotten. */
#define GRT_DEPS_OPEN_MAX 65536U
/* Fences whose signal is remembered. */
#define GRT_DEPS_SIGNALLED_MAX 16384U
/* Contexts whose ring and process are remembered. */
#define GRT_DEPS_CONTEXTS_MAX 16384U
/* Rings that are distinguished. */
#define GRT_DEPS_RINGS_MAX 1024U

/**
 * struct grt_dep_ring - the waits of a ring's jobs
 * @ring, @device: of the jobs that waited, GRT_RING_NONE where it is unknown
 * @met: WAIT_DEP events
 * @signalled: of these, the fence had been signalled
 * @cut: of these, no end can be known: it had to be forgotten, or job or fence has no identity
 * @time: of those that ended and, as 0, of @signalled, ns. What is in none of these goes on
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
 * struct grt_deps_count - of all rings together
 * @met, @signalled: as in struct grt_dep_ring
 * @ended: waits whose end came
 * @open: waits that go on
 * @forgotten: because more than GRT_DEPS_OPEN_MAX went on
 * @repeated: the same job met the same fence while it waited for it; counted once in @met
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

/** struct grt_dep_context - what events have reported about a fence context */
struct grt_dep_context {
	uint32_t ring;
	uint32_t device;
	uint32_t pid;
	uint32_t tid;
};

/** struct grt_deps_limits - bounds; 0 takes the default above. Tests make them small */
struct grt_deps_limits {
	uint32_t open;
	uint32_t signalled;
	uint32_t contexts;
};

struct grt_deps;

/** grt_deps_new - begins; @limits may be NULL. Return: 0 or -ENOMEM */
int grt_deps_new(struct grt_deps **out, const struct grt_deps_limits *limits);

/**
 * grt_deps_event - takes in an event; of use are SUBMIT, COMMIT, COMPLETE, FENCE and WAIT_DEP
 * Return: how many waits ended with it, or -ENOMEM
 */
int grt_deps_event(struct grt_deps *d, const struct grt_event *e);

/** grt_deps_count - what was met so far */
struct grt_deps_count grt_deps_count(const struct grt_deps *d);

/** grt_deps_time - of all rings together */
const struct grt_hist *grt_deps_time(const struct grt_deps *d);

/** grt_deps_ring - the ring's waits, NULL where it has none */
const struct grt_dep_ring *grt_deps_ring(const struct grt_deps *d, uint32_t device, uint32_t ring);

/** grt_deps_each - the rings in the order of appearance: after @last, NULL for the first; NULL at the end */
const struct grt_dep_ring *grt_deps_each(const struct grt_deps *d, const struct grt_dep_ring *last);

/** grt_deps_context - a fence context, NULL where nothing is known of it (any more) */
const struct grt_dep_context *grt_deps_context(const struct grt_deps *d, uint64_t ctx);

/** grt_deps_free - frees it; NULL is allowed */
void grt_deps_free(struct grt_deps *d);

#endif /* GRT_JOBS_DEPS_H */
