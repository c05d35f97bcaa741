// SPDX-License-Identifier: GPL-2.0
/*
 * Does things on device files in numbers that a test can compare: fences of the
 * driver vgem, and system calls. Nothing is printed but what failed.
 *
 *	device_calls fences COUNT WAITS   COUNT fences, made and signalled one
 *		after the other; WAITS of them are waited for
 *	device_calls vblanks COUNT        asks the first card COUNT times for an
 *		event at the next vertical blank, and waits for it
 *	device_calls calls                see calls()
 */
#include <linux/dma-buf.h>
#include <linux/openat2.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "gpu_calls.h"

/* As in include/uapi/drm: drm.h, drm_mode.h, vgem_drm.h. */
struct create_dumb {
	uint32_t height, width, bpp, flags, handle, pitch;
	uint64_t size;
};

struct prime_handle {
	uint32_t handle, flags;
	int32_t fd;
};

struct wait_vblank {
	uint32_t type, sequence;
	uint64_t signal, pad;
};

struct vblank_event {
	uint32_t type, length;
	uint64_t user;
	uint32_t sec, usec, sequence, crtc;
};

struct fence_attach {
	uint32_t handle, flags, fence, pad;
};

struct fence_signal {
	uint32_t fence, flags;
};

#define DRM_PRIME_TO_FD _IOWR('d', 0x2d, struct prime_handle)
#define DRM_WAIT_VBLANK _IOWR('d', 0x3a, struct wait_vblank)
#define VGEM_FENCE_ATTACH _IOWR('d', 0x41, struct fence_attach)
#define VGEM_FENCE_SIGNAL _IOW('d', 0x42, struct fence_signal)
#define DRM_CREATE_DUMB _IOWR('d', 0xb2, struct create_dumb)
#define VGEM_FENCE_WRITE 1U
#define VBLANK_NEXT_EVENT 0x04000001U /* relative, event */

static void do_ioctl(int fd, unsigned long cmd, void *arg, const char *what)
{
	if (ioctl(fd, cmd, arg))
		fail(what);
}

struct signaller {
	int fd;
	struct fence_signal signal;
};

static void *signal_later(void *arg)
{
	struct signaller *s = arg;

	usleep(20000);
	do_ioctl(s->fd, VGEM_FENCE_SIGNAL, &s->signal, "signal");
	return NULL;
}

/* Begins to use the buffer, which waits until its fence is signalled. */
static void wait_for(int fd, int buffer, uint32_t fence)
{
	struct signaller s = {.fd = fd, .signal = {.fence = fence}};
	struct dma_buf_sync sync = {.flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW};
	pthread_t thread;

	if (pthread_create(&thread, NULL, signal_later, &s))
		fail("thread");
	do_ioctl(buffer, DMA_BUF_IOCTL_SYNC, &sync, "sync");
	pthread_join(thread, NULL);
}

static void fences(int count, int waits)
{
	struct create_dumb dumb = {.height = 16, .width = 16, .bpp = 32};
	struct prime_handle prime = {.flags = O_RDWR | O_CLOEXEC};
	int fd = open_node("card", 0, "vgem");

	do_ioctl(fd, DRM_CREATE_DUMB, &dumb, "create");
	prime.handle = dumb.handle;
	do_ioctl(fd, DRM_PRIME_TO_FD, &prime, "export");
	for (int i = 0; i < count; i++) {
		struct fence_attach a = {.handle = dumb.handle, .flags = VGEM_FENCE_WRITE};

		do_ioctl(fd, VGEM_FENCE_ATTACH, &a, "attach");
		if (i < waits)
			wait_for(fd, prime.fd, a.fence);
		else
			do_ioctl(fd, VGEM_FENCE_SIGNAL, &(struct fence_signal){.fence = a.fence}, "signal");
	}
}

static void vblanks(int count)
{
	int fd = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
	struct vblank_event event;

	if (fd < 0)
		fail("card0");
	for (int i = 0; i < count; i++) {
		struct wait_vblank w = {.type = VBLANK_NEXT_EVENT, .sequence = 1};

		do_ioctl(fd, DRM_WAIT_VBLANK, &w, "wait for a vertical blank");
		if (read(fd, &event, sizeof(event)) != sizeof(event))
			fail("event");
	}
}

/* A file by each of the calls that open, number @i. */
static int open_zero(int i)
{
	struct open_how how = {.flags = O_RDWR};

	if (i == 0)
		return (int)syscall(SYS_openat2, AT_FDCWD, "/dev/zero", &how, sizeof(how));
	if (i == 1)
		return (int)syscall(SYS_open, "/dev/zero", O_RDWR);
	return open("/dev/zero", O_RDWR);
}

static void do_ioctls(int fd, int other)
{
	for (int i = 0; i < 17; i++)
		ioctl(fd, 0xc020462aUL, NULL);
	for (int i = 0; i < 5; i++)
		ioctl(fd, 37, NULL);
	for (int i = 0; i < 4; i++) {
		ioctl(fd, 0x5401, NULL);
		ioctl(other, 0xc020462aUL, NULL);
	}
}

static void do_maps(int fd)
{
	for (int i = 0; i < 7; i++)
		if (mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED ||
		    mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			fail("mmap");
}

static void do_polls(int fd, int other)
{
	struct pollfd files[3] = {{-1, POLLIN, 0}, {other, POLLIN, 0}, {fd, POLLIN | POLLPRI, 0}};
	struct timespec none = {0};

	for (int i = 0; i < 19; i++)
		poll(files, 3, 0);
	for (int i = 0; i < 2; i++)
		ppoll(files + 1, 2, &none, NULL);
	poll(files, 2, 0);
}

/*
 * On /dev/zero: 13 opens, of which 2 are left open; 22 ioctls of types that
 * count and 4 that do not; 7 mmaps; 21 polls. 3 opens of /dev/nvidia* fail, 2
 * of other files. The same on a pipe, which is no device.
 */
static void calls(void)
{
	int fd[13], pipes[2];

	if (pipe(pipes))
		fail("pipe");
	for (int i = 0; i < 13; i++)
		if ((fd[i] = open_zero(i)) < 0)
			fail("/dev/zero");
	do_ioctls(fd[0], pipes[0]);
	do_maps(fd[1]);
	do_polls(fd[2], pipes[0]);
	for (int i = 0; i < 3; i++)
		if (open("/dev/nvidia-no-such-file", O_RDONLY) >= 0 ||
		    (i && open("/dev/no-such-file", O_RDONLY) >= 0))
			fail("a file that should not be there");
	for (int i = 0; i < 11; i++)
		close(fd[i]);
	close(pipes[0]);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "fences"))
		fences(atoi(argv[2]), atoi(argv[3]));
	else if (argc == 3 && !strcmp(argv[1], "vblanks"))
		vblanks(atoi(argv[2]));
	else if (argc == 2 && !strcmp(argv[1], "calls"))
		calls();
	else
		return 2;
	return 0;
}
