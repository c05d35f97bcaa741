// SPDX-License-Identifier: GPL-2.0
/*
 * clock: the counter as a clock while nobody ends its tuning. Prints TAP.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../inject/clock.c"

struct inject inject;

void event_init(struct grt_event *e, uint16_t type, uint16_t size, uint64_t time)
{
	(void)e;
	(void)type;
	(void)size;
	(void)time;
}

void define_clock(const struct grt_ev_clock *clock)
{
	(void)clock;
}

static void must(bool condition, const char *what)
{
	printf("%s - %s\n", condition ? "ok" : "not ok", what);
	if (!condition)
		exit(1);
}

static bool is_now(void)
{
	uint64_t before = now_ns(CLOCK_MONOTONIC), ns = clock_monotonic(), after = now_ns(CLOCK_MONOTONIC);

	return ns + OFF_NS >= before && ns <= after + OFF_NS;
}

int main(void)
{
	struct moment m;
	int status;

	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(20);
	first = clock_moment_now();
	usleep(20000);
	m = clock_moment_now();
	clock_set_counter(&m);
	counter.used = true;
	must(!clock_is_steady() || is_now(), "the counter tells the time");
	counter.version++;
	must(is_now(), "so does the clock while the counter is tuned");
	if (!fork()) {
		clock_forked();
		_exit(!is_now() || counter.used);
	}
	wait(&status);
	must(!status, "a child does not use the counter");
	return 0;
}
