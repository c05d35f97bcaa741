/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Steps that the program itself names, by ranges and marks of NVTX. Ranges of one
 * name (but for its numbers) and thread are instances of a repeating range if there
 * are three or more and they do not overlap. The steps are those of
 *
 * - the range, else the mark, that the user names, where one is named;
 * - else ProfilerStep#N;
 * - else a range in whose instances nine in ten of the launches were made that lie
 *   between the first of them and the last, and half of all: one with "step" or "iter"
 *   in its name before others, of these the one that comes most often.
 *
 * A step is what is launched from the begin of an instance to the begin of the next.
 */
#ifndef GRT_CUDA_STEP_RANGES_H
#define GRT_CUDA_STEP_RANGES_H

#include "step_marks.h"

/* Repeating ranges of a process that are looked at; further ones are no steps. */
#define GRT_STEP_RANGES_MAX 4096U

/**
 * grt_step_ranges_cut - looks for the steps of a process whose launches are listed
 * @wanted: name of a range or mark, NULL: none is wanted
 * Return: 0, with @m->how as it was where no range makes steps; or -ENOMEM
 */
int grt_step_ranges_cut(struct grt_step_marks *m, const struct grt_step_process *p, const char *wanted);

#endif /* GRT_CUDA_STEP_RANGES_H */
