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
	CHECK(!strncmp(text, "0x22\n", 5));
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
	CHECK(kmod_read("filter_type_mask", text, sizeof(text)) > 0 && !strncmp(text, "0x3e\n", 5));
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
			    "filter_type_mask     0\n"
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
	CHECK(strstr(text, "filter_type_mask     3\n"));
	CHECK_EQ(kmod_write("control", "stop"), 0);
	CHECK_EQ(kmod_write("control", "clear"), 0);
	CHECK(kmod_read("filter_stats", text, sizeof(text)) > 0);
	CHECK(strstr(text, "Events passed: 0\n"));
}

static const struct tap_case cases[] = {
	{"filter_pid: jobs of the listed processes, whole", pids},
	{"filter_uid: jobs of the user who submitted them", users},
	{"filter_events: by name and number; reads the mask and the table", types},
	{"filter_enabled switches all of it", switched_off},
	{"a job is filtered whole, whatever is changed meanwhile", whole_jobs},
	{"filter_latency: jobs that took long, one JOB record each", latency},
	{"filter_stats counts what each setting refused", stats},
};

int main(int argc, char **argv)
{
	return suite_main("grtrace_filter", "filter_pid", cases, sizeof(cases) / sizeof(cases[0]), argc,
			  argv);
}
