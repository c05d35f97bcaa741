/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Several traces as one timeline of lines, and counts of their events by input and
 * type. It is a sink of merge/merge.h.
 */
#ifndef GRT_MERGE_MERGED_H
#define GRT_MERGE_MERGED_H

#include "lines/line_out.h"
#include "merge.h"

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

#endif /* GRT_MERGE_MERGED_H */
