// SPDX-License-Identifier: GPL-2.0
/* The path of a job from the ioctl to the scheduler's queue, and the end of its life. */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include <drm/drm_syncobj.h>

#include "compat/drm_sched.h"
#include "softgpu.h"

/* Most jobs that are made before the first of them is pushed. */
#define AT_ONCE 64

struct fence_name {
	u64 ctx;
	u64 seqno;
};

static int job_check(const struct softgpu *gpu, const struct grtrace_softgpu_job *arg)
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

static int job_add_dependencies(struct softgpu_job *job, struct drm_file *file,
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
	kref_init(&job->ref);
	INIT_LIST_HEAD(&job->link);
	job->ring = &gpu->rings[arg->ring];
	job->error = arg->error;
	job->flags = arg->flags;
	job->result = (struct grtrace_softgpu_result){
		.cookie = arg->cookie,
		.duration = arg->duration,
		.ring = arg->ring,
		.pid = task_tgid_nr(current),
		.tid = task_pid_nr(current),
	};
	return job;
}

static void job_put_out(struct softgpu_job *job)
{
	if (job->out)
		drm_syncobj_put(job->out);
	job->out = NULL;
}

/* Frees a job that the scheduler does not have yet. */
static void job_discard(struct softgpu_job *job)
{
	job_put_out(job);
	kfree(job);
}

/*
 * From here on, the scheduler owns the job, and may free it at any time. @name: gets the name of
 * its fence
 */
static void job_push(struct softgpu_client *client, struct softgpu_job *job, struct fence_name *name)
{
	struct grtrace_softgpu_result *r = &job->result;
	struct dma_fence *finished;

	drm_sched_job_arm(&job->base);
	finished = &job->base.s_fence->finished;
	r->ctx = finished->context;
	r->seqno = finished->seqno;
	name->ctx = r->ctx;
	name->seqno = r->seqno;
	if (job->out)
		drm_syncobj_replace_fence(job->out, finished);
	job_put_out(job);
	kref_get(&job->ref); /* reference of the result */
	kref_get(&client->ref);
	job->client = client;
	atomic_inc(&client->gpu->live);
	r->submit = ktime_get_ns();
	drm_sched_entity_push_job(&job->base);
}

static int job_prepare(struct softgpu_client *client, struct drm_file *file, struct softgpu_job *job,
		       const struct grtrace_softgpu_job *arg)
{
	struct drm_sched_entity *entity = softgpu_client_entity(client, arg->ring, arg->priority);
	int err;

	if (IS_ERR(entity))
		return PTR_ERR(entity);
	err = grtrace_sched_job_init(&job->base, entity, client, file);
	if (err)
		return err;
	err = job_add_dependencies(job, file, arg);
	if (err)
		drm_sched_job_cleanup(&job->base);
	return err;
}

/* Return: a job that is ready to be pushed, or ERR_PTR */
static struct softgpu_job *make_job(struct softgpu_client *client, struct drm_file *file,
				    const struct grtrace_softgpu_job *arg)
{
	struct softgpu_job *job;
	int err = job_check(client->gpu, arg);

	if (err)
		return ERR_PTR(err);
	job = alloc_job(client->gpu, arg);
	if (!job)
		return ERR_PTR(-ENOMEM);
	if (arg->out_sync) {
		job->out = drm_syncobj_find(file, arg->out_sync);
		err = job->out ? 0 : -ENOENT;
	}
	if (!err)
		err = softgpu_client_take(client);
	if (err) {
		job_discard(job);
		return ERR_PTR(err);
	}
	err = job_prepare(client, file, job, arg);
	if (!err)
		return job;
	softgpu_client_give_back(client);
	job_discard(job);
	return ERR_PTR(err);
}

/*
 * Makes the next jobs, up to one that waits for sync objects: those may get their
 * fences from jobs that are not pushed yet. Return: 0, or the error of the last one,
 * which is not among @jobs
 */
static int job_make_some(struct softgpu_client *client, struct drm_file *file,
			 const struct grtrace_softgpu_job __user *user, u32 count, struct list_head *jobs)
{
	struct grtrace_softgpu_job arg;
	struct softgpu_job *job;
	u32 i;

	for (i = 0; i < count; i++) {
		if (signal_pending(current))
			return -ERESTARTSYS;
		if (copy_from_user(&arg, user + i, sizeof(arg)))
			return -EFAULT;
		if (arg.in_count && i)
			return 0;
		job = make_job(client, file, &arg);
		if (IS_ERR(job))
			return PTR_ERR(job);
		list_add_tail(&job->link, jobs);
	}
	return 0;
}

/*
 * Everything that may sleep comes before the first job is pushed, which wakes the scheduler: so it
 * finds the other jobs, too, instead of alternating with this thread. @done: is increased by the
 * submitted jobs
 */
static int job_submit_some(struct softgpu_client *client, struct drm_file *file,
			   struct grtrace_softgpu_job __user *user, u32 count, u32 *done)
{
	struct fence_name names[AT_ONCE];
	struct softgpu_job *job, *next;
	LIST_HEAD(jobs);
	u32 n = 0, i;
	int err;

	mutex_lock(&client->mutex);
	err = job_make_some(client, file, user, min_t(u32, count, AT_ONCE), &jobs);
	list_for_each_entry_safe(job, next, &jobs, link) {
		list_del_init(&job->link);
		job_push(client, job, &names[n++]);
	}
	mutex_unlock(&client->mutex);
	*done += n;
	/* the jobs run by now: a caller that cannot get their fences finds them in the results */
	for (i = 0; i < n; i++)
		if (put_user(names[i].ctx, &user[i].ctx) || put_user(names[i].seqno, &user[i].seqno))
			err = -EFAULT;
	return err;
}

int softgpu_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct grtrace_softgpu_submit *arg = data;
	struct grtrace_softgpu_job __user *user = u64_to_user_ptr(arg->jobs);
	int err = 0;

	if (!arg->count || arg->count > GRTRACE_SOFTGPU_BATCH_MAX)
		return -EINVAL;
	arg->done = 0;
	while (!err && arg->done < arg->count) {
		err = job_submit_some(file->driver_priv, file, user + arg->done, arg->count - arg->done,
				      &arg->done);
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
	job->over = true;
	job->result.state = state;
	job->result.status = status;
	softgpu_client_over(job->client, job);
}

static void free_job(struct kref *ref)
{
	struct softgpu_job *job = container_of(ref, struct softgpu_job, ref);

	kfree_rcu(job, rcu);
}

/**
 * softgpu_job_put - gives a reference back; any context
 * @job: gone with the last one
 */
void softgpu_job_put(struct softgpu_job *job)
{
	kref_put(&job->ref, free_job);
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

	/*
	 * taken out of the queue of an entity that was destroyed: its finished fence has this
	 * error
	 */
	if (!job->over)
		softgpu_job_over(job, GRTRACE_SOFTGPU_KILLED, -ESRCH);
	drm_sched_job_cleanup(&job->base);
	softgpu_job_put(job);
	softgpu_client_drop(client);
	spin_lock_irqsave(&gpu->idle.lock, flags);
	if (atomic_dec_and_test(&gpu->live))
		wake_up_locked(&gpu->idle);
	spin_unlock_irqrestore(&gpu->idle.lock, flags);
}
