/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Which code made the nodes of CUDA graphs. Work of an executable graph has the id of
 * a clone; the clones lead, one to the other, to the node that the program made by
 * capturing a stream or by a function of its own, whose stack was taken then.
 *
 * A program may make graphs for ever: of the nodes of all processes the oldest give
 * way, 80 bytes each.
 */
#ifndef GRT_CUDA_GRAPH_NODES_H
#define GRT_CUDA_GRAPH_NODES_H

#include <grtrace/grtrace.h>

#include "base/keyed.h"

/* At most 320 MiB. */
#define GRT_GRAPH_NODES_MAX (1U << 22)

/** struct grt_graph_nodes - set up by grt_graph_nodes_init(); @gone: nodes that gave way */
struct grt_graph_nodes {
	struct grt_keyed nodes;
	uint64_t gone;
};

/** grt_graph_nodes_init - none */
void grt_graph_nodes_init(struct grt_graph_nodes *g);

/** grt_graph_nodes_event - takes in a GRAPH_NODE of the process image @image. Return: 0 or -ENOMEM */
int grt_graph_nodes_event(struct grt_graph_nodes *g, uint32_t image, const struct grt_ev_graph_node *e);

/** grt_graph_nodes_stack - of the code that made the node from which @id comes; 0: unknown, or @id is 0 */
uint32_t grt_graph_nodes_stack(const struct grt_graph_nodes *g, uint32_t image, uint64_t id);

/** grt_graph_nodes_free - frees and empties it */
void grt_graph_nodes_free(struct grt_graph_nodes *g);

#endif /* GRT_CUDA_GRAPH_NODES_H */
