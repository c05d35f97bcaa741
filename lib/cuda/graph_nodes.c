// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A clone gets the stack of its origin when it is made, so that finding it is one
 * step: origins come before their clones.
 */
#include "graph_nodes.h"

#include <grtrace/event.h>

struct graph_node {
	uint32_t stack;
};

static struct grt_key graph_nodes_key(uint32_t image, uint64_t id)
{
	return (struct grt_key){{image, id}};
}

void grt_graph_nodes_init(struct grt_graph_nodes *g)
{
	grt_keyed_init(&g->nodes, sizeof(struct graph_node), GRT_GRAPH_NODES_MAX);
}

int grt_graph_nodes_event(struct grt_graph_nodes *g, uint32_t image, const struct grt_ev_graph_node *e)
{
	const struct grt_key key = graph_nodes_key(image, e->id);
	uint32_t stack = e->source ? grt_graph_nodes_stack(g, image, e->source) : e->node;
	void *node;
	int ret;

	if (!stack)
		return 0;
	ret = grt_keyed_get_or_replace(&g->nodes, &key, &g->gone, &node);
	if (!ret)
		((struct graph_node *)node)->stack = stack;
	return ret;
}

uint32_t grt_graph_nodes_stack(const struct grt_graph_nodes *g, uint32_t image, uint64_t id)
{
	const struct grt_key key = graph_nodes_key(image, id);
	const struct graph_node *node = id ? grt_keyed_find(&g->nodes, &key) : NULL;

	return node ? node->stack : 0;
}

void grt_graph_nodes_free(struct grt_graph_nodes *g)
{
	grt_keyed_free(&g->nodes);
}
