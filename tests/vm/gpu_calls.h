/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls on GPUs that several programs of this lane make. The structs are
 * as in include/uapi/drm/drm.h.
 */
#ifndef TESTS_VM_GPU_CALLS_H
#define TESTS_VM_GPU_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <grtrace/softgpu.h>

struct version {
	int major, minor, patch;
	size_t name_len;
	char *name;
	size_t date_len;
	char *date;
	size_t desc_len;
	char *desc;
};

struct create {
	uint32_t handle, flags;
};

struct to_fd {
	uint32_t handle, flags;
	int32_t fd;
	uint32_t pad;
};

struct sync_wait {
	uint64_t handles;
	int64_t until;
	uint32_t count, flags, first, pad;
};

#define DRM_VERSION _IOWR('d', 0x00, struct version)
#define SYNCOBJ_CREATE _IOWR('d', 0xbf, struct create)
#define SYNCOBJ_TO_FD _IOWR('d', 0xc1, struct to_fd)
#define SYNCOBJ_WAIT _IOWR('d', 0xc3, struct sync_wait)

/* Of open_gpu(); -1: there is none. */
static int gpu = -1;

static inline void fail(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The first node of a driver, as /dev/dri/renderD128. */
static inline int open_node(const char *kind, int first, const char *driver)
{
	char path[64], name[32];

	for (int i = first; i < first + 64; i++) {
		struct version v = {.name = name, .name_len = sizeof(name) - 1};
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/%s%d", kind, i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		memset(name, 0, sizeof(name));
		if (fd >= 0 && !ioctl(fd, DRM_VERSION, &v) && !strcmp(name, driver))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	errno = ENODEV;
	fail(driver);
	return -1;
}

/* The software GPU. */
static inline int open_gpu(void)
{
	return open_node("renderD", 128, GRTRACE_SOFTGPU_DRIVER);
}

static inline uint32_t new_sync(void)
{
	struct create c = {0};

	if (ioctl(gpu, SYNCOBJ_CREATE, &c))
		fail("SYNCOBJ_CREATE");
	return c.handle;
}

#endif /* TESTS_VM_GPU_CALLS_H */
