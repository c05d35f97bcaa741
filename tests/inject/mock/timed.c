// SPDX-License-Identifier: GPL-2.0
/*
 * timed [-v|-p] SCRIPT: a program of known times on a GPU that takes its time (mock.h),
 * a statement a line, times in us:
 *
 *	kernel NAME STREAM TIME		launches a kernel
 *	copy STREAM TIME		launches a copy; pull: and waits for it
 *	wait STREAM OF			the stream waits for what OF has been given
 *	sync STREAM			waits for a stream; 0: for all
 *	cpu NAME TIME			runs
 *	sleep NAME TIME			sleeps
 *	hand NAME TIME			another thread runs so long, when it is done with what it has
 *	take				waits for the other thread
 *	repeat N ... end
 *
 * It prints how long all that took, ns. With -v the thread's clock is the script's: it
 * advances by what the script says, however busy the machine is. With -p waits poll.
 */
#include "mock.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int cudaRuntimeGetVersion(int *version);
int clock_gettime(clockid_t id, struct timespec *t);

/* The clock of a thread that has one of its own, ns; 0: it has none. */
static __thread uint64_t own;

static int (*real_clock)(clockid_t id, struct timespec *t);

/* Also that of the libraries, which find this function before the C library's. */
int clock_gettime(clockid_t id, struct timespec *t)
{
	if (!real_clock)
		*(void **)&real_clock = dlsym(RTLD_NEXT, "clock_gettime");
	if (!own || id != CLOCK_MONOTONIC)
		return real_clock(id, t);
	/* no two moments are one */
	own += 50;
	t->tv_sec = (time_t)(own / 1000000000);
	t->tv_nsec = (long)(own % 1000000000);
	return 0;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void own_until(uint64_t ns)
{
	own = ns > own ? ns : own;
}

static void poll_until(uint64_t ns)
{
	while (now() < ns)
		;
}

static void run_for(uint64_t ns)
{
	uint64_t end = now() + ns;

	if (own)
		own = end;
	while (now() < end)
		;
}

static void sleep_for(uint64_t ns)
{
	struct timespec t = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

	if (own)
		own += ns;
	else
		nanosleep(&t, NULL);
}

/* ------------------------------------------------------------ the other thread */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static uint64_t to_do;
static bool busy, over;

static void *other(void *arg)
{
	uint64_t ns;

	pthread_mutex_lock(&lock);
	while (!over) {
		if (!to_do) {
			pthread_cond_wait(&given, &lock);
			continue;
		}
		ns = to_do;
		to_do = 0;
		pthread_mutex_unlock(&lock);
		run_for(ns);
		pthread_mutex_lock(&lock);
		busy = to_do;
		pthread_cond_signal(&done);
	}
	pthread_mutex_unlock(&lock);
	return arg;
}

static void hand(uint64_t ns)
{
	pthread_mutex_lock(&lock);
	to_do += ns;
	busy = true;
	pthread_cond_signal(&given);
	pthread_mutex_unlock(&lock);
}

static void take(void)
{
	pthread_mutex_lock(&lock);
	while (busy)
		pthread_cond_wait(&done, &lock);
	pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ script */

#define LINES 1000
#define WORDS 4

struct statement {
	char word[WORDS][32];
};

static struct statement script[LINES];
static unsigned int statements;

static uint64_t us(const char *text)
{
	return strtoull(text, NULL, 10) * 1000;
}

static unsigned int stream(const char *text)
{
	return (unsigned int)strtoul(text, NULL, 10) % MOCK_STREAMS;
}

static void say(const struct statement *s)
{
	const char *what = s->word[0];

	if (!strcmp(what, "kernel"))
		mock_launch(&(struct mock_work){s->word[1], stream(s->word[2]), us(s->word[3])});
	else if (!strcmp(what, "copy"))
		mock_launch(&(struct mock_work){NULL, stream(s->word[1]), us(s->word[2])});
	else if (!strcmp(what, "pull"))
		mock_copy_and_wait(&(struct mock_work){NULL, stream(s->word[1]), us(s->word[2])});
	else if (!strcmp(what, "wait"))
		mock_order(stream(s->word[1]), stream(s->word[2]));
	else if (!strcmp(what, "sync"))
		mock_sync_stream(stream(s->word[1]));
	else if (!strcmp(what, "cpu"))
		run_for(us(s->word[2]));
	else if (!strcmp(what, "sleep"))
		sleep_for(us(s->word[2]));
	else if (!strcmp(what, "hand"))
		hand(us(s->word[2]));
	else if (!strcmp(what, "take"))
		take();
	else
		exit(2);
}

/* From a statement to the end of the block. Return: the statement behind that */
static unsigned int play(unsigned int at)
{
	while (at < statements && strcmp(script[at].word[0], "end")) {
		unsigned long n = strtoul(script[at].word[1], NULL, 10);
		unsigned int block = at + 1;

		if (strcmp(script[at].word[0], "repeat")) {
			say(&script[at++]);
			continue;
		}
		while (n--)
			at = play(block);
	}
	return at + 1;
}

static void read_script(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[200];

	if (!f)
		exit(2);
	while (statements < LINES && fgets(line, sizeof(line), f))
		if (sscanf(line, "%31s %31s %31s %31s", script[statements].word[0],
			   script[statements].word[1], script[statements].word[2],
			   script[statements].word[3]) > 0)
			statements++;
	fclose(f);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	uint64_t begun;
	int runtime;

	if (argc < 2 || cudaRuntimeGetVersion(&runtime))
		return 2;
	read_script(argv[argc - 1]);
	if (argc > 2 && !strcmp(argv[1], "-p"))
		mock_until = poll_until;
	/* before the library looks how fast the clock is */
	if (argc > 2 && !strcmp(argv[1], "-v")) {
		own = now();
		mock_until = own_until;
	}
	if (cuInit(0) || pthread_create(&thread, NULL, other, NULL))
		return 1;
	begun = now();
	play(0);
	printf("%llu\n", (unsigned long long)(now() - begun));
	/* the recording ends by the system's clock, which may be behind: what comes after its end is none of
	 * it */
	begun = own;
	for (own = 0; now() < begun;)
		usleep(1000);
	pthread_mutex_lock(&lock);
	over = true;
	pthread_cond_signal(&given);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	return 0;
}
