// SPDX-License-Identifier: GPL-2.0
/*
 * Counts a program's calls on NVIDIA's control device from within, to compare
 * what grtrace sees from outside: LD_PRELOAD=nv_ioctl_count.so. Each process has
 * a file $NV_COUNT_DIR/PID, which is right at every moment, also when the process
 * is killed: groups, channels, schedules, tokens and timeslices that the driver
 * accepted, then those that it refused, and all ioctls, as 64-bit numbers.
 *
 * Build: cc -shared -fPIC -Ilib -o nv_ioctl_count.so tests/gpu/nv_ioctl_count.c -ldl
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codes/nv_abi.h"

enum { GROUPS, CHANNELS, SCHEDULES, TOKENS, TIMESLICES, ACCEPTED, ALL = 2 * ACCEPTED, COUNTS };

static uint64_t *count;
static pid_t owner;

static uint64_t *my_count(void)
{
	const char *dir = getenv("NV_COUNT_DIR");
	char path[4096];
	int fd;

	if (owner == getpid())
		return count;
	snprintf(path, sizeof(path), "%s/%d", dir ? dir : ".", (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, COUNTS * sizeof(*count)))
		abort();
	count = mmap(NULL, COUNTS * sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	owner = getpid();
	return count;
}

static uint32_t at(const void *data, unsigned int offset)
{
	uint32_t v;

	memcpy(&v, (const char *)data + offset, sizeof(v));
	return v;
}

static void add(int what, uint32_t status)
{
	__atomic_fetch_add(&my_count()[what + (status ? ACCEPTED : 0)], 1, __ATOMIC_RELAXED);
}

static void see_control(const void *data)
{
	uint32_t status = at(data, NV_CONTROL_STATUS);

	switch (at(data, NV_CONTROL_CMD)) {
	case NV_CTRL_GROUP_SCHEDULE:
	case NV_CTRL_CHANNEL_SCHEDULE:
		add(SCHEDULES, status);
		break;
	case NV_CTRL_GET_TOKEN:
		add(TOKENS, status);
		break;
	case NV_CTRL_GROUP_SET_TIMESLICE:
		add(TIMESLICES, status);
		break;
	}
}

static void see(uint32_t nr, uint32_t size, const void *data)
{
	uint32_t class;

	if (nr == NV_ESC_XFER_CMD && size == NV_XFER_SIZE) {
		see(at(data, 0), at(data, 4), (const void *)*((const uintptr_t *)data + 1));
	} else if (nr == NV_ESC_RM_ALLOC) {
		class = at(data, NV_ALLOC_CLASS);
		if (class == NV_CLASS_CHANNEL_GROUP || NV_CLASS_IS_CHANNEL(class))
			add(class == NV_CLASS_CHANNEL_GROUP ? GROUPS : CHANNELS,
			    at(data, size == NV_ALLOC_SIZE_64 ? NV_ALLOC_STATUS_64 : NV_ALLOC_STATUS));
	} else if (nr == NV_ESC_RM_CONTROL && size == NV_CONTROL_SIZE) {
		see_control(data);
	}
}

__attribute__((visibility("default"))) int ioctl(int fd, unsigned long cmd, ...)
{
	static int (*next)(int fd, unsigned long cmd, void *arg);
	va_list ap;
	void *arg;
	int ret;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (!next)
		next = (int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
	ret = next(fd, cmd, arg);
	if ((cmd >> 8 & 0xff) == NV_IOCTL_TYPE) {
		__atomic_fetch_add(&my_count()[ALL], 1, __ATOMIC_RELAXED);
		if (ret >= 0)
			see(cmd & 0xff, cmd >> 16 & 0x3fff, arg);
	}
	return ret;
}
