/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The events of ftrace text as a table.
 */
#ifndef GRT_TEXT_FTRACE_EVENTS_H
#define GRT_TEXT_FTRACE_EVENTS_H

#include "ftrace_emit.h"

/**
 * struct ftrace_row - a row of ftrace_events.def
 * @len: of @name
 * @handle: understands the fields at @f->l.fields
 * @arg: for it: which of its events
 */
struct ftrace_row {
	const char *name;
	size_t len;
	enum grt_text_line (*handle)(struct ftrace *f, unsigned int arg);
	unsigned int arg;
};

/** ftrace_device_of - the number of the GPU that dev= names by its PCI address, which is said once; 0: it is
 * none */
uint32_t ftrace_device_of(struct ftrace *f, struct grt_span dev);

/** ftrace_row_of - the row of an event, NULL: it is none of these. @f remembers where rows are */
const struct ftrace_row *ftrace_row_of(struct ftrace *f, struct grt_span name);

/** ftrace_knows - the same without a state */
bool ftrace_knows(struct grt_span name);

/** ftrace_step - where in a job's life an event stands, from 1; 0: it is none of a job */
unsigned int ftrace_step(const struct ftrace *f, const struct ftrace_row *row);

/** ftrace_reports_jobs - the row reports jobs, and is of the kernel module or a driver and not of fences */
bool ftrace_reports_jobs(const struct ftrace *f, const struct ftrace_row *row);

/** ftrace_row_is_job - the row reports jobs, and is not the kernel module's */
bool ftrace_row_is_job(const struct ftrace_row *row);

#endif /* GRT_TEXT_FTRACE_EVENTS_H */
