// SPDX-License-Identifier: GPL-2.0
/*
 * virtio-gpu: jobs are commands with a fence.
 *
 * Tracepoints (Linux 5.15 to 7.3): virtio_gpu_cmd_queue and _cmd_response take
 * (struct virtqueue *, struct virtio_gpu_ctrl_hdr *), from 6.5 on also a u32
 * command number that is not needed here and, by the calling convention, need
 * not be named. dma_fence_* take (struct dma_fence *).
 *
 * A fenced command is queued under the queue's spinlock as: dma_fence_emit, then
 * virtio_gpu_cmd_queue. So the fence emitted last on this CPU is the command's,
 * which is checked: the driver uses one number as the fence's seqno and as the
 * fence_id that the device sees. From then on (device, fence_id) leads to the
 * fence context, for the reply, which knows only the fence_id.
 *
 * The driver has no queue of its own in front of the ring: SUBMIT is COMMIT.
 */
#include <linux/dma-fence.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/virtio.h>
#include <linux/virtio_gpu.h>

#include "../core/grtrace.h"

#define DRIVER "virtio_gpu"

/* Most devices and queues; events of further ones are counted as unmatched. */
#define DEVICES 4
#define QUEUES	2

/* Fenced commands of a device in flight; fence ids are consecutive. */
#define INFLIGHT 1024

#define IS_ERROR_REPLY(type) ((type) >= VIRTIO_GPU_RESP_ERR_UNSPEC)

struct inflight {
	u64 fence_id;
	u64 ctx;
};

struct gpu {
	int owner;		/* the device's number among all virtio devices + 1, 0: a free place */
	int ring[QUEUES];	/* ring id + 1, 0: not registered yet */
	struct inflight inflight[INFLIGHT];
};

static struct gpu gpus[DEVICES];

/* The fence ops of the driver, known after its first fence; NULL while it is not loaded. */
static const struct dma_fence_ops *fence_ops;

/* The last arguments of dma_fence_emit on this CPU. */
static DEFINE_PER_CPU(struct inflight, emitted);

static const enum grt_engine queue_engine[QUEUES] = { GRT_ENGINE_GRAPHICS, GRT_ENGINE_DISPLAY };

static struct grtrace_adapter adapter;

static void grt_virtio_gpu_unmatched(void)
{
	atomic64_inc(&adapter.unmatched);
}

/*
 * Commands are queued under the queue's lock, but replies arrive without it: two CPUs may be here
 * at the same time.
 */
static u32 grt_virtio_gpu_ring_of(struct gpu *gpu, const struct virtqueue *vq)
{
	int *ring = &gpu->ring[vq->index];
	int id = READ_ONCE(*ring) - 1, other;

	if (likely(id >= 0))
		return id;
	id = grtrace_ring_register(vq->name, queue_engine[vq->index], DRIVER, vq->vdev->dev.parent);
	if (id < 0)
		return GRT_RING_NONE;
	other = cmpxchg(ring, 0, id + 1);
	if (!other)
		return id;
	grtrace_ring_unregister(id);
	return other - 1;
}

static struct gpu *grt_virtio_gpu_gpu_of(const struct virtqueue *vq)
{
	int number = vq->vdev->index + 1, owner, i;

	for (i = 0; i < DEVICES && vq->index < QUEUES; i++) {
		owner = READ_ONCE(gpus[i].owner);
		if (unlikely(!owner))
			owner = cmpxchg(&gpus[i].owner, 0, number) ?: number;
		if (likely(owner == number))
			return &gpus[i];
	}
	grt_virtio_gpu_unmatched();
	return NULL;
}

static struct grtrace_job grt_virtio_gpu_job_on(struct gpu *gpu, const struct virtqueue *vq, u32 hw_ctx)
{
	return (struct grtrace_job){
		.ring = grt_virtio_gpu_ring_of(gpu, vq),
		.device = vq->vdev->index,
		.engine = queue_engine[vq->index],
		.hw_ctx = hw_ctx,
	};
}

static void grt_virtio_gpu_queue_fenced(struct gpu *gpu, struct grtrace_job *job,
					const struct virtio_gpu_ctrl_hdr *hdr)
{
	u64 fence_id = le64_to_cpu(hdr->fence_id);
	struct inflight *in = &gpu->inflight[fence_id % INFLIGHT];
	const struct inflight *last = this_cpu_ptr(&emitted);

	if (last->fence_id != fence_id) {
		grt_virtio_gpu_unmatched();
		return;
	}
	job->ctx = last->ctx;
	job->seqno = fence_id;
	*in = *last;
	grtrace_submit(job, le32_to_cpu(hdr->type), fence_id, GRT_FLAG_COMMIT);
}

static void grt_virtio_gpu_on_cmd_queue(void *data, struct virtqueue *vq, struct virtio_gpu_ctrl_hdr *hdr)
{
	struct gpu *gpu;
	struct grtrace_job job;

	if (!grtrace_enabled())
		return;
	gpu = grt_virtio_gpu_gpu_of(vq);
	if (!gpu)
		return;
	job = grt_virtio_gpu_job_on(gpu, vq, le32_to_cpu(hdr->ctx_id));
	if (hdr->flags & cpu_to_le32(VIRTIO_GPU_FLAG_FENCE))
		grt_virtio_gpu_queue_fenced(gpu, &job, hdr);
	else
		grtrace_command(&job, le32_to_cpu(hdr->type));
}

static void grt_virtio_gpu_on_cmd_response(void *data, struct virtqueue *vq, struct virtio_gpu_ctrl_hdr *hdr)
{
	u64 fence_id = le64_to_cpu(hdr->fence_id);
	u32 reply = le32_to_cpu(hdr->type);
	const struct inflight *in;
	struct grtrace_job job;
	struct gpu *gpu;

	if (!grtrace_enabled())
		return;
	gpu = grt_virtio_gpu_gpu_of(vq);
	if (!gpu)
		return;
	job = grt_virtio_gpu_job_on(gpu, vq, le32_to_cpu(hdr->ctx_id));
	if (hdr->flags & cpu_to_le32(VIRTIO_GPU_FLAG_FENCE)) {
		in = &gpu->inflight[fence_id % INFLIGHT];
		if (in->fence_id != fence_id) {
			grt_virtio_gpu_unmatched(); /* queued while tracing was off */
			return;
		}
		job.ctx = in->ctx;
		job.seqno = fence_id;
		grtrace_end(&job, reply, fence_id);
	}
	if (IS_ERROR_REPLY(reply))
		grtrace_error(&job, 0, reply);
}

/* Only virtio-gpu and qxl emit fences; the driver's name is compared once. */
static void grt_virtio_gpu_on_fence_emit(void *data, struct dma_fence *fence)
{
	if (!grtrace_enabled())
		return;
	if (fence->ops != READ_ONCE(fence_ops)) {
		if (fence_ops || strcmp(fence->ops->get_driver_name(fence), DRIVER))
			return;
		WRITE_ONCE(fence_ops, fence->ops);
	}
	preempt_disable(); /* 7.3 calls with preemption on */
	*this_cpu_ptr(&emitted) = (struct inflight){ .fence_id = fence->seqno, .ctx = fence->context };
	preempt_enable();
}

/* Whether it is one of the last queued fences. */
static bool grt_virtio_gpu_was_queued(const struct dma_fence *fence)
{
	const struct inflight *in;
	int dev;

	for (dev = 0; dev < DEVICES; dev++) {
		in = &gpus[dev].inflight[fence->seqno % INFLIGHT];
		if (in->fence_id == fence->seqno && in->ctx == fence->context)
			return true;
	}
	return false;
}

/* 7.2 removes the ops from a fence that is signalled; the wait for it ends after that. */
static bool grt_virtio_gpu_ours(const struct dma_fence *fence)
{
	const struct dma_fence_ops *ops = READ_ONCE(fence->ops);

	if (!grtrace_enabled() || !READ_ONCE(fence_ops))
		return false;
	return ops ? ops == READ_ONCE(fence_ops) : grt_virtio_gpu_was_queued(fence);
}

static struct grtrace_job grt_virtio_gpu_job_of(const struct dma_fence *fence)
{
	return (struct grtrace_job){ .ctx = fence->context, .seqno = fence->seqno, .ring = GRT_RING_NONE };
}

static void grt_virtio_gpu_on_fence_signaled(void *data, struct dma_fence *fence)
{
	struct grtrace_job job = grt_virtio_gpu_job_of(fence);

	if (grt_virtio_gpu_ours(fence))
		grtrace_complete(&job, fence->error);
}

static void grt_virtio_gpu_on_fence_wait_start(void *data, struct dma_fence *fence)
{
	struct grtrace_job job = grt_virtio_gpu_job_of(fence);

	if (grt_virtio_gpu_ours(fence))
		grtrace_sync_wait_enter(&job);
}

static void grt_virtio_gpu_on_fence_wait_end(void *data, struct dma_fence *fence)
{
	struct grtrace_job job = grt_virtio_gpu_job_of(fence);

	if (grt_virtio_gpu_ours(fence))
		grtrace_sync_wait_exit(&job);
}

static struct grtrace_probe probes[] = {
	{"virtio_gpu_cmd_queue", grt_virtio_gpu_on_cmd_queue},
	{"virtio_gpu_cmd_response", grt_virtio_gpu_on_cmd_response},
	{"dma_fence_emit", grt_virtio_gpu_on_fence_emit, GRTRACE_VMLINUX},
	{"dma_fence_signaled", grt_virtio_gpu_on_fence_signaled, GRTRACE_VMLINUX},
	{"dma_fence_wait_start", grt_virtio_gpu_on_fence_wait_start, GRTRACE_VMLINUX},
	{"dma_fence_wait_end", grt_virtio_gpu_on_fence_wait_end, GRTRACE_VMLINUX},
};

static void grt_virtio_gpu_driver_gone(struct grtrace_adapter *a)
{
	int dev, queue;

	for (dev = 0; dev < DEVICES; dev++)
		for (queue = 0; queue < QUEUES; queue++)
			grtrace_ring_unregister(gpus[dev].ring[queue] - 1);
	memset(gpus, 0, sizeof(gpus));
	fence_ops = NULL;
}

static struct grtrace_adapter adapter = GRTRACE_ADAPTER(DRIVER, probes, .gone = grt_virtio_gpu_driver_gone);

module_grtrace_adapter(adapter);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("GPU tracing: virtio-gpu");
MODULE_LICENSE("GPL");
MODULE_VERSION(GRT_VERSION);
