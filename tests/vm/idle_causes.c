// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps a ring of the software GPU idle between two jobs, 40 ms for each cause in turn,
 * and prints for each how long that took by the clock, how long the thread was on a CPU,
 * and how long it was ready to run without one, as the scheduler counts it:
 *
 *	CAUSE WALL CPU DELAY
 *
 * CAUSE is that of lib/idle/idle_causes.def.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gpu_calls.h"

#define MS 1000000UL
#define CAUSE_MS 40
#define JOB_NS 100000UL

static int pipe_ends[2];
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static atomic_bool hogged;

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static uint64_t run_delay(void)
{
	unsigned long long ran, delay = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "r");

	if (!f || fscanf(f, "%llu %llu", &ran, &delay) != 2)
		fail("schedstat");
	fclose(f);
	return delay;
}

/* @in, @out: sync objects that it waits for and signals, 0: none */
static void submit(uint32_t ring, uint64_t ns, uint32_t in, uint32_t out)
{
	struct grtrace_softgpu_job j = {.duration = ns,
					.ring = ring,
					.in_syncs = (uintptr_t)&in,
					.in_count = in != 0,
					.out_sync = out};
	struct grtrace_softgpu_submit s = {.jobs = (uintptr_t)&j, .count = 1};

	if (ioctl(gpu, DRM_IOCTL_GRTRACE_SOFTGPU_SUBMIT, &s))
		fail("a job");
}

static void await(uint32_t sync)
{
	struct sync_wait w = {.handles = (uintptr_t)&sync, .until = INT64_MAX, .count = 1};

	if (ioctl(gpu, SYNCOBJ_WAIT, &w))
		fail("SYNCOBJ_WAIT");
}

/* One that is over. */
static void job(void)
{
	uint32_t sync = new_sync();

	submit(0, JOB_NS, 0, sync);
	await(sync);
}

static void cause_sleep(void)
{
	pause_ms(CAUSE_MS);
}

static void cause_running(void)
{
	uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + CAUSE_MS * MS;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		;
}

static void *hold(void *arg)
{
	pthread_mutex_lock(&held);
	pthread_barrier_wait(&both);
	pause_ms(CAUSE_MS);
	pthread_mutex_unlock(&held);
	return arg;
}

static void cause_lock(void)
{
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
}

static void *feed(void *arg)
{
	pthread_barrier_wait(&both);
	pause_ms(CAUSE_MS);
	if (write(pipe_ends[1], "", 1) != 1)
		fail("write");
	return arg;
}

static void cause_io(void)
{
	char byte;

	if (read(pipe_ends[0], &byte, 1) != 1)
		fail("read");
}

static void cause_child(void)
{
	pid_t child = fork();

	if (!child)
		pause_ms(CAUSE_MS), _exit(0);
	waitpid(child, NULL, 0);
}

/* A job of another ring. */
static void cause_gpu(void)
{
	uint32_t sync = new_sync();

	submit(1, CAUSE_MS * MS, 0, sync);
	await(sync);
}

static void *hog(void *arg)
{
	pthread_barrier_wait(&both);
	while (atomic_load(&hogged))
		;
	return arg;
}

static void look(uint64_t at[3])
{
	at[0] = clock_ns(CLOCK_MONOTONIC);
	at[1] = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	at[2] = run_delay();
}

static void cause(const char *name, void (*call)(void), void *(*beside)(void *arg))
{
	uint64_t before[3], after[3];
	pthread_t thread;

	if (beside && pthread_create(&thread, NULL, beside, NULL))
		fail("a thread");
	if (beside)
		pthread_barrier_wait(&both);
	job();
	look(before);
	call();
	look(after);
	job();
	printf("%s", name);
	for (int i = 0; i < 3; i++)
		printf(" %llu", (unsigned long long)(after[i] - before[i]));
	puts("");
	atomic_store(&hogged, false);
	if (beside)
		pthread_join(thread, NULL);
}

/* The next job waits for one of another ring, for the rest of that one's time. */
static void cause_scheduler(void)
{
	uint32_t first = new_sync(), second = new_sync();
	uint64_t before = clock_ns(CLOCK_MONOTONIC);

	submit(1, CAUSE_MS * MS, 0, first);
	submit(0, JOB_NS, first, second);
	printf("scheduler %llu 0 0\n",
	       (unsigned long long)(CAUSE_MS * MS - (clock_ns(CLOCK_MONOTONIC) - before)));
	await(second);
}

int main(void)
{
	cpu_set_t set;

	gpu = open_gpu();
	if (pipe(pipe_ends) || pthread_barrier_init(&both, NULL, 2))
		fail("pipe");
	job();
	cause("sleep", cause_sleep, NULL);
	cause("running", cause_running, NULL);
	cause("lock", cause_lock, hold);
	cause("io", cause_io, feed);
	cause("child", cause_child, NULL);
	cause("gpu", cause_gpu, NULL);
	cause_scheduler();
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
	atomic_store(&hogged, true);
	cause("runnable", cause_running, hog);
	return 0;
}
