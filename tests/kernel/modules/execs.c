// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs under the real DRM scheduler of a device whose driver is called nouveau,
 * as DRM_NOUVEAU_EXEC has them: the scheduler's worker makes the hardware's fence.
 */
#include <linux/device.h>
#include <linux/dma-fence.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "compat/drm_sched.h"
#include "play.h"

#define FENCES 64

/* Of the entity, so that a test knows the jobs' finished fences: the next context, from 1 on. */
#define CONTEXT 9000

struct hw_fence {
	struct dma_fence base;
	u64 ctx;
	u64 seqno;
};

struct exec {
	struct drm_sched_job base;
	struct hw_fence *hw;
};

static struct device_driver driver = { .name = "nouveau" };
static struct device device = { .init_name = "execs", .driver = &driver };
static struct drm_gpu_scheduler scheduler;
static struct drm_sched_entity entity;
static struct hw_fence *running[FENCES];
static DEFINE_SPINLOCK(fence_lock);
static DEFINE_SPINLOCK(running_lock);

static const char *driver_name(struct dma_fence *fence)
{
	return "nouveau";
}

static const char *timeline_name(struct dma_fence *fence)
{
	return "vkcube[300]";
}

static void release(struct dma_fence *fence)
{
	dma_fence_free(fence);
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = driver_name, .get_timeline_name = timeline_name, .release = release,
};

static struct exec *to_exec(struct drm_sched_job *job)
{
	return container_of(job, struct exec, base);
}

static struct dma_fence *run_job(struct drm_sched_job *job)
{
	struct hw_fence *f = to_exec(job)->hw;
	int i;

	to_exec(job)->hw = NULL;
	dma_fence_init(&f->base, &fence_ops, &fence_lock, f->ctx, f->seqno);
	dma_fence_get(&f->base);
	spin_lock(&running_lock);
	for (i = 0; i < FENCES && running[i]; i++)
		;
	if (i < FENCES)
		running[i] = f;
	spin_unlock(&running_lock);
	return &f->base;
}

static enum drm_gpu_sched_stat timedout_job(struct drm_sched_job *job)
{
	return GRTRACE_SCHED_HANDLED;
}

static void free_job(struct drm_sched_job *job)
{
	drm_sched_job_cleanup(job);
	kfree(to_exec(job)->hw);
	kfree(to_exec(job));
}

static const struct drm_sched_backend_ops sched_ops = {
	.run_job = run_job, .timedout_job = timedout_job, .free_job = free_job,
};

/* CTX SEQNO: those of the hardware's fence */
static int do_exec(const u64 *arg)
{
	static struct drm_file file;
	struct exec *e = kzalloc(sizeof(*e), GFP_KERNEL);
	int err = -ENOMEM;

	if (e)
		e->hw = kzalloc(sizeof(*e->hw), GFP_KERNEL);
	if (e && e->hw)
		err = grtrace_sched_job_init(&e->base, &entity, NULL, &file);
	if (err) {
		kfree(e ? e->hw : NULL);
		kfree(e);
		return err;
	}
	e->hw->ctx = arg[0];
	e->hw->seqno = arg[1];
	drm_sched_job_arm(&e->base);
	drm_sched_entity_push_job(&e->base);
	return 0;
}

static struct hw_fence *take(u64 ctx, u64 seqno)
{
	struct hw_fence *f = NULL;
	unsigned long flags;
	int i;

	spin_lock_irqsave(&running_lock, flags);
	for (i = 0; i < FENCES && !f; i++) {
		if (!running[i] || running[i]->ctx != ctx || running[i]->seqno != seqno)
			continue;
		f = running[i];
		running[i] = NULL;
	}
	spin_unlock_irqrestore(&running_lock, flags);
	return f;
}

/* CTX SEQNO: -ENOENT until the scheduler has run it */
static int do_end(const u64 *arg)
{
	struct hw_fence *f = take(arg[0], arg[1]);

	if (!f)
		return -ENOENT;
	dma_fence_signal(&f->base);
	dma_fence_put(&f->base);
	return 0;
}

static const struct play_verb play_verbs[] = {
	{ "exec", 2, do_exec },
	{ "end", 2, do_end },
};

static const unsigned int play_nverbs = ARRAY_SIZE(play_verbs);

static int __init execs_init(void)
{
	struct drm_gpu_scheduler *list[] = { &scheduler };
	int err = grtrace_sched_init(&scheduler, &sched_ops, 4, MAX_SCHEDULE_TIMEOUT, "exec", &device);

	if (err)
		return err;
	err = drm_sched_entity_init(&entity, DRM_SCHED_PRIORITY_NORMAL, list, 1, NULL);
	if (err) {
		drm_sched_fini(&scheduler);
		return err;
	}
	entity.fence_context = CONTEXT;
	play_begin();
	return 0;
}

static void __exit execs_exit(void)
{
	int i;

	play_end();
	for (i = 0; i < FENCES; i++) {
		if (!running[i])
			continue;
		dma_fence_signal(&running[i]->base);
		dma_fence_put(&running[i]->base);
	}
	drm_sched_entity_destroy(&entity);
	drm_sched_fini(&scheduler);
	rcu_barrier(); /* the fences are freed by RCU */
}

module_init(execs_init);
module_exit(execs_exit);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("Test of grtrace: jobs of nouveau under the DRM scheduler");
MODULE_LICENSE("GPL");
