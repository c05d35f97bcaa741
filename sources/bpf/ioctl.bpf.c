// SPDX-License-Identifier: GPL-2.0
/*
 * DRM ioctls (type 'd') on any file descriptor, at their begin and end.
 *
 * If the kernel allows it, the programs are attached to the function of the system call, and nothing else
 * pays for them. Otherwise they are attached to the tracepoints of this one system call, not to those of all
 * system calls: a program that does not call ioctl then pays half as much. At the end of an ioctl, the
 * thread's saved registers still contain its arguments, so nothing has to be stored in between, and both
 * ends are filtered alike.
 */
#include "calls.h"
#include "gate.h"

/* Threads that are in an ioctl which they entered in a window. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u32);
} inside SEC(".maps");

static __always_inline void entered(__u32 tid)
{
	__u32 one = 1;

	if (!config.duty.parts || bpf_map_update_elem(&inside, &tid, &one, BPF_NOEXIST))
		return;
	gate_opened();
}

/* Return: whether the entry of this exit was recorded. */
static __always_inline int was_entered(__u32 tid)
{
	if (!config.duty.parts)
		return 1;
	if (bpf_map_delete_elem(&inside, &tid))
		return 0;
	gate_closed();
	return 1;
}

static __always_inline int enters(void *ctx, __u32 fd, __u32 cmd, __u64 arg)
{
	struct task_struct *task;
	struct out_comm_ioctl_enter *at;
	struct grt_bpf_counts *c;
	__u32 device, cpu;
	__u64 pid_tgid;

	if (gate_is_shut() || IOCTL_TYPE(cmd) != 'd' || gate_is_outside())
		return 0;
	task = my_task();
	pid_tgid = my_pid_tgid(task);
	c = my_counts(&cpu);
	if (!c)
		return 0;
	if (is_recorder(pid_tgid >> 32) || !thread_wanted(pid_tgid >> 32))
		return count_filtered(c);
	device = device_of(task, fd);
	if (!device_wanted(device))
		return count_filtered(c);
	at = begin_comm_ioctl_enter(c, cpu, pid_tgid);
	if (!at)
		return 0;
	at->ev.e.device = device;
	at->ev.cmd = cmd;
	at->ev.fd = fd;
	at->ev.arg = arg;
	event_submit(at, c);
	entered((__u32)pid_tgid);
	call_stack(ctx, c, cpu, pid_tgid);
	return 0;
}

SEC("tp/syscalls/sys_enter_ioctl")
int ioctl_enter(struct syscall_enter *ctx)
{
	return enters(ctx, ctx->args[0], ctx->args[1], ctx->args[2]);
}

/* @args: arguments of the function */
SEC("fentry/" CALL_FUNCTION(ioctl))
int ioctl_call(__u64 *args)
{
	const struct pt_regs *regs = (const struct pt_regs *)args[0];

	return enters(args, CALL_1(regs), CALL_2(regs), CALL_3(regs));
}

/*
 * Reads the flags of a page flip and of an atomic commit from their arguments (include/uapi/drm/drm_mode.h):
 * whether an event is requested, or only a test.
 */
static __always_inline __u32 flip_flags(__u32 cmd, __u64 arg)
{
	__u32 number = cmd & 0xff, flags;

	if (number != GRT_DRM_PAGE_FLIP && number != GRT_DRM_ATOMIC)
		return 0;
	if (bpf_probe_read_user(&flags, sizeof(flags), (void *)(arg + (number == GRT_DRM_PAGE_FLIP ? 8 : 0))))
		return 0;
	return flags | GRT_FLIP_FLAGS;
}

static __always_inline int left(__u32 fd, __u32 cmd, __u64 arg, __s64 ret)
{
	struct out_ioctl_exit *at;
	struct grt_bpf_counts *c;
	__u64 pid_tgid;
	__u32 cpu;

	if (IOCTL_TYPE(cmd) != 'd')
		return 0;
	pid_tgid = my_pid_tgid(my_task());
	if (!was_entered((__u32)pid_tgid))
		return 0;
	c = my_counts(&cpu);
	if (!c)
		return 0;
	if (is_recorder(pid_tgid >> 32) || !thread_wanted(pid_tgid >> 32))
		return count_filtered(c);
	if (config.one_gpu && !device_wanted(device_of(my_task(), fd)))
		return count_filtered(c);
	at = begin_ioctl_exit(c, cpu);
	if (!at)
		return 0;
	set_current(&at->ev.e, pid_tgid);
	at->ev.cmd = cmd;
	at->ev.ret = ret;
	at->ev.about = flip_flags(cmd, arg);
	event_submit(at, c);
	return 0;
}

/* The saved registers still have the arguments. */
SEC("tp/syscalls/sys_exit_ioctl")
int ioctl_exit(struct syscall_exit *ctx)
{
	struct pt_regs *regs;

	if (gate_is_shut())
		return 0;
	regs = my_regs();
	return left(CALL_1(regs), CALL_2(regs), CALL_3(regs), ctx->ret);
}

/* @args: the arguments of the function, and its result */
SEC("fexit/" CALL_FUNCTION(ioctl))
int ioctl_return(__u64 *args)
{
	const struct pt_regs *regs = (const struct pt_regs *)args[0];

	if (gate_is_shut())
		return 0;
	return left(CALL_1(regs), CALL_2(regs), CALL_3(regs), args[1]);
}

char LICENSE[] SEC("license") = "GPL";
