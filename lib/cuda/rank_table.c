// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The columns of ranks and collectives, and the sentence about the rank for which the others waited. */
#include "rank_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "table/cells.h"
#include "collectives.h"

/* Most collectives in text: those that a rank entered last. */
#define TEXT_ROWS 10
/* Limit for collectives whose delay is explained. */
#define EXPLAINED 100

#define R(member) offsetof(struct grt_step_rank, member)
#define C(member) offsetof(struct grt_collective_rank, member)
#define K(member) offsetof(struct grt_collective, member)

static const struct grt_step_rank *step_rank_of(const void *view, uint32_t rank)
{
	return grt_steps_rank(grt_collectives_steps(view), rank);
}

/* Rows of ranks are struct grt_step_rank. */
static const struct grt_collective_rank *collective_rank_of(const void *view, const void *row)
{
	const struct grt_step_rank *r = row;

	return grt_collectives_rank(view, (uint32_t)(r - step_rank_of(view, 0)));
}

static void rank_table_get_rank(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ((const struct grt_step_rank *)row)->number;
	cell->inferred = !((const struct grt_step_rank *)row)->told;
}

static void get_count(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_u64(cell, view, collective_rank_of(view, row), offset);
}

/* A time, if there are collectives. */
static void get_rank_time(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	const struct grt_collective_rank *k = collective_rank_of(view, row);

	grt_cell_u64(cell, view, k, offset);
	cell->absent = !k->steady;
}

static void get_in_all(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_collective_rank *k = collective_rank_of(view, row);

	cell->number = k->kernels - k->alone;
}

static void get_late_avg(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_collective_rank *k = collective_rank_of(view, row);

	cell->absent = !k->last;
	cell->number = k->last ? k->late / k->last : 0;
}

static void get_meanwhile_text(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_chars(cell, view, collective_rank_of(view, row), arg);
}

/* Time of a rank's main thread in a state. */
static void get_meanwhile(struct grt_cell *cell, const void *view, const void *row, int state)
{
	const struct grt_rank_spent *spent = &collective_rank_of(view, row)->meanwhile;

	cell->number = spent->ns[state];
	cell->absent = !spent->all;
}

static void get_meanwhile_of(struct grt_cell *cell, const void *view, const void *row, int state)
{
	const struct grt_rank_spent *spent = &((const struct grt_collective *)row)->meanwhile;

	cell->number = spent->ns[state];
	cell->absent = !spent->all;
}

/* The rank of a collective with this number; @offset: of the member that has the number. */
static void get_rank_at(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	uint32_t rank = *(const uint32_t *)((const char *)row + offset);

	rank_table_get_rank(cell, view, step_rank_of(view, rank), 0);
}

static void get_last_pid(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = step_rank_of(view, ((const struct grt_collective *)row)->last)->pid;
}

static void get_step(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	uint32_t step = ((const struct grt_collective *)row)->step;
	const struct grt_step_rank *last = step_rank_of(view, ((const struct grt_collective *)row)->last);

	cell->absent = step == UINT32_MAX;
	cell->inferred =
		!grt_step_is_marked(grt_steps_marks(grt_collectives_steps(view), last->process)->how);
	cell->number = cell->absent ? 0 : grt_steps_step(grt_collectives_steps(view), step)->number;
}

static void get_communicator(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ((const struct grt_collective *)row)->communicator;
	cell->inferred = !((const struct grt_collective *)row)->told_by_nccl;
}

static void get_ran(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_collective *k = row;

	cell->number = k->end - k->begin;
}

/* clang-format off */

static const struct grt_column rank_columns[] = {
	{"rank", rank_table_get_rank, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "rank of the process, from its environment, else inferred"},
	{"pid", grt_cell_u32, R(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", grt_cell_pointed, R(name), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the program"},
	{"gpu", grt_cell_u32, R(gpu), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the device in its process"},
	{"uuid", grt_cell_pointed, R(uuid), GRT_CELL_TEXT, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "UUID of the device"},
	{"collectives", get_in_all, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "kernels of NCCL that are one collective with kernels of other ranks"},
	{"alone", get_count, C(alone), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "kernels of NCCL without counterparts on other ranks"},
	{"steady", get_count, C(steady), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "collectives in the rank's steps, without the first step; the following columns count only these"},
	{"last", get_count, C(last), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "collectives to which the rank came last"},
	{"late", get_rank_time, C(late), GRT_CELL_NS, GRT_COLUMN_ALL, "lateness: time by which it came after the median of the others, sum, ns"},
	{"late_avg", get_late_avg, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "mean lateness, ns"},
	{"late_max", get_rank_time, C(late_max), GRT_CELL_NS, GRT_COLUMN_ALL, "largest lateness, ns"},
	{"waited", get_rank_time, C(waited), GRT_CELL_NS, GRT_COLUMN_ALL, "time in which the rank waited for the last one, ns"},
	{"meanwhile", get_meanwhile_text, C(told), GRT_CELL_TEXT, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "with record -e sched: what the rank's main thread did while it was late"},
#define GRT_THREAD_STATE(number, NAME, name, help) \
	{"main_" #name, get_meanwhile, number, GRT_CELL_NS, GRT_COLUMN_MACHINE, "in that time, its main thread: " help ", ns"},
#include <grtrace/thread_states.def>
#undef GRT_THREAD_STATE
	{.name = NULL},
};

static const struct grt_column collective_columns[] = {
	{"communicator", get_communicator, 0, GRT_CELL_NUMBER, GRT_COLUMN_MORE, "number of the communicator, from 0; inferred where NCCL's plugin was not loaded"},
	{"number", grt_cell_u64, K(number), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the collective in its communicator, from 0; with NCCL's plugin, among the collectives of the same function"},
	{"collective", grt_cell_pointed, K(name), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the collective's kernel"},
	{"ranks", grt_cell_u32, K(ranks), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of ranks that took part"},
	{"steady", grt_cell_u8, K(steady), GRT_CELL_BOOL, GRT_COLUMN_MORE, "whether it is in a step other than the first"},
	{"step", get_step, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "step of the rank that came last"},
	{"first", get_rank_at, K(first), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "rank that came first"},
	{"last", get_rank_at, K(last), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "rank that came last"},
	{"pid", get_last_pid, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id of the rank that came last"},
	{"late", grt_cell_u64, K(late), GRT_CELL_NS, GRT_COLUMN_ALL, "lateness of the last rank: time by which it came after the median of the others, ns"},
	{"wait", grt_cell_u64, K(wait), GRT_CELL_NS, GRT_COLUMN_MORE, "time between the first and the last rank's arrival, ns"},
	{"begin", grt_cell_u64, K(begin), GRT_CELL_TIME, GRT_COLUMN_ALL, "when all ranks had arrived"},
	{"time", get_ran, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "time from then to the end of the collective, ns"},
	{"meanwhile", grt_cell_chars, K(told), GRT_CELL_TEXT, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "with record -e sched: what the main thread of the last rank did while it was late"},
#define GRT_THREAD_STATE(number, NAME, name, help) \
	{"main_" #name, get_meanwhile_of, number, GRT_CELL_NS, GRT_COLUMN_MACHINE, "in that time, that thread: " help ", ns"},
#include <grtrace/thread_states.def>
#undef GRT_THREAD_STATE
	{"why", grt_cell_pointed, K(why), GRT_CELL_TEXT, GRT_COLUMN_ALL, "of the collectives with the longest waits: what delayed the last rank"},
	{.name = NULL},
};

const struct grt_table grt_rank_table = {"ranks", "ranks in collectives", rank_columns, GRT_MARK_INFERRED};
const struct grt_table grt_collective_table = {"collectives", "late at collectives", collective_columns, GRT_MARK_INFERRED};

/* clang-format on */

/* -------------------------------------------------------------- sentence */

void grt_step_numbers(char *list, size_t room, uint32_t number)
{
	size_t at = strlen(list);

	if (at + 24 < room)
		snprintf(list + at, room - at, "%s%u", at ? ", " : "", number);
	else if (at + 6 < room && list[at - 1] != '.')
		snprintf(list + at, room - at, ", ...");
}

static int latest_first(const void *a, const void *b, void *arg)
{
	const struct grt_collective *x = grt_collectives_at(arg, *(const uint32_t *)a),
				    *y = grt_collectives_at(arg, *(const uint32_t *)b);

	if (x->steady != y->steady)
		return x->steady ? -1 : 1;
	return x->late != y->late ? (x->late > y->late ? -1 : 1)
				  : (x->begin > y->begin) - (x->begin < y->begin);
}

static int earliest_first(const void *a, const void *b)
{
	return (*(const uint32_t *)a > *(const uint32_t *)b) - (*(const uint32_t *)a < *(const uint32_t *)b);
}

/* Return: all collectives, those with the latest rank first. */
static uint32_t *sort_by_late(struct grt_collectives *c)
{
	uint32_t n = grt_collectives_count(c), *order = calloc((size_t)n + 1, sizeof(*order));

	for (uint32_t i = 0; order && i < n; i++)
		order[i] = i;
	if (order)
		qsort_r(order, n, sizeof(*order), latest_first, c);
	return order;
}

/**
 * struct late - the collectives by which a rank was late most: down to the first that is less than half as
 * late as the previous one, or until they make up nine tenths of the time
 * @why: the cause of most of the lost time, of those that are explained
 * @meanwhile: what the rank's main thread did in that time
 */
struct late {
	uint32_t rank;
	uint32_t n;
	uint64_t ns;
	char steps[64];
	const char *why;
	struct grt_rank_spent meanwhile;
};

static void list_steps(const struct grt_collectives *c, uint32_t *order, struct late *late)
{
	const struct grt_steps *s = grt_collectives_steps(c);
	uint32_t before = UINT32_MAX;

	qsort(order, late->n, sizeof(*order), earliest_first);
	for (uint32_t i = 0; i < late->n; i++) {
		uint32_t step = grt_collectives_at(c, order[i])->step;

		if (step != UINT32_MAX && step != before)
			grt_step_numbers(late->steps, sizeof(late->steps), grt_steps_step(s, step)->number);
		before = step;
	}
}

/* Return: the cause that explains most of the lost time. */
static const char *most_lost(const struct grt_collectives *c, const uint32_t *order, uint32_t n)
{
	const char *best = NULL;
	uint64_t most = 0;

	for (uint32_t i = 0; i < n && i < EXPLAINED; i++) {
		const char *why = grt_collectives_at(c, order[i])->why;
		uint64_t ns = 0;

		for (uint32_t k = 0; why && k < n && k < EXPLAINED; k++) {
			const struct grt_collective *other = grt_collectives_at(c, order[k]);

			ns += other->why && !strcmp(other->why, why) ? other->late : 0;
		}
		if (ns > most) {
			most = ns;
			best = why;
		}
	}
	return best;
}

/* @order: latest first; the rank's collectives are moved to its beginning. */
static void find_late(const struct grt_collectives *c, uint32_t *order, struct late *late)
{
	uint64_t all = grt_collectives_rank(c, late->rank)->late, before = 0;

	for (uint32_t i = 0; i < grt_collectives_count(c) && 10 * late->ns < 9 * all; i++) {
		const struct grt_collective *k = grt_collectives_at(c, order[i]);

		if (k->last != late->rank || !k->steady)
			continue;
		if (2 * k->late < before)
			break;
		before = k->late;
		late->ns += k->late;
		for (unsigned int s = 0; s < GRT_THREAD_STATES; s++)
			late->meanwhile.ns[s] += k->meanwhile.ns[s];
		late->meanwhile.all += k->meanwhile.all;
		order[late->n++] = order[i];
	}
	late->why = most_lost(c, order, late->n);
	list_steps(c, order, late);
}

/* The rank that was late by the most time. */
static uint32_t latest_rank(const struct grt_collectives *c)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < grt_steps_ranks(grt_collectives_steps(c)); i++)
		if (grt_collectives_rank(c, i)->late > grt_collectives_rank(c, best)->late)
			best = i;
	return best;
}

/* @order is in another order afterwards. */
static void rank_table_note(struct grt_collectives *c, uint32_t *order, struct grt_notes *notes)
{
	struct late late = {.rank = latest_rank(c)};
	const struct grt_step_rank *r = grt_steps_rank(grt_collectives_steps(c), late.rank);
	const struct grt_collective_rank *k = grt_collectives_rank(c, late.rank);
	char meanwhile[80];
	char avg[GRT_UNITS_MAX], more[GRT_UNITS_MAX + 32] = "";

	if (!k->steady || !k->late)
		return;
	find_late(c, order, &late);
	if (k->last > late.n) {
		grt_units_ns(avg, (k->late - late.ns) / (k->last - late.n));
		snprintf(more, sizeof(more), " (in %" PRIu64 " more by %s)", k->last - late.n, avg);
	}
	grt_units_ns(avg, late.ns / late.n);
	grt_rank_spent_text(&late.meanwhile, meanwhile, sizeof(meanwhile));
	grt_note(notes,
		 "rank %u (PID %u) arrived last in %u of %" PRIu64
		 " {collective|collectives}, %s late on average%s%s%s%.100s%s%s%s",
		 r->number, r->pid, late.n, k->steady, avg,
		 !*late.steps		   ? ""
		 : strchr(late.steps, ',') ? ", in steps "
					   : ", in step ",
		 late.steps, late.why ? ": " : "", late.why ?: "", more,
		 *meanwhile ? "; its main thread meanwhile: " : "", meanwhile);
}

/* ---------------------------------------------------------------- tables */

static int write_late(struct grt_collectives *c, const uint32_t *order, struct grt_pass *pass)
{
	uint32_t n = grt_collectives_count(c),
		 shown = pass->json || pass->verbose || n < TEXT_ROWS ? n : TEXT_ROWS;
	const struct grt_collective **row = calloc((size_t)n + 1, sizeof(*row));
	int ret;

	if (!row)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		row[i] = grt_collectives_at(c, shown == n ? i : order[i]);
	ret = grt_writer_list(pass->writer, &grt_collective_table, c, row, shown);
	free(row);
	return ret;
}

static int explain_late(struct grt_collectives *c, const uint32_t *order)
{
	int ret = 0;

	for (uint32_t i = 0; i < EXPLAINED && i < grt_collectives_count(c) && !ret; i++)
		ret = grt_collectives_explain(c, order[i]);
	return ret;
}

static int write_ranks(struct grt_collectives *c, uint32_t *order, const struct grt_part *part,
		       struct grt_pass *pass)
{
	struct grt_steps *s = grt_collectives_steps(c);
	uint32_t n = grt_steps_ranks(s);
	const struct grt_step_rank **row = calloc((size_t)n + 1, sizeof(*row));
	int ret = row ? explain_late(c, order) : -ENOMEM;

	for (uint32_t i = 0; i < n && !ret; i++)
		row[i] = grt_steps_rank(s, i);
	if (!ret) {
		grt_rows_sort(row, n, grt_pass_sort(pass, part, NULL), c, NULL);
		ret = grt_writer_list(pass->writer, &grt_rank_table, c, row, grt_pass_shown(pass, part, n));
	}
	if (!ret && !pass->csv && grt_collectives_count(c))
		ret = write_late(c, order, pass);
	if (!ret)
		rank_table_note(c, order, pass->notes);
	free(row);
	return ret;
}

int grt_rank_table_write(struct grt_steps *s, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_collectives *c;
	uint32_t *order;
	uint64_t kernels = 0;
	int ret = grt_collectives_new(&c, s);

	if (ret)
		return ret;
	order = sort_by_late(c);
	ret = order ? write_ranks(c, order, part, pass) : -ENOMEM;
	for (uint32_t i = 0; i < grt_steps_ranks(s); i++)
		kernels += grt_collectives_rank(c, i)->kernels;
	if (!kernels)
		grt_note(pass->notes, "the trace has no NCCL kernels");
	else if (!grt_collectives_count(c))
		grt_note(pass->notes,
			 "no NCCL kernel runs at the same time as one of the same name on another rank");
	free(order);
	grt_collectives_free(c);
	return ret;
}

int grt_rank_table_note(struct grt_steps *s, struct grt_notes *notes)
{
	struct grt_collectives *c;
	uint32_t *order;
	int ret = grt_collectives_new(&c, s);

	if (ret)
		return ret;
	order = sort_by_late(c);
	ret = order ? explain_late(c, order) : -ENOMEM;
	if (!ret)
		rank_table_note(c, order, notes);
	free(order);
	grt_collectives_free(c);
	return ret;
}
