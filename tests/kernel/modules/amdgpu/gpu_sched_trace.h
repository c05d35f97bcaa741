/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracepoints of the DRM scheduler under the names of both generations, with
 * the arguments of the real ones (Linux 5.15 to 7.3,
 * drivers/gpu/drm/scheduler/gpu_scheduler_trace.h). Their records are nobody's
 * business here.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM gpu_scheduler

#if !defined(GPU_SCHED_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define GPU_SCHED_TRACE_H

#include <linux/tracepoint.h>

#define STAND_IN(name, proto, args)                                   \
	TRACE_EVENT(name, TP_PROTO proto, TP_ARGS args,               \
		TP_STRUCT__entry(__field(unsigned int, fired)),       \
		TP_fast_assign(__entry->fired = 1;),                  \
		TP_printk("fired=%u", __entry->fired))

STAND_IN(drm_sched_job, (struct drm_sched_job *job, struct drm_sched_entity *entity), (job, entity));
STAND_IN(drm_run_job, (struct drm_sched_job *job, struct drm_sched_entity *entity), (job, entity));
STAND_IN(drm_sched_process_job, (struct drm_sched_fence *fence), (fence));
STAND_IN(drm_sched_job_wait_dep, (struct drm_sched_job *job, struct dma_fence *fence), (job, fence));
STAND_IN(drm_sched_job_queue, (struct drm_sched_job *job, struct drm_sched_entity *entity), (job, entity));
STAND_IN(drm_sched_job_run, (struct drm_sched_job *job, struct drm_sched_entity *entity), (job, entity));
STAND_IN(drm_sched_job_done, (struct drm_sched_fence *fence), (fence));
STAND_IN(drm_sched_job_add_dep, (struct drm_sched_job *job, struct dma_fence *fence), (job, fence));
STAND_IN(drm_sched_job_unschedulable, (struct drm_sched_job *job, struct dma_fence *fence), (job, fence));

#endif

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE gpu_sched_trace
#include <trace/define_trace.h>
