// SPDX-License-Identifier: GPL-2.0
/*
 * Fences with known numbers under the name of any driver: real ones, so that the
 * real dma_fence tracepoints fire. Two kinds of ops stand for nouveau, whose
 * fences have two, and one for a driver that is of no interest.
 */
#include <linux/dma-fence.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "play.h"

#define FENCES 4096

enum kind { KEPT, LET_GO, FOREIGN, KINDS };

struct fence {
	struct dma_fence base;
	char timeline[32];
};

static struct fence *fences[FENCES];
static DEFINE_SPINLOCK(fence_lock);
static DEFINE_SPINLOCK(fences_lock);

static const char *nouveau_name(struct dma_fence *fence)
{
	return "nouveau";
}

static const char *foreign_name(struct dma_fence *fence)
{
	return "foreign";
}

static const char *timeline_name(struct dma_fence *fence)
{
	return container_of(fence, struct fence, base)->timeline;
}

static void release(struct dma_fence *fence)
{
	dma_fence_free(fence);
}

/* Without release and wait, a kernel of today takes the ops away when the fence is signalled. */
static const struct dma_fence_ops ops[KINDS] = {
	[KEPT] = { .get_driver_name = nouveau_name, .get_timeline_name = timeline_name, .release = release },
	[LET_GO] = { .get_driver_name = nouveau_name, .get_timeline_name = timeline_name },
	[FOREIGN] = { .get_driver_name = foreign_name, .get_timeline_name = timeline_name },
};

static struct fence **find(u64 ctx, u64 seqno)
{
	int i;

	for (i = 0; i < FENCES; i++)
		if (fences[i] && fences[i]->base.context == ctx && fences[i]->base.seqno == seqno)
			return &fences[i];
	return NULL;
}

static struct fence *fence_of(const u64 *arg)
{
	struct fence **f;
	unsigned long flags;

	spin_lock_irqsave(&fences_lock, flags);
	f = find(arg[0], arg[1]);
	spin_unlock_irqrestore(&fences_lock, flags);
	return f ? *f : NULL;
}

static int fence_make(const u64 *arg, const char *of, u64 number)
{
	struct fence *f = kzalloc(sizeof(*f), GFP_KERNEL);
	int i;

	if (!f || arg[2] >= KINDS) {
		kfree(f);
		return -EINVAL;
	}
	snprintf(f->timeline, sizeof(f->timeline), "%s %llu", of, number);
	dma_fence_init(&f->base, &ops[arg[2]], &fence_lock, arg[0], arg[1]);
	spin_lock_irq(&fences_lock);
	for (i = 0; i < FENCES && fences[i]; i++)
		;
	if (i < FENCES)
		fences[i] = f;
	spin_unlock_irq(&fences_lock);
	if (i < FENCES)
		return 0;
	dma_fence_put(&f->base);
	return -ENOSPC;
}

/* CTX SEQNO KIND */
static int do_init(const u64 *arg)
{
	return fence_make(arg, "channel", arg[0]);
}

/* CTX SEQNO KIND CLIENT: whose the channel is now */
static int do_client(const u64 *arg)
{
	return fence_make(arg, "client", arg[3]);
}

/* CTX SEQNO */
static int do_free(const u64 *arg)
{
	struct fence **place, *f = NULL;

	spin_lock_irq(&fences_lock);
	place = find(arg[0], arg[1]);
	if (place) {
		f = *place;
		*place = NULL;
	}
	spin_unlock_irq(&fences_lock);
	if (!f)
		return -ENOENT;
	dma_fence_put(&f->base);
	return 0;
}

static int do_signal(const u64 *arg)
{
	struct fence *f = fence_of(arg);

	if (!f)
		return -ENOENT;
	dma_fence_signal(&f->base);
	return 0;
}

/* CTX SEQNO ERRNO */
static int do_fail(const u64 *arg)
{
	struct fence *f = fence_of(arg);

	if (!f)
		return -ENOENT;
	dma_fence_set_error(&f->base, -(int)arg[2]);
	return 0;
}

/* CTX SEQNO MS: waits until it is signalled, or that long */
static int do_wait(const u64 *arg)
{
	struct fence *f = fence_of(arg);

	if (!f)
		return -ENOENT;
	dma_fence_wait_timeout(&f->base, false, msecs_to_jiffies(arg[2]));
	return 0;
}

static const struct play_verb play_verbs[] = {
	{ "init", 3, do_init },	    { "free", 2, do_free }, { "signal", 2, do_signal },
	{ "fail", 3, do_fail },	    { "wait", 3, do_wait }, { "client", 4, do_client },
};

static const unsigned int play_nverbs = ARRAY_SIZE(play_verbs);

static int __init fences_init(void)
{
	play_begin();
	return 0;
}

static void __exit fences_exit(void)
{
	int i;

	play_end();
	for (i = 0; i < FENCES; i++)
		if (fences[i])
			dma_fence_put(&fences[i]->base);
	rcu_barrier(); /* the fences are freed by RCU */
}

module_init(fences_init);
module_exit(fences_exit);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("Test of grtrace: fences under the name of any driver");
MODULE_LICENSE("GPL");
