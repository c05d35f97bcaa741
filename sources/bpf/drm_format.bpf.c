// SPDX-License-Identifier: GPL-2.0
/*
 * The DRM scheduler's jobs where the scheduler's module has no BTF: its structs
 * cannot be read then, so everything comes from the tracepoints' records, whose
 * fields the loader has looked up in their format files (bpf_format.c). See
 * drm_sched.bpf.c for what the events mean.
 *
 * Up to Linux 6.14 the record has the address of the job's finished fence,
 * whose struct is in the kernel's own BTF; from 6.17 on it has the fence's
 * numbers. Lost against drm_sched.bpf.c: the ring's driver, rings of one name
 * on two devices are one up to 6.14, from 6.17 on dependencies that were
 * signalled already, and what only the hardware's fence knows: a job that the
 * driver refused has an END, and before 6.5 one that failed has no error.
 */
#include "common.h"
#include "jobs.h"

const volatile struct grt_bpf_format format SEC(".rodata.format") = {};

/** struct ring_job - up to 6.14 a dependency names its job by the ring's own count */
struct ring_job {
	__u64 ring;
	__u64 id;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct ring_job);
	__type(value, struct job_key);
} ring_jobs SEC(".maps");

static __always_inline __u64 read_u64(void *ctx, __u16 at)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), ctx + at);
	return value;
}

static __always_inline __u32 read_u32(void *ctx, __u16 at)
{
	__u32 value = 0;

	if (at != BPF_NO_FIELD)
		bpf_probe_read_kernel(&value, sizeof(value), ctx + at);
	return value;
}

/* A string of a record is an offset within the record; in 5.15, it is the address of the string. */
static __always_inline void read_text(void *ctx, __u16 at, int in_record, char *text, __u32 room)
{
	if (at == BPF_NO_FIELD)
		return;
	if (in_record)
		bpf_probe_read_kernel_str(text, room, ctx + (read_u32(ctx, at) & 0xffff));
	else
		bpf_probe_read_kernel_str(text, room, (void *)read_u64(ctx, at));
}

static __always_inline __u64 hash_text(__u64 hash, const char *text, int len)
{
	for (int i = 0; i < len; i++) {
		if (!text[i])
			break;
		hash = (hash ^ (__u8)text[i]) * 0x100000001b3ULL;
	}
	return hash;
}

/*
 * The scheduler's address is not reported: a ring is identified by its name, and by its device's name if
 * that is known.
 */
static __always_inline __u64 ring_number(void *ctx, const volatile struct grt_bpf_job_format *f,
					 struct grt_bpf_ring *r)
{
	__u64 hash = 0xcbf29ce484222325ULL;

	read_text(ctx, f->name, f->name_in_record, r->name, sizeof(r->name));
	read_text(ctx, f->device, 1, r->bus, sizeof(r->bus));
	hash = hash_text(hash, r->name, sizeof(r->name));
	return hash_text(hash * 31, r->bus, sizeof(r->bus));
}

static __always_inline struct grt_bpf_ring *ring_of(__u64 number, struct grt_bpf_ring *named)
{
	struct grt_bpf_ring_key key = {.address = number};
	struct grt_bpf_ring *known;

	__builtin_memcpy(key.name, named->name, sizeof(key.name));
	known = bpf_map_lookup_elem(&rings, &key);
	return known ? known : ring_add(&key, named);
}

static __always_inline struct job_key fence_at(void *ctx, __u16 at)
{
	struct dma_fence *fence = (void *)read_u64(ctx, at);

	return (struct job_key){
		.ctx = BPF_CORE_READ(fence, context),
		.seqno = BPF_CORE_READ(fence, seqno),
	};
}

static __always_inline struct job_key key_of(void *ctx, const volatile struct grt_bpf_job_format *f)
{
	if (f->fence != BPF_NO_FIELD)
		return fence_at(ctx, f->fence);
	return (struct job_key){.ctx = read_u64(ctx, f->ctx), .seqno = read_u64(ctx, f->seqno)};
}

static __always_inline int queue(void *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct job job = {.pid = pid_tgid >> 32, .tid = (__u32)pid_tgid, .ring = GRT_RING_NONE};
	struct grt_bpf_ring named = {}, *ring;
	struct ring_job name = {};
	struct job_key key;

	if (gate_is_outside())
		return 0;
	name.ring = ring_number(ctx, &format.queue, &named);
	key = key_of(ctx, &format.queue);
	ring = ring_of(name.ring, &named);
	if (ring)
		job.ring = ring->id;
	if (format.queue.id != BPF_NO_FIELD) {
		name.id = read_u64(ctx, format.queue.id);
		bpf_map_update_elem(&ring_jobs, &name, &key, BPF_ANY);
	}
	return job_submit(ctx, &key, &job, ring && ring->denied, 0, 0, 0);
}

static __always_inline int run(void *ctx)
{
	struct job_key key = key_of(ctx, &format.run);

	return job_commit(&key, read_u32(ctx, format.run.sw_depth), read_u32(ctx, format.run.hw_depth));
}

/*
 * The kernel does not run a program on a tracepoint's record in an interrupt during another such program on
 * the CPU, and up to 6.6 it does not count that. Jobs are done in interrupts, so this program takes the
 * argument: a struct drm_sched_fence, which begins with the fences "scheduled" and "finished" (5.15 to 7.3),
 * with the same number and adjacent contexts.
 */
static __always_inline int done(struct dma_fence *scheduled)
{
	struct dma_fence *finished = (void *)scheduled + bpf_core_type_size(struct dma_fence);
	struct job_key key = {
		.ctx = BPF_CORE_READ(finished, context),
		.seqno = BPF_CORE_READ(finished, seqno),
	};
	struct grt_bpf_counts *c;
	__u32 cpu;

	if (key.ctx == BPF_CORE_READ(scheduled, context) + 1 && key.seqno == BPF_CORE_READ(scheduled, seqno))
		return job_end(&key, 0, 0, 0);
	c = my_counts(&cpu);
	if (c)
		COUNT(c->unmatched);
	return 0;
}

/* Up to 6.14: called for each dependency when the scheduler considers the job, also for signalled ones. */
static __always_inline int met(void *ctx)
{
	struct dma_fence *fence = (void *)read_u64(ctx, format.dep.fence);
	struct job_key dep = fence_at(ctx, format.dep.fence), *key;
	struct grt_bpf_ring named = {};
	struct ring_job name = {
		.ring = ring_number(ctx, &format.dep, &named),
		.id = read_u64(ctx, format.dep.id),
	};

	key = bpf_map_lookup_elem(&ring_jobs, &name);
	if (!key)
		return 0;
	return job_wait_dep(key, &dep, is_signalled(fence));
}

/* From 6.17 on: called only if the job has to wait. */
static __always_inline int waits_for(void *ctx)
{
	struct job_key key = key_of(ctx, &format.dep);
	struct job_key dep = {
		.ctx = read_u64(ctx, format.dep.dep_ctx),
		.seqno = read_u64(ctx, format.dep.dep_seqno),
	};

	return job_wait_dep(&key, &dep, 0);
}

#define PROBE_RECORD(NAME, BODY)                       \
	SEC("tp/gpu_scheduler/" #NAME)                 \
	int NAME(void *ctx)                            \
	{                                              \
		return gate_is_shut() ? 0 : BODY(ctx); \
	}

PROBE_RECORD(drm_sched_job, queue)
PROBE_RECORD(drm_sched_job_queue, queue)
PROBE_RECORD(drm_run_job, run)
PROBE_RECORD(drm_sched_job_run, run)
PROBE_RECORD(drm_sched_job_wait_dep, met)
PROBE_RECORD(drm_sched_job_unschedulable, waits_for)

#define PROBE_DONE(NAME)                                                \
	SEC("raw_tp/" #NAME)                                            \
	int NAME(struct bpf_raw_tracepoint_args *ctx)                   \
	{                                                               \
		return gate_is_shut() ? 0 : done((void *)ctx->args[0]); \
	}

PROBE_DONE(drm_sched_process_job)
PROBE_DONE(drm_sched_job_done)

char LICENSE[] SEC("license") = "GPL";
