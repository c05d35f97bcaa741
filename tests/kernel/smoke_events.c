// SPDX-License-Identifier: GPL-2.0
/*
 * Cases about events: what `emit` takes, and that exactly this stands in the
 * streams afterwards.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <grtrace/event_table.h>

#include "smoke.h"
#include "tap.h"

/*
 * A value that differs from field to field and from type to type, and has its
 * highest bit set where the field allows that.
 */
static uint64_t some_value(const struct grt_field *f, unsigned int type)
{
	if (!strcmp(f->name, "ring"))
		return 100 + type;
	if (!strcmp(f->name, "flags"))
		return GRT_FLAG_INFERRED;
	if (!strcmp(f->name, "tid") || !strcmp(f->name, "pid"))
		return KMOD_FAKE_TID + type * 2 + (f->name[0] == 't');
	if (f->kind == GRT_FIELD_ENGINE)
		return type % 9;
	if (f->kind == GRT_FIELD_SIGNED)
		return (uint64_t)-5 - f->offset * type;
	return (0x8182838485868788ULL + type * 0x101010101ULL + f->offset) >> (64 - 8 * f->size);
}

static int add_fields(char *line, struct grt_event *want, const struct grt_field *f)
{
	uint64_t value;
	int n = 0;

	for (; f->name; f++) {
		if (!strcmp(f->name, "sample") || f->kind == GRT_FIELD_STR)
			continue;
		value = some_value(f, want->type);
		memcpy((char *)want + f->offset, &value, f->size);
		if (f->kind == GRT_FIELD_ENGINE)
			n += sprintf(line + n, " engine=%s", grt_engine_names[value]);
		else if (f->kind == GRT_FIELD_SIGNED)
			n += sprintf(line + n, " %s=%lld", f->name, (long long)value);
		else
			n += sprintf(line + n, f->kind == GRT_FIELD_HEX ? " %s=0x%llx" : " %s=%llu", f->name,
				     (unsigned long long)value);
	}
	return n;
}

union record {
	struct grt_event e;
	uint8_t bytes[GRT_RECORD_MAX];
};

/* Writes a line with every field; @want becomes the record that it must give. */
static bool emit_full(unsigned int type, union record *want)
{
	const struct grt_event_desc *d = &grt_event_table[type];
	char line[1024];
	int n = sprintf(line, "%s", d->name), err;

	memset(want, 0, sizeof(*want));
	want->e.type = type;
	want->e.size = d->size;
	want->e.sample = 100;
	n += add_fields(line + n, &want->e, grt_common_fields);
	add_fields(line + n, &want->e, d->fields());
	want->e.flags |= GRT_FLAG_INJECTED;
	err = kmod_emit("%s\n", line);
	if (err)
		TAP_FAIL("emit '%s': %s", line, strerror(-err));
	return !err;
}

/* The record is there once, with these fields and a stamp between the two. */
static bool has_record(const struct capture *c, union record *want, uint64_t from, uint64_t to)
{
	const struct grt_packet *p = NULL;
	const struct grt_event *e;
	unsigned int n = 0;

	while ((p = capture_packet(c, p)))
		for (e = capture_record(p, NULL); e; e = capture_record(p, e)) {
			if (e->type != want->e.type)
				continue;
			want->e.time = e->time;
			if (e->time < from || e->time > to || memcmp(e, want, want->e.size)) {
				TAP_FAIL("%s is not as emitted", grt_event_table[e->type].name);
				return false;
			}
			n++;
		}
	if (n != 1)
		TAP_FAIL("%s is there %u times", grt_event_table[want->e.type].name, n);
	return n == 1;
}

void smoke_emit_fields(void)
{
	static union record want[GRT_EV_MAX];
	struct capture c = {.data = NULL};
	uint64_t from = kmod_now();
	unsigned int type;

	CHECK_EQ(kmod_config("level=debug"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	for (type = 0; type < GRT_EV_MAX; type++)
		if (grt_event_table[type].name && type != GRT_EV_NAME)
			CHECK_OK(emit_full(type, &want[type]));
	CHECK_OK(capture_all(&c));
	for (type = 0; type < GRT_EV_MAX; type++)
		if (want[type].e.type)
			CHECK_OK(has_record(&c, &want[type], from, kmod_now()));
	capture_free(&c);
}

void smoke_emit_bad(void)
{
	static const struct {
		const char *line;
		int err;
	} bad[] = {
		{"explode ring=0", EINVAL},
		{"name kind=1 id=1", EINVAL},
		{"submit ring", EINVAL},
		{"submit =3", EINVAL},
		{"submit ring=", EINVAL},
		{"submit ring=x", EINVAL},
		{"submit ring=-1", EINVAL},
		{"submit ring=4294967296", ERANGE},
		{"submit flags=65536", ERANGE},
		{"submit engine=steam", EINVAL},
		{"submit engine=32", ERANGE},
		{"submit sample=50", EINVAL},
		{"submit time=1", EINVAL},
		{"submit type=4", EINVAL},
		{"submit reply=1", EINVAL},
		{"submit count=0", ERANGE},
		{"submit count=1000001", ERANGE},
		{"submit count=-1", EINVAL},
		{"submit ctx=18446744073709551616", ERANGE},
		{"complete status=2147483648", ERANGE},
		{"complete status=-2147483649", ERANGE},
		{"submit ctx=1\nsubmit ctx=2\nsubmit ctx=oops\nsubmit ctx=3", EINVAL},
	};
	static char longest[8192];
	unsigned int i;

	CHECK_EQ(kmod_write("control", "start"), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int err = kmod_emit("%s", bad[i].line);

		if (err != -bad[i].err)
			TAP_FAIL("'%s' gives %d, not %d", bad[i].line, err, -bad[i].err);
	}
	memset(longest, '\n', sysconf(_SC_PAGESIZE) + 1);
	CHECK_EQ(kmod_write("emit", longest), -E2BIG);
	CHECK_OK(balance_is(0, GRT_FATE_DELIVERED, 0));
	CHECK_EQ(kmod_emit("\n  submit   ring=1\tctx=1 \n\nSUBMIT ring=2 ctx=2\n"), 0);
	CHECK_OK(balance_is(2, GRT_FATE_DELIVERED, 0));
}

/* A job emitted by this thread; what follows it says only the identity. */
void smoke_emit_joins(void)
{
	struct capture c = {.data = NULL};
	const struct grt_packet *p = NULL;
	const struct grt_event *e;
	unsigned int n = 0;

	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ring=9 ctx=77 seqno=5 engine=copy device=3 hw_ctx=11"), 0);
	CHECK_EQ(kmod_emit("commit ctx=77 seqno=5\nstart ctx=77 seqno=5\nend ctx=77 seqno=5\n"
			   "complete ctx=77 seqno=5\nsync_wait_exit ctx=77 seqno=5"),
		 0);
	CHECK_EQ(kmod_emit("end ctx=77 seqno=6"), 0); /* of a job that nobody submitted */
	CHECK_OK(capture_all(&c));
	while ((p = capture_packet(&c, p)))
		for (e = capture_record(p, NULL); e; e = capture_record(p, e)) {
			if (e->type == GRT_EV_NAME)
				continue;
			if (e->seqno == 6) {
				CHECK_EQ(e->pid, 0);
				CHECK_EQ(e->ring, GRT_RING_NONE);
				continue;
			}
			n++;
			CHECK_EQ(e->pid, getpid());
			CHECK_EQ(e->tid, gettid());
			CHECK_EQ(e->ring, 9);
			CHECK_EQ(e->engine, GRT_ENGINE_COPY);
			CHECK_EQ(e->device, 3);
			if (e->type == GRT_EV_END)
				CHECK_EQ(((const struct grt_ev_end *)e)->hw_ctx, 11);
			if (e->type == GRT_EV_COMPLETE)
				CHECK_EQ(((const struct grt_ev_complete *)e)->hw_ctx, 11);
		}
	CHECK_EQ(n, 6);
	capture_free(&c);
}

void smoke_emit_stopped(void)
{
	CHECK_EQ(kmod_emit("submit ctx=1 count=13"), 0);
	CHECK_OK(balance_is(0, GRT_FATE_DELIVERED, 0));
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ctx=1 count=13"), 0);
	CHECK_EQ(kmod_write("control", "stop"), 0);
	CHECK_EQ(kmod_emit("submit ctx=1 count=17"), 0);
	CHECK_OK(balance_is(13, GRT_FATE_DELIVERED, 0));
	CHECK_EQ(kmod_write("control", "clear"), 0);
	CHECK_OK(balance_is(0, GRT_FATE_DELIVERED, 0));
	CHECK_EQ(kmod_delivered("submit"), 0);
}

/* The line of a ring in `rings`: four counts after id, name, engine, driver and GPU. */
static bool ring_counts(unsigned int id, unsigned int events, unsigned int submits, unsigned int completes,
			unsigned int errors)
{
	char text[32768], want[128], *line, *at = text, *counts;

	kmod_read("rings", text, sizeof(text));
	snprintf(want, sizeof(want), "%u %u %u %u", events, submits, completes, errors);
	while ((line = strsep(&at, "\n"))) {
		if (strtoul(line, &counts, 10) != id || counts == line)
			continue;
		if (strlen(line) > strlen(want) && !strcmp(line + strlen(line) - strlen(want), want))
			return true;
		TAP_FAIL("rings says '%s', not %s", line, want);
		return false;
	}
	TAP_FAIL("ring %u is not in rings", id);
	return false;
}

void smoke_by_type(void)
{
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ring=251 ctx=1 seqno=1 count=11\nend ctx=1 seqno=1 count=7\n"
			   "complete ctx=1 seqno=1 count=5\nerror ctx=1 seqno=2 code=0x1200\n"
			   "submit ring=252 ctx=2 seqno=1 count=3\nirq ring=252 count=2"),
		 0);
	CHECK_EQ(kmod_delivered("submit"), 14);
	CHECK_EQ(kmod_delivered("end"), 7);
	CHECK_EQ(kmod_delivered("complete"), 5);
	CHECK_EQ(kmod_delivered("error"), 1);
	CHECK_EQ(kmod_delivered("irq"), 0);
	CHECK_OK(ring_counts(251, 24, 11, 5, 1));
	CHECK_OK(ring_counts(252, 3, 3, 0, 0));
	CHECK_OK(balance_is(27, GRT_FATE_BELOW_LEVEL, 2));
}

void smoke_text(void)
{
	struct capture c = {.data = NULL};
	size_t i, lines = 0;

	prctl(PR_SET_NAME, "a\"b\\\033[m\xff");
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ring=3 ctx=0x1234 seqno=42 engine=graphics cmd=0x207\ncomplete ctx=0x1234 "
			   "seqno=42 status=-125\ncommand ring=3 count=1009"),
		 0);
	CHECK_EQ(kmod_write("control", "stop"), 0);
	prctl(PR_SET_NAME, "grtrace_smoke");
	CHECK_EQ(capture_file(&c, "events"), 0);
	for (i = 0; i < c.len; i++)
		lines += c.data[i] == '\n';
	CHECK_EQ(lines, kmod_balance("total").fate[GRT_FATE_DELIVERED]);
	capture_add(&c, "", 1);
	CHECK(strstr((char *)c.data, " SUBMIT flags=0x4 engine=graphics sample=100 pid="));
	CHECK(strstr((char *)c.data, " ctx=4660 seqno=42 ring=3 device=0 cmd=0x207 hw_ctx=0 fence_id=0\n"));
	CHECK(strstr((char *)c.data, " status=-125 hw_ctx=0\n"));
	CHECK(strstr((char *)c.data, " NAME "));
	CHECK(strstr((char *)c.data, " name=\"a\\042b\\134\\033[m\\377\" "));
	capture_free(&c);
}

/* A process of its own, under a name of its own, that emits on one CPU. */
static pid_t spawn_emitter(unsigned int i)
{
	char comm[16];
	pid_t pid = fork();
	unsigned int round;

	if (pid)
		return pid;
	snprintf(comm, sizeof(comm), "emit \"%u\"\n", i);
	prctl(PR_SET_NAME, comm);
	kmod_pin(i % kmod_cpus());
	for (round = 0; round < 97; round++)
		if (kmod_emit("submit ring=1 ctx=%u seqno=%u count=5", i + 1, round * 5))
			_exit(1);
	_exit(0);
}

static bool reap(const pid_t *pids, unsigned int n)
{
	bool good = true;
	unsigned int i;
	int status;

	for (i = 0; i < n; i++)
		good &= waitpid(pids[i], &status, 0) == pids[i] && !status;
	return good;
}

/* Every NAME of a thread must be that of the process behind it. */
static bool names_right(const struct capture *c, const pid_t *pids, unsigned int n)
{
	const struct grt_packet *p = NULL;
	const struct grt_event *e;
	unsigned int i, seen = 0;
	char comm[16];

	while ((p = capture_packet(c, p)))
		for (e = capture_record(p, NULL); e; e = capture_record(p, e)) {
			const struct grt_ev_name *name = (const void *)e;

			if (e->type != GRT_EV_NAME || name->kind != GRT_NAME_THREAD)
				continue;
			for (i = 0; i < n && (pid_t)name->id != pids[i]; i++)
				;
			snprintf(comm, sizeof(comm), "emit \"%u\"\n", i);
			if (i == n || strcmp(name->name, comm) || strcmp(name->owner, comm)) {
				TAP_FAIL("thread %u is named '%s', not '%s'", name->id, name->name, comm);
				return false;
			}
			seen++;
		}
	if (seen < n)
		TAP_FAIL("only %u names", seen);
	return seen >= n;
}

#define EMITTERS 7

void smoke_names(void)
{
	struct capture c = {.data = NULL};
	pid_t pids[EMITTERS];
	unsigned int i;

	CHECK_EQ(kmod_config("buffer_size=262144"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	for (i = 0; i < EMITTERS; i++)
		pids[i] = spawn_emitter(i);
	CHECK(reap(pids, EMITTERS));
	CHECK_OK(capture_all(&c)); /* checks that a name is before its first use in each packet */
	CHECK_OK(names_right(&c, pids, EMITTERS));
	CHECK_EQ(capture_count(&c, GRT_EV_SUBMIT), EMITTERS * 97 * 5);
	capture_free(&c);
}
