// SPDX-License-Identifier: GPL-2.0
/*
 * Self-test of the trace events grtrace:grtrace_<name>: ftrace and perf see as
 * many of each as the stream has, with the same values.
 *
 *	make; sudo ./grtrace_trace [PART OF A TITLE]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <grtrace/event_table.h>

#include "suite.h"

#define TRACEFS "/sys/kernel/tracing"
#define EVENTS TRACEFS "/events/grtrace"

static int put(const char *file, const char *text)
{
	char path[256];
	int fd, err = 0;

	snprintf(path, sizeof(path), TRACEFS "/%s", file);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

/* Lines of ftrace's buffer that have this, and the first of them. */
static unsigned int lines_with(const char *what, char *first, size_t size)
{
	FILE *f = fopen(TRACEFS "/trace", "re");
	char *line = NULL;
	unsigned int n = 0;
	size_t room = 0;

	while (f && getline(&line, &room, f) > 0)
		if (strstr(line, what) && !n++)
			snprintf(first, size, "%s", line);
	free(line);
	if (f)
		fclose(f);
	return n;
}

static bool is_traced(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), EVENTS "/grtrace_%s", name);
	return !access(path, F_OK);
}

/* Every type a prime number of times; what is refused is not seen by ftrace either. */
static const char lines[] =
	"submit ring=7 ctx=9 seqno=5 engine=copy cmd=0x207 hw_ctx=3 fence_id=11 count=13\n"
	"commit ctx=9 seqno=5 sw_depth=2 hw_depth=1 count=11\nstart ctx=9 seqno=5 count=7\n"
	"end ctx=9 seqno=5 reply=0x1100 count=5\ncomplete ctx=9 seqno=5 status=-5 count=3\n"
	"ctx_switch ctx=9 seqno=5 prev_ctx=8 count=2\nirq source=4 data=0xbeef count=17\n"
	"sync_wait_enter ctx=9 seqno=5 count=19\nsync_wait_exit ctx=9 seqno=5 count=23\n"
	"error ctx=9 seqno=5 code=0x77 count=29\ncommand cmd=0x100 count=31\n"
	"wait_dep ctx=9 seqno=5 dep_ctx=4 dep_seqno=44 count=37\nfence ctx=4 seqno=44 count=41\n"
	"job ctx=9 seqno=5 submit=1 complete=2 count=43";

static bool same_count(const char *name)
{
	char what[64], line[1024] = "";
	unsigned int seen;

	snprintf(what, sizeof(what), " grtrace_%s: ", name);
	seen = lines_with(what, line, sizeof(line));
	if (seen == kmod_delivered(name))
		return true;
	TAP_FAIL("ftrace has %u of %s, the stream %llu", seen, name,
		 (unsigned long long)kmod_delivered(name));
	return false;
}

static void ftrace(void)
{
	char line[1024] = "";
	unsigned int type, traced = 0;

	CHECK_EQ(put("trace", "\n"), 0);
	CHECK_EQ(kmod_config("level=debug"), 0);
	CHECK_EQ(put("events/grtrace/enable", "1"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("%s", lines), 0);
	CHECK_EQ(kmod_config("filter_type_mask=0"), 0);
	CHECK_EQ(kmod_emit("submit ctx=10 count=99"), 0);
	CHECK_EQ(put("events/grtrace/enable", "0"), 0);
	CHECK_EQ(kmod_config("filter_type_mask=0xffffffffffffffff"), 0);
	for (type = 0; type < GRT_EV_MAX; type++) {
		const char *name = grt_event_table[type].name;

		if (!name || !is_traced(name))
			continue;
		CHECK(kmod_delivered(name) > 0);
		CHECK_OK(same_count(name));
		traced++;
	}
	CHECK(traced >= 14);
	CHECK_EQ(kmod_delivered("submit"), 13);
	lines_with(" grtrace_submit: ", line, sizeof(line));
	CHECK(strstr(line, "ctx=9 seqno=5 ring=7 device=0 engine=3 pid="));
	CHECK(strstr(line, " sample=100 flags=0x4 time="));
	CHECK(strstr(line, " cmd=0x207 hw_ctx=3 fence_id=11\n"));
	lines_with(" grtrace_complete: ", line, sizeof(line));
	CHECK(strstr(line, " status=-5 hw_ctx=3\n"));
}

static int perf_open(const char *name)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr)};
	char path[256], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), EVENTS "/grtrace_%s/id", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 1)
		return -1;
	close(fd);
	attr.config = strtoul(text, NULL, 10);
	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void perf(void)
{
	uint64_t submits = 0, completes = 0;
	int a = perf_open("submit"), b = perf_open("complete");

	CHECK(a >= 0 && b >= 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ctx=1 count=10007\ncomplete ctx=1 count=503"), 0);
	CHECK(read(a, &submits, sizeof(submits)) == sizeof(submits));
	CHECK(read(b, &completes, sizeof(completes)) == sizeof(completes));
	CHECK_EQ(submits, 10007);
	CHECK_EQ(completes, 503);
	CHECK_EQ(kmod_delivered("submit"), submits);
	close(a);
	close(b);
}

/* A full buffer stops the stream, not those who listen. */
static void buffer_full(void)
{
	uint64_t submits = 0;
	int a = perf_open("submit");

	CHECK(a >= 0);
	CHECK_EQ(kmod_config("buffer_size=65536"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ctx=1 count=20011"), 0);
	CHECK(read(a, &submits, sizeof(submits)) == sizeof(submits));
	CHECK_EQ(submits, 20011);
	CHECK(kmod_balance("total").fate[GRT_FATE_LOST] > 0);
	close(a);
}

static const struct tap_case cases[] = {
	{"ftrace has as many of each event as the stream, with its values", ftrace},
	{"so does perf", perf},
	{"a full buffer is nothing to them", buffer_full},
};

int main(int argc, char **argv)
{
	if (access(EVENTS, F_OK))
		return tap_skip_all("no " EVENTS ": mount -t tracefs tracefs " TRACEFS
				    ", and modprobe grtrace");
	return suite_main("grtrace_trace", "filter_events", cases, sizeof(cases) / sizeof(cases[0]), argc,
			  argv);
}
