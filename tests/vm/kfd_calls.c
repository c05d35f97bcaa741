// SPDX-License-Identifier: GPL-2.0
/*
 * A program as a ROCm runtime looks from outside, without a GPU: it opens
 * /dev/kfd, asks for its version, for an address space and COUNT times for a
 * queue, which fails as it must, and says so. Around each of these it writes what
 * the runtime would log, with the time by CLOCK_MONOTONIC, to AMD_LOG_LEVEL_FILE
 * or else standard error.
 *
 *	kfd_calls COUNT
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* From include/uapi/linux/kfd_ioctl.h (Linux 6.1), which needs headers of libdrm. */
struct kfd_version {
	uint32_t major;
	uint32_t minor;
};

struct kfd_create_queue {
	uint64_t ring_base, write_pointer, read_pointer, doorbell_offset;
	uint32_t ring_size, gpu_id, type, percentage, priority, queue_id;
	uint64_t eop_buffer, eop_size, save_restore;
	uint32_t save_restore_size, ctl_stack_size;
};

struct kfd_acquire_vm {
	uint32_t drm_fd;
	uint32_t gpu_id;
};

#define KFD_GET_VERSION _IOR('K', 0x01, struct kfd_version)
#define KFD_CREATE_QUEUE _IOWR('K', 0x02, struct kfd_create_queue)
#define KFD_ACQUIRE_VM _IOW('K', 0x15, struct kfd_acquire_vm)
#define KFD_COMPUTE_AQL 2

static FILE *out;

static void put(const char *file, int line, const char *text)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	fprintf(out, ":3:%-25s:%-4d: %010" PRIu64 " us: [pid:%-5d tid: 0x7f00aa11bb40] %s\n", file, line,
		(uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000, getpid(), text);
	fflush(out);
}

static int tell(const char *what, int ret)
{
	printf("%s: %s\n", what, ret ? strerror(errno) : "done");
	return ret;
}

static void create_queue(int fd, int i)
{
	struct kfd_create_queue args = {
		.ring_size = 4096,
		.gpu_id = 0x1000,
		.type = KFD_COMPUTE_AQL,
		.percentage = 100,
		.priority = 7,
	};
	char text[128];

	put("hip_stream.cpp", 293, " hipStreamCreate ( 0x7fff0010 ) ");
	put("rocdevice.cpp", 2967,
	    "Number of allocated hardware queues with low priority: 0, with normal priority: 0, with high priority: 0, "
	    "maximum per priority is: 4");
	tell("create_queue", ioctl(fd, KFD_CREATE_QUEUE, &args));
	snprintf(text, sizeof(text),
		 "Created SWq=0x10 to map on HWq=0x%x with size 4096 with priority 1, cooperative: 0",
		 0x2000 + i);
	put("rocdevice.cpp", 3048, text);
	put("hip_stream.cpp", 308, "hipStreamCreate: Returned hipSuccess : stream:0x5512");
	/* so that no two of them are alike from another clock's view */
	usleep((useconds_t)(1000 + 700 * i * i));
}

int main(int argc, char **argv)
{
	const char *path = getenv("AMD_LOG_LEVEL_FILE");
	struct kfd_version version = {0};
	struct kfd_acquire_vm vm = {.drm_fd = 0, .gpu_id = 0x1000};
	int n = argc > 1 ? atoi(argv[1]) : 1, fd;

	out = path ? fopen(path, "w") : stderr;
	fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (!out || fd < 0) {
		perror("kfd_calls");
		return 1;
	}
	if (tell("get_version", ioctl(fd, KFD_GET_VERSION, &version)))
		return 1;
	printf("version %u.%u\n", version.major, version.minor);
	tell("acquire_vm", ioctl(fd, KFD_ACQUIRE_VM, &vm));
	for (int i = 0; i < n; i++)
		create_queue(fd, i);
	close(fd);
	return 0;
}
