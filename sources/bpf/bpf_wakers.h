/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses of the functions of bpf_wakers.def in the kernel's memory, for `sched`. */
#ifndef GRTRACE_BPF_WAKER_TABLE_H
#define GRTRACE_BPF_WAKER_TABLE_H

#include "shared.h"

/** grt_bpf_wakers_find - those that are here, by /proc/kallsyms; none where that does not tell addresses */
void grt_bpf_wakers_find(struct grt_bpf_code code[BPF_WAKERS]);

#endif /* GRTRACE_BPF_WAKER_TABLE_H */
