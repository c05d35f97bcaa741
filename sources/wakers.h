/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the functions of wakers.def are in the kernel's memory, for `sched`.
 */
#ifndef GRTRACE_WAKERS_H
#define GRTRACE_WAKERS_H

#include "bpf/shared.h"

/** wakers_find - those that are here, by /proc/kallsyms; none where that does not tell addresses */
void wakers_find(struct grt_bpf_code code[BPF_WAKERS]);

#endif /* GRTRACE_WAKERS_H */
