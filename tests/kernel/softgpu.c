// SPDX-License-Identifier: GPL-2.0
/*
 * See softgpu.h. Structs of <drm/drm.h>, which is not among Debian's headers
 * without libdrm, are the kernel's interface and do not change.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "softgpu.h"

#define MINORS 16
#define WAIT_NS 30000000000ULL

struct version {
	int major, minor, patch;
	size_t name_len;
	char *name;
	size_t date_len;
	char *date;
	size_t desc_len;
	char *desc;
};

struct syncobj_create {
	uint32_t handle, flags;
};

#define IOCTL_VERSION _IOWR('d', 0x00, struct version)
#define IOCTL_SYNCOBJ_CREATE _IOWR('d', 0xBF, struct syncobj_create)

static bool is_softgpu(int fd)
{
	char name[32] = "";
	struct version v = {.name = name, .name_len = sizeof(name) - 1};

	return !ioctl(fd, IOCTL_VERSION, &v) && !strcmp(name, GRTRACE_SOFTGPU_DRIVER);
}

static void read_rings(struct softgpu *gpu)
{
	struct grtrace_softgpu_ring *r = gpu->ring;

	do {
		*r = (struct grtrace_softgpu_ring){.index = gpu->nrings};
		if (ioctl(gpu->fd, DRM_IOCTL_GRTRACE_SOFTGPU_RING, r) || !r->name[0])
			return;
		r++;
	} while (++gpu->nrings < SOFTGPU_RINGS);
}

bool softgpu_open(struct softgpu *gpu)
{
	char path[64];
	int i;

	*gpu = (struct softgpu){.fd = -1};
	for (i = 0; i < MINORS; i++) {
		snprintf(path, sizeof(path), "/dev/dri/renderD%d", 128 + i);
		gpu->fd = open(path, O_RDWR | O_CLOEXEC);
		if (gpu->fd >= 0 && is_softgpu(gpu->fd)) {
			read_rings(gpu);
			return gpu->nrings;
		}
		softgpu_close(gpu);
	}
	return false;
}

void softgpu_close(struct softgpu *gpu)
{
	if (gpu->fd >= 0)
		close(gpu->fd);
	gpu->fd = -1;
}

uint32_t softgpu_sync(struct softgpu *gpu)
{
	struct syncobj_create c = {0};

	return ioctl(gpu->fd, IOCTL_SYNCOBJ_CREATE, &c) ? 0 : c.handle;
}

bool softgpu_submit(struct softgpu *gpu, struct grtrace_softgpu_job *jobs, unsigned int count)
{
	struct grtrace_softgpu_submit s;

	for (; count; jobs += s.done, count -= s.done) {
		s = (struct grtrace_softgpu_submit){.jobs = (uintptr_t)jobs, .count = count};
		if (s.count > GRTRACE_SOFTGPU_BATCH_MAX)
			s.count = GRTRACE_SOFTGPU_BATCH_MAX;
		if (ioctl(gpu->fd, DRM_IOCTL_GRTRACE_SOFTGPU_SUBMIT, &s) || !s.done)
			return false;
	}
	return true;
}

bool softgpu_results(struct softgpu *gpu, struct grtrace_softgpu_result *results, unsigned int count)
{
	struct grtrace_softgpu_results r;

	for (; count; results += r.count, count -= r.count) {
		r = (struct grtrace_softgpu_results){
			.results = (uintptr_t)results, .capacity = count, .timeout = WAIT_NS};
		if (ioctl(gpu->fd, DRM_IOCTL_GRTRACE_SOFTGPU_RESULTS, &r) || !r.count)
			return false;
	}
	return true;
}
