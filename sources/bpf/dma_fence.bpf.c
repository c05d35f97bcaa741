// SPDX-License-Identifier: GPL-2.0
/*
 * Fences: when a job's fence is signalled, and which threads wait for it. The other objects know which
 * fences belong to jobs.
 *
 * The tracepoints (Linux 5.15 to 7.3, include/trace/events/dma_fence.h) take (struct dma_fence *). In their
 * text, both numbers are cut to 32 bits; the argument has all bits.
 */
#include "jobs.h"

SEC("raw_tp/dma_fence_signaled")
int fence_signaled(struct bpf_raw_tracepoint_args *ctx)
{
	struct dma_fence *fence = (void *)ctx->args[0];
	struct job_key key;
	__s32 status;

	if (gate_is_shut())
		return 0;
	key = key_of_fence(fence);
	status = BPF_CORE_READ(fence, error);
	job_complete(&key, status);
	return dep_signalled(&key, status);
}

SEC("raw_tp/dma_fence_wait_start")
int fence_wait_start(struct bpf_raw_tracepoint_args *ctx)
{
	struct job_key key;

	if (gate_is_shut())
		return 0;
	key = key_of_fence((void *)ctx->args[0]);
	return wait_enter(&key);
}

SEC("raw_tp/dma_fence_wait_end")
int fence_wait_end(struct bpf_raw_tracepoint_args *ctx)
{
	return gate_is_shut() ? 0 : wait_exit();
}

char LICENSE[] SEC("license") = "GPL";
