// SPDX-License-Identifier: GPL-2.0
/*
 * bench_ioctl KIND COUNT [CPU]: calls the kernel COUNT times on one CPU and
 * prints nanoseconds per call, the best of 5 rounds.
 *	drm	an ioctl of type 'd'
 *	other	an ioctl of another type
 *	rm	a control of NVIDIA's driver that schedules a group, which `nvsched` decodes
 *	rm_other  one that it leaves out
 *	getppid	a system call that is no ioctl
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 5

static int fd;

static void drm(void)
{
	ioctl(fd, 0x6400, 0);
}

static void other(void)
{
	ioctl(fd, 0x6500, 0);
}

/* NVOS54: client, object, control, flags, parameters, their size, status */
static void rm_control(unsigned int cmd)
{
	static unsigned char on = 1;
	struct {
		unsigned int client, object, cmd, flags;
		void *params;
		unsigned int size, status;
	} control = {0xc1d00000, 0x5c000010, cmd, 0, &on, 1, 0};

	ioctl(fd, 0xc020462a, &control);
}

static void rm(void)
{
	rm_control(0xa06c0101);
}

static void rm_other(void)
{
	rm_control(0x2080018d);
}

static void getppid_call(void)
{
	syscall(SYS_getppid);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double best(void (*call)(void), long count)
{
	double best = 1e18, begun, took;

	for (int round = 0; round < ROUNDS; round++) {
		begun = now();
		for (long i = 0; i < count; i++)
			call();
		took = (now() - begun) / (double)count;
		best = took < best ? took : best;
	}
	return best;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*call)(void);
	} kinds[] = {{"drm", drm},
		     {"other", other},
		     {"rm", rm},
		     {"rm_other", rm_other},
		     {"getppid", getppid_call}};
	cpu_set_t cpu;

	if (argc < 3) {
		fprintf(stderr, "usage: bench_ioctl drm|other|rm|rm_other|getppid COUNT [CPU]\n");
		return 2;
	}
	CPU_ZERO(&cpu);
	CPU_SET(argc > 3 ? atoi(argv[3]) : 0, &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	fd = open("/dev/null", O_RDONLY);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[1], kinds[i].name)) {
			printf("%.0f\n", best(kinds[i].call, atol(argv[2])));
			return 0;
		}
	fprintf(stderr, "bench_ioctl: no kind %s\n", argv[1]);
	return 2;
}
