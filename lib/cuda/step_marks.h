/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The begins of the steps of a process: from the program's own ranges, see
 * step_ranges.h. Without those, they are inferred from its launches:
 *
 * - a step ends with the launches in an optimizer's step(), if
 *   their Python stacks have it;
 * - else a step begins with a launch (identified by its kernel and its line, or by
 *   its kernel alone if that finds more) that recurs after about the same
 *   number of launches, over most of the run; at least nine in ten launches in between
 *   must occur as often, or more often.
 *
 * If neither applies, the process has no steps.
 */
#ifndef GRT_CUDA_STEP_MARKS_H
#define GRT_CUDA_STEP_MARKS_H

#include "step_log.h"

/* Most different places in the code of a process whose launches are counted; a launch at another place
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

/** grt_step_is_marked - whether the program itself marked its steps */
static inline bool grt_step_is_marked(enum grt_step_how how)
{
	return how == GRT_STEP_BY_RANGE || how == GRT_STEP_BY_MARK;
}

/**
 * struct grt_step_marks - the steps of a process
 * @node, @name: the launch with which steps begin; @node may be the caller of the optimizer's step()
 * @range: or the name of the range or mark
 * @launch: indices of the calls with work, in order
 * @cut: indices in @launch: step i is from @cut[i] up to @cut[i + 1]; @cuts: number of steps plus one
 * @first: number of the first step; earlier steps are incomplete
 * @cut_off: number of incomplete steps at the beginning and the end
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
 * grt_step_marks_find - finds the steps of a process whose log is sorted
 * @range: the only NVTX range whose instances are steps; NULL: find automatically
 * Return: 0 or -ENOMEM
 */
int grt_step_marks_find(struct grt_step_marks *m, const struct grt_step_process *p, const char *range);

/** grt_step_marks_free - frees and empties it */
void grt_step_marks_free(struct grt_step_marks *m);

#endif /* GRT_CUDA_STEP_MARKS_H */
