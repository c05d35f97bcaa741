// SPDX-License-Identifier: GPL-2.0
/*
 * Stands for amdgpu.ko: jobs whose finished fences are real and have known
 * numbers, and the driver's tracepoints and, where the stand-in for gpu_sched.ko
 * is loaded, the scheduler's, fired when told so. struct amdgpu_job begins as the
 * real one does; the parameter `offsets` says where what else lies, in lines that
 * grtrace's file `offsets` takes.
 */
#include <linux/dma-fence.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include <drm/drm_device.h>
#include <drm/drm_file.h>
#include <drm/gpu_scheduler.h>

#include "compat/switches.h"
#include "gpu_sched.h"

#define JOBS	 4096
#define FENCES	 16
#define OBJECTS	 8
#define RINGS	 4
#define DEVICE	 5

/* Of a driver that has no adapter. */
#define FOREIGN_RING 3

struct amdgpu_job {
	struct drm_sched_job base;
	long filler[3];
	u32 num_ibs;
};

struct amdgpu_iv_entry {
	long filler;
	u32 vmid;
	u32 pasid;
	u32 client_id;
	u32 src_id;
	u32 ring_id;
	u32 src_data[4];
};

struct ttm_resource {
	u64 filler;
	u32 mem_type;
};

struct amdgpu_bo {
	long filler;
	u32 allowed_domains;
	u32 preferred_domains;
	struct {
		struct {
			long filler;
			struct drm_device *dev;
			size_t size;
		} base;
		struct ttm_resource *resource;
	} tbo;
	u64 flags;
};

struct amdgpu_bo_va {
	struct {
		struct amdgpu_bo *bo;
		void *vm;
	} base;
};

struct amdgpu_bo_va_mapping {
	u64 last;
	u64 start;
	u32 flags;
};

#define CREATE_TRACE_POINTS
#include "amdgpu_trace.h"

#include "play.h"

static struct platform_device *device;
static struct drm_minor minor = { .index = DEVICE };
static struct drm_device drm = { .primary = &minor };

static const char *const ring_names[] = { "gfx_0.0.0", "comp_1.0.0", "sdma0", "v3d_bin", "vcn_dec_0" };
static struct drm_gpu_scheduler rings[RINGS];
static struct drm_sched_entity entities[RINGS];
static struct amdgpu_job *jobs[JOBS];
static DEFINE_SPINLOCK(jobs_lock);

static struct dma_fence *fences[FENCES];
static DEFINE_SPINLOCK(fence_lock);

static struct ttm_resource resources[OBJECTS];
static struct amdgpu_bo objects[OBJECTS];
static struct amdgpu_bo_va vas[OBJECTS];
static struct amdgpu_bo_va_mapping mappings[OBJECTS];

static const char *driver_name(struct dma_fence *fence)
{
	return "drm_sched";
}

static const char *timeline_name(struct dma_fence *fence)
{
	return "play";
}

static void release_finished(struct dma_fence *fence)
{
	struct drm_sched_fence *f = container_of(fence, struct drm_sched_fence, finished);

	if (f->parent)
		dma_fence_put(f->parent);
	kfree_rcu(f, finished.rcu);
}

static const struct dma_fence_ops finished_ops = {
	.get_driver_name = driver_name,
	.get_timeline_name = timeline_name,
	.release = release_finished,
};

static const struct dma_fence_ops other_ops = {
	.get_driver_name = driver_name,
	.get_timeline_name = timeline_name,
};

static struct dma_fence *make_fence(u64 ctx, u64 seqno)
{
	struct dma_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL);

	if (fence)
		dma_fence_init(fence, &other_ops, &fence_lock, ctx, seqno);
	return fence;
}

static struct amdgpu_job **find(u64 ctx, u64 seqno)
{
	int i;

	for (i = 0; i < JOBS; i++)
		if (jobs[i] && jobs[i]->base.s_fence->finished.context == ctx &&
		    jobs[i]->base.s_fence->finished.seqno == seqno)
			return &jobs[i];
	return NULL;
}

static struct amdgpu_job *job_of(const u64 *arg)
{
	struct amdgpu_job **job;
	unsigned long flags;

	spin_lock_irqsave(&jobs_lock, flags);
	job = find(arg[0], arg[1]);
	spin_unlock_irqrestore(&jobs_lock, flags);
	return job ? *job : NULL;
}

static int put_job(struct amdgpu_job *job)
{
	int i;

	spin_lock_irq(&jobs_lock);
	for (i = 0; i < JOBS && jobs[i]; i++)
		;
	if (i < JOBS)
		jobs[i] = job;
	spin_unlock_irq(&jobs_lock);
	return i < JOBS ? 0 : -ENOSPC;
}

static void free_job(struct amdgpu_job *job)
{
	dma_fence_put(&job->base.s_fence->finished);
	kfree(job);
}

/* CTX SEQNO RING IBS: the hardware has it, too */
static int do_make(const u64 *arg)
{
	struct drm_sched_fence *f = kzalloc(sizeof(*f), GFP_KERNEL);
	struct amdgpu_job *job = kzalloc(sizeof(*job), GFP_KERNEL);
	int err;

	if (!f || !job || arg[2] >= RINGS) {
		kfree(f);
		kfree(job);
		return -EINVAL;
	}
	spin_lock_init(&f->lock);
	f->sched = &rings[arg[2]];
	dma_fence_init(&f->finished, &finished_ops, &f->lock, arg[0], arg[1]);
	f->parent = make_fence(arg[0] + 100000, arg[1]);
	job->base.s_fence = f;
	job->base.sched = f->sched;
	job->base.entity = &entities[arg[2]];
	job->num_ibs = arg[3];
	err = put_job(job);
	if (err)
		free_job(job);
	return err;
}

/* CTX SEQNO */
static int do_free(const u64 *arg)
{
	struct amdgpu_job **place, *job = NULL;

	spin_lock_irq(&jobs_lock);
	place = find(arg[0], arg[1]);
	if (place) {
		job = *place;
		*place = NULL;
	}
	spin_unlock_irq(&jobs_lock);
	if (!job)
		return -ENOENT;
	free_job(job);
	return 0;
}

/* RING NAME: the scheduler is another ring's from now on, at the same address */
static int do_rename(const u64 *arg)
{
	if (arg[0] >= RINGS || arg[1] >= ARRAY_SIZE(ring_names))
		return -EINVAL;
	rings[arg[0]].name = ring_names[arg[1]];
	return 0;
}

/* CTX SEQNO EVENT [FENCE], see enum gpu_sched_event */
static int fire(const u64 *arg, struct dma_fence *fence)
{
	struct amdgpu_job *job = job_of(arg);
	int (*fn)(enum gpu_sched_event event, struct drm_sched_job *job, struct dma_fence *fence);
	int err;

	if (!job)
		return -ENOENT;
	fn = symbol_get(gpu_sched_fire);
	if (!fn)
		return -ENXIO;
	err = fn(arg[2], &job->base, fence);
	symbol_put(gpu_sched_fire);
	return err;
}

static int do_sched(const u64 *arg)
{
	return fire(arg, NULL);
}

/* CTX SEQNO EVENT FENCE: a dependency on a fence of `fence` */
static int do_depend(const u64 *arg)
{
	if (arg[3] >= FENCES || !fences[arg[3]])
		return -EINVAL;
	return fire(arg, fences[arg[3]]);
}

/* CTX SEQNO EVENT CTX SEQNO: a dependency on a job */
static int do_follow(const u64 *arg)
{
	struct amdgpu_job *on = job_of(arg + 3);

	return on ? fire(arg, &on->base.s_fence->finished) : -ENOENT;
}

/* FENCE CTX SEQNO: one that is no job */
static int do_fence(const u64 *arg)
{
	if (arg[0] >= FENCES)
		return -EINVAL;
	if (fences[arg[0]])
		dma_fence_put(fences[arg[0]]);
	fences[arg[0]] = make_fence(arg[1], arg[2]);
	return fences[arg[0]] ? 0 : -ENOMEM;
}

/* FENCE */
static int do_signal_fence(const u64 *arg)
{
	if (arg[0] >= FENCES || !fences[arg[0]])
		return -EINVAL;
	dma_fence_signal(fences[arg[0]]);
	return 0;
}

/* CTX SEQNO ERRNO: of the finished fence */
static int do_fail(const u64 *arg)
{
	struct amdgpu_job *job = job_of(arg);

	if (!job)
		return -ENOENT;
	dma_fence_set_error(&job->base.s_fence->finished, -(int)arg[2]);
	return 0;
}

/* CTX SEQNO ERRNO: of the hardware's fence only, as before Linux 6.5 */
static int do_fail_hw(const u64 *arg)
{
	struct amdgpu_job *job = job_of(arg);

	if (!job || !job->base.s_fence->parent)
		return -ENOENT;
	dma_fence_set_error(job->base.s_fence->parent, -(int)arg[2]);
	return 0;
}

/* CTX SEQNO: the driver does not give it to the hardware */
static int do_refuse(const u64 *arg)
{
	struct amdgpu_job *job = job_of(arg);

	if (!job || !job->base.s_fence->parent)
		return -ENOENT;
	dma_fence_put(job->base.s_fence->parent);
	job->base.s_fence->parent = NULL;
	return 0;
}

/* CTX SEQNO MS: waits until it is signalled, or that long */
static int do_wait(const u64 *arg)
{
	struct amdgpu_job *job = job_of(arg);

	if (!job)
		return -ENOENT;
	dma_fence_wait_timeout(&job->base.s_fence->finished, false, msecs_to_jiffies(arg[2]));
	return 0;
}

/* Does something with a job of CTX SEQNO. */
#define JOB_VERB(name, call)                                 \
	static int do_##name(const u64 *arg)                 \
	{                                                    \
		struct amdgpu_job *job = job_of(arg);        \
							     \
		if (!job)                                    \
			return -ENOENT;                      \
		call;                                        \
		return 0;                                    \
	}

JOB_VERB(signal, dma_fence_signal(&job->base.s_fence->finished))
JOB_VERB(cs_ioctl, trace_amdgpu_cs_ioctl(job))
JOB_VERB(sched_run_job, trace_amdgpu_sched_run_job(job))

/* CLIENT SRC RING VMID PASID DATA */
static int do_iv(const u64 *arg)
{
	struct amdgpu_iv_entry iv = {
		.client_id = arg[0], .src_id = arg[1], .ring_id = arg[2], .vmid = arg[3], .pasid = arg[4],
		.src_data = { arg[5], 0xdead },
	};

	trace_amdgpu_iv(0, &iv);
	return 0;
}

/* OBJECT SIZE PREFERRED ALLOWED FLAGS TYPE */
static int do_create(const u64 *arg)
{
	struct amdgpu_bo *bo;

	if (arg[0] >= OBJECTS)
		return -EINVAL;
	bo = &objects[arg[0]];
	bo->tbo.base.dev = &drm;
	bo->tbo.base.size = arg[1];
	bo->preferred_domains = arg[2];
	bo->allowed_domains = arg[3];
	bo->flags = arg[4];
	bo->tbo.resource = &resources[arg[0]];
	bo->tbo.resource->mem_type = arg[5];
	trace_amdgpu_bo_create(bo);
	return 0;
}

/* OBJECT TO FROM */
static int do_move(const u64 *arg)
{
	if (arg[0] >= OBJECTS)
		return -EINVAL;
	trace_amdgpu_bo_move(&objects[arg[0]], arg[1], arg[2]);
	return 0;
}

/* OBJECT START LAST FLAGS */
static int do_map(const u64 *arg)
{
	if (arg[0] >= OBJECTS)
		return -EINVAL;
	vas[arg[0]].base.bo = &objects[arg[0]];
	vas[arg[0]].base.vm = &drm;
	mappings[arg[0]] = (struct amdgpu_bo_va_mapping){ .start = arg[1], .last = arg[2], .flags = arg[3] };
	trace_amdgpu_vm_bo_map(&vas[arg[0]], &mappings[arg[0]]);
	return 0;
}

/* OBJECT */
static int do_unmap(const u64 *arg)
{
	if (arg[0] >= OBJECTS)
		return -EINVAL;
	trace_amdgpu_vm_bo_unmap(&vas[arg[0]], &mappings[arg[0]]);
	return 0;
}

static const struct play_verb play_verbs[] = {
	{ "make", 4, do_make },
	{ "free", 2, do_free },
	{ "rename", 2, do_rename },
	{ "sched", 3, do_sched },
	{ "depend", 4, do_depend },
	{ "follow", 5, do_follow },
	{ "fence", 3, do_fence },
	{ "signal_fence", 1, do_signal_fence },
	{ "fail", 3, do_fail },
	{ "fail_hw", 3, do_fail_hw },
	{ "refuse", 2, do_refuse },
	{ "wait", 3, do_wait },
	{ "signal", 2, do_signal },
	{ "cs_ioctl", 2, do_cs_ioctl },
	{ "sched_run_job", 2, do_sched_run_job },
	{ "iv", 6, do_iv },
	{ "create", 6, do_create },
	{ "move", 3, do_move },
	{ "map", 4, do_map },
	{ "unmap", 1, do_unmap },
};

static const unsigned int play_nverbs = ARRAY_SIZE(play_verbs);

#define PUT_PLACE(type, member)                                                                \
	(at += scnprintf(buffer + at, PAGE_SIZE - at, "amdgpu %s.%s %zu %zu\n", #type, #member, \
			offsetof(struct type, member), sizeof_field(struct type, member)))

static int offsets_get(char *buffer, const struct kernel_param *param)
{
	int at = 0;

	PUT_PLACE(amdgpu_job, num_ibs);
	PUT_PLACE(amdgpu_iv_entry, client_id);
	PUT_PLACE(amdgpu_iv_entry, src_id);
	PUT_PLACE(amdgpu_iv_entry, src_data);
	PUT_PLACE(amdgpu_iv_entry, ring_id);
	PUT_PLACE(amdgpu_iv_entry, vmid);
	PUT_PLACE(amdgpu_iv_entry, pasid);
	PUT_PLACE(amdgpu_bo, tbo.base.size);
	PUT_PLACE(amdgpu_bo, tbo.base.dev);
	PUT_PLACE(amdgpu_bo, tbo.resource);
	PUT_PLACE(amdgpu_bo, preferred_domains);
	PUT_PLACE(amdgpu_bo, allowed_domains);
	PUT_PLACE(amdgpu_bo, flags);
	PUT_PLACE(ttm_resource, mem_type);
	PUT_PLACE(drm_device, primary);
	PUT_PLACE(drm_minor, index);
	PUT_PLACE(amdgpu_bo_va, base.vm);
	PUT_PLACE(amdgpu_bo_va, base.bo);
	PUT_PLACE(amdgpu_bo_va_mapping, start);
	PUT_PLACE(amdgpu_bo_va_mapping, last);
	PUT_PLACE(amdgpu_bo_va_mapping, flags);
	return at;
}

static const struct kernel_param_ops offsets_ops = { .get = offsets_get };

module_param_cb(offsets, &offsets_ops, NULL, 0444);
MODULE_PARM_DESC(offsets, "where the private members lie");

static int stand_in_probe(struct platform_device *pdev)
{
	return 0;
}

static struct platform_driver driver = { .driver.name = "amdgpu" };

static void make_ring(int i)
{
	rings[i].name = ring_names[i];
	rings[i].dev = i == FOREIGN_RING ? NULL : &device->dev;
	atomic_set(&entities[i].job_queue.job_count, 10 + i);
#if GRTRACE_HAS_SCHED_CREDITS
	atomic_set(&rings[i].credit_count, 20 + i);
#else
	atomic_set(&rings[i].hw_rq_count, 20 + i);
#endif
}

static int __init stand_in_init(void)
{
	int i;

	device = platform_create_bundle(&driver, stand_in_probe, NULL, 0, NULL, 0);
	if (IS_ERR(device))
		return PTR_ERR(device);
	for (i = 0; i < RINGS; i++)
		make_ring(i);
	play_begin();
	return 0;
}

static void __exit stand_in_exit(void)
{
	int i;

	play_end();
	for (i = 0; i < JOBS; i++)
		if (jobs[i])
			free_job(jobs[i]);
	for (i = 0; i < FENCES; i++)
		if (fences[i])
			dma_fence_put(fences[i]);
	platform_device_unregister(device);
	platform_driver_unregister(&driver);
	rcu_barrier(); /* the fences are freed by RCU */
}

module_init(stand_in_init);
module_exit(stand_in_exit);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("Test of grtrace: stands for amdgpu");
MODULE_LICENSE("GPL");
