/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A summary of a recording that a machine sends if the whole recording is too much: for each rank and step,
 * the sums of its work by name, and for each communicator the last collective, from which
 * the offsets between the clocks of hosts are computed. Each work is in one sum: the sum of the
 * step in which it started, or of no step.
 *
 * Memory is 32 bytes for each work of a rank while it is summed up.
 */
#ifndef GRT_CUDA_ROLLUPS_H
#define GRT_CUDA_ROLLUPS_H

#include "steps.h"

/**
 * struct grt_rollup_work - work of one name in a step
 * @rank: number for grt_steps_rank(); @step: number for grt_steps_step(), UINT32_MAX: no step
 * @class: enum grt_step_class; @name: string of the kernel, 0 for copies and fills
 * @count: their number; @ns: their time; @max: the longest
 */
struct grt_rollup_work {
	uint32_t rank;
	uint32_t step;
	uint32_t name;
	uint8_t class;
	uint64_t count;
	uint64_t ns;
	uint64_t max;
};

/**
 * struct grt_rollup_collective - kernels of a communicator in a step
 * @comm: NULL: not reported by NCCL; they are the kernels with one name on a stream
 * @op: the last collective as numbered by NCCL; NULL: unknown
 * @last: the last kernel; @count: number of kernels; @ns: their time
 * @bytes: bytes reported by NCCL, counted as in nccl-tests; @known: all bytes were reported
 */
struct grt_rollup_collective {
	uint32_t rank;
	uint32_t step;
	const struct grt_nccl_comm *comm;
	const struct grt_nccl_op *op;
	const struct grt_step_work *last;
	uint64_t count;
	uint64_t ns;
	uint64_t bytes;
	bool known;
};

/**
 * struct grt_rollup_sink - gets the sums of a rank; sums of a name or communicator in order of steps. Return:
 * 0 or -ENOMEM
 */
struct grt_rollup_sink {
	int (*work)(void *arg, const struct grt_rollup_work *w);
	int (*collective)(void *arg, const struct grt_rollup_collective *c);
	void *arg;
};

/**
 * grt_rollups_of_work - sums up all work, after grt_steps_find(). Return: 0, -ENOMEM or the result of the
 * sink
 */
int grt_rollups_of_work(struct grt_steps *s, const struct grt_rollup_sink *sink);

/** grt_rollups_of_collectives - sums up communication kernels in steps */
int grt_rollups_of_collectives(struct grt_steps *s, const struct grt_rollup_sink *sink);

#endif /* GRT_CUDA_ROLLUPS_H */
