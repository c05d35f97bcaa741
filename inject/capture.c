// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Windows: the ranges of time that are recorded, where not all is. From the environment:
 *	GRTRACE_CAPTURE	cudaProfilerApi or nvtx:NAME, and :N, after which there are no more
 *	GRTRACE_DELAY	from when on, ns of CLOCK_MONOTONIC
 *	GRTRACE_DUTY	windows at random places, see duty.c
 *
 * Between them CUPTI makes no records. Its callbacks come from the first window to the last: where they
 * are switched while another thread is in a call, CUPTI 13.0 may stop counting, and gives all later calls and
 * kernels one number until cuptiFinalize() (1 in 200 to 3,000 times on an H100; records can be switched).
 * Before the first window only cudaProfilerStart() and -Stop() call, and what makes nodes of graphs and
 * allocates memory: what comes later needs to know them. The program's thread that begins or ends a window
 * switches itself, so that the first launch behind it is in it, or out of it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inject.h"
#include "nvtx.h"

#define DRIVER_START 308U
#define DRIVER_STOP 309U
#define RUNTIME_START 171U
#define RUNTIME_STOP 172U
/* Most windows that wait to be written. */
#define WINDOWS_MAX 4096
/* How many times to wait 0.5 ms for the calls of a window that has ended. */
#define CALLS_RETURN 20

struct window {
	uint64_t begin;
	uint64_t end;
	uint32_t number;
};

/**
 * @left: number of windows that may still begin
 * @depth: number of open ranges; the outermost one is the window
 * @client: the subscriber of CUPTI, once there is one; @calls: its callbacks are enabled
 * @number: number of the open or the last window
 * @last: number of the last window that is written, 0: none is
 * @end: time when the open window ended, after which nothing is recorded; 0: it is still open
 * @told: begin of the last window whose begin is written
 * @lost: windows that found no room, or that CUPTI refused; @refused: its last error
 */
static struct {
	pthread_mutex_t lock;
	uint64_t left;
	uint32_t depth;
	uint64_t until;
	void *client;
	bool calls;
	struct window window[WINDOWS_MAX];
	uint32_t windows;
	uint32_t number;
	uint32_t last;
	uint64_t begin;
	uint64_t end;
	uint64_t told;
	uint64_t lost;
	int refused;
	char text[256];
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct capture capture = {.inside = true};

/* NAME[:N], where NAME may have colons. */
static void capture_read_count(char *text)
{
	char *colon = strrchr(text, ':'), *end;
	unsigned long long n = colon ? strtoull(colon + 1, &end, 10) : 0;

	all.left = UINT64_MAX;
	if (!n || *end)
		return;
	all.left = n;
	*colon = '\0';
}

void capture_init(void)
{
	const char *how = secure_getenv("GRTRACE_CAPTURE"), *delay = secure_getenv("GRTRACE_DELAY");

	if (duty_init())
		capture.how = CAPTURE_DUTY;
	else if (delay && *delay) {
		capture.how = CAPTURE_DELAY;
		all.until = strtoull(delay, NULL, 10);
		all.left = 1;
	} else if (how && *how && strlen(how) < sizeof(all.text)) {
		memcpy(all.text, how, strlen(how));
		capture_read_count(all.text);
		capture.how = strncmp(all.text, "nvtx:", 5) ? CAPTURE_PROFILER : CAPTURE_NVTX;
	}
	atomic_store(&capture.inside, !capture.how);
}

void capture_reset(const struct grt_duty *duty)
{
	pthread_mutex_lock(&all.lock);
	capture.how = duty_set(duty) ? CAPTURE_DUTY : CAPTURE_ALL;
	all.depth = all.windows = all.number = all.last = 0;
	all.begin = all.end = all.told = all.lost = 0;
	all.refused = 0;
	all.client = NULL;
	all.calls = false;
	atomic_store(&capture.inside, !capture.how);
	pthread_mutex_unlock(&all.lock);
}

void capture_name(void)
{
	bool cut = false;

	if (capture.how == CAPTURE_NVTX)
		capture.name = nvtx_name(all.text + 5, strlen(all.text + 5), &cut);
}

/* ---------------------------------------------------------------- windows */

static int capture_switch(bool on)
{
	int ret = 0;

	if (!all.client)
		return 0;
	if (!on) {
		/* no further window begins */
		if (capture.how != CAPTURE_DUTY && !all.left)
			launch_disable_calls(all.client);
		activity_stop();
		return 0;
	}
	ret = activity_start();
	if (!ret && !all.calls)
		all.calls = launch_enable_calls(all.client);
	ret = ret ?: !all.calls;
	if (ret) {
		all.lost++;
		all.refused = ret;
	}
	return ret;
}

/* The caller holds the lock. */
static void capture_begin(void)
{
	if (all.depth++ || !all.left || !atomic_load(&inject.on))
		return;
	all.left--;
	all.number++;
	all.begin = clock_monotonic();
	capture.turn++;
	atomic_store(&capture.inside, true);
	capture_switch(true);
}

static void capture_keep(uint64_t end)
{
	if (all.windows == WINDOWS_MAX) {
		all.lost++;
		return;
	}
	all.window[all.windows++] = (struct window){.begin = all.begin, .end = end, .number = all.number};
}

static void capture_end(void)
{
	if (!all.depth || --all.depth || !atomic_load(&capture.inside))
		return;
	atomic_store(&capture.inside, false);
	capture_switch(false);
	capture_keep(clock_monotonic());
}

/* The program's threads do not switch at this begin, so everything is on before the window begins. */
bool capture_duty_begin(uint32_t number)
{
	bool on;

	pthread_mutex_lock(&all.lock);
	on = !capture_switch(true);
	pthread_mutex_unlock(&all.lock);
	if (!on)
		return false;
	pthread_mutex_lock(&all.lock);
	all.number = number;
	all.begin = clock_monotonic();
	capture.turn++;
	atomic_store(&capture.inside, true);
	pthread_mutex_unlock(&all.lock);
	return true;
}

void capture_duty_none(uint32_t number, uint64_t begin, uint64_t end)
{
	pthread_mutex_lock(&all.lock);
	all.number = number;
	all.begin = begin;
	capture_keep(end);
	pthread_mutex_unlock(&all.lock);
}

void capture_duty_end(void)
{
	struct timespec moment = {.tv_nsec = 500000};

	pthread_mutex_lock(&all.lock);
	atomic_store(&inject.leaving, true);
	atomic_store(&capture.inside, false);
	capture_keep(clock_monotonic());
	pthread_mutex_unlock(&all.lock);
	/*
	 * calls of the window return, and the GPU work that they launched is recorded, before the window is
	 * written
	 */
	nanosleep(&moment, NULL);
	for (int n = 0; n < CALLS_RETURN && launch_in_call(); n++)
		nanosleep(&moment, NULL);
	pthread_mutex_lock(&all.lock);
	capture_switch(false);
	atomic_store(&inject.leaving, false);
	pthread_mutex_unlock(&all.lock);
}

void capture_stop(void)
{
	if (atomic_load(&capture.inside))
		all.end = clock_monotonic();
}

void capture_range(bool begins)
{
	pthread_mutex_lock(&all.lock);
	if (begins)
		capture_begin();
	else
		capture_end();
	pthread_mutex_unlock(&all.lock);
}

/* The runtime's function calls the driver's function: the inner one ends first and begins last. */
bool capture_call(int domain, uint32_t number, int site)
{
	bool starts = number == (domain == CUPTI_DOMAIN_DRIVER ? DRIVER_START : RUNTIME_START);

	if (!starts && number != (domain == CUPTI_DOMAIN_DRIVER ? DRIVER_STOP : RUNTIME_STOP))
		return false;
	pthread_mutex_lock(&all.lock);
	if (starts && site == CUPTI_SITE_EXIT && !all.depth)
		capture_begin();
	else if (!starts && site == CUPTI_SITE_ENTER && all.depth)
		capture_end();
	pthread_mutex_unlock(&all.lock);
	return true;
}

/* ------------------------------------------------------------------ CUPTI */

static void capture_ask(uint32_t enable, void *client)
{
	if (capture.how != CAPTURE_PROFILER)
		return;
	inject.cupti.enable_callback(enable, client, CUPTI_DOMAIN_RUNTIME, RUNTIME_START);
	inject.cupti.enable_callback(enable, client, CUPTI_DOMAIN_RUNTIME, RUNTIME_STOP);
	inject.cupti.enable_callback(enable, client, CUPTI_DOMAIN_DRIVER, DRIVER_START);
	inject.cupti.enable_callback(enable, client, CUPTI_DOMAIN_DRIVER, DRIVER_STOP);
}

int capture_join(void *client)
{
	int ret;

	pthread_mutex_lock(&all.lock);
	all.client = client;
	all.calls = false;
	capture_ask(1, client);
	launch_enable_resources(1, client);
	ret = activity_init() ?: atomic_load(&capture.inside) ? capture_switch(true) : 0;
	pthread_mutex_unlock(&all.lock);
	return ret;
}

void capture_leave(void *client)
{
	pthread_mutex_lock(&all.lock);
	all.client = NULL;
	capture_ask(0, client);
	pthread_mutex_unlock(&all.lock);
}

/* -------------------------------------------------------------- the writer */

void capture_write(void)
{
	if (!capture.how)
		return;
	pthread_mutex_lock(&all.lock);
	if (capture.how == CAPTURE_DELAY && !all.depth && clock_monotonic() >= all.until)
		capture_begin();
	for (uint32_t i = 0; i < all.windows; i++) {
		all.last = all.window[i].number;
		define_window(all.last, all.window[i].begin, all.window[i].end);
	}
	all.windows = 0;
	if (atomic_load(&capture.inside) && all.told != all.begin) {
		define_window(all.number, all.begin, 0);
		all.told = all.begin;
	}
	pthread_mutex_unlock(&all.lock);
}

static const char *capture_why_none(char why[320])
{
	if (capture.how == CAPTURE_DUTY)
		return "nothing is recorded: the process used CUDA only outside the windows of --duty, or ended before one";
	if (capture.how == CAPTURE_PROFILER)
		return "nothing is recorded: the process did not call cudaProfilerStart()";
	if (capture.how == CAPTURE_DELAY)
		return "nothing is recorded: the process ended before the delay was over";
	snprintf(why, 320, "nothing is recorded: the process began no NVTX range \"%s\"", all.text + 5);
	return why;
}

void capture_close(void)
{
	char why[320];

	if (!capture.how)
		return;
	pthread_mutex_lock(&all.lock);
	if (atomic_load(&capture.inside))
		capture_keep(all.end ?: clock_monotonic());
	atomic_store(&capture.inside, false);
	all.left = 0;
	pthread_mutex_unlock(&all.lock);
	capture_write();
	if (all.refused) {
		snprintf(why, sizeof(why),
			 "%llu windows could not be recorded: CUPTI refuses to record kernels (error %d)",
			 (unsigned long long)all.lost, all.refused);
		define_process(5, why);
	} else if (all.lost) {
		define_process(5, "windows of --capture-range could not be recorded: there were too many");
	} else if (!duty_close() && !all.last) {
		define_process(5, capture_why_none(why));
	}
}

void capture_forked(void)
{
	pthread_mutex_init(&all.lock, NULL);
	atomic_store(&capture.inside, false);
	all.left = 0;
	all.client = NULL;
}
