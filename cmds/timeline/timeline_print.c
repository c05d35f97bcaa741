// SPDX-License-Identifier: GPL-2.0
/*
 * What `grtrace timeline` writes and in which order, as text and as JSON. How
 * bars are drawn stands in timeline_bars.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "timeline.h"
#include "base/units.h"

/* Gaps and overlaps of a kind that text shows, the longest. */
#define IDLES_SHOWN 10U

static const struct grt_table recording_pairs = {"recording", "recording", NULL, GRT_TABLE_PAIRS};

const struct cmd_json timeline_json = {
	.title = "what grtrace timeline --json prints",
	.tables = GRT_TABLES(&recording_pairs, &grt_timeline_table[GRT_BY_RING],
			     &grt_timeline_table[GRT_BY_ENGINE], &grt_timeline_table[GRT_BY_PROCESS],
			     &grt_gap_table[GRT_BY_RING], &grt_gap_table[GRT_BY_PROCESS], &grt_overlap_table,
			     &grt_latency_table, &grt_power_table, &reading_health_pairs, &reading_join_pairs,
			     &reading_balance_pairs),
};

static const struct grt_names *timeline_print_names_of(const struct timeline *tl)
{
	return grt_jobs_names(tl->jobs);
}

static void timeline_print_write_recording(struct timeline *tl)
{
	struct grt_fields f = {.n = 0};
	uint32_t columns = grt_timeline_columns(tl->t);

	reading_recording(&f, tl->session, tl->input);
	reading_span_fields(&f, &tl->span);
	if (tl->ring)
		grt_field_add(&f, "only_ring", GRT_CELL_TEXT, (struct grt_cell){.text = tl->ring}, NULL);
	if (tl->by_pid)
		grt_field_number(&f, "only_pid", tl->pid, NULL);
	if (!tl->latency_only)
		grt_field_number(&f, "columns", columns, NULL);
	if (columns && !tl->json)
		grt_field_add(&f, "column", GRT_CELL_NS,
			      (struct grt_cell){.number = timeline_span(tl) / columns},
			      "its height is the share of it in which jobs ran");
	grt_fields_write(&f, tl->writer, "recording", "recording");
}

/* Rows */

static int timeline_print_write_rows(struct timeline *tl, enum grt_group_by by)
{
	const struct grt_timeline_view view = {
		.names = timeline_print_names_of(tl),
		.span = timeline_span(tl),
		.columns = grt_timeline_columns(tl->t),
	};
	const struct grt_keyed *rows = grt_timeline_rows(tl->t, by);
	int ret = 0;

	grt_writer_table(tl->writer, &grt_timeline_table[by], &view);
	for (void *r = grt_keyed_oldest(rows); r && !ret; r = grt_keyed_next(rows, r))
		ret = grt_writer_row(tl->writer, r);
	grt_writer_table_end(tl->writer);
	return ret;
}

static int write_timeline(struct timeline *tl)
{
	int ret = 0;

	if (!tl->json)
		return timeline_bars(tl);
	for (unsigned int by = 0; by < GRT_BYS && !ret; by++)
		ret = timeline_print_write_rows(tl, by);
	return ret;
}

/* Gaps and overlaps */

static bool timeline_print_is_sampled(const struct timeline *tl)
{
	const struct grt_jobs_count c = grt_jobs_count(tl->jobs);

	return c.sample_min;
}

struct found {
	const struct grt_timeline_row *row;
	const struct grt_idle *idle;
};

static const struct grt_idles *idles_of(const struct grt_timeline_row *row, bool overlaps)
{
	static const struct grt_idles none;

	/* Of a sample nothing can be said about times without jobs. */
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

static uint32_t timeline_print_collect(const struct timeline *tl, enum grt_group_by by, bool overlaps,
				       struct found *out)
{
	const struct grt_keyed *rows = grt_timeline_rows(tl->t, by);
	uint32_t n = 0;

	for (void *r = grt_keyed_oldest(rows); r; r = grt_keyed_next(rows, r)) {
		const struct grt_idles *l = idles_of(r, overlaps);

		for (uint32_t i = 0; out && i < l->used; i++)
			out[n + i] = (struct found){r, &l->at[i]};
		n += l->used;
	}
	return n;
}

static int write_found(struct timeline *tl, enum grt_group_by by, const struct grt_table *table,
		       const struct found *found, uint32_t n)
{
	struct grt_idle_row row;
	int ret = 0;

	grt_writer_table(tl->writer, table, timeline_print_names_of(tl));
	for (uint32_t i = 0; i < n && !ret; i++) {
		row = grt_idle_row(timeline_print_names_of(tl), by, found[i].row, found[i].idle);
		ret = grt_writer_row(tl->writer, &row);
	}
	grt_writer_table_end(tl->writer);
	return ret;
}

static int write_idles(struct timeline *tl, enum grt_group_by by, bool overlaps)
{
	struct grt_table table = overlaps ? grt_overlap_table : grt_gap_table[by];
	uint32_t n = timeline_print_collect(tl, by, overlaps, NULL), shown = n;
	struct found *found = calloc(n + 1, sizeof(*found));
	char title[64];
	int ret;

	if (!found)
		return -ENOMEM;
	timeline_print_collect(tl, by, overlaps, found);
	if (!tl->json) {
		snprintf(title, sizeof(title), "%s, wider than a column", table.title);
		table.title = title;
		qsort(found, n, sizeof(*found), longest_first);
		shown = n < IDLES_SHOWN ? n : IDLES_SHOWN;
	}
	if (n > shown)
		grt_note(&tl->notes, "%" PRIu32 " shorter %s: --json has all", n - shown,
			 overlaps ? grt_overlap_table.title : grt_gap_table[by].title);
	ret = write_found(tl, by, &table, found, shown);
	free(found);
	return ret;
}

/* "None" would be said of what was not looked for. */
static int write_all_idles(struct timeline *tl)
{
	int ret;

	if (!tl->json && (timeline_print_is_sampled(tl) || !grt_timeline_columns(tl->t)))
		return 0;
	ret = write_idles(tl, GRT_BY_RING, false);
	if (!ret)
		ret = write_idles(tl, GRT_BY_PROCESS, false);
	return ret ? ret : write_idles(tl, GRT_BY_RING, true);
}

/* Latencies */

static int most_jobs_first(const void *a, const void *b)
{
	const struct grt_ring_phases *x = *(const struct grt_ring_phases *const *)a;
	const struct grt_ring_phases *y = *(const struct grt_ring_phases *const *)b;

	if (x->jobs != y->jobs)
		return x->jobs < y->jobs ? 1 : -1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->ring > y->ring) - (x->ring < y->ring);
}

static int timeline_print_write_latencies(struct timeline *tl, const struct grt_ring_phases *const *rings,
					  uint32_t n)
{
	struct grt_latency_row row;
	int ret = 0;

	grt_writer_table(tl->writer, &grt_latency_table, timeline_print_names_of(tl));
	for (uint32_t i = 0; i < n && !ret; i++) {
		for (unsigned int k = 0; k < GRT_LATENCIES && !ret; k++) {
			row = grt_latency(rings[i], k);
			ret = grt_writer_row(tl->writer, &row);
		}
	}
	grt_writer_table_end(tl->writer);
	return ret;
}

static int write_powers(struct timeline *tl, const struct grt_ring_phases *const *rings, uint32_t n)
{
	struct grt_power_row power[GRT_HIST_POWERS];
	struct grt_latency_row of;
	int ret = 0;

	grt_writer_table(tl->writer, &grt_power_table, timeline_print_names_of(tl));
	for (uint32_t i = 0; i < n * GRT_LATENCIES && !ret; i++) {
		of = grt_latency(rings[i / GRT_LATENCIES], i % GRT_LATENCIES);
		for (unsigned int k = 0, used = grt_powers(&of, power); k < used && !ret; k++)
			ret = grt_writer_row(tl->writer, &power[k]);
	}
	grt_writer_table_end(tl->writer);
	return ret;
}

static int write_phases(struct timeline *tl)
{
	const struct grt_ring_phases *rings[GRT_PHASES_RINGS_MAX];
	uint32_t n = 0;
	int ret;

	for (const struct grt_ring_phases *r = grt_phases_each(tl->phases, NULL); r;
	     r = grt_phases_each(tl->phases, r))
		rings[n++] = r;
	qsort(rings, n, sizeof(rings[0]), most_jobs_first);
	ret = timeline_print_write_latencies(tl, rings, n);
	if (!ret && tl->json)
		return write_powers(tl, rings, n);
	if (!ret)
		timeline_histograms(tl, rings, n);
	return ret;
}

/* Notes */

static uint64_t unsure_time(const struct timeline *tl)
{
	const struct grt_keyed *rows = grt_timeline_rows(tl->t, GRT_BY_RING);
	uint64_t sum = 0;

	for (struct grt_timeline_row *r = grt_keyed_oldest(rows); r; r = grt_keyed_next(rows, r))
		sum += r->unsure;
	return sum;
}

static void note_drawing(struct timeline *tl)
{
	const struct grt_timeline_count *c = grt_timeline_count(tl->t);
	char unsure[GRT_UNITS_MAX];

	grt_units_ns(unsure, unsure_time(tl));
	if (timeline_print_is_sampled(tl))
		grt_note(&tl->notes, "jobs were sampled: bars show only these jobs, and gaps are not listed");
	if (c->jobs > c->undrawn)
		grt_note(&tl->notes, "busy is the time in which one or more jobs ran: overlaps count once");
	if (c->undrawn)
		grt_note(&tl->notes,
			 "%" PRIu64 " of %" PRIu64
			 " jobs not drawn: START or END is unknown, or END comes before START",
			 c->undrawn, c->jobs);
	if (c->cut)
		grt_note(&tl->notes, "jobs drawn up to the border, because they ran beyond it: %" PRIu64,
			 c->cut);
	if (c->late)
		grt_note(&tl->notes,
			 "jobs that ended long after others that began later: %" PRIu64
			 "; of the rings' busy time at most %s is missing, and overlaps with these jobs",
			 c->late, unsure);
	if (!timeline_span(tl) && c->jobs)
		grt_note(&tl->notes, "all events have the same time: nothing to draw");
}

static void note_selection(struct timeline *tl)
{
	const struct grt_timeline_count *c = grt_timeline_count(tl->t);
	uint64_t over = c->over > grt_phases_over(tl->phases) ? c->over : grt_phases_over(tl->phases);

	if (over)
		grt_note(&tl->notes,
			 "%" PRIu64 " jobs are not in every table (limit of %u rings or processes)", over,
			 GRT_TIMELINE_ROWS_MAX);
	if (tl->ring || tl->by_pid)
		grt_note(
			&tl->notes,
			"bars, gaps and latencies cover the selected jobs only; other jobs may have run in the gaps");
	if (tl->narrowed)
		grt_note(
			&tl->notes,
			"latencies cover whole jobs that run at any time between --from and --to; the balance covers the whole trace");
}

static void timeline_print_write_end(struct timeline *tl)
{
	const struct grt_health *h = grt_session_health(tl->session);

	grt_jobs_notes(&tl->notes, tl->jobs, h);
	if (!tl->latency_only)
		note_drawing(tl);
	note_selection(tl);
	reading_note_health(&tl->notes, h, &tl->span, 0);
	grt_notes_write(&tl->notes, tl->writer);
	if (tl->json) {
		reading_health(tl->writer, h);
		reading_joins(tl->writer, tl->jobs);
	}
	reading_balance(tl->writer, h, 0);
}

int timeline_print(struct timeline *tl)
{
	const struct grt_writer_options o = {.out = stdout, .colour = tl->look.colour};
	int ret = grt_writer_new(&tl->writer, tl->json ? &writer_json : &writer_text, &o);

	if (ret)
		return ret;
	grt_writer_begin(tl->writer);
	timeline_print_write_recording(tl);
	if (!tl->latency_only)
		ret = write_timeline(tl);
	if (!ret && !tl->latency_only)
		ret = write_all_idles(tl);
	if (!ret)
		ret = write_phases(tl);
	if (!ret)
		timeline_print_write_end(tl);
	grt_writer_end(tl->writer);
	return ret;
}
