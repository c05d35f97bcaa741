/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Folded stacks: a line for each stack, with its frames from the outermost, separated by `;`, then a blank
 * and the weight. flamegraph.pl reads this format, and its stackcollapse programs write it
 * (https://github.com/brendangregg/FlameGraph). Frames may have blanks; a weight may have a decimal fraction.
 */
#ifndef GRT_STACK_FOLDED_IN_H
#define GRT_STACK_FOLDED_IN_H

#include <grtrace/grtrace.h>

#include "stacks.h"

/* Maximum length of a line, bytes; longer lines are counted as bad. */
#define GRT_FOLDED_LINE_MAX (16U << 20)

/**
 * struct grt_folded_count - counts of lines, summed over all read files
 * @lines: lines that are not empty
 * @stacks: lines with a stack
 * @bad: lines without a weight, or too long lines
 * @first_bad: number of the first bad line, from 1
 * @cut: stacks deeper than GRT_STACKS_DEPTH_MAX
 * @fraction: rest of the sum of all weights, billionths, less than one; not in the tree
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
 * grt_folded_read - adds the stacks of a file to a tree
 * @fd: descriptor, read to its end; fractions of weights are carried from line to line, so that the sum is
 * exact
 * @name: name of the file, for messages
 * Return: 0 or a negative errno
 */
int grt_folded_read(int fd, const char *name, struct grt_stacks *s, enum grt_stacks_side side,
		    struct grt_folded_count *count, struct grt_err *err);

/** grt_folded_takes - whether a text begins with a folded stack: a frame, and a weight at the end of the line
 */
bool grt_folded_takes(const char *text, size_t len);

#endif /* GRT_STACK_FOLDED_IN_H */
