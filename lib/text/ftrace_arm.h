/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Trace events of drivers for GPUs of ARM systems in ftrace text.
 *
 * msm (drivers/gpu/drm/msm/msm_gpu_trace.h, Linux 6.12): a submit has a number that is unique on its device.
 * The line of its retirement has the counter's values at which the GPU began and ended it. The line of its
 * flush has the value of this counter (19.2 MHz), too, so the values can be converted to times. In Linux 7.2
 * those of the retirement are of a counter that preemption saves, so they count only between flush and
 * retirement. If the text has the scheduler's events, they report the same jobs, and the events of msm are
 * ignored.
 *
 * mali (mali_linux_trace.h of ARM's kbase driver): the GPU has job slots, each of which runs its jobs in the
 * order in which it gets them. The line of a job's begin names its process. The line of an end names only the
 * slot, so the job that ended is the oldest one in the slot; its END has GRT_FLAG_INFERRED.
 */
#ifndef GRT_TEXT_FTRACE_ARM_H
#define GRT_TEXT_FTRACE_ARM_H

#include "ftrace_emit.h"

/** enum ftrace_msm_what - the events of msm */
enum ftrace_msm_what {
	FTRACE_MSM_SUBMIT,
	FTRACE_MSM_FLUSH,
	FTRACE_MSM_RETIRED,
};

/** ftrace_msm - handles a line of msm_gpu_submit*; @what: enum ftrace_msm_what */
enum grt_text_line ftrace_msm(struct ftrace *f, unsigned int what);

/** ftrace_mali - handles a line of mali_job_slots_event; @arg: unused */
enum grt_text_line ftrace_mali(struct ftrace *f, unsigned int arg);

#endif /* GRT_TEXT_FTRACE_ARM_H */
