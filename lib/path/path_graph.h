/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A graph of the events of a run, as points in time. A point has the point before
 * it in its lane (a thread, a stream, a ring), and one of another lane that it may
 * wait for. The time between a point and the points before it is an activity: it has
 * a duration of its own, or it is a wait, which ends some time after the later of both
 * points. So the time of every point follows from the times of other points, and can be
 * computed again for other durations of activities.
 *
 * Memory is 24 bytes for each point, and 12 when it is sorted and computed: 604 MB
 * for GRT_PATH_POINTS_MAX.
 */
#ifndef GRT_PATH_PATH_GRAPH_H
#define GRT_PATH_PATH_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#define GRT_PATH_NONE UINT32_MAX
#define GRT_PATH_POINTS_MAX (1U << 24)
#define GRT_PATH_LANES_MAX (1U << 20)

/** enum grt_path_how - how a point follows from others */
enum grt_path_how {
	GRT_PATH_LASTS,	  /* as long after @prev as it was */
	GRT_PATH_WAITS,	  /* as long after the later of @prev and @dep as it was */
	GRT_PATH_SHRINKS, /* with @prev: the time between them fills a wait that ends later */
};

/**
 * struct grt_path_point - @prev, @dep: GRT_PATH_NONE: none; both points come before this point in the order
 * @act: the number of the activity between those points and this point
 * @mark, @rank: values of the owner; of points with the same time, the lower rank comes first
 * @inferred: that it follows from these points is inferred
 * @used: another point has it as its @dep
 */
struct grt_path_point {
	uint64_t time;
	uint32_t prev;
	uint32_t dep;
	uint32_t act;
	uint32_t lane : 20;
	uint32_t mark : 5;
	uint32_t rank : 3;
	uint32_t how : 2;
	uint32_t inferred : 1;
	uint32_t used : 1;
};

/**
 * struct grt_path_graph - empty if all zero; freed by grt_path_graph_free()
 * @order: the points by time and rank, after grt_path_graph_sort()
 * @then: time of each point, from the last grt_path_graph_compute()
 * @over: points beyond GRT_PATH_POINTS_MAX; @cut: time of the first such point, else UINT64_MAX
 */
struct grt_path_graph {
	struct grt_path_point *point;
	uint32_t points;
	uint32_t room;
	uint32_t *order;
	uint64_t *then;
	uint64_t over;
	uint64_t cut;
};

/** struct grt_path_segment - a piece of a path: it ends at a point and is its activity */
struct grt_path_segment {
	uint64_t from;
	uint64_t to;
	uint32_t point;
};

/** struct grt_path_scale - a change: activity @act takes @num / @den of its time */
struct grt_path_scale {
	uint32_t act;
	uint32_t num;
	uint32_t den;
};

/** grt_path_graph_room - makes room for @n more points. Return: 0, -ENOMEM, or -ENOSPC: it is full, and @at
 * is counted
 */
int grt_path_graph_room(struct grt_path_graph *g, uint32_t n, uint64_t at);

/** grt_path_graph_add - adds a point, for which there must be room. Return: its number */
uint32_t grt_path_graph_add(struct grt_path_graph *g, const struct grt_path_point *p);

/** grt_path_graph_sort - finds the order of the points; to be called after the last point was added. Return:
 * 0 or -ENOMEM */
int grt_path_graph_sort(struct grt_path_graph *g);

/** grt_path_graph_before - whether point @a stands before @b in the order; with the times that they were
 * added with */
bool grt_path_graph_before(const struct grt_path_graph *g, uint32_t a, uint32_t b);

/** grt_path_graph_compute - when a point would be after a change; NULL: after none, which is when it was */
uint64_t grt_path_graph_compute(struct grt_path_graph *g, uint32_t point,
				const struct grt_path_scale *change);

/**
 * grt_path_graph_step - the piece of the path that ends at a point
 * Return: the point at which the piece before it ends, GRT_PATH_NONE: it begins with this one, which has none
 * before it and no length
 */
uint32_t grt_path_graph_step(const struct grt_path_graph *g, uint32_t point, struct grt_path_segment *s);

/** grt_path_graph_edges - the number of edges */
uint64_t grt_path_graph_edges(const struct grt_path_graph *g);

/** grt_path_graph_free - frees and empties it */
void grt_path_graph_free(struct grt_path_graph *g);

#endif /* GRT_PATH_PATH_GRAPH_H */
