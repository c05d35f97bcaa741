// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The sums of aggregates.h and their columns. */
#include "aggregates.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/compare.h"
#include "jobs.h"
#include "table/analysis.h"
#include "table/cells.h"

/* Sums can only exceed 2^64 in a malicious trace; then they stay at the largest number. */
static void aggregates_add(uint64_t *sum, uint64_t n)
{
	*sum = *sum + n < n ? UINT64_MAX : *sum + n;
}

void grt_aggregates_init(struct grt_aggregates *a)
{
	a->replaced = 0;
	a->over = 0;
	grt_keyed_init(&a->rows, sizeof(struct grt_aggregate_row), GRT_AGGREGATES_MAX);
}

/* Windows of a ring are numbered; after a new start of tracing, they begin at 1 again. */
static void count_window(struct grt_aggregate_row *row, const struct grt_ev_aggregate *ev)
{
	if (row->windows && ev->window > row->window)
		aggregates_add(&row->missing, ev->window - row->window - 1);
	row->window = ev->window;
	row->windows++;
	if (ev->end > ev->begin)
		row->length += ev->end - ev->begin;
}

static void take_latency(struct grt_aggregate_row *row, const struct grt_ev_aggregate *ev)
{
	if (!ev->jobs)
		return;
	if (!row->jobs || ev->latency_min < row->latency_min)
		row->latency_min = ev->latency_min;
	if (!row->jobs || ev->latency_max > row->latency_max)
		row->latency_max = ev->latency_max;
	aggregates_add(&row->jobs, ev->jobs);
	row->latency += ev->latency;
}

static void aggregates_take(struct grt_aggregate_row *row, const struct grt_ev_aggregate *ev)
{
	count_window(row, ev);
	row->ring = ev->e.ring;
	row->device = ev->e.device;
	row->engine = ev->e.engine;
	aggregates_add(&row->events, ev->events);
	aggregates_add(&row->replaced, ev->replaced);
	aggregates_add(&row->submits, ev->submits);
	aggregates_add(&row->completes, ev->completes);
	aggregates_add(&row->failed, ev->failed);
	take_latency(row, ev);
	row->depth += ev->depth;
	if (ev->depth_max > row->depth_max)
		row->depth_max = ev->depth_max;
}

int grt_aggregates_event(struct grt_aggregates *a, const struct grt_event *e)
{
	const struct grt_ev_aggregate *ev = (const struct grt_ev_aggregate *)e;
	struct grt_key key = {{0}};
	void *found;
	int ret;

	if (e->type != GRT_EV_AGGREGATE)
		return 0;
	aggregates_add(&a->replaced, ev->replaced);
	key.w[0] = e->ring;
	key.w[1] = e->device;
	ret = grt_keyed_get_or_count(&a->rows, &key, &a->over, &found);
	if (found)
		aggregates_take(found, ev);
	return ret;
}

static int aggregates_by_place(const void *a, const void *b)
{
	const struct grt_aggregate_row *x = *(void *const *)a, *y = *(void *const *)b;

	return grt_compare(x->device, y->device) ?: grt_compare(x->ring, y->ring);
}

int grt_aggregates_list(const struct grt_aggregates *a, const struct grt_aggregate_row ***out)
{
	return grt_keyed_list(&a->rows, aggregates_by_place, (void ***)out);
}

void grt_aggregates_free(struct grt_aggregates *a)
{
	grt_keyed_free(&a->rows);
}

/* ------------------------------------------------------------- columns */

static void aggregates_get_ring(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_ring(cell, view, ((const struct grt_aggregate_row *)row)->ring);
}

static void aggregates_get_ring_name(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_ring_name(cell, view, ((const struct grt_aggregate_row *)row)->ring);
}

static void get_latency(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_u64(cell, view, row, offset);
	cell->absent = !((const struct grt_aggregate_row *)row)->jobs;
}

/* @sum divided by @n, rounded. Return: whether there is a mean */
static bool aggregates_mean(uint64_t *out, unsigned __int128 sum, uint64_t n)
{
	unsigned __int128 value = n ? (sum + n / 2) / n : 0;

	*out = value > INT64_MAX ? INT64_MAX : (uint64_t)value;
	return n;
}

static void get_latency_mean(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_aggregate_row *r = row;

	cell->absent = !aggregates_mean(&cell->number, r->latency, r->jobs);
}

static void get_depth_mean(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_aggregate_row *r = row;

	cell->text = "jobs";
	cell->absent = !aggregates_mean(&cell->number, r->depth * 1000, r->submits);
}

static void aggregates_get_depth_max(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_aggregate_row *r = row;

	cell->number = r->depth_max;
	cell->absent = !r->submits;
}

static void aggregates_get_length(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_aggregate_row *r = row;

	cell->number = r->length > UINT64_MAX ? UINT64_MAX : (uint64_t)r->length;
}

#define COUNT(name, member, where, help)                                                                     \
	{                                                                                                    \
		name, grt_cell_u64, offsetof(struct grt_aggregate_row, member), GRT_CELL_NUMBER, where, help \
	}
#define LATENCY(name, member, help)                                                                         \
	{                                                                                                   \
		name, get_latency, offsetof(struct grt_aggregate_row, member), GRT_CELL_NS, GRT_COLUMN_ALL, \
			help                                                                                \
	}

static const struct grt_column aggregate_columns[] = {
	{"ring", aggregates_get_ring, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "ring: name in text, else id"},
	{"ring_name", aggregates_get_ring_name, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "name of the ring"},
	{"device", grt_cell_u32, offsetof(struct grt_aggregate_row, device), GRT_CELL_NUMBER, GRT_COLUMN_MORE,
	 "device number"},
	{"engine", grt_cell_u8, offsetof(struct grt_aggregate_row, engine), GRT_CELL_ENGINE, GRT_COLUMN_ALL,
	 "engine"},
	COUNT("windows", windows, GRT_COLUMN_ALL, "AGGREGATE records of the ring"),
	COUNT("missing", missing, GRT_COLUMN_ALL, "AGGREGATE records that were lost; no sum includes them"),
	{"length", aggregates_get_length, 0, GRT_CELL_NS, GRT_COLUMN_MORE, "total length of the windows, ns"},
	COUNT("events", events, GRT_COLUMN_ALL, "events of the ring's jobs"),
	COUNT("replaced", replaced, GRT_COLUMN_ALL,
	      "events that AGGREGATE records replaced; they are not in the stream"),
	COUNT("submits", submits, GRT_COLUMN_ALL, "jobs submitted"),
	COUNT("completes", completes, GRT_COLUMN_ALL, "jobs completed"),
	COUNT("failed", failed, GRT_COLUMN_ALL, "completed jobs with an error"),
	{"latency_mean", get_latency_mean, 0, GRT_CELL_NS, GRT_COLUMN_ALL,
	 "mean time from SUBMIT to COMPLETE, ns"},
	LATENCY("latency_min", latency_min, "shortest time from SUBMIT to COMPLETE, ns"),
	LATENCY("latency_max", latency_max, "longest time from SUBMIT to COMPLETE, ns"),
	COUNT("latency_jobs", jobs, GRT_COLUMN_MORE, "completed jobs whose SUBMIT was seen"),
	{"depth_mean", get_depth_mean, 0, GRT_CELL_AMOUNT, GRT_COLUMN_ALL,
	 "mean number of jobs in flight at a SUBMIT"},
	{"depth_max", aggregates_get_depth_max, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "largest number of jobs in flight at a SUBMIT"},
	{.name = NULL},
};

const struct grt_table grt_aggregate_table = {"aggregates", "aggregated rings", aggregate_columns, 0};

/* --------------------------------------------------------------- analysis */

GRT_ANALYSIS_INIT(new_aggregates, grt_aggregates_init)
GRT_ANALYSIS_EVENT(aggregates_take_event, grt_aggregates_event)

/* A trace without such events has no such table. */
static int write_aggregates(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_aggregates *a = state;
	const struct grt_aggregate_row **rows;
	int ret;

	if (!a->rows.used)
		return 0;
	if (grt_aggregates_list(a, &rows))
		return -ENOMEM;
	ret = grt_writer_list(pass->writer, &grt_aggregate_table, pass->names, rows, a->rows.used);
	if (a->over)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {AGGREGATE record is|AGGREGATE records are} not in the table (limit of %u rings)",
			 a->over, GRT_AGGREGATES_MAX);
	free(rows);
	return ret;
}

/* Jobs of these events are in no table except that of the aggregated rings. */
static void note_aggregated(void *state, struct grt_pass *pass)
{
	uint64_t aggregated = pass->health->balance.fate[GRT_FATE_AGGREGATED];
	uint64_t told = ((const struct grt_aggregates *)state)->replaced;
	uint64_t whole = grt_jobs_count(pass->jobs).replaced;

	/* the jobs that JOB records represent are in the tables of jobs */
	aggregated = aggregated > whole ? aggregated - whole : 0;
	if (told)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {event is|events are} only in the sums of AGGREGATE records: no other table has {its|their} jobs",
			told);
	if (aggregated > told)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {aggregated event has|aggregated events have} no record in the trace (it was lost, or the job was shorter than the filter)",
			aggregated - told);
}

GRT_ANALYSIS_FREE(free_aggregates, grt_aggregates_free)

static const struct grt_part aggregate_parts[] = {
	{"aggregates", "sums of AGGREGATE records by ring", GRT_PART_SUMMARY,
	 .tables = GRT_TABLES(&grt_aggregate_table), .write = write_aggregates},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_aggregates = {
	.name = "aggregates",
	.classes = GRT_IN_CLASS(aggregate),
	.always = true,
	.parts = aggregate_parts,
	.size = sizeof(struct grt_aggregates),
	.begin = new_aggregates,
	.event = aggregates_take_event,
	.notes = note_aggregated,
	.free = free_aggregates,
};
