/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What a machine sends of a recording where all of it is too much: of each rank and step
 * the sums of its work by name, and of each of its communicators the last collective,
 * by which hosts find how far their clocks are apart. Each work is in one sum: that of the
 * step in which it started, or of none.
 *
 * Memory is 32 bytes for each work of a rank while it is summed up.
 */
#ifndef GRT_CUDA_ROLLUPS_H
#define GRT_CUDA_ROLLUPS_H

#include "steps.h"

/**
 * struct grt_rollup_work - work of one name in a step
 * @rank: of grt_steps_rank(); @step: of grt_steps_step(), UINT32_MAX: in none
 * @class: of enum grt_step_class; @name: string of the kernel, of copies and fills 0
 * @count: how many; @ns: their time; @max: the longest
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
 * @comm: NULL: NCCL has not told which, they are those of a name on a stream
 * @op: the last of them as NCCL numbers it; NULL: it does not
 * @last: the last of them; @count: how many; @ns: their time
 * @bytes: that NCCL tells, as nccl-tests counts them; @known: it told them of all
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

/** struct grt_rollup_sink - gets the sums of a rank, those of a name or communicator by step. Return: 0 or
 * -ENOMEM */
struct grt_rollup_sink {
	int (*work)(void *arg, const struct grt_rollup_work *w);
	int (*collective)(void *arg, const struct grt_rollup_collective *c);
	void *arg;
};

/** grt_rollups_of_work - sums up all work, @s has found its steps. Return: 0, -ENOMEM or what the sink
 * returned */
int grt_rollups_of_work(struct grt_steps *s, const struct grt_rollup_sink *sink);

/** grt_rollups_of_collectives - the same of kernels that communicate, and have a step */
int grt_rollups_of_collectives(struct grt_steps *s, const struct grt_rollup_sink *sink);

#endif /* GRT_CUDA_ROLLUPS_H */
