// SPDX-License-Identifier: GPL-2.0
/*
 * What an event costs from its tracepoint to the buffer. Calls whatever is
 * attached to the tracepoints of virtio-gpu and dma_fence, the way a tracepoint
 * does, with made-up jobs: once with nothing attached, once with ftrace's own
 * events, once with grtrace, as the script that loads this module arranges.
 * Each load runs once and prints ns per call, which under QEMU's -icount are
 * instructions.
 */
#include <linux/dma-fence.h>
#include <linux/module.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>
#include <linux/virtio.h>
#include <linux/virtio_gpu.h>

static char *label = "none";
module_param(label, charp, 0444);
MODULE_PARM_DESC(label, "printed in front of the figures");

static uint loops = 20000;
module_param(loops, uint, 0444);
MODULE_PARM_DESC(loops, "jobs per run");

enum { QUEUE, RESPONSE, EMIT, SIGNALED, POINTS };

static const char *const names[POINTS] = {
	[QUEUE] = "virtio_gpu_cmd_queue",
	[RESPONSE] = "virtio_gpu_cmd_response",
	[EMIT] = "dma_fence_emit",
	[SIGNALED] = "dma_fence_signaled",
};

static struct tracepoint *points[POINTS];
static u64 spent[POINTS];
static u64 empty;

static const char *driver_name(struct dma_fence *fence)
{
	return "virtio_gpu";
}

static const char *timeline_name(struct dma_fence *fence)
{
	return "controlq";
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = driver_name,
	.get_timeline_name = timeline_name,
};

static void find_point(struct tracepoint *tp, void *unused)
{
	int i;

	for (i = 0; i < POINTS; i++)
		if (!strcmp(tp->name, names[i]))
			points[i] = tp;
}

static int find_in_module(struct notifier_block *nb, unsigned long state, void *data)
{
	struct tp_module *tpm = data;
	int i;

	for (i = 0; state == MODULE_STATE_COMING && i < tpm->mod->num_tracepoints; i++)
		find_point(tracepoint_ptr_deref(&tpm->mod->tracepoints_ptrs[i]), NULL);
	return NOTIFY_OK;
}

static struct notifier_block nb = { .notifier_call = find_in_module };

/* What a tracepoint does when it is hit: preemption off, every probe in turn. */
static void hit(int point, void *a, void *b)
{
	struct tracepoint_func *f;
	u64 start = ktime_get_ns();

	preempt_disable_notrace();
	f = rcu_dereference_sched(points[point]->funcs);
	for (; f && f->func; f++) {
		if (b)
			((void (*)(void *, void *, void *))f->func)(f->data, a, b);
		else
			((void (*)(void *, void *))f->func)(f->data, a);
	}
	preempt_enable_notrace();
	spent[point] += ktime_get_ns() - start;
}

static void run_jobs(struct virtqueue *vq, struct dma_fence *fence)
{
	struct virtio_gpu_ctrl_hdr cmd = { .type = cpu_to_le32(VIRTIO_GPU_CMD_SUBMIT_3D) };
	struct virtio_gpu_ctrl_hdr reply = { .type = cpu_to_le32(VIRTIO_GPU_RESP_OK_NODATA) };
	u64 start;
	uint i;

	cmd.flags = reply.flags = cpu_to_le32(VIRTIO_GPU_FLAG_FENCE);
	cmd.ctx_id = reply.ctx_id = cpu_to_le32(1);
	for (i = 1; i <= loops; i++) {
		start = ktime_get_ns();
		empty += ktime_get_ns() - start;
		fence->seqno = i;
		cmd.fence_id = reply.fence_id = cpu_to_le64(i);
		hit(EMIT, fence, NULL);
		hit(QUEUE, vq, &cmd);
		hit(RESPONSE, vq, &reply);
		hit(SIGNALED, fence, NULL);
		if (!(i & 255))
			cond_resched();
	}
}

static int __init bench_init(void)
{
	static struct virtio_device vdev = { .index = 3 };
	static struct virtqueue vq = { .name = "control", .vdev = &vdev };
	static struct dma_fence fence = { .ops = &fence_ops, .context = 77 };
	int i;

	for_each_kernel_tracepoint(find_point, NULL);
	register_tracepoint_module_notifier(&nb);
	unregister_tracepoint_module_notifier(&nb);
	for (i = 0; i < POINTS; i++)
		if (!points[i])
			return -ENOENT;
	run_jobs(&vq, &fence);
	for (i = 0; i < POINTS; i++)
		pr_info("grtrace_emit_bench: %s %s %llu\n", label, names[i],
			div_u64(spent[i] - min(empty, spent[i]), loops));
	return 0;
}

static void __exit bench_exit(void)
{
}

module_init(bench_init);
module_exit(bench_exit);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("Cost of an event, from its tracepoint to the buffer");
MODULE_LICENSE("GPL");
