/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CPU stacks: each different one stands once in a table, which user space reads:
 * a program takes its number, and the loader its addresses when it sees the number
 * first.
 */
#ifndef GRTRACE_BPF_STACKS_H
#define GRTRACE_BPF_STACKS_H

#include "common.h"

/* A source whose stacks differ more says so before it includes this. */
#ifndef STACKS_MAX
#define STACKS_MAX BPF_STACKS_MAX
#endif

/* Of bpf_get_stackid(): another stack has its place in the table. */
#define STACK_NO_PLACE (-17)

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, STACKS_MAX);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, BPF_STACK_DEPTH * sizeof(__u64));
} stacks SEC(".maps");

static __always_inline __u32 take_stack(void *ctx, struct grt_bpf_counts *c, __u64 flags)
{
	long id = bpf_get_stackid(ctx, &stacks, flags);

	if (id >= 0)
		return id + 1;
	if (id == STACK_NO_PLACE)
		COUNT(c->no_stack);
	return BPF_STACK_NONE;
}

#endif /* GRTRACE_BPF_STACKS_H */
