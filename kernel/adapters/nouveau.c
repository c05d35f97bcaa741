// SPDX-License-Identifier: GPL-2.0
/*
 * nouveau: the driver has no tracepoints, so its jobs are its fences.
 *
 *	dma_fence_init       SUBMIT and, since no queue is known, COMMIT: the
 *			     driver gives a fence its number when it writes the
 *			     commands into the channel's ring
 *	dma_fence_signaled   COMPLETE, and END, inferred
 *	dma_fence_wait_*     SYNC_WAIT_*
 *
 * The tracepoints take (struct dma_fence *), Linux 5.15 to 7.3. A fence context
 * is a channel's number on its runlist, its timeline the name of the channel's
 * client: a later channel has the same context and its own client's name.
 *
 * From Linux 6.6 on, what comes by DRM_NOUVEAU_EXEC goes through the DRM
 * scheduler. Its worker makes the fence, so the fence does not say who submitted
 * the job, and when; the scheduler's events do. drm_bridge reports these jobs, and
 * while it is loaded their fences are left out here:
 *
 *	drm_run_job          the next fence of this thread is a scheduler's job
 *	drm_sched_job_run    the same, from 6.17 on
 *
 * Fences of all drivers come here. Whose ops they have is asked once per ops, at
 * _init: from 6.17 on a signalled fence has another name, from 7.x on it may have
 * no ops at all. Then its context reports.
 */
#include <linux/device.h>
#include <linux/dma-fence.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

#include "../core/grtrace.h"
#include "compat/drm_sched.h"

#define DRIVER "nouveau"
#define SCHED_MODULE "gpu_sched"

/* grtrace_probe.role: the two names of one event */
#define ROLE_RUN 1

/* Most threads that run a job of the scheduler and have not yet made a fence for it. */
#define RUNNERS 64

/* Most fence ops whose owner is remembered: more than there are drivers. */
#define OPS 64

/*
 * Channels that are known by name, and slots in which one is looked for; jobs of further channels
 * have no ring.
 */
#define CHANNEL_BITS 8
#define CHANNELS     (1 << CHANNEL_BITS)
#define CHANNELS_MAX (CHANNELS / 2)

/* The fence ops of a driver, with OURS in a bit that their alignment leaves free. */
#define OURS 1UL

static unsigned long known_ops[OPS];

/**
 * struct channel - a fence context; it is never changed, only replaced
 * @ctx: context of the fences: the channel's number on its runlist, which a later channel may get
 * @ring: its id; negative: there was no room for it
 * @timeline: the name of its client
 */
struct channel {
	u64 ctx;
	int ring;
	char timeline[32];
};

/* Read under RCU. A slot that is used stays in use until the driver is unloaded. */
static struct channel __rcu *channels[CHANNELS];
static unsigned int nchannels;
static DEFINE_RAW_SPINLOCK(channels_lock);

static atomic_long_t runners[RUNNERS];

static struct grtrace_adapter adapter;

static unsigned long grt_nouveau_ops_of(const struct dma_fence *fence)
{
	return (unsigned long)READ_ONCE(fence->ops);
}

/*
 * Return: the slot of these ops, or a slot with 0 in which they can be stored; NULL: there is no
 * room.
 */
static unsigned long *grt_nouveau_place_of_ops(unsigned long ops)
{
	unsigned int i, at = hash_long(ops, ilog2(OPS));

	for (i = 0; i < OPS; i++) {
		unsigned long *known = &known_ops[(at + i) % OPS], is = READ_ONCE(*known) & ~OURS;

		if (!is || is == ops)
			return known;
	}
	return NULL;
}

static bool grt_nouveau_ask_whose(const struct dma_fence *fence, unsigned long ops, unsigned long *known)
{
	const struct dma_fence_ops *o = (const void *)ops;
	bool ours = !strcmp(o->get_driver_name((struct dma_fence *)fence), DRIVER);

	if (known)
		cmpxchg(known, 0, ops | (ours ? OURS : 0));
	return ours;
}

/* Return: whether a fence that was just made is ours. */
static bool grt_nouveau_is_ours(const struct dma_fence *fence)
{
	unsigned long ops = grt_nouveau_ops_of(fence), *known = grt_nouveau_place_of_ops(ops),
		      is = known ? READ_ONCE(*known) : 0;

	if (likely((is & ~OURS) == ops))
		return is & OURS;
	return grt_nouveau_ask_whose(fence, ops, known);
}

/* Return: the slot of this context's channel; it contains NULL if there is none yet. */
static struct channel __rcu **grt_nouveau_place_of(u64 ctx)
{
	u32 i = hash_64(ctx, CHANNEL_BITS);

	for (;; i = (i + 1) % CHANNELS) {
		struct channel *c = rcu_dereference_check(channels[i], lockdep_is_held(&channels_lock));

		if (!c || c->ctx == ctx)
			return &channels[i];
	}
}

static struct channel *grt_nouveau_channel_of(u64 ctx)
{
	return rcu_dereference(*grt_nouveau_place_of(ctx));
}

static const char *grt_nouveau_timeline_of(const struct dma_fence *fence)
{
	return fence->ops->get_timeline_name((struct dma_fence *)fence);
}

static bool grt_nouveau_is_of_channel(const struct channel *c, const struct dma_fence *fence)
{
	return c && !strncmp(c->timeline, grt_nouveau_timeline_of(fence), sizeof(c->timeline) - 1);
}

static enum grt_engine grt_nouveau_engine_of(const char *timeline)
{
	return strstarts(timeline, "copy engine") ? GRT_ENGINE_COPY : GRT_ENGINE_UNKNOWN;
}

static struct channel *grt_nouveau_channel_make(const struct dma_fence *fence)
{
	struct channel *c = grtrace_pool_get(&adapter.pool);

	if (!c)
		return NULL;
	c->ctx = fence->context;
	strscpy(c->timeline, grt_nouveau_timeline_of(fence), sizeof(c->timeline));
	c->ring = grtrace_ring_register(c->timeline, grt_nouveau_engine_of(c->timeline), DRIVER, NULL);
	return c;
}

static void grt_nouveau_channel_drop(struct channel *c)
{
	if (!c)
		return;
	grtrace_ring_unregister(c->ring);
	grtrace_pool_put(c);
}

/* The caller holds the lock. Return: the channel to drop */
static struct channel *grt_nouveau_channel_put(struct channel *c, const struct dma_fence *fence)
{
	struct channel __rcu **place = grt_nouveau_place_of(c->ctx);
	struct channel *old = rcu_dereference_protected(*place, lockdep_is_held(&channels_lock));

	if (grt_nouveau_is_of_channel(old, fence) || (!old && nchannels == CHANNELS_MAX))
		return c;
	nchannels += !old;
	rcu_assign_pointer(*place, c);
	return old;
}

/* The first fence of a context, or of a channel of another client that has the context now. */
static void grt_nouveau_channel_add(const struct dma_fence *fence)
{
	struct channel *c = grt_nouveau_channel_make(fence);
	unsigned long flags;

	if (!c)
		return;
	raw_spin_lock_irqsave(&channels_lock, flags);
	c = grt_nouveau_channel_put(c, fence);
	raw_spin_unlock_irqrestore(&channels_lock, flags);
	grt_nouveau_channel_drop(c);
}

/* The ring of a fence that was just made. */
static u32 grt_nouveau_ring_of(const struct dma_fence *fence)
{
	const struct channel *c;
	u32 ring = GRT_RING_NONE;

	rcu_read_lock();
	c = grt_nouveau_channel_of(fence->context);
	if (unlikely(!grt_nouveau_is_of_channel(c, fence))) {
		if (c || READ_ONCE(nchannels) < CHANNELS_MAX)
			grt_nouveau_channel_add(fence);
		c = grt_nouveau_channel_of(fence->context);
	}
	if (grt_nouveau_is_of_channel(c, fence) && c->ring >= 0)
		ring = c->ring;
	rcu_read_unlock();
	return ring;
}

static struct grtrace_job grt_nouveau_job_of(const struct dma_fence *fence)
{
	return (struct grtrace_job){ .ctx = fence->context, .seqno = fence->seqno, .ring = GRT_RING_NONE };
}

/* Fences of the scheduler's jobs. */

static bool grt_nouveau_is_our_scheduler(struct drm_gpu_scheduler *sched)
{
	const struct device *dev = grtrace_sched_device(sched);
	const struct device_driver *driver = dev ? READ_ONCE(dev->driver) : NULL;

	return driver && !strcmp(driver->owner ? driver->owner->name : driver->name, DRIVER);
}

/* Looks for @from in the slots of the running thread, and replaces it by @to. */
static bool grt_nouveau_runner_change(long from, long to)
{
	unsigned int i, at = hash_ptr(current, ilog2(RUNNERS));

	for (i = 0; i < RUNNERS; i++)
		if (atomic_long_cmpxchg(&runners[(at + i) % RUNNERS], from, to) == from)
			return true;
	return false;
}

static bool grt_nouveau_runner_is_known(void)
{
	return grt_nouveau_runner_change((long)current, (long)current);
}

/* The scheduler's adapter reports this job, whose fence this thread is about to make. */
static void grt_nouveau_on_run_job(void *data, struct drm_sched_job *sj, struct drm_sched_entity *entity)
{
	if (!grtrace_enabled() || !grt_nouveau_is_our_scheduler(sj->sched) ||
	    !grtrace_adapter_serves(SCHED_MODULE))
		return;
	/* a job that failed to run has left its mark behind */
	if (!grt_nouveau_runner_is_known() && !grt_nouveau_runner_change(0, (long)current))
		atomic64_inc(&adapter.unmatched);
}

/* Return: whether the thread runs jobs of the scheduler: only kernel threads do. */
static bool grt_nouveau_is_of_scheduler(void)
{
	return current->flags & PF_KTHREAD && grt_nouveau_runner_change((long)current, 0);
}

static void grt_nouveau_on_fence_init(void *data, struct dma_fence *fence)
{
	struct grtrace_job job;

	if (!grtrace_enabled() || !grt_nouveau_is_ours(fence) || grt_nouveau_is_of_scheduler())
		return;
	job = grt_nouveau_job_of(fence);
	job.ring = grt_nouveau_ring_of(fence);
	grtrace_submit(&job, 0, 0, GRT_FLAG_COMMIT);
}

/* Return: whether the fence, which may be signalled, is a job. */
static bool grt_nouveau_is_job(const struct dma_fence *fence)
{
	unsigned long ops = grt_nouveau_ops_of(fence), *known = grt_nouveau_place_of_ops(ops),
		      is = known ? READ_ONCE(*known) : 0;
	bool found;

	if (likely(ops && (is & ~OURS) == ops))
		return is & OURS;
	rcu_read_lock();
	found = grt_nouveau_channel_of(fence->context);
	rcu_read_unlock();
	return found;
}

static void grt_nouveau_on_fence_signaled(void *data, struct dma_fence *fence)
{
	struct grtrace_job job;

	if (!grtrace_enabled() || !grt_nouveau_is_job(fence))
		return;
	job = grt_nouveau_job_of(fence);
	grtrace_signaled(&job, fence->error);
}

static void grt_nouveau_on_fence_wait_start(void *data, struct dma_fence *fence)
{
	struct grtrace_job job;

	if (!grtrace_enabled() || !grt_nouveau_is_job(fence))
		return;
	job = grt_nouveau_job_of(fence);
	grtrace_sync_wait_enter(&job);
}

static void grt_nouveau_on_fence_wait_end(void *data, struct dma_fence *fence)
{
	struct grtrace_job job;

	if (!grtrace_enabled() || !grt_nouveau_is_job(fence))
		return;
	job = grt_nouveau_job_of(fence);
	grtrace_sync_wait_exit(&job);
}

static struct grtrace_probe probes[] = {
	{"dma_fence_init", grt_nouveau_on_fence_init, GRTRACE_VMLINUX},
	{"dma_fence_signaled", grt_nouveau_on_fence_signaled, GRTRACE_VMLINUX},
	{"dma_fence_wait_start", grt_nouveau_on_fence_wait_start, GRTRACE_VMLINUX},
	{"dma_fence_wait_end", grt_nouveau_on_fence_wait_end, GRTRACE_VMLINUX},
	{"drm_run_job", grt_nouveau_on_run_job, SCHED_MODULE, ROLE_RUN, .optional = true},
	{"drm_sched_job_run", grt_nouveau_on_run_job, SCHED_MODULE, ROLE_RUN, .optional = true},
};

static void grt_nouveau_driver_gone(struct grtrace_adapter *a)
{
	int i;

	for (i = 0; i < CHANNELS; i++)
		grt_nouveau_channel_drop(rcu_replace_pointer(channels[i], NULL, true)); /* no handler runs */
	nchannels = 0;
	memset(known_ops, 0, sizeof(known_ops));
	memset(runners, 0, sizeof(runners));
}

static struct grtrace_adapter adapter =
	GRTRACE_ADAPTER(DRIVER, probes,
			/*
			 * twice as many, because a released channel is free only after all readers
			 * have left it
			 */
			.pool = {.count = 2 * CHANNELS_MAX, .size = sizeof(struct channel)},
			.leaves_scheduler = true, .gone = grt_nouveau_driver_gone);

module_grtrace_adapter(adapter);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("GPU tracing: nouveau");
MODULE_LICENSE("GPL");
MODULE_VERSION(GRT_VERSION);
