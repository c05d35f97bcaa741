/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls on NVIDIA's control device, as raw bytes for the decoder (lib/nvidia):
 * nothing is understood here but what must be known to leave the others out and
 * to read as much as is needed. The program that includes this says which calls
 * it wants, and how much of them: head_of() and params_of(). With NV_STACKS it
 * takes the stacks of threads, too: wants_stack() says at which calls.
 *
 *	ioctl			when it is left: arguments are still in the saved
 *				registers, and the driver has copied its answer
 *				back
 *	close			of a file that has been used so, when it is left
 *	open, openat, openat2	that gave a file the place of one that is gone
 *	execve, exit		of a process that may have such files
 *	fork			a child may have them, too
 *
 * No event reports that a file was closed for the last time; so the loader goes
 * through the open files of all processes (iter/task_file) when one of these
 * calls says that it may be.
 *
 * All but the ioctl begin with a look at a table by process: those that have
 * nothing to do with a GPU pay for no more.
 */
#ifndef GRTRACE_BPF_NV_CALLS_H
#define GRTRACE_BPF_NV_CALLS_H

#include "nv_frame.h"
#ifdef NV_STACKS
#include "stacks.h"
#endif

#define NVIDIA_MAJOR 195

#define PF_EXITING 4

/*
 * The kernel addresses of files in which calls were seen, with their inode, because another file may get the
 * same address.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, __u64);
} nv_files SEC(".maps");

/* Processes that may have such files. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u32);
} nv_holders SEC(".maps");

/* By thread: the file that it is closing. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u64);
} nv_closing SEC(".maps");

/** struct out_call - the record for the loader; the names come first */
struct out_call {
	struct grt_bpf_record r;
	struct grt_bpf_comm comm;
	struct grt_nv_call call;
};

static __always_inline int is_holder(void)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;

	return bpf_map_lookup_elem(&nv_holders, &pid) != 0;
}

static __always_inline void remember(__u64 file, __u32 pid)
{
	__u64 inode = (__u64)BPF_CORE_READ((struct file *)file, f_inode);
	__u32 one = 1;

	if (!bpf_map_lookup_elem(&nv_files, &file))
		bpf_map_update_elem(&nv_files, &file, &inode, BPF_ANY);
	if (!bpf_map_lookup_elem(&nv_holders, &pid))
		bpf_map_update_elem(&nv_holders, &pid, &one, BPF_ANY);
}

/* NULL: not wanted, or no room, which has been counted */
static __always_inline struct out_call *begin_call(struct grt_bpf_counts **counts, __u32 kind, __u64 file)
{
	struct grt_bpf_counts *c;
	struct out_call *at;
	__u64 pid_tgid, stamp;
	__u32 cpu;

	c = my_counts_if_wanted(&cpu, &pid_tgid);
	if (!c || is_recorder(pid_tgid >> 32))
		return 0;
	COUNT(c->wanted);
	stamp = bpf_ktime_get_ns();
	at = bpf_ringbuf_reserve(&events, sizeof(*at), 0);
	if (!at) {
		COUNT(c->lost);
		return 0;
	}
	*counts = c;
	at->r.cpu = cpu;
	at->r.labels = BPF_HAS_COMM | BPF_HAS_CALL;
	fill_comm(&at->comm, pid_tgid);
	__builtin_memset(&at->call, 0, __builtin_offsetof(struct grt_nv_call, head));
	at->call.time = stamp;
	at->call.file = file;
	at->call.pid = pid_tgid >> 32;
	at->call.tid = (__u32)pid_tgid;
	at->call.kind = kind;
	at->call.cpu = cpu;
	return at;
}

static __always_inline int put_call(__u32 kind, __u64 file)
{
	struct grt_bpf_counts *c;
	struct out_call *at = begin_call(&c, kind, file);

	if (at)
		event_submit(at, c);
	return 0;
}

/* ------------------------------------------------------------- ioctl */

_Static_assert(NV_ALLOC_PARAMS == NV_CONTROL_PARAMS, "both have their pointer at one place");

/**
 * struct call_stacks - numbers of the running thread's stacks; BPF_STACK_NONE: not wanted, or there is none
 */
struct call_stacks {
	__u32 user;
	__u32 kernel;
};

/* Stacks are taken first: later, the verifier would check the walk once for each kind of call. */
static __always_inline struct call_stacks my_stacks(void *ctx, const struct frame *f)
{
	struct call_stacks s = {BPF_STACK_NONE, BPF_STACK_NONE};
#ifdef NV_STACKS
	__u32 cpu;
	struct grt_bpf_counts *c = config.stacks && wants_stack(f) ? my_counts(&cpu) : 0;

	if (!c || !thread_wanted(bpf_get_current_pid_tgid() >> 32))
		return s;
	if (config.stacks & BPF_STACK_USER)
		s.user = take_user_stack(ctx, c);
	if (config.stacks & BPF_STACK_KERNEL)
		s.kernel = take_stack(ctx, c, 0);
#endif
	return s;
}

/* Return: the address of the parameters; those of the heap's control are inside its struct. */
static __always_inline __u64 params_at(const struct frame *f, const __u8 *head)
{
	if (f->nr == NV_ESC_RM_VID_HEAP_CONTROL)
		return f->at + NV_HEAP_UNION;
	return *(__u64 *)(head + NV_ALLOC_PARAMS);
}

static __always_inline int put_ioctl(const struct call_stacks *stacks, const struct frame *f, __u32 fd,
				     __s64 ret, const __u32 *head, __u32 len, __u32 params)
{
	struct grt_bpf_counts *c;
	struct out_call *at;
	__u32 device, foreign;
	__u64 file, from;

	file = (__u64)file_of(my_task(), fd, &device);
	foreign = device >> 20 != NVIDIA_MAJOR;
	if (!file || (foreign && !config.refused))
		return 0;
	at = begin_call(&c, GRT_NV_IOCTL, file);
	if (!at)
		return 0;
	remember(file, at->call.pid);
	at->call.nr = f->nr;
	at->call.size = f->size;
	at->call.ret = ret;
	at->call.flags = foreign ? GRT_NV_FOREIGN : 0;
	at->call.user = stacks->user;
	at->call.kernel = stacks->kernel;
	at->call.head_size = len;
	__builtin_memcpy(at->call.head, head, GRT_NV_HEAD);
	from = params_at(f, at->call.head);
	if (params && params <= GRT_NV_PARAMS && from &&
	    !bpf_probe_read_user(at->call.params, params, (void *)from))
		at->call.params_size = params;
	event_submit(at, c);
	return 0;
}

SEC("tp/syscalls/sys_exit_ioctl")
int exit_ioctl(struct syscall_exit *ctx)
{
	struct pt_regs *regs = my_regs();
	__u32 cmd = CALL_2(regs), len, params, head[GRT_NV_HEAD / 4] = {};
	struct frame f = frame_of(cmd, CALL_3(regs));
	struct call_stacks stacks;

	if (IOCTL_TYPE(cmd) != NV_IOCTL_TYPE || (ctx->ret < 0 && !config.refused) || unwrap(&f))
		return 0;
	stacks = my_stacks(ctx, &f);
	len = head_of(&f);
	if (!len || len > sizeof(head) || f.size < len || bpf_probe_read_user(head, len, (void *)f.at))
		return 0;
	params = params_of(&f, head);
	if (params == NOT_WANTED)
		return 0;
	return put_ioctl(&stacks, &f, CALL_1(regs), ctx->ret, head, len, params);
}

/* ------------------------------------------------------------- files */

SEC("tp/syscalls/sys_enter_close")
int enter_close(struct syscall_enter *ctx)
{
	__u64 id, file;
	__u32 device;

	if (!is_holder())
		return 0;
	file = (__u64)file_of(my_task(), ctx->args[0], &device);
	if (!file || !bpf_map_lookup_elem(&nv_files, &file))
		return 0;
	id = bpf_get_current_pid_tgid();
	bpf_map_update_elem(&nv_closing, &id, &file, BPF_ANY);
	return 0;
}

SEC("tp/syscalls/sys_exit_close")
int exit_close(struct syscall_exit *ctx)
{
	__u64 id, *file;

	if (!is_holder())
		return 0;
	id = bpf_get_current_pid_tgid();
	file = bpf_map_lookup_elem(&nv_closing, &id);
	if (!file)
		return 0;
	put_call(GRT_NV_CLOSED, *file);
	bpf_map_delete_elem(&nv_closing, &id);
	return 0;
}

/* Descriptors that dup2() replaced or that a range closed: which ones is not needed. */
static __always_inline int may_have_closed(__s64 ret)
{
	return ret >= 0 && is_holder() ? put_call(GRT_NV_EXEC, 0) : 0;
}

SEC("tp/syscalls/sys_exit_close_range")
int exit_close_range(struct syscall_exit *ctx)
{
	return may_have_closed(ctx->ret);
}

SEC("tp/syscalls/sys_exit_dup2")
int exit_dup2(struct syscall_exit *ctx)
{
	return may_have_closed(ctx->ret);
}

SEC("tp/syscalls/sys_exit_dup3")
int exit_dup3(struct syscall_exit *ctx)
{
	return may_have_closed(ctx->ret);
}

/* A new file has the address of a file that had clients, so that file is gone. */
static __always_inline int opened(__s64 ret)
{
	__u32 device;
	__u64 file;

	if (ret < 0)
		return 0;
	file = (__u64)file_of(my_task(), ret, &device);
	if (!file || bpf_map_delete_elem(&nv_files, &file))
		return 0;
	return put_call(GRT_NV_OPENED, file);
}

SEC("tp/syscalls/sys_exit_open")
int exit_open(struct syscall_exit *ctx)
{
	return opened(ctx->ret);
}

SEC("tp/syscalls/sys_exit_openat")
int exit_openat(struct syscall_exit *ctx)
{
	return opened(ctx->ret);
}

SEC("tp/syscalls/sys_exit_openat2")
int exit_openat2(struct syscall_exit *ctx)
{
	return opened(ctx->ret);
}

/* ------------------------------------------------------------- processes */

SEC("raw_tp/sched_process_fork")
int process_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *child = (void *)ctx->args[1];
	__u32 pid, one = 1;

	if (!is_holder())
		return 0;
	pid = BPF_CORE_READ(child, tgid);
	bpf_map_update_elem(&nv_holders, &pid, &one, BPF_ANY);
	return 0;
}

SEC("raw_tp/sched_process_exec")
int process_exec(struct bpf_raw_tracepoint_args *ctx)
{
	return may_have_closed(0);
}

/* A process ends with its last thread; only the program that takes its entry continues. */
SEC("raw_tp/sched_process_exit")
int process_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u32 pid = BPF_CORE_READ(task, tgid);

	if (!bpf_map_lookup_elem(&nv_holders, &pid) || BPF_CORE_READ(task, signal, live.counter) ||
	    bpf_map_delete_elem(&nv_holders, &pid))
		return 0;
	return put_call(GRT_NV_EXIT, 0);
}

/* The open files in the table, each as a pair of file and process; a process that ends has none. */
SEC("iter/task_file")
int nv_open_files(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct grt_bpf_nv_file row = {};
	__u64 *inode;

	if (!task || !file || task->flags & PF_EXITING)
		return 0;
	row.file = (__u64)file;
	inode = bpf_map_lookup_elem(&nv_files, &row.file);
	if (!inode || *inode != (__u64)file->f_inode)
		return 0;
	row.pid = task->tgid;
	bpf_seq_write(ctx->meta->seq, &row, sizeof(row));
	return 0;
}

#endif /* GRTRACE_BPF_NV_CALLS_H */
