// SPDX-License-Identifier: GPL-2.0
/*
 * Self-test of the DRM scheduler's adapter, by jobs of the software GPU under
 * the real scheduler: every event is compared with what that GPU says of the
 * same job. TAP version 13.
 *
 *	make; sudo ./grtrace_drm_bridge
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kmod.h"
#include "softgpu.h"
#include "tap.h"

#define US 1000ULL
#define MS 1000000ULL
#define JOBS_MAX 512

/* Stamps of the two modules are of one clock, read in two ways that may differ by this. */
#define SLACK_NS 2000ULL

static struct softgpu gpu;
static struct grtrace_softgpu_job jobs[JOBS_MAX];
static struct grtrace_softgpu_result results[JOBS_MAX];
static struct capture trace;

/* What the trace has of one job. */
struct told {
	unsigned int count[GRT_EV_MAX];
	const struct grt_event *last[GRT_EV_MAX];
};

static struct told look_up(uint64_t ctx, uint64_t seqno)
{
	const struct grt_packet *p = NULL;
	const struct grt_event *e;
	struct told t = {0};

	while ((p = capture_packet(&trace, p)))
		for (e = capture_record(p, NULL); e; e = capture_record(p, e)) {
			if (e->ctx != ctx || e->seqno != seqno || e->type >= GRT_EV_MAX)
				continue;
			t.count[e->type]++;
			t.last[e->type] = e;
		}
	return t;
}

static bool begin(void)
{
	int err = kmod_config("buffer_size=16777216");

	capture_free(&trace);
	if (!err)
		err = kmod_write("control", "start");
	if (err)
		TAP_FAIL("cannot start the module: %s", strerror(-err));
	return !err;
}

/* Runs @count of the jobs to their end, traced. */
static bool run(unsigned int count)
{
	int err;

	if (!begin())
		return false;
	if (!softgpu_submit(&gpu, jobs, count) || !softgpu_results(&gpu, results, count)) {
		TAP_FAIL("the software GPU did not run the jobs: %s", strerror(errno));
		return false;
	}
	usleep(20000); /* a result is there before the finished fence is signalled */
	err = kmod_write("control", "stop");
	if (!err)
		err = capture_file(&trace, "trace_pipe");
	if (err)
		TAP_FAIL("cannot read the trace: %s", strerror(-err));
	return !err && capture_valid(&trace);
}

static struct grtrace_softgpu_result *result_of(uint64_t cookie, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (results[i].cookie == cookie)
			return &results[i];
	return NULL;
}

static bool wrong(const struct grtrace_softgpu_result *r, const char *what)
{
	TAP_FAIL("job %llu of ring %u, fence %llu:%llu: %s", (unsigned long long)r->cookie, r->ring,
		 (unsigned long long)r->ctx, (unsigned long long)r->seqno, what);
	return false;
}

static bool is_named(const struct grt_event *e, const char *ring)
{
	const struct grt_packet *p = NULL;
	const struct grt_ev_name *n;
	const struct grt_event *at;

	while ((p = capture_packet(&trace, p)))
		for (at = capture_record(p, NULL); at; at = capture_record(p, at)) {
			n = (const void *)at;
			if (at->type == GRT_EV_NAME && n->kind == GRT_NAME_RING && n->id == e->ring)
				return !strcmp(n->name, ring) && !strcmp(n->owner, GRTRACE_SOFTGPU_DRIVER);
		}
	return false;
}

static bool common_right(const struct grtrace_softgpu_result *r, const struct grt_event *e)
{
	if (e->pid != r->pid || e->tid != r->tid)
		return wrong(r, "an event has not the submitter's pid and tid");
	if (!is_named(e, gpu.ring[r->ring].name))
		return wrong(r, "an event is not on its ring");
	return true;
}

static bool after(uint64_t later, uint64_t earlier)
{
	return later + SLACK_NS >= earlier;
}

/* One that ran: each event once, in order, and around the moments that the GPU knows. */
static bool life_right(const struct grtrace_softgpu_result *r)
{
	static const unsigned int life[] = {GRT_EV_SUBMIT, GRT_EV_COMMIT, GRT_EV_END, GRT_EV_COMPLETE};
	struct told t = look_up(r->ctx, r->seqno);
	unsigned int i;

	for (i = 0; i < 4; i++) {
		if (t.count[life[i]] != 1)
			return wrong(r, "an event of its life is missing or there twice");
		if (!common_right(r, t.last[life[i]]))
			return false;
		if (i && t.last[life[i]]->time < t.last[life[i - 1]]->time)
			return wrong(r, "its events are not in order");
	}
	if (!after(t.last[GRT_EV_SUBMIT]->time, r->submit) || !after(r->run, t.last[GRT_EV_SUBMIT]->time))
		return wrong(r, "SUBMIT is not between submit and run");
	if (!after(t.last[GRT_EV_COMMIT]->time, r->submit) || !after(r->run, t.last[GRT_EV_COMMIT]->time))
		return wrong(r, "COMMIT is not between submit and run");
	if (!after(t.last[GRT_EV_END]->time, r->end))
		return wrong(r, "END is before the hardware's end");
	return true;
}

static unsigned int fill(unsigned int count, uint64_t duration)
{
	unsigned int i;

	memset(jobs, 0, sizeof(jobs));
	for (i = 0; i < count; i++)
		jobs[i] = (struct grtrace_softgpu_job){
			.duration = duration + i % 7 * 50 * US,
			.cookie = 1 + i,
			.ring = i % gpu.nrings,
			.priority = i % GRTRACE_SOFTGPU_PRIORITIES,
		};
	return count;
}

static void line_of(const char *adapter, char *line, size_t size)
{
	static char text[32768];
	char *at = text, *l;
	size_t n = strlen(adapter);

	line[0] = 0;
	kmod_read("adapters", text, sizeof(text));
	while ((l = strsep(&at, "\n")))
		if (!strncmp(l, adapter, n) && l[n] == ' ')
			snprintf(line, size, "%s", l);
}

static void case_bound(void)
{
	char line[4096];

	line_of("drm_bridge", line, sizeof(line));
	tap_note("%s", line);
	CHECK(strstr(line, " bound=1 "));
	CHECK(strstr(line, " unmatched=0 "));
	CHECK(!strstr(line, ":0"));
}

#define LIVES 499

static void case_life(void)
{
	unsigned int n = fill(LIVES, 100 * US), i;

	CHECK_OK(run(n));
	CHECK_EQ(kmod_stat("lost_events", NULL), 0);
	for (i = 0; i < n; i++)
		CHECK_OK(life_right(&results[i]));
	CHECK_EQ(capture_count(&trace, GRT_EV_SUBMIT), n);
	CHECK_EQ(capture_count(&trace, GRT_EV_COMMIT), n);
	CHECK_EQ(capture_count(&trace, GRT_EV_END), n);
	CHECK_EQ(capture_count(&trace, GRT_EV_COMPLETE), n);
	CHECK_EQ(capture_count(&trace, GRT_EV_ERROR), 0);
}

/* The fence of the job with a cookie is what another one's WAIT_DEP names. */
static bool depends(uint64_t cookie, uint64_t on, bool signalled, unsigned int count)
{
	const struct grtrace_softgpu_result *r = result_of(cookie, count), *dep = result_of(on, count);
	const struct grt_ev_wait_dep *w;
	struct told t = look_up(r->ctx, r->seqno);

	if (t.count[GRT_EV_WAIT_DEP] != 1)
		return wrong(r, "it has not one WAIT_DEP");
	w = (const void *)t.last[GRT_EV_WAIT_DEP];
	if (w->dep_ctx != dep->ctx || w->dep_seqno != dep->seqno)
		return wrong(r, "its WAIT_DEP names another fence");
	if (!!(w->e.flags & GRT_FLAG_SIGNALLED) != signalled)
		return wrong(r, "its WAIT_DEP has the flag SIGNALLED wrong");
	return common_right(r, &w->e);
}

/* On another ring, so that the scheduler waits for the fence itself. */
static void case_dependencies(void)
{
	uint32_t open = softgpu_sync(&gpu), over = softgpu_sync(&gpu);

	CHECK(open && over && gpu.nrings >= 2);
	memset(jobs, 0, sizeof(jobs));
	jobs[0] = (struct grtrace_softgpu_job){.duration = 500 * MS, .cookie = 1, .out_sync = open};
	jobs[1] = (struct grtrace_softgpu_job){
		.duration = US, .cookie = 2, .ring = 1, .in_syncs = (uintptr_t)&open, .in_count = 1};
	CHECK_OK(run(2));
	CHECK_OK(life_right(&results[0]));
	CHECK_OK(life_right(&results[1]));
	CHECK_OK(depends(2, 1, false, 2));
	CHECK_EQ(capture_count(&trace, GRT_EV_WAIT_DEP), 1);

	jobs[0] = (struct grtrace_softgpu_job){.duration = US, .cookie = 1, .out_sync = over};
	CHECK(softgpu_submit(&gpu, jobs, 1) && softgpu_results(&gpu, results + 1, 1));
	usleep(20000);
	jobs[0] = (struct grtrace_softgpu_job){
		.duration = US, .cookie = 2, .ring = 1, .in_syncs = (uintptr_t)&over, .in_count = 1};
	CHECK_OK(run(1));
	CHECK_OK(depends(2, 1, true, 2));
	CHECK_EQ(capture_count(&trace, GRT_EV_WAIT_DEP), 1);
	CHECK_EQ(capture_count(&trace, GRT_EV_FENCE), 0);
}

/* ERROR has what went wrong on the hardware; the fence does not have it in every kernel. */
static bool failed(const struct grtrace_softgpu_result *r, int status)
{
	struct told t = look_up(r->ctx, r->seqno);
	int told;

	if (t.count[GRT_EV_ERROR] != 1 || t.count[GRT_EV_COMPLETE] != 1)
		return wrong(r, "it has not one ERROR and one COMPLETE");
	if (((const struct grt_ev_error *)t.last[GRT_EV_ERROR])->status != status)
		return wrong(r, "its ERROR has another status");
	told = ((const struct grt_ev_complete *)t.last[GRT_EV_COMPLETE])->status;
	if (told && told != status)
		return wrong(r, "its COMPLETE has another status");
	return common_right(r, t.last[GRT_EV_ERROR]);
}

static void case_failed(void)
{
	unsigned int n = fill(6, 500 * US), i;

	jobs[1].error = -EIO;
	jobs[3].error = -ENOMEM;
	jobs[3].flags = GRTRACE_SOFTGPU_REFUSE;
	jobs[5].flags = GRTRACE_SOFTGPU_HANG;
	CHECK_OK(run(n));
	for (i = 1; i <= n; i += 2)
		CHECK_OK(life_right(result_of(i, n)));
	CHECK_OK(life_right(result_of(2, n)));
	CHECK_OK(failed(result_of(2, n), -EIO));
	CHECK_OK(failed(result_of(4, n), -ENOMEM));
	CHECK_OK(failed(result_of(6, n), result_of(6, n)->status));
	/* the hardware never had the one that was refused */
	CHECK_EQ(look_up(result_of(4, n)->ctx, result_of(4, n)->seqno).count[GRT_EV_END], 0);
	CHECK_EQ(capture_count(&trace, GRT_EV_ERROR), 3);
}

/* 300 ms each: the scheduler lets a queue run on for a second. */
#define KILLED 11

/*
 * What a process that is killed leaves in the queue is ended with it. One queue: some
 * kernels lose the fence of one whose last job is over, see grtrace_softgpu.
 */
static void case_killed(void)
{
	unsigned int n = fill(KILLED, 300 * MS), i;
	pid_t pid;

	for (i = 0; i < n; i++)
		jobs[i].ring = jobs[i].priority = 0;
	CHECK_OK(begin());
	pid = fork();
	if (!pid)
		_exit(!softgpu_open(&gpu) || !softgpu_submit(&gpu, jobs, n) || raise(SIGKILL));
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	sleep(3);
	CHECK_EQ(kmod_write("control", "stop"), 0);
	CHECK_EQ(capture_file(&trace, "trace_pipe"), 0);
	CHECK_OK(capture_valid(&trace));
	CHECK_EQ(capture_count(&trace, GRT_EV_SUBMIT), n);
	CHECK_EQ(capture_count(&trace, GRT_EV_COMPLETE), n);
	CHECK(capture_count(&trace, GRT_EV_COMMIT) < n);
	CHECK_EQ(capture_count(&trace, GRT_EV_END), capture_count(&trace, GRT_EV_COMMIT));
	tap_note("%llu of %u ran", (unsigned long long)capture_count(&trace, GRT_EV_COMMIT), n);
}

static const struct tap_case cases[] = {
	{"every tracepoint that it needs is there and attached", case_bound},
	{"each job is told once, in order, by whom and where, around the moments that the GPU knows",
	 case_life},
	{"a dependency names the fence and whether it was open", case_dependencies},
	{"a job that fails, is refused or hangs is reported as such", case_failed},
	{"jobs killed in the queue complete without having run", case_killed},
};

int main(int argc, char **argv)
{
	const char *missing = kmod_missing();
	int status;

	if (argc > 2) {
		fprintf(stderr, "Usage: grtrace_drm_bridge [PART OF A TITLE]\n");
		return 2;
	}
	if (missing)
		return tap_skip_all("%s", missing);
	if (!softgpu_open(&gpu))
		return tap_skip_all("no software GPU here: modprobe grtrace_softgpu");
	status = tap_run(cases, sizeof(cases) / sizeof(cases[0]), kmod_reset, argv[1]);
	kmod_reset();
	return status;
}
