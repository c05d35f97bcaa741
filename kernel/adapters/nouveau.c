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
 * is a channel, its timeline the channel's name.
 *
 * Fences of all drivers come here. Whose ops they have is asked once per ops, at
 * _init: from 6.17 on a signalled fence has another name, from 7.x on it may have
 * no ops at all. Then its context tells.
 */
#include <linux/dma-fence.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "../core/grtrace.h"

#define DRIVER "nouveau"

/* Fence ops whose owner is remembered: more than there are drivers. */
#define OPS 64

/* Channels known by name, and places looked at for one; the jobs of any more of them have no ring. */
#define CHANNEL_BITS 8
#define CHANNELS     (1 << CHANNEL_BITS)
#define CHANNELS_MAX (CHANNELS / 2)

/* The fence ops of a driver, with OURS in the bit that their alignment leaves free. */
#define OURS 1UL

static unsigned long known_ops[OPS];

struct channel {
	u64 ctx;
	int ring;
};

/* Never changed once they are in, until the driver goes. */
static struct channel *channels[CHANNELS];
static unsigned int nchannels;
static DEFINE_RAW_SPINLOCK(channels_lock);

static unsigned long ops_of(const struct dma_fence *fence)
{
	return (unsigned long)READ_ONCE(fence->ops);
}

/* Where these ops are, or would be: 0 there; NULL: there is no room. */
static unsigned long *place_of_ops(unsigned long ops)
{
	unsigned int i, at = hash_long(ops, ilog2(OPS));

	for (i = 0; i < OPS; i++) {
		unsigned long *known = &known_ops[(at + i) % OPS], is = READ_ONCE(*known) & ~OURS;

		if (!is || is == ops)
			return known;
	}
	return NULL;
}

static bool ask_whose(const struct dma_fence *fence, unsigned long ops, unsigned long *known)
{
	const struct dma_fence_ops *o = (const void *)ops;
	bool ours = !strcmp(o->get_driver_name((struct dma_fence *)fence), DRIVER);

	if (known)
		cmpxchg(known, 0, ops | (ours ? OURS : 0));
	return ours;
}

/* For a fence that has just been made. */
static bool is_ours(const struct dma_fence *fence)
{
	unsigned long ops = ops_of(fence), *known = place_of_ops(ops), is = known ? READ_ONCE(*known) : 0;

	if (likely((is & ~OURS) == ops))
		return is & OURS;
	return ask_whose(fence, ops, known);
}

/* Where the channel of this context is, or would be: NULL there. */
static struct channel **place_of(u64 ctx)
{
	u32 i = hash_64(ctx, CHANNEL_BITS);

	for (;; i = (i + 1) % CHANNELS) {
		struct channel *c = smp_load_acquire(&channels[i]); /* pairs with channel_add() */

		if (!c || c->ctx == ctx)
			return &channels[i];
	}
}

static enum grt_engine engine_of(const char *timeline)
{
	return strstarts(timeline, "copy engine") ? GRT_ENGINE_COPY : GRT_ENGINE_UNKNOWN;
}

static struct channel *channel_make(const struct dma_fence *fence)
{
	struct channel *c = kmalloc(sizeof(*c), GFP_ATOMIC | __GFP_NOWARN);
	const char *timeline;

	if (!c)
		return NULL;
	timeline = fence->ops->get_timeline_name((struct dma_fence *)fence);
	c->ctx = fence->context;
	c->ring = grtrace_ring_register(timeline, engine_of(timeline), DRIVER, NULL);
	return c;
}

static void channel_drop(struct channel *c)
{
	if (c)
		grtrace_ring_unregister(c->ring);
	kfree(c);
}

/* A new context's first fence. */
static void channel_add(const struct dma_fence *fence)
{
	struct channel *c = READ_ONCE(nchannels) < CHANNELS_MAX ? channel_make(fence) : NULL, **place;
	unsigned long flags;

	raw_spin_lock_irqsave(&channels_lock, flags);
	place = place_of(fence->context);
	if (c && !*place && nchannels < CHANNELS_MAX) {
		nchannels++;
		smp_store_release(place, c); /* pairs with place_of() */
		c = NULL;
	}
	raw_spin_unlock_irqrestore(&channels_lock, flags);
	channel_drop(c);
}

static struct grtrace_job job_of(const struct dma_fence *fence)
{
	return (struct grtrace_job){ .ctx = fence->context, .seqno = fence->seqno, .ring = GRT_RING_NONE };
}

static void on_fence_init(void *data, struct dma_fence *fence)
{
	struct grtrace_job job;
	struct channel *c;

	if (!grtrace_enabled() || !is_ours(fence))
		return;
	c = *place_of(fence->context);
	if (unlikely(!c)) {
		channel_add(fence);
		c = *place_of(fence->context);
	}
	job = job_of(fence);
	if (c && c->ring >= 0)
		job.ring = c->ring;
	grtrace_submit(&job, 0, 0, GRT_FLAG_COMMIT);
}

/* For a fence that may be signalled. */
static bool is_job(const struct dma_fence *fence)
{
	unsigned long ops = ops_of(fence), *known = place_of_ops(ops), is = known ? READ_ONCE(*known) : 0;

	if (likely(ops && (is & ~OURS) == ops))
		return is & OURS;
	return *place_of(fence->context);
}

static void on_fence_signaled(void *data, struct dma_fence *fence)
{
	struct grtrace_job job;

	if (!grtrace_enabled() || !is_job(fence))
		return;
	job = job_of(fence);
	grtrace_signaled(&job, fence->error);
}

static void on_fence_wait_start(void *data, struct dma_fence *fence)
{
	struct grtrace_job job;

	if (!grtrace_enabled() || !is_job(fence))
		return;
	job = job_of(fence);
	grtrace_sync_wait_enter(&job);
}

static void on_fence_wait_end(void *data, struct dma_fence *fence)
{
	struct grtrace_job job;

	if (!grtrace_enabled() || !is_job(fence))
		return;
	job = job_of(fence);
	grtrace_sync_wait_exit(&job);
}

static struct grtrace_probe probes[] = {
	{ "dma_fence_init", on_fence_init, GRTRACE_VMLINUX },
	{ "dma_fence_signaled", on_fence_signaled, GRTRACE_VMLINUX },
	{ "dma_fence_wait_start", on_fence_wait_start, GRTRACE_VMLINUX },
	{ "dma_fence_wait_end", on_fence_wait_end, GRTRACE_VMLINUX },
};

static void driver_gone(struct grtrace_adapter *a)
{
	int i;

	for (i = 0; i < CHANNELS; i++)
		channel_drop(channels[i]);
	memset(channels, 0, sizeof(channels));
	nchannels = 0;
	memset(known_ops, 0, sizeof(known_ops));
}

static struct grtrace_adapter adapter = GRTRACE_ADAPTER(DRIVER, probes,
	.gone = driver_gone);

module_grtrace_adapter(adapter);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("GPU tracing: nouveau");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
