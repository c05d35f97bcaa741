/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Trace events of Intel's driver xe in ftrace text (drivers/gpu/drm/xe/xe_trace.h, Linux 6.12 and 7.2). A job
 * is known by the address of its hardware fence, whose context and number are in the line of its creation; a
 * queue by its number in the firmware (GuC), of which the driver makes the ring's name: rcs17.
 *
 * The scheduler reports the same jobs, each on the line behind xe_sched_job_exec, by the same thread. Where
 * it does, its events are read and these are not, since no field is common to both.
 */
#ifndef GRT_TEXT_FTRACE_XE_H
#define GRT_TEXT_FTRACE_XE_H

#include "ftrace_emit.h"

/** enum ftrace_xe_what - which event */
enum ftrace_xe_what {
	FTRACE_XE_QUEUE,  /* of an exec queue: reports its class */
	FTRACE_XE_CREATE, /* a hardware fence was made */
	FTRACE_XE_EXEC,	  /* a job goes to the scheduler */
	FTRACE_XE_RUN,	  /* and to the firmware */
	FTRACE_XE_SIGNAL, /* the driver sees that its fence is signalled */
};

/** ftrace_xe - handler of xe_*; @what: enum ftrace_xe_what */
enum grt_text_line ftrace_xe(struct ftrace *f, unsigned int what);

/** ftrace_xe_queued - the scheduler reports a job that the running thread has queued */
void ftrace_xe_queued(struct ftrace *f);

#endif /* GRT_TEXT_FTRACE_XE_H */
