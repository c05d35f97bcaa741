/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Several traces as one sequence of events in the order of time, such as a text trace of
 * the CPU and a recording of the GPU. The stamps of an input may be moved. If several
 * inputs have rings, each ring gets a number of its own. Memory is that of the sessions.
 */
#ifndef GRT_MERGE_MERGE_H
#define GRT_MERGE_MERGE_H

#include "lines/line_out.h"
#include <grtrace/grtrace.h>

/** enum grt_merge_side - the events of an input that are merged */
enum grt_merge_side {
	GRT_MERGE_CPU,	/* calls of threads: ioctls, opens, mmaps; names of threads and devices */
	GRT_MERGE_GPU,	/* all other events, and all names */
	GRT_MERGE_BOTH, /* all events */
};

/**
 * struct grt_merge_sink - receives the events; a result other than 0 ends the run
 * @event: @e, written by @cpu, is valid during the call, its stamp is the moved
 *	one; @input counts from 0 in the order of grt_merge_add()
 * @arg: passed to @event
 */
struct grt_merge_sink {
	int (*event)(void *arg, const struct grt_event *e, uint32_t cpu, unsigned int input);
	void *arg;
};

struct grt_merge;

/** grt_merge_new - begins without inputs. Return: 0 or -ENOMEM */
int grt_merge_new(struct grt_merge **out);

/**
 * grt_merge_add - adds an input
 * @s: an open session that has not run; becomes the merge's, also when this fails
 * Return: 0 or -ENOMEM
 */
int grt_merge_add(struct grt_merge *m, struct grt_session *s, enum grt_merge_side side, struct grt_err *err);

/** grt_merge_inputs - the number of inputs */
unsigned int grt_merge_inputs(const struct grt_merge *m);

/** grt_merge_session, grt_merge_side - the session and the side of an input; do not run the session */
struct grt_session *grt_merge_session(const struct grt_merge *m, unsigned int input);
enum grt_merge_side grt_merge_side(const struct grt_merge *m, unsigned int input);

/** grt_merge_offset - moves the stamps of an input by @ns */
void grt_merge_offset(struct grt_merge *m, unsigned int input, int64_t ns);

/**
 * grt_merge_span - the first and last stamp of all inputs, moved
 * Return: 0, -ENODATA, or -ESPIPE: an input is a pipe
 */
int grt_merge_span(const struct grt_merge *m, uint64_t *first, uint64_t *last);

/**
 * grt_merge_run - pushes the events into a sink
 * @from, @to: only events with @from <= moved time <= @to reach it; NAME always does
 * Return: 0 at the end, the result of the sink, or a negative errno
 */
int grt_merge_run(struct grt_merge *m, const struct grt_merge_sink *sink, uint64_t from, uint64_t to,
		  struct grt_err *err);

/** grt_merge_free - closes the inputs and frees it; NULL is allowed */
void grt_merge_free(struct grt_merge *m);

/* ---------------------------------------------------------------- merged */

/*
 * Several traces as one timeline of lines, and counts of their events by input and
 * type. It is a sink of merge/merge.h.
 */

/**
 * struct grt_merged_input - the merged events of one input
 * @first, @last: moved stamps; undefined if @total is 0
 */
struct grt_merged_input {
	uint64_t events[GRT_EV_MAX];
	uint64_t total;
	uint64_t first;
	uint64_t last;
};

/**
 * struct grt_merged - a timeline while it is written
 * @stop: ends the run with -EINTR when it is not 0; may be NULL
 */
struct grt_merged {
	struct grt_merge_sink sink;
	volatile int *stop;
	struct grt_line_out *lines;
	struct grt_merged_input *input;
	unsigned int inputs;
};

/**
 * grt_merged_init - begins
 * @form: GRT_LINE_OUT_MERGED, _PRETTY or _JSON
 * @fd: file descriptor for the lines, negative: events are only counted
 * Return: 0 or -ENOMEM
 */
int grt_merged_init(struct grt_merged *m, enum grt_line_form form, int fd, unsigned int inputs);

/** grt_merged_fini - frees its memory; lines that were not flushed are lost */
void grt_merged_fini(struct grt_merged *m);

#endif /* GRT_MERGE_MERGE_H */
