/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Folded stacks: a line for each, frames from the outermost with `;` between
 * them, a blank, and the weight. What flamegraph.pl reads and its stackcollapse
 * programs write (https://github.com/brendangregg/FlameGraph). Frames may hold
 * blanks; a weight may have a decimal fraction.
 */
#ifndef GRT_STACK_FOLDED_IN_H
#define GRT_STACK_FOLDED_IN_H

#include <grtrace/grtrace.h>

#include "stacks.h"

/* A longer line is not understood. */
#define GRT_FOLDED_LINE_MAX (16U << 20)

/**
 * struct grt_folded_count - what was met; adds up over several files
 * @lines: with something in them
 * @stacks: lines that were understood
 * @bad: lines that were not: no weight, or too long
 * @first_bad: number of the first of these, from 1
 * @cut: stacks deeper than GRT_STACKS_DEPTH_MAX
 * @fraction: billionths of the weights together, below one; not in the tree
 */
struct grt_folded_count {
	uint64_t lines;
	uint64_t stacks;
	uint64_t bad;
	uint64_t first_bad;
	uint64_t cut;
	uint64_t fraction;
};

/**
 * grt_folded_read - adds a file's stacks to a tree
 * @fd: read to its end; fractions of weights are carried from line to line, so
 *	that the sum is exact
 * @name: of the file, for messages
 * Return: 0 or a negative errno
 */
int grt_folded_read(int fd, const char *name, struct grt_stacks *s, enum grt_stacks_side side,
		    struct grt_folded_count *count, struct grt_err *err);

/** grt_folded_takes - whether a text begins like folded stacks: a frame, and a weight at the end of the line
 */
bool grt_folded_takes(const char *text, size_t len);

#endif /* GRT_STACK_FOLDED_IN_H */
