// SPDX-License-Identifier: GPL-2.0
/*
 * The DRM scheduler's jobs (amdgpu, etnaviv, lima, panfrost, v3d, msm; later
 * nouveau, xe, panthor and others), module gpu_sched.
 *
 * Tracepoints of both generations take the same arguments (Linux 5.15 to 7.3,
 * drivers/gpu/drm/scheduler/gpu_scheduler_trace.h): queue and run (struct
 * drm_sched_job *, struct drm_sched_entity *), done (struct drm_sched_fence *),
 * dependencies (struct drm_sched_job *, struct dma_fence *). The names changed
 * between 6.14 and 6.17.
 *
 * A job is known by its finished fence. SUBMIT is queue, with what the driver's
 * own object said of it (amdgpu.bpf.c), COMMIT is run, END is done; COMPLETE
 * comes from dma_fence.bpf.c.
 */
#include "common.h"
#include "jobs.h"

/* The name of the module: msm's device is driven by msm_dpu, etnaviv's by etnaviv-gpu. */
static __always_inline void ring_read_driver(struct grt_bpf_ring *r, struct device *dev)
{
	struct module *owner = BPF_CORE_READ(dev, driver, owner);
	const char *text = owner ? owner->name : BPF_CORE_READ(dev, driver, name);

	bpf_probe_read_kernel_str(r->driver, sizeof(r->driver), text);
}

static __always_inline struct grt_bpf_ring *ring_new(const struct grt_bpf_ring_key *key)
{
	struct device *dev = (void *)key->device;
	struct grt_bpf_ring r = {};

	__builtin_memcpy(r.name, key->name, sizeof(r.name));
	if (dev) {
		ring_read_driver(&r, dev);
		ring_read_bus(&r, dev);
	}
	return ring_add(key, &r);
}

static __always_inline struct grt_bpf_ring *ring_of(struct drm_gpu_scheduler *sched)
{
	struct grt_bpf_ring_key key = {.address = (__u64)sched};
	struct grt_bpf_ring *known;
	const char *text = BPF_CORE_READ(sched, name);

	bpf_probe_read_kernel_str(key.name, sizeof(key.name), text);
	if (bpf_core_field_exists(sched->dev))
		key.device = (__u64)BPF_CORE_READ(sched, dev);
	known = bpf_map_lookup_elem(&rings, &key);
	return known ? known : ring_new(&key);
}

static __always_inline __u32 hw_depth(struct drm_gpu_scheduler *sched)
{
	if (bpf_core_field_exists(sched->hw_rq_count))
		return BPF_CORE_READ(sched, hw_rq_count.counter);
	if (bpf_core_field_exists(sched->credit_count))
		return BPF_CORE_READ(sched, credit_count.counter);
	return 0;
}

static __always_inline struct job_key key_of(struct drm_sched_job *job)
{
	struct drm_sched_fence *f = BPF_CORE_READ(job, s_fence);

	return key_of_fence(&f->finished);
}

static __always_inline int queue(void *ctx, struct drm_sched_job *sj)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct job job = {.pid = pid_tgid >> 32, .tid = (__u32)pid_tgid, .ring = GRT_RING_NONE};
	struct grt_bpf_ring *ring;
	struct job_key key;
	__u32 *cmd, code;

	if (gate_is_outside())
		return 0;
	ring = ring_of(BPF_CORE_READ(sj, sched));
	if (ring) {
		job.ring = ring->id;
		job.device = ring->device;
	}
	key = key_of(sj);
	cmd = bpf_map_lookup_elem(&commands, &key);
	code = cmd ? *cmd : 0;
	if (cmd)
		bpf_map_delete_elem(&commands, &key);
	if (config.whole)
		job.state = JOB_WHOLE;
	return job_submit(ctx, &key, &job, ring && ring->denied, code, 0, 0);
}

static __always_inline int run(struct drm_sched_job *sj, struct drm_sched_entity *entity)
{
	struct job_key key = key_of(sj);

	return job_commit(&key, BPF_CORE_READ(entity, job_queue.job_count.counter),
			  hw_depth(BPF_CORE_READ(sj, sched)));
}

/*
 * When a job of a window began follows from the end of the previous job on its ring, even if that one is in
 * no window.
 */
static __noinline int ended_besides(struct drm_sched_fence *f, const struct job_key *key, __u64 told)
{
	struct grt_bpf_counts *c;
	struct grt_bpf_ring *ring;
	struct job nobody = {};
	__u32 cpu;

	if (!((volatile struct grt_bpf_gate *)&gate)->open && gate_is_outside())
		return 0;
	ring = f ? ring_of(BPF_CORE_READ(f, sched)) : 0;
	c = my_counts(&cpu);
	if (!c || !key || !ring || ring->denied || config.pid || config.comm[0])
		return 0;
	nobody.ring = ring->id;
	nobody.device = ring->device;
	put_end(c, cpu, key, &nobody, 0, 0, 0, 0, told);
	return 0;
}

/*
 * A job without a hardware fence never ran on the hardware. Before 6.5, only that fence has the error of a
 * job that failed there.
 */
static __always_inline int done(struct drm_sched_fence *f)
{
	struct dma_fence *parent = BPF_CORE_READ(f, parent);
	struct job_key key = key_of_fence(&f->finished);
	__s32 error;

	if (!parent)
		return 0;
	if (config.duty.parts && !bpf_map_lookup_elem(&jobs, &key))
		return ended_besides(f, &key, signalled_at(parent));
	job_ended_at(&key, 0, 0, 0, signalled_at(parent));
	error = BPF_CORE_READ(parent, error);
	if (error)
		job_failed(&key, error);
	return 0;
}

static __always_inline int dependency(struct drm_sched_job *sj, struct dma_fence *fence, int unsignalled)
{
	struct job_key key = key_of(sj), dep = key_of_fence(fence);
	int signalled = is_signalled(fence);

	/* a dependency that was open when it was added is checked again before the job runs */
	if (unsignalled < 0 && !signalled)
		return 0;
	return job_wait_dep(&key, &dep, unsignalled > 0 ? 0 : signalled);
}

#define PROBE_JOB(NAME, BODY)                         \
	SEC("raw_tp/" #NAME)                          \
	int NAME(struct bpf_raw_tracepoint_args *ctx) \
	{                                             \
		return gate_is_shut() ? 0 : BODY;     \
	}

PROBE_JOB(drm_sched_job, queue(ctx, (void *)ctx->args[0]))
PROBE_JOB(drm_sched_job_queue, queue(ctx, (void *)ctx->args[0]))
PROBE_JOB(drm_run_job, run((void *)ctx->args[0], (void *)ctx->args[1]))
PROBE_JOB(drm_sched_job_run, run((void *)ctx->args[0], (void *)ctx->args[1]))
PROBE_JOB(drm_sched_process_job, done((void *)ctx->args[0]))
PROBE_JOB(drm_sched_job_done, done((void *)ctx->args[0]))
/* fires for every dependency when the job is looked at, also for signalled ones */
PROBE_JOB(drm_sched_job_wait_dep, dependency((void *)ctx->args[0], (void *)ctx->args[1], 0))
PROBE_JOB(drm_sched_job_unschedulable, dependency((void *)ctx->args[0], (void *)ctx->args[1], 1))
PROBE_JOB(drm_sched_job_add_dep, dependency((void *)ctx->args[0], (void *)ctx->args[1], -1))

char LICENSE[] SEC("license") = "GPL";
