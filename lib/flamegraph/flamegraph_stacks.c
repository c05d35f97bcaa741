// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Stacks for the forms of other programs: one after the other, and their frames in parts. */
#include "flamegraph_parts.h"

/**
 * struct each_stack - a walk
 * @inner: by node: it has other nodes below it
 * @frame: frames of the present node, outermost first
 */
struct each_stack {
	struct flamegraph *f;
	int (*take)(void *arg, uint32_t node, const uint32_t *frame, uint32_t depth);
	void *arg;
	bool *inner;
	uint32_t frame[GRT_STACKS_DEPTH_MAX + 1];
};

/* On any side. */
static bool each_stack_has_weight(const struct grt_stacks *s, uint32_t node)
{
	for (unsigned int side = 0; side < GRT_STACKS_SIDES; side++)
		if (grt_stacks_weight(s, node, side))
			return true;
	return false;
}

static int each_stack_step(void *arg, const struct grt_stacks_step *at)
{
	struct each_stack *e = arg;
	const struct grt_stacks_node *node = grt_stacks_node(e->f->s, at->node);

	if (!at->depth)
		return 0;
	e->frame[at->depth - 1] = node->name;
	if (e->inner[at->node] && !each_stack_has_weight(e->f->s, at->node))
		return 0;
	return e->take(e->arg, at->node, e->frame, at->depth);
}

int flamegraph_each_stack(struct flamegraph *f,
			  int (*take)(void *arg, uint32_t node, const uint32_t *frame, uint32_t depth),
			  void *arg)
{
	struct each_stack *e = calloc(1, sizeof(*e));
	uint32_t nodes = grt_stacks_nodes(f->s);
	int ret = -ENOMEM;

	if (!e)
		return ret;
	*e = (struct each_stack){.f = f, .take = take, .arg = arg, .inner = calloc(nodes, sizeof(*e->inner))};
	if (e->inner &&
	    (f->sum[GRT_STACKS_NOW] || !grt_stacks_sums(f->s, GRT_STACKS_NOW, &f->sum[GRT_STACKS_NOW]))) {
		for (uint32_t i = 1; i < nodes; i++)
			e->inner[grt_stacks_node(f->s, i)->parent] = true;
		ret = grt_stacks_walk(f->s, f->sum[GRT_STACKS_NOW], 0, each_stack_step, e);
	}
	free(e->inner);
	free(e);
	return ret;
}

/* Finds a number that ends before @end and begins after a colon. Return: the colon; NULL: there is none */
static const char *place_line(const char *begin, const char *end, uint32_t *line)
{
	const char *p = end;
	uint64_t n = 0;

	while (p > begin && p[-1] >= '0' && p[-1] <= '9' && end - p < 9)
		p--;
	if (p == end || p == begin || p[-1] != ':')
		return NULL;
	for (const char *digit = p; digit < end; digit++)
		n = n * 10 + (uint64_t)(*digit - '0');
	*line = (uint32_t)n;
	return p - 1;
}

/* Frames with a place are made by image_frames.c and step_code.c: "function (file:line)". */
struct flamegraph_place flamegraph_place(const struct grt_stacks *s, uint32_t name)
{
	struct flamegraph_place place = {0};
	const char *end, *open, *colon;

	place.function = grt_stacks_text(s, name, &place.function_len);
	end = place.function + place.function_len;
	if (place.function_len < 6 || end[-1] != ')')
		return place;
	colon = place_line(place.function, end - 1, &place.line);
	for (open = colon; open && open > place.function && *open != '('; open--)
		;
	if (!colon || open < place.function + 2 || open[-1] != ' ' || colon == open + 1) {
		place.line = 0;
		return place;
	}
	place.file = open + 1;
	place.file_len = (size_t)(colon - place.file);
	place.function_len = (size_t)(open - 1 - place.function);
	return place;
}
