/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The collectives of a recording as NCCL numbers them: the parts of all ranks of a
 * collective, side by side. Communicator, function and sequence number are its identity;
 * sends, receives and collectives that were captured into a graph have no identity and are not joined.
 *
 * Memory is 64 bytes for each rank of a collective.
 */
#ifndef GRT_CUDA_COLLECTIVE_OPS_H
#define GRT_CUDA_COLLECTIVE_OPS_H

#include "steps.h"
#include "base/say.h"

/**
 * struct grt_op_part - the part of a rank in a collective
 * @hash, @function, @sequence: its identity; @function is the hash of a name
 * @process: number for grt_step_log_process(); @op: index in its log; @comm: its communicator
 * @work: its kernel, UINT32_MAX: no kernel has ended
 * @alone: it has no identity
 * @share: its share of the bytes of all collectives of its kernel
 */
struct grt_op_part {
	uint64_t hash;
	uint64_t function;
	uint64_t sequence;
	const struct grt_nccl_comm *comm;
	uint32_t process;
	uint32_t op;
	uint32_t work;
	bool alone;
	double share;
};

/** struct grt_ops - the parts of all collectives; the parts of one collective are adjacent, in order of ranks
 */
struct grt_ops {
	const struct grt_step_log *log;
	struct grt_op_part *part;
	uint32_t parts, room;
	uint32_t processes;
};

/**
 * grt_ops_find - finds the parts, after grt_steps_find(); free @ops with grt_ops_free(). Return: 0 or -ENOMEM
 */
int grt_ops_find(struct grt_ops *ops, struct grt_steps *s);

/** grt_ops_one - the number of parts of the collective whose first part is @at */
uint32_t grt_ops_one(const struct grt_ops *ops, uint32_t at);

/** grt_ops_op, grt_ops_work - the operation and the work of a part; NULL: no kernel of it has ended */
const struct grt_nccl_op *grt_ops_op(const struct grt_ops *ops, const struct grt_op_part *part);
const struct grt_step_work *grt_ops_work(const struct grt_ops *ops, const struct grt_op_part *part);

/** grt_ops_string - a string of a part's process; "": none */
const char *grt_ops_string(const struct grt_ops *ops, const struct grt_op_part *part, uint32_t number);

/** grt_ops_waits - adds sentences about collectives in which ranks wait for missing ranks. Return: 0 or
 * -ENOMEM */
int grt_ops_waits(const struct grt_ops *ops, struct grt_notes *notes);

/** grt_ops_free - frees its memory */
void grt_ops_free(struct grt_ops *ops);

#endif /* GRT_CUDA_COLLECTIVE_OPS_H */
