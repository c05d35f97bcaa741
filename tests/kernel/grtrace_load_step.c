// SPDX-License-Identifier: GPL-2.0
/*
 * Self-test of adaptive sampling under jobs of the software GPU: a load that
 * goes from 1,000 to 100,000 jobs/s at once. What does not reach that, as an
 * emulated machine on a real clock, is skipped. TAP version 13.
 *
 *	modprobe grtrace_softgpu hw_depth=1024 timeout_ms=0 jobs_max=1048576
 *	make; sudo ./grtrace_load_step [PART OF A TITLE]
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "softgpu.h"
#include "suite.h"

#define MS 1000000ULL
#define S 1000000000ULL

#define LOW 1000U
#define HIGH 100000U
#define LOW_MS 300
#define HIGH_MS 1600

/* The first job of a millisecond takes this long, so that one interrupt ends all of them. */
#define FIRST_NS 400000ULL

/* The rate in force is looked at this often; it is set every 100 ms. */
#define LOOK_MS 100
#define LOOKS_MAX 32

/* Percent of a CPU for which neither all jobs nor the fewest are right. */
#define LARGER 15

/**
 * struct load - what runs jobs: some every millisecond, on one ring
 * @jobs: submitted
 * @over: whose results were read
 */
struct load {
	struct softgpu gpu;
	uint64_t jobs;
	uint64_t over;
	struct grtrace_softgpu_job turn[GRTRACE_SOFTGPU_BATCH_MAX];
	struct grtrace_softgpu_result results[GRTRACE_SOFTGPU_BATCH_MAX];
};

/**
 * struct phase - a time of even load
 * @begin, @end: of it
 * @jobs: that were submitted in it
 * @late: most that a millisecond's jobs were, ns
 * @look: the rate in force, and when, from @begin on
 * @looks: how many
 */
struct phase {
	uint64_t begin;
	uint64_t end;
	uint64_t jobs;
	uint64_t late;
	struct {
		uint64_t after;
		unsigned int rate;
	} look[LOOKS_MAX];
	unsigned int looks;
};

static struct load load;

static bool submit_turn(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		load.turn[i] =
			(struct grtrace_softgpu_job){.cookie = load.jobs + i, .duration = i ? 0 : FIRST_NS};
	load.jobs += n;
	return softgpu_submit(&load.gpu, load.turn, n);
}

/* Those that are over by now. Return: false when one was not run */
static bool take_over(void)
{
	struct grtrace_softgpu_results r;
	uint32_t i;

	do {
		r = (struct grtrace_softgpu_results){.results = (uintptr_t)load.results,
						     .capacity = GRTRACE_SOFTGPU_BATCH_MAX};
		if (ioctl(load.gpu.fd, DRM_IOCTL_GRTRACE_SOFTGPU_RESULTS, &r))
			return false;
		for (i = 0; i < r.count; i++)
			if (load.results[i].state != GRTRACE_SOFTGPU_DONE || load.results[i].status)
				return false;
		load.over += r.count;
	} while (r.count == GRTRACE_SOFTGPU_BATCH_MAX);
	return true;
}

static void sleep_until(uint64_t at)
{
	struct timespec ts = {.tv_sec = at / S, .tv_nsec = at % S};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static unsigned int rate_in_force(void)
{
	char text[4096], *at;

	kmod_read("sampling_stats", text, sizeof(text));
	at = strstr(text, "(rate=");
	return at ? strtoul(at + 6, NULL, 10) : 0;
}

static void look(struct phase *p, uint64_t now)
{
	if (p->looks == LOOKS_MAX)
		return;
	p->look[p->looks].after = now - p->begin;
	p->look[p->looks++].rate = rate_in_force();
}

/* @rate jobs a second for @ms, and one look at the end of every LOOK_MS. Return: false after failing the case
 */
static bool run_phase(struct phase *p, unsigned int rate, unsigned int ms)
{
	uint64_t before = load.jobs, now;
	unsigned int i;

	*p = (struct phase){.begin = kmod_now()};
	for (i = 1; i <= ms; i++) {
		if (!submit_turn(rate / 1000)) {
			TAP_FAIL("the software GPU takes no job: %s", strerror(errno));
			return false;
		}
		sleep_until(p->begin + i * MS);
		now = kmod_now();
		if (now - p->begin - i * MS > p->late)
			p->late = now - p->begin - i * MS;
		if (i % LOOK_MS == 0)
			look(p, now);
	}
	p->jobs = load.jobs - before;
	p->end = kmod_now();
	return true;
}

static double jobs_per_s(const struct phase *p)
{
	return p->jobs * 1e9 / (p->end - p->begin);
}

/* The mean of what was in force in the second half. */
static double settled_rate(const struct phase *p)
{
	double sum = 0;
	unsigned int i;

	for (i = p->looks / 2; i < p->looks; i++)
		sum += p->look[i].rate;
	return sum / (p->looks - p->looks / 2);
}

/* After what time every look is near the settled rate, in ns: a fifth of it, or 1 %. */
static uint64_t converged_after(const struct phase *p)
{
	double rate = settled_rate(p), near = rate / 5 > 1 ? rate / 5 : 1;
	uint64_t after = 0;
	unsigned int i;

	for (i = 0; i < p->looks; i++)
		if (fabs(p->look[i].rate - rate) > near)
			after = p->look[i].after + LOOK_MS * MS;
	return after;
}

static double weighed(const struct capture *c, unsigned int type, uint64_t from)
{
	const struct grt_packet *p;
	const struct grt_event *e;
	double sum = 0;

	for (e = capture_next(c, &p, NULL); e; e = capture_next(c, &p, e))
		if (e->type == type && e->time >= from)
			sum += 100.0 / e->sample;
	return sum;
}

static bool near_to(const char *what, double is, double want)
{
	if (is >= 0.99 * want && is <= 1.01 * want)
		return true;
	TAP_FAIL("%s is %.0f by weight, not %.0f within 1 %%", what, is, want);
	return false;
}

static void note_looks(const struct phase *p)
{
	char text[1024];
	unsigned int i;
	int n = 0;

	for (i = 0; i < p->looks; i++)
		n += snprintf(text + n, sizeof(text) - n, " %u", p->look[i].rate);
	tap_note("rate every %d ms after the step:%s", LOOK_MS, text);
}

/* What was counted must add up to what the GPU ran; over the step, and after it alone. */
static bool weights_right(const struct capture *c, const struct phase *low, const struct phase *high)
{
	double all = weighed(c, GRT_EV_SUBMIT, 0), after = weighed(c, GRT_EV_SUBMIT, high->begin);
	double ends = weighed(c, GRT_EV_COMPLETE, 0);

	tap_note("%llu + %llu jobs; by weight %.1f + %.1f", (unsigned long long)low->jobs,
		 (unsigned long long)high->jobs, all - after, after);
	return near_to("SUBMIT after the step", after, high->jobs) &&
	       near_to("SUBMIT before it", all - after, low->jobs) &&
	       near_to("COMPLETE", ends, low->jobs + high->jobs);
}

static bool wait_for_rest(void)
{
	uint64_t until = kmod_now() + 10 * S;

	while (load.over < load.jobs && kmod_now() < until && take_over())
		sleep_ms(1);
	if (load.over != load.jobs)
		TAP_FAIL("%llu of %llu jobs have run well", (unsigned long long)load.over,
			 (unsigned long long)load.jobs);
	sleep_ms(50);
	return load.over == load.jobs;
}

static bool begin(unsigned int budget)
{
	int err = kmod_config("buffer_size=67108864");

	load = (struct load){.jobs = 0};
	if (!softgpu_open(&load.gpu) || load.gpu.ring[0].jobs_max < HIGH * HIGH_MS / 1000 * 2 ||
	    load.gpu.ring[0].hw_depth < 2 * HIGH / 1000) {
		tap_skip("no software GPU for this: modprobe grtrace_drm_bridge; modprobe grtrace_softgpu "
			 "hw_depth=1024 timeout_ms=0 jobs_max=1048576");
		return false;
	}
	if (!err)
		err = kmod_config("sampling_mode=adaptive");
	if (!err)
		err = kmod_config("sampling_budget=%u", budget);
	if (!err)
		err = kmod_write("control", "start");
	if (err)
		TAP_FAIL("cannot begin with budget %u: %s", budget, strerror(-err));
	return !err;
}

static void step(unsigned int budget)
{
	struct capture c = {.data = NULL};
	static struct phase low, high;
	struct grt_balance b;

	CHECK_OK(begin(budget));
	CHECK_OK(run_phase(&low, LOW, LOW_MS));
	CHECK_OK(run_phase(&high, HIGH, HIGH_MS));
	CHECK_OK(wait_for_rest());
	tap_note("%.0f jobs/s, then %.0f; late by %.3f ms at most", jobs_per_s(&low), jobs_per_s(&high),
		 high.late / 1e6);
	if (jobs_per_s(&high) < 0.99 * HIGH) {
		tap_skip("this machine does %.0f jobs/s: tools/vm run --icount", jobs_per_s(&high));
		return;
	}
	note_looks(&high);
	tap_note("settled at %.1f %% after %.1f s", settled_rate(&high), converged_after(&high) / 1e9);
	CHECK(settled_rate(&high) < 100);
	CHECK(converged_after(&high) <= S);
	CHECK_OK(capture_all(&c));
	b = kmod_balance("total");
	CHECK_EQ(b.fate[GRT_FATE_LOST], 0);
	CHECK_EQ(b.emitted - kmod_delivered("name"), 4 * load.jobs);
	CHECK_OK(weights_right(&c, &low, &high));
	capture_free(&c);
}

/* Not even dropping everything fits into it: the share is as small as it gets. */
static void default_budget(void)
{
	step(1);
}

static void larger_budget(void)
{
	step(LARGER);
}

static const struct tap_case cases[] = {
	{"from 1,000 to 100,000 jobs/s: within a second, counts by weight within 1 %", default_budget},
	{"the same with a budget that leaves something to set", larger_budget},
};

int main(int argc, char **argv)
{
	return suite_main("grtrace_load_step", "sampling_mode", cases, sizeof(cases) / sizeof(cases[0]), argc,
			  argv);
}
