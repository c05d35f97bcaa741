/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Trace events of drivers for GPUs of ARM systems in ftrace text.
 *
 * msm (drivers/gpu/drm/msm/msm_gpu_trace.h, Linux 6.12): a submit has a number that is the device's alone.
 * That it is retired is told with the counter's values at which the GPU began and ended it; the counter,
 * of 19.2 MHz, is in the line of its flush, too, so these have a time. Where the scheduler's events are in
 * the text, they report the same jobs, and these are passed over.
 *
 * mali (mali_linux_trace.h of ARM's kbase driver): the GPU has job slots, which run what they get in its
 * order. What begins has a process; what ends is the oldest of its slot.
 */
#ifndef GRT_TEXT_FTRACE_ARM_H
#define GRT_TEXT_FTRACE_ARM_H

#include "ftrace_emit.h"

/** enum ftrace_msm_what - which event */
enum ftrace_msm_what {
	FTRACE_MSM_SUBMIT,
	FTRACE_MSM_FLUSH,
	FTRACE_MSM_RETIRED,
};

/** ftrace_msm - handler of msm_gpu_submit*; @what: enum ftrace_msm_what */
enum grt_text_line ftrace_msm(struct ftrace *f, unsigned int what);

/** ftrace_mali - handler of mali_job_slots_event */
enum grt_text_line ftrace_mali(struct ftrace *f, unsigned int arg);

#endif /* GRT_TEXT_FTRACE_ARM_H */
