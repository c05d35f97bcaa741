/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The life of a job, for every BPF program that sees a part of it. SUBMIT stores the thread that submitted
 * the job under the job's identity. Later events happen in interrupts and workers, and read the thread from
 * there.
 */
#ifndef GRTRACE_BPF_JOBS_H
#define GRTRACE_BPF_JOBS_H

#include "common.h"
#include "gate.h"
#include "stacks.h"
#include "sums.h"

/* Fences for which jobs wait and that belong to no job here: number of waiting jobs. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct job_key);
	__type(value, __u32);
} deps SEC(".maps");

/* The driver's command code of a job, which it reports before the job's SUBMIT. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct job_key);
	__type(value, __u32);
} commands SEC(".maps");

/* The fence that a thread waits for. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct job_key);
} waits SEC(".maps");

/* Reads both numbers of a fence with one copy, because they are adjacent. */
static __always_inline struct job_key key_of_fence(const struct dma_fence *fence)
{
	__u32 ctx = bpf_core_field_offset(fence->context), seqno = bpf_core_field_offset(fence->seqno);
	struct job_key key = {};

	if (seqno == ctx + sizeof(key.ctx))
		bpf_probe_read_kernel(&key, sizeof(key), (const void *)fence + ctx);
	else
		key = (struct job_key){BPF_CORE_READ(fence, context), BPF_CORE_READ(fence, seqno)};
	return key;
}

#define FENCE_HAS(fence, FLAG)                                                                \
	(BPF_CORE_READ(fence, flags) >>                                                       \
		 bpf_core_enum_value(enum dma_fence_flag_bits, DMA_FENCE_FLAG_##FLAG##_BIT) & \
	 1)

static __always_inline int is_signalled(struct dma_fence *fence)
{
	return FENCE_HAS(fence, SIGNALED);
}

/* When the fence was signalled, ns; 0: unknown. The programs run later than that */
static __always_inline __u64 signalled_at(struct dma_fence *fence)
{
	return FENCE_HAS(fence, TIMESTAMP) ? BPF_CORE_READ(fence, timestamp) : 0;
}

/* STACK: the stack of the thread that submits the job */
static __always_inline void job_stack(void *ctx, const struct job_key *key, const struct job *job,
				      struct grt_bpf_counts *c, __u32 cpu)
{
	__u32 user = BPF_STACK_NONE, kernel = BPF_STACK_NONE;
	struct out_stack *at;

	if (config.stacks & BPF_STACK_USER)
		user = take_user_stack(ctx, c);
	if (config.stacks & BPF_STACK_KERNEL)
		kernel = take_stack(ctx, c, 0);
	at = begin_stack(c, cpu);
	if (!at)
		return;
	set_job(&at->ev.e, key, job);
	at->ev.user = user;
	at->ev.kernel = kernel;
	event_submit(at, c);
}

/*
 * Stores what is known at the submit. Not inlined: programs that record stacks have no room left on the BPF
 * stack.
 */
static __noinline int whole_submit(const struct job_key *key, const struct job *job, struct grt_bpf_counts *c,
				   __u32 cmd, __u64 pid_tgid)
{
	struct whole w = {.cmd = cmd};

	if (!key || !job || !c)
		return 0;
	w.job = *job;
	fill_comm(&w.comm, pid_tgid);
	w.submit = bpf_ktime_get_ns();
	bpf_map_update_elem(&wholes, key, &w, BPF_ANY);
	COUNT(c->whole);
	return 0;
}

/* The data of a job that will be one JOB record; NULL: its events are reported one by one */
static __always_inline struct whole *whole_of(const struct job_key *key)
{
	return config.whole ? bpf_map_lookup_elem(&wholes, key) : 0;
}

/*
 * A job that is reported event by event. Most fences belong to no job, so a lookup for each of them would be
 * wasted.
 */
static __always_inline struct job *parts_of(const struct job_key *key)
{
	if (config.whole && !((volatile struct grt_bpf_gate *)&gate)->parts)
		return 0;
	return bpf_map_lookup_elem(&jobs, key);
}

/* A job in flight; NULL: it is not known */
static __always_inline struct job *job_of(const struct job_key *key)
{
	struct whole *w = whole_of(key);

	return w ? &w->job : parts_of(key);
}

/**
 * job_submit - SUBMIT, from the thread that submits
 * @ctx: of the program
 * @job: complete
 * @denied: a filter by ring rejects it
 * @cmd, @fence_id: as in events.def
 * @flags: GRT_FLAG_COMMIT if the driver has no queue of its own
 */
static __always_inline int job_submit(void *ctx, const struct job_key *key, const struct job *job, int denied,
				      __u32 cmd, __u64 fence_id, __u32 flags)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct out_comm_submit *at;
	struct grt_bpf_counts *c;
	__u32 cpu;

	c = my_counts(&cpu);
	if (!c)
		return 0;
	if (denied || !thread_wanted(pid_tgid >> 32))
		return count_filtered(c);
	gate_opened();
	if (config.whole && job->state & JOB_WHOLE)
		return whole_submit(key, job, c, cmd, pid_tgid);
	bpf_map_update_elem(&jobs, key, job, BPF_ANY);
	if (config.whole)
		((volatile struct grt_bpf_gate *)&gate)->parts = 1;
	at = begin_comm_submit(c, cpu, pid_tgid);
	if (!at)
		return 0;
	at->ev.e.flags |= flags;
	set_job(&at->ev.e, key, job);
	at->ev.cmd = cmd;
	at->ev.hw_ctx = job->hw_ctx;
	at->ev.fence_id = fence_id;
	event_submit(at, c);
	if (config.stacks)
		job_stack(ctx, key, job, c, cpu);
	return 0;
}

/* The counters for an event of this job; NULL: a filter rejects it, which is counted. */
static __always_inline struct grt_bpf_counts *counts_of(const struct job *job, __u32 *cpu)
{
	struct grt_bpf_counts *c = my_counts(cpu);

	if (!c || job || !by_table())
		return c;
	/* events outside of all windows are not counted as offered */
	if (!config.duty.parts)
		count_filtered(c);
	return 0;
}

/* COMMIT: the job is handed to the ring */
static __always_inline int job_commit(const struct job_key *key, __u32 sw_depth, __u32 hw_depth)
{
	struct whole *w = whole_of(key);
	struct out_commit *at;
	struct grt_bpf_counts *c;
	struct job *job;
	__u32 cpu;

	if (w) {
		w->sw_depth = sw_depth;
		w->hw_depth = hw_depth;
		w->commit = bpf_ktime_get_ns();
		return 0;
	}
	job = parts_of(key);
	c = counts_of(job, &cpu);
	if (!c)
		return 0;
	at = begin_commit(c, cpu);
	if (!at)
		return 0;
	set_job(&at->ev.e, key, job);
	at->ev.sw_depth = sw_depth;
	at->ev.hw_depth = hw_depth;
	event_submit(at, c);
	return 0;
}

/* START: the hardware has begun the job */
static __always_inline int job_start(const struct job_key *key)
{
	struct job *job = job_of(key);
	struct out_start *at;
	struct grt_bpf_counts *c;
	__u32 cpu;

	if (job && job->state & JOB_STARTED)
		return 0;
	c = counts_of(job, &cpu);
	if (!c)
		return 0;
	if (job)
		job->state |= JOB_STARTED;
	at = begin_start(c, cpu);
	if (!at)
		return 0;
	set_job(&at->ev.e, key, job);
	event_submit(at, c);
	return 0;
}

/* The time noted for an event may be this much earlier than its record; the loader sorts events. */
#define TOLD_MAX_NS 100000000ULL

static __always_inline __u64 told_or_now(__u64 told, __u64 now)
{
	return now - told < TOLD_MAX_NS ? told : now;
}

static __always_inline void put_end(struct grt_bpf_counts *c, __u32 cpu, const struct job_key *key,
				    const struct job *job, __u32 reply, __u32 hw_ctx, __u64 fence_id,
				    __u32 flags, __u64 told)
{
	struct out_end *at = begin_end(c, cpu);

	if (!at)
		return;
	at->ev.e.time = told_or_now(told, at->ev.e.time);
	at->ev.e.flags |= flags;
	set_job(&at->ev.e, key, job);
	at->ev.reply = reply;
	at->ev.hw_ctx = hw_ctx;
	at->ev.fence_id = fence_id;
	event_submit(at, c);
}

/* END: the device finished the job at @told; 0: now */
static __always_inline int job_ended_at(const struct job_key *key, __u32 reply, __u32 hw_ctx, __u64 fence_id,
					__u64 told)
{
	struct whole *w = whole_of(key);
	struct grt_bpf_counts *c;
	struct job *job;
	__u32 cpu;

	if (w) {
		w->end = told_or_now(told, bpf_ktime_get_ns());
		return 0;
	}
	job = parts_of(key);
	c = counts_of(job, &cpu);
	if (!c)
		return 0;
	if (job)
		job->state &= ~JOB_END_BY_FENCE;
	put_end(c, cpu, key, job, reply, hw_ctx, fence_id, 0, told);
	return 0;
}

static __always_inline int job_end(const struct job_key *key, __u32 reply, __u32 hw_ctx, __u64 fence_id)
{
	return job_ended_at(key, reply, hw_ctx, fence_id, 0);
}

/* The job failed on the hardware; that is reported when it completes */
static __always_inline void job_failed(const struct job_key *key, __s32 error)
{
	struct job *job = job_of(key);

	if (job)
		job->error = error;
}

static __always_inline int job_error(const struct job_key *key, const struct job *job, __s32 status,
				     __u32 code)
{
	struct out_error *at;
	struct grt_bpf_counts *c;
	__u32 cpu;

	c = my_counts(&cpu);
	if (!c)
		return 0;
	at = begin_error(c, cpu);
	if (!at)
		return 0;
	set_job(&at->ev.e, key, job);
	at->ev.status = status;
	at->ev.code = code;
	event_submit(at, c);
	return 0;
}

static __always_inline void fill_whole(struct out_comm_job *at, __u64 stamp, __u32 cpu,
				       const struct job_key *key, const struct whole *w, __s32 status)
{
	__builtin_memset(&at->ev, 0, sizeof(at->ev));
	at->r.cpu = cpu;
	at->r.labels = BPF_HAS_COMM;
	at->comm = w->comm;
	begin_event(&at->ev.e, stamp, GRT_EV_JOB, sizeof(at->ev));
	set_job(&at->ev.e, key, &w->job);
	at->ev.submit = w->submit;
	at->ev.commit = w->commit;
	at->ev.start = w->start;
	at->ev.inferred = w->start ? JOB_START_INFERRED : 0;
	at->ev.end = w->end;
	at->ev.complete = stamp;
	at->ev.cmd = w->cmd;
	at->ev.sw_depth = w->sw_depth;
	at->ev.hw_depth = w->hw_depth;
	at->ev.status = status;
	at->ev.errors = status != 0;
}

/* As sums_take(), with a record that is kept. Without room for it, the job has a record as others have. */
static __always_inline int whole_keep(struct grt_bpf_counts *c, __u32 cpu, const struct job_key *key,
				      struct whole *w, __s32 status)
{
	__u64 stamp = bpf_ktime_get_ns();
	struct out_comm_job *at = bpf_ringbuf_reserve(&kept, sizeof(*at), 0);
	int took;

	_Static_assert(sizeof(*at) == BPF_KEPT_BYTES, "all records have the size that the loader expects");
	if (!at)
		return SUMS_RECORD;
	took = sums_take(w, c);
	if (took != SUMS_TAKEN) {
		bpf_ringbuf_discard(at, BPF_RB_NO_WAKEUP);
		return took;
	}
	fill_whole(at, stamp, cpu, key, w, status);
	bpf_ringbuf_submit(at, BPF_RB_NO_WAKEUP);
	return took;
}

/* Adds the job to the sums if they are requested. Return: whether it needs no record */
static __always_inline int whole_summed(struct grt_bpf_counts *c, __u32 cpu, const struct job_key *key,
					struct whole *w, __s32 status)
{
	int took = !config.sums	 ? SUMS_RECORD
		   : config.kept ? whole_keep(c, cpu, key, w, status)
				 : sums_take(w, c);

	if (took == SUMS_LOST) {
		COUNT(c->wanted);
		COUNT(c->lost);
		__sync_fetch_and_add(&c->whole, -1);
	}
	return took != SUMS_RECORD;
}

/* JOB: the whole job in its last record; waits for the job have events of their own */
static __always_inline int put_whole(struct grt_bpf_counts *c, __u32 cpu, const struct job_key *key,
				     struct whole *w, __s32 status)
{
	struct out_comm_job *at;
	__u64 stamp;

	if (whole_summed(c, cpu, key, w, status)) {
		bpf_map_delete_elem(&wholes, key);
		return 0;
	}
	at = begin_reserve(c, GRT_EV_JOB, sizeof(*at), &stamp);
	if (at) {
		fill_whole(at, stamp, cpu, key, w, status);
		event_submit(at, c);
	} else {
		__sync_fetch_and_add(&c->whole, -1);
	}
	bpf_map_delete_elem(&wholes, key);
	return 0;
}

/*
 * COMPLETE: a fence is signalled. Most fences belong to no job and are not counted. A fence can be signalled
 * only once. If the driver has not reported the job's END, the job is over by now.
 */
static __always_inline int job_complete(const struct job_key *key, __s32 status)
{
	struct whole *w = whole_of(key);
	struct job *job = w ? &w->job : parts_of(key);
	struct out_complete *at;
	struct grt_bpf_counts *c;
	__u32 cpu;

	if (!job || job->state & JOB_DONE)
		return 0;
	c = my_counts(&cpu);
	if (!c)
		return 0;
	job->state |= JOB_DONE;
	gate_closed();
	if (w)
		return put_whole(c, cpu, key, w, status ? status : job->error);
	if (job->state & JOB_END_BY_FENCE)
		put_end(c, cpu, key, job, 0, job->hw_ctx, 0, GRT_FLAG_INFERRED, 0);
	if (status || job->error)
		job_error(key, job, status ? status : job->error, 0);
	at = begin_complete(c, cpu);
	if (!at)
		return 0;
	set_job(&at->ev.e, key, job);
	at->ev.status = status;
	at->ev.hw_ctx = job->hw_ctx;
	event_submit(at, c);
	return 0;
}

/* WAIT_DEP: the scheduler saw a dependency of a job */
static __always_inline int job_wait_dep(const struct job_key *key, const struct job_key *dep, int signalled)
{
	struct job *job = job_of(key);
	struct out_wait_dep *at;
	struct grt_bpf_counts *c;
	__u32 one = 1, *waiting;
	__u32 cpu;

	c = counts_of(job, &cpu);
	if (!c)
		return 0;
	if (!signalled && !job_of(dep)) {
		((volatile struct grt_bpf_gate *)&gate)->deps = 1;
		waiting = bpf_map_lookup_elem(&deps, dep);
		if (waiting)
			__sync_fetch_and_add(waiting, 1);
		else
			bpf_map_update_elem(&deps, dep, &one, BPF_NOEXIST);
	}
	at = begin_wait_dep(c, cpu);
	if (!at)
		return 0;
	set_job(&at->ev.e, key, job);
	if (signalled)
		at->ev.e.flags |= GRT_FLAG_SIGNALLED;
	at->ev.dep_ctx = dep->ctx;
	at->ev.dep_seqno = dep->seqno;
	event_submit(at, c);
	return 0;
}

/* FENCE: a fence was signalled for which jobs waited and that belongs to no job here */
static __always_inline int dep_signalled(const struct job_key *key, __s32 status)
{
	struct out_fence *at;
	struct grt_bpf_counts *c;
	__u32 *waiting, cpu;

	if (!((volatile struct grt_bpf_gate *)&gate)->deps)
		return 0;
	waiting = bpf_map_lookup_elem(&deps, key);
	if (!waiting)
		return 0;
	c = my_counts(&cpu);
	if (!c)
		return 0;
	at = begin_fence(c, cpu);
	if (at) {
		at->ev.e.ctx = key->ctx;
		at->ev.e.seqno = key->seqno;
		at->ev.status = status;
		at->ev.waiters = *waiting;
		event_submit(at, c);
	}
	bpf_map_delete_elem(&deps, key);
	return 0;
}

/* SYNC_WAIT_ENTER: a thread waits for a fence; waits for fences of no job here are not counted */
static __always_inline int wait_enter(const struct job_key *key)
{
	struct job *job = job_of(key);
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 tid = (__u32)pid_tgid, cpu;
	struct out_comm_sync_wait_enter *at;
	struct job_key *known;
	struct grt_bpf_counts *c;

	if (!job)
		return 0;
	/* a driver's own event of a wait comes between those of dma_fence */
	known = bpf_map_lookup_elem(&waits, &tid);
	if (known && known->ctx == key->ctx && known->seqno == key->seqno)
		return 0;
	c = my_counts(&cpu);
	if (!c)
		return 0;
	if (!thread_wanted(pid_tgid >> 32))
		return count_filtered(c);
	if (!bpf_map_update_elem(&waits, &tid, key, BPF_ANY) && !known)
		gate_opened();
	at = begin_comm_sync_wait_enter(c, cpu, pid_tgid);
	if (!at)
		return 0;
	at->ev.e.ctx = key->ctx;
	at->ev.e.seqno = key->seqno;
	at->ev.e.ring = job->ring;
	at->ev.e.device = job->device;
	event_submit(at, c);
	return 0;
}

/* SYNC_WAIT_EXIT: the end of the wait that this thread began; of the fence, only its numbers may be left */
static __always_inline int wait_exit(void)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 tid = (__u32)pid_tgid, cpu;
	struct job_key *known = bpf_map_lookup_elem(&waits, &tid), key;
	struct out_sync_wait_exit *at;
	struct grt_bpf_counts *c;

	if (!known)
		return 0;
	c = my_counts(&cpu);
	if (!c)
		return 0;
	key = *known;
	bpf_map_delete_elem(&waits, &tid);
	gate_closed();
	at = begin_sync_wait_exit(c, cpu);
	if (!at)
		return 0;
	set_job(&at->ev.e, &key, job_of(&key));
	set_current(&at->ev.e, pid_tgid);
	event_submit(at, c);
	return 0;
}

#endif /* GRTRACE_BPF_JOBS_H */
