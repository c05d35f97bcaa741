// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Jobs over time, see timeline.h, as an analysis: the rows of bars, gaps and
 * overlaps. In text, the command draws the bars, and this file writes only the longest
 * gaps and overlaps.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/units.h"
#include "table/analysis.h"
#include "timeline_table.h"

/* Gaps and overlaps of each kind in text: the longest ones. */
#define IDLES_SHOWN 10U

static bool timeline_parts_is_sampled(const struct grt_pass *pass)
{
	return grt_jobs_count(pass->jobs).sample_min;
}

static int write_bars(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_timeline_view view = {pass->names, grt_pass_span(pass), pass->columns};
	int ret = 0;

	for (unsigned int by = 0; by < GRT_BYS && !ret; by++) {
		const struct grt_keyed *rows = grt_timeline_rows(state, by);

		grt_writer_table(pass->writer, &grt_timeline_table[by], &view);
		for (void *r = grt_keyed_oldest(rows); r && !ret; r = grt_keyed_next(rows, r))
			ret = grt_writer_row(pass->writer, r);
		grt_writer_table_end(pass->writer);
	}
	return ret;
}

/* Gaps and overlaps */

struct found {
	const struct grt_timeline_row *row;
	const struct grt_idle *idle;
};

static const struct grt_idles *idles_of(const struct grt_timeline_row *row, bool overlaps)
{
	static const struct grt_idles none;

	/* With sampled jobs, nothing is known about times without jobs. */
	if (row->sampled && !overlaps)
		return &none;
	return overlaps ? &row->overlaps : &row->gaps;
}

static int longest_first(const void *a, const void *b)
{
	const struct grt_idle *x = ((const struct found *)a)->idle, *y = ((const struct found *)b)->idle;
	uint64_t p = x->to - x->from, q = y->to - y->from;

	if (p != q)
		return p < q ? 1 : -1;
	return (x->from > y->from) - (x->from < y->from);
}

static uint32_t find_idles(const struct grt_keyed *rows, bool overlaps, struct found *out)
{
	uint32_t n = 0;

	for (void *r = grt_keyed_oldest(rows); r; r = grt_keyed_next(rows, r)) {
		const struct grt_idles *l = idles_of(r, overlaps);

		for (uint32_t i = 0; out && i < l->used; i++)
			out[n + i] = (struct found){r, &l->at[i]};
		n += l->used;
	}
	return n;
}

static int write_found(struct grt_pass *pass, enum grt_group_by by, const struct grt_table *table,
		       const struct found *found, uint32_t n)
{
	struct grt_idle_row row;
	int ret = 0;

	grt_writer_table(pass->writer, table, pass->names);
	for (uint32_t i = 0; i < n && !ret; i++) {
		row = grt_idle_row(pass->names, by, found[i].row, found[i].idle);
		ret = grt_writer_row(pass->writer, &row);
	}
	grt_writer_table_end(pass->writer);
	return ret;
}

static int write_idles(void *state, enum grt_group_by by, const struct grt_table *all, struct grt_pass *pass)
{
	const struct grt_keyed *rows = grt_timeline_rows(state, by);
	bool overlaps = all == &grt_overlap_table;
	uint32_t n = find_idles(rows, overlaps, NULL), shown = n;
	struct found *found = calloc(n + 1, sizeof(*found));
	struct grt_table table = *all;
	char title[64];
	int ret;

	if (!found)
		return -ENOMEM;
	find_idles(rows, overlaps, found);
	if (!pass->json) {
		snprintf(title, sizeof(title), "%s, wider than a column", table.title);
		table.title = title;
		qsort(found, n, sizeof(*found), longest_first);
		shown = n < IDLES_SHOWN ? n : IDLES_SHOWN;
	}
	if (n > shown)
		grt_note(pass->notes, "%" PRIu32 " shorter %s: --json has all", n - shown, all->title);
	ret = write_found(pass, by, &table, found, shown);
	free(found);
	return ret;
}

/* If gaps were not looked for, "none" would be wrong. */
static int write_all_idles(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	int ret;

	if (!pass->json &&
	    (timeline_parts_is_sampled(pass) || grt_timeline_in_windows(state) || !pass->columns))
		return 0;
	ret = write_idles(state, GRT_BY_RING, &grt_gap_table[GRT_BY_RING], pass);
	if (!ret)
		ret = write_idles(state, GRT_BY_PROCESS, &grt_gap_table[GRT_BY_PROCESS], pass);
	return ret ? ret : write_idles(state, GRT_BY_RING, &grt_overlap_table, pass);
}

static const struct grt_part timeline_parts[] = {
	{"bars", .where = GRT_PART_BARS | GRT_PART_JOBS,
	 .tables = GRT_TABLES(&grt_timeline_table[GRT_BY_RING], &grt_timeline_table[GRT_BY_ENGINE],
			      &grt_timeline_table[GRT_BY_PROCESS]),
	 .write = write_bars},
	{"gaps", .where = GRT_PART_BARS | GRT_PART_JOBS,
	 .tables =
		 GRT_TABLES(&grt_gap_table[GRT_BY_RING], &grt_gap_table[GRT_BY_PROCESS], &grt_overlap_table),
	 .write = write_all_idles},
	{.name = NULL},
};

/* Operations */

static int timeline_parts_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct grt_timeline *t;
	int ret = grt_timeline_new(&t, pass->first, pass->last, pass->columns);

	*state = t;
	if (ret)
		return ret;
	pass->columns = grt_timeline_columns(t);
	if (pass->whole)
		grt_timeline_whole(t);
	return 0;
}

GRT_ANALYSIS_EVENT(timeline_parts_window, grt_timeline_window)
GRT_ANALYSIS_JOB(timeline_parts_held, grt_timeline_held)
GRT_ANALYSIS_JOB(timeline_parts_job, grt_timeline_job)

GRT_ANALYSIS_FINISH(timeline_parts_finish, grt_timeline_end)

static uint64_t unsure_time(const struct grt_timeline *t)
{
	const struct grt_keyed *rows = grt_timeline_rows(t, GRT_BY_RING);
	uint64_t sum = 0;

	for (struct grt_timeline_row *r = grt_keyed_oldest(rows); r; r = grt_keyed_next(rows, r))
		sum += r->unsure;
	return sum;
}

/* Gaps of rings and processes in which a job without a known START or END may have run. */
static uint64_t unsure_gaps(const struct grt_timeline *t, enum grt_group_by by)
{
	const struct grt_keyed *rows = grt_timeline_rows(t, by);
	uint64_t sum = 0;

	for (struct grt_timeline_row *r = grt_keyed_oldest(rows); r; r = grt_keyed_next(rows, r))
		for (uint32_t i = 0; i < idles_of(r, false)->used; i++)
			sum += r->gaps.at[i].unsure > 0;
	return sum;
}

static void timeline_parts_notes(void *state, struct grt_pass *pass)
{
	const struct grt_timeline_count *c = grt_timeline_count(state);
	char unsure[GRT_UNITS_MAX];

	grt_units_ns(unsure, unsure_time(state));
	if (timeline_parts_is_sampled(pass))
		grt_note(pass->notes,
			 "jobs were sampled: bars show only these jobs, and gaps are not listed");
	if (grt_timeline_in_windows(state))
		grt_note(
			pass->notes,
			"only random windows were recorded: bars show only their jobs, and gaps are not listed");
	if (c->jobs > c->undrawn)
		grt_note(pass->notes, "busy is the time in which one or more jobs ran: overlaps count once");
	if (c->undrawn)
		grt_note(pass->notes,
			 "%" PRIu64 " of %" PRIu64
			 " {job|jobs} not drawn: START or END is unknown, or END comes before START",
			 c->undrawn, c->jobs);
	if (unsure_gaps(state, GRT_BY_RING) + unsure_gaps(state, GRT_BY_PROCESS))
		grt_note(pass->notes,
			 "such jobs may have run in %" PRIu64 " {gap|gaps} of rings and %" PRIu64
			 " of processes, see unsure in --json",
			 unsure_gaps(state, GRT_BY_RING), unsure_gaps(state, GRT_BY_PROCESS));
	if (c->cut)
		grt_note(pass->notes, "jobs drawn up to the border, because they ran beyond it: %" PRIu64,
			 c->cut);
	if (c->late)
		grt_note(pass->notes,
			 "jobs that ended long after others that began later: %" PRIu64
			 "; of the rings' busy time at most %s is missing, and overlaps with these jobs",
			 c->late, unsure);
	if (!grt_pass_span(pass) && c->jobs)
		grt_note(pass->notes, "all events have the same time: nothing to draw");
	if (c->over)
		grt_note(pass->notes,
			 "%" PRIu64 " {job is|jobs are} not in every table (limit of %u rings or processes)",
			 c->over, GRT_TIMELINE_ROWS_MAX);
}

GRT_ANALYSIS_FREE(timeline_parts_free, grt_timeline_free)

const struct grt_analysis grt_analysis_timeline = {
	.name = "timeline",
	.classes = GRT_IN_CLASS(window),
	.parts = timeline_parts,
	.begin = timeline_parts_begin,
	.event = timeline_parts_window,
	.held = timeline_parts_held,
	.job = timeline_parts_job,
	.finish = timeline_parts_finish,
	.notes = timeline_parts_notes,
	.free = timeline_parts_free,
};
