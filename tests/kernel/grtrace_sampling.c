// SPDX-License-Identifier: GPL-2.0
/*
 * Self-test of the sampling stage: jobs whole or not at all, weights, JOB
 * records, the load that adaptive sampling keeps to, and sampling_stats.
 *
 *	make; sudo ./grtrace_sampling [PART OF A TITLE]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "real.h"
#include "suite.h"

#define MS 1000000ULL

/* Jobs that can wait at a time, see kernel/core/jobs.c; seqnos one after another fill it evenly. */
#define TABLE 4096

/* Jobs of a run on the software GPU. */
#define REAL_JOBS 997U

static bool stats_are(const char *want)
{
	char text[16384];

	if (kmod_read("sampling_stats", text, sizeof(text)) >= 0 && !strcmp(text, want))
		return true;
	TAP_FAIL("sampling_stats reads '%s'", text);
	return false;
}

#define HEADER "Ring   Total        Sampled      Rate\n"

static void stats_form(void)
{
	CHECK_OK(stats_are("Sampler mode: static (rate=100%)\n" HEADER));
	CHECK_EQ(kmod_write("sampling_rate", "25"), 0);
	CHECK_OK(stats_are("Sampler mode: static (rate=25%)\n" HEADER));
	CHECK_EQ(kmod_write("sampling_mode", "adaptive"), 0);
	CHECK_OK(stats_are("Sampler mode: adaptive (rate=100%)\n" HEADER));
	CHECK_EQ(kmod_write("sampling_mode", "threshold"), 0);
	CHECK_OK(stats_are("Sampler mode: threshold (threshold=1000000 ns)\n" HEADER));
	CHECK_EQ(kmod_write("sampling", "50"), 0);
	CHECK_EQ(kmod_write("sampling_mode", "static"), 0);
	CHECK_OK(stats_are("Sampler mode: static (rate=50%)\n" HEADER));
}

/* The events of each job, by seqno; all with this weight. */
static bool count_jobs(const struct capture *c, unsigned int *seen, unsigned int jobs, unsigned int percent)
{
	const struct grt_event *e;
	const struct grt_packet *p;

	memset(seen, 0, jobs * sizeof(*seen));
	for (e = capture_next(c, &p, NULL); e; e = capture_next(c, &p, e)) {
		if (e->seqno >= jobs || e->sample != percent) {
			TAP_FAIL("record of job %llu says sample %u", (unsigned long long)e->seqno,
				 e->sample);
			return false;
		}
		seen[e->seqno]++;
	}
	return true;
}

#define JOBS 1009

/* The rate changes twice while the jobs run: they stay as their SUBMIT was decided on. */
static void whole_jobs(void)
{
	static unsigned int seen[JOBS];
	struct grt_balance want = {.emitted = 0};
	struct capture c = {.data = NULL};
	unsigned int i, kept = 0;

	CHECK_OK(set("sample=30"));
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ctx=5 count=%u", JOBS), 0);
	CHECK_OK(set("sample=70"));
	CHECK_EQ(kmod_emit("start ctx=5 count=%u\nsync_wait_enter ctx=5 count=%u", JOBS, JOBS), 0);
	CHECK_OK(set("sample=100"));
	CHECK_EQ(kmod_emit("end ctx=5 count=%u", JOBS), 0);
	CHECK_OK(set("sample=1"));
	CHECK_EQ(kmod_emit("complete ctx=5 count=%u", JOBS), 0);
	CHECK_OK(capture_all(&c));
	CHECK_OK(count_jobs(&c, seen, JOBS, 30));
	for (i = 0; i < JOBS; i++) {
		CHECK(seen[i] == 0 || seen[i] == 5);
		kept += !!seen[i];
	}
	CHECK(kept > JOBS * 28 / 100 && kept < JOBS * 32 / 100);
	want.fate[GRT_FATE_DELIVERED] = 5ULL * kept;
	want.fate[GRT_FATE_SAMPLED_OUT] = 5ULL * (JOBS - kept);
	CHECK_OK(counts_are(&c, &want));
	capture_free(&c);
}

/* Jobs are counted once, by ring; so are events without a job. */
static void stats_count(void)
{
	char want[512];
	unsigned long long submits, commands;

	CHECK(kmod_pin(0));
	CHECK_OK(set("sample=40"));
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ring=7 ctx=9 count=1000\nend ctx=9 count=1000"), 0);
	CHECK_EQ(kmod_emit("command count=500"), 0);
	submits = kmod_delivered("submit");
	commands = kmod_delivered("command");
	snprintf(want, sizeof(want),
		 "Sampler mode: static (rate=40%%)\n" HEADER "7      1000         %-12llu %llu%%\n"
		 "-      500          %-12llu %llu%%\n",
		 submits, (submits + 5) / 10, commands, (commands * 100 + 250) / 500);
	CHECK_OK(stats_are(want));
	CHECK_EQ(kmod_write("control", "stop"), 0);
	CHECK_EQ(kmod_write("control", "clear"), 0);
	CHECK_OK(stats_are("Sampler mode: static (rate=40%)\n" HEADER));
}

/* Of jobs that are held all stamps, and nothing else, leave with the COMPLETE of those that took long. */
static void threshold(void)
{
	struct grt_balance want = {
		.fate = {[GRT_FATE_DELIVERED] = 2, [GRT_FATE_SAMPLED_OUT] = 2, [GRT_FATE_AGGREGATED] = 10}};
	const struct grt_ev_job *job;
	const struct grt_packet *p;
	struct capture c = {.data = NULL};

	CHECK_OK(set("sampling_threshold=1000000000"));
	CHECK_OK(set("sampling_mode=threshold"));
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ring=3 ctx=1\ncommit ctx=1 sw_depth=3 hw_depth=2\nsync_wait_enter ctx=1"),
		 0);
	if (!short_job(2))
		return;
	CHECK_EQ(kmod_emit("sync_wait_exit ctx=2"), 0); /* shares the job's fate */
	sleep_ms(1100);
	CHECK_EQ(
		kmod_emit(
			"error ctx=1 code=0x77\nstart ctx=1\nend ctx=1\ncomplete ctx=1\nsync_wait_exit ctx=1"),
		0);
	CHECK_OK(capture_all(&c));
	CHECK_OK(counts_are(&c, &want));
	job = (const void *)capture_next(&c, &p, NULL);
	CHECK(job && job->e.type == GRT_EV_JOB && job->e.ctx == 1 && job->e.sample == 100);
	CHECK(job->submit <= job->commit && job->commit <= job->wait && job->wait < job->start);
	CHECK(job->start <= job->end && job->end <= job->complete && job->complete <= job->e.time);
	CHECK_EQ(job->sw_depth, 3);
	CHECK_EQ(job->hw_depth, 2);
	CHECK_EQ(job->waits, 1);
	CHECK_EQ(job->errors, 1);
	CHECK_EQ(job->code, 0x77);
	CHECK_EQ(job->others, 0);
	CHECK_EQ(capture_count(&c, GRT_EV_SYNC_WAIT_EXIT), 1);
	capture_free(&c);
}

/* More jobs than the table has room for: the others are counted, and only they. */
static void table_full(void)
{
	struct grt_balance want = {.fate = {[GRT_FATE_DELIVERED] = TABLE,
					    [GRT_FATE_AGGREGATED] = 2 * TABLE,
					    [GRT_FATE_UNHELD] = 2 * 509}};
	struct capture c = {.data = NULL};

	CHECK_OK(set("sampling_threshold=0"));
	CHECK_OK(set("sampling_mode=threshold"));
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ctx=5 count=%u", TABLE + 509), 0);
	CHECK_EQ(kmod_emit("complete ctx=5 count=%u", TABLE + 509), 0);
	CHECK_OK(capture_all(&c));
	CHECK_EQ(capture_count(&c, GRT_EV_JOB), TABLE);
	CHECK_OK(counts_are(&c, &want));
	capture_free(&c);
}

/* Jobs that still wait leave when tracing stops, without a COMPLETE. */
static void stopped(void)
{
	struct grt_balance want = {.fate = {[GRT_FATE_DELIVERED] = 503, [GRT_FATE_AGGREGATED] = 509}};
	struct capture c = {.data = NULL};
	const struct grt_event *e;
	const struct grt_packet *p;
	unsigned int open = 0;

	CHECK_OK(set("sampling_threshold=0"));
	CHECK_OK(set("sampling_mode=threshold"));
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ctx=5 count=503\ncomplete ctx=5 count=6"), 0);
	CHECK_OK(capture_all(&c));
	for (e = capture_next(&c, &p, NULL); e; e = capture_next(&c, &p, e)) {
		CHECK_EQ(e->type, GRT_EV_JOB);
		CHECK_EQ(!((const struct grt_ev_job *)e)->complete, e->seqno >= 6);
		open += !((const struct grt_ev_job *)e)->complete;
	}
	CHECK_EQ(open, 497);
	CHECK_OK(counts_are(&c, &want));
	capture_free(&c);
}

/* Another mode meanwhile: what was begun as a record ends as one, what was not does not. */
static void mode_changes(void)
{
	struct grt_balance want = {
		.fate = {[GRT_FATE_DELIVERED] = 7 + 3 * 11, [GRT_FATE_AGGREGATED] = 2 * 7}};
	struct capture c = {.data = NULL};

	CHECK_OK(set("sampling_threshold=0"));
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ctx=1 count=11"), 0);
	CHECK_OK(set("sampling_mode=threshold"));
	CHECK_EQ(kmod_emit("submit ctx=2 count=7\nend ctx=1 count=11"), 0);
	CHECK_OK(set("sampling_mode=static"));
	CHECK_EQ(kmod_emit("complete ctx=2 count=7\ncomplete ctx=1 count=11"), 0);
	CHECK_OK(capture_all(&c));
	CHECK_EQ(capture_count(&c, GRT_EV_JOB), 7);
	CHECK_OK(counts_are(&c, &want));
	capture_free(&c);
}

static unsigned int rate_in_force(void)
{
	char text[16384], *at;

	kmod_read("sampling_stats", text, sizeof(text));
	at = strstr(text, "(rate=");
	return at ? strtoul(at + 6, NULL, 10) : 0;
}

/* Jobs one after another for @ms; what they add up to by weight must be as many as there were. */
static uint64_t load(unsigned int ms, uint64_t *seqno)
{
	uint64_t end = kmod_now() + ms * MS, n = 0;

	while (kmod_now() < end) {
		if (kmod_emit("submit ring=2 ctx=6 seqno=%llu count=500\ncomplete ctx=6 seqno=%llu count=500",
			      (unsigned long long)*seqno, (unsigned long long)*seqno))
			return 0;
		*seqno += 500;
		n += 500;
	}
	return n;
}

static double weighed(const struct capture *c, unsigned int type)
{
	const struct grt_packet *p;
	const struct grt_event *e;
	double sum = 0;

	for (e = capture_next(c, &p, NULL); e; e = capture_next(c, &p, e))
		if (e->type == type)
			sum += 100.0 / e->sample;
	return sum;
}

static void adaptive(void)
{
	struct capture c = {.data = NULL};
	uint64_t seqno = 0, jobs = 0, begin;
	unsigned int under_load = 100;
	double submits, completes;

	CHECK_OK(set("buffer_size=67108864"));
	CHECK_OK(set("sampling_mode=adaptive"));
	CHECK_EQ(kmod_write("control", "start"), 0);
	sleep_ms(500);
	CHECK_EQ(rate_in_force(), 100);
	/* A second is enough for the rate, if the machine has one for us. */
	for (begin = kmod_now(); under_load == 100 && kmod_now() - begin < 20000 * MS;
	     under_load = rate_in_force())
		jobs += load(100, &seqno);
	tap_note("%u %% after %llu ms", under_load, (unsigned long long)((kmod_now() - begin) / MS));
	CHECK(jobs && under_load >= 1 && under_load < 100);
	jobs += load(2000, &seqno);
	under_load = rate_in_force();
	for (begin = kmod_now(); rate_in_force() < 100 && kmod_now() - begin < 20000 * MS;)
		sleep_ms(100);
	CHECK_EQ(rate_in_force(), 100);
	CHECK_OK(capture_all(&c));
	CHECK_EQ(kmod_balance("total").fate[GRT_FATE_LOST], 0);
	submits = weighed(&c, GRT_EV_SUBMIT);
	completes = weighed(&c, GRT_EV_COMPLETE);
	tap_note("%llu jobs, %u %% under load; by weight %.0f submits, %.0f completes",
		 (unsigned long long)jobs, under_load, submits, completes);
	CHECK(submits > 0.99 * jobs && submits < 1.01 * jobs);
	CHECK_EQ(submits, completes);
	capture_free(&c);
}

/* ------------------------------------------------- jobs of the software GPU */

/* Where a job stands in 0..2^32, by its identity alone; written anew, not shared with the stage. */
static uint32_t place_of(const struct real_job *j)
{
	return (uint32_t)(j->r.ctx * 0x61C8864680B583EBULL >> 32) + (uint32_t)j->r.seqno * 0x61C88647U;
}

static bool is_chosen(const struct real_job *j, unsigned int percent)
{
	return place_of(j) * 100ULL >> 32 < percent;
}

/* Whole where its identity says so, nothing else; each record with the weight. */
static bool job_sampled(const struct real_job *j, unsigned int percent)
{
	unsigned int i;

	if (real_whole(j) != is_chosen(j, percent)) {
		TAP_FAIL("job %llu:%llu is %schosen, but has records of %s", (unsigned long long)j->r.ctx,
			 (unsigned long long)j->r.seqno, is_chosen(j, percent) ? "" : "not ",
			 real_whole(j) < 0 ? "some of its events"
			 : real_whole(j)   ? "all"
					   : "none");
		return false;
	}
	for (i = 0; i < j->steps; i++)
		if (j->step[i].e && j->step[i].e->sample != percent) {
			TAP_FAIL("a record says sample %u, not %u", j->step[i].e->sample, percent);
			return false;
		}
	return true;
}

/* The table as it must be: jobs of each ring, and those that were chosen. */
static void real_stats(char *text, size_t size, unsigned int percent)
{
	unsigned int total[256] = {0}, chosen[256] = {0}, i;
	size_t n;

	for (i = 0; i < real.jobs; i++) {
		total[real.job[i].ring & 255]++;
		chosen[real.job[i].ring & 255] += is_chosen(&real.job[i], percent);
	}
	n = snprintf(text, size, "Sampler mode: static (rate=%u%%)\n" HEADER, percent);
	for (i = 0; i < 256; i++)
		if (total[i])
			n += snprintf(text + n, size - n, "%-6u %-12u %-12u %u%%\n", i, total[i], chosen[i],
				      (chosen[i] * 100 + total[i] / 2) / total[i]);
}

static bool real_share(unsigned int percent)
{
	struct grt_balance want = {.emitted = 0};
	struct capture c = {.data = NULL};
	char stats[16384];
	unsigned int i, kept = 0;
	bool good;

	kmod_reset();
	real.jobs = 0;
	real_mix(REAL_JOBS, 20000);
	if (kmod_config("sample=%u", percent) || kmod_write("control", "start") ||
	    !real_submit(0, REAL_JOBS) || !real_over() || !capture_all(&c) || !real_join(&c))
		return false;
	for (i = 0; i < REAL_JOBS; i++) {
		if (!job_sampled(&real.job[i], percent))
			return false;
		kept += is_chosen(&real.job[i], percent);
		want.fate[is_chosen(&real.job[i], percent) ? GRT_FATE_DELIVERED : GRT_FATE_SAMPLED_OUT] +=
			real.job[i].steps;
	}
	real_stats(stats, sizeof(stats), percent);
	good = counts_are(&c, &want) && stats_are(stats);
	tap_note("%u %%: %u of %u jobs, %llu of %llu events", percent, kept, REAL_JOBS,
		 (unsigned long long)want.fate[GRT_FATE_DELIVERED], (unsigned long long)real_steps());
	/* each of some 15 contexts has its share but for a job or so */
	if (kept * 100 > (REAL_JOBS + 20) * percent + 2000 ||
	    kept * 100 + 2000 < (REAL_JOBS - 20) * percent) {
		TAP_FAIL("%u of %u jobs are not %u %% of them", kept, REAL_JOBS, percent);
		good = false;
	}
	capture_free(&c);
	return good;
}

static void real_sampled(void)
{
	static const unsigned int shares[] = {25, 3, 90};
	unsigned int i;

	CHECK_OK(real_here());
	for (i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		CHECK_OK(real_share(shares[i]));
}

#define SHORT_NS (100 * 1000ULL)
#define LONG_NS (80 * MS)
#define LIMIT_NS (30 * MS)

/* Some queue up behind those that take long; the one after a job says until when that was over. */
static bool play_short_and_long(void)
{
	unsigned int i;

	real_mix(200, SHORT_NS);
	for (i = 0; i < real.jobs; i++) {
		real.want[i].ring = i % real.gpu.nrings;
		if (i % 64 == 6)
			real.want[i].duration = LONG_NS;
	}
	return real_play(real.gpu.nrings, 10000) && real_over();
}

/* Return: how many jobs have a record; ~0 after failing the case */
static unsigned int records_right(uint64_t limit)
{
	uint64_t least, most;
	unsigned int i, n = 0, open = 0;

	for (i = 0; i < real.jobs; i++) {
		const struct real_job *j = &real.job[i];

		real_latency(j, &least, &most);
		open += least < limit && most >= limit;
		n += !!j->record;
		if ((j->record && most < limit) || (!j->record && least >= limit) || real_whole(j)) {
			TAP_FAIL("job %u took %llu to %llu ns: %s", i, (unsigned long long)least,
				 (unsigned long long)most, j->record ? "it has a record" : "it has none");
			return -1;
		}
	}
	tap_note("%u of %u jobs have a record, of %u it is not known whether they are to", n, real.jobs,
		 open);
	return n;
}

static void real_threshold(void)
{
	struct grt_balance want = {.emitted = 0};
	struct capture c = {.data = NULL};
	unsigned int n;

	CHECK_OK(real_here());
	CHECK_EQ(kmod_config("sampling_threshold=%llu", LIMIT_NS), 0);
	CHECK_OK(set("sampling_mode=threshold"));
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_OK(play_short_and_long());
	CHECK_OK(capture_all(&c));
	CHECK_OK(real_join(&c));
	n = records_right(LIMIT_NS);
	CHECK(n >= 4 && n < real.jobs);
	want.fate[GRT_FATE_DELIVERED] = n;
	want.fate[GRT_FATE_SAMPLED_OUT] = real.jobs - n;
	want.fate[GRT_FATE_AGGREGATED] = real_steps();
	CHECK_OK(counts_are(&c, &want));
	capture_free(&c);
}

static const struct tap_case cases[] = {
	{"sampling_stats begins with mode and rate in force; an empty table keeps its header", stats_form},
	{"a job is delivered whole or not at all, with the weight of its SUBMIT", whole_jobs},
	{"sampling_stats counts jobs by ring, and those kept", stats_count},
	{"threshold: one JOB record with all stamps for each job that took long", threshold},
	{"threshold: jobs without room are unheld, counted exactly", table_full},
	{"threshold: jobs that still wait leave when tracing stops", stopped},
	{"threshold: a change of mode leaves no job in two forms", mode_changes},
	{"real jobs: those that their identity chooses, whole, weighed and counted", real_sampled},
	{"real jobs: with a threshold one record of each that took long, its stamps true", real_threshold},
	{"adaptive: less under load, all when idle, counts by weight within 1 %", adaptive},
};

int main(int argc, char **argv)
{
	return suite_main("grtrace_sampling", "sampling_mode", cases, sizeof(cases) / sizeof(cases[0]), argc,
			  argv);
}
