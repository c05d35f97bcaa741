/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The decoder of uprobes (bpf/hits.h): stacks become nodes of a tree for each program that a process runs
 * (NODE), and the code they are in becomes MAPPING. So these stacks have the same form as stacks that a
 * library in the process takes.
 */
#ifndef GRTRACE_BPF_NODES_H
#define GRTRACE_BPF_NODES_H

#include "bpf.h"

/* For launches: a library in the process reports launches and the process; only stacks are taken. */
extern const struct grt_bpf_decoder grt_bpf_nodes_of_launches;

/* For functions: each call is a LAUNCH with the number of its uprobe, and programs are reported as well. */
extern const struct grt_bpf_decoder grt_bpf_nodes_of_calls;

#endif /* GRTRACE_BPF_NODES_H */
