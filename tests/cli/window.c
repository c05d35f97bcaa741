// SPDX-License-Identifier: GPL-2.0
/*
 * A program that does three things 5,000 times a second until it is told to end: a
 * DRM ioctl, a call of a function, and a sleep, which is two context switches. It writes
 * what CLOCK_MONOTONIC was right before and right after each round's ioctl and call, as two
 * numbers of 64 bits, and what it writes does not depend on who watches. Where more is
 * given, a round also lets the kernel module emit a SUBMIT and opens a file:
 *
 *	window STAMPS [EMIT FILE]
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS 200000

static volatile sig_atomic_t over;

static void end(int signal)
{
	(void)signal;
	over = 1;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

/* A uprobe finds it by its name. */
void window_round(void);

__attribute__((noinline)) void window_round(void)
{
	__asm__ volatile("" ::: "memory");
}

static void more(int emit, const char *path, unsigned int round)
{
	char text[96];
	int n = snprintf(text, sizeof(text), "submit ring=0 ctx=78 seqno=%u engine=graphics", round), fd;

	if (write(emit, text, (size_t)n) != n)
		over = 1;
	fd = open(path, O_RDWR);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct timespec period = {.tv_nsec = PERIOD_NS};
	int fd = open("/dev/null", O_RDWR), emit = argc > 3 ? open(argv[2], O_WRONLY) : -1;
	unsigned int round = 0;
	FILE *out = argc > 1 ? fopen(argv[1], "w") : NULL;
	uint64_t stamps[2];

	if (!out)
		return 1;
	signal(SIGTERM, end);
	signal(SIGINT, end);
	while (!over) {
		stamps[0] = now();
		ioctl(fd, _IO('d', 0));
		window_round();
		if (emit >= 0)
			more(emit, argv[3], round++);
		stamps[1] = now();
		fwrite(stamps, sizeof(stamps), 1, out);
		nanosleep(&period, NULL);
	}
	return fclose(out) != 0;
}
