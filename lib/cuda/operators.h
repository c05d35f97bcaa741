/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * GPU work by the operators of frameworks, the calls of libraries or the modules in which
 * its launch was made, from the frames of the launch's stack. Work of a graph is under the
 * code that created its node. Nothing is joined by time.
 *
 * Memory is 8 bytes for each node of the stacks, and 100 for each
 * different stack and kernel; there are at most 2^20 of these, and work beyond is counted.
 */
#ifndef GRT_CUDA_OPERATORS_H
#define GRT_CUDA_OPERATORS_H

#include "launches.h"
#include "stack/image_frames.h"

/** enum grt_operator_view - keys by which work is summed up; rows of operators.def */
enum grt_operator_view {
	GRT_OPERATOR_OPERATOR,
	GRT_OPERATOR_LIBRARY,
	GRT_OPERATOR_MODULE,
	GRT_OPERATOR_VIEWS,
};

/** enum grt_operator_phase - phases of a training step */
enum grt_operator_phase {
	GRT_OPERATOR_NONE,
	GRT_OPERATOR_FORWARD,
	GRT_OPERATOR_BACKWARD,
	GRT_OPERATOR_OPTIMIZER,
};

/** struct grt_operator_sums - @launches: calls that it came of; not of graphs' replays, which are made
 * elsewhere */
struct grt_operator_sums {
	uint64_t launches;
	uint64_t kernels;
	uint64_t copies;
	uint64_t gpu;
};

/**
 * struct grt_operator - a row
 * @name: NULL: work of launches in none
 * @kind: NULL: none
 * @own: of launches in it and in none inside of it; @all: in those inside of it, too
 * @seen: the work, plus 1, that was added last
 */
struct grt_operator {
	uint32_t image;
	uint32_t pid;
	const char *process;
	char pid_text[24];
	char *name;
	const char *kind;
	uint8_t phase;
	struct grt_operator_sums own;
	struct grt_operator_sums all;
	uint32_t seen;
};

struct grt_operators;

/**
 * grt_operators_new - begins
 * @launches: the joiner, which lives as long as @out; its sink calls grt_operators_work()
 * Return: 0 or -ENOMEM
 */
int grt_operators_new(struct grt_operators **out, struct grt_launches *launches, enum grt_operator_view view);

/** grt_operators_work - see struct grt_launches_sink. Return: 0 or -ENOMEM */
int grt_operators_work(struct grt_operators *o, const struct grt_event *e, const struct grt_image *image,
		       const struct grt_launch *launch, enum grt_launched_how how);

/** grt_operators_finish - ends the trace, after grt_launches_flush(); may be called again after further
 * events. Return: 0 or -ENOMEM */
int grt_operators_finish(struct grt_operators *o);

/**
 * grt_operators_list - its rows, the one of most time of its own first
 * @out: gets an array, which the caller frees
 * Return: their number, or -ENOMEM
 */
int64_t grt_operators_list(const struct grt_operators *o, const struct grt_operator ***out);

/**
 * grt_operators_of - the innermost operator that a launch was made in
 * @image: of another pass over the trace, too
 * @node: its stack
 * @kernel: string of the kernel that it launched, which may be an operator itself; UINT32_MAX: none
 * @name: gets it; lives as long as @o. NULL: none
 * Return: 0 or -ENOMEM
 */
int grt_operators_of(struct grt_operators *o, const struct grt_image *image, uint32_t node, uint32_t kernel,
		     const char **name);

/** grt_operators_count - what was joined; complete after grt_operators_finish() */
struct grt_launches_count grt_operators_count(const struct grt_operators *o);

/** grt_operators_symbols - how looking up functions went */
const struct grt_symbols_count *grt_operators_symbols(const struct grt_operators *o);

/** grt_operators_over - work in no row: of too many stacks */
uint64_t grt_operators_over(const struct grt_operators *o);

/** grt_operators_free - frees it; NULL is allowed */
void grt_operators_free(struct grt_operators *o);

#endif /* GRT_CUDA_OPERATORS_H */
