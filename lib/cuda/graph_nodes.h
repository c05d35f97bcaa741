/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The code that created the nodes of CUDA graphs. Work of an executable graph has the id of
 * a clone. A chain of clones leads to the original node, which the program created by
 * capturing a stream or by a function call, and whose stack was recorded then.
 *
 * A program may create any number of graphs: the oldest nodes of all processes are
 * dropped, 80 bytes each.
 */
#ifndef GRT_CUDA_GRAPH_NODES_H
#define GRT_CUDA_GRAPH_NODES_H

#include <grtrace/grtrace.h>

#include "base/keyed.h"

/* At most 320 MiB. */
#define GRT_GRAPH_NODES_MAX (1U << 22)

/** struct grt_graph_nodes - set up by grt_graph_nodes_init(); @gone: dropped nodes */
struct grt_graph_nodes {
	struct grt_keyed nodes;
	uint64_t gone;
};

/** grt_graph_nodes_init - begins without nodes */
void grt_graph_nodes_init(struct grt_graph_nodes *g);

/** grt_graph_nodes_event - processes a GRAPH_NODE of the process image @image. Return: 0 or -ENOMEM */
int grt_graph_nodes_event(struct grt_graph_nodes *g, uint32_t image, const struct grt_ev_graph_node *e);

/**
 * grt_graph_nodes_stack - the stack of the code that created the original node of @id; 0: unknown, or @id is
 * 0
 */
uint32_t grt_graph_nodes_stack(const struct grt_graph_nodes *g, uint32_t image, uint64_t id);

/** grt_graph_nodes_free - frees and empties it */
void grt_graph_nodes_free(struct grt_graph_nodes *g);

#endif /* GRT_CUDA_GRAPH_NODES_H */
