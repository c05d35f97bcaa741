// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Points stay where they are, because they refer to each other by number. Their order is found by merging
 * sorted runs, which are long in traces.
 */
#include "path_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"

/* Points that are sorted by insertion: most are in order, or a few places away. */
#define BLOCK 16U

int grt_path_graph_room(struct grt_path_graph *g, uint32_t n, uint64_t at)
{
	if (g->points + n <= GRT_PATH_POINTS_MAX)
		return grt_grow(&g->point, &g->room, g->points + n, 1024);
	g->cut = g->over && g->cut < at ? g->cut : at;
	g->over += n;
	return -ENOSPC;
}

uint32_t grt_path_graph_add(struct grt_path_graph *g, const struct grt_path_point *p)
{
	g->point[g->points] = *p;
	return g->points++;
}

/* ---------------------------------------------------------------- order */

static inline bool point_before(const struct grt_path_graph *g, uint32_t a, uint32_t b)
{
	const struct grt_path_point *x = &g->point[a], *y = &g->point[b];

	if (x->time != y->time)
		return x->time < y->time;
	return x->rank != y->rank ? x->rank < y->rank : a < b;
}

bool grt_path_graph_before(const struct grt_path_graph *g, uint32_t a, uint32_t b)
{
	return point_before(g, a, b);
}

static void sort_block(const struct grt_path_graph *g, uint32_t *at, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t one = at[i], j = i;

		for (; j && point_before(g, one, at[j - 1]); j--)
			at[j] = at[j - 1];
		at[j] = one;
	}
}

/* Merges two adjacent runs into one in @to. */
static void merge_runs(const struct grt_path_graph *g, const uint32_t *from, uint32_t first, uint32_t n,
		       uint32_t *to)
{
	uint32_t a = 0, b = first;

	if (first >= n || !point_before(g, from[first], from[first - 1])) {
		memcpy(to, from, n * sizeof(*to));
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		if (b == n || (a < first && point_before(g, from[a], from[b])))
			to[i] = from[a++];
		else
			to[i] = from[b++];
}

static uint32_t *sort_runs(const struct grt_path_graph *g, uint32_t *from, uint32_t *to)
{
	uint32_t n = g->points, *swap;

	for (uint32_t i = 0; i < n; i += BLOCK)
		sort_block(g, from + i, n - i < BLOCK ? n - i : BLOCK);
	for (uint32_t run = BLOCK; run < n; run *= 2) {
		for (uint32_t i = 0; i < n; i += 2 * run)
			merge_runs(g, from + i, run, n - i < 2 * run ? n - i : 2 * run, to + i);
		swap = from;
		from = to;
		to = swap;
	}
	return from;
}

int grt_path_graph_sort(struct grt_path_graph *g)
{
	/* the second array has half the length of @then, which comes later */
	uint64_t *then = malloc((size_t)(g->points + 1) * sizeof(*then));
	uint32_t *order = malloc((size_t)(g->points + 1) * sizeof(*order)), *sorted;

	free(g->order);
	free(g->then);
	g->order = order;
	g->then = then;
	if (!then || !order)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->points; i++)
		order[i] = i;
	sorted = sort_runs(g, order, (uint32_t *)then);
	if (sorted != order)
		memcpy(order, sorted, g->points * sizeof(*order));
	return 0;
}

/* -------------------------------------------------------------- compute */

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Return: the moment at which a point begins, from the times of all points: the later of the point before it
 * and the point for which it waits; @own if it has neither.
 */
static inline uint64_t base_of(const struct grt_path_point *p, uint64_t prev, uint64_t dep, uint64_t own)
{
	if (p->how != GRT_PATH_WAITS || p->dep == GRT_PATH_NONE)
		return p->prev == GRT_PATH_NONE ? own : prev;
	return p->prev == GRT_PATH_NONE ? dep : later(prev, dep);
}

static uint64_t scaled(uint64_t ns, const struct grt_path_point *p, const struct grt_path_scale *change)
{
	if (!change || p->act != change->act)
		return ns;
	return (uint64_t)((unsigned __int128)ns * change->num / change->den);
}

static uint64_t compute_point(const struct grt_path_graph *g, const struct grt_path_point *p,
			      const struct grt_path_scale *change)
{
	uint32_t prev = p->prev == GRT_PATH_NONE ? 0 : p->prev, dep = p->dep == GRT_PATH_NONE ? 0 : p->dep;
	uint64_t was = base_of(p, g->point[prev].time, g->point[dep].time, p->time);
	uint64_t is = base_of(p, g->then[prev], g->then[dep], p->time);

	if (p->how == GRT_PATH_SHRINKS)
		return is;
	return is + scaled(p->time - was, p, change);
}

uint64_t grt_path_graph_compute(struct grt_path_graph *g, uint32_t point, const struct grt_path_scale *change)
{
	for (uint32_t i = 0; i < g->points; i++) {
		uint32_t at = g->order[i];

		g->then[at] = compute_point(g, &g->point[at], change);
	}
	return g->then[point];
}

/* ----------------------------------------------------------------- path */

uint32_t grt_path_graph_step(const struct grt_path_graph *g, uint32_t point, struct grt_path_segment *s)
{
	const struct grt_path_point *p = &g->point[point];
	uint32_t before = p->prev;

	if (p->how == GRT_PATH_WAITS && p->dep != GRT_PATH_NONE &&
	    (before == GRT_PATH_NONE || g->point[p->dep].time >= g->point[before].time))
		before = p->dep;
	s->point = point;
	s->to = p->time;
	s->from = before == GRT_PATH_NONE ? p->time : g->point[before].time;
	return before;
}

uint64_t grt_path_graph_edges(const struct grt_path_graph *g)
{
	uint64_t edges = 0;

	for (uint32_t i = 0; i < g->points; i++)
		edges += (g->point[i].prev != GRT_PATH_NONE) +
			 (g->point[i].how == GRT_PATH_WAITS && g->point[i].dep != GRT_PATH_NONE);
	return edges;
}

void grt_path_graph_free(struct grt_path_graph *g)
{
	free(g->point);
	free(g->order);
	free(g->then);
	*g = (struct grt_path_graph){.points = 0};
}
