/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Which events of a trace are wanted: of a process, of threads of a name, of a
 * ring, of some types. What an event does not say of itself is that of its job.
 */
#ifndef GRT_TRACE_FILTER_H
#define GRT_TRACE_FILTER_H

#include <grtrace/grtrace.h>

#include "base/keyed.h"
#include "names.h"

/* Rings or processes that can be named where the one asked for is not there. */
#define GRT_FILTER_SEEN_MAX 16U

/** struct grt_filter_seen - @id: of a ring or a process; @tid: of its thread */
struct grt_filter_seen {
	uint32_t id;
	uint32_t tid;
};

/**
 * struct grt_filter - all zero wants everything; to be given to grt_filter_free()
 * @pid: 0: of every process
 * @comm: the name of threads or of their process; NULL: every one
 * @ring: the name or number of a ring; NULL: every one
 * @types: where @by_type
 * @joins: events of jobs and waits pass, since the jobs that are joined from them are chosen by
 *	grt_filter_wants_job()
 * @strict: what only names or defines something is not handed out
 * @shown: the event that was handed out last is wanted itself: it does not only name or define something
 * @beside: nor is it a job's: it is of a thread that is wanted, and of no ring, and may explain the jobs of
 *@ring
 * @names, @jobs: what was learned
 * @found: there was an event of @pid, @comm and @ring; until then @seen has those that are there: rings where
 *a ring was asked for, else threads, one for each process
 * @more: they are not all
 */
struct grt_filter {
	uint32_t pid;
	const char *comm;
	const char *ring;
	struct grt_type_set types;
	bool by_type;
	bool joins;
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

/** grt_filter_named - how it is called: of a ring, or of a process; NULL: unknown */
const char *grt_filter_named(const struct grt_filter *f, const struct grt_filter_seen *seen);

/** grt_filter_any - whether something is not wanted */
bool grt_filter_any(const struct grt_filter *f);

/** grt_filter_wants - whether an event is to be handed out. Return: 1, 0 or -ENOMEM */
int grt_filter_wants(struct grt_filter *f, const struct grt_event *e);

/** grt_filter_wants_job - whether a job is wanted, by who submitted it and its ring */
bool grt_filter_wants_job(const struct grt_filter *f, const struct grt_names *names, uint32_t pid,
			  uint32_t tid, uint32_t ring);

/** grt_filter_free - frees what was learned */
void grt_filter_free(struct grt_filter *f);

#endif /* GRT_TRACE_FILTER_H */
