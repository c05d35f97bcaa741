/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The events of a session as lines, as `grtrace annotate` prints them: what
 * threads did with GPU device files, and how long each ioctl took.
 */
#ifndef GRT_LINES_ANNOTATE_H
#define GRT_LINES_ANNOTATE_H

#include "line_out.h"

/**
 * struct grt_annotate - embed it, or use it as it is
 * @c: what the session drives
 * @lines: what it writes with
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
 * @fd: where lines go
 * Return: 0 or -ENOMEM
 */
int grt_annotate_init(struct grt_annotate *a, enum grt_line_form form, int fd);

/** grt_annotate_fini - frees what it holds; what was not flushed is lost */
void grt_annotate_fini(struct grt_annotate *a);

#endif /* GRT_LINES_ANNOTATE_H */
