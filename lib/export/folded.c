// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Folded stacks, as `grtrace flame` makes them. */
#include "flamegraph/flame.h"
#include "export.h"
#include "flamegraph/flamegraph.h"

static int folded_begin(struct grt_export *x)
{
	struct grt_flame *f;
	int ret = grt_flame_new(&f);

	x->state = f;
	return ret;
}

static int folded_event(struct grt_export *x, const struct grt_event *e, uint32_t cpu)
{
	return grt_flame_event(x->state, e);
}

static void folded_within(struct grt_export *x, uint64_t from, uint64_t to)
{
	grt_flame_within(x->state, from, to);
}

static int folded_end(struct grt_export *x, const struct grt_health *h)
{
	const struct grt_flame_shape shape = {0};
	const struct grt_flamegraph_look look = {0};
	struct grt_flamegraph_count count;
	struct grt_stacks *tree;
	int ret = grt_stacks_new(&tree);

	if (!ret)
		ret = grt_flame_tree(x->state, &shape, tree, GRT_STACKS_NOW);
	if (!ret)
		ret = grt_flamegraph_write(tree, GRT_FLAMEGRAPH_FOLDED, &look, x->fd, &count);
	grt_stacks_free(tree);
	return ret;
}

static void folded_free(struct grt_export *x)
{
	grt_flame_free(x->state);
}

const struct grt_export_format grt_export_folded = {
	.begin = folded_begin,
	.event = folded_event,
	.beyond = folded_event,
	.late = folded_event,
	.within = folded_within,
	.end = folded_end,
	.free = folded_free,
};
