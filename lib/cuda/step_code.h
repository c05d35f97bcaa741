/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What a process did while its device waited: where its calls have a gap, and the
 * lines of the program's own code between which that is.
 */
#ifndef GRT_CUDA_STEP_CODE_H
#define GRT_CUDA_STEP_CODE_H

#include "stack/image_frames.h"
#include "step_log.h"

/**
 * struct grt_step_quiet - the longest time in which a process made no call, or was in one
 * @before: the call before it, of the thread that made the next; UINT32_MAX: none
 * @after: the call that ended it, or the one that it was in
 * @in_call: it was in @after
 */
struct grt_step_quiet {
	uint64_t ns;
	uint32_t before;
	uint32_t after;
	bool in_call;
};

/** grt_step_quiet - looks for it between two moments. Return: whether there is one */
bool grt_step_quiet(const struct grt_step_process *p, uint64_t from, uint64_t to, struct grt_step_quiet *out);

/**
 * grt_step_code - a text for it: "code between train.py:47 and train.py:51 (train)"
 * @out: gets a text for free()
 * Return: 0 or -ENOMEM
 */
int grt_step_code(struct grt_image_frames *f, const struct grt_step_process *p,
		  const struct grt_step_quiet *q, char **out);

#endif /* GRT_CUDA_STEP_CODE_H */
