/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The table of trace events in ftrace text, made from ftrace_events.def.
 */
#ifndef GRT_TEXT_FTRACE_EVENTS_H
#define GRT_TEXT_FTRACE_EVENTS_H

#include "ftrace_emit.h"

/**
 * struct ftrace_row - a row of ftrace_events.def
 * @len: length of @name
 * @handle: parses the fields at @f->l.fields and puts events
 * @arg: passed to @handle: which of the events of the handler it is
 */
struct ftrace_row {
	const char *name;
	size_t len;
	enum grt_text_line (*handle)(struct ftrace *f, unsigned int arg);
	unsigned int arg;
};

/**
 * ftrace_device_of - Return: the number of the GPU with the PCI address @dev, 0 if @dev is not an address
 * It puts a NAME record for the GPU if the text needs one.
 */
uint32_t ftrace_device_of(struct ftrace *f, struct grt_span dev);

/** ftrace_row_of - Return: the row of the event @name, NULL if there is none; @f has the hash table for it */
const struct ftrace_row *ftrace_row_of(struct ftrace *f, struct grt_span name);

/** ftrace_has_event - Return: whether the table has a row for the event @name; slow, needs no state */
bool ftrace_has_event(struct grt_span name);

/** ftrace_step - Return: which step of a job's life the event reports, from 1; 0: it reports no job */
unsigned int ftrace_step(const struct ftrace *f, const struct ftrace_row *row);

/**
 * ftrace_reports_jobs - Return: whether the event is of the module or a driver, not of fences, and reports
 * jobs
 */
bool ftrace_reports_jobs(const struct ftrace *f, const struct ftrace_row *row);

/** ftrace_row_is_job - Return: whether the event reports jobs and is not of the kernel module */
bool ftrace_row_is_job(const struct ftrace_row *row);

#endif /* GRT_TEXT_FTRACE_EVENTS_H */
