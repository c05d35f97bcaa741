// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs that a source has summed up: the same numbers in every stretch of time as from a record of each job,
 * and the same buckets as histograms have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/hist.h"
#include "idle/gpu_processes.h"
#include "jobs/groups.h"
#include "jobs/jobs.h"
#include "sources/bpf/shared.h"

#define JOBS 3000
#define PROCESSES 3
#define STEP 40000
#define START_INFERRED (1U << GRT_STAMP_START)

static void cells_are_those_of_histograms(void **state)
{
	(void)state;
	for (unsigned int shift = 0; shift < 64; shift++)
		for (int i = 0; i < 2000; i++) {
			uint64_t ns = ((uint64_t)1 << shift) +
				      (i < 5 ? (uint64_t)i - 2 : (uint64_t)rand() % (1ULL << shift));
			struct grt_hist_value v = grt_hist_value(ns, 1, false);

			assert_int_equal(grt_bpf_sum_cell(ns),
					 v.octave < BPF_SUM_OCTAVES ? v.octave * GRT_HIST_BUCKETS + v.bucket
								    : BPF_SUM_CELLS);
		}
	assert_int_equal(grt_bpf_sum_cell(0), 0);
}

/** struct view - what one form of the jobs gives in a stretch of time */
struct view {
	struct grt_jobs *jobs;
	struct grt_groups *groups;
	struct grt_gpu_processes *shares;
	uint64_t done;
	uint64_t to;
};

static int view_job(void *arg, const struct grt_job *job)
{
	struct view *v = arg;

	v->done++;
	return grt_groups_queue(v->groups, job) ?: grt_gpu_processes_job(v->shares, job);
}

static int view_running(void *arg, const struct grt_job *job)
{
	struct view *v = arg;

	return grt_gpu_processes_running(v->shares, job, v->to);
}

static void view_next(struct view *v, uint64_t from)
{
	grt_groups_free(v->groups);
	assert_int_equal(grt_groups_new(&v->groups, 1U << GRT_BY_RING | 1U << GRT_BY_PROCESS), 0);
	assert_int_equal(grt_gpu_processes_next(v->shares, from), 0);
	v->done = 0;
}

static void view_begin(struct view *v)
{
	const struct grt_jobs_sink sink = {.job = view_job, .arg = v};

	memset(v, 0, sizeof(*v));
	assert_int_equal(grt_jobs_new(&v->jobs, &sink, NULL), 0);
	assert_int_equal(grt_gpu_processes_new(&v->shares, GRT_GPU_BY_PROCESS, true), 0);
	view_next(v, 1);
}

static void view_end(struct view *v)
{
	grt_groups_free(v->groups);
	grt_gpu_processes_free(v->shares);
	grt_jobs_free(v->jobs);
}

static void view_sum(struct view *v, uint64_t from, uint64_t to)
{
	const struct grt_pass pass = {.first = from, .last = to, .known = true};

	v->to = to;
	assert_int_equal(grt_jobs_settle(v->jobs, UINT64_MAX), 0);
	assert_int_equal(grt_jobs_each_running(v->jobs, view_running, v), 0);
	assert_int_equal(grt_gpu_processes_finish(v->shares, &pass), 0);
}

/* Jobs of some processes on one ring, in its order: some are submitted long before they run. */
static void make_jobs(struct grt_ev_job *job)
{
	uint64_t t = 1000, end = 0;

	for (uint32_t i = 0; i < JOBS; i++) {
		struct grt_ev_job *r = &job[i];
		uint64_t length = rand() % 200 ? 100 + (uint64_t)rand() % 3000 : 90000;

		t += (uint64_t)rand() % 6000;
		*r = (struct grt_ev_job){
			.e = {.type = GRT_EV_JOB,
			      .size = sizeof(*r),
			      .flags = GRT_FLAG_BPF,
			      .ctx = 5,
			      .seqno = i + 1,
			      .ring = 3,
			      .pid = 70 + (uint32_t)rand() % PROCESSES,
			      .engine = 1},
			.submit = t - (uint64_t)rand() % 900,
			.commit = t,
		};
		r->e.tid = r->e.pid;
		r->start = t > end ? t : end;
		r->end = end = r->start + length;
		r->complete = r->end + 1;
		r->e.time = r->complete;
	}
}

/* What BPF programs report of a job at its end: they know its START only where they keep sums. */
static void give(struct view *v, const struct grt_ev_job *job, bool knows_start)
{
	struct grt_ev_job r = *job;

	r.start = knows_start ? r.start : 0;
	r.inferred = knows_start ? START_INFERRED : 0;
	assert_int_equal(grt_jobs_event(v->jobs, &r.e), 0);
}

/* And of one that is in flight. */
static void give_running(struct view *v, const struct grt_ev_job *job, uint64_t at)
{
	struct grt_ev_job r = *job;

	if (r.submit >= at || r.complete < at)
		return;
	r.e.time = at - 1;
	r.start = r.complete = 0;
	r.commit = r.commit < at ? r.commit : 0;
	r.end = r.end < at ? r.end : 0;
	assert_int_equal(grt_jobs_event(v->jobs, &r.e), 0);
}

struct sums {
	struct grt_job_sums s;
	uint32_t exec[BPF_SUM_CELLS];
	uint32_t queue[BPF_SUM_CELLS];
};

static void count(struct grt_hist_counts *c, uint32_t *cell, uint64_t ns, bool first)
{
	uint32_t at = grt_bpf_sum_cell(ns);

	cell[at]++;
	c->used |= 1ULL << at / BPF_SUM_BUCKETS;
	c->sum += ns;
	c->min = first || ns < c->min ? ns : c->min;
	c->max = ns > c->max ? ns : c->max;
}

static void add(struct sums *sum, const struct grt_ev_job *job)
{
	struct grt_job_sums *s = &sum->s;

	s->ring = job->e.ring;
	s->pid = s->tid = job->e.pid;
	s->engine = job->e.engine;
	s->exec.bucket = sum->exec;
	s->queue.bucket = sum->queue;
	s->exec.octaves = s->queue.octaves = BPF_SUM_OCTAVES;
	s->exec.inferred = s->queue.inferred = true;
	count(&s->exec, sum->exec, job->end - job->start, !s->timed);
	count(&s->queue, sum->queue, job->start - job->commit, !s->timed);
	s->timed++;
	s->last_end = job->end > s->last_end ? job->end : s->last_end;
	s->last_commit = job->commit > s->last_commit ? job->commit : s->last_commit;
}

/* Gives the jobs of a stretch to both. Return: how many were in sums */
static uint64_t give_stretch(struct view *records, struct view *sums, const struct grt_ev_job *job,
			     uint64_t from, uint64_t to)
{
	struct sums *sum = calloc(PROCESSES, sizeof(*sum));
	uint64_t summed = 0;

	for (const struct grt_ev_job *r = job; r < job + JOBS; r++) {
		if (r->complete < from || r->complete >= to)
			continue;
		give(records, r, false);
		if (r->submit < from) {
			give(sums, r, true);
			continue;
		}
		add(&sum[r->e.pid - 70], r);
		summed++;
	}
	for (const struct grt_ev_job *r = job; r < job + JOBS; r++) {
		give_running(records, r, to);
		give_running(sums, r, to);
	}
	for (unsigned int i = 0; i < PROCESSES; i++) {
		if (!sum[i].s.timed)
			continue;
		sums->done += sum[i].s.timed;
		assert_int_equal(grt_groups_queue_sums(sums->groups, &sum[i].s), 0);
		assert_int_equal(grt_gpu_processes_sums(sums->shares, &sum[i].s), 0);
		assert_int_equal(grt_jobs_ended(sums->jobs, &sum[i].s), 0);
	}
	free(sum);
	return summed;
}

static void same_hist(const struct grt_hist *a, const struct grt_hist *b)
{
	uint64_t x, y;

	assert_int_equal(a->weight, b->weight);
	assert_int_equal(grt_hist_sum(a), grt_hist_sum(b));
	assert_int_equal(a->min, b->min);
	assert_int_equal(a->max, b->max);
	for (unsigned int permille = 0; a->weight && permille <= 1000; permille += 10) {
		assert_true(grt_hist_percentile(a, permille, &x) && grt_hist_percentile(b, permille, &y));
		assert_int_equal(x, y);
	}
}

static const struct grt_group *group_of(const struct view *v, enum grt_group_by by, uint32_t pid)
{
	const struct grt_group *g;

	for (uint32_t i = 0; (g = grt_groups_get(v->groups, by, i)); i++)
		if (by == GRT_BY_RING || g->pid == pid)
			return g;
	return NULL;
}

static void same_group(const struct view *a, const struct view *b, enum grt_group_by by, uint32_t pid)
{
	const struct grt_group *x = group_of(a, by, pid), *y = group_of(b, by, pid);

	assert_int_equal(!x, !y);
	if (x)
		same_hist(&x->queue, &y->queue);
}

static const struct grt_gpu_process *row_of(const struct view *v, uint32_t pid)
{
	const struct grt_gpu_process *o = grt_keyed_oldest(&v->shares->rows);

	while (o && (o->pid != pid || (!pid && o->kind != GRT_GPU_NOBODY)))
		o = grt_keyed_next(&v->shares->rows, o);
	return o;
}

static void same_row(const struct view *a, const struct view *b, uint32_t pid)
{
	const struct grt_gpu_process *x = row_of(a, pid), *y = row_of(b, pid);

	assert_int_equal(!x, !y);
	if (!x)
		return;
	assert_int_equal(x->residency, y->residency);
	assert_int_equal(x->came, y->came);
	assert_int_equal(x->least, y->least);
	same_hist(&x->whole, &y->whole);
}

static void same_views(const struct view *a, const struct view *b)
{
	const struct grt_gpu_place *x = grt_keyed_oldest(&a->shares->places),
				   *y = grt_keyed_oldest(&b->shares->places);

	assert_int_equal(a->done, b->done);
	assert_int_equal(!x, !y);
	if (!x)
		return;
	assert_int_equal(x->timed, y->timed);
	assert_int_equal(x->untimed, y->untimed);
	assert_int_equal(grt_busy_sum(&x->busy), grt_busy_sum(&y->busy));
	same_group(a, b, GRT_BY_RING, 0);
	for (uint32_t pid = 70; pid < 70 + PROCESSES; pid++) {
		same_group(a, b, GRT_BY_PROCESS, pid);
		same_row(a, b, pid);
	}
	same_row(a, b, 0);
}

static void sums_equal_records(void **state)
{
	struct grt_ev_job *job = calloc(JOBS, sizeof(*job));
	uint64_t summed = 0, all = 0;
	struct view records, sums;

	(void)state;
	make_jobs(job);
	view_begin(&records);
	view_begin(&sums);
	for (uint64_t from = 1; from < job[JOBS - 1].complete; from += STEP) {
		summed += give_stretch(&records, &sums, job, from, from + STEP);
		view_sum(&records, from, from + STEP);
		view_sum(&sums, from, from + STEP);
		same_views(&records, &sums);
		all += records.done;
		view_next(&records, from + STEP);
		view_next(&sums, from + STEP);
	}
	assert_int_equal(all, JOBS);
	assert_true(summed > JOBS / 2 && summed < JOBS);
	view_end(&records);
	view_end(&sums);
	free(job);
}

static void jobs_without_time_are_counted(void **state)
{
	const struct grt_job_sums s = {.ring = 3, .pid = 70, .untimed = 5};
	const struct grt_gpu_place *ring;
	struct view v;

	(void)state;
	view_begin(&v);
	assert_int_equal(grt_groups_queue_sums(v.groups, &s), 0);
	assert_int_equal(grt_gpu_processes_sums(v.shares, &s), 0);
	assert_int_equal(grt_jobs_ended(v.jobs, &s), 0);
	ring = grt_keyed_oldest(&v.shares->places);
	assert_non_null(ring);
	assert_int_equal(ring->untimed, 5);
	assert_int_equal(ring->timed, 0);
	assert_null(row_of(&v, 70));
	view_end(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_are_those_of_histograms),
		cmocka_unit_test(sums_equal_records),
		cmocka_unit_test(jobs_without_time_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
