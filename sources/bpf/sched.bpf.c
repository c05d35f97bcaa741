// SPDX-License-Identifier: GPL-2.0
/*
 * Threads on and off the CPU: those of one process, or of the program that
 * `record` starts and of all that it makes.
 *
 *	sched_process_exec	the program begins: a child of ours calls exec
 *	sched_process_fork	a thread of a followed one is followed
 *	sched_switch		it leaves the CPU: stack, state and system call are
 *				remembered; it comes back: OFF_CPU, or ASLEEP; it is
 *				dead: THREAD
 *	sched_waking		it is woken, see wakers.h
 *	dma_fence_signaled, drm_vblank_event_delivered	what the waker is doing
 *	task_rename		THREAD, with the new name
 *	perf_event		SAMPLE, of what runs
 *
 * A thread that is not followed costs a look into the table of those that are,
 * whenever it comes, goes or is woken.
 */
#include "files.h"
#define STACKS_MAX BPF_STACKS_MAX_SCHED
#include "stacks.h"
#include "wakers.h"

#define TASK_DEAD 0x80
#define PF_NO_USER (0x00200000 | 0x00000010 | 0x00004000) /* kernel threads, io_uring's workers, vhost's */

/* Files of a poll that are looked at. */
#define POLL_FILES 8

/** struct poll_file - as in the uapi */
struct poll_file {
	__s32 fd;
	__s16 events;
	__s16 revents;
};

extern int LINUX_KERNEL_VERSION __kconfig;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BPF_THREADS_MAX);
	__type(key, __u32);
	__type(value, struct grt_bpf_thread);
} threads SEC(".maps");

/* Threads are left as they were then; 0: it is not known yet. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} end_of_recording SEC(".maps");

static __always_inline int is_over(__u64 now)
{
	__u32 first = 0;
	__u64 *end = bpf_map_lookup_elem(&end_of_recording, &first);

	return end && *end && now > *end;
}

static __always_inline struct grt_bpf_thread *thread_of(__u32 tid)
{
	return tid ? bpf_map_lookup_elem(&threads, &tid) : 0;
}

/* --comm is about threads that may not be the running one. */
static __always_inline int is_named(struct task_struct *task)
{
	char comm[BPF_COMM];

	if (!config.comm[0])
		return 1;
	BPF_CORE_READ_STR_INTO(&comm, task, comm);
	return same_text(comm, config.comm, BPF_COMM);
}

/* Return: the counters for a task, which need not be the running one; NULL: it is not wanted */
static __always_inline struct grt_bpf_counts *counts_for(struct task_struct *task, __u32 *cpu)
{
	struct grt_bpf_counts *c = my_counts(cpu);

	if (!c || is_named(task))
		return c;
	count_filtered(c);
	return 0;
}

/* ------------------------------------------------------------- threads */

/* THREAD, with its names. @name: its comm, where that is just being changed. Return: the record's time */
static __noinline __u64 put_thread(struct task_struct *task, __u32 tid, __u32 what, __u32 parent,
				   const char *name)
{
	__u64 pid_tgid = (__u64)BPF_CORE_READ(task, tgid) << 32 | tid, time;
	struct grt_bpf_thread *t = thread_of(tid);
	struct out_comm_thread *at;
	struct grt_bpf_counts *c;
	__u32 cpu;

	c = counts_for(task, &cpu);
	at = c ? begin_comm_thread(c, cpu, pid_tgid) : 0;
	if (!at)
		return bpf_ktime_get_ns();
	if (name)
		bpf_probe_read_kernel_str(&at->comm.comm, sizeof(at->comm.comm), name);
	else
		BPF_CORE_READ_STR_INTO(&at->comm.comm, task, comm);
	at->comm.owner[0] = 0;
	if ((__u32)pid_tgid != pid_tgid >> 32)
		BPF_CORE_READ_STR_INTO(&at->comm.owner, task, group_leader, comm);
	at->ev.what = what;
	at->ev.parent = parent;
	at->ev.number = t && what != GRT_THREAD_MADE ? t->number : 0;
	time = at->ev.e.time;
	event_submit(at, c);
	return time;
}

/* From now on the thread is followed. */
static __always_inline void follow(struct task_struct *task, __u32 what, __u32 parent)
{
	struct grt_bpf_thread t = {
		.call = -1,
		.fd = ~0U,
		.reason = GRT_THREAD_RUNNABLE,
		.on = what != GRT_THREAD_MADE,
	};
	__u32 tid = BPF_CORE_READ(task, pid), cpu;
	struct grt_bpf_counts *c;

	t.pid = BPF_CORE_READ(task, tgid);
	t.since = put_thread(task, tid, what, parent, 0);
	if (!bpf_map_update_elem(&threads, &tid, &t, BPF_ANY))
		return;
	c = my_counts(&cpu);
	if (c)
		COUNT(c->unmatched);
}

static __always_inline int is_selected(struct task_struct *task)
{
	return config.pid && BPF_CORE_READ(task, tgid) == config.pid;
}

SEC("raw_tp/sched_process_fork")
int made(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *child = (void *)ctx->args[1];
	__u32 parent = (__u32)bpf_get_current_pid_tgid();

	if (config.pid ? is_selected(child) : thread_of(parent) != 0)
		follow(child, GRT_THREAD_MADE, parent);
	return 0;
}

/* A thread that is not its process's first takes over the number of that one. */
static __always_inline void renumbered(struct task_struct *task, __u32 old)
{
	if (!thread_of(old))
		return;
	put_thread(task, old, GRT_THREAD_ENDED, 0, 0);
	bpf_map_delete_elem(&threads, &old);
	follow(task, GRT_THREAD_SEEN_ON, 0);
}

SEC("raw_tp/sched_process_exec")
int executed(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), old = ctx->args[1];

	if (old != tid)
		renumbered(task, old);
	else if (!config.pid && !thread_of(tid) &&
		 BPF_CORE_READ(task, group_leader, real_parent, tgid) == config.self)
		follow(task, GRT_THREAD_SEEN_ON, 0);
	return 0;
}

SEC("raw_tp/task_rename")
int renamed(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u32 tid = BPF_CORE_READ(task, pid);

	if (thread_of(tid))
		put_thread(task, tid, GRT_THREAD_NAMED, 0, (const char *)ctx->args[1]);
	return 0;
}

/* ------------------------------------------------------------- coming back */

/* Sets what OFF_CPU and ASLEEP have in common. */
static __always_inline void fill_off_cpu(struct grt_ev_off_cpu *ev, struct grt_bpf_thread *t, __u32 tid)
{
	ev->e.pid = t->pid;
	ev->e.tid = tid;
	ev->e.device = t->device;
	ev->start = t->since;
	ev->number = t->number;
	ev->user = t->user;
	ev->kernel = t->kernel;
	ev->state = t->state;
	ev->reason = t->reason;
	ev->over = 1;
	ev->call = t->call;
	ev->fd = t->fd;
	t->since = ev->e.time;
}

static __always_inline void put_off_cpu(struct grt_bpf_thread *t, struct grt_bpf_counts *c, __u32 cpu,
					__u32 tid, __u32 flags)
{
	struct out_off_cpu *at = begin_off_cpu(c, cpu);

	if (!at)
		return;
	fill_off_cpu(&at->ev, t, tid);
	at->ev.e.flags |= flags;
	event_submit(at, c);
}

/* Whoever is asleep was woken: where that was not seen since it left the CPU, it was while it left. */
static __always_inline void put_asleep(struct grt_bpf_thread *t, struct grt_bpf_counts *c, __u32 cpu,
				       __u32 tid, __u32 flags)
{
	struct out_asleep *at = begin_asleep(c, cpu);

	if (!at)
		return;
	at->ev.woken = !t->woken || t->woken > t->since ? t->woken : t->since + 1;
	fill_off_cpu((struct grt_ev_off_cpu *)&at->ev, t, tid);
	at->ev.e.flags |= flags | (t->inferred ? GRT_FLAG_INFERRED : 0);
	at->ev.over = !flags;
	at->ev.e.ctx = t->ctx;
	at->ev.e.seqno = t->seqno;
	at->ev.waker = t->waker;
	at->ev.waker_pid = t->waker_pid;
	at->ev.by = t->by;
	at->ev.cause = t->cause;
	__builtin_memcpy(at->ev.waker_comm, t->waker_comm, sizeof(at->ev.waker_comm));
	event_submit(at, c);
}

/* @flags: GRT_FLAG_* of the record */
static __noinline int came_back(struct grt_bpf_thread *t, struct task_struct *task, __u32 tid, __u32 flags)
{
	struct grt_bpf_counts *c;
	__u32 cpu;

	if (!t)
		return 0;
	t->number++;
	t->on = 1;
	c = counts_for(task, &cpu);
	if (!c)
		return 0;
	if (t->state)
		put_asleep(t, c, cpu, tid, flags);
	else
		put_off_cpu(t, c, cpu, tid, flags);
	return 0;
}

/* The thread's wake-up was not seen either: it slept until it ran. */
static __always_inline void woken_unseen(struct grt_bpf_thread *t, __u64 came)
{
	t->woken = came;
	t->waker = t->waker_pid = t->by = t->cause = 0;
	t->ctx = t->seqno = 0;
	t->waker_comm[0] = t->waker_comm[1] = 0;
}

/* From its wake-up up to @came, the thread was ready to run. */
static __noinline int was_runnable(struct grt_bpf_thread *t, struct task_struct *task, __u32 tid, __u64 came)
{
	struct grt_bpf_counts *c;
	struct out_off_cpu *at;
	__u32 cpu;

	if (!t)
		return 0;
	t->number++;
	c = counts_for(task, &cpu);
	at = c ? begin_off_cpu(c, cpu) : 0;
	if (!at)
		return 0;
	fill_off_cpu(&at->ev, t, tid);
	at->ev.woken = came;
	at->ev.over = 0;
	at->ev.e.flags |= GRT_FLAG_INFERRED;
	event_submit(at, c);
	return 0;
}

/*
 * The thread leaves the CPU, and its arrival was not seen: if a tracepoint is not called in the context of
 * some thread (a virtual machine's agent, seen on Linux 6.18), the switch from that thread is not reported.
 * The kernel's count of the time that this thread ran shows when it arrived.
 */
static __noinline int came_unseen(struct grt_bpf_thread *t, struct task_struct *task, __u32 tid, __u64 now)
{
	__u64 came;

	if (!t)
		return 0;
	came = now - (BPF_CORE_READ(task, se.sum_exec_runtime) - t->ran);
	if (t->state) {
		if (t->woken <= t->since)
			woken_unseen(t, came > t->since ? came : t->since + 1);
		came_back(t, task, tid, GRT_FLAG_INFERRED);
		t->since = t->woken;
	}
	t->state = 0;
	t->reason = GRT_THREAD_RUNNABLE;
	t->call = -1;
	t->fd = ~0U;
	t->device = 0;
	if (came > t->since && came < now)
		was_runnable(t, task, tid, came);
	return 0;
}

/* ------------------------------------------------------------- leaving the CPU */

static __always_inline __u32 state_of(struct bpf_raw_tracepoint_args *ctx, struct task_struct *task)
{
	struct task_struct___before_5_14 *old = (void *)task;

	/* it was taken off the CPU, whatever it was about to do */
	if (ctx->args[0] & 1)
		return 0;
	if (LINUX_KERNEL_VERSION >= (5 << 16 | 18 << 8))
		return ctx->args[3];
	return bpf_core_field_exists(task->__state) ? BPF_CORE_READ(task, __state)
						    : BPF_CORE_READ(old, state);
}

static __always_inline int look_at_file(struct grt_bpf_thread *t, struct task_struct *task, __u32 fd)
{
	__u32 device = device_of(task, fd);

	if (!has_major(device))
		return 0;
	t->fd = fd;
	t->device = device;
	t->reason = GRT_THREAD_GPU;
	return 1;
}

static __noinline int look_at_poll(struct grt_bpf_thread *t, __u64 files, __u64 n)
{
	struct task_struct *task = my_task();
	struct poll_file p;

	if (!t)
		return 0;
	for (__u32 i = 0; i < POLL_FILES && i < n; i++) {
		if (bpf_probe_read_user(&p, sizeof(p), (void *)(files + i * sizeof(p))))
			break;
		if (look_at_file(t, task, p.fd))
			break;
	}
	return 0;
}

/* Finds out what the thread waits for, if the kernel's structs show it. */
static __always_inline void look_at_wait(struct grt_bpf_thread *t, struct task_struct *task)
{
	struct pt_regs *regs;

	if (BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait))
		t->reason = GRT_THREAD_IO;
	if (MINE(task, flags) & PF_NO_USER)
		return;
	regs = my_regs();
	t->call = CALL_NUMBER(regs);
	if (t->call == NR_IOCTL)
		look_at_file(t, task, CALL_1(regs));
	else if (t->call == NR_POLL || t->call == NR_PPOLL)
		look_at_poll(t, CALL_1(regs), CALL_2(regs));
}

static __always_inline void take_stacks(struct bpf_raw_tracepoint_args *ctx, struct grt_bpf_thread *t)
{
	struct grt_bpf_counts *c;
	__u32 cpu;

	t->user = t->kernel = BPF_STACK_NONE;
	c = config.stacks ? my_counts(&cpu) : 0;
	if (!c)
		return;
	if (config.stacks & BPF_STACK_USER)
		t->user = take_user_stack(ctx, c);
	if (config.stacks & BPF_STACK_KERNEL)
		t->kernel = take_stack(ctx, c, 0);
}

static __always_inline void switched_out(struct bpf_raw_tracepoint_args *ctx, __u64 now)
{
	struct task_struct *task = my_task();
	__u32 tid = MINE(task, pid), state = state_of(ctx, task);
	struct grt_bpf_thread *t = thread_of(tid);

	if (t && !t->on)
		came_unseen(t, task, tid, now);
	if (state & TASK_DEAD) {
		if (t)
			put_thread(task, tid, GRT_THREAD_ENDED, 0, 0);
		if (t)
			bpf_map_delete_elem(&threads, &tid);
		return;
	}
	if (!t && is_selected(task)) {
		follow(task, GRT_THREAD_SEEN_ON, 0);
		t = thread_of(tid);
	}
	if (!t)
		return;
	t->since = now > t->since ? now : t->since;
	t->ran = MINE(task, se.sum_exec_runtime);
	t->state = state;
	t->reason = state ? GRT_THREAD_UNKNOWN : GRT_THREAD_RUNNABLE;
	t->call = -1;
	t->fd = ~0U;
	t->device = 0;
	t->on = 0;
	if (state)
		look_at_wait(t, task);
	take_stacks(ctx, t);
}

static __always_inline void switched_in(struct task_struct *task)
{
	__u32 tid = BPF_CORE_READ(task, pid);
	struct grt_bpf_thread *t = thread_of(tid);

	if (!t && tid && is_selected(task))
		follow(task, GRT_THREAD_SEEN_OFF, 0);
	if (!t)
		return;
	/*
	 * Its leaving was not seen: the next number shows that an interval is unknown. A thread that existed
	 * before the recording may only have had no CPU.
	 */
	if (t->on && t->number)
		t->number++;
	else
		came_back(t, task, tid, 0);
}

SEC("raw_tp/sched_switch")
int switched(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 now = bpf_ktime_get_ns();

	if (is_over(now))
		return 0;
	switched_out(ctx, now);
	switched_in((struct task_struct *)ctx->args[2]);
	return 0;
}

/*
 * A thread that is just leaving the CPU may be woken before its sched_switch: so wake-ups
 * of running threads are stored, too. Of a thread that is off the CPU, the first one counts.
 */
SEC("raw_tp/sched_waking")
int waking(struct bpf_raw_tracepoint_args *ctx)
{
	struct grt_bpf_thread *t = thread_of(BPF_CORE_READ((struct task_struct *)ctx->args[0], pid));

	if (!t || (!t->on && t->woken > t->since))
		return 0;
	see_waker(ctx, t);
	t->woken = bpf_ktime_get_ns();
	return 0;
}

/* ------------------------------------------------------------- samples */

SEC("perf_event")
int sampled(struct bpf_perf_event_data *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 user = BPF_STACK_NONE, kernel = BPF_STACK_NONE, cpu;
	struct out_sample *at;
	struct grt_bpf_counts *c;

	if (!thread_of((__u32)pid_tgid))
		return 0;
	c = counts_for((struct task_struct *)bpf_get_current_task(), &cpu);
	if (!c)
		return 0;
	if (config.stacks & BPF_STACK_USER)
		user = take_user_stack_of(ctx, c, my_regs(), WALK_INTERRUPT);
	if (config.stacks & BPF_STACK_KERNEL)
		kernel = take_stack(ctx, c, 0);
	at = begin_sample(c, cpu);
	if (!at)
		return 0;
	set_current(&at->ev.e, pid_tgid);
	at->ev.user = user;
	at->ev.kernel = kernel;
	event_submit(at, c);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
