/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which tracepoints the stand-in for gpu_sched.ko fires for another module.
 */
#ifndef GPU_SCHED_H
#define GPU_SCHED_H

struct dma_fence;
struct drm_sched_entity;
struct drm_sched_fence;
struct drm_sched_job;

/* The names of both generations; a real kernel has one of each. */
enum gpu_sched_event {
	DRM_SCHED_JOB,
	DRM_RUN_JOB,
	DRM_SCHED_PROCESS_JOB,
	DRM_SCHED_JOB_WAIT_DEP,
	DRM_SCHED_JOB_QUEUE,
	DRM_SCHED_JOB_RUN,
	DRM_SCHED_JOB_DONE,
	DRM_SCHED_JOB_ADD_DEP,
	DRM_SCHED_JOB_UNSCHEDULABLE,
	GPU_SCHED_EVENTS,
};

int gpu_sched_fire(enum gpu_sched_event event, struct drm_sched_job *job, struct dma_fence *fence);

#endif /* GPU_SCHED_H */
