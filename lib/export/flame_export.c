// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* GPU time by CPU stack, as `grtrace flame` makes it. */
#include "flame_export.h"

#include <errno.h>
#include <stdlib.h>

#include "flamegraph/gpu_time.h"
#include "threads/wall_flame.h"
#include "trace/packet.h"

/**
 * struct flame_export - the state; @wall: NULL: the format has one weight; @first, @last: the examined time
 */
struct flame_export {
	struct grt_gpu_time *flame;
	struct grt_wall_flame *wall;
	uint64_t first;
	uint64_t last;
};

int grt_flame_export_begin(struct grt_export *x, enum grt_flamegraph_form form)
{
	struct flame_export *e = calloc(1, sizeof(*e));
	int ret = e ? grt_gpu_time_new(&e->flame) : -ENOMEM;

	x->state = e;
	if (e)
		e->last = UINT64_MAX;
	if (!ret)
		grt_gpu_time_filter(e->flame, x->filter);
	if (!ret && grt_flamegraph_has_values(form))
		ret = grt_wall_flame_new(&e->wall, 0, NULL, false);
	return ret;
}

/*
 * The same as in wall_time.c: for calls that returned after the examined time, nothing is known of their
 * threads. Jobs outside of this time are here for GPU time only, and the time of threads is not cut.
 */
static int flame_export_wall(struct flame_export *e, const struct grt_event *ev)
{
	bool beyond = ev->time < e->first || ev->time > e->last;

	if (!e->wall || (beyond && (ev->type == GRT_EV_LAUNCH || grt_has_job(ev) ||
				    grt_class_of[ev->type] == GRT_CLASS_thread)))
		return 0;
	return grt_wall_flame_event(e->wall, ev);
}

int grt_flame_export_event(struct grt_export *x, const struct grt_event *e, uint32_t cpu)
{
	return grt_gpu_time_event(((struct flame_export *)x->state)->flame, e)
		       ?: flame_export_wall(x->state, e);
}

void grt_flame_export_within(struct grt_export *x, uint64_t from, uint64_t to)
{
	struct flame_export *e = x->state;

	e->first = from;
	e->last = to;
	grt_gpu_time_within(e->flame, from, to);
}

int grt_flame_export_end(struct grt_export *x, enum grt_flamegraph_form form)
{
	struct flame_export *e = x->state;
	const struct grt_flame_shape shape = {.places = grt_flamegraph_has_places(form), .all = e->wall};
	const struct grt_launch_flame *launches = grt_gpu_time_launches(e->flame);
	struct grt_notes notes = {.n = 0};
	struct grt_flamegraph_look look = {.unit = grt_flame_unit(&shape),
					   .levels = e->wall ? GRT_FLAME_LABEL_WORDS " process" : "process",
					   .labels = e->wall ? GRT_FLAME_LABELS : 0,
					   .weight = "time",
					   .notes = &notes};
	struct grt_flamegraph_count count;
	struct grt_stacks *tree;
	int ret = grt_stacks_new(&tree);

	if (!ret)
		ret = grt_gpu_time_tree(e->flame, &shape, tree, GRT_STACKS_NOW);
	if (!ret && e->wall)
		ret = grt_wall_flame_tree(e->wall, &shape, tree, GRT_STACKS_WALL);
	grt_gpu_time_note_estimated(&notes, launches);
	look.estimated = grt_launch_flame_estimated(launches).processes;
	for (int side = 0; !ret && side < (e->wall ? GRT_STACKS_SIDES : GRT_STACKS_NOW + 1); side++)
		x->items += grt_stacks_total(tree, (enum grt_stacks_side)side);
	if (!ret && x->items)
		ret = grt_flamegraph_write(tree, form, &look, x->fd, &count);
	grt_stacks_free(tree);
	return ret;
}

void grt_flame_export_free(struct grt_export *x)
{
	struct flame_export *e = x->state;

	if (!e)
		return;
	grt_gpu_time_free(e->flame);
	grt_wall_flame_free(e->wall);
	free(e);
}
