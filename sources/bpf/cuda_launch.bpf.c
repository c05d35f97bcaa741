// SPDX-License-Identifier: GPL-2.0
/*
 * The CPU stack of a CUDA launch: our library in the traced program calls a function of its own with the
 * launch's number (inject/launch.c).
 */
#include "hits.h"

SEC("uprobe")
int cuda_launch(struct pt_regs *regs)
{
	return hit(regs, ARG_1(regs), 0);
}

char LICENSE[] SEC("license") = "GPL";
