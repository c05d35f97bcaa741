// SPDX-License-Identifier: GPL-2.0
/*
 * Two processes that wake each other through pipes, on one CPU: `bench_switch
 * TURNS` prints the nanoseconds of a switch, best of 5 rounds. Each turn is two
 * switches, in which one of them leaves the CPU, asleep, and the other comes.
 */
#include <err.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 5

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

/* Frames for a stack that has some. */
static __attribute__((noinline)) int pass_on(int in, int out, unsigned int depth)
{
	char byte = 'x';
	int ret;

	if (depth)
		ret = pass_on(in, out, depth - 1);
	else
		ret = read(in, &byte, 1) == 1 && write(out, &byte, 1) == 1;
	__asm__ volatile("" : "+r"(ret));
	return ret;
}

static uint64_t round_ns(int in, int out, unsigned int turns)
{
	uint64_t begun = now_ns();

	if (write(out, "x", 1) != 1)
		err(1, "pipe");
	for (unsigned int i = 0; i < turns; i++)
		if (!pass_on(in, out, 10))
			err(1, "pipe");
	if (read(in, &(char){0}, 1) != 1)
		err(1, "pipe");
	return (now_ns() - begun) / (2 * (uint64_t)turns);
}

int main(int argc, char **argv)
{
	unsigned int turns = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 20000;
	uint64_t best = UINT64_MAX, ns;
	int to[2], from[2];
	cpu_set_t one;
	pid_t pid;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(to) || pipe(from))
		err(1, "cannot begin");
	pid = fork();
	if (!pid)
		while (pass_on(to[0], from[1], 10))
			;
	for (int i = 0; i < ROUNDS; i++) {
		ns = round_ns(from[0], to[1], turns);
		best = ns < best ? ns : best;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	printf("%llu\n", (unsigned long long)best);
	return 0;
}
