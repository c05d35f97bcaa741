// SPDX-License-Identifier: GPL-2.0
/*
 * bench_flame folded LINES: that many folded stacks of mean depth 18
 * over 3000 functions, from a fixed seed.
 * bench_flame run FILE PROG...: runs PROG with standard output to FILE, and
 * prints its CPU seconds and the KiB that it had resident at most.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTIONS 3000U

static uint64_t state = 88172645463325252ULL;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Calls are of unequal weight: of a function's eight callees the first is taken half of the time. */
static unsigned int callee(void)
{
	return (unsigned int)__builtin_ctzll(next() | 0x80);
}

static void put_function(unsigned int n)
{
	printf(";ns%u::Class%u::call_%u", n % 7, n % 97, n);
}

static void folded(unsigned long lines)
{
	for (unsigned long i = 0; i < lines; i++) {
		unsigned int depth = 8 + (unsigned int)(next() % 21);
		uint64_t path = 1;

		fputs("main", stdout);
		for (unsigned int d = 1; d < depth; d++) {
			path = (path * 8 + callee() + 1) * 0x9e3779b97f4a7c15ULL;
			put_function((unsigned int)(path >> 20) % FUNCTIONS);
		}
		printf(" %llu\n", (unsigned long long)(next() % 1000 + 1));
	}
}

static int run(const char *file, char **argv)
{
	struct rusage used;
	int status;
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		if (fd < 0 || dup2(fd, 1) < 0)
			err(1, "%s", file);
		execvp(argv[0], argv);
		err(127, "%s", argv[0]);
	}
	if (wait4(pid, &status, 0, &used) < 0 || status)
		errx(1, "%s failed", argv[0]);
	printf("%.2f %ld\n",
	       (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6,
	       used.ru_maxrss);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "folded"))
		return folded(strtoul(argv[2], NULL, 10)), fflush(stdout) ? 1 : 0;
	if (argc > 3 && !strcmp(argv[1], "run"))
		return run(argv[2], argv + 3);
	errx(2, "usage: bench_flame folded LINES | run FILE PROG...");
}
