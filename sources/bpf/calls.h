/* SPDX-License-Identifier: GPL-2.0 */
/* The stacks of threads that enter a system call on a device file. */
#ifndef GRTRACE_BPF_CALLS_H
#define GRTRACE_BPF_CALLS_H

#include "files.h"
#include "stacks.h"

/* Adds CALL_STACK after the event of a call: the stack of the running thread. */
static __always_inline void call_stack(void *ctx, struct grt_bpf_counts *c, __u32 cpu, __u64 pid_tgid)
{
	__u32 user = BPF_STACK_NONE, kernel = BPF_STACK_NONE;
	struct out_call_stack *at;

	if (!config.stacks)
		return;
	if (config.stacks & BPF_STACK_USER)
		user = take_user_stack(ctx, c);
	if (config.stacks & BPF_STACK_KERNEL)
		kernel = take_stack(ctx, c, 0);
	at = begin_call_stack(c, cpu);
	if (!at)
		return;
	set_current(&at->ev.e, pid_tgid);
	at->ev.user = user;
	at->ev.kernel = kernel;
	event_submit(at, c);
}

#endif /* GRTRACE_BPF_CALLS_H */
