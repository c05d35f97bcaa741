// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Writes a tree of stacks as folded lines: `outermost;...;innermost weight`. */
#include "base/grow.h"
#include "flamegraph_parts.h"

/* Most bytes of a line's stack, because readers have a limit, too. */
#define FOLDED_MAX (1U << 20)

/**
 * struct folded - the line while it is made
 * @end: of each depth's frames in it
 * @inner: by node: has others below it
 * @left: of the weights so far, below look->divide
 */
struct folded {
	struct flamegraph *f;
	bool *inner;
	char *line;
	size_t room;
	uint64_t left[GRT_STACKS_SIDES];
	size_t end[GRT_STACKS_DEPTH_MAX + 2];
};

/* The frames of a node's stack. Return: their length, 0: no memory */
static size_t spell(struct folded *l, const struct grt_stacks_step *at)
{
	size_t len, begin = at->depth > 1 ? l->end[at->depth - 1] : 0;
	const char *text = grt_stacks_text(l->f->s, grt_stacks_node(l->f->s, at->node)->name, &len);

	if (grt_grow(&l->line, &l->room, begin + len + 1, 1024))
		return 0;
	if (begin)
		l->line[begin++] = ';';
	memcpy(l->line + begin, text, len);
	return l->end[at->depth] = begin + len;
}

/* Writes the outermost frames of a deeper stack; "[cut]" stands for the others. */
static void flamegraph_put_line(struct folded *l, uint32_t depth, size_t len)
{
	uint32_t shown = depth;

	while (shown > 1 && l->end[shown] > FOLDED_MAX)
		shown--;
	flamegraph_put_n(l->f, l->line, shown < depth ? l->end[shown] : len);
	if (shown < depth)
		flamegraph_put(l->f, ";[cut]");
}

static void put_weight(struct folded *l, enum grt_stacks_side side, uint64_t weight)
{
	uint64_t divide = l->f->look->divide;

	if (divide) {
		weight += l->left[side];
		l->left[side] = weight % divide;
		weight /= divide;
	}
	flamegraph_printf(l->f, " %llu", (unsigned long long)weight);
}

/* A stack with the weight 0 has a line, too: a launch may have taken no time. */
static int put_folded(void *arg, const struct grt_stacks_step *at)
{
	struct folded *l = arg;
	struct flamegraph *f = l->f;
	uint64_t weight = grt_stacks_node(f->s, at->node)->weight, before = 0;
	size_t len = at->depth ? spell(l, at) : 0;

	if (at->depth && !len)
		return -ENOMEM;
	if (grt_stacks_compared(f->s))
		before = grt_stacks_weight(f->s, at->node, GRT_STACKS_BEFORE);
	if (!at->depth || (!weight && !before && l->inner[at->node]))
		return 0;
	flamegraph_put_line(l, at->depth, len);
	if (grt_stacks_compared(f->s))
		put_weight(l, GRT_STACKS_BEFORE, before);
	put_weight(l, GRT_STACKS_NOW, weight);
	flamegraph_put(f, "\n");
	return f->out.error;
}

int flamegraph_folded(struct flamegraph *f)
{
	struct folded *l = calloc(1, sizeof(*l));
	uint32_t nodes = grt_stacks_nodes(f->s);
	int ret = -ENOMEM;

	if (!l)
		return ret;
	l->f = f;
	l->inner = calloc(nodes, sizeof(*l->inner));
	if (l->inner && !grt_stacks_sums(f->s, GRT_STACKS_NOW, &f->sum[GRT_STACKS_NOW])) {
		for (uint32_t i = 1; i < nodes; i++)
			l->inner[grt_stacks_node(f->s, i)->parent] = true;
		ret = grt_stacks_walk(f->s, f->sum[GRT_STACKS_NOW], 0, put_folded, l);
	}
	free(l->inner);
	free(l->line);
	free(l);
	return ret;
}
