// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Tables of the critical path: its activities, with how much shorter the run would be without them, and its
 * segments in the order of time.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compare.h"
#include "path_run.h"
#include "table/analysis.h"
#include "table/cells.h"

/* Most activities for which the effect of a change is computed. */
#define CHANGED 10U
/* Rows of each table in text. */
#define ROWS_SHOWN 20U

/*
 * struct view - what the columns need
 * @text: text of the present row
 */
struct view {
	struct grt_path *path;
	const struct grt_names *names;
	char *who;
	char *what;
};

/* struct row - an activity, or a segment with its own lane */
struct row {
	const struct path_act *act;
	uint32_t lane;
	uint64_t from;
	uint64_t to;
	bool inferred;
};

#define A(member) offsetof(struct path_act, member)

static const struct path_act *path_table_act(const void *row)
{
	return ((const struct row *)row)->act;
}

static void path_table_get_kind(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = path_act_kind(path_table_act(row));
}

static void path_table_get_who(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	struct view *v = (struct view *)view;
	uint32_t lane = ((const struct row *)row)->lane;

	free(v->who);
	v->who = NULL;
	cell->absent = !lane || path_lane_text(v->path, lane, v->names, &v->who);
	cell->text = v->who;
}

static void path_table_get_what(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	struct view *v = (struct view *)view;

	free(v->what);
	v->what = NULL;
	cell->absent = path_act_text(v->path, path_table_act(row), v->names, &v->what);
	cell->text = v->what;
}

static void path_table_get_of_act(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_u64(cell, view, path_table_act(row), arg);
}

static uint64_t path_wall(const struct grt_path *s)
{
	return s->end - s->first;
}

/* Return: the share of the path in 1/1000 of a percent. */
static uint64_t path_share(const struct grt_path *s, uint64_t ns)
{
	return grt_share_down(ns, path_wall(s));
}

static void path_table_get_share(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = path_share(((const struct view *)view)->path, path_table_act(row)->path_ns);
}

static void path_table_get_shorter(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct path_act *a = path_table_act(row);
	uint64_t ns = a->shorter > 0 ? (uint64_t)a->shorter : 0;

	cell->absent = !a->computed;
	cell->number = arg ? path_share(((const struct view *)view)->path, ns) : ns;
}

static void path_table_get_from(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ((const struct row *)row)->from - ((const struct view *)view)->path->first;
}

static void path_table_get_time(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct row *r = row;

	cell->number = r->to - r->from;
	cell->inferred = r->inferred;
}

/* clang-format off */

#define WHO {"who", path_table_get_who, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "process or thread, stream, ring"}
#define KIND {"kind", path_table_get_kind, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "kernel, copy, job, running, call or asleep; or the delay between two of them"}
#define WHAT {"what", path_table_get_what, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the work, or where the thread was"}

static const struct grt_column columns[] = {
	WHO, KIND,
	{"time", path_table_get_of_act, A(path_ns), GRT_CELL_NS, GRT_COLUMN_ALL, "time on the critical path, ns"},
	{"share", path_table_get_share, 0, GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of the critical path, percent"},
	{"segments", path_table_get_of_act, A(pieces), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "segments of the critical path"},
	{"inferred", path_table_get_of_act, A(inferred_ns), GRT_CELL_NS, GRT_COLUMN_MORE, "part of the time whose predecessor on the path is inferred, ns"},
	{"total", path_table_get_of_act, A(ns), GRT_CELL_NS, GRT_COLUMN_ALL, "time in the whole recording, on the critical path or not, ns"},
	{"times", path_table_get_of_act, A(times), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "number in the whole recording, on the critical path or not, without those that took no time"},
	{"half_saves", path_table_get_shorter, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "how much shorter the run would be if all work of the row took half its time, ns"},
	{"half_share", path_table_get_shorter, 1, GRT_CELL_PERCENT, GRT_COLUMN_ALL, "half_saves as a share of the run, percent"},
	WHAT,
	{.name = NULL},
};

static const struct grt_column segment_columns[] = {
	{"at", path_table_get_from, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "start, from the beginning of the path, ns"},
	{"time", path_table_get_time, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "duration, ns"},
	WHO, KIND,
	WHAT,
	{.name = NULL},
};

/* clang-format on */

static const struct grt_table path_table = {"path", "critical path", columns, 0};
static const struct grt_table path_segment_table = {"path_segments", "segments of the critical path",
						    segment_columns, GRT_MARK_INFERRED};

/* ----------------------------------------------------------------- pairs */

#define P(member) offsetof(struct grt_path, member)

static void get_wall(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_path *s = row;

	cell->number = path_wall(s);
	cell->absent = s->last == GRT_PATH_NONE;
}

static void get_points(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_path *s = row;

	cell->number = arg ? grt_path_graph_edges(&s->graph) : s->graph.points;
}

static const struct grt_column path_pair_columns[] = {
	{"wall", get_wall, 0, GRT_CELL_NS, GRT_COLUMN_ALL,
	 "time from the first point of the graph to the end of the run"},
	{"first", grt_cell_u64, P(first), GRT_CELL_TIME, GRT_COLUMN_MACHINE,
	 "start of the critical path, ns"},
	{"end", grt_cell_u64, P(end), GRT_CELL_TIME, GRT_COLUMN_MACHINE, "end of the critical path, ns"},
	{"pieces", grt_cell_u64, P(segments), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "segments of the critical path"},
	{"points", get_points, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "points of the graph"},
	{"edges", get_points, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "edges of the graph"},
	{.name = NULL},
};

static const struct grt_table path_pairs = {"path_run", "critical path from the end of the run",
					    path_pair_columns, GRT_TABLE_PAIRS};

/* ------------------------------------------------------------------ rows */

/* The largest share of the path comes first. */
static int path_by_time(const void *a, const void *b)
{
	const struct path_act *x = (*(const struct row *const *)a)->act,
			      *y = (*(const struct row *const *)b)->act;

	return grt_compare(y->path_ns, x->path_ns) ?: grt_compare((uintptr_t)x, (uintptr_t)y);
}

static void path_compute(struct grt_path *s, struct row *const *row, uint64_t n)
{
	unsigned int done = 0;

	for (uint64_t i = 0; i < n && done < CHANGED; i++) {
		struct path_act *a = &s->act[row[i]->act - s->act];

		if (!path_act_changes(a))
			continue;
		a->shorter = (int64_t)(path_wall(s) - grt_path_if(s, (uint32_t)(a - s->act), 1, 2));
		a->computed = true;
		done++;
	}
}

/* Pointers to @n rows; NULL: no memory */
static struct row **path_rows(struct row *row, uint64_t n)
{
	struct row **list = row ? malloc((n + 1) * sizeof(*list)) : NULL;

	for (uint64_t i = 0; list && i < n; i++)
		list[i] = &row[i];
	return list;
}

/* Programs get all rows, people those that fit on a screen. */
static uint64_t path_shown(const struct grt_pass *pass, uint64_t n)
{
	return pass->json || pass->csv || pass->top || n < ROWS_SHOWN ? n : ROWS_SHOWN;
}

static int write_acts(struct view *v, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_path *s = v->path;
	struct row *row = calloc(s->acts + 1U, sizeof(*row)), **list;
	uint64_t n = 0, shown;
	int ret;

	for (uint32_t i = 0; row && i < s->acts; i++)
		if (s->act[i].path_ns)
			row[n++] = (struct row){.act = &s->act[i], .lane = s->act[i].lane};
	list = path_rows(row, n);
	if (list) {
		qsort(list, n, sizeof(*list), path_by_time);
		path_compute(s, list, n);
		if (grt_pass_sort(pass, part, NULL))
			grt_rows_sort(list, n, grt_pass_sort(pass, part, NULL), v, NULL);
	}
	shown = path_shown(pass, grt_pass_shown(pass, part, n));
	ret = list ? grt_writer_list(pass->writer, &path_table, v, list, shown) : -ENOMEM;
	if (shown < n)
		grt_note(pass->notes,
			 "%" PRIu64 " {more activity|more activities} of the path: --top N, --json",
			 n - shown);
	free(list);
	free(row);
	return ret;
}

static struct row segment_row(const struct grt_path *s, const struct grt_path_segment *one)
{
	const struct grt_path_point *p = one->point == GRT_PATH_NONE ? NULL : &s->graph.point[one->point];

	return (struct row){.act = &s->act[p ? p->act : 0],
			    .lane = p ? p->lane : PATH_NOBODY,
			    .from = one->from,
			    .to = one->to,
			    .inferred = p && p->inferred};
}

/* The longest ones come first. */
static int segment_by_length(const void *a, const void *b)
{
	const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;

	return grt_compare(y->to - y->from, x->to - x->from) ?: grt_compare(x->from, y->from);
}

static int write_segments(struct view *v, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_path *s = v->path;
	const struct grt_column *sort = grt_pass_sort(pass, part, NULL);
	bool some = !pass->json && !pass->csv && !sort;
	uint64_t n = s->segments, shown = grt_pass_shown(pass, part, n);
	struct row *row = calloc(n + 1, sizeof(*row)), **list;
	int ret;

	for (uint64_t i = 0; row && i < n; i++)
		row[i] = segment_row(s, &s->segment[i]);
	list = path_rows(row, n);
	if (list && some)
		qsort(list, n, sizeof(*list), segment_by_length);
	else if (list && sort)
		grt_rows_sort(list, n, sort, v, NULL);
	shown = path_shown(pass, shown);
	ret = list ? grt_writer_list(pass->writer, &path_segment_table, v, list, shown) : -ENOMEM;
	if (shown < n)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {shorter segment is|shorter segments are} not shown: --json, --by segment --csv",
			 n - shown);
	free(list);
	free(row);
	return ret;
}

/* ----------------------------------------------------------------- notes */

static void note_limits(const struct grt_path *s, struct grt_pass *pass)
{
	const struct grt_path_count *n = &s->count;

	if (n->unfollowed)
		grt_note(pass->notes,
			 "%" PRIu64 " {wait was|waits were} ended by threads that were not recorded",
			 n->unfollowed);
	if (n->untimed)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {kernel, copy or job without an end is|kernels, copies and jobs without an end are} not in the graph",
			n->untimed);
	if (n->backwards)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {wait|waits} ended, by the clocks, before the work {it waited for: it is|they waited for: they are} not joined",
			n->backwards);
	if (n->lost)
		grt_note(pass->notes,
			 "%" PRIu64 " off-CPU intervals are lost: what the threads did in them is unknown",
			 n->lost);
	if (n->unordered)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {wait of streams for other streams is|waits of streams for other streams are} left out: more than %u at a time",
			n->unordered, PATH_ORDERED);
	if (n->over || s->graph.over)
		grt_note(pass->notes,
			 "the graph is too large: %" PRIu64 " {point|points} and %" PRIu64
			 " {other record is|other records are} left out; select a part with --from and --to",
			 s->graph.over, n->over);
}

static void note_method(const struct grt_path *s, struct grt_pass *pass)
{
	if (s->last == GRT_PATH_NONE) {
		grt_note(
			pass->notes,
			"the trace has no threads, jobs or launches: use grtrace record -e sched,drm,cuda -- PROG");
		return;
	}
	if (!s->segments) {
		grt_note(
			pass->notes,
			"no thread, job or launch of the trace is between --from and --to, and so no part of the path");
		return;
	}
	grt_note(
		pass->notes,
		"half_saves: the graph is computed again. It does not model that work shares the GPU's cores and memory with other work,");
	grt_note(
		pass->notes,
		"  that the scheduler may choose another CPU or order, nor that a program does other work in the time gained");
	note_limits(s, pass);
}

/* -------------------------------------------------------------- analysis */

static int write_path(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct view v = {.path = state, .names = pass->names};
	int ret;

	if (part->arg)
		ret = write_segments(&v, part, pass);
	else
		ret = write_acts(&v, part, pass);
	if (!pass->csv)
		grt_writer_pairs(pass->writer, &path_pairs, NULL, state);
	if (!ret && !part->arg && !pass->csv)
		ret = write_segments(&v, NULL, pass);
	note_method(state, pass);
	free(v.who);
	free(v.what);
	return ret;
}

static int path_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	return grt_path_new((struct grt_path **)state);
}

static void path_within(void *state, uint64_t from, uint64_t to)
{
	grt_path_within(state, from, to);
}

GRT_ANALYSIS_FINISH(path_finish, grt_path_finish)

GRT_ANALYSIS_EVENT(path_event, grt_path_event)
GRT_ANALYSIS_JOB(path_job, grt_path_job)
GRT_ANALYSIS_FREE(path_free, grt_path_free)

static const struct grt_part path_parts[] = {
	{"path", "the critical path: what the run waited for, and what would make it shorter",
	 GRT_PART_BY | GRT_PART_NO_JOBS, 0, &path_table,
	 .tables = GRT_TABLES(&path_pairs, &path_segment_table), .write = write_path},
	{"segment", "the critical path in the order of time", GRT_PART_BY | GRT_PART_NO_JOBS, 1,
	 &path_segment_table, .tables = GRT_TABLES(&path_pairs), .write = write_path},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_path = {
	.name = "path",
	.classes = GRT_IN_CLASS(thread) | GRT_IN_CLASS(launch) | GRT_IN_CLASS(image) | GRT_IN_CLASS(stack) |
		   GRT_IN_CLASS(wait) | GRT_IN_CLASS(dep),
	.beyond = true,
	.late = true,
	.parts = path_parts,
	.begin = path_begin,
	.within = path_within,
	.event = path_event,
	.held = path_job,
	.job = path_job,
	.finish = path_finish,
	.free = path_free,
};
