/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses in the kernel's memory of the functions of bpf_wakers.def, for `sched`. */
#ifndef GRTRACE_BPF_WAKER_TABLE_H
#define GRTRACE_BPF_WAKER_TABLE_H

#include "shared.h"

/**
 * grt_bpf_wakers_find - the functions that exist here, from /proc/kallsyms; none if that file hides
 * addresses
 */
void grt_bpf_wakers_find(struct grt_bpf_code code[BPF_WAKERS]);

#endif /* GRTRACE_BPF_WAKER_TABLE_H */
