/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What a process told of its collectives through NCCL's profiler plugin, and which of
 * its kernels are theirs: by the launch that a collective was recorded with, or by the
 * node of a graph into which it was captured.
 *
 * Memory is 88 bytes for a collective, 32 for a communicator, 16 for a clone of a node of a graph, and for no
 * more than GRT_NCCL_MAX of each in a process; those beyond are counted.
 */
#ifndef GRT_CUDA_NCCL_LOG_H
#define GRT_CUDA_NCCL_LOG_H

#include "stack/images.h"

#define GRT_NCCL_MAX (1U << 20)

/** struct grt_nccl_comm - a communicator, see COMMUNICATOR */
struct grt_nccl_comm {
	uint64_t hash;
	uint32_t number;
	uint32_t rank;
	uint32_t ranks;
	uint32_t nodes;
	uint32_t name;
};

/**
 * struct grt_nccl_op - a collective, a send or a receive, see COLLECTIVE
 * @time: when it was launched, its own call began at @begin, 0: unknown
 * @key: of its kernel: correlation, or node of a graph where it was @captured; 0: unknown
 * @function, @datatype, @algorithm, @protocol: strings
 * @kind: 1 a collective, 2 a send or receive, 3 a collective by copy engines
 * @inferred: @key is
 */
struct grt_nccl_op {
	uint64_t begin;
	uint64_t time;
	uint64_t sequence;
	uint64_t count;
	uint64_t key;
	uint32_t comm;
	uint32_t function;
	uint32_t datatype;
	uint32_t algorithm;
	uint32_t protocol;
	uint32_t peer;
	uint32_t channels;
	uint8_t kind;
	bool captured;
	bool inferred;
};

/** struct grt_nccl_node - of a graph, and the one that it was cloned from */
struct grt_nccl_node {
	uint64_t id;
	uint64_t source;
};

/**
 * struct grt_nccl_log - of a process image; zeroes at first
 * @op: by @captured and @key after grt_nccl_log_sort(), those of one kernel in their order
 * @comm: by number after that
 * @node: of graphs, by id after grt_nccl_log_sort()
 * @alive: its last sign of life; @over: what was beyond the limits
 */
struct grt_nccl_log {
	struct grt_nccl_comm *comm;
	uint32_t comms, comm_room;
	struct grt_nccl_op *op;
	uint32_t ops, op_room;
	struct grt_nccl_node *node;
	uint32_t nodes, node_room;
	uint64_t alive;
	uint64_t over;
};

/** grt_nccl_log_event - takes in an event of the process, of any type. Return: 0 or -ENOMEM */
int grt_nccl_log_event(struct grt_nccl_log *l, const struct grt_event *e);

/** grt_nccl_log_sort - no more events come */
void grt_nccl_log_sort(struct grt_nccl_log *l);

/** grt_nccl_log_source - the node that the program made, from which one of an executable graph comes; sorted
 */
uint64_t grt_nccl_log_source(const struct grt_nccl_log *l, uint64_t node);

/** grt_nccl_log_find - the collectives of a kernel. Return: how many, from @first on */
uint32_t grt_nccl_log_find(const struct grt_nccl_log *l, uint64_t key, bool captured, uint32_t *first);

/** grt_nccl_log_comm - a communicator by number, sorted; NULL: unknown */
const struct grt_nccl_comm *grt_nccl_log_comm(const struct grt_nccl_log *l, uint32_t number);

/** grt_nccl_type_size - bytes of an element; 0: unknown */
unsigned int grt_nccl_type_size(const char *datatype);

/**
 * grt_nccl_bytes - how large a collective is, as nccl-tests counts it: what a rank has in the end, or gives
 * @ranks: of its communicator
 * Return: 0: unknown
 */
uint64_t grt_nccl_bytes(const char *function, const char *datatype, uint64_t count, uint32_t ranks);

/** grt_nccl_factor - what of these bytes each link carries, as nccl-tests documents it, times @ranks */
uint64_t grt_nccl_factor(const char *function, uint32_t ranks);

/** grt_nccl_log_free - frees what it points to */
void grt_nccl_log_free(struct grt_nccl_log *l);

#endif /* GRT_CUDA_NCCL_LOG_H */
