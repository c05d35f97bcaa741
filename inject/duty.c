// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Windows at random places: GRTRACE_DUTY, or a recorder's page, says where, see trace/duty.h.
 *
 * Between them CUPTI is not in the process where nothing holds it there (detach.c): with all of its callbacks
 * and records off it still costs each launch some percent, and coming and going costs some 20 ms once, which
 * is less from a second between windows on. Where it is held, or windows are nearer to each other, it stays
 * and records are off, callbacks come and do nothing.
 *
 * With --pc-sampling, the GPU is sampled before each window for as long as the window, see pcsampling.c. In
 * the first launch then, CUPTI looks at the program's code, and calls of CUPTI wait for that, as those of the
 * writer do; then it takes a while to end sampling: 300 and 75 ms with PyTorch on an H200 (CUDA 13.0). So
 * sampling begins and ends earlier by what that took before.
 */
#include <stdio.h>
#include <stdlib.h>

#include "inject.h"

/*
 * If the windows are closer together than this, CUPTI stays attached: to attach and detach takes 20 ms, to
 * stay costs 2 %.
 */
#define DUTY_APART NS_PER_S
/* The time to attach CUPTI, until it is measured; CUPTI is attached at most this long before a window. */
#define DUTY_LEAD 20000000ULL
#define DUTY_LEAD_MAX 500000000ULL
/*
 * If a program's calls have prevented detaching this many times in a row, it is not tried any more, because
 * each attempt has a cost.
 */
#define DUTY_TRIES 3
#define DUTY_WINDOW_MIN 1000000ULL
#define DUTY_WINDOW_MAX (3600 * NS_PER_S)
#define DUTY_PARTS_MAX 1000000U
/* How often to check whether a program that launched nothing has launched something. */
#define DUTY_LOOK_NS 10000000ULL
/* How much earlier sampling begins at most; also at most half a period. It is less by 1/64 with each window.
 */
#define DUTY_EARLY_MAX (2 * NS_PER_S)
#define DUTY_EARLY_FALLS 64
/* The same as DUTY_LOOK_NS for a program that does not use CUDA yet, when it is time to attach CUPTI. */
#define DUTY_IDLE_NS 1000000ULL

/**
 * The windows
 * @period: period of the next window, or of the open one
 * @ends: when the open window ends; 0: no window is open
 * @sampled: how long the GPU is sampled before a window, or 0; @samples: it is being sampled; @ready: it was,
 * and the window may begin
 * @early: how much earlier sampling begins; @ending: how much earlier it ends
 * @look: when to check again whether sampling can end; 0: at the window's begin
 * @there: CUPTI is attached
 * @lead: how long it takes to attach CUPTI
 * @stays: how many times in a row CUPTI could not be detached
 * @missed: number of windows that passed before they could begin
 */
static struct {
	struct grt_duty is;
	uint64_t period;
	uint64_t ends;
	uint64_t sampled;
	bool samples;
	bool ready;
	uint64_t early;
	uint64_t ending;
	uint64_t look;
	bool there;
	uint64_t lead;
	unsigned int stays;
	uint64_t missed;
} duty;

bool duty_set(const struct grt_duty *is)
{
	duty.is.parts = 0;
	if (is->parts < 2 || is->parts > DUTY_PARTS_MAX || is->window < DUTY_WINDOW_MIN ||
	    is->window > DUTY_WINDOW_MAX || is->epoch > now_ns(CLOCK_MONOTONIC))
		return false;
	duty.is = *is;
	duty.ends = duty.look = 0;
	duty.samples = duty.ready = false;
	duty.early = duty.ending = duty.missed = 0;
	duty.sampled = pcsampling_is_requested() ? is->window : 0;
	duty.there = false;
	duty.lead = DUTY_LEAD;
	duty.stays = 0;
	duty.period = grt_duty_period(is, now_ns(CLOCK_MONOTONIC));
	if (grt_duty_begin(is, duty.period) < now_ns(CLOCK_MONOTONIC))
		duty.period++;
	return true;
}

bool duty_init(void)
{
	const char *text = secure_getenv(GRT_DUTY_ENV);
	uint64_t number[4] = {0};
	char *end = (char *)text;

	for (unsigned int i = 0; text && i < 4; i++) {
		number[i] = strtoull(end, &end, 10);
		end += *end == ':';
	}
	return duty_set(&(const struct grt_duty){number[0], number[1], number[2], number[3]});
}

uint32_t duty_parts(void)
{
	return (uint32_t)duty.is.parts;
}

static uint64_t duty_before(uint64_t moment, uint64_t ns)
{
	return moment > ns ? moment - ns : 0;
}

/* Finds the next action and its time. */
static uint64_t duty_next(void)
{
	uint64_t begin = grt_duty_begin(&duty.is, duty.period);

	if (duty.ends)
		return duty.ends;
	if (duty.samples)
		return duty.look ?: duty_before(begin, duty.ending);
	if (duty.ready)
		return begin;
	return duty_before(begin, duty.sampled + duty.early + (duty.there ? 0 : duty.lead));
}

uint64_t duty_wait_ns(uint64_t ns)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC), next;

	if (!duty.is.parts)
		return ns;
	next = duty_next();
	if (next <= now)
		return duty.there ? 0 : DUTY_IDLE_NS;
	return next - now < ns ? next - now : ns;
}

/* Before its window begins. */
static void duty_attach(const struct duty_cupti *cupti)
{
	uint64_t begun = now_ns(CLOCK_MONOTONIC), took;

	duty.there = cupti->attach();
	took = now_ns(CLOCK_MONOTONIC) - begun;
	if (duty.there && took > duty.lead)
		duty.lead = took < DUTY_LEAD_MAX ? took : DUTY_LEAD_MAX;
}

/* The previous windows may have ended only now. */
static void duty_sample(void)
{
	uint64_t begin = grt_duty_begin(&duty.is, duty.period), now = now_ns(CLOCK_MONOTONIC);

	if (duty.there && duty.sampled && !duty.samples && !duty.ready &&
	    now >= duty_before(begin, duty.sampled + duty.early)) {
		duty.samples = now < duty_before(begin, duty.ending);
		duty.ready = !duty.samples;
		if (duty.samples)
			pcsampling_window_begin((uint32_t)duty.period + 1);
	}
}

static void duty_next_period(void)
{
	duty.period++;
	duty.ready = false;
}

/*
 * Sampling of the window that begins at @begin has ended, which was tried since @tried; @waited: until the
 * program launched something, which says nothing about how long sampling takes.
 */
static void duty_learn(uint64_t begin, uint64_t tried, bool waited)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC), late = now > begin ? now - begin : 0, most;

	most = duty.is.parts * duty.is.window / 2;
	most = most < DUTY_EARLY_MAX ? most : DUTY_EARLY_MAX;
	if (waited && late > gate_first_ns())
		late = gate_first_ns();
	duty.early += late - (duty.early + DUTY_EARLY_FALLS - 1) / DUTY_EARLY_FALLS;
	duty.early = duty.early < most ? duty.early : most;
	duty.ending = now - tried > duty.ending ? now - tried : duty.ending - duty.ending / DUTY_EARLY_FALLS;
	duty.ending = duty.ending < duty.early ? duty.ending : duty.early;
}

/*
 * Return: whether sampling has ended, so that the window may begin. If sampling cannot end, the program has
 * launched nothing since it began. If that is so until the end of the window, the window is recorded as one
 * without launches.
 */
static bool duty_end_samples(void)
{
	uint64_t begin = grt_duty_begin(&duty.is, duty.period), now = now_ns(CLOCK_MONOTONIC);

	if (pcsampling_window_end()) {
		duty_learn(begin, now, duty.look);
		duty.samples = false;
		duty.ready = true;
		duty.look = 0;
		return true;
	}
	duty.look = now + DUTY_LOOK_NS;
	if (now >= begin + duty.is.window) {
		capture_duty_none((uint32_t)duty.period + 1, begin, begin + duty.is.window);
		duty_next_period();
		pcsampling_window_next((uint32_t)duty.period + 1);
	}
	return false;
}

/* A program without CUDA has windows, too: it launches nothing in them. */
static void duty_begin(const struct duty_cupti *cupti)
{
	uint64_t begin = grt_duty_begin(&duty.is, duty.period), now = now_ns(CLOCK_MONOTONIC);

	/* a window that has passed meanwhile, for example while the machine was suspended */
	if ((duty.there || !cupti->is_wanted()) && now < begin + duty.is.window &&
	    capture_duty_begin((uint32_t)duty.period + 1)) {
		/*
		 * the time to switch everything on is not a part of the window: all windows represent the
		 * same amount of time
		 */
		duty.ends = now_ns(CLOCK_MONOTONIC) + duty.is.window;
	} else {
		duty.missed += now >= begin + duty.is.window;
		duty_next_period();
	}
}

static void duty_end(const struct duty_cupti *cupti)
{
	uint64_t begin;

	capture_duty_end();
	duty.ends = 0;
	duty_next_period();
	begin = duty_before(grt_duty_begin(&duty.is, duty.period), duty.sampled + duty.early);
	if (!duty.there || begin < now_ns(CLOCK_MONOTONIC) + 2 * DUTY_APART || duty.stays >= DUTY_TRIES)
		return;
	duty.there = !cupti->detach();
	duty.stays = duty.there ? duty.stays + 1 : 0;
	if (duty.stays == DUTY_TRIES)
		cupti->note(
			"CUPTI stays attached between windows, and launches are some percent slower: the process has CUDA graphs "
			"that were created in a window, several contexts, or makes no call that waits for the device");
}

void duty_tick(const struct duty_cupti *cupti)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	/* CUDA was loaded during a window that has just ended, in a program without CUDA until then */
	bool late = duty.is.parts && duty.ends && !duty.there && cupti->is_wanted();

	if (!duty.is.parts || (!late && now < duty_next()))
		return;
	if (duty.ends)
		duty_end(cupti);
	else if (!duty.there && cupti->is_wanted())
		duty_attach(cupti);
	if (duty.ends)
		return;
	duty_sample();
	if (duty.samples && (now_ns(CLOCK_MONOTONIC) < duty_next() || !duty_end_samples()))
		return;
	if (now_ns(CLOCK_MONOTONIC) >= grt_duty_begin(&duty.is, duty.period))
		duty_begin(cupti);
}

bool duty_close(void)
{
	char text[192];

	if (!duty.missed)
		return false;
	snprintf(
		text, sizeof(text),
		"%llu random window%s not recorded: CUPTI was not ready before %s over; longer windows give it time, for example --duty 5%%,2s",
		(unsigned long long)duty.missed, duty.missed == 1 ? " was" : "s were",
		duty.missed == 1 ? "it was" : "they were");
	define_process(5, text);
	return true;
}
