// SPDX-License-Identifier: GPL-2.0
/*
 * From the ioctl to the scheduler's queue, and the end of a job's life.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include <drm/drm_syncobj.h>

#include "compat/drm_sched.h"
#include "softgpu.h"

static int check(const struct softgpu *gpu, const struct grtrace_softgpu_job *arg)
{
	if (arg->ring >= gpu->nrings || arg->priority >= GRTRACE_SOFTGPU_PRIORITIES)
		return -EINVAL;
	if (arg->flags & ~GRTRACE_SOFTGPU_FLAGS || arg->duration > GRTRACE_SOFTGPU_DURATION_MAX)
		return -EINVAL;
	if (arg->error > 0 || arg->error < -MAX_ERRNO || arg->in_count > GRTRACE_SOFTGPU_DEPS_MAX)
		return -EINVAL;
	if (arg->flags & GRTRACE_SOFTGPU_REFUSE && !arg->error)
		return -EINVAL;
	return 0;
}

static int add_dependencies(struct softgpu_job *job, struct drm_file *file,
			    const struct grtrace_softgpu_job *arg)
{
	u32 handles[GRTRACE_SOFTGPU_DEPS_MAX], i;
	struct dma_fence *fence;
	int err;

	if (copy_from_user(handles, u64_to_user_ptr(arg->in_syncs), arg->in_count * sizeof(*handles)))
		return -EFAULT;
	for (i = 0; i < arg->in_count; i++) {
		err = drm_syncobj_find_fence(file, handles[i], 0, 0, &fence);
		if (!err)
			err = drm_sched_job_add_dependency(&job->base, fence);
		if (err)
			return err;
	}
	return 0;
}

static struct softgpu_job *alloc_job(struct softgpu *gpu, const struct grtrace_softgpu_job *arg)
{
	struct softgpu_job *job = kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT);

	if (!job)
		return NULL;
	job->fence = kzalloc(sizeof(*job->fence), GFP_KERNEL_ACCOUNT);
	job->done = kzalloc(sizeof(*job->done), GFP_KERNEL_ACCOUNT);
	if (!job->fence || !job->done) {
		kfree(job->fence);
		kfree(job->done);
		kfree(job);
		return NULL;
	}
	INIT_LIST_HEAD(&job->link);
	job->ring = &gpu->rings[arg->ring];
	job->error = arg->error;
	job->flags = arg->flags;
	job->done->result = (struct grtrace_softgpu_result){
		.cookie = arg->cookie,
		.duration = arg->duration,
		.ring = arg->ring,
		.pid = task_tgid_nr(current),
		.tid = task_pid_nr(current),
	};
	return job;
}

/* One that the scheduler does not have. */
static void discard(struct softgpu_job *job)
{
	kfree(job->fence);
	kfree(job->done);
	kfree(job);
}

/* From here on the scheduler has it, and may free it at any time. */
static void push(struct softgpu_client *client, struct softgpu_job *job, struct drm_syncobj *out,
		 struct grtrace_softgpu_job *arg)
{
	struct grtrace_softgpu_result *r = &job->done->result;
	struct dma_fence *finished;

	drm_sched_job_arm(&job->base);
	finished = &job->base.s_fence->finished;
	r->ctx = finished->context;
	r->seqno = finished->seqno;
	arg->ctx = r->ctx;
	arg->seqno = r->seqno;
	if (out)
		drm_syncobj_replace_fence(out, finished);
	kref_get(&client->ref);
	job->client = client;
	atomic_inc(&client->gpu->live);
	r->submit = ktime_get_ns();
	drm_sched_entity_push_job(&job->base);
}

static int prepare(struct softgpu_client *client, struct drm_file *file, struct softgpu_job *job,
		   const struct grtrace_softgpu_job *arg)
{
	struct drm_sched_entity *entity = softgpu_client_entity(client, arg->ring, arg->priority);
	int err;

	if (IS_ERR(entity))
		return PTR_ERR(entity);
	err = grtrace_sched_job_init(&job->base, entity, client, file);
	if (err)
		return err;
	err = add_dependencies(job, file, arg);
	if (err)
		drm_sched_job_cleanup(&job->base);
	return err;
}

static int submit_one(struct softgpu_client *client, struct drm_file *file, struct grtrace_softgpu_job *arg)
{
	struct drm_syncobj *out = NULL;
	struct softgpu_job *job;
	int err = check(client->gpu, arg);

	if (err)
		return err;
	if (arg->out_sync) {
		out = drm_syncobj_find(file, arg->out_sync);
		if (!out)
			return -ENOENT;
	}
	err = -ENOMEM;
	job = alloc_job(client->gpu, arg);
	if (!job)
		goto out;
	err = softgpu_client_take(client);
	if (err) {
		discard(job);
		goto out;
	}
	mutex_lock(&client->mutex);
	err = prepare(client, file, job, arg);
	if (!err)
		push(client, job, out, arg);
	mutex_unlock(&client->mutex);
	if (err) {
		softgpu_client_untake(client);
		discard(job);
	}
out:
	if (out)
		drm_syncobj_put(out);
	return err;
}

int softgpu_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct grtrace_softgpu_submit *arg = data;
	struct grtrace_softgpu_job __user *user = u64_to_user_ptr(arg->jobs);
	struct grtrace_softgpu_job job;
	int err = 0;

	if (!arg->count || arg->count > GRTRACE_SOFTGPU_BATCH_MAX)
		return -EINVAL;
	for (arg->done = 0; arg->done < arg->count; arg->done++) {
		if (signal_pending(current))
			err = -ERESTARTSYS;
		else if (copy_from_user(&job, user + arg->done, sizeof(job)))
			err = -EFAULT;
		else
			err = submit_one(file->driver_priv, file, &job);
		if (err)
			break;
		/* it runs by now: who cannot be told its fence finds it in the results */
		if (copy_to_user(user + arg->done, &job, sizeof(job)))
			err = -EFAULT;
		cond_resched();
	}
	return arg->done ? 0 : err;
}

/**
 * softgpu_job_over - a job will not run
 * @job: that no ring has
 * @state: enum grtrace_softgpu_state
 * @status: -errno
 */
void softgpu_job_over(struct softgpu_job *job, u32 state, int status)
{
	struct softgpu_done *done = job->done;

	job->done = NULL;
	done->result.state = state;
	done->result.status = status;
	softgpu_client_over(job->client, done);
}

/**
 * softgpu_job_free - the scheduler is done with a job
 * @job: run, refused, or taken from the queue
 */
void softgpu_job_free(struct softgpu_job *job)
{
	struct softgpu_client *client = job->client;
	struct softgpu *gpu = client->gpu;
	unsigned long flags;

	/* out of the queue of an entity that went: its finished fence has this error */
	if (job->done)
		softgpu_job_over(job, GRTRACE_SOFTGPU_KILLED, -ESRCH);
	kfree(job->fence);
	drm_sched_job_cleanup(&job->base);
	kfree(job);
	softgpu_client_drop(client);
	spin_lock_irqsave(&gpu->idle.lock, flags);
	if (atomic_dec_and_test(&gpu->live))
		wake_up_locked(&gpu->idle);
	spin_unlock_irqrestore(&gpu->idle.lock, flags);
}
