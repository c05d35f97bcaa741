// SPDX-License-Identifier: GPL-2.0
/*
 * Self-test of the watch list: which jobs it delivers, that it decides on whole
 * jobs, and how it is edited.
 *
 *	make; sudo ./grtrace_watchlist [PART OF A TITLE]
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"

/* A job of @ctx on a ring; what follows SUBMIT says another ring where @later is one. */
static int job(unsigned int ctx, unsigned int ring, const char *later)
{
	return kmod_emit("submit ring=%u ctx=%u seqno=1\ncommit ctx=%u seqno=1 %s\nend ctx=%u seqno=1 %s\n"
			 "complete ctx=%u seqno=1 %s\nsync_wait_exit ctx=%u seqno=1 %s",
			 ring, ctx, ctx, later, ctx, later, ctx, later, ctx, later);
}

#define JOB_EVENTS 5

struct example {
	const char *list;
	unsigned int delivered; /* bit per job below */
};

/* Jobs by bit: ctx 1..5 on rings 0, 1, 2, 3, 3. */
static const struct example examples[] = {
	{"", 0x1f},
	{"0,1", 0x03},
	{"!2", 0x1b},
	{"ring:3", 0x18},
	{"ctx:0x4", 0x08},
	{"!ctx:4", 0x17},
	{"3 !ctx:4", 0x10},
	{"0,1 !2 ring:3 ctx:3 !ctx:5", 0x0b},
	{"ctx:1 !0", 0x00},
	{"!0 !1 !2 !3", 0x00},
	{"ring:3 ring:3", 0x18},
	{"255", 0x00},
};

static bool jobs_are(const struct capture *c, unsigned int delivered)
{
	const struct grt_packet *p;
	const struct grt_event *e;
	unsigned int seen[6] = {0}, i;

	for (e = capture_next(c, &p, NULL); e; e = capture_next(c, &p, e))
		seen[e->ctx < 6 ? e->ctx : 0]++;
	for (i = 1; i < 6; i++)
		if (seen[i] != (delivered >> (i - 1) & 1 ? JOB_EVENTS : 0)) {
			TAP_FAIL("job %u has %u events", i, seen[i]);
			return false;
		}
	return !seen[0];
}

static bool example_holds(const struct example *x, const char *later)
{
	unsigned int n = __builtin_popcount(x->delivered);
	struct grt_balance want = {.fate = {[GRT_FATE_DELIVERED] = n * JOB_EVENTS,
					    [GRT_FATE_WATCH_DENIED] = (5 - n) * JOB_EVENTS}};
	struct capture c = {.data = NULL};
	bool good;

	kmod_reset();
	good = !kmod_write("watchlist", *x->list ? x->list : "\n") && !kmod_write("control", "start") &&
	       !job(1, 0, later) && !job(2, 1, later) && !job(3, 2, later) && !job(4, 3, later) &&
	       !job(5, 3, later);
	if (!good)
		TAP_FAIL("cannot set the list and emit");
	good = good && capture_all(&c) && jobs_are(&c, x->delivered) && counts_are(&c, &want);
	if (!good)
		tap_note("this was with watchlist=%s", x->list);
	capture_free(&c);
	return good;
}

static void lists(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		CHECK_OK(example_holds(&examples[i], ""));
}

/* A job that moves to another ring after its SUBMIT stays what it was. */
static void whole_jobs(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		CHECK_OK(example_holds(&examples[i], "ring=0"));
		CHECK_OK(example_holds(&examples[i], "ring=2"));
	}
}

/* The list changes between SUBMIT and the rest: the job does not notice. */
static void changed_meanwhile(void)
{
	struct grt_balance want = {.fate = {[GRT_FATE_DELIVERED] = 3, [GRT_FATE_WATCH_DENIED] = 3}};
	struct capture c = {.data = NULL};

	CHECK_EQ(kmod_write("watchlist", "1"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ring=1 ctx=1 seqno=1\nsubmit ring=2 ctx=2 seqno=1"), 0);
	CHECK_EQ(kmod_write("watchlist", "!1"), 0);
	CHECK_EQ(kmod_emit("end ctx=1 seqno=1\nend ctx=2 seqno=1"), 0);
	CHECK_EQ(kmod_write("watchlist", "\n"), 0);
	CHECK_EQ(kmod_emit("complete ctx=1 seqno=1\ncomplete ctx=2 seqno=1"), 0);
	CHECK_OK(capture_all(&c));
	CHECK_OK(counts_are(&c, &want));
	capture_free(&c);
}

static bool list_is(const char *want)
{
	char text[2048];

	kmod_config_get("watchlist", text, sizeof(text));
	if (strcmp(text, want))
		TAP_FAIL("the list is '%s', not '%s'", text, want);
	return !strcmp(text, want);
}

static void edits(void)
{
	CHECK_EQ(kmod_write("watchlist", "0,1 !2\n"), 0);
	CHECK_EQ(kmod_write("watchlist", "+ctx:0x10\n"), 0);
	CHECK_OK(list_is("ring:0 ring:1 !ring:2 ctx:16"));
	CHECK_EQ(kmod_write("watchlist", "-1 -!2 +!ctx:3"), 0);
	CHECK_OK(list_is("ring:0 ctx:16 !ctx:3"));
	CHECK_EQ(kmod_write("watchlist", "+0"), 0);
	CHECK_OK(list_is("ring:0 ctx:16 !ctx:3"));
	CHECK_EQ(kmod_write("watchlist", "-0 -9"), -ENOENT);
	CHECK_OK(list_is("ring:0 ctx:16 !ctx:3"));
	CHECK_EQ(kmod_write("watchlist", "+4 5"), -EINVAL);
	CHECK_OK(list_is("ring:0 ctx:16 !ctx:3"));
	CHECK_EQ(kmod_write("watchlist", "5"), 0);
	CHECK_OK(list_is("ring:5"));
	CHECK_EQ(kmod_write("watchlist", "-5"), 0);
	CHECK_OK(list_is(""));
	CHECK_EQ(kmod_write("watchlist", "+7 +8"), 0);
	CHECK_EQ(kmod_write("watchlist", "\n"), 0);
	CHECK_OK(list_is(""));
}

/* No more than 64, also by edits; a removal makes room within one write. */
static void full(void)
{
	char text[1024];
	int i, n = 0;

	for (i = 0; i < 64; i++)
		n += sprintf(text + n, "%d ", i);
	CHECK_EQ(kmod_write("watchlist", text), 0);
	CHECK_EQ(kmod_write("watchlist", "+64"), -E2BIG);
	CHECK_EQ(kmod_write("watchlist", "+63"), 0);
	CHECK_EQ(kmod_write("watchlist", "-0 +64"), 0);
	kmod_config_get("watch_count", text, sizeof(text));
	CHECK(!strcmp(text, "64"));
}

static const struct tap_case cases[] = {
	{"rings and contexts are delivered or denied, deny wins", lists},
	{"a job's SUBMIT says its ring, whatever its other events say", whole_jobs},
	{"a job begun under one list ends under it", changed_meanwhile},
	{"+x and -x edit the list, all of a write or nothing", edits},
	{"64 entries, no more", full},
};

int main(int argc, char **argv)
{
	return suite_main("grtrace_watchlist", NULL, cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
