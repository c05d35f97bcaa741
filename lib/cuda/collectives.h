/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Collectives across the ranks of a recording, and who came late to them. Where NCCL has
 * told which collective a kernel is (collective_ops.h), that joins them. The other kernels
 * of a communicator run in one order on a stream of each rank: the n-th of one rank and
 * the n-th of the others are one collective. Which streams are of one communicator is
 * inferred: their kernels have the same names and run at the same time.
 *
 * A rank arrives when its kernel begins. It is late by the time from the arrival of the
 * middle one of the others to its own.
 */
#ifndef GRT_CUDA_COLLECTIVES_H
#define GRT_CUDA_COLLECTIVES_H

#include "steps.h"

/**
 * struct grt_collective - one of them
 * @communicator: from 0; @number: within it, from 0; where NCCL has @told_by_nccl, among those of its
 *function
 * @name: of its kernel, without what the compiler makes of its arguments
 * @steady: it is in a step, and that is not its rank's first one; where nobody has steps, it is not the
 *	communicator's first one. What is late otherwise had to be started first
 * @ranks: that took part
 * @last: rank that came last, of grt_steps_rank(), by @late ns; @work: its kernel
 * @before: its kernel before that in this communicator, UINT32_MAX: none
 * @first: the rank that came first, by @wait ns before the last one
 * @begin: when the last one arrived; @end: when the last one had done
 * @step: step of @last in which that was, of grt_steps_step(); UINT32_MAX: none
 * @meanwhile: what its main thread did in the time by which it was late; @told: the same as text
 * @why: what delayed it, for people; NULL: nothing did, or it was not looked for
 */
struct grt_collective {
	uint32_t communicator;
	uint64_t number;
	const char *name;
	uint32_t ranks;
	uint32_t last;
	uint32_t work;
	uint32_t before;
	uint32_t first;
	uint64_t late;
	uint64_t wait;
	uint64_t begin;
	uint64_t end;
	uint32_t step;
	bool steady;
	bool told_by_nccl;
	struct grt_rank_spent meanwhile;
	char told[80];
	char *why;
};

/**
 * struct grt_collective_rank - what is known of a rank
 * @kernels: of communication; @alone: of these, those that nobody else's was found for
 * @steady: collectives that are; of these
 * @last: to which it came last; @late: the time by which it did, @late_max: the most
 * @waited: from its arrivals to those of the last ones
 * @meanwhile: what its main thread did in @late, as far as that is known; @told: the same as text
 */
struct grt_collective_rank {
	uint64_t kernels;
	uint64_t alone;
	uint64_t steady;
	uint64_t last;
	uint64_t late;
	uint64_t late_max;
	uint64_t waited;
	struct grt_rank_spent meanwhile;
	char told[80];
};

struct grt_collectives;

/** grt_collectives_new - finds them; @s has found its steps. Return: 0 or -ENOMEM */
int grt_collectives_new(struct grt_collectives **out, struct grt_steps *s);

/** grt_collectives_count, grt_collectives_at - by communicator, then number */
uint32_t grt_collectives_count(const struct grt_collectives *c);
const struct grt_collective *grt_collectives_at(const struct grt_collectives *c, uint32_t at);

/** grt_collectives_rank - of grt_steps_rank() */
const struct grt_collective_rank *grt_collectives_rank(const struct grt_collectives *c, uint32_t rank);

/** grt_collectives_steps - what it was made from */
struct grt_steps *grt_collectives_steps(const struct grt_collectives *c);

/** grt_collectives_explain - says what delayed the last rank of one. Return: 0 or -ENOMEM */
int grt_collectives_explain(struct grt_collectives *c, uint32_t at);

/** grt_collectives_free - frees it; NULL is allowed */
void grt_collectives_free(struct grt_collectives *c);

#endif /* GRT_CUDA_COLLECTIVES_H */
