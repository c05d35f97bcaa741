// SPDX-License-Identifier: GPL-2.0
/*
 * Metrics of a service that runs for long: processes and control groups come and go, the sums stay exact and
 * the rows few. What the sums are is compared with reports in tests/cli/serve.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/memfile.h"
#include "export/metrics.h"
#include "jobs/jobs.h"

#define S UINT64_C(1000000000)

static int setup(void **state)
{
	struct grt_metrics *m;

	assert_int_equal(grt_metrics_new(&m), 0);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	grt_metrics_free(*state);
	return 0;
}

static void name(struct grt_metrics *m, uint32_t tid, const char *comm, const char *process)
{
	struct grt_ev_name e = {
		.e = {.type = GRT_EV_NAME, .size = sizeof(e)}, .kind = GRT_NAME_THREAD, .id = tid};

	memcpy(e.name, comm, strlen(comm));
	memcpy(e.owner, process, strlen(process));
	assert_int_equal(grt_metrics_event(m, &e.e), 0);
}

static void owner(struct grt_metrics *m, uint32_t pid, const char *cgroup)
{
	struct grt_ev_owner e = {.e = {.type = GRT_EV_OWNER, .size = sizeof(e), .pid = pid},
				 .uid = 1000,
				 .length = (uint32_t)strlen(cgroup)};

	memcpy(e.cgroup, cgroup, e.length);
	assert_int_equal(grt_metrics_event(m, &e.e), 0);
}

static void rank(struct grt_metrics *m, uint32_t pid, uint32_t number, const char *job)
{
	struct grt_ev_owner_rank e = {.e = {.type = GRT_EV_OWNER_RANK, .size = sizeof(e), .pid = pid},
				      .rank = number,
				      .local_rank = UINT32_MAX,
				      .world = 8,
				      .length = (uint32_t)strlen(job)};

	memcpy(e.job, job, e.length);
	assert_int_equal(grt_metrics_event(m, &e.e), 0);
}

/* A job of 2 ms, of which 1 ms in the queue. */
static void job(struct grt_metrics *m, uint32_t pid, uint64_t seqno, uint64_t time)
{
	struct grt_ev_job e = {
		.e = {.type = GRT_EV_JOB,
		      .size = sizeof(e),
		      .time = time + 2000000,
		      .pid = pid,
		      .tid = pid,
		      .ctx = 9,
		      .seqno = seqno,
		      .ring = 1},
		.submit = time,
		.commit = time,
		.start = time + 1000000,
		.end = time + 2000000,
		.complete = time + 2000000,
	};

	assert_int_equal(grt_metrics_event(m, &e.e), 0);
}

static char *page(struct grt_metrics *m)
{
	struct grt_memfile memory;
	FILE *out = grt_memfile_open(&memory);

	assert_int_equal(grt_metrics_write(m, out), 0);
	return grt_memfile_close(&memory, out, NULL);
}

/* The sum of all lines that begin so, -1: there are none; @lines: how many. */
static double sum(struct grt_metrics *m, const char *begin, unsigned int *lines)
{
	char *text = page(m), *line, *rest = text;
	double all = 0;

	*lines = 0;
	while ((line = strsep(&rest, "\n")))
		if (!strncmp(line, begin, strlen(begin))) {
			all += atof(strrchr(line, ' '));
			++*lines;
		}
	free(text);
	return *lines ? all : -1;
}

static void expect(struct grt_metrics *m, const char *begin, double value, unsigned int lines)
{
	unsigned int n;

	assert_true(sum(m, begin, &n) == value);
	assert_int_equal(n, lines);
}

static bool all_gone(uint32_t pid)
{
	return true;
}

static bool none_gone(uint32_t pid)
{
	return false;
}

static void rows_are_bounded(void **state)
{
	struct grt_metrics *m = *state;
	char comm[16], cgroup[32];

	for (uint32_t i = 1; i <= 5000; i++) {
		snprintf(comm, sizeof(comm), "p%u", i);
		snprintf(cgroup, sizeof(cgroup), "/c%u", i);
		name(m, i, comm, comm);
		owner(m, i, cgroup);
		job(m, i, i, i * S / 1000);
	}
	assert_int_equal(grt_metrics_settle(m, UINT64_MAX), 0);
	expect(m, "grtrace_gpu_jobs_total{", 5000, 1);
	expect(m, "grtrace_process_jobs_total{", 5000, 257);
	expect(m, "grtrace_cgroup_jobs_total{", 5000, 257);
	expect(m, "grtrace_process_jobs_total{gpu=\"unknown\",pid=\"\",comm=\"(others)\"}", 4744, 1);
	/* each begins when the one before ends */
	expect(m, "grtrace_gpu_busy_seconds_total{", 5, 1);
	expect(m, "grtrace_gpu_job_exec_seconds_bucket{gpu=\"unknown\",le=\"0.001\"}", 5000, 1);
	expect(m, "grtrace_gpu_job_exec_seconds_bucket{gpu=\"unknown\",le=\"0.0003\"}", 0, 1);
	expect(m, "grtrace_gpu_job_queue_seconds_sum{", 5, 1);
}

static void processes_come_and_go(void **state)
{
	struct grt_metrics *m = *state;
	unsigned int n;

	for (uint32_t i = 1; i <= 5000; i++) {
		owner(m, i, "/c");
		job(m, i, i, i * 10 * S);
		assert_int_equal(grt_metrics_settle(m, UINT64_MAX), 0);
		if (i % 10 == 0)
			grt_metrics_forget(m, i * 10 * S, all_gone);
	}
	expect(m, "grtrace_gpu_jobs_total{", 5000, 1);
	expect(m, "grtrace_cgroup_jobs_total{", 5000, 1);
	expect(m, "grtrace_process_jobs_total{gpu=\"unknown\",pid=\"\"", -1, 0);
	sum(m, "grtrace_process_jobs_total{", &n);
	assert_in_range(n, 1, 40);
	grt_metrics_forget(m, 60000 * S, none_gone);
	sum(m, "grtrace_process_jobs_total{", &n);
	assert_in_range(n, 1, 40);
	grt_metrics_forget(m, 60000 * S, all_gone);
	expect(m, "grtrace_process_jobs_total{", -1, 0);
	expect(m, "grtrace_cgroup_jobs_total{", -1, 0);
	expect(m, "grtrace_gpu_jobs_total{", 5000, 1);
}

#define CONTAINER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Whose a process is stands in labels; where a number is used again, the rank before is not that one's. */
static void whose_it_is(void **state)
{
	struct grt_metrics *m = *state;

	owner(m, 7, "/kubepods/pod8f1c2d3e-4a5b-6c7d-8e9f-0a1b2c3d4e5f/" CONTAINER);
	rank(m, 7, 0, "4711");
	job(m, 7, 1, S);
	owner(m, 8, "/system.slice/slurmstepd.scope/job_12/step_0/user/task_3");
	job(m, 8, 2, 2 * S);
	/* of a process without an owner it says nothing */
	rank(m, 9, 1, "x");
	assert_int_equal(grt_metrics_settle(m, UINT64_MAX), 0);
	expect(m,
	       "grtrace_process_info{gpu=\"unknown\",pid=\"7\",comm=\"\",uid=\"1000\",cgroup=\"/kubepods/pod8f1c2d3e-4a5b-6c7d-8e9f-0a1b2c3d4e5f/" CONTAINER
	       "\",pod=\"8f1c2d3e-4a5b-6c7d-8e9f-0a1b2c3d4e5f\",container=\"" CONTAINER
	       "\",slurm_job=\"\",rank=\"0\",launcher_job=\"4711\"} ",
	       1, 1);
	expect(m,
	       "grtrace_process_info{gpu=\"unknown\",pid=\"8\",comm=\"\",uid=\"1000\",cgroup=\"/system.slice/slurmstepd.scope/job_12/step_0/user/task_3\",pod=\"\",container=\"\",slurm_job=\"12\",rank=\"\",launcher_job=\"\"} ",
	       1, 1);
	expect(m,
	       "grtrace_cgroup_info{gpu=\"unknown\",cgroup=\"/system.slice/slurmstepd.scope/job_12/step_0/user/task_3\",pod=\"\",container=\"\",slurm_job=\"12\"} ",
	       1, 1);
	owner(m, 7, "/other");
	expect(m,
	       "grtrace_process_info{gpu=\"unknown\",pid=\"7\",comm=\"\",uid=\"1000\",cgroup=\"/other\",pod=\"\",container=\"\",slurm_job=\"\",rank=\"\",launcher_job=\"\"} ",
	       1, 1);
}

/* Its number means another one from then on. */
static void a_number_is_used_again(void **state)
{
	struct grt_metrics *m = *state;

	name(m, 7, "old", "old");
	job(m, 7, 1, S);
	job(m, 7, 2, 2 * S);
	assert_int_equal(grt_metrics_settle(m, UINT64_MAX), 0);
	expect(m, "grtrace_process_jobs_total{gpu=\"unknown\",pid=\"7\",comm=\"old\"}", 2, 1);
	name(m, 7, "new", "new");
	job(m, 7, 3, 3 * S);
	assert_int_equal(grt_metrics_settle(m, UINT64_MAX), 0);
	expect(m, "grtrace_process_jobs_total{gpu=\"unknown\",pid=\"7\"", 1, 1);
	expect(m, "grtrace_process_busy_seconds_total{gpu=\"unknown\",pid=\"7\",comm=\"new\"}", 0.001, 1);
	expect(m, "grtrace_gpu_jobs_total{", 3, 1);
}

/* Without it jobs are counted when some thousand later ones are complete. */
static void jobs_settle(void **state)
{
	struct grt_metrics *m = *state;

	job(m, 7, 1, S);
	job(m, 7, 2, 2 * S);
	expect(m, "grtrace_gpu_jobs_total{", -1, 0);
	assert_int_equal(grt_metrics_settle(m, 2 * S), 0);
	expect(m, "grtrace_gpu_jobs_total{", 1, 1);
	assert_int_equal(grt_metrics_settle(m, 3 * S), 0);
	expect(m, "grtrace_gpu_jobs_total{", 2, 1);
}

/* There are 64, the last of which is that of all others. */
static void gpus_are_bounded(void **state)
{
	struct grt_metrics *m = *state;
	struct grt_ev_gpu_slice slice = {.e = {.type = GRT_EV_GPU_SLICE, .size = sizeof(slice), .pid = 7}};
	struct grt_ev_name e = {.e = {.type = GRT_EV_NAME, .size = sizeof(e)}, .kind = GRT_NAME_DEVICE};

	for (uint32_t i = 1; i <= 100; i++) {
		e.id = slice.e.device = i;
		snprintf(e.name, sizeof(e.name), "nvidia%u 0000:%02x:00.0", i, i);
		assert_int_equal(grt_metrics_event(m, &e.e), 0);
		slice.start = i * S;
		slice.e.time = i * S + S / 2;
		assert_int_equal(grt_metrics_event(m, &slice.e), 0);
	}
	expect(m, "grtrace_gpu_busy_seconds_total{", 50, 64);
	expect(m, "grtrace_gpu_busy_seconds_total{gpu=\"0000:01:00.0\"}", 0.5, 1);
	expect(m, "grtrace_gpu_busy_seconds_total{gpu=\"(others)\"}", 18.5, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(processes_come_and_go, setup, teardown),
		cmocka_unit_test_setup_teardown(whose_it_is, setup, teardown),
		cmocka_unit_test_setup_teardown(a_number_is_used_again, setup, teardown),
		cmocka_unit_test_setup_teardown(jobs_settle, setup, teardown),
		cmocka_unit_test_setup_teardown(gpus_are_bounded, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
