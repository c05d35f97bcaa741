// SPDX-License-Identifier: GPL-2.0
/*
 * Sets the timeslice of all channel groups of a program from within: LD_PRELOAD=nv_timeslice.so.
 * Each line "MICROSECONDS" that is appended to the file $NV_TIMESLICES is one
 * NVA06C_CTRL_CMD_SET_TIMESLICE per group, the control of NVIDIA's driver for it (root only);
 * standard output then gets a line "timeslice MICROSECONDS CLOCK_MONOTONIC_NS GROUPS REFUSED".
 *
 * Build: cc -shared -fPIC -Ilib -o nv_timeslice.so tests/gpu/nv_timeslice.c -ldl -pthread
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "codes/nv_abi.h"

#define GROUPS 1024
#define CONTROL 0xc020462aUL

static struct {
	int fd;
	uint32_t client, object;
} groups[GROUPS];
static unsigned int n_groups;
static int (*next)(int fd, unsigned long cmd, void *arg);

static uint32_t at(const void *data, unsigned int offset)
{
	uint32_t v;

	memcpy(&v, (const char *)data + offset, sizeof(v));
	return v;
}

static void set_all(uint64_t us)
{
	unsigned int i, n = __atomic_load_n(&n_groups, __ATOMIC_ACQUIRE), refused = 0;
	struct timespec now;

	for (i = 0; i < n; i++) {
		struct {
			uint32_t client, object, cmd, flags;
			uint64_t params;
			uint32_t size, status;
		} control = {groups[i].client,
			     groups[i].object,
			     NV_CTRL_GROUP_SET_TIMESLICE,
			     0,
			     (uintptr_t)&us,
			     8,
			     0};

		if (next(groups[i].fd, CONTROL, &control) || control.status)
			refused++;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("timeslice %llu %lld %u %u\n", (unsigned long long)us, now.tv_sec * 1000000000LL + now.tv_nsec,
	       n, refused);
	fflush(stdout);
}

static void *follow(void *arg)
{
	FILE *in = fopen(getenv("NV_TIMESLICES"), "r");
	char line[64];

	while (in) {
		while (fgets(line, sizeof(line), in))
			set_all(strtoull(line, NULL, 0));
		clearerr(in);
		usleep(5000);
	}
	return arg;
}

static void see(int fd, uint32_t nr, uint32_t size, const void *data)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread;
	unsigned int n;

	if (nr == NV_ESC_XFER_CMD && size == NV_XFER_SIZE) {
		see(fd, at(data, 0), at(data, 4), (const void *)*((const uintptr_t *)data + 1));
		return;
	}
	if (nr != NV_ESC_RM_ALLOC || at(data, NV_ALLOC_CLASS) != NV_CLASS_CHANNEL_GROUP ||
	    at(data, size == NV_ALLOC_SIZE_64 ? NV_ALLOC_STATUS_64 : NV_ALLOC_STATUS))
		return;
	pthread_mutex_lock(&lock);
	n = n_groups;
	if (n < GROUPS) {
		groups[n].fd = fd;
		groups[n].client = at(data, NV_ALLOC_CLIENT);
		groups[n].object = at(data, NV_ALLOC_OBJECT);
		__atomic_store_n(&n_groups, n + 1, __ATOMIC_RELEASE);
	}
	if (!n && getenv("NV_TIMESLICES"))
		pthread_create(&thread, NULL, follow, NULL);
	pthread_mutex_unlock(&lock);
}

__attribute__((visibility("default"))) int ioctl(int fd, unsigned long cmd, ...)
{
	va_list ap;
	void *arg;
	int ret;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (!next)
		next = (int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
	ret = next(fd, cmd, arg);
	if (ret >= 0 && (cmd >> 8 & 0xff) == NV_IOCTL_TYPE)
		see(fd, cmd & 0xff, cmd >> 16 & 0x3fff, arg);
	return ret;
}
