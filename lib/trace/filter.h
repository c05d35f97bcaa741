/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Selects events of a trace: by process, thread name, ring or type. If an event has
 * no such value itself, the value of its job is used.
 */
#ifndef GRT_TRACE_FILTER_H
#define GRT_TRACE_FILTER_H

#include <grtrace/grtrace.h>

#include "base/keyed.h"
#include "names.h"

/* Most rings or processes that a message can list if the requested one does not exist. */
#define GRT_FILTER_SEEN_MAX 16U

/** struct grt_filter_seen - @id: a ring or a process; @tid: its thread */
struct grt_filter_seen {
	uint32_t id;
	uint32_t tid;
};

/**
 * struct grt_filter - all zero selects everything; pass it to grt_filter_free()
 * @pid: 0: every process
 * @comm: the name of threads or of their process; NULL: every name
 * @ring: the name or number of a ring; NULL: every ring
 * @types: the selected types, with @by_type
 * @joins: events of jobs and waits always pass, because grt_filter_wants_job() selects the jobs that are
 *	joined from them
 * @whole: the same, for consumers that need nothing of threads beside what is selected
 * @strict: events that only name or define something are not delivered
 * @shown: the last delivered event was selected itself, and not because it names or defines something
 * @beside: the last delivered event belongs to a selected thread and to no ring or job; it may explain the
 *	jobs of
 * @ring
 * @names, @jobs: names and jobs so far
 * @found: an event matched @pid, @comm and @ring; until then @seen has candidates for a message: rings if a
 *	ring was requested, else threads, one per process
 * @more: @seen is incomplete
 */
struct grt_filter {
	uint32_t pid;
	const char *comm;
	const char *ring;
	struct grt_type_set types;
	bool by_type;
	bool joins;
	bool whole;
	bool strict;
	bool shown;
	bool beside;
	bool ready;
	struct grt_names names;
	struct grt_keyed jobs;
	bool found;
	bool more;
	struct grt_filter_seen seen[GRT_FILTER_SEEN_MAX];
	uint32_t seens;
};

/** grt_filter_named - the name of a ring or a process; NULL: unknown */
const char *grt_filter_named(const struct grt_filter *f, const struct grt_filter_seen *seen);

/** grt_filter_any - whether the filter excludes anything */
bool grt_filter_any(const struct grt_filter *f);

/** grt_filter_wants - whether to deliver an event. Return: 1, 0 or -ENOMEM */
int grt_filter_wants(struct grt_filter *f, const struct grt_event *e);

/** grt_filter_wants_job - whether a job is selected, by its submitter and its ring */
bool grt_filter_wants_job(const struct grt_filter *f, const struct grt_names *names, uint32_t pid,
			  uint32_t tid, uint32_t ring);

/** grt_filter_free - frees its memory */
void grt_filter_free(struct grt_filter *f);

#endif /* GRT_TRACE_FILTER_H */
