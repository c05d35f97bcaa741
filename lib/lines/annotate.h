/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The events of a session as lines, as `grtrace annotate` prints them: the
 * calls of threads on GPU device files, with the duration of each ioctl.
 */
#ifndef GRT_LINES_ANNOTATE_H
#define GRT_LINES_ANNOTATE_H

#include "line_out.h"

/**
 * struct grt_annotate - embed it, or use it as it is
 * @c: the consumer of the session
 * @lines: writes the lines
 * @pid: only events of this process, 0: of all
 * @all: every event, not only those of the CPU
 * @stop: ends the run with -EINTR when it is not 0; may be NULL
 */
struct grt_annotate {
	struct grt_consumer c;
	struct grt_line_out *lines;
	uint32_t pid;
	bool all;
	volatile int *stop;
};

/**
 * grt_annotate_init - begins
 * @form: GRT_LINE_OUT_ANNOTATE or _JSON
 * @fd: file descriptor for the lines
 * Return: 0 or -ENOMEM
 */
int grt_annotate_init(struct grt_annotate *a, enum grt_line_form form, int fd);

/** grt_annotate_fini - frees its memory; lines that were not flushed are lost */
void grt_annotate_fini(struct grt_annotate *a);

#endif /* GRT_LINES_ANNOTATE_H */
