/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Collectives across the ranks of a recording, and the ranks that arrive late. Kernels whose
 * collective NCCL has reported (collective_ops.h) are joined by it. Other kernels
 * of a communicator run in the same order on a stream of each rank: the n-th kernels of all ranks
 * are one collective. The streams of a communicator are inferred: their kernels have the same names
 * and run at the same time.
 *
 * A rank arrives when its kernel begins. Its lateness is the time from the median arrival of the
 * other ranks to its own.
 */
#ifndef GRT_CUDA_COLLECTIVES_H
#define GRT_CUDA_COLLECTIVES_H

#include "steps.h"

/**
 * struct grt_collective - a collective
 * @communicator: from 0; @number: number in the communicator, from 0; with @told_by_nccl, number among the
 *	collectives of its function
 * @name: name of its kernel, without the mangled arguments
 * @steady: it is in a step other than its rank's first one; without steps, it is not the
 *	communicator's first collective. Other collectives may be late because of set-up
 * @ranks: number of ranks that took part
 * @last: number for grt_steps_rank() of the rank that arrived last, @late ns late; @work: its kernel
 * @before: its previous kernel in this communicator, UINT32_MAX: none
 * @first: the rank that arrived first, @wait ns before the last one
 * @begin: arrival of the last rank; @end: end of the last kernel
 * @step: number for grt_steps_step() of the step of @last; UINT32_MAX: none
 * @meanwhile: states of the main thread of @last in the time of its lateness; @told: the same as text
 * @why: the cause of the delay, for people; NULL: no cause was found, or not searched
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
 * struct grt_collective_rank - sums of a rank
 * @kernels: number of communication kernels; @alone: those without a kernel of another rank
 * @steady: number of steady collectives, to which the next members refer
 * @last: how often it arrived last; @late: sum of its lateness, @late_max: the largest
 * @waited: sum of the times from its arrival to the arrival of the last rank
 * @meanwhile: states of its main thread in @late, as far as known; @told: the same as text
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

/** grt_collectives_new - finds the collectives, after grt_steps_find(). Return: 0 or -ENOMEM */
int grt_collectives_new(struct grt_collectives **out, struct grt_steps *s);

/** grt_collectives_count, grt_collectives_at - the collectives, sorted by communicator and number */
uint32_t grt_collectives_count(const struct grt_collectives *c);
const struct grt_collective *grt_collectives_at(const struct grt_collectives *c, uint32_t at);

/** grt_collectives_rank - the sums of a rank, by the number of grt_steps_rank() */
const struct grt_collective_rank *grt_collectives_rank(const struct grt_collectives *c, uint32_t rank);

/** grt_collectives_steps - the steps from which it was computed */
struct grt_steps *grt_collectives_steps(const struct grt_collectives *c);

/**
 * grt_collectives_explain - searches the cause of the delay of a collective's last rank. Return: 0 or -ENOMEM
 */
int grt_collectives_explain(struct grt_collectives *c, uint32_t at);

/** grt_collectives_free - frees it; NULL is allowed */
void grt_collectives_free(struct grt_collectives *c);

#endif /* GRT_CUDA_COLLECTIVES_H */
