/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hits of functions of processes: the process and its stack. A uprobe is in a file, and so in every process
 * that maps the file; other processes are filtered here.
 *
 * The stack's number is reported, and user space looks it up. If another stack has its place in the table,
 * the addresses themselves are reported, so that none is lost.
 */
#ifndef GRTRACE_BPF_HITS_H
#define GRTRACE_BPF_HITS_H

#include "common.h"
#include "stacks.h"

#define PROCESSES_MAX 65536

/* Processes of the recorded program, by their number in the first pid namespace. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROCESSES_MAX);
	__type(key, __u32);
	__type(value, __u8);
} tree SEC(".maps");

/* Images that have had their first hit, whose mappings are read at once. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u64);
	__type(value, __u8);
} images SEC(".maps");

struct out_hit {
	struct grt_bpf_record r;
	struct grt_bpf_comm comm;
	struct grt_bpf_hit hit;
};

struct out_hit_stack {
	struct out_hit out;
	__u64 ip[BPF_STACK_DEPTH];
};

static __always_inline __u64 my_numbers(void)
{
	struct task_struct *task;

	if (!config.pid_ns)
		return bpf_get_current_pid_tgid();
	task = (struct task_struct *)bpf_get_current_task();
	return (__u64)number_of(BPF_CORE_READ(task, group_leader)) << 32 | number_of(task);
}

static __always_inline __u32 pid_of(struct task_struct *task)
{
	return config.pid_ns ? number_of(BPF_CORE_READ(task, group_leader)) : BPF_CORE_READ(task, tgid);
}

/* The program was started before the programs were attached, so it is recognised by its parent. */
static __always_inline int is_ours(struct task_struct *task)
{
	__u32 tgid = BPF_CORE_READ(task, tgid);
	struct task_struct *leader;
	__u8 one = 1;

	if (bpf_map_lookup_elem(&tree, &tgid))
		return 1;
	leader = BPF_CORE_READ(task, group_leader);
	if (pid_of(BPF_CORE_READ(leader, real_parent)) != config.self)
		return 0;
	bpf_map_update_elem(&tree, &tgid, &one, BPF_ANY);
	return 1;
}

static __always_inline int hit_wanted(__u64 pid_tgid)
{
	if (config.tree && !is_ours((struct task_struct *)bpf_get_current_task()))
		return 0;
	return thread_wanted(pid_tgid >> 32);
}

static __always_inline __u64 my_image(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	return BPF_CORE_READ(task, group_leader, start_time) ^ BPF_CORE_READ(task, self_exec_id) << 52;
}

/*
 * A launch is reported by a library in the process, which has named its thread, so that the hit costs
 * little.
 */
static __always_inline void fill_hit(struct out_hit *at, struct pt_regs *regs, __u64 stamp, __u64 pid_tgid,
				     __u32 cpu, __u64 correlation, __u32 function)
{
	at->r.cpu = cpu;
	at->r.labels = BPF_HAS_COMM | BPF_HAS_CALL;
	at->comm.comm[0] = 0;
	at->hit.caller = 0;
	if (!correlation) {
		fill_comm(&at->comm, pid_tgid);
		if (MACHINE_LINKS)
			at->hit.caller = CODE_ADDRESS(USER_LINK(regs));
		else
			bpf_probe_read_user(&at->hit.caller, sizeof(at->hit.caller), (void *)USER_SP(regs));
	}
	at->hit.time = stamp;
	at->hit.correlation = correlation;
	at->hit.function = function;
	at->hit.image = my_image();
	at->hit.pid = pid_tgid >> 32;
	at->hit.tid = (__u32)pid_tgid;
	at->hit.cpu = cpu;
}

/* At the first hit of a program, its mappings must be read while the process exists. */
static __always_inline void hand_over(struct out_hit *at, struct grt_bpf_counts *c)
{
	__u64 image = at->hit.image ^ (__u64)at->hit.pid << 20;
	__u8 one = 1;

	if (bpf_map_lookup_elem(&images, &image)) {
		event_submit(at, c);
		return;
	}
	bpf_map_update_elem(&images, &image, &one, BPF_ANY);
	bpf_ringbuf_submit(at, BPF_RB_FORCE_WAKEUP);
}

/* @w: the walk, which has no slot in the table; 0: there was no walk */
static __always_inline int hit_without_place(struct pt_regs *regs, struct grt_bpf_counts *c, __u64 stamp,
					     __u64 pid_tgid, __u32 cpu, __u64 correlation, __u32 function,
					     struct walk *w, __u32 why)
{
	struct out_hit_stack *at = bpf_ringbuf_reserve(&events, sizeof(*at), 0);
	long n;

	if (!at) {
		COUNT(c->lost);
		return 0;
	}
	if (w && !bpf_probe_read_kernel(at->ip, sizeof(at->ip), w->out.ip))
		n = w->out.depth * sizeof(__u64);
	else
		n = bpf_get_stack(regs, at->ip, sizeof(at->ip), BPF_F_USER_STACK);
	fill_hit(&at->out, regs, stamp, pid_tgid, cpu, correlation, function);
	at->out.hit.end = why;
	at->out.hit.walked = w != 0;
	at->out.hit.stack = BPF_STACK_NONE;
	at->out.hit.depth = n > 0 ? n / sizeof(__u64) : 0;
	if (n <= 0)
		COUNT(c->no_stack);
	hand_over(&at->out, c);
	return 0;
}

/**
 * hit - the running thread has reached a uprobe
 * @correlation: number of the launch; 0: none, a function was entered
 * @function: number of that function
 */
static __always_inline int hit(struct pt_regs *regs, __u64 correlation, __u32 function)
{
	__u64 pid_tgid = my_numbers(), stamp;
	__u32 cpu, why = GRT_STACK_END_FRAME_POINTERS;
	struct grt_bpf_counts *c;
	struct walk *w = 0;
	struct out_hit *at;
	long id = -1;

	c = my_counts(&cpu);
	if (!c)
		return 0;
	if (!hit_wanted(pid_tgid))
		return count_filtered(c);
	COUNT(c->wanted);
	stamp = bpf_ktime_get_ns();
	if (config.stacks & BPF_STACK_TABLES)
		id = (long)walk_user(regs, WALK_ENTERED, &why, &w) - 1;
	if (!w)
		id = bpf_get_stackid(regs, &stacks, BPF_F_USER_STACK);
	if (w ? id < 0 : id == STACK_NO_PLACE) {
		hit_without_place(regs, c, stamp, pid_tgid, cpu, correlation, function, w, why);
		walk_done(w);
		return 0;
	}
	walk_done(w);
	if (id < 0)
		COUNT(c->no_stack);
	at = bpf_ringbuf_reserve(&events, sizeof(*at), 0);
	if (!at) {
		COUNT(c->lost);
		return 0;
	}
	fill_hit(at, regs, stamp, pid_tgid, cpu, correlation, function);
	at->hit.stack = id < 0 ? BPF_STACK_NONE : id + 1;
	at->hit.end = why;
	at->hit.walked = w != 0;
	at->hit.depth = 0;
	hand_over(at, c);
	return 0;
}

SEC("raw_tp/sched_process_fork")
int process_forked(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *child = (void *)ctx->args[1];
	__u32 parent = BPF_CORE_READ((struct task_struct *)ctx->args[0], tgid);
	__u32 tgid = BPF_CORE_READ(child, tgid);
	__u8 one = 1;

	if (config.tree && tgid != parent && is_ours((void *)ctx->args[0]))
		bpf_map_update_elem(&tree, &tgid, &one, BPF_ANY);
	return 0;
}

/* The process's number may soon be reused. */
SEC("raw_tp/sched_process_exit")
int process_ended(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u32 tgid = BPF_CORE_READ(task, tgid);

	if (config.tree && !BPF_CORE_READ(task, signal, live.counter))
		bpf_map_delete_elem(&tree, &tgid);
	return 0;
}

#endif /* GRTRACE_BPF_HITS_H */
