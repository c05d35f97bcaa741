// SPDX-License-Identifier: GPL-2.0
/*
 * Self-test of the watch list: which jobs it delivers, that it decides on whole
 * jobs, and how it is edited.
 *
 *	make; sudo ./grtrace_watchlist [PART OF A TITLE]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "real.h"
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

/* ------------------------------------------------- jobs of the software GPU */

#define REAL_JOBS 90U

/*
 * Words of a list, by letter: r and c are a ring and a context that are wanted,
 * R and C are denied; the digit is which of the GPU's.
 */
static const char *const real_lists[] = {
	"", "r0", "r0 r2", "R1", "c4", "C4", "r0 c4", "r0 C0", "r1 R1", "c3 R3", "r2 R4 c9 C12 c6",
};

/* A context of each ring and priority; they stay those of the open file. */
static struct {
	uint64_t ctx;
	uint32_t ring;
} place[SOFTGPU_RINGS * GRTRACE_SOFTGPU_PRIORITIES];

static unsigned int places;

static bool learn_places(void)
{
	unsigned int i;

	real_mix(real.gpu.nrings * GRTRACE_SOFTGPU_PRIORITIES, 1000);
	for (i = 0; i < real.jobs; i++) {
		real.want[i].ring = i % real.gpu.nrings;
		real.want[i].priority = i / real.gpu.nrings;
	}
	if (kmod_write("control", "start") || !real_submit(0, real.jobs) || !real_over())
		return false;
	for (i = 0; i < real.jobs; i++) {
		place[i].ctx = real.job[i].r.ctx;
		place[i].ring = real.job[i].ring;
	}
	places = real.jobs;
	return true;
}

static bool word_matches(const char *word, const struct real_job *j)
{
	unsigned int i = strtoul(word + 1, NULL, 10);

	return *word == 'r' || *word == 'R' ? j->ring == place[i].ring : j->r.ctx == place[i].ctx;
}

static bool is_watched(const char *list, const struct real_job *j)
{
	bool any = false, wanted = false;
	const char *word;

	for (word = list; *word; word += strcspn(word, " "), word += *word == ' ') {
		if (*word == 'R' || *word == 'C') {
			if (word_matches(word, j))
				return false;
			continue;
		}
		any = true;
		wanted |= word_matches(word, j);
	}
	return wanted || !any;
}

static void write_list(const char *list, char *text, size_t size)
{
	const char *word;
	size_t n = 0;

	text[0] = 0;
	for (word = list; *word; word += strcspn(word, " "), word += *word == ' ') {
		unsigned int i = strtoul(word + 1, NULL, 10);
		const char *deny = *word == 'R' || *word == 'C' ? "!" : "";

		if (*word == 'r' || *word == 'R')
			n += snprintf(text + n, size - n, "%sring:%u ", deny, place[i].ring);
		else
			n += snprintf(text + n, size - n, "%sctx:0x%llx ", deny,
				      (unsigned long long)place[i].ctx);
	}
}

static bool jobs_watched(const char *list, struct grt_balance *want)
{
	unsigned int i;

	for (i = 0; i < real.jobs; i++) {
		const struct real_job *j = &real.job[i];
		bool watched = is_watched(list, j);

		want->fate[watched ? GRT_FATE_DELIVERED : GRT_FATE_WATCH_DENIED] += j->steps;
		if (real_whole(j) == watched)
			continue;
		TAP_FAIL("a job of ring %u, context %llu is %swatched and has records of %s", j->ring,
			 (unsigned long long)j->r.ctx, watched ? "" : "not ",
			 real_whole(j) < 0 ? "some of its events"
			 : watched	   ? "none"
					   : "all");
		return false;
	}
	return true;
}

static bool real_list_holds(const char *list)
{
	struct grt_balance want = {.emitted = 0};
	struct capture c = {.data = NULL};
	char text[1024];
	bool good;

	kmod_reset();
	real.jobs = 0;
	real_mix(REAL_JOBS, 10000);
	write_list(list, text, sizeof(text));
	good = !kmod_write("watchlist", *text ? text : "\n") && !kmod_write("control", "start") &&
	       real_submit(0, REAL_JOBS) && real_over() && capture_all(&c) && real_join(&c) &&
	       jobs_watched(list, &want) && counts_are(&c, &want);
	if (!good)
		TAP_FAIL("this was with watchlist=%s", text);
	else
		tap_note("%s: %llu of %llu events", *text ? text : "no list",
			 (unsigned long long)real_delivered(), (unsigned long long)real_steps());
	capture_free(&c);
	return good;
}

static void real_jobs(void)
{
	unsigned int i;

	CHECK_OK(real_here());
	CHECK_OK(learn_places());
	CHECK(places >= 13);
	for (i = 0; i < sizeof(real_lists) / sizeof(real_lists[0]); i++)
		CHECK_OK(real_list_holds(real_lists[i]));
}

static const struct tap_case cases[] = {
	{"rings and contexts are delivered or denied, deny wins", lists},
	{"a job's SUBMIT says its ring, whatever its other events say", whole_jobs},
	{"a job begun under one list ends under it", changed_meanwhile},
	{"+x and -x edit the list, all of a write or nothing", edits},
	{"64 entries, no more", full},
	{"real jobs: whole, by ring and context, and deny wins", real_jobs},
};

int main(int argc, char **argv)
{
	return suite_main("grtrace_watchlist", NULL, cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
