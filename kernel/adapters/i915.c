// SPDX-License-Identifier: GPL-2.0
/*
 * i915: jobs are requests; the driver does not use the DRM scheduler.
 *
 *	i915_request_queue        SUBMIT, by an execbuf ioctl
 *	i915_request_add          COMMIT. A request that nobody queued is the
 *				  driver's own: then it is SUBMIT, too
 *	i915_request_in           START
 *	i915_request_out          END, when it is completed: not by preemption
 *	dma_fence_signaled        COMPLETE
 *	i915_request_retire       COMPLETE, if its fence is not signalled yet:
 *				  retiring signals it
 *	i915_request_wait_begin, _end        SYNC_WAIT_ENTER, _EXIT
 *	i915_gem_object_create, _destroy, _fault    MEM_CREATE, _DESTROY, _FAULT
 *	i915_vma_bind, _unbind               MEM_BIND, MEM_UNBIND
 *	i915_gem_shrink                      MEM_SHRINK
 *
 * request_in and _out are there with CONFIG_DRM_I915_LOW_LEVEL_TRACEPOINTS
 * only. Without them, and where the fence is signalled before _out comes, END
 * comes with COMPLETE and is flagged inferred.
 *
 * The arguments are the same in Linux 5.15 to 7.3 (drivers/gpu/drm/i915,
 * i915_trace.h). Their structs are the driver's own, but each begins with a
 * public one: i915_request with dma_fence, drm_i915_gem_object with
 * drm_gem_object, i915_vma with drm_mm_node and drm_i915_private with
 * drm_device. What is behind that is read where the driver's BTF says it is;
 * without BTF the ring, the engine and the object of a binding are unknown.
 */
#include <linux/dma-fence.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include <drm/drm_device.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_mm.h>

#include "../core/grtrace.h"

#define DRIVER "i915"

/* Most devices, and most engines of a class, that have their own rings. */
#define DEVICES	  4
#define INSTANCES 16

/* MEM_CREATE.placed: it has no place yet */
#define NOWHERE 0xffffffffU

/* The public parts of the driver's structs. */
struct i915_request {
	struct dma_fence fence;
};

struct drm_i915_gem_object {
	struct drm_gem_object base;
};

struct i915_vma {
	struct drm_mm_node node;
};

struct drm_i915_private {
	struct drm_device drm;
};

/* Engines by I915_ENGINE_CLASS_* of uapi drm/i915_drm.h. */
static const enum grt_engine engine_of_class[] = {
	GRT_ENGINE_GRAPHICS, GRT_ENGINE_COPY, GRT_ENGINE_VIDEO_DECODE, GRT_ENGINE_VIDEO_ENHANCE,
	GRT_ENGINE_COMPUTE,
};

/* Ring id + 1; 0: not yet registered. */
static int rings[DEVICES][ARRAY_SIZE(engine_of_class)][INSTANCES];

/* The fence ops of requests, known after the first request; NULL while the driver is not loaded. */
static const struct dma_fence_ops *fence_ops;

enum field {
	REQUEST_I915,
	REQUEST_ENGINE,
	REQUEST_HWSP,	/* address of the seqno that the engine has reached */
	ENGINE_NAME,
	ENGINE_CLASS,
	ENGINE_INSTANCE,
	VMA_OBJ,
	VMA_VM,
};

static struct grtrace_field fields[] = {
	[REQUEST_I915] = { "i915_request", "i915" },
	[REQUEST_ENGINE] = { "i915_request", "engine" },
	[REQUEST_HWSP] = { "i915_request", "hwsp_seqno" },
	[ENGINE_NAME] = { "intel_engine_cs", "name" },
	[ENGINE_CLASS] = { "intel_engine_cs", "uabi_class" },
	[ENGINE_INSTANCE] = { "intel_engine_cs", "uabi_instance" },
	[VMA_OBJ] = { "i915_vma", "obj" },
	[VMA_VM] = { "i915_vma", "vm" },
};

static void *grt_i915_pointer_at(const void *object, enum field field)
{
	u64 p = 0;

	grtrace_field_read(&fields[field], object, &p);
	return (void *)(unsigned long)p;
}

/* @drm: it may be invalid if it was found by an offset */
static u32 grt_i915_device_of(const struct drm_device *drm)
{
	const struct drm_minor *primary;
	int index;

	if (!drm || grtrace_peek(&primary, &drm->primary, sizeof(primary)) || !primary ||
	    grtrace_peek(&index, &primary->index, sizeof(index)))
		return 0;
	return index;
}

/* Two CPUs may queue requests of one engine at the same time. */
static u32 grt_i915_ring_register(int *ring, const void *engine, unsigned int class,
				  const struct drm_device *drm)
{
	char name[16] = "";
	struct device *dev;
	int id, other;

	if (!grtrace_field_copy(&fields[ENGINE_NAME], engine, name, sizeof(name) - 1))
		return GRT_RING_NONE;
	if (!drm || grtrace_peek(&dev, &drm->dev, sizeof(dev)))
		dev = NULL;
	id = grtrace_ring_register(name, engine_of_class[class], DRIVER, dev);
	if (id < 0)
		return GRT_RING_NONE;
	other = cmpxchg(ring, 0, id + 1);
	if (!other)
		return id;
	grtrace_ring_unregister(id);
	return other - 1;
}

/*
 * Identifies the engine by its numbers and not its address, because a virtual engine lives only as
 * long as its context.
 */
static void grt_i915_take_engine(struct grtrace_job *job, const void *engine, const struct drm_device *drm)
{
	u64 class, instance;
	int *ring;

	if (!grtrace_field_read(&fields[ENGINE_CLASS], engine, &class) ||
	    !grtrace_field_read(&fields[ENGINE_INSTANCE], engine, &instance) ||
	    class >= ARRAY_SIZE(engine_of_class) || job->device >= DEVICES)
		return;
	job->engine = engine_of_class[class];
	ring = &rings[job->device][class][min_t(u64, instance, INSTANCES - 1)];
	job->ring =
		READ_ONCE(*ring) ? READ_ONCE(*ring) - 1 : grt_i915_ring_register(ring, engine, class, drm);
}

static struct grtrace_job grt_i915_job_of(const struct dma_fence *fence)
{
	return (struct grtrace_job){ .ctx = fence->context, .seqno = fence->seqno, .ring = GRT_RING_NONE };
}

static void grt_i915_submit(struct i915_request *rq, u16 flags)
{
	const struct drm_device *drm = grt_i915_pointer_at(rq, REQUEST_I915);
	struct grtrace_job job = grt_i915_job_of(&rq->fence);

	WRITE_ONCE(fence_ops, (const struct dma_fence_ops *)rq->fence.ops);
	job.device = grt_i915_device_of(drm);
	grt_i915_take_engine(&job, grt_i915_pointer_at(rq, REQUEST_ENGINE), drm);
	grtrace_submit(&job, 0, 0, flags);
}

static void grt_i915_on_request_queue(void *data, struct i915_request *rq, u32 flags)
{
	if (grtrace_enabled())
		grt_i915_submit(rq, 0);
}

static void grt_i915_on_request_add(void *data, struct i915_request *rq)
{
	struct grtrace_job job;

	if (!grtrace_enabled())
		return;
	job = grt_i915_job_of(&rq->fence);
	if (grtrace_job_mark(job.ctx, job.seqno, 0) < 0)
		grt_i915_submit(rq, GRT_FLAG_COMMIT);
	else
		grtrace_commit(&job, 0, 0);
}

static void grt_i915_on_request_in(void *data, struct i915_request *rq, unsigned int port)
{
	struct grtrace_job job;
	int before;

	if (!grtrace_enabled())
		return;
	job = grt_i915_job_of(&rq->fence);
	before = grtrace_job_mark(job.ctx, job.seqno, GRTRACE_JOB_STARTED);
	if (before < 0 || !(before & GRTRACE_JOB_STARTED))
		grtrace_start(&job);
}

/* The same result as the driver's i915_request_completed(); false if it is unknown. */
static bool grt_i915_completed(const struct i915_request *rq)
{
	const void *hwsp;
	bool known;
	u32 now;

	if (test_bit(DMA_FENCE_FLAG_SIGNALED_BIT, &rq->fence.flags))
		return true;
	rcu_read_lock(); /* the seqno may get another place when the request retires */
	hwsp = grt_i915_pointer_at(rq, REQUEST_HWSP);
	known = hwsp && !grtrace_peek(&now, hwsp, sizeof(now));
	rcu_read_unlock();
	return known && (s32)(now - (u32)rq->fence.seqno) >= 0;
}

static void grt_i915_on_request_out(void *data, struct i915_request *rq)
{
	struct grtrace_job job;
	int before;

	if (!grtrace_enabled() || !grt_i915_completed(rq))
		return;
	job = grt_i915_job_of(&rq->fence);
	before = grtrace_job_mark(job.ctx, job.seqno, GRTRACE_JOB_ENDED);
	if (before < 0 || !(before & GRTRACE_JOB_ENDED))
		grtrace_end(&job, 0, 0);
}

static void grt_i915_on_request_retire(void *data, struct i915_request *rq)
{
	struct grtrace_job job;

	if (!grtrace_enabled())
		return;
	job = grt_i915_job_of(&rq->fence);
	grtrace_signaled(&job, rq->fence.error);
}

static void grt_i915_on_fence_signaled(void *data, struct dma_fence *fence)
{
	const struct dma_fence_ops *ops = READ_ONCE(fence->ops);
	struct grtrace_job job;

	/* 7.2 takes the ops of others from their fences when they are signalled */
	if (!grtrace_enabled() || !ops || ops != READ_ONCE(fence_ops))
		return;
	job = grt_i915_job_of(fence);
	grtrace_signaled(&job, fence->error);
}

static void grt_i915_on_request_wait_begin(void *data, struct i915_request *rq, unsigned int flags)
{
	struct grtrace_job job;

	if (!grtrace_enabled())
		return;
	job = grt_i915_job_of(&rq->fence);
	grtrace_sync_wait_enter(&job);
}

static void grt_i915_on_request_wait_end(void *data, struct i915_request *rq)
{
	struct grtrace_job job;

	if (!grtrace_enabled())
		return;
	job = grt_i915_job_of(&rq->fence);
	grtrace_sync_wait_exit(&job);
}

#define MEM(TYPE, drm)                             \
	.e = {                                     \
		.type = GRT_EV_MEM_##TYPE,         \
		.ring = GRT_RING_NONE,             \
		.device = grt_i915_device_of(drm), \
	}

static void grt_i915_on_object_create(void *data, struct drm_i915_gem_object *obj)
{
	struct grt_ev_mem_create ev;

	if (!grtrace_enabled())
		return;
	ev = (struct grt_ev_mem_create){
		MEM(CREATE, obj->base.dev), .object = grtrace_opaque(obj), .bytes = obj->base.size,
		.placed = NOWHERE,
	};
	grtrace_emit(&ev.e);
}

static void grt_i915_on_object_destroy(void *data, struct drm_i915_gem_object *obj)
{
	struct grt_ev_mem_destroy ev;

	if (!grtrace_enabled())
		return;
	ev = (struct grt_ev_mem_destroy){ MEM(DESTROY, obj->base.dev), .object = grtrace_opaque(obj) };
	grtrace_emit(&ev.e);
}

static void grt_i915_on_object_fault(void *data, struct drm_i915_gem_object *obj, u64 index, bool gtt,
				     bool write)
{
	struct grt_ev_mem_fault ev;

	if (!grtrace_enabled())
		return;
	ev = (struct grt_ev_mem_fault){
		MEM(FAULT, obj->base.dev), .object = grtrace_opaque(obj), .page = index, .gtt = gtt,
		.writing = write,
	};
	grtrace_emit(&ev.e);
}

static const struct drm_device *grt_i915_drm_of(const struct i915_vma *vma)
{
	const struct drm_i915_gem_object *obj = grt_i915_pointer_at(vma, VMA_OBJ);
	const struct drm_device *drm;

	return obj && !grtrace_peek(&drm, &obj->base.dev, sizeof(drm)) ? drm : NULL;
}

static void grt_i915_on_vma_bind(void *data, struct i915_vma *vma, unsigned int flags)
{
	struct grt_ev_mem_bind ev;

	if (!grtrace_enabled())
		return;
	ev = (struct grt_ev_mem_bind){
		MEM(BIND, grt_i915_drm_of(vma)),
		.object = grtrace_opaque(grt_i915_pointer_at(vma, VMA_OBJ)),
		.vm = grtrace_opaque(grt_i915_pointer_at(vma, VMA_VM)),
		.offset = vma->node.start,
		.bytes = vma->node.size,
		.mflags = flags,
	};
	grtrace_emit(&ev.e);
}

static void grt_i915_on_vma_unbind(void *data, struct i915_vma *vma)
{
	struct grt_ev_mem_unbind ev;

	if (!grtrace_enabled())
		return;
	ev = (struct grt_ev_mem_unbind){
		MEM(UNBIND, grt_i915_drm_of(vma)),
		.object = grtrace_opaque(grt_i915_pointer_at(vma, VMA_OBJ)),
		.vm = grtrace_opaque(grt_i915_pointer_at(vma, VMA_VM)),
		.offset = vma->node.start,
		.bytes = vma->node.size,
	};
	grtrace_emit(&ev.e);
}

static void grt_i915_on_shrink(void *data, struct drm_i915_private *i915, unsigned long target,
			       unsigned int flags)
{
	struct grt_ev_mem_shrink ev;

	if (!grtrace_enabled())
		return;
	ev = (struct grt_ev_mem_shrink){ MEM(SHRINK, &i915->drm), .target = target, .mflags = flags };
	grtrace_emit(&ev.e);
}

static struct grtrace_probe probes[] = {
	{"i915_request_queue", grt_i915_on_request_queue},
	{"i915_request_add", grt_i915_on_request_add},
	{"i915_request_in", grt_i915_on_request_in, .optional = true},
	{"i915_request_out", grt_i915_on_request_out, .optional = true},
	{"i915_request_retire", grt_i915_on_request_retire},
	{"i915_request_wait_begin", grt_i915_on_request_wait_begin},
	{"i915_request_wait_end", grt_i915_on_request_wait_end},
	{"i915_gem_object_create", grt_i915_on_object_create},
	{"i915_gem_object_destroy", grt_i915_on_object_destroy},
	{"i915_gem_object_fault", grt_i915_on_object_fault},
	{"i915_vma_bind", grt_i915_on_vma_bind},
	{"i915_vma_unbind", grt_i915_on_vma_unbind},
	{"i915_gem_shrink", grt_i915_on_shrink},
	{"dma_fence_signaled", grt_i915_on_fence_signaled, GRTRACE_VMLINUX},
};

static void grt_i915_driver_gone(struct grtrace_adapter *a)
{
	int *ring = &rings[0][0][0];
	size_t i;

	for (i = 0; i < sizeof(rings) / sizeof(*ring); i++)
		grtrace_ring_unregister(ring[i] - 1);
	memset(rings, 0, sizeof(rings));
	fence_ops = NULL;
}

static struct grtrace_adapter adapter = GRTRACE_ADAPTER(
	DRIVER, probes, .fields = fields, .nfields = ARRAY_SIZE(fields), .gone = grt_i915_driver_gone);

module_grtrace_adapter(adapter);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("GPU tracing: i915");
MODULE_LICENSE("GPL");
MODULE_VERSION(GRT_VERSION);
