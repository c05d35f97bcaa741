/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The code that a process ran while its device waited: the gap between its calls, and the
 * lines of the program's own code around it.
 */
#ifndef GRT_CUDA_STEP_CODE_H
#define GRT_CUDA_STEP_CODE_H

#include "stack/image_frames.h"
#include "step_log.h"

/**
 * struct grt_step_quiet - the longest time in which a process made no call, or was in a call
 * @before: the previous call of the thread that made the next one; UINT32_MAX: none
 * @after: the call that ended the gap, or the call in which the process was
 * @in_call: the process was in @after
 */
struct grt_step_quiet {
	uint64_t ns;
	uint32_t before;
	uint32_t after;
	bool in_call;
};

/** grt_step_quiet - finds the longest such time between two moments. Return: whether there is one */
bool grt_step_quiet(const struct grt_step_process *p, uint64_t from, uint64_t to, struct grt_step_quiet *out);

/**
 * grt_step_code - a text for such a time: "code between train.py:47 and train.py:51 (train)"
 * @out: gets a text for free()
 * Return: 0 or -ENOMEM
 */
int grt_step_code(struct grt_image_frames *f, const struct grt_step_process *p,
		  const struct grt_step_quiet *q, char **out);

#endif /* GRT_CUDA_STEP_CODE_H */
