/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The collectives that a process reported through NCCL's profiler plugin, and their kernels: joined
 * by the launch in the collective's record, or by the node of the graph into which the collective
 * was captured.
 *
 * Memory is 88 bytes for a collective, 32 for a communicator, 16 for a clone of a node of a graph, for at
 * most GRT_NCCL_MAX of each in a process; further ones are counted.
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
 * @time: time of its launch; its own call began at @begin, 0: unknown
 * @key: key of its kernel: the correlation, or the node of a graph if it was @captured; 0: unknown
 * @function, @datatype, @algorithm, @protocol: strings
 * @kind: 1 a collective, 2 a send or receive, 3 a collective by copy engines
 * @inferred: @key was inferred
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

/** struct grt_nccl_node - a node of a graph, and the node from which it was cloned */
struct grt_nccl_node {
	uint64_t id;
	uint64_t source;
};

/**
 * struct grt_nccl_log - the log of a process image; zeroes at first
 * @op: sorted by @captured and @key after grt_nccl_log_sort(); operations of one kernel stay in order
 * @comm: sorted by number after grt_nccl_log_sort(), each number once
 * @node: nodes of graphs, sorted by id after grt_nccl_log_sort()
 * @alive: time of its last event; @over: records beyond the limits
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

/** grt_nccl_log_event - processes an event of the process, of any type. Return: 0 or -ENOMEM */
int grt_nccl_log_event(struct grt_nccl_log *l, const struct grt_event *e);

/** grt_nccl_log_sort - sorts the log after the last event */
void grt_nccl_log_sort(struct grt_nccl_log *l);

/** grt_nccl_log_source - the original node of a node of an executable graph; after grt_nccl_log_sort()
 */
uint64_t grt_nccl_log_source(const struct grt_nccl_log *l, uint64_t node);

/** grt_nccl_log_find - the collectives of a kernel. Return: their number, from @first on */
uint32_t grt_nccl_log_find(const struct grt_nccl_log *l, uint64_t key, bool captured, uint32_t *first);

/** grt_nccl_log_comm - a communicator by number, after grt_nccl_log_sort(); NULL: unknown */
const struct grt_nccl_comm *grt_nccl_log_comm(const struct grt_nccl_log *l, uint32_t number);

/**
 * grt_nccl_bytes - the size of a collective as in nccl-tests: the bytes that a rank has at the end, or
 * contributes
 * @ranks: ranks of its communicator
 * Return: 0: unknown
 */
uint64_t grt_nccl_bytes(const char *function, const char *datatype, uint64_t count, uint32_t ranks);

/** grt_nccl_factor - the share of these bytes on each link, as documented by nccl-tests, times @ranks */
uint64_t grt_nccl_factor(const char *function, uint32_t ranks);

/** grt_nccl_log_free - frees its memory */
void grt_nccl_log_free(struct grt_nccl_log *l);

#endif /* GRT_CUDA_NCCL_LOG_H */
