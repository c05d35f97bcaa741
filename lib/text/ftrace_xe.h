/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Trace events of Intel's driver xe in ftrace text (drivers/gpu/drm/xe/xe_trace.h, Linux 6.12 and 7.2). Lines
 * name a job by the address of its hardware fence, whose context and number are in the line of the fence's
 * creation. They name a queue by its number in the firmware (GuC), from which the driver makes the ring's
 * name: rcs17.
 *
 * The scheduler reports the same jobs: the same thread writes the scheduler's line directly after
 * xe_sched_job_exec. If the text has the scheduler's events, those of xe are ignored, since no field is
 * common to both.
 */
#ifndef GRT_TEXT_FTRACE_XE_H
#define GRT_TEXT_FTRACE_XE_H

#include "ftrace_emit.h"

/** enum ftrace_xe_what - the events of xe */
enum ftrace_xe_what {
	FTRACE_XE_QUEUE,  /* an event of an exec queue, with the queue's class */
	FTRACE_XE_CREATE, /* a hardware fence was made */
	FTRACE_XE_EXEC,	  /* a job was passed to the scheduler */
	FTRACE_XE_RUN,	  /* a job was passed to the firmware */
	FTRACE_XE_SIGNAL, /* the driver saw that a job's fence is signalled */
};

/** ftrace_xe - handles a line of xe_*; @what: enum ftrace_xe_what */
enum grt_text_line ftrace_xe(struct ftrace *f, unsigned int what);

/**
 * ftrace_xe_queued - the scheduler reports a job of the running thread: drops the SUBMIT that is held for it
 */
void ftrace_xe_queued(struct ftrace *f);

#endif /* GRT_TEXT_FTRACE_XE_H */
