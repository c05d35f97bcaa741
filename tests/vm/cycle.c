// SPDX-License-Identifier: GPL-2.0
/*
 * A cycle of dependencies, as drivers cannot make one but programs can: a job of ring 0 waits for a fence of
 * vgem, which this program signals once a job of ring 1 is complete, and that job waits for the first one.
 * Prints the context and number of both jobs, waits in vain until SIGTERM or for 8 s, and exits with 0 if neither
 * has run.
 */
#include <linux/dma-buf.h>
#include <signal.h>

#include "gpu_calls.h"

struct dumb {
	uint32_t height, width, bpp, flags, handle, pitch;
	uint64_t size;
};

struct vgem_attach {
	uint32_t handle, flags, fence, pad;
};

struct prime {
	uint32_t handle, flags;
	int32_t fd;
};

#define CREATE_DUMB _IOWR('d', 0xb2, struct dumb)
#define HANDLE_TO_FD _IOWR('d', 0x2d, struct prime)
#define FD_TO_SYNC _IOWR('d', 0xc2, struct to_fd)
#define IMPORT_SYNC_FILE 1
#define VGEM_FENCE_ATTACH _IOWR('d', 0x41, struct vgem_attach)
#define VGEM_FENCE_WRITE 1

/* A sync object of the GPU with a fence of vgem, which vgem signals after ten seconds at the latest. */
static uint32_t fence_of_program(void)
{
	int vgem = open_node("card", 0, "vgem");
	struct dumb buffer = {.height = 1, .width = 1, .bpp = 32};
	struct vgem_attach attach = {.flags = VGEM_FENCE_WRITE};
	struct prime prime = {.fd = -1};
	struct dma_buf_export_sync_file file = {.flags = DMA_BUF_SYNC_READ};
	struct to_fd import = {.handle = new_sync(), .flags = IMPORT_SYNC_FILE};

	if (ioctl(vgem, CREATE_DUMB, &buffer))
		fail("CREATE_DUMB");
	attach.handle = prime.handle = buffer.handle;
	if (ioctl(vgem, VGEM_FENCE_ATTACH, &attach))
		fail("VGEM_FENCE_ATTACH");
	if (ioctl(vgem, HANDLE_TO_FD, &prime))
		fail("PRIME_HANDLE_TO_FD");
	if (ioctl(prime.fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &file))
		fail("DMA_BUF_IOCTL_EXPORT_SYNC_FILE");
	import.fd = file.fd;
	if (ioctl(gpu, FD_TO_SYNC, &import))
		fail("SYNCOBJ_FD_TO_HANDLE");
	return import.handle;
}

__attribute__((noinline)) static void submit(uint32_t ring, uint32_t in, uint32_t out)
{
	struct grtrace_softgpu_job job = {.duration = 1000000,
					  .ring = ring,
					  .in_syncs = (uintptr_t)&in,
					  .in_count = 1,
					  .out_sync = out};
	struct grtrace_softgpu_submit s = {.jobs = (uintptr_t)&job, .count = 1};

	if (ioctl(gpu, DRM_IOCTL_GRTRACE_SOFTGPU_SUBMIT, &s))
		fail("a job");
	printf("%llu:%llu\n", (unsigned long long)job.ctx, (unsigned long long)job.seqno);
	fflush(stdout);
}

static void stop(int number)
{
	(void)number;
}

int main(void)
{
	struct sigaction act = {.sa_handler = stop};
	struct timespec now;
	struct sync_wait wait = {.count = 1};
	uint32_t first, second;

	sigaction(SIGTERM, &act, NULL);
	gpu = open_gpu();
	first = new_sync();
	second = new_sync();
	submit(0, fence_of_program(), first);
	submit(1, first, second);
	clock_gettime(CLOCK_MONOTONIC, &now);
	wait.handles = (uintptr_t)&second;
	wait.until = (now.tv_sec + 8) * 1000000000LL;
	return !ioctl(gpu, SYNCOBJ_WAIT, &wait) || (errno != ETIME && errno != EINTR);
}
