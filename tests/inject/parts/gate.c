// SPDX-License-Identifier: GPL-2.0
/*
 * gate: threads that are in calls, and calls within them, while the gate is closed and opened. They count
 * themselves those that launch. Prints TAP.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../../inject/gate.c"

#define THREADS 4
#define RUNTIME_LAUNCH 211
#define DRIVER_LAUNCH 307
#define RUNTIME_SYNC 165
#define TIMES 300

static _Atomic int in_launch;
static _Atomic bool over, slow;
static _Atomic unsigned long launches;

static void must(bool condition, const char *what)
{
	printf("%s - %s\n", condition ? "ok" : "not ok", what);
	if (!condition)
		exit(1);
}

static void rest(long ns)
{
	struct timespec t = {.tv_nsec = ns};

	nanosleep(&t, NULL);
}

static void call(bool launches_work, long ns)
{
	gate_callback(CUPTI_DOMAIN_RUNTIME, launches_work ? RUNTIME_LAUNCH : RUNTIME_SYNC, CUPTI_SITE_ENTER);
	atomic_fetch_add(&in_launch, launches_work);
	gate_callback(CUPTI_DOMAIN_DRIVER, DRIVER_LAUNCH, CUPTI_SITE_ENTER);
	rest(ns);
	gate_callback(CUPTI_DOMAIN_DRIVER, DRIVER_LAUNCH, CUPTI_SITE_EXIT);
	atomic_fetch_sub(&in_launch, launches_work);
	gate_callback(CUPTI_DOMAIN_RUNTIME, launches_work ? RUNTIME_LAUNCH : RUNTIME_SYNC, CUPTI_SITE_EXIT);
	atomic_fetch_add(&launches, launches_work);
}

/* The first one waits for the GPU all the time. */
static void *run(void *number)
{
	while (!atomic_load(&over))
		if (!number)
			call(false, 100000000);
		else
			call(true, atomic_load(&slow) ? 900000000 : 1000);
	return NULL;
}

static void test_quiet(void)
{
	unsigned long n;
	int closed_times = 0;
	bool quiet = true, still = true;

	for (int i = 0; i < TIMES; i++) {
		if (!gate_close())
			continue;
		closed_times++;
		n = atomic_load(&launches);
		for (int look = 0; look < 20; look++, rest(10000))
			quiet &= !atomic_load(&in_launch);
		still &= n == atomic_load(&launches);
		gate_open();
		rest(200000);
	}
	must(closed_times > TIMES / 2, "the gate closes beside threads that launch, and one that waits");
	must(quiet && still, "meanwhile no thread is in a launch");
	n = atomic_load(&launches);
	while (n == atomic_load(&launches))
		rest(100000);
	must(true, "then they go on");
}

/* Which state the gate has is read last: it does not go back. */
static void test_single(void)
{
	int in, most = 0, looks = 0;

	for (int i = 0; i < TIMES; i++) {
		if (!gate_close())
			continue;
		gate_expect_first();
		gate_open();
		for (;;) {
			in = atomic_load(&in_launch);
			if (!atomic_load(&gate))
				break;
			most = in > most ? in : most;
			looks += in == 1;
		}
		rest(200000);
	}
	must(looks && most == 1, "until the first launch has returned, no other thread is in one");
}

/* The first launch does not return. */
static void test_single_slow(void)
{
	unsigned long n = 0;

	while (!gate_close())
		;
	atomic_store(&slow, true);
	gate_expect_first();
	gate_open();
	while (atomic_load(&in_launch) < THREADS - 1 && n++ < 100)
		rest(100000000);
	must(atomic_load(&in_launch) == THREADS - 1,
	     "the others go on where the first launch does not return");
	atomic_store(&slow, false);
}

/* The calls of before return when they are not counted any more. */
static void test_anew(void)
{
	for (int i = 0; i < 50; i++, rest(20000)) {
		gate_end();
		gate_begin();
	}
	while (!gate_close())
		;
	rest(1000000);
	must(!(uint32_t)atomic_load(&calls), "no call is counted that began before the counting");
	gate_open();
}

static void test_no_return(void)
{
	atomic_store(&slow, true);
	rest(50000000);
	while (atomic_load(&in_launch) < THREADS - 1)
		rest(1000000);
	must(!gate_close(), "it does not close where calls do not return");
	must(!atomic_load(&gate), "and is open again");
}

int main(void)
{
	pthread_t thread[THREADS];

	setvbuf(stdout, NULL, _IOLBF, 0);
	gate_begin();
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, run, (void *)i);
	test_quiet();
	test_single();
	test_anew();
	test_single_slow();
	test_no_return();
	atomic_store(&over, true);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	must(!(uint32_t)atomic_load(&calls), "in the end no call is counted");
	return 0;
}
