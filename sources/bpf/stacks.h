/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CPU stacks: each different stack is stored once in a table, which user space reads. A program passes the
 * stack's number, and the loader reads the addresses when it sees the number for the first time.
 */
#ifndef GRTRACE_BPF_STACKS_H
#define GRTRACE_BPF_STACKS_H

#include "common.h"

/* A source with more different stacks defines another value before it includes this. */
#ifndef STACKS_MAX
#define STACKS_MAX BPF_STACKS_MAX
#endif

/* Error of bpf_get_stackid(): another stack has its place in the table. */
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

#include "walk.h"

/* The stack of the program with the registers @regs; @how: WALK_*. */
static __always_inline __u32 take_user_stack_of(void *ctx, struct grt_bpf_counts *c, struct pt_regs *regs,
						__u32 how)
{
	__u32 why = GRT_STACK_END_FRAME_POINTERS, stack = 0;
	struct walk *w = 0;

	if (config.stacks & BPF_STACK_TABLES)
		stack = walk_user(regs, how, &why, &w);
	walk_done(w);
	if (!stack) {
		stack = take_stack(ctx, c, BPF_F_USER_STACK);
		if (why != GRT_STACK_END_PENDING && why != GRT_STACK_END_TABLE_FULL)
			why = GRT_STACK_END_FRAME_POINTERS;
	}
	return stack ? stack | why << STACK_END_SHIFT : BPF_STACK_NONE;
}

static __always_inline __u32 take_user_stack(void *ctx, struct grt_bpf_counts *c)
{
	return take_user_stack_of(ctx, c, my_regs(), WALK_PLAIN);
}

#endif /* GRTRACE_BPF_STACKS_H */
