// SPDX-License-Identifier: GPL-2.0
/*
 * An open file: its queues in the schedulers, and the results of its jobs.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat/drm_sched.h"
#include "softgpu.h"

/* How long closing a file waits until ended jobs are freed. */
#define CLOSE_WAIT msecs_to_jiffies(1000)

static void client_free_list(struct list_head *over)
{
	struct softgpu_job *job, *next;

	list_for_each_entry_safe(job, next, over, link)
		softgpu_job_put(job);
}

static void free_client(struct kref *ref)
{
	struct softgpu_client *client = container_of(ref, struct softgpu_client, ref);

	client_free_list(&client->over);
	kfree(client);
}

void softgpu_client_put(struct softgpu_client *client)
{
	kref_put(&client->ref, free_client);
}

int softgpu_open(struct drm_device *drm, struct drm_file *file)
{
	static atomic64_t ids;
	struct softgpu_client *client = kzalloc(sizeof(*client), GFP_KERNEL_ACCOUNT);

	if (!client)
		return -ENOMEM;
	kref_init(&client->ref);
	client->id = atomic64_inc_return(&ids);
	client->gpu = to_softgpu(drm);
	mutex_init(&client->mutex);
	spin_lock_init(&client->lock);
	INIT_LIST_HEAD(&client->over);
	init_waitqueue_head(&client->wait);
	file->driver_priv = client;
	return 0;
}

/**
 * softgpu_client_entity - the file's queue for a ring and priority
 * @client: with its mutex held
 * @ring: index, good
 * @priority: enum grtrace_softgpu_priority, good
 *
 * Return: the entity, which stays until the file is closed; ERR_PTR.
 */
struct drm_sched_entity *softgpu_client_entity(struct softgpu_client *client, u32 ring, u32 priority)
{
	static const enum drm_sched_priority priorities[GRTRACE_SOFTGPU_PRIORITIES] = {
		[GRTRACE_SOFTGPU_NORMAL] = DRM_SCHED_PRIORITY_NORMAL,
		[GRTRACE_SOFTGPU_LOW] = GRTRACE_SCHED_PRIORITY_LOW,
		[GRTRACE_SOFTGPU_HIGH] = DRM_SCHED_PRIORITY_HIGH,
	};
	struct drm_gpu_scheduler *sched = &client->gpu->rings[ring].sched;
	struct drm_sched_entity **at = &client->entity[ring][priority];
	struct drm_sched_entity *entity = *at;
	int err;

	if (entity)
		return entity;
	entity = kzalloc(sizeof(*entity), GFP_KERNEL_ACCOUNT);
	if (!entity)
		return ERR_PTR(-ENOMEM);
	err = drm_sched_entity_init(entity, priorities[priority], &sched, 1, NULL);
	if (err) {
		kfree(entity);
		return ERR_PTR(err);
	}
	*at = entity;
	return entity;
}

/**
 * softgpu_client_take - room for one more job
 * @client: of the caller
 *
 * Return: 0, or -EAGAIN: results must be read first.
 */
int softgpu_client_take(struct softgpu_client *client)
{
	int err = -EAGAIN;

	spin_lock_irq(&client->lock);
	if (client->unread < softgpu_jobs_max) {
		client->unread++;
		client->in_flight++;
		client->live++;
		err = 0;
	}
	spin_unlock_irq(&client->lock);
	return err;
}

/**
 * softgpu_client_give_back - the job of softgpu_client_take() will not be
 * @client: of the caller
 */
void softgpu_client_give_back(struct softgpu_client *client)
{
	spin_lock_irq(&client->lock);
	client->unread--;
	client->in_flight--;
	client->live--;
	spin_unlock_irq(&client->lock);
}

/**
 * softgpu_client_over - a job of the client is over; from any context
 * @client: referenced by the caller
 * @job: its result is the client's from now on
 */
void softgpu_client_over(struct softgpu_client *client, struct softgpu_job *job)
{
	unsigned long flags;

	spin_lock_irqsave(&client->lock, flags);
	list_add_tail(&job->link, &client->over);
	client->in_flight--;
	spin_unlock_irqrestore(&client->lock, flags);
	wake_up(&client->wait);
}

/**
 * softgpu_client_drop - a job of the client is freed
 * @client: whose reference by the job this gives back
 */
void softgpu_client_drop(struct softgpu_client *client)
{
	unsigned long flags;

	spin_lock_irqsave(&client->lock, flags);
	client->live--;
	spin_unlock_irqrestore(&client->lock, flags);
	wake_up(&client->wait);
	softgpu_client_put(client);
}

void softgpu_postclose(struct drm_device *drm, struct drm_file *file)
{
	struct softgpu_client *client = file->driver_priv;
	struct drm_sched_entity **at = &client->entity[0][0];
	unsigned int i;

	WRITE_ONCE(client->closed, true);
	for (i = 0; i < client->gpu->nrings; i++)
		softgpu_ring_end_hang(&client->gpu->rings[i], client);
	for (i = 0; i < SOFTGPU_RINGS * GRTRACE_SOFTGPU_PRIORITIES; i++) {
		if (!at[i])
			continue;
		drm_sched_entity_destroy(at[i]);
		kfree(at[i]);
	}
	/* so that the module can be unloaded as soon as the file is closed */
	wait_event_timeout(client->wait, !READ_ONCE(client->live), CLOSE_WAIT);
	softgpu_client_put(client);
}

/**
 * softgpu_show_fdinfo - what /proc/PID/fdinfo/FD has of an open file, as drm-usage-stats.rst says
 * @seq: gets the lines
 * @file: of this device
 */
void softgpu_show_fdinfo(struct seq_file *seq, struct file *file)
{
	const struct drm_file *drm = file->private_data;
	const struct softgpu_client *client = drm->driver_priv;
	struct softgpu *gpu = client->gpu;
	unsigned int i;

	seq_printf(seq, "drm-driver:\t%s\ndrm-client-id:\t%llu\n", GRTRACE_SOFTGPU_DRIVER, client->id);
	for (i = 0; i < gpu->nrings; i++)
		seq_printf(seq, "drm-engine-%s:\t%llu ns\n", gpu->rings[i].name,
			   softgpu_ring_busy(&gpu->rings[i], client));
}

/* Moves at most @max results to @list. */
static void client_take_results(struct softgpu_client *client, struct list_head *list, u32 max)
{
	struct list_head *last = &client->over;
	u32 n = 0;

	spin_lock_irq(&client->lock);
	while (n < max && !list_is_last(last, &client->over)) {
		last = last->next;
		n++;
	}
	if (n)
		list_cut_position(list, &client->over, last);
	spin_unlock_irq(&client->lock);
}

/* Puts results that could not be reported back, in their order. */
static void client_give_back(struct softgpu_client *client, struct list_head *list, u32 told)
{
	spin_lock_irq(&client->lock);
	list_splice(list, &client->over);
	client->unread -= told;
	spin_unlock_irq(&client->lock);
}

static bool client_something_to_read(struct softgpu_client *client)
{
	bool yes;

	spin_lock_irq(&client->lock);
	yes = !list_empty(&client->over) || !client->in_flight;
	spin_unlock_irq(&client->lock);
	return yes;
}

static int client_wait_for_results(struct softgpu_client *client, u64 timeout)
{
	int err;

	if (!timeout || client_something_to_read(client))
		return 0;
	err = wait_event_interruptible_hrtimeout(client->wait, client_something_to_read(client),
						 ns_to_ktime(min_t(u64, timeout, KTIME_MAX)));
	return err == -ETIME ? 0 : err;
}

int softgpu_results_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct softgpu_client *client = file->driver_priv;
	struct grtrace_softgpu_results *arg = data;
	struct grtrace_softgpu_result __user *user = u64_to_user_ptr(arg->results);
	struct softgpu_job *job, *next;
	LIST_HEAD(list);
	int err;

	if (arg->pad)
		return -EINVAL;
	err = client_wait_for_results(client, arg->timeout);
	if (err)
		return err;
	client_take_results(client, &list, arg->capacity);
	arg->count = 0;
	list_for_each_entry_safe(job, next, &list, link) {
		if (copy_to_user(user + arg->count, &job->result, sizeof(job->result))) {
			err = -EFAULT;
			break;
		}
		list_del(&job->link);
		softgpu_job_put(job);
		arg->count++;
		cond_resched();
	}
	client_give_back(client, &list, arg->count);
	arg->in_flight = READ_ONCE(client->in_flight);
	return arg->count ? 0 : err;
}
