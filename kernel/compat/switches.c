// SPDX-License-Identifier: GPL-2.0
/*
 * What the target kernel's headers offer, asked of the compiler: a SWITCH whose
 * body compiles becomes GRTRACE_HAS_<name> 1, another 0, in compat/switches.h,
 * which the build makes of this file with switches.sh. Releases backport, so a
 * version says nothing.
 *
 * To add one: a body here, with the releases between which it changed, and a
 * use in a header of this directory. No macros of the kernel in a body: an error
 * must stand on a line of this file.
 */
#include <linux/dma-fence.h>
#include <linux/hrtimer.h>
#include <linux/platform_device.h>
#include <linux/types.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/gpu_scheduler.h>

#define SWITCH(name) static void __maybe_unused name(void)

/* These two say whether the switches can be believed; they are not passed on. */
SWITCH(CONTROL_YES)
{
	struct dma_fence f = { .seqno = 1 };

	(void)f;
}

SWITCH(CONTROL_NO)
{
	struct dma_fence f = { .no_such_member = 1 };

	(void)f;
}

/* drm_sched_init() takes a struct: 6.15; stable 6.1 */
SWITCH(SCHED_INIT_ARGS)
{
	struct drm_sched_init_args args;
	int (*init)(struct drm_gpu_scheduler *, const struct drm_sched_init_args *) = drm_sched_init;

	(void)args;
	(void)init;
}

/* which has the number of run queues: 6.15, where that number is not fixed */
SWITCH(SCHED_ARGS_NUM_RQS)
{
	struct drm_sched_init_args args = { .num_rqs = 1 };

	(void)args;
}

/* or it takes 11 arguments, a work queue and the number of run queues among them: 6.8 to 6.14 */
SWITCH(SCHED_INIT_11)
{
	struct drm_gpu_scheduler s;
	struct drm_sched_backend_ops ops;

	drm_sched_init(&s, &ops, 0, 1, 1, 0, 1L, 0, 0, "", 0);
}

/* or 9: 5.17 to 6.6 */
SWITCH(SCHED_INIT_9)
{
	struct drm_gpu_scheduler s;
	struct drm_sched_backend_ops ops;

	drm_sched_init(&s, &ops, 1, 0, 1L, 0, 0, "", 0);
}

/* drm_sched_job_init(job, entity, owner): to 6.6 */
SWITCH(SCHED_JOB_INIT_3)
{
	struct drm_sched_job job;
	struct drm_sched_entity entity;

	drm_sched_job_init(&job, &entity, 0);
}

/* (job, entity, credits, owner): 6.8 to 6.14 */
SWITCH(SCHED_JOB_INIT_4)
{
	struct drm_sched_job job;
	struct drm_sched_entity entity;

	drm_sched_job_init(&job, &entity, 1, 0);
}

/* (job, entity, credits, owner, client id): 6.17; stable 6.12 */
SWITCH(SCHED_JOB_INIT_5)
{
	struct drm_sched_job job;
	struct drm_sched_entity entity;

	drm_sched_job_init(&job, &entity, 1, 0, 1);
}

/* what timedout_job() returns is called RESET, no longer NOMINAL: 6.17 */
SWITCH(SCHED_STAT_RESET)
{
	enum drm_gpu_sched_stat s = DRM_GPU_SCHED_STAT_RESET;

	(void)s;
}

/* the first member of the ops is prepare_job, no longer dependency: 6.5 */
SWITCH(SCHED_PREPARE_JOB)
{
	struct drm_sched_backend_ops ops = { .prepare_job = 0 };

	(void)ops;
}

/* drm_sched_fini() cancels remaining jobs through cancel_job: 6.17 */
SWITCH(SCHED_CANCEL_JOB)
{
	struct drm_sched_backend_ops ops = { .cancel_job = 0 };

	(void)ops;
}

/* there is a priority LOW, and 0 is the highest: 6.8 */
SWITCH(SCHED_PRIORITY_LOW)
{
	enum drm_sched_priority p = DRM_SCHED_PRIORITY_LOW;

	(void)p;
}

/* jobs have an id, which counts on each ring: to 6.14 */
SWITCH(SCHED_JOB_ID)
{
	struct drm_sched_job job;

	(void)job.id;
}

/* jobs on the hardware are counted in hw_rq_count: to 6.6 */
SWITCH(SCHED_HW_RQ_COUNT)
{
	struct drm_gpu_scheduler s;

	(void)s.hw_rq_count.counter;
	(void)s.hw_submission_limit;
}

/* or in credits: 6.8 */
SWITCH(SCHED_CREDITS)
{
	struct drm_gpu_scheduler s;
	struct drm_sched_job job;

	(void)s.credit_count.counter;
	(void)s.credit_limit;
	(void)job.credits;
}

/* a scheduler knows its device: 6.1 */
SWITCH(SCHED_DEV)
{
	struct drm_gpu_scheduler s;

	(void)s.dev;
}

/* struct drm_driver has a date: to 6.13 */
SWITCH(DRM_DRIVER_DATE)
{
	struct drm_driver d = { .date = "20260101" };

	(void)d;
}

/* hrtimer_setup() took the place of hrtimer_init(): 6.14 */
SWITCH(HRTIMER_SETUP)
{
	struct hrtimer t;

	hrtimer_setup(&t, 0, 0, 0);
}

/* an open file has a number: 6.5 */
SWITCH(DRM_CLIENT_ID)
{
	struct drm_file f;

	(void)f.client_id;
}
