// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Collectives by the launch of their kernel. A kernel of a group has several. */
#include "nccl_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/compare.h"
#include "base/containers.h"

/* Most clones between a graph's node and the node that the program made. */
#define CLONES_MAX 16

static int nccl_log_take_comm(struct grt_nccl_log *l, const struct grt_ev_communicator *e)
{
	if (l->comms == GRT_NCCL_MAX) {
		l->over++;
		return 0;
	}
	if (grt_grow(&l->comm, &l->comm_room, l->comms + 1, 8))
		return -ENOMEM;
	l->comm[l->comms++] =
		(struct grt_nccl_comm){e->hash, e->number, e->rank, e->ranks, e->nodes, e->name};
	return 0;
}

static int nccl_log_take_node(struct grt_nccl_log *l, const struct grt_ev_graph_node *e)
{
	if (!e->source)
		return 0;
	if (l->nodes == GRT_NCCL_MAX) {
		l->over++;
		return 0;
	}
	if (grt_grow(&l->node, &l->node_room, l->nodes + 1, 8))
		return -ENOMEM;
	l->node[l->nodes++] = (struct grt_nccl_node){e->id, e->source};
	return 0;
}

static int nccl_log_take_op(struct grt_nccl_log *l, const struct grt_ev_collective *e)
{
	bool captured = e->e.flags & GRT_FLAG_CAPTURED;

	if (l->ops == GRT_NCCL_MAX) {
		l->over++;
		return 0;
	}
	if (grt_grow(&l->op, &l->op_room, l->ops + 1, 64))
		return -ENOMEM;
	l->op[l->ops++] = (struct grt_nccl_op){.begin = e->begin,
					       .time = e->e.time,
					       .sequence = e->sequence,
					       .count = e->elements,
					       .key = captured ? e->graph_node : e->correlation,
					       .comm = e->communicator,
					       .function = e->function,
					       .datatype = e->datatype,
					       .algorithm = e->algorithm,
					       .protocol = e->protocol,
					       .peer = e->peer,
					       .channels = e->channels,
					       .kind = (uint8_t)e->kind,
					       .captured = captured,
					       .inferred = e->e.flags & GRT_FLAG_INFERRED};
	return 0;
}

int grt_nccl_log_event(struct grt_nccl_log *l, const struct grt_event *e)
{
	if (e->time > l->alive && e->type != GRT_EV_NAME)
		l->alive = e->time;
	switch (e->type) {
	case GRT_EV_COMMUNICATOR:
		return nccl_log_take_comm(l, (const void *)e);
	case GRT_EV_COLLECTIVE:
		return nccl_log_take_op(l, (const void *)e);
	case GRT_EV_GRAPH_NODE:
		return nccl_log_take_node(l, (const void *)e);
	}
	return 0;
}

/* -------------------------------------------------------------------- find */

static int nccl_log_compare(const struct grt_nccl_op *op, bool captured, uint64_t key)
{
	if (op->captured != captured)
		return op->captured ? 1 : -1;
	return grt_compare(op->key, key);
}

static int nccl_log_by_key(const void *a, const void *b)
{
	const struct grt_nccl_op *x = a, *y = b;
	int order = nccl_log_compare(x, y->captured, y->key);

	return order ?: (x->time > y->time) - (x->time < y->time);
}

static int nccl_log_by_id(const void *a, const void *b)
{
	const struct grt_nccl_node *x = a, *y = b;

	return grt_compare(x->id, y->id);
}

static int nccl_log_by_number(const void *a, const void *b)
{
	const struct grt_nccl_comm *x = a, *y = b;

	return grt_compare(x->number, y->number);
}

/* Segments repeat definitions. */
static void nccl_log_sort_comms(struct grt_nccl_log *l)
{
	uint32_t kept = 0;

	if (l->comms)
		qsort(l->comm, l->comms, sizeof(*l->comm), nccl_log_by_number);
	for (uint32_t i = 0; i < l->comms; i++)
		if (!kept || l->comm[kept - 1].number != l->comm[i].number)
			l->comm[kept++] = l->comm[i];
	l->comms = kept;
}

void grt_nccl_log_sort(struct grt_nccl_log *l)
{
	nccl_log_sort_comms(l);
	if (l->ops)
		qsort(l->op, l->ops, sizeof(*l->op), nccl_log_by_key);
	if (l->nodes)
		qsort(l->node, l->nodes, sizeof(*l->node), nccl_log_by_id);
}

uint64_t grt_nccl_log_source(const struct grt_nccl_log *l, uint64_t node)
{
	const struct grt_nccl_node *found = l->node;

	/* there are few clones of clones, but a malicious trace may have a ring of them */
	for (int i = 0; i < CLONES_MAX && found && l->nodes; i++) {
		found = bsearch(&(struct grt_nccl_node){.id = node}, l->node, l->nodes, sizeof(*l->node),
				nccl_log_by_id);
		node = found ? found->source : node;
	}
	return node;
}

uint32_t grt_nccl_log_find(const struct grt_nccl_log *l, uint64_t key, bool captured, uint32_t *first)
{
	uint32_t low = grt_bisect(l->ops, i, nccl_log_compare(&l->op[i], captured, key) < 0), n = 0;

	*first = low;
	while (key && low + n < l->ops && !nccl_log_compare(&l->op[low + n], captured, key))
		n++;
	return n;
}

const struct grt_nccl_comm *grt_nccl_log_comm(const struct grt_nccl_log *l, uint32_t number)
{
	return l->comms ? bsearch(&(struct grt_nccl_comm){.number = number}, l->comm, l->comms,
				  sizeof(*l->comm), nccl_log_by_number)
			: NULL;
}

void grt_nccl_log_free(struct grt_nccl_log *l)
{
	free(l->comm);
	free(l->op);
	free(l->node);
	*l = (struct grt_nccl_log){0};
}

/* ------------------------------------------------------------------- bytes */

/* Bytes of an element; 0: unknown. */
static unsigned int nccl_type_size(const char *datatype)
{
	static const struct {
		const char *name;
		unsigned int bytes;
	} types[] = {{"ncclInt8", 1},	 {"ncclUint8", 1},    {"ncclInt32", 4},	     {"ncclUint32", 4},
		     {"ncclInt64", 8},	 {"ncclUint64", 8},   {"ncclFloat16", 2},    {"ncclFloat32", 4},
		     {"ncclFloat64", 8}, {"ncclBfloat16", 2}, {"ncclFloat8e4m3", 1}, {"ncclFloat8e5m2", 1}};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].name, datatype))
			return types[i].bytes;
	return 0;
}

/* Each rank's part is counted, and there are as many as ranks. */
static bool nccl_log_is_part(const char *function)
{
	static const char *const parts[] = {"AllGather", "ReduceScatter", "AlltoAll", "Gather", "Scatter"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strcmp(parts[i], function))
			return true;
	return false;
}

uint64_t grt_nccl_bytes(const char *function, const char *datatype, uint64_t count, uint32_t ranks)
{
	uint64_t bytes = 0;

	if (__builtin_mul_overflow(count, (uint64_t)nccl_type_size(datatype), &bytes) ||
	    __builtin_mul_overflow(bytes, (uint64_t)(nccl_log_is_part(function) ? ranks : 1), &bytes))
		return 0;
	return bytes;
}

uint64_t grt_nccl_factor(const char *function, uint32_t ranks)
{
	if (!strcmp(function, "AllReduce"))
		return 2 * ((uint64_t)ranks - 1);
	return nccl_log_is_part(function) ? ranks - 1 : ranks;
}
