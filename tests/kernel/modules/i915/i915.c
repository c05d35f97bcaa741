// SPDX-License-Identifier: GPL-2.0
/*
 * Stands for i915.ko: requests that are real dma_fences with known numbers, and
 * the driver's tracepoints fired when told so. Its structs begin as the real
 * ones do and go on differently; its parameter `offsets` says where what lies, in
 * lines that grtrace's file `offsets` takes.
 */
#include <linux/dma-fence.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include <drm/drm_device.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_mm.h>

#define REQUESTS 4096
#define OBJECTS	 8
#define CLASSES	 5
#define DEVICE	 3

struct drm_i915_private {
	struct drm_device drm;
};

struct intel_engine_cs {
	long filler[5];
	char name[8];
	u16 uabi_class;
	u16 uabi_instance;
};

/*
 * Where a wrong offset may lead: nothing, a page that is never there, another process's
 * memory, addresses that are none with four levels of page tables and with five, the end.
 */
#define ASTRAY { 0, 8, 0x400000, 0x0000800000000000, 0xfffe68878b4a0028, 0xff00000000000000, ~0UL }
#define ASTRAYS 7

struct i915_request {
	struct dma_fence fence;
	long filler[3];
	const u32 *hwsp_seqno;
	struct intel_engine_cs *engine;
	struct drm_i915_private *i915;
	unsigned long astray[ASTRAYS];
	u32 reached;
};

struct drm_i915_gem_object {
	struct drm_gem_object base;
};

struct i915_vma {
	struct drm_mm_node node;
	long filler;
	struct drm_i915_gem_object *obj;
	void *vm;
	unsigned long astray[ASTRAYS];
};

#define CREATE_TRACE_POINTS
#include "i915_trace.h"

#include "play.h"

static const char *const class_names[CLASSES] = { "rcs", "bcs", "vcs", "vecs", "ccs" };

static struct drm_minor minor = { .index = DEVICE };
static struct drm_i915_private device;
static struct intel_engine_cs engines[CLASSES][2];
static struct i915_request *requests[REQUESTS];
static struct drm_i915_gem_object objects[OBJECTS];
static struct i915_vma vmas[OBJECTS];
static DEFINE_SPINLOCK(fence_lock);
static DEFINE_SPINLOCK(requests_lock);

static const char *driver_name(struct dma_fence *fence)
{
	return "0000:00:02.0";
}

static const char *timeline_name(struct dma_fence *fence)
{
	return "play";
}

static void release(struct dma_fence *fence)
{
	dma_fence_free(fence);
}

static const struct dma_fence_ops request_ops = {
	.get_driver_name = driver_name,
	.get_timeline_name = timeline_name,
	.release = release,
};

static struct i915_request **find(u64 ctx, u64 seqno)
{
	int i;

	for (i = 0; i < REQUESTS; i++)
		if (requests[i] && requests[i]->fence.context == ctx && requests[i]->fence.seqno == seqno)
			return &requests[i];
	return NULL;
}

static struct i915_request *request(const u64 *arg)
{
	struct i915_request **rq;
	unsigned long flags;

	spin_lock_irqsave(&requests_lock, flags);
	rq = find(arg[0], arg[1]);
	spin_unlock_irqrestore(&requests_lock, flags);
	return rq ? *rq : NULL;
}

/* CTX SEQNO CLASS INSTANCE */
static int do_make(const u64 *arg)
{
	static const unsigned long astray[] = ASTRAY;
	struct i915_request *rq = kzalloc(sizeof(*rq), GFP_KERNEL);
	int i;

	if (!rq || arg[2] >= CLASSES || arg[3] >= 2) {
		kfree(rq);
		return -EINVAL;
	}
	rq->hwsp_seqno = &rq->reached;
	rq->reached = (u32)arg[1] - 1;
	rq->engine = &engines[arg[2]][arg[3]];
	rq->i915 = &device;
	memcpy(rq->astray, astray, sizeof(astray));
	dma_fence_init(&rq->fence, &request_ops, &fence_lock, arg[0], arg[1]);
	spin_lock_irq(&requests_lock);
	for (i = 0; i < REQUESTS && requests[i]; i++)
		;
	if (i < REQUESTS)
		requests[i] = rq;
	spin_unlock_irq(&requests_lock);
	if (i < REQUESTS)
		return 0;
	dma_fence_put(&rq->fence);
	return -ENOSPC;
}

/* CTX SEQNO: the last reference goes */
static int do_free(const u64 *arg)
{
	struct i915_request **place, *rq = NULL;

	spin_lock_irq(&requests_lock);
	place = find(arg[0], arg[1]);
	if (place) {
		rq = *place;
		*place = NULL;
	}
	spin_unlock_irq(&requests_lock);
	if (!rq)
		return -ENOENT;
	dma_fence_put(&rq->fence);
	return 0;
}

/* CTX SEQNO: the GPU has come to this request */
static int do_reach(const u64 *arg)
{
	struct i915_request *rq = request(arg);

	if (!rq)
		return -ENOENT;
	WRITE_ONCE(rq->reached, (u32)rq->fence.seqno);
	return 0;
}

/* CTX SEQNO ERRNO */
static int do_fail(const u64 *arg)
{
	struct i915_request *rq = request(arg);

	if (!rq)
		return -ENOENT;
	dma_fence_set_error(&rq->fence, -(int)arg[2]);
	return 0;
}

static int do_signal(const u64 *arg)
{
	struct i915_request *rq = request(arg);

	if (!rq)
		return -ENOENT;
	dma_fence_signal(&rq->fence);
	return 0;
}

/* Fires a tracepoint of a request; further arguments come from the line. */
#define REQUEST_VERB(name, call)                             \
	static int do_##name(const u64 *arg)                 \
	{                                                    \
		struct i915_request *rq = request(arg);      \
							     \
		if (!rq)                                     \
			return -ENOENT;                      \
		call;                                        \
		return 0;                                    \
	}

REQUEST_VERB(queue, trace_i915_request_queue(rq, 0))
REQUEST_VERB(add, trace_i915_request_add(rq))
REQUEST_VERB(retire, trace_i915_request_retire(rq))
REQUEST_VERB(wait_begin, trace_i915_request_wait_begin(rq, 0))
REQUEST_VERB(wait_end, trace_i915_request_wait_end(rq))
#ifdef LOW_LEVEL
REQUEST_VERB(in, trace_i915_request_in(rq, 0))
REQUEST_VERB(out, trace_i915_request_out(rq))
#endif

/* OBJECT SIZE */
static int do_create(const u64 *arg)
{
	struct drm_i915_gem_object *obj;

	if (arg[0] >= OBJECTS)
		return -EINVAL;
	obj = &objects[arg[0]];
	obj->base.dev = &device.drm;
	obj->base.size = arg[1];
	trace_i915_gem_object_create(obj);
	return 0;
}

static int do_destroy(const u64 *arg)
{
	if (arg[0] >= OBJECTS || !objects[arg[0]].base.dev)
		return -EINVAL;
	trace_i915_gem_object_destroy(&objects[arg[0]]);
	return 0;
}

/* OBJECT PAGE GTT WRITE */
static int do_fault(const u64 *arg)
{
	if (arg[0] >= OBJECTS || !objects[arg[0]].base.dev)
		return -EINVAL;
	trace_i915_gem_object_fault(&objects[arg[0]], arg[1], arg[2], arg[3]);
	return 0;
}

/* OBJECT OFFSET SIZE FLAGS */
static int do_bind(const u64 *arg)
{
	static const unsigned long astray[] = ASTRAY;
	struct i915_vma *vma;

	if (arg[0] >= OBJECTS || !objects[arg[0]].base.dev)
		return -EINVAL;
	vma = &vmas[arg[0]];
	vma->node.start = arg[1];
	vma->node.size = arg[2];
	vma->obj = &objects[arg[0]];
	vma->vm = &device;
	memcpy(vma->astray, astray, sizeof(astray));
	trace_i915_vma_bind(vma, arg[3]);
	return 0;
}

static int do_unbind(const u64 *arg)
{
	if (arg[0] >= OBJECTS || !vmas[arg[0]].obj)
		return -EINVAL;
	trace_i915_vma_unbind(&vmas[arg[0]]);
	return 0;
}

/* TARGET FLAGS */
static int do_shrink(const u64 *arg)
{
	trace_i915_gem_shrink(&device, arg[0], arg[1]);
	return 0;
}

static const struct play_verb play_verbs[] = {
	{ "make", 4, do_make },
	{ "free", 2, do_free },
	{ "reach", 2, do_reach },
	{ "fail", 3, do_fail },
	{ "signal", 2, do_signal },
	{ "queue", 2, do_queue },
	{ "add", 2, do_add },
	{ "retire", 2, do_retire },
	{ "wait_begin", 2, do_wait_begin },
	{ "wait_end", 2, do_wait_end },
#ifdef LOW_LEVEL
	{ "in", 2, do_in },
	{ "out", 2, do_out },
#endif
	{ "create", 2, do_create },
	{ "destroy", 1, do_destroy },
	{ "fault", 4, do_fault },
	{ "bind", 4, do_bind },
	{ "unbind", 1, do_unbind },
	{ "shrink", 2, do_shrink },
};

static const unsigned int play_nverbs = ARRAY_SIZE(play_verbs);

#define PUT_PLACE(type, member)                                                             \
	(at += scnprintf(buffer + at, PAGE_SIZE - at, "i915 %s.%s %zu %zu\n", #type, #member, \
			offsetof(struct type, member), sizeof_field(struct type, member)))

static int offsets_get(char *buffer, const struct kernel_param *param)
{
	int at = 0;

	PUT_PLACE(i915_request, i915);
	PUT_PLACE(i915_request, engine);
	PUT_PLACE(i915_request, hwsp_seqno);
	PUT_PLACE(intel_engine_cs, name);
	PUT_PLACE(intel_engine_cs, uabi_class);
	PUT_PLACE(intel_engine_cs, uabi_instance);
	PUT_PLACE(i915_vma, obj);
	PUT_PLACE(i915_vma, vm);
	return at;
}

static int astray_get(char *buffer, const struct kernel_param *param)
{
	return scnprintf(buffer, PAGE_SIZE, "%zu %zu %d\n", offsetof(struct i915_request, astray),
			 offsetof(struct i915_vma, astray), ASTRAYS);
}

static const struct kernel_param_ops astray_ops = { .get = astray_get };

module_param_cb(astray, &astray_ops, NULL, 0444);
MODULE_PARM_DESC(astray, "where pointers lie, in a request and a binding, that lead nowhere, and how many");

static const struct kernel_param_ops offsets_ops = { .get = offsets_get };

module_param_cb(offsets, &offsets_ops, NULL, 0444);
MODULE_PARM_DESC(offsets, "where the private members lie");

static int __init stand_in_init(void)
{
	int class, i;

	device.drm.primary = &minor;
	for (class = 0; class < CLASSES; class++) {
		for (i = 0; i < 2; i++) {
			struct intel_engine_cs *e = &engines[class][i];

			snprintf(e->name, sizeof(e->name), "%s%d", class_names[class], i);
			e->uabi_class = class;
			e->uabi_instance = i;
		}
	}
	play_begin();
	return 0;
}

static void __exit stand_in_exit(void)
{
	int i;

	play_end();
	for (i = 0; i < REQUESTS; i++)
		if (requests[i])
			dma_fence_put(&requests[i]->fence);
	rcu_barrier(); /* the fences are freed by RCU */
}

module_init(stand_in_init);
module_exit(stand_in_exit);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("Test of grtrace: stands for i915");
MODULE_LICENSE("GPL");
