/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The decoder of uprobes (bpf/hits.h): stacks become nodes of a tree of each
 * program that a process runs (NODE), and what these are in becomes MAPPING, so
 * that they look the same as those which are taken in the process itself.
 */
#ifndef GRTRACE_BPF_NODES_H
#define GRTRACE_BPF_NODES_H

#include "bpf.h"

/* Of launches: a library in the process reports them and itself; only stacks are taken. */
extern const struct grt_bpf_decoder grt_bpf_nodes_of_launches;

/* Of functions: each call is a LAUNCH, by the number of its uprobe, and programs are reported, too. */
extern const struct grt_bpf_decoder grt_bpf_nodes_of_calls;

#endif /* GRTRACE_BPF_NODES_H */
