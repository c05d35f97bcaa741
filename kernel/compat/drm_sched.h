/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The DRM scheduler's interface as it is in 6.17, on every kernel from 5.17:
 * which form the target has is in switches.h, see switches.c for the releases.
 * The branches of older forms can go with the last kernel that has them.
 */
#ifndef GRTRACE_COMPAT_DRM_SCHED_H
#define GRTRACE_COMPAT_DRM_SCHED_H

#include <drm/drm_file.h>
#include <drm/gpu_scheduler.h>

#include "compat/switches.h"

#if !GRTRACE_HAS_SCHED_INIT_ARGS && !GRTRACE_HAS_SCHED_INIT_11 && !GRTRACE_HAS_SCHED_INIT_9
#error "drm_sched_init() has a form that kernel/compat/switches.c does not know"
#endif

#if GRTRACE_HAS_SCHED_JOB_INIT_5 && !GRTRACE_HAS_DRM_CLIENT_ID
#error "jobs have a client id, open files have none"
#endif

#if !GRTRACE_HAS_SCHED_JOB_INIT_3 && !GRTRACE_HAS_SCHED_JOB_INIT_4 && !GRTRACE_HAS_SCHED_JOB_INIT_5
#error "drm_sched_job_init() has a form that kernel/compat/switches.c does not know"
#endif

/**
 * grtrace_sched_init - drm_sched_init() with the arguments that have always been there
 * @sched: of a ring
 * @ops: of the driver
 * @limit: jobs on the hardware at a time
 * @timeout: of a job, in jiffies
 * @name: stays the caller's
 * @dev: the device
 *
 * Return: 0 or -errno.
 */
static inline int grtrace_sched_init(struct drm_gpu_scheduler *sched, const struct drm_sched_backend_ops *ops,
				     u32 limit, long timeout, const char *name, struct device *dev)
{
#if GRTRACE_HAS_SCHED_INIT_ARGS
	const struct drm_sched_init_args args = {
		.ops = ops,
#if GRTRACE_HAS_SCHED_ARGS_NUM_RQS
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
#endif
		.credit_limit = limit,
		.timeout = timeout,
		.name = name,
		.dev = dev,
	};

	return drm_sched_init(sched, &args);
#elif GRTRACE_HAS_SCHED_INIT_11
	return drm_sched_init(sched, ops, NULL, DRM_SCHED_PRIORITY_COUNT, limit, 0, timeout, NULL, NULL, name,
			      dev);
#else
	return drm_sched_init(sched, ops, limit, 0, timeout, NULL, NULL, name, dev);
#endif
}

/**
 * grtrace_sched_job_init - drm_sched_job_init() of a job that counts as one on the hardware
 * @job: of the driver
 * @entity: whose queue it goes to
 * @owner: any pointer
 * @file: where it was submitted; older kernels have no use for it
 *
 * Return: 0 or -errno.
 */
static inline int grtrace_sched_job_init(struct drm_sched_job *job, struct drm_sched_entity *entity,
					 void *owner, struct drm_file *file)
{
#if GRTRACE_HAS_SCHED_JOB_INIT_5
	return drm_sched_job_init(job, entity, 1, owner, file->client_id);
#elif GRTRACE_HAS_SCHED_JOB_INIT_4
	return drm_sched_job_init(job, entity, 1, owner);
#else
	return drm_sched_job_init(job, entity, owner);
#endif
}

/* timedout_job(): the driver has dealt with it */
#if GRTRACE_HAS_SCHED_STAT_RESET
#define GRTRACE_SCHED_HANDLED DRM_GPU_SCHED_STAT_RESET
#else
#define GRTRACE_SCHED_HANDLED DRM_GPU_SCHED_STAT_NOMINAL
#endif

/* The lowest priority. */
#if GRTRACE_HAS_SCHED_PRIORITY_LOW
#define GRTRACE_SCHED_PRIORITY_LOW DRM_SCHED_PRIORITY_LOW
#else
#define GRTRACE_SCHED_PRIORITY_LOW DRM_SCHED_PRIORITY_MIN
#endif

/** grtrace_sched_hw_depth - jobs on the hardware; from 6.8 on their credits, one each with most drivers */
static inline u32 grtrace_sched_hw_depth(struct drm_gpu_scheduler *sched)
{
#if GRTRACE_HAS_SCHED_CREDITS
	return atomic_read(&sched->credit_count);
#else
	return atomic_read(&sched->hw_rq_count);
#endif
}

/** grtrace_sched_device - the scheduler's device, NULL where it does not know */
static inline struct device *grtrace_sched_device(struct drm_gpu_scheduler *sched)
{
#if GRTRACE_HAS_SCHED_DEV
	return sched->dev;
#else
	return NULL;
#endif
}

#endif /* GRTRACE_COMPAT_DRM_SCHED_H */
