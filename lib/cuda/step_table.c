// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The columns of steps and of the ranks that made them, and sentences about them. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/units.h"
#include "table/analysis.h"
#include "table/cells.h"
#include "collective_table.h"
#include "rank_table.h"
#include "rollup_table.h"
#include "steps.h"

#define R(member) offsetof(struct grt_step_rank, member)
#define S(member) offsetof(struct grt_step, member)
/* From this share of a step on, a sentence says that a device was idle, percent. */
#define IDLE_LEAST 5U

static const struct grt_step_rank *rank_of(const void *view, const void *row)
{
	return grt_steps_rank(view, ((const struct grt_step *)row)->rank);
}

static void get_rank(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ((const struct grt_step_rank *)row)->number;
	cell->inferred = !((const struct grt_step_rank *)row)->told;
}

static void get_rank_of_step(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	get_rank(cell, view, rank_of(view, row), arg);
}

/* A number of the step's rank. */
static void get_of_rank(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_u32(cell, view, rank_of(view, row), offset);
}

static void get_name_of_rank(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_pointed(cell, view, rank_of(view, row), offset);
}

static void get_number(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ((const struct grt_step *)row)->number;
	cell->inferred = !grt_step_is_marked(grt_steps_marks(view, rank_of(view, row)->process)->how);
}

static uint64_t time_of(const struct grt_step *s)
{
	return s->to - s->from;
}

static void step_table_get_time(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = time_of(row);
}

static void get_over(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	uint64_t p50 = rank_of(view, row)->p50;

	cell->number = time_of(row) - p50;
	cell->absent = time_of(row) < p50;
}

/* The part that made it longer than the median; none if it is not longer. */
static void get_grew(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_step *s = row;

	cell->absent = time_of(s) <= rank_of(view, row)->p50;
	cell->text = grt_step_part_name(s->grew);
}

static void get_slowest(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_step_rank *r = row;

	cell->absent = !r->steps;
	cell->number = r->steps ? grt_steps_step(view, r->slowest)->number : 0;
}

static void step_table_get_max(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_step_rank *r = row;

	cell->absent = !r->steps;
	cell->number = r->steps ? time_of(grt_steps_step(view, r->slowest)) : 0;
}

/* A time of a rank that has steps. */
static void get_time_of_rank(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_u64(cell, view, row, offset);
	cell->absent = !((const struct grt_step_rank *)row)->steps;
}

/* clang-format off */

#define PARTS(get, type, member) \
	{"compute", get, offsetof(struct type, member.ns[GRT_STEP_COMPUTE]), GRT_CELL_NS, GRT_COLUMN_ALL, "time in which a kernel other than NCCL's ran, ns"}, \
	{"comm", get, offsetof(struct type, member.ns[GRT_STEP_COMM]), GRT_CELL_NS, GRT_COLUMN_ALL, "exposed communication: time in which a kernel of NCCL ran and no other kernel, ns"}, \
	{"copy", get, offsetof(struct type, member.ns[GRT_STEP_COPY]), GRT_CELL_NS, GRT_COLUMN_ALL, "exposed copies: time in which memory was copied and no kernel ran, ns"}, \
	{"idle", get, offsetof(struct type, member.ns[GRT_STEP_IDLE]), GRT_CELL_NS, GRT_COLUMN_ALL, "time in which the device ran nothing for this process, ns"}, \
	{"comm_hidden", get, offsetof(struct type, member.ns[GRT_STEP_COMM_HIDDEN]), GRT_CELL_NS, GRT_COLUMN_ALL, "time in which communication and another kernel ran together, ns"}, \
	{"copy_hidden", get, offsetof(struct type, member.ns[GRT_STEP_COPY_HIDDEN]), GRT_CELL_NS, GRT_COLUMN_MORE, "time in which copies and a kernel ran together, ns"}

static const struct grt_column rank_columns[] = {
	{"rank", get_rank, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "rank of the process, from its environment, else inferred"},
	{"pid", grt_cell_u32, R(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", grt_cell_pointed, R(name), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the program"},
	{"gpu", grt_cell_u32, R(gpu), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the device in its process"},
	{"uuid", grt_cell_pointed, R(uuid), GRT_CELL_TEXT, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "UUID of the device"},
	{"steps", grt_cell_u32, R(steps), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "complete steps"},
	{"p50", get_time_of_rank, R(p50), GRT_CELL_NS, GRT_COLUMN_ALL, "median time of a step, ns"},
	{"p99", get_time_of_rank, R(p99), GRT_CELL_NS, GRT_COLUMN_ALL, "99th percentile of the time of a step, ns"},
	{"max", step_table_get_max, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "time of the longest step, ns"},
	{"slowest", get_slowest, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the longest step"},
	PARTS(get_time_of_rank, grt_step_rank, total),
	{.name = NULL},
};

static const struct grt_column step_columns[] = {
	{"step", get_number, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the step, from 0"},
	{"rank", get_rank_of_step, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "rank, as in the table of ranks"},
	{"pid", get_of_rank, R(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", get_name_of_rank, R(name), GRT_CELL_TEXT, GRT_COLUMN_MORE, "name of the program"},
	{"gpu", get_of_rank, R(gpu), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "number of the device in its process"},
	{"begin", grt_cell_u64, S(from), GRT_CELL_TIME, GRT_COLUMN_ALL, "when the GPU had completed the work of the previous step"},
	{"time", step_table_get_time, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "time of the step: compute + comm + copy + idle, ns"},
	{"over", get_over, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "how much longer than its rank's median step, ns"},
	PARTS(grt_cell_u64, grt_step, parts),
	{"grew", get_grew, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "part of the step that exceeds its own median most"},
	{"why", grt_cell_pointed, S(why), GRT_CELL_TEXT, GRT_COLUMN_ALL, "of the slowest steps: what took longer, or what ran while the device was idle"},
	{.name = NULL},
};

static const struct grt_table rank_table = {"step_ranks", "ranks", rank_columns, GRT_MARK_INFERRED};
static const struct grt_table step_table = {"steps", "steps, each up to the end of its work on the GPU",
					    step_columns, GRT_MARK_INFERRED};

/* clang-format on */

/* -------------------------------------------------------------- sentences */

/* How the steps of the first process that has some were found. */
static int note_how(struct grt_steps *s, struct grt_pass *pass)
{
	const struct grt_step_rank *r = NULL;
	const struct grt_step_marks *m;
	char *text = NULL;
	int ret = 0;

	for (uint32_t i = 0; i < grt_steps_ranks(s) && (!r || !r->steps); i++)
		r = grt_steps_rank(s, i);
	if (!r || !r->steps)
		return 0;
	m = grt_steps_marks(s, r->process);
	if (grt_step_is_marked(m->how)) {
		grt_note(pass->notes,
			 "the steps are the NVTX %s \"%.200s\"; --step-range NAME selects others",
			 m->how == GRT_STEP_BY_RANGE ? "ranges" : "marks", m->range);
		return 0;
	}
	if (m->node)
		ret = grt_image_frames_brief(grt_steps_frames(s), grt_steps_image(s, r->process), m->node,
					     &text);
	if (!ret)
		grt_note(pass->notes, "the steps are inferred: %s %s",
			 m->how == GRT_STEP_BY_OPTIMIZER ? "each ends with the optimizer's step() called by"
							 : "each begins with the launch by",
			 text ? text : "the same function");
	free(text);
	return ret;
}

/*
 * Return: how much longer than the median a step took, without longer communication, in which it waited for
 * another rank. The first step of all has things to set up, and does not count.
 */
static uint64_t own_excess(const struct grt_steps *s, const struct grt_step *k)
{
	const struct grt_step_rank *r = grt_steps_rank(s, k->rank);
	uint64_t over = time_of(k) > r->p50 ? time_of(k) - r->p50 : 0,
		 comm = k->parts.ns[GRT_STEP_COMM] > r->median.ns[GRT_STEP_COMM]
				? k->parts.ns[GRT_STEP_COMM] - r->median.ns[GRT_STEP_COMM]
				: 0;

	return !grt_steps_starts(s, k) && over > comm ? over - comm : 0;
}

/**
 * struct slow - the steps of a rank that took the most additional time: down to the first that took less
 * than half as much more as the previous one
 * @least: additional time of the last of them
 */
struct slow {
	const struct grt_step *worst;
	uint64_t most;
	uint64_t least;
	uint64_t sum;
	uint32_t n;
	char list[80];
};

/* Steps are never equal: those that took less than 1 % more are no finding. */
#define SLOW_PART 100

static int largest_first(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return grt_compare(*y, *x);
}

static int find_least(const struct grt_steps *s, struct slow *slow)
{
	const struct grt_step_rank *r = grt_steps_rank(s, slow->worst->rank);
	uint64_t *over = calloc(r->steps, sizeof(*over));
	uint32_t n = 1;

	if (!over)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->steps; i++)
		over[i] = own_excess(s, grt_steps_step(s, r->first + i));
	qsort(over, r->steps, sizeof(*over), largest_first);
	while (n < r->steps && 2 * over[n] >= over[n - 1])
		n++;
	/* no step stands out */
	slow->least = 2 * n > r->steps ? slow->most / 2 : over[n - 1];
	free(over);
	return 0;
}

static void list_slow(const struct grt_steps *s, struct slow *slow)
{
	const struct grt_step_rank *r = grt_steps_rank(s, slow->worst->rank);

	for (uint32_t i = r->first; i < r->first + r->steps; i++) {
		const struct grt_step *k = grt_steps_step(s, i);

		if (own_excess(s, k) < slow->least)
			continue;
		slow->n++;
		slow->sum += time_of(k) - r->p50;
		grt_step_numbers(slow->list, sizeof(slow->list), k->number);
	}
}

static int note_slowest(const struct grt_steps *s, struct grt_notes *notes)
{
	struct slow slow = {.worst = NULL};
	const struct grt_step_rank *r;
	char over[GRT_UNITS_MAX];

	for (uint32_t i = 0; i < grt_steps_count(s); i++)
		if (own_excess(s, grt_steps_step(s, i)) > slow.most) {
			slow.worst = grt_steps_step(s, i);
			slow.most = own_excess(s, slow.worst);
		}
	if (!slow.worst || slow.most < grt_steps_rank(s, slow.worst->rank)->p50 / SLOW_PART)
		return 0;
	if (find_least(s, &slow))
		return -ENOMEM;
	list_slow(s, &slow);
	r = grt_steps_rank(s, slow.worst->rank);
	grt_units_ns(over, slow.sum / slow.n);
	grt_note(
		notes,
		"rank %u (PID %u): %u of %u {step|steps} (%s) took %s more than the median%s, mostly %s%s%.100s",
		r->number, r->pid, slow.n, r->steps, slow.list, over, slow.n > 1 ? " on average" : "",
		grt_step_part_name(slow.worst->grew), slow.worst->why ? ": " : "", slow.worst->why ?: "");
	return 0;
}

/* How much of an ordinary step a device is idle, percent. */
static unsigned int idle_share(const struct grt_step_rank *r)
{
	uint64_t idle = r->median.ns[GRT_STEP_IDLE];

	return r->p50 ? (unsigned int)(((unsigned __int128)idle * 100 + r->p50 / 2) / r->p50) : 0;
}

/* Notes what the most idle device waits for in an ordinary step. */
static int note_most_idle(struct grt_steps *s, struct grt_notes *notes)
{
	char idle[GRT_UNITS_MAX], gap[GRT_UNITS_MAX], step[GRT_UNITS_MAX], *why;
	const struct grt_step_rank *r;
	unsigned int most = 0;
	uint32_t rank = 0;
	uint64_t ns;

	for (uint32_t i = 0; i < grt_steps_ranks(s); i++)
		if (idle_share(grt_steps_rank(s, i)) > most) {
			rank = i;
			most = idle_share(grt_steps_rank(s, i));
		}
	if (most < IDLE_LEAST)
		return 0;
	if (grt_steps_usual_idle(s, rank, &ns, &why))
		return -ENOMEM;
	r = grt_steps_rank(s, rank);
	grt_units_ns(step, r->p50);
	grt_units_ns(idle, r->median.ns[GRT_STEP_IDLE]);
	grt_units_ns(gap, ns);
	if (2 * ns >= r->median.ns[GRT_STEP_IDLE])
		grt_note(
			notes,
			"rank %u (PID %u): in an ordinary step of %s the GPU is idle for %s (%u %%), %s of it in one gap%s%.200s",
			r->number, r->pid, step, idle, most, gap, why ? ": " : "", why ?: "");
	else
		grt_note(
			notes,
			"rank %u (PID %u): in an ordinary step of %s the GPU is idle for %s (%u %%), in gaps of %s and less",
			r->number, r->pid, step, idle, most, gap);
	free(why);
	return 0;
}

/* @steps: the user requested the table of steps */
static void note_missing(const struct grt_steps *s, struct grt_pass *pass, bool steps)
{
	struct grt_launches_count n = grt_step_log_count(grt_steps_log((struct grt_steps *)s));
	uint64_t without = 0, over = grt_steps_over(s);
	uint64_t unkept = grt_rank_threads_over(grt_steps_threads((struct grt_steps *)s));

	for (uint32_t i = 0; i < grt_steps_ranks(s); i++)
		without += !grt_steps_rank(s, i)->steps;
	if (!n.kernels && !n.copies)
		grt_note(pass->notes, "the trace has no CUDA events: use grtrace record -e cuda -- PROG");
	else if (steps && without == grt_steps_ranks(s) && pass->step_range)
		grt_note(pass->notes,
			 "no steps found: no NVTX range or mark \"%.200s\" occurs three times or more on one "
			 "thread, one after the other; grtrace report --by range lists all",
			 pass->step_range);
	else if (steps && without == grt_steps_ranks(s))
		grt_note(
			pass->notes,
			"no steps found: no NVTX ranges name them, no stack has an optimizer's step(), and no sequence of launches repeats over most of the run");
	else if (steps && without)
		grt_note(pass->notes, "no steps found in %" PRIu64 " of the ranks", without);
	if (over)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {call or record is|calls and records are} in no step (limit of %u per process)",
			 over, GRT_STEP_LOG_MAX);
	if (unkept)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {state of a main thread is|states of main threads are} not counted (limit of %u)",
			 unkept, GRT_RANK_PIECES_MAX);
	if (n.gpu_lost || n.launches_lost)
		grt_note(pass->notes,
			 "lost: %" PRIu64 " {launch|launches}, %" PRIu64 " {record|records} of the GPU",
			 n.launches_lost, n.gpu_lost);
}

/* ----------------------------------------------------------------- tables */

static int steps_by_time(const void *a, const void *b)
{
	const struct grt_step *x = a, *y = b;

	return grt_compare(time_of(y), time_of(x))
	       ?: grt_compare(x->from, y->from) ?: grt_compare(x->rank, y->rank);
}

static int steps_by_moment(const void *a, const void *b)
{
	const struct grt_step *x = a, *y = b;

	return grt_compare(x->number, y->number) ?: grt_compare(x->rank, y->rank);
}

static int write_steps_rows(struct grt_steps *s, const struct grt_part *part, struct grt_pass *pass)
{
	uint32_t n = grt_steps_count(s);
	uint64_t shown = grt_pass_shown(pass, part, n);
	const struct grt_step **row = calloc((size_t)n + 1, sizeof(*row));
	int ret;

	if (!row)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		row[i] = grt_steps_step(s, i);
	if (pass->sort)
		grt_rows_sort(row, n, pass->sort, s, steps_by_moment);
	else
		grt_rows_sort(row, n, NULL, s, shown < n ? steps_by_time : steps_by_moment);
	ret = grt_writer_list(pass->writer, part->table, s, row, shown);
	if (shown < n)
		grt_note(pass->notes, "%" PRIu64 " {more step|more steps}: --top 0 shows all", n - shown);
	free(row);
	return ret;
}

/* The steps that text shows, and the slowest of each rank. */
static int explain(struct grt_steps *s)
{
	int ret = 0;

	for (uint32_t i = 0; i < grt_steps_count(s) && !ret; i++) {
		const struct grt_step *k = grt_steps_step(s, i);
		const struct grt_step_rank *r = grt_steps_rank(s, k->rank);

		if (r->slowest == i || own_excess(s, k) > r->p50 / 5)
			ret = grt_steps_explain(s, i);
	}
	return ret;
}

static int write_steps(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_steps *s = state;
	uint32_t ranks = 0;
	int ret = grt_steps_find(s) ?: explain(s);

	if (ret)
		return ret;
	ret = note_slowest(s, pass->notes) ?: note_most_idle(s, pass->notes) ?: note_how(s, pass);
	ranks = grt_steps_ranks(s);
	if (!ret && !pass->csv)
		ret = grt_writer_rows(pass->writer, &rank_table, s, ranks ? grt_steps_rank(s, 0) : NULL,
				      sizeof(struct grt_step_rank), ranks);
	if (!ret)
		ret = write_steps_rows(s, part, pass);
	note_missing(s, pass, true);
	return ret;
}

static int write_ranks(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_steps *s = state;
	int ret = grt_steps_find(s) ?: grt_collective_table_note_waits(s, pass->notes);

	ret = ret ?: grt_rank_table_write(s, part, pass);
	if (!ret)
		note_missing(s, pass, false);
	return ret;
}

static int write_collectives(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_steps *s = state;

	return grt_steps_find(s) ?: grt_collective_table_write(s, part, pass);
}

static int write_step_work(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_steps *s = state;

	return grt_steps_find(s) ?: grt_rollup_work_write(s, pass);
}

static int write_step_collectives(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_steps *s = state;

	return grt_steps_find(s) ?: grt_rollup_collective_write(s, pass);
}

/* The sentences of the summary, which users read first; without steps, only those about ranks that wait. */
static int write_sentences(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_steps *s = state;
	int ret = grt_steps_find(s) ?: grt_collective_table_note_waits(s, pass->notes);

	if (!ret && grt_steps_count(s))
		ret = grt_rank_table_note(s, pass->notes) ?: explain(s);
	if (!ret && grt_steps_count(s))
		ret = note_slowest(s, pass->notes) ?: note_most_idle(s, pass->notes);
	return ret;
}

/* --------------------------------------------------------------- analysis */

static const struct grt_part step_parts[] = {
	{"step", "steps of training and the like, and what each rank did in them",
	 GRT_PART_BY | GRT_PART_WORST | GRT_PART_NO_JOBS | GRT_PART_TABLES | GRT_PART_ROLLUP, 0, &step_table,
	 .tables = GRT_TABLES(&rank_table), .write = write_steps},
	{"rank", "ranks of one job, and which was late at its collectives",
	 GRT_PART_BY | GRT_PART_NO_JOBS | GRT_PART_TABLES, 0, &grt_rank_table,
	 .tables = GRT_TABLES(&grt_collective_table), .write = write_ranks},
	{"collective",
	 "NCCL's collectives (AllReduce, ...) of each communicator and size: how many, how long, how many bytes per second",
	 GRT_PART_BY | GRT_PART_NO_JOBS | GRT_PART_TABLES | GRT_PART_ROLLUP, 0, &grt_collective_sum_table,
	 .write = write_collectives},
	{"step_work", "work by name, of each rank and step", GRT_PART_TABLES | GRT_PART_ROLLUP, 0,
	 &grt_rollup_work_table, .write = write_step_work},
	{"step_collectives", "the last collective of each communicator, by rank and step",
	 GRT_PART_TABLES | GRT_PART_ROLLUP, 0, &grt_rollup_collective_table, .write = write_step_collectives},
	{"slow_steps", "the slowest steps and the latest rank, in a sentence each",
	 GRT_PART_SUMMARY | GRT_PART_FIRST | GRT_PART_NO_JOBS, .write = write_sentences},
	{.name = NULL},
};

static int new_steps(void **state, struct grt_pass *pass, unsigned int parts)
{
	int ret = grt_steps_new((struct grt_steps **)state, pass->launches);

	if (!ret)
		grt_steps_range(*state, pass->step_range);
	return ret;
}

static void step_table_set_within(void *state, uint64_t from, uint64_t to)
{
	grt_step_log_within(grt_steps_log(state), from, to);
	grt_rank_threads_within(grt_steps_threads(state), from);
}

static int step_table_take_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	return grt_step_log_event(grt_steps_log(state), e)
		       ?: grt_rank_threads_event(grt_steps_threads(state), e);
}

static int step_table_take_work(void *state, const struct grt_event *e, const struct grt_image *image,
				const struct grt_launch *launch, enum grt_launched_how how)
{
	return grt_step_log_work(grt_steps_log(state), e, image, launch, how);
}

static int step_table_finish(void *state, struct grt_pass *pass)
{
	pass->steps = state;
	return grt_steps_find(state);
}

GRT_ANALYSIS_FREE(free_steps, grt_steps_free)

const struct grt_analysis grt_analysis_steps = {
	.name = "steps",
	.classes = GRT_IN_CLASS(image) | GRT_IN_CLASS(launch) | GRT_IN_CLASS(range) | GRT_IN_CLASS(thread) |
		   GRT_IN_CLASS(name),
	.besides = GRT_IN_CLASS(thread) | GRT_IN_CLASS(name),
	.beyond = true,
	.late = true,
	.finds = true,
	.waits = true,
	.parts = step_parts,
	.begin = new_steps,
	.within = step_table_set_within,
	.event = step_table_take_event,
	.work = step_table_take_work,
	.finish = step_table_finish,
	.free = free_steps,
};
