/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Steps that the program itself marks, with NVTX ranges and marks. Ranges of a thread with the same
 * name (except numbers in it) are instances of a repeating range if there
 * are at least three and they do not overlap. The steps are the instances of
 *
 * - the range, else the mark, that the user requests, if any;
 * - else ProfilerStep#N;
 * - else a range whose instances have nine in ten of the launches
 *   between the first and the last instance, and half of all launches. A range with "step" or "iter"
 *   in its name is preferred, then the most frequent one. Modules of PyTorch (record --torch) are none.
 *
 * A step has the launches from the begin of an instance to the begin of the next.
 */
#ifndef GRT_CUDA_STEP_RANGES_H
#define GRT_CUDA_STEP_RANGES_H

#include "step_marks.h"

/* Most repeating ranges of a process that are considered as steps. */
#define GRT_STEP_RANGES_MAX 4096U

/**
 * grt_step_ranges_cut - finds the steps of a process whose launches are listed
 * @wanted: name of a requested range or mark, NULL: none
 * Return: 0, with @m->how unchanged if no range marks steps; or -ENOMEM
 */
int grt_step_ranges_cut(struct grt_step_marks *m, const struct grt_step_process *p, const char *wanted);

#endif /* GRT_CUDA_STEP_RANGES_H */
