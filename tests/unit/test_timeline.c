// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs over time: columns, gaps and overlaps against a model that knows for
 * every nanosecond how many jobs ran.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "jobs/phases.h"
#include "jobs/timeline.h"

#define DAY 86400000000000ULL

static uint64_t seed = 88172645463325252ULL;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static struct grt_job make_job(uint64_t seqno, uint64_t from, uint64_t to)
{
	struct grt_job job = {
		.ctx = 5,
		.seqno = seqno,
		.ring = 1,
		.pid = 70,
		.engine = GRT_ENGINE_COPY,
		.seen = 1U << GRT_STAMP_START | 1U << GRT_STAMP_END,
	};

	job.time[GRT_STAMP_START] = from;
	job.time[GRT_STAMP_END] = to;
	return job;
}

static void add(struct grt_timeline *t, uint64_t seqno, uint64_t from, uint64_t to)
{
	struct grt_job job = make_job(seqno, from, to);

	assert_int_equal(grt_timeline_job(t, &job), 0);
}

static struct grt_timeline *begin(uint64_t first, uint64_t last, uint32_t columns)
{
	struct grt_timeline *t;

	assert_int_equal(grt_timeline_new(&t, first, last, columns), 0);
	return t;
}

static const struct grt_timeline_row *only_row(const struct grt_timeline *t, enum grt_group_by by)
{
	const struct grt_keyed *rows = grt_timeline_rows(t, by);

	assert_int_equal(rows->used, 1);
	return grt_keyed_oldest(rows);
}

static uint64_t sum_of(const struct grt_timeline *t, const struct grt_timeline_row *row)
{
	uint64_t sum = 0;

	for (uint32_t c = 0; c < grt_timeline_columns(t); c++)
		sum += row->column[c];
	return sum;
}

/* The model: how many jobs run in each ns from FIRST on. */
#define FIRST 1000
#define SPAN 30000

static uint8_t running[SPAN];

static void model_add(uint64_t from, uint64_t to)
{
	for (uint64_t at = from > FIRST ? from : FIRST; at < to && at < FIRST + SPAN; at++)
		running[at - FIRST]++;
}

static uint64_t model_busy(uint64_t from, uint64_t to)
{
	uint64_t sum = 0;

	for (uint64_t at = from; at < to; at++)
		sum += !!running[at - FIRST];
	return sum;
}

/* Stretches in which @low to @high jobs ran, and that are wider than a column, are those of the list. */
static void check_idles(const struct grt_idles *l, unsigned int low, unsigned int high, uint32_t columns)
{
	uint32_t n = 0;

	for (uint64_t at = 0, end; at < SPAN; at = end) {
		bool in = running[at] >= low && running[at] <= high;

		for (end = at + 1; end < SPAN && (running[end] >= low && running[end] <= high) == in; end++)
			;
		if (!in || (end - at) * columns <= SPAN)
			continue;
		assert_true(n < l->used);
		assert_int_equal(l->at[n].from, FIRST + at);
		assert_int_equal(l->at[n].to, FIRST + end);
		n++;
	}
	assert_int_equal(n, l->used);
}

static void check_exact(const struct grt_timeline *t, const struct grt_timeline_row *row)
{
	uint32_t columns = grt_timeline_columns(t);

	assert_int_equal(grt_timeline_border(t, 0), FIRST);
	assert_int_equal(grt_timeline_border(t, columns), FIRST + SPAN);
	for (uint32_t c = 0; c < columns; c++)
		assert_int_equal(row->column[c],
				 model_busy(grt_timeline_border(t, c), grt_timeline_border(t, c + 1)));
	assert_int_equal(sum_of(t, row), row->busy);
	assert_int_equal(row->busy, model_busy(FIRST, FIRST + SPAN));
	assert_int_equal(row->unsure, 0);
}

/* Jobs of a ring that settle in a wrong order now and then, overlap, and hang over both borders. */
static void add_random_jobs(struct grt_timeline *t, unsigned int jobs, unsigned int density)
{
	memset(running, 0, sizeof(running));
	for (unsigned int i = 0; i < jobs; i++) {
		uint64_t from = FIRST - 200 + i * (SPAN + 400ULL) / jobs + next_random() % density;
		uint64_t to = from + next_random() % (next_random() % 16 ? density : 20 * density);

		if (from > 2 * FIRST && next_random() % 8 == 0)
			from -= next_random() % 400;
		add(t, i, from, to);
		model_add(from, to);
	}
}

static void columns_equal_the_model(void **state)
{
	static const uint32_t columns[] = {1, 7, 50, 80, 999, 4096};
	static const unsigned int density[] = {3, 30, 90, 400};
	struct grt_timeline *t;

	(void)state;
	for (unsigned int i = 0; i < 60; i++) {
		t = begin(FIRST, FIRST + SPAN, columns[i % 6]);
		add_random_jobs(t, 150 + i, density[i % 4]);
		assert_int_equal(grt_timeline_end(t), 0);
		for (unsigned int by = 0; by < GRT_BYS; by++)
			check_exact(t, only_row(t, by));
		check_idles(&only_row(t, GRT_BY_RING)->gaps, 0, 0, columns[i % 6]);
		check_idles(&only_row(t, GRT_BY_PROCESS)->gaps, 0, 0, columns[i % 6]);
		check_idles(&only_row(t, GRT_BY_RING)->overlaps, 2, 255, columns[i % 6]);
		assert_int_equal(grt_timeline_count(t)->late, 0);
		grt_timeline_free(t);
	}
}

/* Many short jobs, then ones that ran all the while: more disjoint stretches than are kept. */
static void late_jobs_are_bounded(void **state)
{
	struct grt_timeline *t;
	const struct grt_timeline_row *row;
	uint64_t busy;

	(void)state;
	for (unsigned int round = 0; round < 40; round++) {
		t = begin(FIRST, FIRST + SPAN, 100);
		memset(running, 0, sizeof(running));
		for (unsigned int i = 0; i < 2000; i++) {
			uint64_t at = FIRST + 14 * i + next_random() % 8;

			/* leave some columns empty, so that there are gaps to be cut */
			if (i / 100 % 3 == 1)
				continue;
			add(t, i, at, at + 4);
			model_add(at, at + 4);
		}
		for (unsigned int i = 0; i < 3; i++) {
			uint64_t from = FIRST + next_random() % 9000, to = from + next_random() % 9000;

			if (round % 4 == 0)
				to = FIRST + SPAN - next_random() % 3000;
			add(t, 9000 + i, from, to);
			model_add(from, to);
		}
		assert_int_equal(grt_timeline_end(t), 0);
		row = only_row(t, GRT_BY_RING);
		busy = model_busy(FIRST, FIRST + SPAN);
		assert_int_equal(row->late, 3);
		assert_int_equal(grt_timeline_count(t)->late, 3);
		assert_int_equal(sum_of(t, row), row->busy);
		assert_true(row->busy <= busy && busy <= row->busy + row->unsure);
		/* at most two columns of 300 ns each are not sure */
		assert_true(row->unsure <= 3 * 2 * 300);
		check_idles(&row->gaps, 0, 0, 100);
		grt_timeline_free(t);
	}
}

static void late_job_over_whole_columns_is_exact(void **state)
{
	struct grt_timeline *t = begin(FIRST, FIRST + SPAN, 100);

	(void)state;
	memset(running, 0, sizeof(running));
	for (unsigned int i = 0; i < 3000; i++) {
		add(t, i, FIRST + 10 * i, FIRST + 10 * i + 3);
		model_add(FIRST + 10 * i, FIRST + 10 * i + 3);
	}
	add(t, 9000, FIRST + 300, FIRST + SPAN);
	model_add(FIRST + 300, FIRST + SPAN);
	assert_int_equal(grt_timeline_end(t), 0);
	assert_int_equal(only_row(t, GRT_BY_RING)->late, 1);
	check_exact(t, only_row(t, GRT_BY_RING));
	grt_timeline_free(t);
}

static void jobs_are_cut_at_the_borders(void **state)
{
	struct grt_timeline *t = begin(1000, 2000, 10);
	const struct grt_timeline_row *row;

	(void)state;
	add(t, 1, 0, 1000); /* touches the first ns only */
	add(t, 2, 500, 1100);
	add(t, 3, 1950, UINT64_MAX);
	add(t, 4, 2001, 3000); /* not at all */
	add(t, 5, 10, 999);
	assert_int_equal(grt_timeline_end(t), 0);
	row = only_row(t, GRT_BY_RING);
	assert_int_equal(row->jobs, 3);
	assert_int_equal(row->busy, 150);
	assert_int_equal(row->column[0], 100);
	assert_int_equal(row->column[9], 50);
	assert_int_equal(row->cut, 2);
	assert_int_equal(grt_timeline_count(t)->cut, 2);
	assert_int_equal(grt_timeline_count(t)->outside, 2);
	assert_int_equal(grt_timeline_count(t)->jobs, 3);
	grt_timeline_free(t);

	/* longer than the span */
	t = begin(1000, 2000, 10);
	add(t, 1, 0, UINT64_MAX);
	assert_int_equal(grt_timeline_end(t), 0);
	assert_int_equal(only_row(t, GRT_BY_RING)->busy, 1000);
	assert_int_equal(only_row(t, GRT_BY_RING)->gaps.used, 0);
	grt_timeline_free(t);
}

static void spans_of_any_length(void **state)
{
	static const struct {
		uint64_t first, last;
		uint32_t columns;
	} span[] = {{0, 0, 0},		 {UINT64_MAX, UINT64_MAX, 0}, {7, 8, 1},
		    {100, 103, 3},	 {0, 30 * DAY, 80},	      {0, UINT64_MAX, 80},
		    {DAY, DAY + 80, 80}, {DAY, DAY + 81, 80},	      {UINT64_MAX - 1000, UINT64_MAX, 80}};
	struct grt_timeline *t;
	uint64_t at, length;

	(void)state;
	for (unsigned int i = 0; i < sizeof(span) / sizeof(span[0]); i++) {
		length = span[i].last - span[i].first;
		t = begin(span[i].first, span[i].last, 80);
		assert_int_equal(grt_timeline_columns(t), span[i].columns);
		for (uint64_t k = 0; k < 50; k++) {
			at = span[i].first + length / 50 * k;
			add(t, k, at, at + length / 100);
		}
		add(t, 99, span[i].first, span[i].last);
		assert_int_equal(grt_timeline_end(t), 0);
		assert_int_equal(only_row(t, GRT_BY_RING)->busy, length);
		assert_int_equal(sum_of(t, only_row(t, GRT_BY_RING)), length);
		assert_int_equal(only_row(t, GRT_BY_RING)->gaps.used, 0);
		grt_timeline_free(t);
	}
	/* a span that ends before it begins is one of its first ns */
	t = begin(10, 5, 80);
	assert_int_equal(grt_timeline_columns(t), 0);
	grt_timeline_free(t);
}

static void jobs_without_both_ends_are_not_drawn(void **state)
{
	struct grt_timeline *t = begin(0, 1000, 10);
	struct grt_job job = make_job(1, 100, 200);

	(void)state;
	job.seen = 1U << GRT_STAMP_END;
	assert_int_equal(grt_timeline_job(t, &job), 0);
	job.seen = 1U << GRT_STAMP_START;
	assert_int_equal(grt_timeline_job(t, &job), 0);
	add(t, 2, 300, 200);
	assert_int_equal(grt_timeline_end(t), 0);
	assert_int_equal(only_row(t, GRT_BY_RING)->jobs, 3);
	assert_int_equal(only_row(t, GRT_BY_RING)->drawn, 0);
	assert_int_equal(only_row(t, GRT_BY_RING)->busy, 0);
	/* nothing is known of when it was idle */
	assert_int_equal(only_row(t, GRT_BY_RING)->gaps.used, 0);
	assert_int_equal(grt_timeline_count(t)->undrawn, 3);
	grt_timeline_free(t);
}

static void held_jobs_count_once(void **state)
{
	struct grt_timeline *t = begin(0, 1000, 10);
	struct grt_job job = make_job(1, 100, 200);

	(void)state;
	job.held = true;
	assert_int_equal(grt_timeline_held(t, &job), 0);
	add(t, 2, 150, 300);
	assert_int_equal(grt_timeline_job(t, &job), 0);
	assert_int_equal(grt_timeline_end(t), 0);
	assert_int_equal(only_row(t, GRT_BY_RING)->jobs, 2);
	assert_int_equal(only_row(t, GRT_BY_RING)->drawn, 2);
	assert_int_equal(only_row(t, GRT_BY_RING)->busy, 200);
	grt_timeline_free(t);
}

static void check_idle(const struct grt_idle *g, uint64_t from, uint64_t to, uint64_t first, uint64_t last)
{
	assert_int_equal(g->from, from);
	assert_int_equal(g->to, to);
	assert_int_equal(g->first.ctx ? g->first.seqno : 0, first);
	assert_int_equal(g->last.ctx ? g->last.seqno : 0, last);
}

static void owners_of_gaps_and_overlaps(void **state)
{
	struct grt_timeline *t = begin(0, 1000, 10);
	const struct grt_timeline_row *row;

	(void)state;
	add(t, 1, 101, 300);
	add(t, 2, 150, 200);
	add(t, 3, 400, 500); /* exactly a column after the one before: not wider */
	add(t, 5, 650, 800);
	add(t, 4, 601, 850); /* settled after a job that began later */
	assert_int_equal(grt_timeline_end(t), 0);
	row = only_row(t, GRT_BY_RING);
	assert_int_equal(row->gaps.used, 3);
	check_idle(&row->gaps.at[0], 0, 101, 0, 1);
	check_idle(&row->gaps.at[1], 500, 601, 3, 4);
	check_idle(&row->gaps.at[2], 850, 1000, 4, 0);
	assert_int_equal(row->overlaps.used, 1);
	check_idle(&row->overlaps.at[0], 650, 800, 4, 5);
	/* of other rings at the same time the process says nothing */
	assert_int_equal(only_row(t, GRT_BY_PROCESS)->overlaps.used, 0);
	assert_int_equal(only_row(t, GRT_BY_PROCESS)->gaps.used, 3);
	assert_int_equal(only_row(t, GRT_BY_ENGINE)->gaps.used, 0);
	grt_timeline_free(t);
}

static void an_overlap_is_of_the_jobs_that_began_it(void **state)
{
	struct grt_timeline *t = begin(0, 1000, 10);
	const struct grt_timeline_row *row;

	(void)state;
	add(t, 1, 0, 300);
	add(t, 2, 100, 400);
	add(t, 3, 250, 500);
	assert_int_equal(grt_timeline_end(t), 0);
	row = only_row(t, GRT_BY_RING);
	assert_int_equal(row->overlaps.used, 1);
	check_idle(&row->overlaps.at[0], 100, 400, 1, 2);
	grt_timeline_free(t);

	/* so many jobs ago that the other one is not known */
	t = begin(0, 1000, 10);
	add(t, 1, 0, 500);
	for (unsigned int i = 0; i < GRT_TIMELINE_RECENT; i++)
		add(t, 10 + i, 900, 901);
	add(t, 4, 100, 600);
	assert_int_equal(grt_timeline_end(t), 0);
	row = only_row(t, GRT_BY_RING);
	assert_int_equal(row->overlaps.used, 1);
	check_idle(&row->overlaps.at[0], 100, 500, 0, 4);
	grt_timeline_free(t);
}

static void a_late_job_cuts_gaps(void **state)
{
	struct grt_timeline *t = begin(0, 1000000, 10);
	const struct grt_timeline_row *row;

	(void)state;
	add(t, 1, 0, 10);
	for (unsigned int i = 0; i < 1000; i++)
		add(t, 10 + i, 600000 + 10 * i, 600000 + 10 * i + 5);
	/* inside of the gap, and one that makes its rest too narrow */
	add(t, 2, 200000, 300000);
	add(t, 3, 350000, 590000);
	assert_int_equal(grt_timeline_end(t), 0);
	row = only_row(t, GRT_BY_RING);
	assert_int_equal(row->late, 2);
	assert_int_equal(row->gaps.used, 2);
	check_idle(&row->gaps.at[0], 10, 200000, 1, 2);
	check_idle(&row->gaps.at[1], 609995, 1000000, 1009, 0);
	grt_timeline_free(t);
}

static void rows_are_bounded(void **state)
{
	struct grt_timeline *t = begin(0, 1000, 10);
	struct grt_job job;

	(void)state;
	for (unsigned int i = 0; i < GRT_TIMELINE_ROWS_MAX + 5; i++) {
		job = make_job(i, 0, 500);
		job.ring = i;
		job.pid = i + 1;
		assert_int_equal(grt_timeline_job(t, &job), 0);
	}
	assert_int_equal(grt_timeline_end(t), 0);
	assert_int_equal(grt_timeline_rows(t, GRT_BY_RING)->used, GRT_TIMELINE_ROWS_MAX);
	assert_int_equal(grt_timeline_count(t)->over, 5);
	assert_int_equal(only_row(t, GRT_BY_ENGINE)->busy, 500);
	assert_int_equal(only_row(t, GRT_BY_ENGINE)->jobs, GRT_TIMELINE_ROWS_MAX + 5);
	grt_timeline_free(t);
}

static void no_columns_were_wanted(void **state)
{
	struct grt_timeline *t = begin(0, 1000, 0);

	(void)state;
	add(t, 1, 100, 200);
	assert_int_equal(grt_timeline_end(t), 0);
	assert_null(only_row(t, GRT_BY_RING)->column);
	assert_int_equal(only_row(t, GRT_BY_RING)->jobs, 1);
	grt_timeline_free(t);
}

static void powers_of_two(void **state)
{
	uint64_t weight[GRT_HIST_POWERS], want[GRT_HIST_POWERS] = {0}, value;
	struct grt_hist h = {.weight = 0};
	uint32_t budget = 100;

	(void)state;
	assert_false(grt_hist_powers(&h, weight));
	for (unsigned int n = 0; n < GRT_HIST_POWERS; n++) {
		/* the least and the greatest of each, and some between */
		for (unsigned int i = 0; i < 6; i++) {
			value = n ? 1ULL << (n - 1) : 0;
			if (n && i)
				value |= i == 1 ? value - 1 : next_random() % value;
			grt_hist_add(&h, value, GRT_WEIGHT_ONE, false, &budget);
			want[n] += GRT_WEIGHT_ONE;
		}
	}
	assert_true(grt_hist_powers(&h, weight));
	assert_memory_equal(weight, want, sizeof(want));
	grt_hist_free(&h);
}

static void waits_are_a_phase(void **state)
{
	struct grt_phases *p;
	struct grt_job job = make_job(1, 100, 200);
	uint64_t ns;

	(void)state;
	assert_int_equal(grt_phases_new(&p, 0), 0);
	assert_int_equal(grt_phases_job(p, &job), 0);
	assert_int_equal(grt_phases_each(p, NULL)->gpu_wait.weight, 0);
	job.waits = 2;
	job.wait_ns = 77;
	assert_int_equal(grt_phases_job(p, &job), 0);
	job.cut_waits = true;
	assert_int_equal(grt_phases_job(p, &job), 0);
	assert_true(grt_hist_percentile(&grt_phases_each(p, NULL)->gpu_wait, 500, &ns));
	assert_int_equal(ns, 77);
	assert_int_equal(grt_weight_count(grt_phases_each(p, NULL)->gpu_wait.weight), 1);
	grt_phases_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_equal_the_model),
		cmocka_unit_test(late_jobs_are_bounded),
		cmocka_unit_test(late_job_over_whole_columns_is_exact),
		cmocka_unit_test(jobs_are_cut_at_the_borders),
		cmocka_unit_test(spans_of_any_length),
		cmocka_unit_test(jobs_without_both_ends_are_not_drawn),
		cmocka_unit_test(held_jobs_count_once),
		cmocka_unit_test(owners_of_gaps_and_overlaps),
		cmocka_unit_test(an_overlap_is_of_the_jobs_that_began_it),
		cmocka_unit_test(a_late_job_cuts_gaps),
		cmocka_unit_test(rows_are_bounded),
		cmocka_unit_test(no_columns_were_wanted),
		cmocka_unit_test(powers_of_two),
		cmocka_unit_test(waits_are_a_phase),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
