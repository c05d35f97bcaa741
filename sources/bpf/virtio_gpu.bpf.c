// SPDX-License-Identifier: GPL-2.0
/*
 * virtio-gpu: jobs are commands with a fence.
 *
 * Tracepoints (Linux 5.15 to 7.3, drivers/gpu/drm/virtio/virtgpu_trace.h):
 * virtio_gpu_cmd_queue and _cmd_response take (struct virtqueue *, struct
 * virtio_gpu_ctrl_hdr *), from 6.5 on also a u32.
 *
 * A fenced command is queued under the queue's spinlock as: dma_fence_emit, then
 * virtio_gpu_cmd_queue. So the fence emitted last on this CPU is the command's,
 * which is checked: one number is the fence's seqno and the fence_id that the
 * device sees. The reply knows only the fence_id, which leads to the fence.
 */
#include "jobs.h"

/* The last arguments of dma_fence_emit on this CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct job_key);
} emitted SEC(".maps");

/** struct flight_key - what a reply knows of its command */
struct flight_key {
	__u64 fence_id;
	__u64 device;
};

/* fence_id -> fence context, of commands in flight */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct flight_key);
	__type(value, __u64);
} flights SEC(".maps");

static __always_inline void read_header(struct virtio_gpu_ctrl_hdr *to, __u64 from)
{
	bpf_probe_read_kernel(to, sizeof(*to), (const void *)from);
}

static __always_inline struct grt_bpf_ring *ring_of(struct virtqueue *vq)
{
	struct virtio_device *vdev = BPF_CORE_READ(vq, vdev);
	struct grt_bpf_ring_key key = {.address = (__u64)vq, .device = (__u64)vdev};
	struct grt_bpf_ring r = {}, *known;
	const char *name = BPF_CORE_READ(vq, name);

	bpf_probe_read_kernel_str(key.name, sizeof(key.name), name);
	known = bpf_map_lookup_elem(&rings, &key);
	if (known)
		return known;
	__builtin_memcpy(r.name, key.name, sizeof(r.name));
	/* in an initializer it would be in a section of data without a type, which Linux refuses before 5.12
	 */
	__builtin_memcpy(r.driver, "virtio_gpu", sizeof("virtio_gpu"));
	r.device = BPF_CORE_READ(vdev, index);
	ring_read_bus(&r, BPF_CORE_READ(vdev, dev.parent));
	return ring_add(&key, &r);
}

/* Only virtio-gpu and qxl emit fences, and no fence of qxl is followed by a command with its number. */
SEC("raw_tp/dma_fence_emit")
int fence_emit(struct bpf_raw_tracepoint_args *ctx)
{
	struct dma_fence *fence = (void *)ctx->args[0];
	struct job_key key;
	__u32 zero = 0;

	if (gate_is_outside())
		return 0;
	key.ctx = BPF_CORE_READ(fence, context);
	key.seqno = BPF_CORE_READ(fence, seqno);
	bpf_map_update_elem(&emitted, &zero, &key, BPF_ANY);
	return 0;
}

static __always_inline int command(const struct virtio_gpu_ctrl_hdr *hdr, const struct grt_bpf_ring *ring)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct out_comm_command *at;
	struct grt_bpf_counts *c;
	__u32 cpu;

	c = my_counts(&cpu);
	if (!c)
		return 0;
	if (ring->denied || !thread_wanted(pid_tgid >> 32))
		return count_filtered(c);
	at = begin_comm_command(c, cpu, pid_tgid);
	if (!at)
		return 0;
	at->ev.e.ring = ring->id;
	at->ev.e.device = ring->device;
	at->ev.cmd = hdr->type;
	at->ev.hw_ctx = hdr->ctx_id;
	event_submit(at, c);
	return 0;
}

static __always_inline int unmatched(void)
{
	__u32 cpu;
	struct grt_bpf_counts *c = my_counts(&cpu);

	if (c)
		COUNT(c->unmatched);
	return 0;
}

SEC("raw_tp/virtio_gpu_cmd_queue")
int cmd_queue(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct virtio_gpu_ctrl_hdr hdr;
	struct flight_key flight = {};
	struct grt_bpf_ring *ring;
	struct job_key *last;
	struct job job = {};
	__u32 zero = 0;

	if (gate_is_outside())
		return 0;
	ring = ring_of((void *)ctx->args[0]);
	read_header(&hdr, ctx->args[1]);
	if (!ring)
		return unmatched();
	if (!(hdr.flags & VIRTIO_GPU_FLAG_FENCE))
		return command(&hdr, ring);
	last = bpf_map_lookup_elem(&emitted, &zero);
	if (!last || last->seqno != hdr.fence_id)
		return unmatched();
	flight.fence_id = hdr.fence_id;
	flight.device = ring->device;
	bpf_map_update_elem(&flights, &flight, &last->ctx, BPF_ANY);
	job.pid = pid_tgid >> 32;
	job.tid = (__u32)pid_tgid;
	job.ring = ring->id;
	job.device = ring->device;
	job.hw_ctx = hdr.ctx_id;
	return job_submit(ctx, last, &job, ring->denied, hdr.type, hdr.fence_id, GRT_FLAG_COMMIT);
}

SEC("raw_tp/virtio_gpu_cmd_response")
int cmd_response(struct bpf_raw_tracepoint_args *ctx)
{
	struct virtio_gpu_ctrl_hdr hdr;
	struct flight_key flight = {};
	struct grt_bpf_ring *ring;
	struct job_key key = {};
	struct job nobody = {};
	__u64 *fence_ctx;

	if (gate_is_shut())
		return 0;
	ring = ring_of((void *)ctx->args[0]);
	read_header(&hdr, ctx->args[1]);
	if (!ring)
		return unmatched();
	nobody.ring = ring->id;
	nobody.device = ring->device;
	if (hdr.flags & VIRTIO_GPU_FLAG_FENCE) {
		flight.fence_id = hdr.fence_id;
		flight.device = ring->device;
		fence_ctx = bpf_map_lookup_elem(&flights, &flight);
		if (!fence_ctx) /* queued before we came */
			return config.duty.parts ? 0 : unmatched();
		key.ctx = *fence_ctx;
		key.seqno = hdr.fence_id;
		job_end(&key, hdr.type, hdr.ctx_id, hdr.fence_id);
	}
	if (hdr.type >= VIRTIO_GPU_RESP_ERR_UNSPEC)
		job_error(&key, key.ctx ? job_of(&key) : &nobody, 0, hdr.type);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
