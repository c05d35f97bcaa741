// SPDX-License-Identifier: GPL-2.0
/* A pass with the analyses of a summary: those that see none of their events are not begun. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "analyses.h"
#include "cuda/launches.h"
#include "jobs/jobs.h"
#include "trace/packet.h"

static void begin_wanted(struct grt_analyses *a)
{
	assert_int_equal(grt_analyses_join(a), 0);
	assert_int_equal(grt_analyses_begin(a), 0);
	grt_analyses_consume(a);
	grt_analyses_span(a, 0, 1000);
}

static void begin(struct grt_analyses *a, bool json)
{
	const struct grt_part *jobs = grt_part_find("job", GRT_PART_BY);

	*a = (struct grt_analyses){.pass = {.summary = true, .json = json, .asked = jobs, .top = 10}};
	a->pass.sort = grt_column_find(jobs->table, "t_exec");
	grt_analyses_want_all(a, GRT_PART_SUMMARY);
	begin_wanted(a);
}

static void take_job(struct grt_analyses *a)
{
	struct grt_ev_submit e = {.e = {.type = GRT_EV_SUBMIT, .size = sizeof(e), .ctx = 1, .seqno = 1}};

	assert_int_equal(a->c.job(&a->c, &e.e, 0), 0);
}

static void take_name(struct grt_analyses *a)
{
	struct grt_ev_name e = {.e = {.type = GRT_EV_NAME, .size = sizeof(e), .ring = GRT_RING_NONE},
				.kind = GRT_NAME_THREAD,
				.id = 7,
				.name = "worker"};

	assert_int_equal(a->c.name(&a->c, &e.e, 0), 0);
}

static void take_launch(struct grt_analyses *a)
{
	struct grt_ev_launch e = {.e = {.type = GRT_EV_LAUNCH, .size = sizeof(e), .pid = 5, .tid = 7}};

	assert_int_equal(a->c.launch(&a->c, &e.e, 0), 0);
}

static bool has(const struct grt_analyses *a, unsigned int row)
{
	return grt_analyses_state(a, row);
}

static void test_names_begin_none(void **state)
{
	struct grt_analyses a;

	begin(&a, false);
	take_name(&a);
	assert_false(has(&a, GRT_ANALYSIS_ROW_idle));
	assert_true(has(&a, GRT_ANALYSIS_ROW_groups));
	assert_int_equal(grt_analyses_finish(&a), 0);
	grt_analyses_free(&a);
}

static void test_jobs_begin_theirs(void **state)
{
	struct grt_analyses a;

	begin(&a, false);
	take_job(&a);
	assert_true(has(&a, GRT_ANALYSIS_ROW_idle));
	assert_false(has(&a, GRT_ANALYSIS_ROW_launch_groups));
	assert_false(has(&a, GRT_ANALYSIS_ROW_steps));
	assert_false(has(&a, GRT_ANALYSIS_ROW_counters));
	assert_int_equal(grt_analyses_finish(&a), 0);
	grt_analyses_free(&a);
}

static void test_launches_begin_theirs(void **state)
{
	struct grt_analyses a;

	begin(&a, false);
	take_name(&a);
	take_job(&a);
	take_launch(&a);
	assert_true(has(&a, GRT_ANALYSIS_ROW_launch_groups));
	assert_true(has(&a, GRT_ANALYSIS_ROW_steps));
	assert_false(has(&a, GRT_ANALYSIS_ROW_counters));
	assert_int_equal(grt_analyses_finish(&a), 0);
	grt_analyses_free(&a);
}

static void take_kernel(struct grt_analyses *a)
{
	struct grt_ev_gpu_kernel e = {.e = {.type = GRT_EV_GPU_KERNEL, .size = sizeof(e), .pid = 5, .tid = 7},
				      .by_gpu = 1,
				      .start = 10,
				      .end = 20};

	assert_int_equal(a->c.launch(&a->c, &e.e, 0), 0);
}

static bool shows(const struct grt_analyses *a, const char *part, unsigned int row)
{
	return grt_part_find(part, GRT_PART_SUMMARY)->any(grt_analyses_state(a, row));
}

/* All get the work, also that with which they begin. */
static void test_launches_are_joined_once(void **state)
{
	struct grt_analyses a;

	begin(&a, false);
	take_kernel(&a);
	assert_true(shows(&a, "kernel", GRT_ANALYSIS_ROW_launch_groups));
	assert_true(shows(&a, "idle", GRT_ANALYSIS_ROW_idle));
	assert_int_equal(grt_launches_count(a.pass.launches).by_gpu, 1);
	assert_int_equal(grt_analyses_finish(&a), 0);
	grt_analyses_free(&a);
}

/* It takes an event of a class that it began with, and does not need, as nothing of its own. */
static void test_launches_alone(void **state)
{
	struct grt_analyses a = {.pass = {.summary = true}};

	grt_analyses_want(&a, grt_part_find("kernel", GRT_PART_SUMMARY));
	begin_wanted(&a);
	assert_null(grt_analyses_state(&a, GRT_ANALYSIS_ROW_launch_groups));
	assert_int_equal(grt_analyses_classes(&a) & GRT_IN_CLASS(launch), GRT_IN_CLASS(launch));
	take_kernel(&a);
	take_kernel(&a);
	assert_int_equal(grt_launches_count(a.pass.launches).by_gpu, 2);
	assert_true(shows(&a, "kernel", GRT_ANALYSIS_ROW_launch_groups));
	assert_int_equal(grt_analyses_finish(&a), 0);
	grt_analyses_free(&a);
}

/* A monitor hands events to analyses itself, and joins no launches. */
static void test_no_monitor_needs_launches(void **state)
{
	for (int i = 0; i < GRT_ANALYSES; i++)
		for (const struct grt_part *p = grt_analysis_rows[i]->parts; p->name; p++)
			assert_false(grt_analysis_rows[i]->work && p->where & GRT_PART_MONITOR);
}

/* Tables without rows are in JSON. */
static void test_json_begins_all(void **state)
{
	struct grt_analyses a;

	begin(&a, true);
	assert_true(has(&a, GRT_ANALYSIS_ROW_launch_groups));
	assert_true(has(&a, GRT_ANALYSIS_ROW_counters));
	grt_analyses_free(&a);
}

/* Names from before its first event are known to one that began late. */
static int on_name(void *arg, const struct grt_event *e)
{
	return grt_names_add(arg, (const struct grt_ev_name *)e);
}

static void test_names_are_told_again(void **state)
{
	const struct grt_names *told;
	struct grt_names names = {.used = 0};
	struct grt_analyses a;
	uint32_t number;

	begin(&a, false);
	take_name(&a);
	told = grt_jobs_names(a.jobs);
	assert_int_equal(grt_names_each(told, on_name, &names), 0);
	number = grt_names_find(&names, GRT_NAME_THREAD, 7);
	assert_int_equal(number, grt_names_find(told, GRT_NAME_THREAD, 7));
	assert_string_equal(grt_names_name(&names, number), "worker");
	grt_names_free(&names);
	grt_analyses_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_begin_none),
		cmocka_unit_test(test_jobs_begin_theirs),
		cmocka_unit_test(test_launches_begin_theirs),
		cmocka_unit_test(test_json_begins_all),
		cmocka_unit_test(test_launches_are_joined_once),
		cmocka_unit_test(test_names_are_told_again),
		cmocka_unit_test(test_launches_alone),
		cmocka_unit_test(test_no_monitor_needs_launches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
