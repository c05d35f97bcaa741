/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Where the steps of a process begin: where the program itself names them, see
 * step_ranges.h. Else it is inferred from its launches:
 *
 * - a step ends with the launches that were made in an optimizer's step(), where
 *   that is in their Python stacks;
 * - else a step begins with a launch (by its kernel and the line that makes it, or by
 *   its kernel alone where that finds more) that comes again after about the same
 *   number of launches, over most of the run; at least nine in ten launches between
 *   are such as come as often, or more often.
 *
 * Where neither is there, the process has no steps.
 */
#ifndef GRT_CUDA_STEP_MARKS_H
#define GRT_CUDA_STEP_MARKS_H

#include "step_log.h"

/* The most different places in the code of a process whose launches are counted; a launch of any other place
 * begins no step. */
#define GRT_STEP_SYMBOLS_MAX 65536U

/** enum grt_step_how - how the steps of a process were found */
enum grt_step_how {
	GRT_STEP_NONE,
	GRT_STEP_BY_OPTIMIZER,
	GRT_STEP_BY_LAUNCH,
	GRT_STEP_BY_RANGE,
	GRT_STEP_BY_MARK,
};

/** grt_step_told - whether the program itself said what its steps are */
static inline bool grt_step_told(enum grt_step_how how)
{
	return how == GRT_STEP_BY_RANGE || how == GRT_STEP_BY_MARK;
}

/**
 * struct grt_step_marks - the steps of a process
 * @node, @name: the launch they were found by; @node of the caller of the optimizer's step()
 * @range: or the name of the range or mark
 * @launch: indices of the calls that work came of, in order
 * @cut: places in @launch: step i is from @cut[i] up to @cut[i + 1]; @cuts: one more than there are steps
 * @first: number of the first step; those before it are not whole
 * @cut_off: steps at the beginning and the end that are not whole
 */
struct grt_step_marks {
	enum grt_step_how how;
	uint32_t node;
	uint32_t name;
	char *range;
	uint32_t *launch;
	uint32_t launches;
	uint32_t *cut;
	uint32_t cuts;
	uint32_t first;
	uint32_t cut_off;
};

/**
 * grt_step_marks_find - looks for the steps of a process whose log is in order
 * @range: the range of NVTX that steps are, and nothing else; NULL: what is found
 * Return: 0 or -ENOMEM
 */
int grt_step_marks_find(struct grt_step_marks *m, const struct grt_step_process *p, const char *range);

/** grt_step_marks_free - frees and empties it */
void grt_step_marks_free(struct grt_step_marks *m);

#endif /* GRT_CUDA_STEP_MARKS_H */
