// SPDX-License-Identifier: GPL-2.0
/*
 * ways ROUNDS: makes a call from the depth of functions without frame pointers, a comparison of qsort()'s and
 * tail calls; at last in handlers of signals on a stack of their own. With each it prints what glibc's
 * backtrace() has, from the caller of act() outwards.
 */
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define FRAMES 64

static volatile unsigned int sink;
static int fd;

/* What is probed, and makes the call: a number of DRM's. */
NOINLINE int target(void)
{
	int ret = ioctl(fd, 'd' << 8, &sink);

	sink++;
	return ret;
}

static NOINLINE void act(void)
{
	void *frame[FRAMES];
	int n;

	target();
	n = backtrace(frame, FRAMES);
	printf("THEIRS");
	for (int i = 1; i < n; i++)
		printf(" %lx", (unsigned long)frame[i]);
	printf("\n");
	sink++;
}

static int compare(const void *a, const void *b)
{
	act();
	return 0;
}

static NOINLINE void sort(void)
{
	int two[2] = {1, 2};

	qsort(two, 2, sizeof(two[0]), compare);
	sink++;
}

static NOINLINE void tailed(void)
{
	sort();
	sink--;
}

/* With optimisation this is a jump: it is in no stack. */
static NOINLINE void tails(void)
{
	sink++;
	tailed();
}

static NOINLINE unsigned int deep(unsigned int left)
{
	volatile char room[64];
	unsigned int below;

	room[left] = 1;
	if (left)
		below = deep(left - 1);
	else
		tails(), below = 1;
	return below + (unsigned int)room[left] + sink;
}

static void handler(int sig)
{
	act();
}

int main(int argc, char **argv)
{
	static char room[65536];
	stack_t alternate = {.ss_sp = room, .ss_size = sizeof(room)};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	fd = open("/dev/null", O_RDWR);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < rounds; i++) {
		deep(20);
		usleep(20000);
	}
	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	raise(SIGUSR1);
	return 0;
}
