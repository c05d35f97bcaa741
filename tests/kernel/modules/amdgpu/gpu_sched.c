// SPDX-License-Identifier: GPL-2.0
/*
 * Stands for gpu_sched.ko: the scheduler's tracepoints, fired when another
 * module says so. It schedules nothing.
 */
#include <linux/dma-fence.h>
#include <linux/module.h>

#include <drm/gpu_scheduler.h>

#define CREATE_TRACE_POINTS
#include "gpu_sched_trace.h"

#include "gpu_sched.h"

int gpu_sched_fire(enum gpu_sched_event event, struct drm_sched_job *job, struct dma_fence *fence)
{
	switch (event) {
	case DRM_SCHED_JOB:
		trace_drm_sched_job(job, job->entity);
		break;
	case DRM_RUN_JOB:
		trace_drm_run_job(job, job->entity);
		break;
	case DRM_SCHED_PROCESS_JOB:
		trace_drm_sched_process_job(job->s_fence);
		break;
	case DRM_SCHED_JOB_WAIT_DEP:
		trace_drm_sched_job_wait_dep(job, fence);
		break;
	case DRM_SCHED_JOB_QUEUE:
		trace_drm_sched_job_queue(job, job->entity);
		break;
	case DRM_SCHED_JOB_RUN:
		trace_drm_sched_job_run(job, job->entity);
		break;
	case DRM_SCHED_JOB_DONE:
		trace_drm_sched_job_done(job->s_fence);
		break;
	case DRM_SCHED_JOB_ADD_DEP:
		trace_drm_sched_job_add_dep(job, fence);
		break;
	case DRM_SCHED_JOB_UNSCHEDULABLE:
		trace_drm_sched_job_unschedulable(job, fence);
		break;
	default:
		return -EINVAL;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(gpu_sched_fire);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("Test of grtrace: stands for gpu_sched");
MODULE_LICENSE("GPL");
