/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The ways in which stacks of programs end (rows of stack_ends.def), and the GPU time of
 * the stacks with each end.
 */
#ifndef GRT_STACK_STACK_ENDS_H
#define GRT_STACK_STACK_ENDS_H

#include <stdint.h>

#include <grtrace/event.h>

/** struct grt_stack_ends - GPU time and pieces of work by the end of their stack; @none: work without a stack
 */
struct grt_stack_ends {
	struct grt_stack_end_sum {
		uint64_t ns;
		uint64_t works;
	} end[GRT_STACK_ENDS], none;
};

/** grt_stack_end_name - the name of an end; "unknown" for 0 and for numbers without a row */
const char *grt_stack_end_name(unsigned int end);

/** grt_stack_end_help - the meaning of an end */
const char *grt_stack_end_help(unsigned int end);

/** grt_stack_end_of_root - the end that the text of an outermost NODE stands for; NULL: the stack is whole */
enum grt_stack_end grt_stack_end_of_root(const char *text);

/** grt_stack_ends_ns - the time of all work, with and without a stack, ns */
uint64_t grt_stack_ends_ns(const struct grt_stack_ends *e);

#endif /* GRT_STACK_STACK_ENDS_H */
