// SPDX-License-Identifier: GPL-2.0
/*
 * Self-test of the filter stage: pids, users, types and latency, that jobs stay
 * whole, and what filter_stats says.
 *
 *	make; sudo ./grtrace_filter [PART OF A TITLE]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "real.h"
#include "suite.h"

#define MS 1000000ULL

/* A job of process @pid: five events, the wait by somebody else. */
static int job_of(unsigned int ctx, unsigned int pid)
{
	return kmod_emit("submit pid=%u tid=%u ring=1 engine=copy ctx=%u\nstart ctx=%u\nend ctx=%u\n"
			 "complete ctx=%u\nsync_wait_exit pid=%u tid=%u ctx=%u",
			 pid, pid, ctx, ctx, ctx, ctx, KMOD_FAKE_TID, KMOD_FAKE_TID, ctx);
}

static void pids(void)
{
	struct grt_balance want = {.fate = {[GRT_FATE_DELIVERED] = 10, [GRT_FATE_FILTERED] = 16}};
	struct capture c = {.data = NULL};
	unsigned int i;

	CHECK_OK(set("filter_pid=4100002, 4100004"));
	CHECK_EQ(kmod_write("control", "start"), 0);
	for (i = 1; i <= 5; i++)
		CHECK_EQ(job_of(i, KMOD_FAKE_TID + i), 0);
	CHECK_EQ(kmod_emit("end ctx=99"), 0); /* of a job that nobody knows */
	CHECK_OK(capture_all(&c));
	CHECK_OK(counts_are(&c, &want));
	capture_free(&c);
}

/* Emits as another user; the file was opened as root. */
static bool emit_as(unsigned int uid, const char *line)
{
	int fd = kmod_open("emit", O_WRONLY), status = -1;
	pid_t pid = fork();

	if (!pid) {
		if (setresuid(uid, uid, uid))
			_exit(2);
		_exit(write(fd, line, strlen(line)) != (ssize_t)strlen(line));
	}
	close(fd);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		TAP_FAIL("emitting as user %u: status %d", uid, status);
	return !status;
}

/* The user is that of the SUBMIT, whoever brings the rest. */
static void users(void)
{
	struct grt_balance want = {.fate = {[GRT_FATE_DELIVERED] = 9, [GRT_FATE_FILTERED] = 11}};
	struct capture c = {.data = NULL};

	CHECK_OK(set("filter_uid=1234"));
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_OK(emit_as(1234, "submit ctx=1 count=3"));
	CHECK_OK(emit_as(1235, "submit ctx=2 count=5"));
	CHECK_EQ(kmod_emit("end ctx=1 count=3\nend ctx=2 count=5"), 0);
	CHECK_OK(emit_as(1234, "command count=3"));
	CHECK_EQ(kmod_emit("command count=1"), 0);
	CHECK_OK(capture_all(&c));
	CHECK_OK(counts_are(&c, &want));
	CHECK_EQ(kmod_config("filter_uid=0"), 0); /* root is a user like others */
	capture_free(&c);
}

static void types(void)
{
	struct grt_balance want = {.fate = {[GRT_FATE_DELIVERED] = 5, [GRT_FATE_FILTERED] = 36}};
	struct capture c = {.data = NULL};
	char text[4096];

	CHECK_EQ(kmod_write("filter_events", "submit,complete"), 0);
	CHECK(kmod_read("filter_events", text, sizeof(text)) > 0);
	CHECK(!strncmp(text, "submit,complete\n", 16));
	CHECK(strstr(text, "\n 1 submit           on\n 2 commit           off\n"));
	CHECK(strstr(text, "\n 5 complete         on\n"));
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(
		kmod_emit(
			"submit ctx=1 count=3\nstart ctx=1 count=5\ncomplete ctx=1 count=2\ncommand count=31"),
		0);
	CHECK_OK(capture_all(&c));
	CHECK_OK(counts_are(&c, &want));
	CHECK_EQ(kmod_write("filter_events", "0x3e"), 0);
	CHECK(kmod_read("filter_type_mask", text, sizeof(text)) > 0 && 
	      !strncmp(text, "submit,commit,start,end,complete\n", 33));
	CHECK_EQ(kmod_write("filter_events", "submit,completed"), -EINVAL);
	capture_free(&c);
}

static void switched_off(void)
{
	struct grt_balance want = {.fate = {[GRT_FATE_DELIVERED] = 8, [GRT_FATE_FILTERED] = 3}};
	struct capture c = {.data = NULL};

	CHECK_OK(set("filter_ring_id=3"));
	CHECK_OK(set("filter_enabled=0"));
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ring=1 ctx=1 count=5"), 0);
	CHECK_OK(set("filter_enabled=1"));
	CHECK_EQ(kmod_emit("submit ring=1 ctx=2 count=3"), 0);
	CHECK_EQ(kmod_emit("complete ctx=1 count=3"), 0); /* begun without a filter */
	CHECK_OK(capture_all(&c));
	CHECK_OK(counts_are(&c, &want));
	capture_free(&c);
}

/* What was refused stays refused when the filter is gone; a `clear` forgets it. */
static void whole_jobs(void)
{
	struct grt_balance want = {.fate = {[GRT_FATE_DELIVERED] = 4, [GRT_FATE_FILTERED] = 9}};
	struct capture c = {.data = NULL};

	CHECK_OK(set("filter_engine_mask=copy"));
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit engine=compute ctx=1 count=3\nsubmit engine=copy ctx=2 count=2"), 0);
	CHECK_OK(set("filter_engine_mask=compute"));
	CHECK_EQ(kmod_emit("start ctx=1 count=3\nstart ctx=2 count=2"), 0);
	CHECK_OK(set("filter_engine_mask=0xffffffff"));
	CHECK_EQ(kmod_emit("complete ctx=1 count=3"), 0);
	CHECK_OK(capture_all(&c));
	CHECK_OK(counts_are(&c, &want));
	capture_free(&c);
	CHECK_EQ(kmod_write("control", "clear"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("complete ctx=1 count=3"), 0);
	CHECK_OK(balance_is(3, GRT_FATE_FILTERED, 0));
}

/* Two jobs of which one takes long; only that one leaves, as a JOB record. */
static void latency(void)
{
	struct grt_balance want = {
		.fate = {[GRT_FATE_DELIVERED] = 1, [GRT_FATE_FILTERED] = 2, [GRT_FATE_AGGREGATED] = 8}};
	const struct grt_ev_job *job;
	const struct grt_packet *p;
	struct capture c = {.data = NULL};

	CHECK_OK(set("filter_latency=1000000"));
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ring=3 engine=copy ctx=1 cmd=0x207 hw_ctx=5\ncommit ctx=1\nstart ctx=1"),
		 0);
	if (!short_job(2))
		return;
	sleep_ms(1100);
	CHECK_EQ(kmod_emit("end ctx=1 reply=0x1100\ncomplete ctx=1 status=-5\nerror ctx=2 code=7"), 0);
	CHECK_EQ(kmod_delivered("error"), 0); /* of a job that was refused */
	CHECK_OK(capture_all(&c));
	CHECK_OK(counts_are(&c, &want));
	job = (const void *)capture_next(&c, &p, NULL);
	CHECK(job && job->e.type == GRT_EV_JOB && job->e.ctx == 1);
	CHECK_EQ(job->e.ring, 3);
	CHECK_EQ(job->e.engine, GRT_ENGINE_COPY);
	CHECK_EQ(job->e.pid, getpid());
	CHECK_EQ(job->e.sample, 100);
	CHECK(job->submit && job->submit <= job->commit && job->commit <= job->start &&
	      job->start < job->end);
	CHECK(job->end <= job->complete && job->complete <= job->e.time);
	CHECK(job->complete - job->submit >= 1000 * MS);
	CHECK_EQ(job->status, -5);
	CHECK_EQ(job->cmd, 0x207);
	CHECK_EQ(job->hw_ctx, 5);
	CHECK_EQ(job->reply, 0x1100);
	CHECK_EQ(job->waits + job->errors + job->others, 0);
	capture_free(&c);
}

static void stats(void)
{
	char text[4096];

	CHECK_OK(set("filter_ring_id=1"));
	CHECK_OK(set("filter_events=submit"));
	CHECK(kmod_read("filter_stats", text, sizeof(text)) > 0);
	CHECK(!strcmp(text, "Filter: on\n"
			    "Events passed: 0\n"
			    "Rule                 Refused jobs and events\n"
			    "filter_engine_mask   0\n"
			    "filter_ring_id       0\n"
			    "filter_events        0\n"
			    "filter_pid           0\n"
			    "filter_uid           0\n"
			    "filter_latency       0\n"));
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ring=1 ctx=1 count=7\nsubmit ring=2 ctx=2 count=5\nstart ctx=1 count=3\n"
			   "start ctx=2 count=5"),
		 0);
	CHECK(kmod_read("filter_stats", text, sizeof(text)) > 0);
	CHECK(strstr(text, "Events passed: 7\n"));
	CHECK(strstr(text, "filter_ring_id       5\n")); /* a job once */
	CHECK(strstr(text, "filter_events        3\n"));
	CHECK_EQ(kmod_write("control", "stop"), 0);
	CHECK_EQ(kmod_write("control", "clear"), 0);
	CHECK(kmod_read("filter_stats", text, sizeof(text)) > 0);
	CHECK(strstr(text, "Events passed: 0\n"));
}

/* ------------------------------------------------- jobs of the software GPU */

#define REAL_JOBS 60U
#define SUBMITTERS 4U
#define FIRST_UID 1234U

/* What is asked: which steps are wanted. */
typedef bool (*wanted_fn)(const struct real_job *j, const struct real_step *s);

/* The rest of the module's answer, after the wanted_fn has said it; also in filter_stats. */
static bool real_filtered(wanted_fn wanted)
{
	struct grt_balance want = {.emitted = 0};
	struct capture c = {.data = NULL};
	unsigned int i, k;
	char line[64], text[4096];
	bool good;

	if (!real_over() || !capture_all(&c) || !real_join(&c))
		return false;
	for (i = 0; i < real.jobs; i++)
		for (k = 0; k < real.job[i].steps; k++) {
			const struct real_step *s = &real.job[i].step[k];

			want.fate[wanted(&real.job[i], s) ? GRT_FATE_DELIVERED : GRT_FATE_FILTERED]++;
			if (!s->e == !wanted(&real.job[i], s))
				continue;
			TAP_FAIL("event %u of job %u of process %u is %sdelivered", s->type, i,
				 real.job[i].r.pid, s->e ? "" : "not ");
			return false;
		}
	snprintf(line, sizeof(line), "Events passed: %llu\n",
		 (unsigned long long)want.fate[GRT_FATE_DELIVERED]);
	good = counts_are(&c, &want);
	if (good && (kmod_read("filter_stats", text, sizeof(text)) <= 0 || !strstr(text, line))) {
		TAP_FAIL("filter_stats has not '%s' but '%s'", line, text);
		good = false;
	}
	tap_note("%llu of %llu events", (unsigned long long)real_delivered(),
		 (unsigned long long)real_steps());
	capture_free(&c);
	return good;
}

/* Jobs of four processes, each of another user. */
static bool submit_as_many(uint32_t *pid)
{
	unsigned int i, each = REAL_JOBS / SUBMITTERS;

	for (i = 0; i < SUBMITTERS; i++) {
		pid[i] = real_submit_as(FIRST_UID + i, i * each, each);
		if (!pid[i])
			return false;
	}
	return true;
}

static uint32_t real_pid[SUBMITTERS];

static bool by_listed_pid(const struct real_job *j, const struct real_step *s)
{
	(void)s;
	return j->r.pid == real_pid[1] || j->r.pid == real_pid[3];
}

static bool by_second_user(const struct real_job *j, const struct real_step *s)
{
	(void)s;
	return j->r.pid == real_pid[1];
}

static bool is_submit_or_complete(const struct real_job *j, const struct real_step *s)
{
	(void)j;
	return s->type == GRT_EV_SUBMIT || s->type == GRT_EV_COMPLETE;
}

static bool on_first_ring(const struct real_job *j, const struct real_step *s)
{
	(void)s;
	return j->r.ring == 0;
}

static bool on_compute(const struct real_job *j, const struct real_step *s)
{
	(void)s;
	return real.gpu.ring[j->r.ring].type == GRTRACE_SOFTGPU_COMPUTE;
}

static bool begin_real(const char *setting)
{
	kmod_reset();
	real.jobs = 0;
	real_mix(REAL_JOBS, 20000);
	return set(setting) && !kmod_write("control", "start");
}

/* Processes that wait for a byte and then submit, all at once. Return: where to write it, -1 after failing
 * the case */
static int fork_submitters(void)
{
	unsigned int i, each = REAL_JOBS / SUBMITTERS;
	int go[2];
	char byte;

	if (pipe(go)) {
		TAP_FAIL("pipe: %s", strerror(errno));
		return -1;
	}
	for (i = 0; i < SUBMITTERS; i++) {
		real_pid[i] = fork();
		if (!real_pid[i])
			_exit(read(go[0], &byte, 1) != 1 ||
			      !softgpu_submit(&real.gpu, real.want + i * each, each));
	}
	return go[1];
}

static bool release_submitters(int go)
{
	unsigned int i;
	int status;

	if (write(go, "1234", SUBMITTERS) != SUBMITTERS)
		return false;
	for (i = 0; i < SUBMITTERS; i++)
		if (waitpid(real_pid[i], &status, 0) < 0 || status) {
			TAP_FAIL("process %u could not submit: status %d", real_pid[i], status);
			return false;
		}
	return true;
}

static void real_pids(void)
{
	char list[64];
	int go;

	CHECK_OK(real_here());
	real_mix(REAL_JOBS, 20000);
	go = fork_submitters();
	CHECK(go >= 0);
	snprintf(list, sizeof(list), "filter_pid=%u %u", real_pid[1], real_pid[3]);
	CHECK_OK(begin_real(list));
	CHECK_OK(release_submitters(go));
	CHECK_OK(real_filtered(by_listed_pid));
	CHECK(real_delivered() > 0 && real_delivered() < real_steps());
}

static void real_users(void)
{
	char setting[64];

	CHECK_OK(real_here());
	snprintf(setting, sizeof(setting), "filter_uid=%u", FIRST_UID + 1);
	CHECK_OK(begin_real(setting));
	CHECK_OK(submit_as_many(real_pid));
	CHECK_OK(real_filtered(by_second_user));
	CHECK(real_delivered() > 0 && real_delivered() < real_steps());
}

static void real_places(void)
{
	char setting[64];

	CHECK_OK(real_here());
	CHECK_OK(begin_real("filter_events=submit,complete"));
	CHECK_OK(real_submit(0, real.jobs));
	CHECK_OK(real_filtered(is_submit_or_complete));
	CHECK_EQ(real_delivered(), 2 * real.jobs);
	CHECK_OK(begin_real("filter_engine_mask=compute"));
	CHECK_OK(real_submit(0, real.jobs));
	CHECK_OK(real_filtered(on_compute));
	CHECK(real_delivered() > 0 && real_delivered() < real_steps());
	snprintf(setting, sizeof(setting), "filter_ring_id=%u", real_ring(0));
	CHECK_OK(begin_real(setting));
	CHECK_OK(real_submit(0, real.jobs));
	CHECK_OK(real_filtered(on_first_ring));
	CHECK(real_delivered() > 0 && real_delivered() < real_steps());
}

#define LONG_NS (80 * MS)
#define LIMIT_NS (30 * MS)

/* Some queue up behind those that take long; the one after a job says until when that was over. */
static bool play_short_and_long(void)
{
	unsigned int i;

	real_mix(200 - REAL_JOBS, 20000);
	for (i = 0; i < real.jobs; i++) {
		real.want[i].ring = i % real.gpu.nrings;
		if (i % 64 == 6)
			real.want[i].duration = LONG_NS;
	}
	return real_play(real.gpu.nrings, 10000);
}

/* A job's record is there or not as its time on the clock says, where that is known. */
static bool real_record_right(const struct real_job *j, unsigned int *open)
{
	uint64_t least, most;

	real_latency(j, &least, &most);
	*open += least < LIMIT_NS && most >= LIMIT_NS;
	if (!real_whole(j) && (j->record ? most >= LIMIT_NS : least < LIMIT_NS))
		return true;
	TAP_FAIL("job %llu took %llu to %llu ns: %s", (unsigned long long)j->r.cookie,
		 (unsigned long long)least, (unsigned long long)most,
		 j->record ? "it has a record" : "it has none");
	return false;
}

static void real_slow(void)
{
	struct grt_balance want = {.emitted = 0};
	struct capture c = {.data = NULL};
	unsigned int i, n = 0, open = 0;
	uint64_t late;

	CHECK_OK(real_here());
	CHECK_OK(begin_real("filter_latency=30000"));
	CHECK_OK(play_short_and_long());
	CHECK_OK(real_over());
	CHECK_OK(capture_all(&c));
	CHECK_OK(real_join(&c));
	for (i = 0; i < real.jobs; i++) {
		CHECK_OK(real_record_right(&real.job[i], &open));
		n += !!real.job[i].record;
	}
	CHECK(n >= 4 && n < real.jobs);
	tap_note("%u of %u jobs have a record, of %u it is not known whether they are to", n, real.jobs,
		 open);
	/* a step that another CPU tells of after the job's COMPLETE has the fate of its record */
	late = kmod_balance("total").fate[GRT_FATE_FILTERED] - (real.jobs - n);
	CHECK(late <= real.jobs / 20);
	want.fate[GRT_FATE_DELIVERED] = n;
	want.fate[GRT_FATE_FILTERED] = real.jobs - n + late;
	want.fate[GRT_FATE_AGGREGATED] = real_steps() - late;
	CHECK_OK(counts_are(&c, &want));
	capture_free(&c);
}

static const struct tap_case cases[] = {
	{"filter_pid: jobs of the listed processes, whole", pids},
	{"filter_uid: jobs of the user who submitted them", users},
	{"filter_events: by name and number; reads the mask and the table", types},
	{"filter_enabled switches all of it", switched_off},
	{"a job is filtered whole, whatever is changed meanwhile", whole_jobs},
	{"filter_latency: jobs that took long, one JOB record each", latency},
	{"filter_stats counts what each setting refused", stats},
	{"real jobs: by the processes that submitted them", real_pids},
	{"real jobs: by the user who submitted them", real_users},
	{"real jobs: by type of event, engine and ring", real_places},
	{"real jobs: those that took long, one record each with true stamps", real_slow},
};

int main(int argc, char **argv)
{
	return suite_main("grtrace_filter", "filter_pid", cases, sizeof(cases) / sizeof(cases[0]), argc,
			  argv);
}
