// SPDX-License-Identifier: GPL-2.0
/*
 * The join of events into jobs: each rule with events made by hand and the ns
 * that follow from them, and random sets of jobs against a join that looks
 * through all events for each job. Sessions and files are not part of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codes/firmware.h"
#include "jobs/groups.h"
#include "jobs/jobs.h"
#include "jobs/top.h"
#include "trace/job_record.h"

#define ABSENT UINT64_MAX

struct fixture {
	struct grt_jobs *jobs;
	struct grt_groups *groups;
	struct grt_job *out;
	size_t n;
	size_t room;
	size_t held;
	int stop_with;
};

static int take_job(void *arg, const struct grt_job *job)
{
	struct fixture *f = arg;

	if (f->n == f->room) {
		f->room = f->room ? 2 * f->room : 64;
		f->out = realloc(f->out, f->room * sizeof(*f->out));
		assert_non_null(f->out);
	}
	f->out[f->n++] = *job;
	return grt_groups_job(f->groups, job) ?: f->stop_with;
}

static int take_held(void *arg, const struct grt_job *job)
{
	struct fixture *f = arg;

	f->held++;
	return grt_groups_held(f->groups, job);
}

static int take_stray(void *arg, const struct grt_event *e)
{
	struct fixture *f = arg;

	return grt_groups_stray(f->groups, e,
				grt_names_find(grt_jobs_names(f->jobs), GRT_NAME_THREAD, e->tid));
}

static void begin(struct fixture *f, const struct grt_jobs_limits *limits)
{
	const struct grt_jobs_sink sink = {.job = take_job, .held = take_held, .stray = take_stray, .arg = f};

	grt_jobs_free(f->jobs);
	grt_groups_free(f->groups);
	f->n = f->held = 0;
	assert_int_equal(grt_groups_new(&f->groups, 7), 0);
	assert_int_equal(grt_jobs_new(&f->jobs, &sink, limits), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	begin(f, NULL);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	grt_jobs_free(f->jobs);
	grt_groups_free(f->groups);
	free(f->out);
	free(f);
	return 0;
}

enum {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) type_##name = (id),
#include <grtrace/events.def>
#undef GRT_EVENT
};

#define EVENT(evt, stamp, context, seq, ...)                            \
	(&((struct grt_ev_##evt){.e.type = type_##evt,                  \
				 .e.size = sizeof(struct grt_ev_##evt), \
				 .e.time = (stamp),                     \
				 .e.ctx = (context),                    \
				 .e.seqno = (seq),                      \
				 ##__VA_ARGS__})                        \
		  .e)

#define GIVE_OF(evt, stamp, context, seq, ...) \
	assert_int_equal(grt_jobs_event(f->jobs, EVENT(evt, stamp, context, seq, ##__VA_ARGS__)), 0)

/* An event of job (5, seq) on ring 0 of device 0, unless told otherwise. */
#define GIVE(evt, stamp, seq, ...) GIVE_OF(evt, stamp, 5, seq, ##__VA_ARGS__)

static void flush(struct fixture *f)
{
	assert_int_equal(grt_jobs_flush(f->jobs), 0);
}

static const struct grt_job *find(const struct fixture *f, uint64_t ctx, uint64_t seqno)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->out[i].ctx == ctx && f->out[i].seqno == seqno)
			return &f->out[i];
	fail_msg("no job %llu:%llu", (unsigned long long)ctx, (unsigned long long)seqno);
	return NULL;
}

static uint64_t phase(const struct grt_job *job, enum grt_phase p)
{
	bool inferred;
	uint64_t ns;

	return grt_job_phase(job, p, &ns, &inferred) ? ns : ABSENT;
}

static bool phase_inferred(const struct grt_job *job, enum grt_phase p)
{
	bool inferred;
	uint64_t ns;

	return grt_job_phase(job, p, &ns, &inferred) && inferred;
}

static void expect(const struct fixture *f, uint64_t seqno, uint64_t sched, uint64_t queue, uint64_t exec,
		   uint64_t complete)
{
	const struct grt_job *job = find(f, 5, seqno);

	assert_int_equal(phase(job, GRT_PHASE_SCHED), sched);
	assert_int_equal(phase(job, GRT_PHASE_QUEUE), queue);
	assert_int_equal(phase(job, GRT_PHASE_EXEC), exec);
	assert_int_equal(phase(job, GRT_PHASE_COMPLETE), complete);
}

static struct grt_jobs_count counts(const struct fixture *f)
{
	return grt_jobs_count(f->jobs);
}

static void all_five_stamps(void **state)
{
	struct fixture *f = *state;
	const struct grt_job *job;

	GIVE(submit, 1000, 1, .e.pid = 70, .e.tid = 71, .e.engine = 2, .cmd = 0x207, .hw_ctx = 9);
	GIVE(commit, 1300, 1, .e.pid = 70);
	GIVE(start, 1700, 1);
	GIVE(end, 9700, 1);
	GIVE(complete, 9750, 1, .status = 0);
	assert_int_equal(f->n, 0);
	flush(f);
	assert_int_equal(f->n, 1);
	expect(f, 1, 300, 400, 8000, 50);
	job = &f->out[0];
	assert_int_equal(job->inferred, 0);
	assert_int_equal(job->pid, 70);
	assert_int_equal(job->tid, 71);
	assert_int_equal(job->engine, 2);
	assert_int_equal(job->cmd, 0x207);
	assert_int_equal(job->hw_ctx, 9);
	assert_false(job->failed);
	assert_int_equal(counts(f).incomplete, 0);
	assert_int_equal(counts(f).jobs, 1);
}

static void submit_that_is_also_the_commit(void **state)
{
	struct fixture *f = *state;

	GIVE(submit, 1000, 1, .e.flags = GRT_FLAG_COMMIT);
	GIVE(end, 4000, 1);
	GIVE(complete, 4100, 1);
	flush(f);
	expect(f, 1, 0, 0, 3000, 100);
	assert_true(phase_inferred(&f->out[0], GRT_PHASE_SCHED));
	assert_true(phase_inferred(&f->out[0], GRT_PHASE_QUEUE));
	assert_true(phase_inferred(&f->out[0], GRT_PHASE_EXEC));
	assert_false(phase_inferred(&f->out[0], GRT_PHASE_COMPLETE));
}

static void an_observed_commit_beats_a_concluded_one(void **state)
{
	struct fixture *f = *state;

	GIVE(submit, 1000, 1, .e.flags = GRT_FLAG_COMMIT);
	GIVE(commit, 1200, 1);
	GIVE(commit, 1900, 1);
	GIVE(complete, 4100, 1);
	flush(f);
	assert_int_equal(phase(&f->out[0], GRT_PHASE_SCHED), 200);
	assert_false(phase_inferred(&f->out[0], GRT_PHASE_SCHED));
	assert_int_equal(counts(f).repeated, 1);
}

static void a_job_of_two_sources_is_one_job(void **state)
{
	struct fixture *f = *state;

	GIVE(submit, 1000, 1);
	GIVE(submit, 1010, 1, .e.flags = GRT_FLAG_BPF);
	GIVE(commit, 1200, 1);
	GIVE(sync_wait_enter, 1300, 1, .e.tid = 7);
	GIVE(sync_wait_enter, 1310, 1, .e.tid = 7, .e.flags = GRT_FLAG_BPF);
	GIVE(end, 4000, 1);
	GIVE(end, 4010, 1, .e.flags = GRT_FLAG_BPF);
	GIVE(sync_wait_exit, 4020, 1, .e.tid = 7);
	GIVE(sync_wait_exit, 4030, 1, .e.tid = 7, .e.flags = GRT_FLAG_BPF);
	GIVE(complete, 4100, 1);
	GIVE(complete, 4110, 1, .e.flags = GRT_FLAG_BPF);
	flush(f);
	assert_int_equal(phase(&f->out[0], GRT_PHASE_COMPLETE), 100);
	assert_int_equal(f->out[0].wait_ns, 2720);
	assert_int_equal(counts(f).duplicates, 5);
	assert_int_equal(counts(f).reused + counts(f).repeated + counts(f).half_waits, 0);
}

static void an_inferred_event_stays_inferred(void **state)
{
	struct fixture *f = *state;

	GIVE(submit, 1000, 1);
	GIVE(commit, 1200, 1, .e.flags = GRT_FLAG_INFERRED);
	GIVE(start, 1500, 1);
	GIVE(end, 1800, 1);
	flush(f);
	assert_true(phase_inferred(&f->out[0], GRT_PHASE_SCHED));
	assert_true(phase_inferred(&f->out[0], GRT_PHASE_QUEUE));
	assert_false(phase_inferred(&f->out[0], GRT_PHASE_EXEC));
}

static void start_follows_the_ring(void **state)
{
	struct fixture *f = *state;

	/* three jobs queued at once, then one to an idle ring */
	GIVE(submit, 1000, 1, .e.flags = GRT_FLAG_COMMIT);
	GIVE(submit, 1100, 2, .e.flags = GRT_FLAG_COMMIT);
	GIVE(submit, 1200, 3, .e.flags = GRT_FLAG_COMMIT);
	GIVE(end, 5000, 1);
	GIVE(complete, 5001, 1);
	GIVE(end, 7000, 2);
	GIVE(complete, 7001, 2);
	GIVE(end, 7500, 3);
	GIVE(complete, 7501, 3);
	GIVE(submit, 9000, 4, .e.flags = GRT_FLAG_COMMIT);
	GIVE(end, 9900, 4);
	GIVE(complete, 9901, 4);
	flush(f);
	expect(f, 1, 0, 0, 4000, 1);
	expect(f, 2, 0, 3900, 2000, 1);
	expect(f, 3, 0, 5800, 500, 1);
	expect(f, 4, 0, 0, 900, 1);
	assert_int_equal(counts(f).inferred_start, 4);
}

static void rings_and_devices_do_not_mix(void **state)
{
	struct fixture *f = *state;

	GIVE(submit, 1000, 1, .e.flags = GRT_FLAG_COMMIT);
	GIVE(submit, 1000, 2, .e.flags = GRT_FLAG_COMMIT, .e.ring = 1);
	GIVE(submit, 1000, 3, .e.flags = GRT_FLAG_COMMIT, .e.device = 2);
	GIVE(end, 3000, 1);
	GIVE(end, 4000, 2, .e.ring = 1);
	GIVE(end, 5000, 3, .e.device = 2);
	flush(f);
	assert_int_equal(phase(find(f, 5, 1), GRT_PHASE_EXEC), 2000);
	assert_int_equal(phase(find(f, 5, 2), GRT_PHASE_EXEC), 3000);
	assert_int_equal(phase(find(f, 5, 3), GRT_PHASE_EXEC), 4000);
}

static void the_job_before_may_be_only_half_in_the_trace(void **state)
{
	struct fixture *f = *state;

	GIVE(submit, 1000, 2, .e.flags = GRT_FLAG_COMMIT);
	GIVE(end, 3000, 1);
	GIVE(complete, 3001, 1);
	GIVE(end, 3500, 2);
	GIVE(complete, 3501, 2);
	flush(f);
	assert_int_equal(phase(find(f, 5, 2), GRT_PHASE_QUEUE), 2000);
	assert_int_equal(phase(find(f, 5, 2), GRT_PHASE_EXEC), 500);
	assert_int_equal(phase(find(f, 5, 1), GRT_PHASE_EXEC), ABSENT);
	assert_int_equal(phase(find(f, 5, 1), GRT_PHASE_COMPLETE), 1);
	assert_int_equal(counts(f).no_submit, 1);
	assert_int_equal(counts(f).incomplete, 1);
}

static void an_observed_start_is_kept(void **state)
{
	struct fixture *f = *state;

	GIVE(submit, 1000, 1, .e.flags = GRT_FLAG_COMMIT);
	GIVE(submit, 1000, 2, .e.flags = GRT_FLAG_COMMIT);
	GIVE(start, 1500, 1);
	GIVE(start, 1600, 2);
	GIVE(end, 3000, 1);
	GIVE(end, 4000, 2);
	flush(f);
	assert_int_equal(phase(find(f, 5, 2), GRT_PHASE_EXEC), 2400);
	assert_false(phase_inferred(find(f, 5, 2), GRT_PHASE_EXEC));
	assert_int_equal(counts(f).inferred_start, 0);
}

/* The queue's head may wait in firmware: what is between COMMIT and END is not known to be execution. */
static void firmware_decides_when_a_job_starts(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(grt_jobs_event(f->jobs, EVENT(name, 900, 0, 0, .kind = GRT_NAME_RING, .id = 0,
						       .name = "rcs", .owner = "xe")),
			 0);
	assert_true(grt_firmware_schedules("amdxdna"));
	assert_false(grt_firmware_schedules("amd"));
	assert_false(grt_firmware_schedules("rocket"));
	for (uint64_t seq = 1; seq <= 3; seq++) {
		GIVE(submit, 1000 * seq, seq);
		GIVE(commit, 1000 * seq + 10, seq);
		GIVE(end, 1000 * seq + 800, seq);
		GIVE(complete, 1000 * seq + 801, seq);
	}
	GIVE(submit, 5000, 4);
	GIVE(commit, 5010, 4);
	GIVE(start, 5400, 4);
	GIVE(end, 5500, 4);
	flush(f);
	assert_int_equal(phase(find(f, 5, 1), GRT_PHASE_EXEC), ABSENT);
	assert_int_equal(phase(find(f, 5, 3), GRT_PHASE_QUEUE), ABSENT);
	assert_int_equal(phase(find(f, 5, 3), GRT_PHASE_SCHED), 10);
	assert_int_equal(phase(find(f, 5, 3), GRT_PHASE_COMPLETE), 1);
	assert_int_equal(phase(find(f, 5, 4), GRT_PHASE_EXEC), 100);
	assert_int_equal(counts(f).firmware_start, 3);
	assert_int_equal(counts(f).inferred_start, 0);
}

static void what_is_missing_is_not_invented(void **state)
{
	struct fixture *f = *state;

	/* without END, without COMMIT, without COMPLETE, without SUBMIT */
	GIVE(submit, 1000, 1, .e.flags = GRT_FLAG_COMMIT);
	GIVE(complete, 5000, 1);
	GIVE(submit, 1000, 2);
	GIVE(end, 5000, 2);
	GIVE(complete, 5500, 2);
	GIVE(submit, 6000, 3, .e.flags = GRT_FLAG_COMMIT);
	GIVE(end, 8000, 4);
	flush(f);
	expect(f, 1, 0, ABSENT, ABSENT, ABSENT);
	expect(f, 2, ABSENT, ABSENT, ABSENT, 500);
	expect(f, 3, 0, ABSENT, ABSENT, ABSENT);
	expect(f, 4, ABSENT, ABSENT, ABSENT, ABSENT);
	assert_int_equal(counts(f).no_end, 1);
	assert_int_equal(counts(f).no_complete, 2);
	assert_int_equal(counts(f).no_submit, 1);
	assert_int_equal(counts(f).incomplete, 2);
	assert_int_equal(counts(f).jobs, 4);
}

static void a_sampled_job_has_no_ring_order(void **state)
{
	struct fixture *f = *state;
	const struct grt_group *g;

	GIVE(submit, 1000, 1, .e.sample = 10, .e.flags = GRT_FLAG_COMMIT);
	GIVE(end, 3000, 1, .e.sample = 10);
	GIVE(complete, 3500, 1, .e.sample = 10);
	flush(f);
	expect(f, 1, 0, ABSENT, ABSENT, 500);
	assert_int_equal(counts(f).unordered_start, 1);
	assert_int_equal(counts(f).sample_min, 10);
	g = grt_groups_get(f->groups, GRT_BY_RING, 0);
	assert_int_equal(grt_weight_count(g->jobs), 10);
	assert_int_equal(g->job_records, 1);
	assert_true(grt_group_sampled(g));
}

/* The rate may change from job to job: what was concluded from a ring's order must not cross the change. */
static void the_job_behind_a_sampled_one_has_no_order(void **state)
{
	struct fixture *f = *state;
	static const uint8_t rate[] = {100, 50, 100, 100};

	for (uint64_t n = 0; n < 4; n++) {
		GIVE(submit, 1000 * n, n + 1, .e.sample = rate[n], .e.flags = GRT_FLAG_COMMIT);
		GIVE(end, 1000 * n + 5000, n + 1, .e.sample = rate[n]);
		GIVE(complete, 1000 * n + 5000, n + 1, .e.sample = rate[n]);
	}
	flush(f);
	expect(f, 1, 0, 0, 5000, 0);
	expect(f, 2, 0, ABSENT, ABSENT, 0);
	expect(f, 3, 0, ABSENT, ABSENT, 0);
	expect(f, 4, 0, 4000, 1000, 0);
	assert_int_equal(counts(f).unordered_start, 2);
	assert_int_equal(counts(f).inferred_start, 2);
}

/* Each job counts for what it stood for when it was sampled; no rate in between is made up. */
static void rates_that_change_scale_exactly(void **state)
{
	static const uint8_t rate[] = {100, 50, 25, 10, 5, 4, 2, 1, 0};
	struct fixture *f = *state;
	const struct grt_group *g;
	uint64_t jobs = 0, exec = 0, t;

	for (uint64_t n = 0; n < 900; n++) {
		unsigned int stands_for = rate[n % 9] ? 100 / rate[n % 9] : 1;

		t = 1000 * n;
		GIVE(submit, t, n + 1, .e.sample = rate[n % 9]);
		GIVE(start, t + 10, n + 1, .e.sample = rate[n % 9]);
		GIVE(sync_wait_enter, t + 15, n + 1, .e.sample = rate[n % 9], .e.tid = 9);
		GIVE(end, t + 20 + n, n + 1, .e.sample = rate[n % 9]);
		GIVE(complete, t + 20 + n, n + 1, .e.sample = rate[n % 9]);
		GIVE(sync_wait_exit, t + 20 + n, n + 1, .e.sample = rate[n % 9], .e.tid = 9);
		jobs += stands_for;
		exec += stands_for * (10 + n);
	}
	flush(f);
	g = grt_groups_get(f->groups, GRT_BY_RING, 0);
	assert_int_equal(grt_weight_count(g->jobs), jobs);
	assert_int_equal(grt_hist_sum(&g->exec), exec);
	assert_int_equal(grt_weight_count(g->waits), jobs);
	assert_int_equal((uint64_t)(g->wait_ns / GRT_WEIGHT_ONE), exec - 5 * jobs);
	assert_int_equal(g->job_records, 900);
	assert_int_equal(counts(f).sample_min, 1);
	assert_int_equal(counts(f).sample_max, 50);
}

static void a_job_in_one_record(void **state)
{
	struct fixture *f = *state;
	const struct grt_job *job;

	GIVE(job, 10000, 1, .e.pid = 70, .e.tid = 71, .e.engine = 2, .e.ring = 3, .e.device = 4,
	     .e.sample = 100, .submit = 1000, .commit = 1300, .start = 1700, .end = 9700, .complete = 9750,
	     .cmd = 0x207, .hw_ctx = 9, .status = -5, .errors = 1, .others = 2);
	flush(f);
	expect(f, 1, 300, 400, 8000, 50);
	job = find(f, 5, 1);
	assert_int_equal(job->pid, 70);
	assert_int_equal(job->tid, 71);
	assert_int_equal(job->engine, 2);
	assert_int_equal(job->ring, 3);
	assert_int_equal(job->device, 4);
	assert_int_equal(job->cmd, 0x207);
	assert_int_equal(job->hw_ctx, 9);
	assert_int_equal(job->status, -5);
	assert_true(job->failed);
	assert_int_equal(job->inferred, 0);
	assert_int_equal(counts(f).whole, 1);
	assert_int_equal(counts(f).replaced, 5 + 1 + 2);
	assert_int_equal(counts(f).incomplete, 0);
}

/* A driver without a queue: SUBMIT was the COMMIT, which is concluded. */
static void the_flags_of_a_record_are_those_of_its_submit(void **state)
{
	struct fixture *f = *state;

	GIVE(job, 10000, 1, .e.flags = GRT_FLAG_COMMIT, .submit = 1000, .start = 1700, .end = 9700,
	     .complete = 9750);
	GIVE(job, 10000, 2, .submit = 1000, .commit = 1000, .start = 1700, .end = 9700, .complete = 9750,
	     .inferred = 1 << GRT_STAMP_END);
	flush(f);
	expect(f, 1, 0, 700, 8000, 50);
	assert_true(phase_inferred(find(f, 5, 1), GRT_PHASE_SCHED));
	assert_false(phase_inferred(find(f, 5, 1), GRT_PHASE_EXEC));
	assert_int_equal(find(f, 5, 2)->inferred, 1 << GRT_STAMP_END);
}

/* It leaves at its COMPLETE and may have been chosen: it proves nothing about the order of its ring. */
static void a_record_concludes_no_start(void **state)
{
	struct fixture *f = *state;

	GIVE(job, 3000, 1, .submit = 1000, .commit = 1000, .end = 2000, .complete = 2500);
	GIVE(submit, 2000, 2, .e.flags = GRT_FLAG_COMMIT);
	GIVE(end, 4000, 2);
	GIVE(complete, 4000, 2);
	GIVE(submit, 3500, 3, .e.flags = GRT_FLAG_COMMIT);
	GIVE(end, 5000, 3);
	GIVE(complete, 5000, 3);
	flush(f);
	expect(f, 1, 0, ABSENT, ABSENT, 500);
	expect(f, 2, 0, ABSENT, ABSENT, 0);
	expect(f, 3, 0, 500, 1000, 0);
	assert_int_equal(counts(f).unordered_start, 2);
}

static void a_record_of_a_job_that_goes_on(void **state)
{
	struct fixture *f = *state;

	GIVE(job, 3000, 1, .submit = 1000, .commit = 1200, .start = 1300);
	assert_int_equal(counts(f).jobs, 0);
	GIVE(end, 4000, 1);
	GIVE(complete, 4100, 1);
	flush(f);
	expect(f, 1, 200, 100, 2700, 100);
	assert_int_equal(counts(f).jobs, 1);
	assert_int_equal(counts(f).incomplete, 0);
}

/* Three jobs on three rings, complete at 2000, 4000 and 6000. */
/** struct running - the jobs that run, or are not complete, by their number */
struct running {
	uint64_t start[8];
	bool inferred[8];
	unsigned int n;
};

static int take_running(void *arg, const struct grt_job *job)
{
	struct running *r = arg;

	assert_true(job->seqno < 8);
	r->start[job->seqno] = job->time[GRT_STAMP_START];
	r->inferred[job->seqno] = job->inferred >> GRT_STAMP_START & 1;
	r->n++;
	return 0;
}

static struct running running_now(struct fixture *f)
{
	struct running r = {.n = 0};

	assert_int_equal(grt_jobs_each_running(f->jobs, take_running, &r), 0);
	return r;
}

/* Of those that were handed to the ring it is the first one, from when the one before it ended. */
static void the_job_that_runs_now(void **state)
{
	struct fixture *f = *state;
	struct running r;

	GIVE(submit, 100, 1);
	assert_int_equal(running_now(f).n, 0);
	GIVE(commit, 110, 1);
	GIVE(submit, 120, 2);
	GIVE(commit, 130, 2);
	r = running_now(f);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.start[1], 110);
	assert_true(r.inferred[1]);
	GIVE(end, 200, 1);
	GIVE(complete, 201, 1);
	GIVE(submit, 210, 3, .e.ring = 1);
	GIVE(start, 220, 3, .e.ring = 1);
	r = running_now(f);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.start[2], 200);
	assert_true(r.inferred[2]);
	assert_int_equal(r.start[3], 220);
	assert_false(r.inferred[3]);
	GIVE(end, 300, 2);
	GIVE(end, 310, 3, .e.ring = 1);
	r = running_now(f);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.start[2], 200);
	GIVE(complete, 301, 2);
	GIVE(complete, 311, 3, .e.ring = 1);
	assert_int_equal(running_now(f).n, 0);
}

/* Ends are in the order of the ring: a job before one that has ended has ended, too. */
static void a_job_whose_end_was_lost_does_not_run(void **state)
{
	struct fixture *f = *state;

	GIVE(submit, 100, 1);
	GIVE(commit, 110, 1);
	GIVE(submit, 120, 2);
	GIVE(commit, 130, 2);
	GIVE(end, 300, 2);
	GIVE(complete, 301, 2);
	assert_int_equal(running_now(f).n, 0);
}

static void done_jobs_are_handed_over_when_asked(void **state)
{
	struct fixture *f = *state;

	GIVE(submit, 100, 1);
	GIVE(commit, 110, 1);
	GIVE(end, 200, 1);
	GIVE(complete, 201, 1);
	GIVE(submit, 210, 2);
	assert_int_equal(f->n, 0);
	assert_int_equal(grt_jobs_settle(f->jobs, UINT64_MAX), 0);
	assert_int_equal(f->n, 1);
	assert_int_equal(phase(find(f, 5, 1), GRT_PHASE_EXEC), 90);
	GIVE(commit, 220, 2);
	GIVE(end, 300, 2);
	GIVE(complete, 301, 2);
	flush(f);
	assert_int_equal(f->n, 2);
	assert_int_equal(phase(find(f, 5, 2), GRT_PHASE_EXEC), 80);
}

static void three_jobs(struct fixture *f)
{
	for (uint64_t n = 1; n <= 3; n++)
		GIVE_OF(submit, 900 + n, 5 + n, 1, .e.ring = (uint32_t)n);
}

static void complete_them(struct fixture *f, uint64_t until)
{
	for (uint64_t n = 1; n <= 3 && 2000 * n <= until; n++)
		GIVE_OF(complete, 2000 * n, 5 + n, 1, .e.ring = (uint32_t)n);
}

/* A call from 1000 to @until, told by BPF as all of its kind are; the last fence is left first. */
static void wait_for_three(struct fixture *f, uint64_t until)
{
	for (uint64_t n = 1; n <= 3; n++)
		GIVE_OF(sync_wait_enter, 999 + n, 5 + n, 1, .e.tid = 7,
			.e.flags = GRT_FLAG_BPF | GRT_FLAG_CALL);
	complete_them(f, until);
	for (uint64_t n = 3; n; n--)
		GIVE_OF(sync_wait_exit, until + 3 - n, 5 + n, 1, .e.tid = 7,
			.e.flags = GRT_FLAG_BPF | GRT_FLAG_CALL | GRT_FLAG_SEVERAL);
}

static void a_call_waits_for_each_of_several_until_it_is_complete(void **state)
{
	struct fixture *f = *state;

	three_jobs(f);
	wait_for_three(f, 6100);
	flush(f);
	assert_int_equal(find(f, 6, 1)->wait_ns, 1000);
	assert_int_equal(find(f, 7, 1)->wait_ns, 4000 - 1001);
	assert_int_equal(find(f, 8, 1)->wait_ns, 6000 - 1002);
	assert_int_equal(counts(f).waits, 3);
	assert_int_equal(counts(f).duplicates + counts(f).half_waits, 0);
}

static void a_call_for_any_of_several_ends_for_all(void **state)
{
	struct fixture *f = *state;

	three_jobs(f);
	wait_for_three(f, 2100);
	for (uint64_t n = 2; n <= 3; n++)
		GIVE_OF(complete, 2000 * n, 5 + n, 1, .e.ring = (uint32_t)n);
	flush(f);
	assert_int_equal(find(f, 6, 1)->wait_ns, 1000);
	assert_int_equal(find(f, 7, 1)->wait_ns, 2101 - 1001);
	assert_int_equal(find(f, 8, 1)->wait_ns, 2100 - 1002);
	assert_int_equal(counts(f).half_waits, 0);
}

/* The thread runs again a little later than the job is complete. */
static void a_call_for_one_lasts_until_it_returns(void **state)
{
	struct fixture *f = *state;

	GIVE(submit, 1000, 1);
	GIVE(sync_wait_enter, 1100, 1, .e.tid = 7, .e.flags = GRT_FLAG_BPF | GRT_FLAG_CALL);
	GIVE(complete, 4000, 1);
	GIVE(sync_wait_exit, 4200, 1, .e.tid = 7, .e.flags = GRT_FLAG_BPF | GRT_FLAG_CALL);
	flush(f);
	assert_int_equal(find(f, 5, 1)->wait_ns, 3100);
	assert_int_equal(counts(f).duplicates, 0);
}

/* Another thread may wait for what the submitting one is about to tell of. */
static void a_call_may_begin_before_its_job(void **state)
{
	struct fixture *f = *state;

	GIVE(sync_wait_enter, 990, 1, .e.tid = 7, .e.flags = GRT_FLAG_BPF | GRT_FLAG_CALL);
	GIVE(submit, 1000, 1);
	GIVE(submit, 1010, 1, .e.flags = GRT_FLAG_BPF);
	GIVE(end, 3900, 1);
	GIVE(complete, 4000, 1);
	GIVE(sync_wait_exit, 4090, 1, .e.tid = 7, .e.flags = GRT_FLAG_BPF | GRT_FLAG_CALL);
	flush(f);
	assert_int_equal(f->n, 1);
	assert_int_equal(find(f, 5, 1)->wait_ns, 3100);
	assert_int_equal(phase(&f->out[0], GRT_PHASE_COMPLETE), 100);
	assert_int_equal(counts(f).duplicates, 1);
	assert_int_equal(counts(f).incomplete, 0);
}

static void waits_of_a_record(void **state)
{
	struct fixture *f = *state;

	/* one: its end comes behind the record, from whoever it was */
	GIVE(job, 5000, 1, .submit = 1000, .complete = 4000, .wait = 1500, .waits = 1);
	GIVE(sync_wait_exit, 5100, 1, .e.tid = 33);
	/* none of the record's: another thread waits once it is complete */
	GIVE(job, 6000, 2, .submit = 1000, .complete = 4000);
	GIVE(sync_wait_enter, 6100, 2, .e.tid = 33);
	GIVE(sync_wait_exit, 6300, 2, .e.tid = 33);
	/* several: no telling which is which */
	GIVE(job, 7000, 3, .submit = 1000, .complete = 4000, .wait = 1500, .waits = 2);
	GIVE(sync_wait_exit, 7100, 3, .e.tid = 33);
	GIVE(sync_wait_exit, 7200, 3, .e.tid = 34);
	/* one whose end never comes */
	GIVE(job, 8000, 4, .submit = 1000, .complete = 4000, .wait = 1500, .waits = 1);
	flush(f);
	assert_int_equal(find(f, 5, 1)->wait_ns, 3600);
	assert_false(find(f, 5, 1)->cut_waits);
	assert_int_equal(find(f, 5, 2)->wait_ns, 200);
	assert_int_equal(find(f, 5, 3)->waits, 0);
	assert_true(find(f, 5, 3)->cut_waits);
	assert_true(find(f, 5, 4)->cut_waits);
	assert_int_equal(counts(f).waits, 2);
	assert_int_equal(counts(f).half_waits, 3);
}

/* That there was one is all that is known: it has neither begun at 0 nor an end. */
static void a_wait_of_a_record_without_its_stamp(void **state)
{
	struct fixture *f = *state;

	GIVE(job, 5000, 1, .submit = 1000, .complete = 4000, .waits = 1);
	GIVE(sync_wait_exit, 5100, 1, .e.tid = 33);
	flush(f);
	assert_int_equal(find(f, 5, 1)->wait_ns, 0);
	assert_int_equal(find(f, 5, 1)->waits, 0);
	assert_true(find(f, 5, 1)->cut_waits);
}

/* Records were asked for while the job was on its way. */
static void a_record_of_a_job_that_had_begun(void **state)
{
	struct fixture *f = *state;

	GIVE(submit, 1000, 1, .e.tid = 33);
	GIVE(commit, 1200, 1);
	GIVE(sync_wait_enter, 1250, 1, .e.tid = 33);
	GIVE(job, 4200, 1, .e.tid = 33, .submit = 1000, .commit = 1200, .start = 1300, .end = 4000,
	     .complete = 4100, .wait = 1250, .waits = 1);
	GIVE(sync_wait_exit, 4250, 1, .e.tid = 33);
	/* the record says of two waits, the trace of one */
	GIVE(submit, 5000, 2, .e.tid = 33);
	GIVE(sync_wait_enter, 5100, 2, .e.tid = 34);
	GIVE(job, 6000, 2, .submit = 5000, .complete = 5900, .wait = 5050, .waits = 2);
	GIVE(sync_wait_exit, 6100, 2, .e.tid = 34);
	/* another job of the same number */
	GIVE(submit, 7000, 3);
	GIVE(job, 9000, 3, .submit = 8000, .complete = 8900);
	flush(f);
	expect(f, 1, 200, 100, 2700, 100);
	assert_int_equal(find(f, 5, 1)->waits, 1);
	assert_int_equal(find(f, 5, 1)->wait_ns, 3000);
	assert_false(find(f, 5, 1)->cut_waits);
	assert_int_equal(find(f, 5, 2)->waits, 1);
	assert_int_equal(find(f, 5, 2)->wait_ns, 1000);
	assert_true(find(f, 5, 2)->cut_waits);
	assert_int_equal(counts(f).jobs, 4);
	assert_int_equal(counts(f).reused, 1);
	assert_int_equal(counts(f).half_waits, 0);
}

static void the_first_stamp_is_the_earliest(void **state)
{
	struct fixture *f = *state;

	GIVE(complete, 3000, 1);
	GIVE(end, 3100, 1);
	GIVE(submit, 4000, 2);
	GIVE(complete, 4100, 2);
	flush(f);
	assert_int_equal(grt_job_first(find(f, 5, 1)), 3000);
	assert_int_equal(grt_job_first(find(f, 5, 2)), 4000);
}

static void end_and_complete_in_any_order(void **state)
{
	struct fixture *f = *state;

	GIVE(submit, 1000, 1, .e.flags = GRT_FLAG_COMMIT);
	GIVE(complete, 3000, 1);
	GIVE(end, 3000, 1);
	/* all of one stamp, the last phase first */
	GIVE(complete, 4000, 2);
	GIVE(end, 4000, 2);
	GIVE(commit, 4000, 2);
	GIVE(submit, 4000, 2);
	flush(f);
	expect(f, 1, 0, 0, 2000, 0);
	expect(f, 2, 0, 0, 0, 0);
	assert_int_equal(counts(f).incomplete, 0);
	assert_int_equal(counts(f).disordered, 0);
}

static void an_end_after_complete_gives_no_negative_time(void **state)
{
	struct fixture *f = *state;

	GIVE(submit, 1000, 1, .e.flags = GRT_FLAG_COMMIT);
	GIVE(complete, 2990, 1);
	GIVE(end, 3000, 1);
	flush(f);
	expect(f, 1, 0, 0, 2000, ABSENT);
	assert_int_equal(counts(f).disordered, 1);
}

static void an_identity_used_again(void **state)
{
	struct fixture *f = *state;

	GIVE(submit, 1000, 1);
	GIVE(submit, 2000, 1);
	GIVE(complete, 2500, 1);
	GIVE(submit, 3000, 1);
	GIVE(complete, 3100, 1);
	flush(f);
	assert_int_equal(f->n, 3);
	assert_int_equal(counts(f).reused, 2);
	assert_int_equal(counts(f).incomplete, 1);
	/* a job of before the trace that completed, and then its number again */
	begin(f, NULL);
	GIVE(complete, 1000, 7);
	GIVE(submit, 2000, 7);
	GIVE(complete, 3000, 7);
	flush(f);
	assert_int_equal(f->n, 2);
	assert_int_equal(counts(f).reused, 1);
}

static void errors_and_status(void **state)
{
	struct fixture *f = *state;

	GIVE(submit, 1000, 1);
	GIVE(error, 1500, 1, .status = -5, .code = 0x1205);
	GIVE(complete, 1600, 1);
	GIVE(submit, 1000, 2);
	GIVE(complete, 1600, 2, .status = -125);
	GIVE(error, 1700, 99, .status = -22);
	GIVE_OF(error, 1700, 0, 0);
	GIVE_OF(command, 1800, 0, 0, .cmd = 5);
	flush(f);
	assert_int_equal(find(f, 5, 1)->status, -5);
	assert_true(find(f, 5, 1)->failed);
	assert_int_equal(find(f, 5, 2)->status, -125);
	assert_int_equal(counts(f).errors, 2);
	assert_int_equal(counts(f).commands, 1);
	assert_int_equal(grt_groups_get(f->groups, GRT_BY_RING, 0)->failed, 2);
	assert_int_equal(grt_groups_get(f->groups, GRT_BY_RING, 0)->errors, 2);
	assert_int_equal(grt_groups_get(f->groups, GRT_BY_RING, 0)->commands, 1);
}

static void a_status_that_is_not_told(void **state)
{
	struct fixture *f = *state;

	GIVE(submit, 1000, 1);
	GIVE(complete, 1600, 1, .status = GRT_STATUS_UNKNOWN);
	GIVE(submit, 1000, 2);
	GIVE(error, 1500, 2, .status = -5);
	GIVE(complete, 1600, 2, .status = GRT_STATUS_UNKNOWN);
	GIVE(submit, 1000, 3);
	GIVE(complete, 1600, 3);
	flush(f);
	assert_int_equal(find(f, 5, 1)->status, GRT_STATUS_UNKNOWN);
	assert_false(find(f, 5, 1)->failed);
	assert_int_equal(find(f, 5, 2)->status, -5);
	assert_true(find(f, 5, 2)->failed);
	assert_int_equal(find(f, 5, 3)->status, 0);
	assert_int_equal(counts(f).no_status, 2);
}

/* A worker of the driver submits no job, but its commands are its own. */
static void process_without_jobs_has_its_name(void **state)
{
	struct fixture *f = *state;
	struct grt_ev_name n = {.e.type = GRT_EV_NAME,
				.e.size = sizeof(n),
				.kind = GRT_NAME_THREAD,
				.id = 77,
				.name = "kworker/u4:0",
				.owner = "kworker"};
	const struct grt_group *group;

	assert_int_equal(grt_jobs_event(f->jobs, &n.e), 0);
	GIVE_OF(command, 1800, 0, 0, .e.pid = 70, .e.tid = 77, .cmd = 5);
	flush(f);
	group = grt_groups_get(f->groups, GRT_BY_PROCESS, 0);
	assert_int_equal(group->commands, 1);
	assert_string_equal(grt_names_owner(grt_jobs_names(f->jobs), group->name), "kworker");
}

static void events_without_identity_are_no_job(void **state)
{
	struct fixture *f = *state;

	GIVE_OF(submit, 1000, 0, 1);
	GIVE(ctx_switch, 1000, 1);
	GIVE(irq, 1000, 1);
	flush(f);
	assert_int_equal(f->n, 0);
	assert_int_equal(counts(f).no_identity, 1);
}

static void waits_are_joined_by_the_fence(void **state)
{
	struct fixture *f = *state;
	const struct grt_job *job;

	GIVE(submit, 1000, 1);
	GIVE(sync_wait_enter, 1100, 1, .e.tid = 80);
	GIVE(sync_wait_enter, 1200, 1, .e.tid = 81);
	GIVE(complete, 2000, 1);
	GIVE(sync_wait_exit, 2050, 1, .e.tid = 81);
	GIVE(sync_wait_exit, 2100, 1, .e.tid = 80);
	flush(f);
	job = find(f, 5, 1);
	assert_int_equal(job->waits, 2);
	assert_int_equal(job->wait_ns, 850 + 1000);
	assert_false(job->cut_waits);
	assert_int_equal(counts(f).waits, 2);
	assert_int_equal(counts(f).wait_ns, 1850);
	assert_int_equal(counts(f).unjoined_waits, 0);
	assert_int_equal(counts(f).half_waits, 0);
}

static void a_wait_that_begins_after_complete_counts(void **state)
{
	struct fixture *f = *state;

	GIVE(submit, 1000, 1);
	GIVE(complete, 2000, 1);
	GIVE(sync_wait_enter, 2100, 1, .e.tid = 80);
	GIVE(sync_wait_exit, 2107, 1, .e.tid = 80);
	flush(f);
	assert_int_equal(find(f, 5, 1)->wait_ns, 7);
}

static void a_wait_that_comes_before_its_job(void **state)
{
	struct fixture *f = *state;

	GIVE(sync_wait_enter, 900, 1, .e.tid = 80);
	GIVE(submit, 1000, 1);
	GIVE(complete, 2000, 1);
	GIVE(sync_wait_exit, 2100, 1, .e.tid = 80);
	/* this one is over before its job is seen at all */
	GIVE(sync_wait_enter, 2200, 2, .e.tid = 80);
	GIVE(sync_wait_exit, 2300, 2, .e.tid = 80);
	GIVE(submit, 2300, 2);
	GIVE(complete, 2400, 2);
	flush(f);
	assert_int_equal(find(f, 5, 1)->wait_ns, 1200);
	assert_int_equal(find(f, 5, 2)->wait_ns, 100);
	assert_int_equal(counts(f).unjoined_waits, 0);
	assert_int_equal(f->n, 2);
}

static void waits_for_no_job_are_counted_with_their_time(void **state)
{
	struct fixture *f = *state;

	GIVE(sync_wait_enter, 1000, 40, .e.tid = 80);
	GIVE(sync_wait_exit, 1500, 40, .e.tid = 80);
	GIVE(sync_wait_enter, 2000, 40, .e.tid = 80);
	GIVE(sync_wait_exit, 2600, 40, .e.tid = 80);
	flush(f);
	assert_int_equal(f->n, 0);
	assert_int_equal(counts(f).jobs, 0);
	assert_int_equal(counts(f).unjoined_waits, 2);
	assert_int_equal(counts(f).unjoined_wait_ns, 1100);
	assert_int_equal(counts(f).waits, 0);
}

static void halves_of_waits(void **state)
{
	struct fixture *f = *state;

	GIVE(submit, 1000, 1);
	GIVE(sync_wait_exit, 1100, 1, .e.tid = 79);
	GIVE(sync_wait_enter, 1200, 1, .e.tid = 80);
	/* the end of the wait before is lost: this thread begins another */
	GIVE(sync_wait_enter, 1300, 1, .e.tid = 80);
	GIVE(sync_wait_exit, 1400, 1, .e.tid = 80);
	GIVE(complete, 2000, 1);
	GIVE(submit, 1000, 2);
	GIVE(sync_wait_enter, 1500, 2, .e.tid = 81);
	GIVE(complete, 2000, 2);
	flush(f);
	assert_int_equal(counts(f).half_waits, 3);
	assert_int_equal(find(f, 5, 1)->waits, 1);
	assert_int_equal(find(f, 5, 1)->wait_ns, 100);
	assert_true(find(f, 5, 1)->cut_waits);
	assert_int_equal(find(f, 5, 2)->waits, 0);
	assert_true(find(f, 5, 2)->cut_waits);
}

static void jobs_leave_when_the_window_is_over(void **state)
{
	const struct grt_jobs_limits limits = {.window = 3};
	struct fixture *f = *state;

	begin(f, &limits);
	for (uint64_t i = 1; i <= 5; i++) {
		GIVE(submit, 1000 * i, i);
		GIVE(complete, 1000 * i + 100, i);
	}
	assert_int_equal(f->n, 2);
	assert_int_equal(f->out[0].seqno, 1);
	assert_int_equal(f->out[1].seqno, 2);
	/* within the window its END is still its own, after it another job's */
	GIVE(end, 5200, 3);
	GIVE(end, 5200, 1);
	flush(f);
	assert_int_equal(f->n, 6);
	assert_int_equal(find(f, 5, 3)->seen & 1 << GRT_STAMP_END, 1 << GRT_STAMP_END);
	assert_int_equal(counts(f).no_submit, 1);
}

static void a_job_is_held_while_someone_waits(void **state)
{
	const struct grt_jobs_limits limits = {.window = 2};
	struct fixture *f = *state;

	begin(f, &limits);
	GIVE(submit, 1000, 1, .e.flags = GRT_FLAG_COMMIT);
	GIVE(sync_wait_enter, 1010, 1, .e.tid = 80);
	GIVE(end, 1050, 1);
	GIVE(complete, 1060, 1);
	for (uint64_t i = 2; i <= 9; i++) {
		GIVE(submit, 1000 * i, i, .e.flags = GRT_FLAG_COMMIT);
		GIVE(end, 1000 * i + 50, i);
		GIVE(complete, 1000 * i + 60, i);
	}
	assert_int_equal(f->held, 1);
	assert_int_equal(f->n, 6);
	assert_int_equal(f->out[0].seqno, 2);
	/* its stamps are settled: it keeps them */
	GIVE(end, 9100, 1);
	assert_int_equal(counts(f).late, 1);
	GIVE(sync_wait_exit, 9200, 1, .e.tid = 80);
	assert_int_equal(f->n, 7);
	assert_int_equal(f->out[6].seqno, 1);
	assert_int_equal(f->out[6].wait_ns, 8190);
	flush(f);
	assert_int_equal(f->n, 9);
	/* its interval is in the union once */
	assert_int_equal(grt_busy_sum(&grt_groups_get(f->groups, GRT_BY_RING, 0)->busy), 9 * 50);
	assert_int_equal(grt_groups_get(f->groups, GRT_BY_RING, 0)->busy.cut, 0);
	assert_int_equal(grt_groups_get(f->groups, GRT_BY_RING, 0)->busy_inferred, 9);
}

static void the_oldest_gives_way(void **state)
{
	const struct grt_jobs_limits limits = {.jobs = 8, .window = 4};
	struct fixture *f = *state;

	begin(f, &limits);
	for (uint64_t i = 1; i <= 20; i++)
		GIVE(submit, 1000 * i, i);
	assert_int_equal(f->n, 12);
	for (uint64_t i = 0; i < 12; i++)
		assert_int_equal(f->out[i].seqno, i + 1);
	assert_int_equal(counts(f).evicted, 12);
	/* the others are whole */
	for (uint64_t i = 13; i <= 20; i++)
		GIVE(complete, 30000 + i, i);
	flush(f);
	assert_int_equal(f->n, 20);
	assert_int_equal(counts(f).incomplete, 12);
	assert_int_equal(counts(f).no_submit, 0);
}

/* A young job may sit in the slot of an old one. */
static void age_is_not_the_slot(void **state)
{
	const struct grt_jobs_limits limits = {.jobs = 4, .window = 1};
	struct fixture *f = *state;

	begin(f, &limits);
	for (uint64_t i = 1; i <= 3; i++)
		GIVE(submit, 1000 * i, i);
	GIVE(complete, 4000, 1);
	GIVE(submit, 4100, 4);
	GIVE(complete, 4200, 4);
	assert_int_equal(f->n, 1);
	/* into the slot of 1; then 2 is the oldest, and 3 */
	GIVE(submit, 5000, 5);
	GIVE(submit, 6000, 6);
	assert_int_equal(f->n, 2);
	assert_int_equal(f->out[1].seqno, 2);
	GIVE(submit, 7000, 7);
	assert_int_equal(f->out[2].seqno, 3);
	GIVE(submit, 8000, 8);
	assert_int_equal(f->out[3].seqno, 5);
	flush(f);
	assert_int_equal(counts(f).evicted, 3);
}

static void a_wait_for_a_job_that_gave_way(void **state)
{
	const struct grt_jobs_limits limits = {.jobs = 1, .window = 1};
	struct fixture *f = *state;

	begin(f, &limits);
	GIVE(submit, 1000, 1);
	GIVE(sync_wait_enter, 1100, 1, .e.tid = 80);
	/* takes the only slot */
	GIVE(submit, 1200, 2);
	GIVE(sync_wait_exit, 1300, 1, .e.tid = 80);
	flush(f);
	assert_true(find(f, 5, 1)->cut_waits);
	assert_int_equal(find(f, 5, 1)->waits, 0);
	assert_int_equal(find(f, 5, 2)->waits, 0);
	assert_false(find(f, 5, 2)->cut_waits);
	assert_int_equal(counts(f).unjoined_waits, 1);
	assert_int_equal(counts(f).unjoined_wait_ns, 200);
}

static void a_window_larger_than_the_bound(void **state)
{
	const struct grt_jobs_limits limits = {.jobs = 4, .window = 100};
	struct fixture *f = *state;

	begin(f, &limits);
	for (uint64_t i = 1; i <= 50; i++) {
		GIVE(submit, 1000 * i, i);
		GIVE(complete, 1000 * i + 10, i);
	}
	flush(f);
	assert_int_equal(f->n, 50);
	assert_int_equal(counts(f).incomplete, 0);
	assert_int_equal(counts(f).evicted, 0);
}

static void the_oldest_wait_gives_way(void **state)
{
	const struct grt_jobs_limits limits = {.waits = 2};
	struct fixture *f = *state;

	begin(f, &limits);
	GIVE(submit, 1000, 1);
	for (uint32_t tid = 1; tid <= 3; tid++)
		GIVE(sync_wait_enter, 1000 + tid, 1, .e.tid = tid);
	GIVE(complete, 2000, 1);
	for (uint32_t tid = 1; tid <= 3; tid++)
		GIVE(sync_wait_exit, 2000 + tid, 1, .e.tid = tid);
	flush(f);
	assert_int_equal(find(f, 5, 1)->waits, 2);
	assert_true(find(f, 5, 1)->cut_waits);
	assert_int_equal(counts(f).half_waits, 2);
}

static void a_name_is_that_of_the_submit(void **state)
{
	struct fixture *f = *state;
	const struct grt_names *names = grt_jobs_names(f->jobs);

	GIVE(submit, 900, 1, .e.tid = 71);
	GIVE(name, 1000, 0, .kind = GRT_NAME_THREAD, .id = 71, .name = "before", .owner = "proc");
	GIVE(submit, 1000, 2, .e.tid = 71);
	GIVE(name, 1500, 0, .kind = GRT_NAME_THREAD, .id = 71, .name = "after", .owner = "proc");
	GIVE(name, 1500, 0, .kind = GRT_NAME_RING, .id = 71, .name = "ring", .owner = "driver");
	GIVE(submit, 2000, 3, .e.tid = 71);
	flush(f);
	assert_null(grt_names_name(names, find(f, 5, 1)->name));
	assert_string_equal(grt_names_name(names, find(f, 5, 2)->name), "before");
	assert_string_equal(grt_names_name(names, find(f, 5, 3)->name), "after");
	assert_string_equal(grt_names_owner(names, find(f, 5, 3)->name), "proc");
	assert_string_equal(grt_names_name(names, grt_names_find(names, GRT_NAME_RING, 71)), "ring");
}

static void names_are_bounded_and_end(void **state)
{
	struct fixture *f = *state;
	const struct grt_names *names = grt_jobs_names(f->jobs);
	struct grt_ev_name n = {.e.type = GRT_EV_NAME, .e.size = sizeof(n), .kind = GRT_NAME_THREAD, .id = 7};

	/* neither text has room for its NUL */
	memset(n.name, 'x', sizeof(n.name));
	memset(n.owner, 'y', sizeof(n.owner));
	assert_int_equal(grt_jobs_event(f->jobs, &n.e), 0);
	assert_int_equal(strlen(grt_names_name(names, grt_names_find(names, GRT_NAME_THREAD, 7))), 32);
	assert_int_equal(strlen(grt_names_owner(names, grt_names_find(names, GRT_NAME_THREAD, 7))), 16);
	for (n.id = 8; n.id < 8 + GRT_NAMES_MAX; n.id++)
		assert_int_equal(grt_jobs_event(f->jobs, &n.e), 0);
	assert_int_equal(names->used, GRT_NAMES_MAX);
	assert_int_equal(names->dropped, 2);
}

static void a_sink_ends_the_run(void **state)
{
	const struct grt_jobs_limits limits = {.window = 1};
	struct fixture *f = *state;

	begin(f, &limits);
	f->stop_with = 42;
	GIVE(submit, 1, 1);
	GIVE(complete, 2, 1);
	GIVE(submit, 3, 2);
	assert_int_equal(grt_jobs_event(f->jobs, EVENT(complete, 4, 5, 2)), 42);
}

static void busy_counts_overlaps_once(void **state)
{
	struct fixture *f = *state;
	const struct grt_group *g;

	/* observed: 1000..3000 and 2000..2500 and 5000..6000 */
	GIVE(start, 1000, 1);
	GIVE(start, 2000, 2);
	GIVE(end, 2500, 2);
	GIVE(end, 3000, 1);
	GIVE(start, 5000, 3);
	GIVE(end, 6000, 3);
	/* its START has no END: it adds nothing */
	GIVE(start, 7000, 4);
	/* a second ring of the same engine, busy at the same time and after */
	GIVE(start, 5500, 5, .e.ring = 1);
	GIVE(end, 6500, 5, .e.ring = 1);
	flush(f);
	g = grt_groups_get(f->groups, GRT_BY_RING, 0);
	assert_int_equal(grt_busy_sum(&g->busy), 2000 + 1000);
	assert_int_equal(g->busy_inferred, 0);
	assert_int_equal(grt_hist_sum(&g->exec), 2000 + 500 + 1000);
	assert_int_equal(g->exec.max, 2000);
	assert_int_equal(g->queue.weight, 0);
	assert_int_equal(grt_busy_sum(&grt_groups_get(f->groups, GRT_BY_RING, 1)->busy), 1000);
	assert_int_equal(grt_busy_sum(&grt_groups_get(f->groups, GRT_BY_ENGINE, 0)->busy), 2000 + 1500);
	assert_null(grt_groups_get(f->groups, GRT_BY_ENGINE, 1));
}

static void groups_are_bounded(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < GRT_GROUPS_MAX + 3; i++)
		GIVE(submit, 1000 + i, i, .e.pid = i + 1, .e.ring = i);
	/* of a ring or a process that has a row, and one that has none */
	GIVE(submit, 9000, GRT_GROUPS_MAX + 3, .e.pid = 1, .e.ring = GRT_GROUPS_MAX + 3);
	GIVE(submit, 9001, GRT_GROUPS_MAX + 4, .e.pid = GRT_GROUPS_MAX + 9, .e.ring = 1);
	flush(f);
	assert_non_null(grt_groups_get(f->groups, GRT_BY_PROCESS, GRT_GROUPS_MAX - 1));
	assert_null(grt_groups_get(f->groups, GRT_BY_PROCESS, GRT_GROUPS_MAX));
	assert_int_equal(grt_groups_over(f->groups), 5);
	assert_int_equal(counts(f).jobs, GRT_GROUPS_MAX + 5);
}

/* ------------------------------------------------------------ random job sets */

#define RANDOM_JOBS 300
#define RANDOM_EVENTS (RANDOM_JOBS * 12)

struct random_event {
	union {
		struct grt_event e;
		struct grt_ev_submit submit;
		struct grt_ev_complete complete;
	};
	uint32_t order;
};

static uint64_t rnd(uint64_t below)
{
	static uint64_t s = 0x2545f4914f6cdd1dULL;

	s ^= s << 13;
	s ^= s >> 7;
	s ^= s << 17;
	return s % below;
}

static int by_time(const void *a, const void *b)
{
	const struct random_event *x = a, *y = b;

	if (x->e.time != y->e.time)
		return x->e.time < y->e.time ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

struct random_set {
	struct random_event ev[RANDOM_EVENTS];
	size_t n;
};

static void random_add(struct random_set *s, uint16_t type, uint64_t time, uint64_t ctx, uint64_t seqno,
		       uint32_t ring, uint32_t tid)
{
	struct random_event *r = &s->ev[s->n++];

	memset(r, 0, sizeof(*r));
	r->e = (struct grt_event){.time = time,
				  .type = type,
				  .size = 64,
				  .ctx = ctx,
				  .seqno = seqno,
				  .ring = ring,
				  .tid = tid,
				  .pid = 70};
	/* equal stamps come in any order, as between CPUs */
	r->order = (uint32_t)rnd(1 << 30);
}

/* A job with gaps, events that come twice, times that are often equal. */
static void random_job(struct random_set *s, uint64_t ctx, uint64_t seqno, uint64_t t)
{
	static const uint16_t types[] = {GRT_EV_SUBMIT, GRT_EV_COMMIT, GRT_EV_START, GRT_EV_END,
					 GRT_EV_COMPLETE};
	uint32_t ring = (uint32_t)rnd(3), tid = 1 + (uint32_t)rnd(3);
	bool has_start = rnd(2);

	for (unsigned int i = 0; i < 5; i++) {
		t += rnd(3) ? rnd(40) : 0;
		if (rnd(10) == 0 || (types[i] == GRT_EV_START && !has_start))
			continue;
		random_add(s, types[i], t, ctx, seqno, rnd(20) ? ring : GRT_RING_NONE, tid);
		if (types[i] == GRT_EV_SUBMIT && rnd(2))
			s->ev[s->n - 1].e.flags = GRT_FLAG_COMMIT;
		if (types[i] != GRT_EV_SUBMIT && rnd(20) == 0)
			random_add(s, types[i], t + rnd(30), ctx, seqno, ring, tid);
	}
	for (uint64_t w = rnd(3); w--; tid += 10) {
		uint64_t from = t - rnd(20), to = t + rnd(50);

		if (rnd(12))
			random_add(s, GRT_EV_SYNC_WAIT_ENTER, from, ctx, seqno, GRT_RING_NONE, tid);
		if (rnd(12))
			random_add(s, GRT_EV_SYNC_WAIT_EXIT, to, ctx, seqno, GRT_RING_NONE, tid);
	}
}

static void random_set(struct random_set *s)
{
	s->n = 0;
	for (uint64_t i = 0; i < RANDOM_JOBS; i++)
		random_job(s, 1 + i % 3, rnd(2) ? i : i * 1000003, 100 + i * 7);
	qsort(s->ev, s->n, sizeof(s->ev[0]), by_time);
}

static bool of_job(const struct grt_event *e, const struct grt_event *first)
{
	return e->ctx == first->ctx && e->seqno == first->seqno;
}

static const struct grt_event *naive_find(const struct random_set *s, const struct grt_event *job,
					  uint16_t type)
{
	for (size_t i = 0; i < s->n; i++)
		if (of_job(&s->ev[i].e, job) && s->ev[i].e.type == type)
			return &s->ev[i].e;
	return NULL;
}

/* The ring that the job's events up to (and with) @last tell first. */
static uint32_t naive_ring(const struct random_set *s, const struct grt_event *job,
			   const struct grt_event *last)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct grt_event *e = &s->ev[i].e;

		if (of_job(e, job) && e->type <= GRT_EV_COMPLETE && e->ring != GRT_RING_NONE)
			return e->ring;
		if (e == last)
			break;
	}
	return GRT_RING_NONE;
}

/* START from the latest first END before this one on the ring: every event is looked at. */
static bool naive_start(const struct random_set *s, const struct grt_event *job, uint64_t commit,
			uint64_t *start)
{
	const struct grt_event *end = naive_find(s, job, GRT_EV_END), *e;
	uint32_t ring = end ? naive_ring(s, job, end) : GRT_RING_NONE;

	*start = commit;
	if (!end || ring == GRT_RING_NONE)
		return false;
	for (size_t i = 0; (e = &s->ev[i].e) != end; i++)
		if (e->type == GRT_EV_END && naive_find(s, e, GRT_EV_END) == e &&
		    naive_ring(s, e, e) == ring && e->time > *start)
			*start = e->time;
	return *start <= end->time;
}

static void naive_waits(const struct random_set *s, const struct grt_event *job, uint64_t *n, uint64_t *ns)
{
	*n = *ns = 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct grt_event *in = &s->ev[i].e, *e;

		if (!of_job(in, job) || in->type != GRT_EV_SYNC_WAIT_ENTER)
			continue;
		for (size_t k = i + 1; k < s->n; k++) {
			e = &s->ev[k].e;
			if (!of_job(e, job) || e->tid != in->tid || e->type != GRT_EV_SYNC_WAIT_EXIT)
				continue;
			++*n;
			*ns += e->time - in->time;
			break;
		}
	}
}

static bool naive_times(const struct random_set *s, const struct grt_event *job, uint64_t time[GRT_STAMPS],
			unsigned int *seen)
{
	*seen = 0;
	for (unsigned int i = 0; i < GRT_STAMPS; i++) {
		const struct grt_event *e = naive_find(s, job, (uint16_t)(GRT_EV_SUBMIT + i));

		time[i] = e ? e->time : 0;
		*seen |= (unsigned int)!!e << i;
		if (i == GRT_STAMP_SUBMIT && e && (e->flags & GRT_FLAG_COMMIT) &&
		    !naive_find(s, job, GRT_EV_COMMIT)) {
			time[GRT_STAMP_COMMIT] = e->time;
			*seen |= 1 << GRT_STAMP_COMMIT;
		}
		if (i == GRT_STAMP_COMMIT && !e && (*seen & 2))
			time[i] = time[GRT_STAMP_SUBMIT];
	}
	if ((*seen & 2) && !(*seen & 4) &&
	    naive_start(s, job, time[GRT_STAMP_COMMIT], &time[GRT_STAMP_START]))
		*seen |= 1 << GRT_STAMP_START;
	return *seen;
}

static void compare_with_naive(struct fixture *f, const struct random_set *s)
{
	uint64_t time[GRT_STAMPS], waits, wait_ns, unjoined = 0, unjoined_ns = 0;
	size_t jobs = 0;
	unsigned int seen;

	for (size_t i = 0; i < s->n; i++) {
		const struct grt_event *e = &s->ev[i].e;
		const struct grt_job *job;
		bool first = true;

		for (size_t k = 0; k < i && first; k++)
			first = !of_job(&s->ev[k].e, e);
		if (!first)
			continue;
		naive_waits(s, e, &waits, &wait_ns);
		if (!naive_times(s, e, time, &seen)) {
			unjoined += waits;
			unjoined_ns += wait_ns;
			continue;
		}
		jobs++;
		job = find(f, e->ctx, e->seqno);
		assert_int_equal(job->seen, seen);
		for (unsigned int k = 0; k < GRT_STAMPS; k++)
			if (seen & 1U << k)
				assert_int_equal(job->time[k], time[k]);
		assert_int_equal(job->waits, waits);
		assert_int_equal(job->wait_ns, wait_ns);
	}
	assert_int_equal(f->n, jobs);
	assert_int_equal(counts(f).unjoined_waits, unjoined);
	assert_int_equal(counts(f).unjoined_wait_ns, unjoined_ns);
}

static void random_jobs_equal_the_naive_join(void **state)
{
	static struct random_set s;
	struct fixture *f = *state;

	for (unsigned int round = 0; round < 30; round++) {
		random_set(&s);
		begin(f, NULL);
		for (size_t i = 0; i < s.n; i++)
			assert_int_equal(grt_jobs_event(f->jobs, &s.ev[i].e), 0);
		flush(f);
		compare_with_naive(f, &s);
	}
}

struct life {
	struct grt_ev_job r;
	uint64_t order;
};

static int by_order(const void *a, const void *b)
{
	const struct life *x = a, *y = b;

	return (x->order > y->order) - (x->order < y->order);
}

static void random_life(struct life *l, uint64_t seqno)
{
	uint64_t t = 1000 + 40 * seqno;

	*l = (struct life){
		.r.e = {.type = GRT_EV_JOB,
			.size = sizeof(l->r),
			.ctx = 5 + seqno % 3,
			.seqno = seqno,
			.ring = (uint32_t)(seqno % 2),
			.tid = 70,
			.pid = 7,
			.engine = 1,
			.sample = (uint8_t)(1 + rand() % 100)},
		.r.submit = t,
		.r.commit = t += (uint64_t)rand() % 100,
		.r.start = t += (uint64_t)rand() % 100,
		.r.end = t += (uint64_t)rand() % 1000,
		.r.complete = t += (uint64_t)rand() % 50,
		.r.status = rand() % 8 ? 0 : -110,
		.r.cmd = (uint32_t)rand(),
	};
	l->order = l->r.e.time = t;
}

/* The events that a record stands for, all of all jobs by time. */
static void give_one_by_one(struct fixture *f, const struct life *life, size_t n)
{
	static struct grt_job_part all[5 * 500];
	static struct life order[5 * 500];
	struct grt_job_parts parts;
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		grt_job_split(&life[i].r.e, &parts);
		assert_int_equal(parts.n, 5);
		for (unsigned int k = 0; k < parts.n; k++, used++) {
			all[used] = parts.of[k];
			order[used] =
				(struct life){.r.fence_id = used, .order = parts.of[k].e.time << 16 | used};
		}
	}
	qsort(order, used, sizeof(*order), by_order);
	for (size_t i = 0; i < used; i++)
		assert_int_equal(grt_jobs_event(f->jobs, &all[order[i].r.fence_id].e), 0);
	flush(f);
}

static void same_job(const struct grt_job *a, const struct grt_job *b)
{
	assert_int_equal(a->seen, b->seen);
	assert_int_equal(a->inferred, b->inferred);
	assert_memory_equal(a->time, b->time, sizeof(a->time));
	assert_int_equal(a->ring, b->ring);
	assert_int_equal(a->pid, b->pid);
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->cmd, b->cmd);
	assert_int_equal(a->engine, b->engine);
	assert_int_equal(a->sample, b->sample);
	assert_int_equal(a->status, b->status);
	assert_int_equal(a->failed, b->failed);
}

static void records_equal_their_events(void **state)
{
	static struct life life[500];
	struct fixture *f = *state, other = {0};
	const struct grt_group *a, *b;

	for (size_t i = 0; i < 500; i++)
		random_life(&life[i], i + 1);
	qsort(life, 500, sizeof(*life), by_order);
	begin(&other, NULL);
	give_one_by_one(&other, life, 500);
	for (size_t i = 0; i < 500; i++)
		assert_int_equal(grt_jobs_event(f->jobs, &life[i].r.e), 0);
	flush(f);
	assert_int_equal(f->n, 500);
	assert_int_equal(other.n, 500);
	for (size_t i = 0; i < 500; i++)
		same_job(&f->out[i], find(&other, f->out[i].ctx, f->out[i].seqno));
	for (uint32_t i = 0; (a = grt_groups_get(f->groups, GRT_BY_RING, i)); i++) {
		b = grt_groups_get(other.groups, GRT_BY_RING, i);
		assert_int_equal(a->jobs, b->jobs);
		assert_int_equal(a->failed, b->failed);
		assert_true(a->exec.sum == b->exec.sum);
		assert_int_equal(grt_busy_sum(&a->busy), grt_busy_sum(&b->busy));
	}
	grt_jobs_free(other.jobs);
	grt_groups_free(other.groups);
	free(other.out);
}

/* As the DRM scheduler's: the jobs of a ring end and are complete in one order, and no event has their START.
 */
static void ring_life(struct life *l, uint64_t seqno, uint64_t ended[2])
{
	uint64_t t = 1000 + 40 * seqno, *last = &ended[seqno % 2];

	random_life(l, seqno);
	l->r.e.flags = GRT_FLAG_BPF;
	l->r.e.sample = 0;
	l->r.submit = t;
	l->r.start = 0;
	l->r.errors = l->r.status != 0;
	l->r.commit = t + (uint64_t)rand() % 100;
	l->r.end = (l->r.commit > *last ? l->r.commit : *last) + 4 + (uint64_t)rand() % 60;
	l->r.complete = *last = l->r.end + 1 + (uint64_t)rand() % 3;
	l->order = l->r.e.time = l->r.complete;
}

/* The jobs in flight then, as BPF programs had them. */
static void tell_running(struct fixture *f, const struct life *life, size_t n, uint64_t at)
{
	for (size_t i = 0; i < n; i++) {
		struct grt_ev_job r = life[i].r;

		if (r.submit > at || r.complete <= at)
			continue;
		r.e.time = at;
		r.complete = r.status = r.errors = 0;
		r.commit = r.commit > at ? 0 : r.commit;
		r.end = r.end > at ? 0 : r.end;
		assert_int_equal(grt_jobs_event(f->jobs, &r.e), 0);
	}
}

static int add_running(void *arg, const struct grt_job *job)
{
	uint64_t **out = arg;

	*(*out)++ = job->time[GRT_STAMP_START] << 16 | job->seqno;
	return 0;
}

static int compare_numbers(const void *a, const void *b)
{
	return (*(const uint64_t *)a > *(const uint64_t *)b) - (*(const uint64_t *)a < *(const uint64_t *)b);
}

static size_t list_running(struct fixture *f, uint64_t out[500])
{
	uint64_t *end = out;

	assert_int_equal(grt_jobs_each_running(f->jobs, add_running, &end), 0);
	qsort(out, (size_t)(end - out), sizeof(*out), compare_numbers);
	return (size_t)(end - out);
}

/* Events of @part up to and with @at, from *@next on. */
static void give_up_to(struct fixture *f, const struct life *order, const struct grt_job_part *part, size_t n,
		       size_t *next, uint64_t at)
{
	for (; *next < n && (order[*next].order >> 16) <= at; (*next)++)
		assert_int_equal(grt_jobs_event(f->jobs, &part[order[*next].r.fence_id].e), 0);
}

static void records_without_start_have_the_order_of_their_ring(void **state)
{
	static struct life life[500], order[5 * 500];
	static struct grt_job_part part[5 * 500];
	struct fixture *f = *state, other = {0};
	uint64_t ended[2] = {0}, here[500], there[500];
	struct grt_job_parts parts;
	size_t used = 0, next = 0, told = 0, ran = 0;

	for (size_t i = 0; i < 500; i++) {
		ring_life(&life[i], i + 1, ended);
		grt_job_split(&life[i].r.e, &parts);
		for (unsigned int k = 0; k < parts.n; k++, used++) {
			part[used] = parts.of[k];
			order[used].r.fence_id = used;
			order[used].order = parts.of[k].e.time << 16 | used;
		}
	}
	qsort(life, 500, sizeof(*life), by_order);
	qsort(order, used, sizeof(*order), by_order);
	begin(&other, NULL);
	/* what runs is the same at each moment, whichever way the jobs are recorded */
	for (uint64_t at = 1500; at < 24000; at += 333) {
		for (; told < 500 && life[told].order <= at; told++)
			assert_int_equal(grt_jobs_event(f->jobs, &life[told].r.e), 0);
		tell_running(f, life, 500, at);
		give_up_to(&other, order, part, used, &next, at);
		ran += list_running(f, here);
		assert_int_equal(list_running(f, here), list_running(&other, there));
		assert_memory_equal(here, there, list_running(f, here) * sizeof(*here));
	}
	assert_true(ran > 50);
	for (; told < 500; told++)
		assert_int_equal(grt_jobs_event(f->jobs, &life[told].r.e), 0);
	give_up_to(&other, order, part, used, &next, UINT64_MAX);
	flush(f);
	flush(&other);
	assert_int_equal(f->n, 500);
	assert_int_equal(other.n, 500);
	for (size_t i = 0; i < 500; i++)
		same_job(&f->out[i], find(&other, f->out[i].ctx, f->out[i].seqno));
	assert_int_equal(counts(f).whole, 500);
	assert_int_equal(counts(f).inferred_start, counts(&other).inferred_start);
	assert_int_equal(counts(f).repeated, 0);
	assert_int_equal(grt_jobs_chosen(f->jobs), 0);
	grt_jobs_free(other.jobs);
	grt_groups_free(other.groups);
	free(other.out);
}

/* Whatever the bounds, every job comes out and every wait is accounted for. */
static void tight_bounds_lose_nothing(void **state)
{
	static struct random_set s;
	struct fixture *f = *state;
	struct grt_jobs_count c;
	uint64_t waits = 0, stamps = 0;

	random_set(&s);
	for (uint32_t bound = 1; bound < 40; bound++) {
		const struct grt_jobs_limits limits = {
			.jobs = bound, .window = 1 + bound % 5, .waits = 1 + bound % 7};

		begin(f, &limits);
		waits = stamps = 0;
		for (size_t i = 0; i < s.n; i++) {
			assert_int_equal(grt_jobs_event(f->jobs, &s.ev[i].e), 0);
			waits += s.ev[i].e.type == GRT_EV_SYNC_WAIT_ENTER ||
				 s.ev[i].e.type == GRT_EV_SYNC_WAIT_EXIT;
		}
		flush(f);
		c = counts(f);
		assert_int_equal(c.jobs, f->n);
		assert_int_equal(2 * (c.waits + c.unjoined_waits) + c.half_waits, waits);
		for (size_t i = 0; i < f->n; i++)
			stamps += (uint64_t)__builtin_popcount(f->out[i].seen &
							       ~(unsigned int)f->out[i].inferred);
		for (size_t i = 0; i < s.n; i++)
			stamps -= s.ev[i].e.type <= GRT_EV_COMPLETE;
		assert_int_equal(stamps + c.repeated + c.late, 0);
	}
}

/* ---------------------------------------------------------------- sorted jobs */

static int take_seqno(void *arg, const struct grt_job *job)
{
	uint64_t **at = arg;

	*(*at)++ = job->seqno;
	return 0;
}

static void top_keeps_the_first_in_order(void **state)
{
	const struct grt_job_view view = {.names = NULL};
	struct grt_job job = {.seen = 0xf};
	struct grt_top *top;
	uint64_t got[8], *at = got;

	(void)state;
	assert_int_equal(grt_top_new(&top, grt_column_find(&grt_job_table, "t_exec"), &view, 5), 0);
	for (uint64_t i = 0; i < 1000; i++) {
		/* 7 is without START: it is last in any order; 500 and 501 are equal */
		job.seqno = i;
		job.seen = i == 7 ? 0xb : 0xf;
		job.time[GRT_STAMP_END] = i * 317 % 1000;
		if (i == 500 || i == 501)
			job.time[GRT_STAMP_END] = 5000;
		assert_int_equal(grt_top_add(top, &job), 0);
	}
	assert_int_equal(grt_top_each(top, take_seqno, &at), 0);
	assert_int_equal(at - got, 5);
	assert_int_equal(got[0], 500);
	assert_int_equal(got[1], 501);
	for (unsigned int i = 2; i < 5; i++)
		assert_int_equal(got[i] * 317 % 1000, 1001 - i);
	grt_top_free(top);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_five_stamps),
		TEST(submit_that_is_also_the_commit),
		TEST(an_observed_commit_beats_a_concluded_one),
		TEST(a_job_of_two_sources_is_one_job),
		TEST(a_call_waits_for_each_of_several_until_it_is_complete),
		TEST(a_call_for_any_of_several_ends_for_all),
		TEST(a_call_for_one_lasts_until_it_returns),
		TEST(a_call_may_begin_before_its_job),
		TEST(an_inferred_event_stays_inferred),
		TEST(start_follows_the_ring),
		TEST(rings_and_devices_do_not_mix),
		TEST(the_job_before_may_be_only_half_in_the_trace),
		TEST(an_observed_start_is_kept),
		TEST(what_is_missing_is_not_invented),
		TEST(a_sampled_job_has_no_ring_order),
		TEST(the_job_behind_a_sampled_one_has_no_order),
		TEST(rates_that_change_scale_exactly),
		TEST(a_job_in_one_record),
		TEST(the_flags_of_a_record_are_those_of_its_submit),
		TEST(a_record_concludes_no_start),
		TEST(a_record_of_a_job_that_goes_on),
		TEST(the_job_that_runs_now),
		TEST(a_job_whose_end_was_lost_does_not_run),
		TEST(done_jobs_are_handed_over_when_asked),
		TEST(waits_of_a_record),
		TEST(a_wait_of_a_record_without_its_stamp),
		TEST(a_record_of_a_job_that_had_begun),
		TEST(the_first_stamp_is_the_earliest),
		TEST(end_and_complete_in_any_order),
		TEST(an_end_after_complete_gives_no_negative_time),
		TEST(an_identity_used_again),
		TEST(firmware_decides_when_a_job_starts),
		TEST(errors_and_status),
		TEST(a_status_that_is_not_told),
		TEST(process_without_jobs_has_its_name),
		TEST(events_without_identity_are_no_job),
		TEST(waits_are_joined_by_the_fence),
		TEST(a_wait_that_begins_after_complete_counts),
		TEST(a_wait_that_comes_before_its_job),
		TEST(waits_for_no_job_are_counted_with_their_time),
		TEST(halves_of_waits),
		TEST(jobs_leave_when_the_window_is_over),
		TEST(a_job_is_held_while_someone_waits),
		TEST(the_oldest_gives_way),
		TEST(age_is_not_the_slot),
		TEST(a_wait_for_a_job_that_gave_way),
		TEST(a_window_larger_than_the_bound),
		TEST(the_oldest_wait_gives_way),
		TEST(a_name_is_that_of_the_submit),
		TEST(names_are_bounded_and_end),
		TEST(a_sink_ends_the_run),
		TEST(busy_counts_overlaps_once),
		TEST(groups_are_bounded),
		TEST(random_jobs_equal_the_naive_join),
		TEST(records_equal_their_events),
		TEST(records_without_start_have_the_order_of_their_ring),
		TEST(tight_bounds_lose_nothing),
		TEST(top_keeps_the_first_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
