/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Several traces as one timeline of lines, and what they hold by input and
 * type. It is the sink of merge/merge.h.
 */
#ifndef GRT_MERGE_MERGED_H
#define GRT_MERGE_MERGED_H

#include "lines/line_out.h"
#include "merge.h"

/**
 * struct grt_merged_input - of one input, what took part
 * @first, @last: stamps as moved; only where there are @total events
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
 * @fd: where lines go, negative: events are only counted
 * Return: 0 or -ENOMEM
 */
int grt_merged_init(struct grt_merged *m, enum grt_line_form form, int fd, unsigned int inputs);

/** grt_merged_fini - frees what it holds; what was not flushed is lost */
void grt_merged_fini(struct grt_merged *m);

#endif /* GRT_MERGE_MERGED_H */
