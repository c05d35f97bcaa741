// SPDX-License-Identifier: GPL-2.0
/*
 * A program whose threads spend known times: asleep, running, waiting for a
 * mutex, waiting for a pipe. It measures each by itself, with the clocks of the
 * kernel, and prints a line for each thread when all have ended, as a stream has a
 * lock, too:
 *
 *	NAME TID wall=NS cpu=NS wait=NS
 *
 * wall is the thread's life as it sees it, cpu its CLOCK_THREAD_CPUTIME_ID, wait
 * how long the call took that it waited in. Its argument is the time in ms; with
 * "fork" it does it all in a child.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS 1000000ULL

static uint64_t span_ns;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int pipe_fds[2];

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static void pause_ns(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000ULL), (long)(ns % 1000000000ULL)};

	while (nanosleep(&t, &t))
		;
}

static void wait_asleep(void)
{
	pause_ns(span_ns);
}

__attribute__((noinline)) static void wait_spinning(void)
{
	while (now(CLOCK_THREAD_CPUTIME_ID) < span_ns)
		;
}

static void wait_locked(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void wait_reading(void)
{
	char byte;

	if (read(pipe_fds[0], &byte, 1) != 1)
		abort();
}

/** struct job - what a thread does, and what it measures of itself, ns */
struct job {
	const char *name;
	void (*wait)(void);
	pthread_t thread;
	pid_t tid;
	uint64_t wall;
	uint64_t cpu;
	uint64_t waited;
};

static struct job jobs[] = {
	{.name = "asleep", .wait = wait_asleep},
	{.name = "spinning", .wait = wait_spinning},
	{.name = "locked", .wait = wait_locked},
	{.name = "reading", .wait = wait_reading},
};
#define JOBS (sizeof(jobs) / sizeof(jobs[0]))

static void *run(void *arg)
{
	uint64_t begun = now(CLOCK_MONOTONIC), from;
	struct job *job = arg;

	job->tid = gettid();
	pthread_setname_np(pthread_self(), job->name);
	from = now(CLOCK_MONOTONIC);
	job->wait();
	job->waited = now(CLOCK_MONOTONIC) - from;
	job->cpu = now(CLOCK_THREAD_CPUTIME_ID);
	job->wall = now(CLOCK_MONOTONIC) - begun;
	return NULL;
}

static int run_all(void)
{
	pthread_mutex_lock(&mutex);
	if (pipe(pipe_fds))
		return 1;
	for (struct job *j = jobs; j < jobs + JOBS; j++)
		if (pthread_create(&j->thread, NULL, run, j))
			return 1;
	pause_ns(span_ns);
	pthread_mutex_unlock(&mutex);
	if (write(pipe_fds[1], "x", 1) != 1)
		return 1;
	for (struct job *j = jobs; j < jobs + JOBS; j++)
		pthread_join(j->thread, NULL);
	for (struct job *j = jobs; j < jobs + JOBS; j++)
		printf("%s %d wall=%llu cpu=%llu wait=%llu\n", j->name, (int)j->tid,
		       (unsigned long long)j->wall, (unsigned long long)j->cpu,
		       (unsigned long long)j->waited);
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	int status = 0;
	pid_t pid;

	span_ns = (argc > 1 ? strtoull(argv[1], NULL, 10) : 300) * NS_PER_MS;
	if (argc < 3 || strcmp(argv[2], "fork"))
		return run_all();
	pid = fork();
	if (!pid)
		_exit(run_all());
	waitpid(pid, &status, 0);
	return status != 0;
}
