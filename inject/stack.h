/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Between which addresses a stack lies, so that a walk never reads beside it.
 */
#ifndef GRT_INJECT_STACK_H
#define GRT_INJECT_STACK_H

#include <stdbool.h>
#include <stdint.h>

/** struct grt_stack - addresses from @low to below @high can be read, as far as they are above the stack
 * pointer */
struct grt_stack {
	uint64_t low;
	uint64_t high;
};

/** grt_stack_init - once, best by the first thread and before it gives up the right to open files */
void grt_stack_init(void);

/** grt_stack_of_thread - the stack that the calling thread was started on; empty where that is unknown */
struct grt_stack grt_stack_of_thread(void);

/** grt_stack_readable - whether the page of an address can be read: a system call of some 100 ns */
bool grt_stack_readable(uint64_t address);

static inline bool grt_stack_has(const struct grt_stack *s, uint64_t address)
{
	return address - s->low < s->high - s->low;
}

#endif /* GRT_INJECT_STACK_H */
