// SPDX-License-Identifier: GPL-2.0
/*
 * Registers of a process's threads, with the values that their programs had when they entered the kernel:
 * threads that are in the kernel will continue there. Nothing is stopped for this.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

#include "kernel.h"
#include "shared.h"

/* The process. */
int wanted = 0;

SEC("iter/task")
int thread_registers(struct bpf_iter__task *ctx)
{
	struct grt_bpf_registers out = {};
	struct task_struct *task = ctx->task;
	struct pt_regs *r;

	if (!task || task->tgid != wanted || !task->mm)
		return 0;
	r = (struct pt_regs *)bpf_task_pt_regs(task);
	if (!IS_USER(r))
		return 0;
	out.tid = (__u32)task->pid;
	out.pc = USER_PC(r);
	out.sp = USER_SP(r);
	out.fp = USER_FP(r);
	out.link = USER_LINK(r);
	bpf_seq_write(ctx->meta->seq, &out, sizeof(out));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
