// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * report --by range: the time of NVTX ranges, and the GPU work that was launched in them. A launch names the
 * ranges in which it was made, so nothing is joined by time. Launches name only ranges that were pushed; a
 * range that was started has no launches.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/hist.h"
#include "base/containers.h"
#include "codes/cuda_codes.h"
#include "launches.h"
#include "range_paths.h"
#include "stack/image_frames.h"
#include "table/analysis.h"
#include "table/cells.h"
#include "table/table.h"
#include "trace/packet.h"

#define ROWS_MAX 65536U
/* Maximum number of octaves of all histograms: 128 MiB. */
#define OCTAVES_MAX 32768U

/** struct sums - sums over the launches of a path, or of a row */
struct sums {
	uint64_t launches;
	uint64_t kernels;
	uint64_t gpu;
};

/**
 * struct row - the ranges of one name
 * @chained: a range of it is in a chain, or work was launched in it, so that it can have launches
 * @wall: durations of the ranges that ended; @open: number of ranges that did not end
 * @own: sums of launches in the range itself; @all: also of those in ranges inside it
 * @seen: the path whose sums were added last, plus 1
 */
struct row {
	uint32_t image;
	uint32_t pid;
	const char *process;
	char pid_text[24];
	char *name;
	bool started;
	bool chained;
	uint32_t number;
	uint64_t count;
	uint64_t open;
	struct grt_hist wall;
	struct sums own;
	struct sums all;
	uint32_t seen;
};

struct range_table {
	struct grt_launches *launches;
	struct grt_range_paths paths;
	struct grt_keyed rows;
	struct sums *sums; /* by path */
	uint32_t sums_room;
	struct row **list;
	uint32_t octaves;
	uint64_t from, to;
	uint64_t marks;
	uint64_t fields;
	uint64_t cut;
	uint64_t over;
};

static void sums_add(struct sums *to, const struct sums *s)
{
	to->launches += s->launches;
	to->kernels += s->kernels;
	to->gpu += s->gpu;
}

/* Finds or adds a row. Return: 0, with *out NULL if there are too many rows; or -ENOMEM */
static int row_of(struct range_table *t, const struct grt_image *i, uint32_t name, bool started,
		  struct row **out)
{
	struct grt_key key = {{i->number, name, started}};
	void *found;
	int ret = grt_keyed_get_or_count(&t->rows, &key, &t->over, &found);

	*out = found;
	if (ret || !*out)
		return ret;
	(*out)->image = i->number;
	(*out)->pid = i->pid;
	(*out)->number = name;
	(*out)->started = started;
	return 0;
}

/* Finds the sums of a chain's path. Return: 0 or -ENOMEM */
static int sums_of(struct range_table *t, const struct grt_image *i, uint32_t chain, struct sums **out)
{
	uint32_t path;
	int ret = grt_range_paths_get(&t->paths, i, chain, &path)
			  ?: grt_grow_zeroed(&t->sums, &t->sums_room, path + 1, 64);

	*out = ret ? NULL : &t->sums[path];
	return ret;
}

static int range_table_on_work(void *arg, const struct grt_event *e, const struct grt_image *image,
			       const struct grt_launch *launch, enum grt_launched_how how)
{
	const struct grt_ev_gpu_kernel *k = (const void *)e;
	struct range_table *t = arg;
	struct sums *s;
	int ret;

	if (!launch || !launch->range || e->type == GRT_EV_GPU_SYNC)
		return 0;
	ret = sums_of(t, image, launch->range, &s);
	if (ret)
		return ret;
	s->kernels += e->type == GRT_EV_GPU_KERNEL;
	/* records of copies have their times at the same offsets */
	s->gpu += k->start && k->end > k->start ? k->end - k->start : 0;
	return 0;
}

static bool range_table_is_outside(const struct range_table *t, uint64_t begin, uint64_t end)
{
	return end < t->from || begin > t->to;
}

static int range_table_launch(struct range_table *t, const struct grt_ev_launch *e)
{
	const struct grt_image *i = e->range ? grt_launches_image(t->launches, &e->e) : NULL;
	struct sums *s;
	int ret;

	if (!i || range_table_is_outside(t, e->begin, e->e.time) || grt_cuda_sync(grt_cuda_call(e->call)))
		return 0;
	ret = sums_of(t, i, e->range, &s);
	if (!ret)
		s->launches++;
	return ret;
}

static int range_table_range(struct range_table *t, const struct grt_ev_range *e)
{
	const struct grt_image *i = grt_launches_image(t->launches, &e->e);
	struct row *row;
	uint32_t name;
	int ret;

	if (!i)
		return -ENOMEM;
	if (range_table_is_outside(t, e->begin, e->e.time))
		return 0;
	ret = grt_range_paths_name(&t->paths, i, e->domain, e->name, &name)
		      ?: row_of(t, i, name, e->kind == 2, &row);
	if (ret || !row)
		return ret;
	t->cut += e->cut != 0;
	row->count++;
	row->open += !e->end;
	row->chained |= e->node != 0;
	if (e->end >= e->begin)
		grt_hist_add(&row->wall, e->end - e->begin, GRT_WEIGHT_ONE, false, &t->octaves);
	return 0;
}

static int range_table_event(struct range_table *t, const struct grt_event *e)
{
	int ret = 0;

	if (e->type == GRT_EV_RANGE)
		return range_table_range(t, (const struct grt_ev_range *)e);
	if (e->type == GRT_EV_MARK)
		t->marks += !range_table_is_outside(t, e->time, e->time);
	else if (e->type == GRT_EV_PAYLOAD)
		t->fields += !range_table_is_outside(t, e->time, e->time);
	else if (e->type == GRT_EV_LAUNCH)
		ret = range_table_launch(t, (const struct grt_ev_launch *)e);
	return ret ?: grt_launches_event(t->launches, e);
}

/* ---------------------------------------------------------------- the end */

/* Adds the sums of a path to the row of each of its ranges, once per name. */
static int range_table_add_path(struct range_table *t, uint32_t path)
{
	const struct grt_images *images = grt_launches_images(t->launches);
	const struct grt_stacks_node *n = grt_stacks_node(t->paths.tree, path);
	const struct sums *s = &t->sums[path];
	uint32_t root = path, at;
	struct row *row;
	int ret;

	while (grt_stacks_node(t->paths.tree, root)->parent != GRT_STACKS_ROOT)
		root = grt_stacks_node(t->paths.tree, root)->parent;
	if (root == path)
		return 0;
	at = grt_range_paths_image(&t->paths, root);
	for (bool own = true; path != root; own = false, path = n->parent) {
		n = grt_stacks_node(t->paths.tree, path);
		ret = row_of(t, images->image[at], n->name, false, &row);
		if (ret)
			return ret;
		if (row)
			row->chained = true;
		if (own && row)
			sums_add(&row->own, s);
		if (row && row->seen != (uint32_t)(s - t->sums) + 1)
			sums_add(&row->all, s);
		if (row)
			row->seen = (uint32_t)(s - t->sums) + 1;
	}
	return 0;
}

static int range_table_name(struct range_table *t, struct row *row)
{
	const struct grt_image *i = grt_launches_images(t->launches)->image[row->image];
	size_t len;
	const char *text = grt_stacks_text(t->paths.tree, row->number, &len);

	row->process = grt_image_process_name(i, row->pid_text);
	row->name = row->name ?: strndup(text, len);
	return row->name ? 0 : -ENOMEM;
}

static int range_table_compare(const void *a, const void *b)
{
	const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;

	return grt_compare(grt_hist_sum(&y->wall), grt_hist_sum(&x->wall))
		       ?: memcmp(grt_keyed_key(x), grt_keyed_key(y), sizeof(struct grt_key));
}

static int range_table_finish(void *state, struct grt_pass *pass)
{
	struct range_table *t = state;
	struct row *row;
	int ret = grt_launches_flush(t->launches);
	void **list;

	/* this may be called again with more launches */
	for (row = grt_keyed_oldest(&t->rows); row; row = grt_keyed_next(&t->rows, row)) {
		row->own = row->all = (struct sums){0};
		row->seen = 0;
	}
	for (uint32_t i = 1; i < t->sums_room && i < grt_stacks_nodes(t->paths.tree) && !ret; i++)
		ret = t->sums[i].launches || t->sums[i].kernels || t->sums[i].gpu ? range_table_add_path(t, i)
										  : 0;
	if (ret || grt_keyed_list(&t->rows, range_table_compare, &list))
		return -ENOMEM;
	free(t->list);
	t->list = (struct row **)list;
	for (uint32_t i = 0; i < t->rows.used && !ret; i++)
		ret = range_table_name(t, t->list[i]);
	return ret;
}

/* ------------------------------------------------------------------ table */

static void range_get_wall(struct grt_cell *cell, const void *view, const void *row, int what)
{
	grt_cell_hist(cell, &((const struct row *)row)->wall, what);
}

/* The launches of a range are unknown if it was started instead of pushed, or is in no chain. */
static void range_get_sum(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct row *r = row;

	cell->absent = r->started || !r->chained;
	cell->number = *(const uint64_t *)((const char *)row + arg);
}

static void range_get_kind(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = ((const struct row *)row)->started ? "started" : "pushed";
}

#define R(member) offsetof(struct row, member)

/* clang-format off */
static const struct grt_column range_columns[] = {
	{"range", grt_cell_pointed, R(name), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the range, with its domain in brackets"},
	{"kind", range_get_kind, 0, GRT_CELL_TEXT, GRT_COLUMN_MORE, "pushed: on a thread; started: on no thread, so it has no launches"},
	{"pid", grt_cell_u32, R(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "process id"},
	{"process", grt_cell_pointed, R(process), GRT_CELL_TEXT, GRT_COLUMN_MORE, "name of the program"},
	{"count", grt_cell_u64, R(count), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of ranges"},
	{"open", grt_cell_u64, R(open), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "ranges without an end, which no column of times includes"},
	{"wall", range_get_wall, GRT_HIST_SUM, GRT_CELL_NS, GRT_COLUMN_ALL, "sum of the ranges' durations, ns"},
	{"avg", range_get_wall, GRT_HIST_MEAN, GRT_CELL_NS, GRT_COLUMN_ALL, "mean duration of a range, ns"},
	{"p50", range_get_wall, 500, GRT_CELL_NS, GRT_COLUMN_ALL, "median duration of a range, ns"},
	{"p99", range_get_wall, 990, GRT_CELL_NS, GRT_COLUMN_ALL, "99th percentile of the duration, ns"},
	{"max", range_get_wall, 1000, GRT_CELL_NS, GRT_COLUMN_ALL, "longest duration, ns"},
	{"launches", range_get_sum, R(all.launches), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "calls in these ranges that gave the GPU work"},
	{"kernels", range_get_sum, R(all.kernels), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "kernels of these launches"},
	{"gpu", range_get_sum, R(all.gpu), GRT_CELL_NS, GRT_COLUMN_ALL, "GPU time of these launches, ns"},
	{"gpu_self", range_get_sum, R(own.gpu), GRT_CELL_NS, GRT_COLUMN_ALL, "GPU time of the launches that are in no inner range, ns"},
	{"launches_self", range_get_sum, R(own.launches), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "launches that are in no inner range"},
	{.name = NULL},
};
/* clang-format on */

static const struct grt_table range_table = {"ranges", "ranges", range_columns, 0};

static void range_table_note(const struct range_table *t, struct grt_pass *pass)
{
	const struct grt_images *images = grt_launches_images(t->launches);
	uint64_t lost = 0, stray = 0, fields_lost = 0, unread = 0;

	for (uint32_t i = 0; i < images->images; i++) {
		lost += images->image[i]->process.ranges_lost;
		stray += images->image[i]->process.ranges_stray;
		fields_lost += images->image[i]->process.fields_lost;
		unread += images->image[i]->process.fields_unread;
	}
	if (!t->rows.used)
		grt_note(pass->notes, "the trace has no NVTX ranges: use grtrace record -e cuda -- PROG");
	if (t->marks)
		grt_note(pass->notes, "%" PRIu64 " {mark is|marks are} not in the table: dump --type mark",
			 t->marks);
	if (t->fields)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {field|fields} of structs that the program attached: dump --type payload",
			 t->fields);
	if (unread)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {field|fields} of attached structs could not be read (arrays, nested structs, unknown schemas)",
			unread);
	if (lost)
		grt_note(pass->notes, "%" PRIu64 " {range or mark is|ranges and marks are} lost", lost);
	if (fields_lost)
		grt_note(pass->notes,
			 "%" PRIu64 " {field of attached structs is|fields of attached structs are} lost",
			 fields_lost);
	if (t->cut)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {range has|ranges have} an incomplete name or place (limits of the recording, or modules of PyTorch in no other module)",
			t->cut);
	if (stray)
		grt_note(pass->notes,
			 "the program ended %" PRIu64 " {range that was|ranges that were} not open", stray);
	if (t->over)
		grt_note(pass->notes,
			 "%" PRIu64 " {record is|records are} not in the table (limit of %u rows)", t->over,
			 ROWS_MAX);
}

static int range_table_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct range_table *t = state;
	uint64_t n = t->rows.used, shown = grt_pass_shown(pass, part, n);
	const struct row **rows = calloc((size_t)n + 1, sizeof(*rows));
	int ret;

	if (!rows)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++)
		rows[i] = t->list[i];
	grt_rows_sort(rows, n, grt_pass_sort(pass, part, NULL), NULL, NULL);
	ret = grt_writer_list(pass->writer, part->table, NULL, rows, shown);
	if (shown < n)
		grt_note(pass->notes, "%" PRIu64 " {more row|more rows}: --top 0 shows all", n - shown);
	range_table_note(t, pass);
	free(rows);
	return ret;
}

static const struct grt_part range_parts[] = {
	{"range", "NVTX ranges by name, with the GPU time of what was launched in them",
	 GRT_PART_BY | GRT_PART_NO_JOBS, 0, &range_table, .write = range_table_write},
	{.name = NULL},
};

static void range_table_free(void *state)
{
	struct range_table *t = state;

	for (struct row *row = grt_keyed_oldest(&t->rows); row; row = grt_keyed_next(&t->rows, row)) {
		free(row->name);
		grt_hist_free(&row->wall);
	}
	grt_keyed_free(&t->rows);
	grt_range_paths_free(&t->paths);
	grt_launches_free(t->launches);
	free(t->sums);
	free(t->list);
	free(t);
}

static int range_table_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct range_table *t = calloc(1, sizeof(*t));
	struct grt_launches_sink sink = {.work = range_table_on_work, .arg = t, .no_begin = true};

	*state = t;
	if (!t)
		return -ENOMEM;
	t->octaves = OCTAVES_MAX;
	t->to = UINT64_MAX;
	grt_keyed_init(&t->rows, sizeof(struct row), ROWS_MAX);
	if (grt_launches_new(&t->launches, &sink))
		return -ENOMEM;
	grt_launches_without_stacks(t->launches);
	return grt_range_paths_init(&t->paths, pass->verbose);
}

static void range_table_within(void *state, uint64_t from, uint64_t to)
{
	struct range_table *t = state;

	t->from = from;
	t->to = to;
	grt_launches_within(t->launches, from, to);
}

GRT_ANALYSIS_EVENT(range_table_take_event, range_table_event)

const struct grt_analysis grt_analysis_range_table = {
	.name = "range_table",
	.classes = GRT_IN_CLASS(image) | GRT_IN_CLASS(launch) | GRT_IN_CLASS(range),
	.beyond = true,
	.late = true,
	.parts = range_parts,
	.begin = range_table_begin,
	.within = range_table_within,
	.event = range_table_take_event,
	.finish = range_table_finish,
	.free = range_table_free,
};
