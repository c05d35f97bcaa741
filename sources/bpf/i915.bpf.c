// SPDX-License-Identifier: GPL-2.0
/*
 * i915's requests and memory; i915 does not use the DRM scheduler.
 *
 *	i915_request_queue        SUBMIT, by an execbuf ioctl
 *	i915_request_add          COMMIT. A request that nobody queued is the
 *				  driver's own: then it is SUBMIT, too
 *	i915_request_in           START
 *	i915_request_out          END, when it is completed: not by preemption
 *	dma_fence_signaled        COMPLETE (dma_fence.bpf.c)
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
 * A request is known by its fence; its seqno has 32 bits, so a record that has
 * no request has it whole, too. The objects of records are struct
 * drm_i915_gem_object, whose first member is the struct drm_gem_object.
 * Arguments and records are the same in Linux 5.15 to 7.3
 * (drivers/gpu/drm/i915/i915_trace.h).
 */
#include "jobs.h"
#include "memory.h"

/** struct out_record and others - the events' format files */
struct out_record {
	__u64 common;
	__u32 dev;
	__u32 pad;
	__u64 ctx;
	__u16 class;
	__u16 instance;
	__u32 seqno;
	__u32 completed;
};

struct object_record {
	__u64 common;
	struct drm_gem_object *obj;
	__u64 size; /* only in the record of _create */
};

struct fault_record {
	__u64 common;
	struct drm_gem_object *obj;
	__u64 index;
	__u8 gtt;
	__u8 write;
};

struct vma_record {
	__u64 common;
	struct drm_gem_object *obj;
	void *vm;
	__u64 offset;
	__u64 size;
	__u32 flags; /* only in the record of _bind */
};

struct shrink_record {
	__u64 common;
	__u32 dev;
	__u32 pad;
	__u64 target;
	__u32 flags;
};

static __always_inline struct job_key key_of(struct i915_request *rq)
{
	return (struct job_key){
		.ctx = BPF_CORE_READ(rq, fence.context),
		.seqno = BPF_CORE_READ(rq, fence.seqno),
	};
}

static __always_inline __u32 device_of_request(struct i915_request *rq)
{
	return BPF_CORE_READ(rq, i915, drm.primary, index);
}

/*
 * The engine's numbers are used and not its address, because a virtual engine lives no longer than its
 * context.
 */
static __always_inline struct grt_bpf_ring *ring_of(struct i915_request *rq)
{
	struct intel_engine_cs *engine = BPF_CORE_READ(rq, engine);
	struct grt_bpf_ring r = {.device = device_of_request(rq), .driver = "i915"}, *known;
	struct device *dev = BPF_CORE_READ(rq, i915, drm.dev);
	struct grt_bpf_ring_key key = {
		.address = (BPF_CORE_READ(engine, uabi_class) & 0xff) << 16 |
			   BPF_CORE_READ(engine, uabi_instance),
		.device = (__u64)dev,
	};

	known = bpf_map_lookup_elem(&rings, &key);
	if (known)
		return known;
	BPF_CORE_READ_STR_INTO(&r.name, engine, name);
	ring_read_bus(&r, dev);
	return ring_add(&key, &r);
}

static __always_inline int submit(void *ctx, struct i915_request *rq, const struct job_key *key, __u32 flags)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct job job = {
		.pid = pid_tgid >> 32,
		.tid = (__u32)pid_tgid,
		.ring = GRT_RING_NONE,
		.state = JOB_END_BY_FENCE,
	};
	struct grt_bpf_ring *ring;

	if (gate_is_outside())
		return 0;
	ring = ring_of(rq);
	if (ring) {
		job.ring = ring->id;
		job.device = ring->device;
	}
	return job_submit(ctx, key, &job, ring && ring->denied, 0, 0, flags);
}

SEC("raw_tp/i915_request_queue")
int request_queue(struct bpf_raw_tracepoint_args *ctx)
{
	struct i915_request *rq = (void *)ctx->args[0];
	struct job_key key = key_of(rq);

	return submit(ctx, rq, &key, 0);
}

SEC("raw_tp/i915_request_add")
int request_add(struct bpf_raw_tracepoint_args *ctx)
{
	struct i915_request *rq = (void *)ctx->args[0];
	struct job_key key;

	if (gate_is_shut())
		return 0;
	key = key_of(rq);
	if (!job_of(&key))
		return submit(ctx, rq, &key, GRT_FLAG_COMMIT);
	return job_commit(&key, 0, 0);
}

SEC("raw_tp/i915_request_in")
int request_in(struct bpf_raw_tracepoint_args *ctx)
{
	struct job_key key;

	if (gate_is_shut())
		return 0;
	key = key_of((void *)ctx->args[0]);
	return job_start(&key);
}

SEC("tp/i915/i915_request_out")
int request_out(struct out_record *ctx)
{
	struct job_key key = {.ctx = ctx->ctx, .seqno = ctx->seqno};
	struct job *job;

	if (gate_is_shut())
		return 0;
	job = job_of(&key);
	if (!ctx->completed || (job && !(job->state & JOB_END_BY_FENCE)))
		return 0;
	return job_end(&key, 0, 0, 0);
}

SEC("raw_tp/i915_request_retire")
int request_retire(struct bpf_raw_tracepoint_args *ctx)
{
	struct i915_request *rq = (void *)ctx->args[0];
	struct job_key key;

	if (gate_is_shut())
		return 0;
	key = key_of(rq);
	return job_complete(&key, BPF_CORE_READ(rq, fence.error));
}

SEC("raw_tp/i915_request_wait_begin")
int request_wait_begin(struct bpf_raw_tracepoint_args *ctx)
{
	struct job_key key;

	if (gate_is_shut())
		return 0;
	key = key_of((void *)ctx->args[0]);
	return wait_enter(&key);
}

SEC("raw_tp/i915_request_wait_end")
int request_wait_end(struct bpf_raw_tracepoint_args *ctx)
{
	return gate_is_shut() ? 0 : wait_exit();
}

static __always_inline __u32 device_of_object(struct drm_gem_object *obj)
{
	return drm_index(BPF_CORE_READ(obj, dev));
}

SEC("tp/i915/i915_gem_object_create")
int object_create(struct object_record *ctx)
{
	struct out_comm_mem_create *at;
	struct grt_bpf_counts *c;

	at = take_mem_create(&c, (__u64)ctx->obj, device_of_object(ctx->obj));
	if (!at)
		return 0;
	at->ev.bytes = ctx->size;
	at->ev.placed = MEM_NOWHERE;
	event_submit(at, c);
	return 0;
}

SEC("tp/i915/i915_gem_object_destroy")
int object_destroy(struct object_record *ctx)
{
	struct out_comm_mem_destroy *at;
	struct grt_bpf_counts *c;

	at = take_mem_destroy(&c, (__u64)ctx->obj, device_of_object(ctx->obj));
	if (at)
		event_submit(at, c);
	return 0;
}

SEC("tp/i915/i915_gem_object_fault")
int object_fault(struct fault_record *ctx)
{
	struct out_comm_mem_fault *at;
	struct grt_bpf_counts *c;

	at = take_mem_fault(&c, (__u64)ctx->obj, device_of_object(ctx->obj));
	if (!at)
		return 0;
	at->ev.page = ctx->index;
	at->ev.gtt = ctx->gtt;
	at->ev.writing = ctx->write;
	event_submit(at, c);
	return 0;
}

SEC("tp/i915/i915_vma_bind")
int vma_bind(struct vma_record *ctx)
{
	struct out_comm_mem_bind *at;
	struct grt_bpf_counts *c;

	at = take_mem_bind(&c, (__u64)ctx->obj, device_of_object(ctx->obj));
	if (!at)
		return 0;
	at->ev.vm = opaque((__u64)ctx->vm);
	at->ev.offset = ctx->offset;
	at->ev.bytes = ctx->size;
	at->ev.mflags = ctx->flags;
	event_submit(at, c);
	return 0;
}

SEC("tp/i915/i915_vma_unbind")
int vma_unbind(struct vma_record *ctx)
{
	struct out_comm_mem_unbind *at;
	struct grt_bpf_counts *c;

	at = take_mem_unbind(&c, (__u64)ctx->obj, device_of_object(ctx->obj));
	if (!at)
		return 0;
	at->ev.vm = opaque((__u64)ctx->vm);
	at->ev.offset = ctx->offset;
	at->ev.bytes = ctx->size;
	event_submit(at, c);
	return 0;
}

SEC("tp/i915/i915_gem_shrink")
int gem_shrink(struct shrink_record *ctx)
{
	struct out_comm_mem_shrink *at;
	struct grt_bpf_counts *c;
	__u64 pid_tgid;
	__u32 cpu;

	c = my_counts_if_wanted(&cpu, &pid_tgid);
	at = c ? begin_comm_mem_shrink(c, cpu, pid_tgid) : 0;
	if (!at)
		return 0;
	at->ev.e.device = ctx->dev;
	at->ev.target = ctx->target;
	at->ev.mflags = ctx->flags;
	event_submit(at, c);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
