// SPDX-License-Identifier: GPL-2.0
/*
 * A virtio GPU by its ioctls. The structs are those of the kernel's
 * <drm/virtgpu_drm.h>, which is not among Debian's headers without libdrm; being
 * the kernel's interface they do not change.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/types.h>

#include "wait.h"

#define MINORS 16

struct version {
	int major, minor, patch;
	size_t name_len;
	char *name;
	size_t date_len;
	char *date;
	size_t desc_len;
	char *desc;
};

struct getparam {
	__u64 param;
	__u64 value;
};

struct resource_create {
	__u32 target, format, bind, width, height, depth, array_size, last_level, nr_samples, flags;
	__u32 bo_handle, res_handle, size, stride;
};

struct transfer {
	__u32 bo_handle;
	__u32 x, y, z, w, h, d;
	__u32 level, offset, stride, layer_stride;
};

struct wait {
	__u32 handle, flags;
};

struct gem_close {
	__u32 handle, pad;
};

#define IOCTL_VERSION _IOWR('d', 0x00, struct version)
#define IOCTL_CLOSE _IOW('d', 0x09, struct gem_close)
#define IOCTL_GETPARAM _IOWR('d', 0x43, struct getparam)
#define IOCTL_CREATE _IOWR('d', 0x44, struct resource_create)
#define IOCTL_UPLOAD _IOWR('d', 0x47, struct transfer)
#define IOCTL_WAIT _IOWR('d', 0x48, struct wait)

#define PARAM_3D_FEATURES 1
#define TARGET_TEXTURE_2D 2
#define BIND_RENDER_TARGET 2

static bool is_virtio_gpu(int fd)
{
	char name[16] = "";
	struct version v = {.name = name, .name_len = sizeof(name) - 1};

	return !ioctl(fd, IOCTL_VERSION, &v) && !strcmp(name, "virtio_gpu");
}

static bool has_3d(int fd)
{
	int value = 0; /* the driver writes 32 bits */
	struct getparam p = {.param = PARAM_3D_FEATURES, .value = (__u64)(uintptr_t)&value};

	return !ioctl(fd, IOCTL_GETPARAM, &p) && value;
}

int gpu_open(bool with_3d)
{
	char path[64];
	int minor, fd;

	for (minor = 128; minor < 128 + MINORS; minor++) {
		snprintf(path, sizeof(path), "/dev/dri/renderD%d", minor);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (is_virtio_gpu(fd) && has_3d(fd) == with_3d)
			return fd;
		close(fd);
	}
	return -1;
}

uint32_t gpu_create(int fd, uint32_t format, uint32_t width, uint32_t height)
{
	struct resource_create r = {
		.target = TARGET_TEXTURE_2D,
		.format = format,
		.bind = BIND_RENDER_TARGET,
		.width = width,
		.height = height,
		.depth = 1,
		.array_size = 1,
		.size = width * height * 4,
	};

	return ioctl(fd, IOCTL_CREATE, &r) ? 0 : r.bo_handle;
}

int gpu_upload(int fd, uint32_t handle, uint32_t width, uint32_t height)
{
	struct transfer t = {.bo_handle = handle, .w = width, .h = height, .d = 1};

	return ioctl(fd, IOCTL_UPLOAD, &t);
}

int gpu_wait(int fd, uint32_t handle)
{
	struct wait w = {.handle = handle};

	return ioctl(fd, IOCTL_WAIT, &w);
}

void gpu_close(int fd, uint32_t handle)
{
	struct gem_close c = {.handle = handle};

	ioctl(fd, IOCTL_CLOSE, &c);
}
