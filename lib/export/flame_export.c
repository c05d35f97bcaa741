// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* GPU time by CPU stack, as `grtrace flame` makes it. */
#include "flame_export.h"
#include "flamegraph/flame.h"

int grt_flame_export_begin(struct grt_export *x)
{
	struct grt_flame *f;
	int ret = grt_flame_new(&f);

	x->state = f;
	return ret;
}

int grt_flame_export_event(struct grt_export *x, const struct grt_event *e, uint32_t cpu)
{
	return grt_flame_event(x->state, e);
}

void grt_flame_export_within(struct grt_export *x, uint64_t from, uint64_t to)
{
	grt_flame_within(x->state, from, to);
}

int grt_flame_export_end(struct grt_export *x, enum grt_flamegraph_form form)
{
	const struct grt_flame_shape shape = {.places = grt_flamegraph_has_places(form)};
	const struct grt_launch_flame *launches = grt_flame_launches(x->state);
	struct grt_notes notes = {.n = 0};
	struct grt_flamegraph_look look = {
		.unit = grt_flame_unit(&shape), .levels = "process", .weight = "time", .notes = &notes};
	struct grt_flamegraph_count count;
	struct grt_stacks *tree;
	int ret = grt_stacks_new(&tree);

	if (!ret)
		ret = grt_flame_tree(x->state, &shape, tree, GRT_STACKS_NOW);
	grt_flame_note_estimated(&notes, launches);
	look.estimated = grt_launch_flame_estimated(launches).processes;
	if (!ret)
		ret = grt_flamegraph_write(tree, form, &look, x->fd, &count);
	grt_stacks_free(tree);
	return ret;
}

void grt_flame_export_free(struct grt_export *x)
{
	grt_flame_free(x->state);
}
