// SPDX-License-Identifier: GPL-2.0
/*
 * What amdgpu reports beyond the DRM scheduler, which has its jobs: how many
 * command buffers (IBs) a submit has, interrupts, and where buffers lie.
 *
 *	amdgpu_cs_ioctl    (struct amdgpu_job *): SUBMIT.cmd is num_ibs
 *	amdgpu_iv          IRQ: source is client_id << 16 | src_id, data is
 *			   src_data[0]
 *	amdgpu_bo_create   MEM_CREATE: pages, preferred and allowed domains,
 *			   memory type, the object's flags
 *	amdgpu_bo_move     MEM_MOVE
 *	amdgpu_vm_bo_map, _unmap
 *			   MEM_BIND, MEM_UNBIND: (struct amdgpu_bo_va *, struct
 *			   amdgpu_bo_va_mapping *)
 *
 * A submit passes amdgpu_cs_ioctl right before the scheduler's queue event, by
 * the same fence, so the number is left for drm_sched.bpf.c and the job is reported
 * once. The driver's own jobs (page tables, clears, moves) have no ioctl: their
 * cmd is 0. amdgpu_sched_run_job says nothing that the scheduler's run event
 * has not said just before, and is not used. No event reports an object's end.
 *
 * The arguments of cs_ioctl and vm_bo_* are the same in Linux 5.15 to 7.3 while
 * their records are not, or lack the address space; of the others it is the
 * record that is the same
 * (drivers/gpu/drm/amd/amdgpu/amdgpu_trace.h).
 */
#include "jobs.h"
#include "memory.h"

/* The size of a GPU page, in which mappings count. */
#define PAGE_BYTES 4096ULL

/** struct iv_record, bo_create_record, bo_move_record - the events' format files */
struct iv_record {
	__u64 common;
	__u32 ih;
	__u32 client_id;
	__u32 src_id;
	__u32 ring_id;
	__u32 vmid;
	__u32 vmid_src;
	__u64 timestamp;
	__u32 timestamp_src;
	__u32 pasid;
	__u32 src_data[4];
};

struct bo_create_record {
	__u64 common;
	struct amdgpu_bo *bo;
	__u32 pages;
	__u32 type;
	__u32 prefer;
	__u32 allow;
	__u32 flags; /* in that format file, its name is "visible" */
};

struct bo_move_record {
	__u64 common;
	struct amdgpu_bo *bo;
	__u64 bytes;
	__u32 to;
	__u32 from;
};

SEC("raw_tp/amdgpu_cs_ioctl")
int cs_ioctl(struct bpf_raw_tracepoint_args *ctx)
{
	struct amdgpu_job *job = (void *)ctx->args[0];
	struct drm_sched_fence *f;
	struct job_key key;
	__u32 ibs;

	if (gate_is_outside())
		return 0;
	f = BPF_CORE_READ(job, base.s_fence);
	key.ctx = BPF_CORE_READ(f, finished.context);
	key.seqno = BPF_CORE_READ(f, finished.seqno);
	ibs = BPF_CORE_READ(job, num_ibs);
	bpf_map_update_elem(&commands, &key, &ibs, BPF_ANY);
	return 0;
}

/* An interrupt belongs to no thread, and the name of its ring is not a name of the scheduler. */
SEC("tp/amdgpu/amdgpu_iv")
int iv(struct iv_record *ctx)
{
	struct grt_bpf_counts *c;
	struct out_irq *at;
	__u32 cpu;

	if (gate_is_outside())
		return 0;
	c = my_counts(&cpu);
	if (!c)
		return 0;
	if (by_thread_or_ring())
		return count_filtered(c);
	at = begin_irq(c, cpu);
	if (!at)
		return 0;
	at->ev.source = GRT_IRQ_SOURCE(ctx->client_id, ctx->src_id);
	at->ev.data = ctx->src_data[0];
	at->ev.hw_ring = ctx->ring_id;
	at->ev.vmid = ctx->vmid;
	at->ev.pasid = ctx->pasid;
	event_submit(at, c);
	return 0;
}

static __always_inline __u32 device_of_bo(struct amdgpu_bo *bo)
{
	return drm_index(BPF_CORE_READ(bo, tbo.base.dev));
}

SEC("tp/amdgpu/amdgpu_bo_create")
int bo_create(struct bo_create_record *ctx)
{
	struct out_comm_mem_create *at;
	struct grt_bpf_counts *c;

	at = take_mem_create(&c, (__u64)ctx->bo, device_of_bo(ctx->bo));
	if (!at)
		return 0;
	at->ev.bytes = ctx->pages * PAGE_BYTES;
	at->ev.wanted = ctx->prefer;
	at->ev.allowed = ctx->allow;
	at->ev.placed = ctx->type;
	at->ev.mflags = ctx->flags;
	event_submit(at, c);
	return 0;
}

SEC("tp/amdgpu/amdgpu_bo_move")
int bo_move(struct bo_move_record *ctx)
{
	struct out_comm_mem_move *at;
	struct grt_bpf_counts *c;

	at = take_mem_move(&c, (__u64)ctx->bo, device_of_bo(ctx->bo));
	if (!at)
		return 0;
	at->ev.bytes = ctx->bytes;
	at->ev.from = ctx->from;
	at->ev.to = ctx->to;
	event_submit(at, c);
	return 0;
}

static __always_inline __u64 mapping_bytes(struct amdgpu_bo_va_mapping *m)
{
	return (BPF_CORE_READ(m, last) - BPF_CORE_READ(m, start) + 1) * PAGE_BYTES;
}

SEC("raw_tp/amdgpu_vm_bo_map")
int vm_bo_map(struct bpf_raw_tracepoint_args *ctx)
{
	struct amdgpu_bo_va *va = (void *)ctx->args[0];
	struct amdgpu_bo_va_mapping *m = (void *)ctx->args[1];
	struct amdgpu_bo *bo = BPF_CORE_READ(va, base.bo);
	struct out_comm_mem_bind *at;
	struct grt_bpf_counts *c;

	at = take_mem_bind(&c, (__u64)bo, device_of_bo(bo));
	if (!at)
		return 0;
	at->ev.vm = opaque((__u64)BPF_CORE_READ(va, base.vm));
	at->ev.offset = BPF_CORE_READ(m, start) * PAGE_BYTES;
	at->ev.bytes = mapping_bytes(m);
	at->ev.mflags = BPF_CORE_READ_BITFIELD_PROBED(m, flags); /* of any size */
	event_submit(at, c);
	return 0;
}

SEC("raw_tp/amdgpu_vm_bo_unmap")
int vm_bo_unmap(struct bpf_raw_tracepoint_args *ctx)
{
	struct amdgpu_bo_va *va = (void *)ctx->args[0];
	struct amdgpu_bo_va_mapping *m = (void *)ctx->args[1];
	struct amdgpu_bo *bo = BPF_CORE_READ(va, base.bo);
	struct out_comm_mem_unbind *at;
	struct grt_bpf_counts *c;

	at = take_mem_unbind(&c, (__u64)bo, device_of_bo(bo));
	if (!at)
		return 0;
	at->ev.vm = opaque((__u64)BPF_CORE_READ(va, base.vm));
	at->ev.offset = BPF_CORE_READ(m, start) * PAGE_BYTES;
	at->ev.bytes = mapping_bytes(m);
	event_submit(at, c);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
