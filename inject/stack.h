/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The bounds of stacks, so that a walk never reads outside of a stack.
 */
#ifndef GRT_INJECT_STACK_H
#define GRT_INJECT_STACK_H

#include <stdbool.h>
#include <stdint.h>

/** struct grt_stack - addresses from @low to below @high can be read if they are above the stack
 * pointer */
struct grt_stack {
	uint64_t low;
	uint64_t high;
};

/**
 * grt_stack_init - call this once, preferably in the first thread and before the program drops the right to
 * open files
 */
void grt_stack_init(void);

/** grt_stack_of_thread - the stack on which the calling thread was started; empty if unknown */
struct grt_stack grt_stack_of_thread(void);

/** grt_stack_readable - whether the page of an address can be read; needs a system call of some 100 ns */
bool grt_stack_readable(uint64_t address);

static inline bool grt_stack_has(const struct grt_stack *s, uint64_t address)
{
	return address - s->low < s->high - s->low;
}

#endif /* GRT_INJECT_STACK_H */
