// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* report --by gpu-process: the columns of gpu_processes.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memfile.h"
#include "base/say.h"
#include "base/units.h"
#include "gpu_processes.h"
#include "table/cells.h"
#include "table/rows.h"

/* -------------------------------------------------- gpu process sentence */

/* Which processes had an NVIDIA GPU, in a sentence for each GPU or MIG instance. */

/* Processes with their names; GPUs with a sentence. */
#define PROCESSES_MAX 3U
#define SENTENCES_MAX 8U

static void put_share(FILE *out, uint64_t ns, uint64_t wall)
{
	char text[GRT_UNITS_MAX];

	grt_units_percent(text, grt_share(ns, wall));
	fputs(text, out);
}

static void put_gpu(FILE *out, const struct grt_gpu_process *o, const char *device, uint64_t wall)
{
	char text[GRT_UNITS_MAX];

	grt_units_ns(text, wall);
	fputs(device ?: "GPU", out);
	if (o->instance >> 8 != GRT_NOT_DIVIDED)
		fprintf(out, " MIG instance %u.%u", o->instance >> 8, o->instance & 0xff);
	fprintf(out, " (%s):", text);
}

static void put_process(FILE *out, const struct grt_gpu_process *o, const struct grt_names *names, bool first,
			uint64_t wall)
{
	fprintf(out, "%s (PID %u) %sfor ", grt_process_name(names, o->pid) ?: "a process", o->pid,
		first ? "had it " : "");
	put_share(out, o->residency, wall);
}

/* How long a switch takes, beside how many there are, tells whether slices are too short. */
static void put_rest(FILE *out, const struct grt_gpu_process *o, uint64_t wall)
{
	char count[GRT_UNITS_MAX], each[GRT_UNITS_MAX];

	if (o->kind == GRT_GPU_SWITCHING) {
		grt_units_count(count, o->came);
		grt_units_ns(each, o->came ? o->residency / o->came : 0);
		fprintf(out, "%s switches of %s took ", count, each);
	} else {
		fputs(o->kind == GRT_GPU_NOBODY ? "no process had it for " : "its process is unknown for ",
		      out);
	}
	put_share(out, o->residency, wall);
}

/* @row: those of one GPU; processes come first, the one with the most time in front. */
static void put_parts(FILE *out, const struct grt_gpu_process *const *row, uint64_t n,
		      const struct grt_names *names, uint64_t wall)
{
	const char *between = " ";
	uint64_t others = 0, ns = 0;

	for (uint64_t i = 0; i < n; i++) {
		bool process = row[i]->kind == GRT_GPU_PROCESS;

		if (process && i >= PROCESSES_MAX) {
			others++;
			ns += row[i]->residency;
		}
		if (others && (!process || i + 1 == n)) {
			grt_say(out, ", %" PRIu64 " more {process|processes} for ", others);
			put_share(out, ns, wall);
			others = 0;
		}
		if (!row[i]->residency || (process && i >= PROCESSES_MAX))
			continue;
		fputs(between, out);
		between = ", ";
		if (process)
			put_process(out, row[i], names, !i, wall);
		else
			put_rest(out, row[i], wall);
	}
}

static char *gpu_process_sentence(const struct grt_gpu_processes_view *v,
				  const struct grt_gpu_process *const *row, uint64_t n)
{
	uint64_t wall = grt_gpu_processes_wall(v->g, row[0]);
	const char *device = NULL;
	struct grt_memfile m;
	FILE *out;

	out = grt_memfile_open(&m);
	if (!out)
		return NULL;
	grt_gpu_processes_device(grt_gpu_processes_place(v->g, row[0]), v->names, &device);
	put_gpu(out, row[0], device, wall);
	put_parts(out, row, n, v->names, wall);
	fputs(" (report --by gpu-process).", out);
	return grt_memfile_close(&m, out, NULL);
}

static bool is_of(const struct grt_gpu_process *a, const struct grt_gpu_process *b)
{
	return a->source == GRT_GPU_SLICES && a->device == b->device && a->instance == b->instance;
}

/*
 * A sentence for each GPU, or instance of one, whose slices are known
 * @row: all rows, grouped by GPU, processes first, sorted by time
 * Return: 0 or -ENOMEM
 */
static int gpu_processes_sentences(const struct grt_gpu_processes_view *v,
				   const struct grt_gpu_process *const *row, uint64_t n,
				   struct grt_notes *notes)
{
	uint64_t first, i = 0;
	char *text;

	for (unsigned int gpus = 0; i < n && gpus < SENTENCES_MAX; gpus++) {
		first = i++;
		while (i < n && is_of(row[i], row[first]))
			i++;
		if (row[first]->source != GRT_GPU_SLICES || row[first]->kind != GRT_GPU_PROCESS ||
		    !grt_gpu_processes_wall(v->g, row[first]))
			continue;
		text = gpu_process_sentence(v, row + first, i - first);
		if (!text)
			return -ENOMEM;
		grt_note(notes, "%s", text);
		free(text);
	}
	return 0;
}

/* ----------------------------------------------------- gpu process table */

static const char *const whose_names[] = {
	[GRT_GPU_PROCESS] = "process",
	[GRT_GPU_SWITCHING] = "switching",
	[GRT_GPU_NOBODY] = "nobody",
	[GRT_GPU_UNKNOWN] = "unknown",
};

static const char *const source_names[] = {
	[GRT_GPU_SLICES] = "slices",
	[GRT_GPU_JOBS] = "jobs",
	[GRT_GPU_COUNTERS] = "counters",
};

static const struct grt_names *gpu_process_names(const void *view)
{
	return ((const struct grt_gpu_processes_view *)view)->names;
}

static uint64_t gpu_process_wall(const void *view, const void *row)
{
	return grt_gpu_processes_wall(((const struct grt_gpu_processes_view *)view)->g, row);
}

static void gpu_process_get_device(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_gpu_processes_view *v = view;

	cell->number = grt_gpu_processes_device(grt_gpu_processes_place(v->g, row), v->names, &cell->text);
	cell->absent = ((const struct grt_gpu_process *)row)->source == GRT_GPU_JOBS && !cell->text;
}

static void gpu_process_get_instance(struct grt_cell *cell, const void *view, const void *row, int shift)
{
	const struct grt_gpu_process *o = row;

	cell->number = o->instance >> shift & 0xff;
	cell->absent = o->source != GRT_GPU_SLICES || cell->number == GRT_NOT_DIVIDED;
}

static void gpu_process_get_ring(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_names *names = gpu_process_names(view);
	const struct grt_gpu_process *o = row;

	cell->number = o->place;
	cell->absent = o->source == GRT_GPU_SLICES;
	if (o->source == GRT_GPU_JOBS)
		cell->text = grt_names_name(names, grt_names_find(names, GRT_NAME_RING, o->place));
	else if (o->source == GRT_GPU_COUNTERS)
		cell->text = grt_names_name(names, grt_names_find(names, GRT_NAME_COUNTER, o->place));
}

static void gpu_process_get_source(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = source_names[((const struct grt_gpu_process *)row)->source];
}

static void gpu_process_get_process(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_names *names = gpu_process_names(view);
	const struct grt_gpu_process *o = row;

	cell->text = o->kind == GRT_GPU_PROCESS ? grt_process_name(names, o->pid) : whose_names[o->kind];
	if (!cell->text && o->name)
		cell->text = grt_names_owner(names, o->name);
}

static void gpu_process_get_kind(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = whose_names[((const struct grt_gpu_process *)row)->kind];
}

static void gpu_process_mark(struct grt_cell *cell, const struct grt_gpu_process *o)
{
	cell->inferred = o->inferred;
	cell->estimated = o->least;
}

static void gpu_process_get_share(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_gpu_process *o = row;
	uint64_t wall = gpu_process_wall(view, o);

	gpu_process_mark(cell, o);
	grt_cell_share(cell, o->residency, wall);
	cell->absent |= o->unknown;
}

static void gpu_process_get_residency(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	gpu_process_mark(cell, row);
	cell->number = ((const struct grt_gpu_process *)row)->residency;
	cell->absent = ((const struct grt_gpu_process *)row)->unknown;
}

/* Return: whether there is a number of times: there is none for gaps between jobs, nor for counters. */
static bool gpu_process_came(const struct grt_gpu_process *o)
{
	return o->source == GRT_GPU_SLICES || (o->source == GRT_GPU_JOBS && o->kind != GRT_GPU_NOBODY);
}

static void gpu_process_get_came(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_gpu_process *o = row;

	cell->number = o->came;
	cell->absent = !gpu_process_came(o);
}

static void gpu_process_get_rate(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_gpu_process *o = row;
	uint64_t wall = gpu_process_wall(view, o);

	cell->text = "/s";
	cell->absent = !wall || !gpu_process_came(o);
	if (wall)
		cell->number = (uint64_t)((unsigned __int128)o->came * 1000 * 1000000000 / wall);
}

static void gpu_process_get_length(struct grt_cell *cell, const void *view, const void *row, int what)
{
	grt_cell_hist(cell, &((const struct grt_gpu_process *)row)->whole, what);
	cell->inferred = ((const struct grt_gpu_process *)row)->inferred;
}

static void gpu_process_get_uid(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_gpu_process *o = row;

	cell->number = o->pid;
	cell->absent = o->kind != GRT_GPU_PROCESS;
}

static const char *gpu_process_cgroup(const void *view, const struct grt_gpu_process *o)
{
	return o->kind == GRT_GPU_PROCESS
		       ? grt_texts_get(&((const struct grt_gpu_processes_view *)view)->g->cgroups, o->pid)
		       : NULL;
}

static void gpu_process_get_cgroup(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const char *path = gpu_process_cgroup(view, row);

	cell->text = path ?: whose_names[((const struct grt_gpu_process *)row)->kind];
}

/* The view has room for one text of each, which the writer copies before the next cell is made. */
static void gpu_process_get_part(struct grt_cell *cell, const void *view, const void *row, int part)
{
	const char *path = gpu_process_cgroup(view, row);
	char *room = ((const struct grt_gpu_processes_view *)view)->room[part];

	cell->absent = !path || !grt_cgroup_part(path, (enum grt_cgroup_part)part, room);
	/* of a container the short form, as its tools print it */
	if (!cell->absent && part == GRT_CGROUP_CONTAINER && strlen(room) >= 32)
		room[12] = '\0';
	cell->text = room;
}

#define P(member) offsetof(struct grt_gpu_process, member)

/* clang-format off */

#define FRONT \
	{"device", gpu_process_get_device, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, \
	 "device number of the GPU, major << 20 | minor"}, \
	{"device_name", gpu_process_get_device, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "name of the GPU"}, \
	{"mig_gpu", gpu_process_get_instance, 8, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "MIG GPU instance"}, \
	{"mig_compute", gpu_process_get_instance, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, \
	 "MIG compute instance"}, \
	{"kind", gpu_process_get_kind, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, \
	 "process; switching: at most 1 ms between two contexts; nobody: no context was on the GPU, no job ran, and no process used the engine; unknown: records are missing, no switch was seen, or the job's process is unknown"}

#define REST \
	{"share", gpu_process_get_share, 0, GRT_CELL_PERCENT, GRT_COLUMN_ALL, \
	 "share of the time for which it had the GPU, ring or engine, percent"}, \
	{"residency", gpu_process_get_residency, 0, GRT_CELL_NS, GRT_COLUMN_ALL, \
	 "time for which it had the GPU, ring or engine: its context was on the GPU, a job of it ran, or the driver counted the time, ns"}, \
	{"slices", gpu_process_get_came, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, \
	 "times that its context came onto the GPU, or number of its jobs"}, \
	{"rate", gpu_process_get_rate, 0, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "slices or jobs per second"}, \
	{"mean", gpu_process_get_length, GRT_HIST_MEAN, GRT_CELL_NS, GRT_COLUMN_ALL, "mean length of the complete slices or jobs, which the trace has from begin to end, ns"}, \
	{"p50", gpu_process_get_length, 500, GRT_CELL_NS, GRT_COLUMN_ALL, "median length of the complete slices or jobs, ns"}, \
	{"p99", gpu_process_get_length, 990, GRT_CELL_NS, GRT_COLUMN_ALL, "99th percentile of the lengths of the complete slices or jobs, ns"}, \
	{"max", gpu_process_get_length, 1000, GRT_CELL_NS, GRT_COLUMN_ALL, "length of the longest complete slice or job, ns"}, \
	{"ring", gpu_process_get_ring, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, \
	 "ring of the jobs, or id of the counter"}, \
	{"ring_name", gpu_process_get_ring, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, \
	 "name of the ring, or of the engine's counter"}, \
	{"source", gpu_process_get_source, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, \
	 "source of the time: slices of NVIDIA's log; start and end of jobs; or counters that the driver keeps per process"}, \
	{.name = NULL}

static const struct grt_column gpu_process_columns[] = {
	FRONT,
	{"pid", grt_cell_id, P(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", gpu_process_get_process, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the process, or the kind of the row"},
	REST,
};
static const struct grt_column gpu_cgroup_columns[] = {
	FRONT,
	{"cgroup", gpu_process_get_cgroup, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "path of the control group, or the kind of the row"},
	{"pod", gpu_process_get_part, GRT_CGROUP_POD, GRT_CELL_TEXT, GRT_COLUMN_MORE, "id of the Kubernetes pod"},
	{"container", gpu_process_get_part, GRT_CGROUP_CONTAINER, GRT_CELL_TEXT, GRT_COLUMN_MORE,
	 "short id of the container, or its name"},
	{"slurm_job", gpu_process_get_part, GRT_CGROUP_SLURM, GRT_CELL_TEXT, GRT_COLUMN_MORE, "number of the SLURM job"},
	REST,
};
static const struct grt_column gpu_user_columns[] = {
	FRONT,
	{"uid", gpu_process_get_uid, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "user id"},
	{"whose", gpu_process_get_kind, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "kind of the row"},
	REST,
};

/* Rows are struct grt_gpu_process. */
static const struct grt_table gpu_process_tables[GRT_GPU_BYS] = {
	[GRT_GPU_BY_PROCESS] = {"gpu_processes", "GPU time by process", gpu_process_columns,
				GRT_MARK_ESTIMATED | GRT_MARK_INFERRED},
	[GRT_GPU_BY_CGROUP] = {"gpu_cgroups", "GPU time by control group", gpu_cgroup_columns,
			       GRT_MARK_ESTIMATED | GRT_MARK_INFERRED},
	[GRT_GPU_BY_USER] = {"gpu_users", "GPU time by user", gpu_user_columns,
			     GRT_MARK_ESTIMATED | GRT_MARK_INFERRED},
};

/* clang-format on */

/* --------------------------------------------------------------- parts */

/* By GPU and ring; processes come first, the process with most time at the top. */
static int gpu_process_by_place(const void *a, const void *b)
{
	const struct grt_gpu_process *x = *(void *const *)a, *y = *(void *const *)b;

	return grt_compare(x->source, y->source) ?: grt_compare(x->device, y->device)
		?: grt_compare(x->instance, y->instance) ?: grt_compare(x->place, y->place)
		?: grt_compare(x->kind, y->kind)
		?: grt_compare(y->residency, x->residency) ?: grt_compare(x->pid, y->pid);
}

static int gpu_process_tie(const void *a, const void *b)
{
	return gpu_process_by_place(&a, &b);
}

static uint64_t gpu_process_leave_doubled(const struct grt_gpu_processes_view *view, void **rows, uint64_t n)
{
	const struct grt_gpu_process *o;
	uint64_t left = 0;

	for (uint64_t i = 0; i < n; i++) {
		o = rows[i];
		if (!grt_gpu_processes_is_doubled(view->g, view->names, o->source, o->device))
			rows[left++] = rows[i];
	}
	return left;
}

static void gpu_process_notes(const struct grt_gpu_processes *g, struct grt_pass *pass, uint64_t n,
			      uint64_t shown)
{
	uint64_t untimed = 0;

	for (const struct grt_gpu_place *at = grt_keyed_oldest(&g->places); at;
	     at = grt_keyed_next(&g->places, at))
		untimed += at->untimed;
	if (!n && !pass->summary)
		grt_note(
			pass->notes,
			"the trace does not show which process had the GPU: use grtrace record -e nvctxsw, -e drm or -e power");
	if (untimed)
		grt_note(pass->notes,
			 "GPU time by process: %" PRIu64
			 " {job has|jobs have} no beginning or end: {its|their} time counts for no process",
			 untimed);
	if (n > shown)
		grt_note(pass->notes, "%" PRIu64 " {more row|more rows}: --top 0 shows all", n - shown);
	if (g->over)
		grt_note(pass->notes,
			 "GPU time by process: %" PRIu64
			 " {slice, job or value|slices, jobs and values} ignored (limit of %u rows)",
			 g->over, GRT_GPU_PROCESSES_MAX);
	if (g->backwards)
		grt_note(pass->notes,
			 "GPU time by process: %" PRIu64
			 " {slice|slices} began before the previous one had ended",
			 g->backwards);
}

static int gpu_process_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_gpu_processes *g = state;
	char room[GRT_CGROUP_PARTS][GRT_CGROUP_PART];
	const struct grt_gpu_processes_view view = {g, pass->names, room};
	const struct grt_column *sort = grt_pass_sort(pass, part, NULL);
	uint64_t n, shown;
	void **rows;
	int ret = grt_gpu_processes_finish(g, pass);

	if (ret || (!g->places.used && pass->summary))
		return ret;
	if (grt_keyed_list(&g->rows, gpu_process_by_place, &rows))
		return -ENOMEM;
	n = gpu_process_leave_doubled(&view, rows, g->rows.used);
	if (sort)
		grt_rows_sort(rows, n, sort, &view, gpu_process_tie);
	shown = grt_pass_shown(pass, part, n);
	ret = grt_writer_list(pass->writer, part->table, &view, rows, shown);
	gpu_process_notes(g, pass, n, shown);
	free(rows);
	return ret;
}

static int gpu_process_write_sentences(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_gpu_processes *g = state;
	const struct grt_gpu_processes_view view = {g, pass->names, NULL};
	int ret = grt_gpu_processes_finish(g, pass);
	void **rows;

	if (ret || !g->places.used)
		return ret;
	if (grt_keyed_list(&g->rows, gpu_process_by_place, &rows))
		return -ENOMEM;
	ret = gpu_processes_sentences(&view, (const struct grt_gpu_process *const *)rows, g->rows.used,
				      pass->notes);
	free(rows);
	return ret;
}

/* Jobs and counters have tables of their own. */
static bool gpu_process_any(const void *state)
{
	const struct grt_gpu_processes *g = state;
	const struct grt_gpu_place *at = grt_keyed_oldest(&g->places);

	while (at && at->source != GRT_GPU_SLICES)
		at = grt_keyed_next(&g->places, at);
	return at;
}

static const uint16_t gpu_process_types[] = {GRT_EV_GPU_SLICE, 0};
static const struct grt_part gpu_process_parts[] = {
	{"gpu-process", "which process had the GPU: residency, share, slices or jobs",
	 GRT_PART_BY | GRT_PART_SUMMARY | GRT_PART_MONITOR | GRT_PART_TABLES | GRT_PART_ROLLUP,
	 GRT_GPU_BY_PROCESS, &gpu_process_tables[GRT_GPU_BY_PROCESS], .types = gpu_process_types,
	 .any = gpu_process_any, .write = gpu_process_write},
	{"gpu-cgroup", "which control group, pod or container had the GPU", GRT_PART_BY, GRT_GPU_BY_CGROUP,
	 &gpu_process_tables[GRT_GPU_BY_CGROUP], .write = gpu_process_write},
	{"gpu-user", "which user had the GPU", GRT_PART_BY, GRT_GPU_BY_USER,
	 &gpu_process_tables[GRT_GPU_BY_USER], .write = gpu_process_write},
	{"gpu-owners", "a sentence for each NVIDIA GPU: which processes had it",
	 GRT_PART_SUMMARY | GRT_PART_FIRST | GRT_PART_NO_JOBS, GRT_GPU_BYS,
	 .write = gpu_process_write_sentences},
	{.name = NULL},
};

/* Jobs and counters have tables of their own in a summary. */
static int gpu_process_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	enum grt_gpu_by by = GRT_GPU_BY_PROCESS;

	while (!(parts >> by & 1))
		by++;
	return grt_gpu_processes_new((struct grt_gpu_processes **)state, by, !pass->summary);
}

static void gpu_process_within(void *state, uint64_t from, uint64_t to)
{
	struct grt_gpu_processes *g = state;

	g->from = from;
	g->to = to;
}

static void gpu_process_span(void *state, uint64_t first, uint64_t last)
{
	struct grt_gpu_processes *g = state;

	g->first = first;
	g->last = last;
}

static int gpu_process_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	return grt_gpu_processes_event(state, e, pass->names);
}

GRT_ANALYSIS_JOB(gpu_process_job, grt_gpu_processes_job)
GRT_ANALYSIS_FREE(gpu_process_free, grt_gpu_processes_free)

const struct grt_analysis grt_analysis_gpu_processes = {
	.name = "gpu_processes",
	.classes = GRT_IN_CLASS(slice) | GRT_IN_CLASS(counter) | GRT_IN_CLASS(owner) | GRT_IN_CLASS(window),
	.besides = GRT_IN_CLASS(counter) | GRT_IN_CLASS(owner) | GRT_IN_CLASS(window),
	.beyond = true,
	.late = true,
	.waits = true,
	.parts = gpu_process_parts,
	.begin = gpu_process_begin,
	.within = gpu_process_within,
	.span = gpu_process_span,
	.event = gpu_process_event,
	.job = gpu_process_job,
	.free = gpu_process_free,
};
