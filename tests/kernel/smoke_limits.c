// SPDX-License-Identifier: GPL-2.0
/*
 * Cases about the limits: each takes exactly the events it should, and counts
 * them under its own fate.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "smoke.h"
#include "tap.h"

/**
 * struct limit - a limit and events that meet it
 * @config: the setting
 * @lines: for `emit`
 * @delivered: events that are let through
 * @fate, @n: what becomes of how many others
 */
struct limit {
	const char *config;
	const char *lines;
	uint64_t delivered;
	enum grt_fate fate;
	uint64_t n;
};

static const struct limit limits[] = {
	{"level=off", "submit ctx=1 count=11\nirq count=2", 0, GRT_FATE_BELOW_LEVEL, 13},
	{"level=normal", "submit ctx=1 count=11\nirq count=13", 11, GRT_FATE_BELOW_LEVEL, 13},
	{"level=verbose", "submit ctx=1 count=11\nirq count=13", 24, GRT_FATE_BELOW_LEVEL, 0},
	{"filter_engine_mask=graphics",
	 "submit engine=graphics ctx=1 count=11\nsubmit engine=compute ctx=2 count=17\nsubmit ctx=3 count=2",
	 11, GRT_FATE_FILTERED, 19},
	{"filter_engine_mask=compute,copy",
	 "submit engine=graphics ctx=1 count=11\nsubmit engine=compute ctx=2 count=17\n"
	 "submit engine=copy ctx=3 count=3\ncomplete ctx=2 seqno=0 count=17\ncomplete ctx=1 count=11",
	 37, GRT_FATE_FILTERED, 22},
	{"filter_ring_id=3",
	 "submit ring=3 ctx=1 count=5\nsubmit ring=4 ctx=2 count=7\nsubmit ctx=3 count=2\ncomplete ctx=1 count=5",
	 10, GRT_FATE_FILTERED, 9},
	{"filter_ring_id=0", "submit ring=0 ctx=1 count=5\nsubmit ring=1 ctx=2 count=7", 5, GRT_FATE_FILTERED,
	 7},
	{"filter_type_mask=submit,complete",
	 "submit ctx=1 count=3\nstart ctx=1 count=5\ncomplete ctx=1 count=2\ncommand count=31", 5,
	 GRT_FATE_FILTERED, 36},
	{"filter_type_mask=0", "submit ctx=1 count=3", 0, GRT_FATE_FILTERED, 3},
	{"filter_pid=4100001",
	 "submit pid=4100001 tid=4100002 ctx=1 count=5\nsubmit pid=4100002 tid=4100002 ctx=2 count=11\n"
	 "submit ctx=3 count=2\nend ctx=1 count=5\nend ctx=2 count=11",
	 10, GRT_FATE_FILTERED, 24},
	{"trace_ctx=0x1234", "submit ctx=0x1234 count=19\nsubmit ctx=0x1235 count=23\ncommand count=3", 19,
	 GRT_FATE_FILTERED, 26},
	{"watchlist=0,1",
	 "submit ring=0 ctx=1 count=3\nsubmit ring=1 ctx=2 count=5\nsubmit ring=2 ctx=3 count=7\ncommand count=2",
	 8, GRT_FATE_WATCH_DENIED, 9},
	{"watchlist=ring:3 ctx:0x77",
	 "submit ring=3 ctx=1 count=3\nsubmit ring=4 ctx=0x77 count=5\nsubmit ring=4 ctx=3 count=7", 8,
	 GRT_FATE_WATCH_DENIED, 7},
	{"watchlist=!2", "submit ring=1 ctx=1 count=3\nsubmit ring=2 ctx=2 count=5\nsubmit ctx=3 count=7", 10,
	 GRT_FATE_WATCH_DENIED, 5},
	{"watchlist=0 !ctx:7",
	 "submit ring=0 ctx=1 count=3\nsubmit ring=0 ctx=7 count=5\nsubmit ring=1 ctx=1 seqno=9 count=11", 3,
	 GRT_FATE_WATCH_DENIED, 16},
	{"watchlist=!0 ctx:7",
	 "submit ring=0 ctx=7 count=3\nsubmit ring=1 ctx=7 seqno=9 count=5\nsubmit ring=1 ctx=8 count=11", 5,
	 GRT_FATE_WATCH_DENIED, 14},
};

/* The balance in stats, in the packets and the records must agree. */
static bool limit_holds(const struct limit *l)
{
	struct capture c = {.data = NULL};
	bool good;

	kmod_reset();
	if (kmod_config("%s", l->config) || kmod_write("control", "start") || kmod_emit("%s", l->lines)) {
		TAP_FAIL("cannot set %s", l->config);
		return false;
	}
	good = capture_all(&c) && balance_is(l->delivered, l->fate, l->n);
	if (good && capture_count(&c, 0) - capture_count(&c, GRT_EV_NAME) != l->delivered) {
		TAP_FAIL("not as many records as delivered");
		good = false;
	}
	if (!good)
		tap_note("this was with %s", l->config);
	capture_free(&c);
	return good;
}

void smoke_limits(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		CHECK_OK(limit_holds(&limits[i]));
}

/* Each event passes one limit more than the one before. */
void smoke_limit_order(void)
{
	struct grt_balance b;

	CHECK_EQ(kmod_config("filter_ring_id=1"), 0);
	CHECK_EQ(kmod_config("watchlist=!ctx:9"), 0);
	CHECK_EQ(kmod_config("sample=0"), 0);
	CHECK_EQ(kmod_config("max_events_per_sec=1"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("irq ring=0 ctx=9 count=3\nsubmit ring=0 ctx=9 count=5\n"
			   "submit ring=1 ctx=9 seqno=100 count=7\nsubmit ring=1 ctx=8 count=11"),
		 0);
	b = kmod_balance("total");
	CHECK_EQ(b.emitted, 26);
	CHECK_EQ(b.fate[GRT_FATE_BELOW_LEVEL], 3);
	CHECK_EQ(b.fate[GRT_FATE_FILTERED], 5);
	CHECK_EQ(b.fate[GRT_FATE_WATCH_DENIED], 7);
	CHECK_EQ(b.fate[GRT_FATE_SAMPLED_OUT], 11);
	CHECK_EQ(b.fate[GRT_FATE_DELIVERED] + b.fate[GRT_FATE_RATE_LIMITED] + b.fate[GRT_FATE_LOST], 0);
}

#define JOBS 4001
#define JOB_EVENTS 4

/* How many events of each job are there. */
static bool count_jobs(const struct capture *c, unsigned int *seen, unsigned int percent)
{
	const struct grt_packet *p = NULL;
	const struct grt_event *e;

	memset(seen, 0, JOBS * sizeof(*seen));
	while ((p = capture_packet(c, p)))
		for (e = capture_record(p, NULL); e; e = capture_record(p, e)) {
			if (e->type == GRT_EV_NAME)
				continue;
			if (e->seqno >= JOBS || e->sample != percent) {
				TAP_FAIL("record of job %llu says sample %u", (unsigned long long)e->seqno,
					 e->sample);
				return false;
			}
			seen[e->seqno]++;
		}
	return true;
}

static bool sample_holds(unsigned int percent)
{
	static unsigned int seen[JOBS];
	struct capture c = {.data = NULL};
	unsigned int i, kept = 0;

	kmod_reset();
	if (kmod_config("sample=%u", percent) || kmod_write("control", "start") ||
	    kmod_emit(
		    "submit ctx=5 count=%u\nstart ctx=5 count=%u\nend ctx=5 count=%u\ncomplete ctx=5 count=%u",
		    JOBS, JOBS, JOBS, JOBS)) {
		TAP_FAIL("cannot emit with sample=%u", percent);
		return false;
	}
	if (!capture_all(&c) || !count_jobs(&c, seen, percent))
		return false;
	capture_free(&c);
	for (i = 0; i < JOBS; i++) {
		if (seen[i] && seen[i] != JOB_EVENTS) {
			TAP_FAIL("sample=%u: job %u has %u events of %u", percent, i, seen[i], JOB_EVENTS);
			return false;
		}
		kept += !!seen[i];
	}
	/* Two in a hundred are five standard deviations of a fair draw at 4001 jobs and more. */
	if (abs((int)(100 * kept) - (int)(percent * JOBS)) > (percent % 100 ? 3 * JOBS : 0)) {
		TAP_FAIL("sample=%u keeps %u of %u jobs", percent, kept, JOBS);
		return false;
	}
	return balance_is((uint64_t)kept * JOB_EVENTS, GRT_FATE_SAMPLED_OUT,
			  (uint64_t)(JOBS - kept) * JOB_EVENTS);
}

void smoke_sample_jobs(void)
{
	static const unsigned int percents[] = {0, 1, 10, 30, 50, 99, 100};
	unsigned int i;

	for (i = 0; i < sizeof(percents) / sizeof(percents[0]); i++)
		CHECK_OK(sample_holds(percents[i]));
}

void smoke_sample_others(void)
{
	uint64_t kept;

	CHECK(kmod_pin(0));
	CHECK_EQ(kmod_config("sample=25"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("command count=1000"), 0);
	kept = kmod_delivered("command");
	CHECK(kept >= 250 && kept <= 251); /* the remainder of an earlier run may add one */
	CHECK_OK(balance_is(kept, GRT_FATE_SAMPLED_OUT, 1000 - kept));
}

/* After a quiet second, a burst that is over within the next one. */
void smoke_rate(void)
{
	struct timespec quiet = {.tv_sec = 1, .tv_nsec = 100000000};
	struct capture c = {.data = NULL};
	uint64_t start;

	CHECK_EQ(kmod_config("rate_limit=97"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	nanosleep(&quiet, NULL);
	start = kmod_now();
	CHECK_EQ(kmod_emit("submit ctx=1 count=5003"), 0);
	if (kmod_now() - start > 900000000) {
		tap_skip("this machine is too slow: 5003 events took a second");
		return;
	}
	CHECK_OK(capture_all(&c));
	CHECK_EQ(capture_count(&c, GRT_EV_SUBMIT), 97);
	CHECK_OK(balance_is(97, GRT_FATE_RATE_LIMITED, 5003 - 97));
	capture_free(&c);
}
