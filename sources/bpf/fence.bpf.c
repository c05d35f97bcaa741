// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs of a driver that has no events of its own (nouveau, radeon, vmwgfx,
 * qxl, vgem): its fences.
 *
 *	dma_fence_init       SUBMIT and, since no queue is known, COMMIT
 *	dma_fence_emit       the same, for drivers that give a fence its number
 *			     only then (init has seqno 0)
 *	dma_fence_signaled   COMPLETE, and END, inferred
 *	dma_fence_wait_*     SYNC_WAIT_*
 *
 * Whose fence it is is in the record only (Linux 5.15 to 7.3,
 * include/trace/events/dma_fence.h), and there both numbers are cut to 32 bits.
 * So all events of this source have the cut numbers, which are the whole ones
 * until a context was allocated or a fence made 4294967296 times; jobs of a
 * trace agree with each other all the same. The ring is the timeline.
 */
#include "jobs.h"

/** struct fence_record - the events' format files */
struct fence_record {
	__u64 common;
	__u32 driver; /* __data_loc: the low half is the offset of the text */
	__u32 timeline;
	__u32 context;
	__u32 seqno;
};

static __always_inline void read_text(char *to, __u32 room, struct fence_record *ctx, __u32 loc)
{
	bpf_probe_read_kernel_str(to, room, (char *)ctx + (loc & 0xffff));
}

/* FNV-1a */
static __always_inline __u64 hash_text(const char *text)
{
	__u64 hash = 0xcbf29ce484222325ULL;

#pragma unroll
	for (int i = 0; i < BPF_RING; i++) {
		if (!text[i])
			break;
		hash = (hash ^ (__u8)text[i]) * 0x100000001b3ULL;
	}
	return hash;
}

/* Not inlined: otherwise its variables would be on the stack during the walk of the program's stack. */
static __noinline struct grt_bpf_ring *ring_of(struct fence_record *ctx)
{
	struct grt_bpf_ring r = {}, *known;
	struct grt_bpf_ring_key key = {};

	read_text(key.name, sizeof(key.name), ctx, ctx->timeline);
	known = bpf_map_lookup_elem(&rings, &key);
	if (known)
		return known;
	__builtin_memcpy(r.name, key.name, sizeof(r.name));
#pragma unroll
	for (int i = 0; i < BPF_DRIVER - 1; i++)
		r.driver[i] = config.driver[i];
	return ring_add(&key, &r);
}

static __always_inline int made(struct fence_record *ctx)
{
	struct job_key key = {.ctx = ctx->context, .seqno = ctx->seqno};
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	char driver[BPF_RING] = "";
	struct grt_bpf_ring *ring;
	struct job job = {
		.pid = pid_tgid >> 32,
		.tid = (__u32)pid_tgid,
		.state = JOB_END_BY_FENCE,
	};

	if (!key.seqno || !key.ctx)
		return 0;
	read_text(driver, sizeof(driver), ctx, ctx->driver);
	if (!same_text(driver, config.driver, BPF_RING))
		return 0;
	ring = ring_of(ctx);
	job.ring = ring ? ring->id : GRT_RING_NONE;
	return job_submit(ctx, &key, &job, ring && ring->denied, 0, 0, GRT_FLAG_COMMIT);
}

SEC("tp/dma_fence/dma_fence_init")
int fence_init(struct fence_record *ctx)
{
	return made(ctx);
}

SEC("tp/dma_fence/dma_fence_emit")
int fence_emit(struct fence_record *ctx)
{
	struct job_key key = {.ctx = ctx->context, .seqno = ctx->seqno};

	return bpf_map_lookup_elem(&jobs, &key) ? 0 : made(ctx);
}

static __always_inline struct job_key cut_key(struct dma_fence *fence)
{
	return (struct job_key){
		.ctx = (__u32)BPF_CORE_READ(fence, context),
		.seqno = (__u32)BPF_CORE_READ(fence, seqno),
	};
}

SEC("raw_tp/dma_fence_signaled")
int fence_signaled(struct bpf_raw_tracepoint_args *ctx)
{
	struct dma_fence *fence = (void *)ctx->args[0];
	struct job_key key = cut_key(fence);

	return job_complete(&key, BPF_CORE_READ(fence, error));
}

SEC("raw_tp/dma_fence_wait_start")
int fence_wait_start(struct bpf_raw_tracepoint_args *ctx)
{
	struct job_key key = cut_key((void *)ctx->args[0]);

	return wait_enter(&key);
}

SEC("raw_tp/dma_fence_wait_end")
int fence_wait_end(struct bpf_raw_tracepoint_args *ctx)
{
	return wait_exit();
}

char LICENSE[] SEC("license") = "GPL";
