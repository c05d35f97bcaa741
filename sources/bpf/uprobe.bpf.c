// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of programs and libraries entered, with their stacks. Which one it
 * was is given by the number that its uprobe was attached with (Linux 5.15).
 */
#include "hits.h"

SEC("uprobe")
int function_entered(struct pt_regs *regs)
{
	return hit(regs, 0, bpf_get_attach_cookie(regs));
}

char LICENSE[] SEC("license") = "GPL";
