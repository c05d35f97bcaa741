/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Several traces as one flow in the order of time: text of what the CPU did,
 * recordings of what the GPU did. The stamps of an input may be moved. Where
 * several have rings, a number is that of one ring. Memory is that of the
 * sessions.
 */
#ifndef GRT_MERGE_MERGE_H
#define GRT_MERGE_MERGE_H

#include <grtrace/grtrace.h>

/** enum grt_merge_side - which events of an input take part */
enum grt_merge_side {
	GRT_MERGE_CPU,	/* what threads did: ioctls, opens, mmaps; names of threads and devices */
	GRT_MERGE_GPU,	/* everything else, and all names */
	GRT_MERGE_BOTH, /* all of it */
};

/**
 * struct grt_merge_sink - where the events go; a non-zero result ends the run
 * @event: @e, written by @cpu, is valid during the call, its stamp is the moved
 *	one; @input counts from 0 in the order of grt_merge_add()
 * @arg: handed to it
 */
struct grt_merge_sink {
	int (*event)(void *arg, const struct grt_event *e, uint32_t cpu, unsigned int input);
	void *arg;
};

struct grt_merge;

/** grt_merge_new - no inputs yet. Return: 0 or -ENOMEM */
int grt_merge_new(struct grt_merge **out);

/**
 * grt_merge_add - adds an input
 * @s: an open session that has not run; becomes the merge's, also when this fails
 * Return: 0 or -ENOMEM
 */
int grt_merge_add(struct grt_merge *m, struct grt_session *s, enum grt_merge_side side, struct grt_err *err);

/** grt_merge_inputs - how many there are */
unsigned int grt_merge_inputs(const struct grt_merge *m);

/** grt_merge_session, grt_merge_side - of an input; the session is not to be run */
struct grt_session *grt_merge_session(const struct grt_merge *m, unsigned int input);
enum grt_merge_side grt_merge_side(const struct grt_merge *m, unsigned int input);

/** grt_merge_offset - moves the stamps of an input: what is added to them, ns */
void grt_merge_offset(struct grt_merge *m, unsigned int input, int64_t ns);

/**
 * grt_merge_span - the first and last stamp of all inputs, moved
 * Return: 0, -ENODATA, or -ESPIPE where an input is a pipe
 */
int grt_merge_span(const struct grt_merge *m, uint64_t *first, uint64_t *last);

/**
 * grt_merge_run - pushes the events into a sink
 * @from, @to: only events with @from <= moved time <= @to reach it; NAME always does
 * Return: 0 at the end, what the sink returned, or a negative errno
 */
int grt_merge_run(struct grt_merge *m, const struct grt_merge_sink *sink, uint64_t from, uint64_t to,
		  struct grt_err *err);

/** grt_merge_free - closes the inputs and frees it; NULL is allowed */
void grt_merge_free(struct grt_merge *m);

#endif /* GRT_MERGE_MERGE_H */
