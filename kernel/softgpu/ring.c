// SPDX-License-Identifier: GPL-2.0
/*
 * The "hardware": the jobs that the scheduler hands to a ring, and the timer that ends them. The
 * design is that of the kernel's own mock scheduler
 * (drivers/gpu/drm/scheduler/tests/mock_scheduler.c, Linux 6.17).
 */
#include <linux/devcoredump.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#include "compat/drm_sched.h"
#include "compat/hrtimer.h"
#include "softgpu.h"

#define NEVER KTIME_MAX

static const char *ring_fence_driver_name(struct dma_fence *fence)
{
	return GRTRACE_SOFTGPU_DRIVER;
}

static const char *ring_fence_timeline_name(struct dma_fence *fence)
{
	return container_of(fence, struct softgpu_job, fence)->ring->name;
}

/* The module stays until here; softgpu_exit() waits for callers that are still in this function. */
static void ring_fence_release(struct dma_fence *fence)
{
	softgpu_job_put(container_of(fence, struct softgpu_job, fence));
	module_put(THIS_MODULE);
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = ring_fence_driver_name,
	.get_timeline_name = ring_fence_timeline_name,
	.release = ring_fence_release,
};

static struct softgpu_job *ring_to_job(struct drm_sched_job *job)
{
	return container_of(job, struct softgpu_job, base);
}

static struct softgpu_job *ring_running(struct softgpu_ring *ring)
{
	return list_first_entry_or_null(&ring->jobs, struct softgpu_job, link);
}

/*
 * The first job begins when the job before it was to end, or when it was handed over, if that was
 * later.
 */
static void ring_begin(struct softgpu_ring *ring, u64 from)
{
	struct softgpu_job *job = ring_running(ring);
	struct grtrace_softgpu_result *r;

	if (!job)
		return;
	r = &job->result;
	r->start = max(r->run, ring->last_end);
	ring->finish_at = max(from, r->run);
	if (!(job->flags & GRTRACE_SOFTGPU_HANG))
		ring->finish_at += r->duration;
	else if (READ_ONCE(job->client->closed))
		job->error = -ECANCELED;
	else
		ring->finish_at = NEVER;
}

/* Ends the running job. The scheduler may free it as soon as its fence is signalled; its result stays. */
static void ring_finish(struct softgpu_ring *ring, u32 state, int status)
{
	struct softgpu_job *job = ring_running(ring);
	struct softgpu_client *client = job->client;

	list_del_init(&job->link);
	job->over = true;
	kref_get(&client->ref);
	job->result.state = state;
	job->result.status = status;
	if (status)
		dma_fence_set_error(&job->fence, status);
	job->result.end = ktime_get_ns();
	client->busy[ring - ring->gpu->rings] += job->result.end - job->result.start;
	ring->last_end = job->result.end;
	dma_fence_signal_locked(&job->fence);
	dma_fence_put(&job->fence);
	softgpu_client_over(client, job);
	softgpu_client_put(client);
}

/**
 * softgpu_ring_busy - how long jobs of a client have run on a ring
 * @ring: of the client's device
 * @client: an open file
 *
 * Return: ns, with the time until now of a job that is running.
 */
u64 softgpu_ring_busy(struct softgpu_ring *ring, const struct softgpu_client *client)
{
	const struct softgpu_job *job;
	unsigned long flags;
	u64 busy;

	spin_lock_irqsave(&ring->lock, flags);
	busy = client->busy[ring - ring->gpu->rings];
	job = ring_running(ring);
	if (job && job->client == client)
		busy += ktime_get_ns() - job->result.start;
	spin_unlock_irqrestore(&ring->lock, flags);
	return busy;
}

static void ring_set_timer(struct softgpu_ring *ring)
{
	if (ring_running(ring) && ring->finish_at != NEVER)
		hrtimer_start(&ring->timer, ns_to_ktime(ring->finish_at), HRTIMER_MODE_ABS);
}

static enum hrtimer_restart ring_on_timer(struct hrtimer *timer)
{
	struct softgpu_ring *ring = container_of(timer, struct softgpu_ring, timer);
	unsigned long flags;

	spin_lock_irqsave(&ring->lock, flags);
	while (ring_running(ring) && ring->finish_at <= ktime_get_ns()) {
		ring_finish(ring, GRTRACE_SOFTGPU_DONE, ring_running(ring)->error);
		ring_begin(ring, ring->finish_at);
	}
	ring_set_timer(ring);
	spin_unlock_irqrestore(&ring->lock, flags);
	return HRTIMER_NORESTART;
}

static struct dma_fence *ring_refuse(struct softgpu_job *job, int status)
{
	softgpu_job_over(job, GRTRACE_SOFTGPU_REFUSED, status);
	return ERR_PTR(status);
}

static struct dma_fence *ring_run_job(struct drm_sched_job *sched_job)
{
	struct softgpu_job *job = ring_to_job(sched_job);
	struct softgpu_ring *ring = job->ring;
	struct grtrace_softgpu_result *r = &job->result;
	unsigned long flags;

	r->run = ktime_get_ns();
	if (job->flags & GRTRACE_SOFTGPU_REFUSE)
		return ring_refuse(job, job->error);
	spin_lock_irqsave(&ring->lock, flags);
	if (ring->dead) {
		spin_unlock_irqrestore(&ring->lock, flags);
		return ring_refuse(job, -ENODEV);
	}
	/* from now on, others can see the fence */
	__module_get(THIS_MODULE);
	kref_get(&job->ref);
	dma_fence_init(&job->fence, &fence_ops, &ring->lock, ring->context, ++ring->seqno);
	dma_fence_get(&job->fence); /* reference of the scheduler */
	r->hw_ctx = ring->context;
	r->hw_seqno = ring->seqno;
	list_add_tail(&job->link, &ring->jobs);
	if (ring_running(ring) == job) {
		ring_begin(ring, r->run);
		ring_set_timer(ring);
	}
	spin_unlock_irqrestore(&ring->lock, flags);
	return &job->fence;
}

/*
 * Makes a device dump (devcoredump), as real drivers do: a line of text names the job that the
 * device ran, and the bytes after it stand for registers. The kernel keeps the first dump of a
 * device for five minutes. The job's fence is signalled already, so that waiting for memory delays
 * no other thread.
 */
static void ring_dump(struct softgpu_ring *ring, const struct grtrace_softgpu_result *result)
{
	u8 *dump = vmalloc(SZ_4K);
	unsigned int used, i;

	if (!dump)
		return;
	used = scnprintf(dump, SZ_4K, "%s: ring %s: job %llu:%llu of process %u ran longer than %u ms\n",
			 GRTRACE_SOFTGPU_DRIVER, ring->name, result->ctx, result->seqno, result->pid,
			 softgpu_timeout_ms);
	for (i = used; i < SZ_4K; i++)
		dump[i] = i * 7;
	dev_coredumpv(ring->gpu->drm.dev, dump, SZ_4K, GFP_KERNEL);
}

/*
 * The scheduler has taken the job off its list and leaves it to this driver. Any job that runs
 * longer than the timeout is aborted, whether it hangs or not; it may also have ended in the
 * meantime.
 */
static enum drm_gpu_sched_stat ring_timedout_job(struct drm_sched_job *sched_job)
{
	struct softgpu_job *job = ring_to_job(sched_job);
	struct softgpu_ring *ring = job->ring;
	struct grtrace_softgpu_result result = job->result;
	unsigned long flags;
	bool aborted;

	spin_lock_irqsave(&ring->lock, flags);
	aborted = ring_running(ring) == job;
	if (aborted) {
		ring_finish(ring, GRTRACE_SOFTGPU_TIMEOUT, -ETIMEDOUT);
		ring_begin(ring, ring->last_end);
		ring_set_timer(ring);
	}
	spin_unlock_irqrestore(&ring->lock, flags);
	if (aborted)
		ring_dump(ring, &result);
	softgpu_job_free(job);
	return GRTRACE_SCHED_HANDLED;
}

static void ring_free_job(struct drm_sched_job *sched_job)
{
	softgpu_job_free(ring_to_job(sched_job));
}

static const struct drm_sched_backend_ops sched_ops = {
	.run_job = ring_run_job,
	.timedout_job = ring_timedout_job,
	.free_job = ring_free_job,
};

int softgpu_ring_init(struct softgpu *gpu, struct softgpu_ring *ring, u32 type, unsigned int number,
		      struct device *dev)
{
	/* named like amdgpu's rings */
	static const char *const names[] = { "gfx_%u", "comp_%u", "sdma%u", "vcn_dec_%u" };
	long timeout = softgpu_timeout_ms ? msecs_to_jiffies(softgpu_timeout_ms) : MAX_SCHEDULE_TIMEOUT;

	ring->gpu = gpu;
	ring->type = type;
	snprintf(ring->name, sizeof(ring->name), names[type], number);
	spin_lock_init(&ring->lock);
	INIT_LIST_HEAD(&ring->jobs);
	grtrace_hrtimer_setup(&ring->timer, ring_on_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	ring->context = dma_fence_context_alloc(1);
	return grtrace_sched_init(&ring->sched, &sched_ops, softgpu_hw_depth, timeout, ring->name, dev);
}

/**
 * softgpu_ring_end_hang - ends a job that hangs and whose file is closed
 * @ring: any
 * @client: closed
 */
void softgpu_ring_end_hang(struct softgpu_ring *ring, const struct softgpu_client *client)
{
	unsigned long flags;

	spin_lock_irqsave(&ring->lock, flags);
	if (ring_running(ring) && ring_running(ring)->client == client && ring->finish_at == NEVER) {
		ring_running(ring)->error = -ECANCELED;
		ring->finish_at = 0;
		ring_set_timer(ring);
	}
	spin_unlock_irqrestore(&ring->lock, flags);
}

/**
 * softgpu_ring_kill - ends what runs, and refuses what would
 * @ring: of a device that no file has open
 */
void softgpu_ring_kill(struct softgpu_ring *ring)
{
	unsigned long flags;

	spin_lock_irqsave(&ring->lock, flags);
	ring->dead = true;
	while (ring_running(ring)) {
		ring_running(ring)->result.start = max(ring_running(ring)->result.run, ring->last_end);
		ring_finish(ring, GRTRACE_SOFTGPU_KILLED, -ENODEV);
	}
	spin_unlock_irqrestore(&ring->lock, flags);
	hrtimer_cancel(&ring->timer);
}

void softgpu_ring_fini(struct softgpu_ring *ring)
{
	drm_sched_fini(&ring->sched);
}
