// SPDX-License-Identifier: GPL-2.0
/*
 * Asks a file for channel groups as a CUDA program asks NVIDIA's driver, in
 * numbers that a test can compare. On /dev/null each call fails with ENOTTY and
 * leaves its struct as it is, so the driver's answers are written into it
 * beforehand; a stand-in for the driver overwrites them.
 *
 *	nv_calls [-f FILE] [-l BRANCH] [-e END] [-n TIMES] [-c CLIENT] [-k NUMBER] [-p] [-s] [-x] PART...
 *
 *	-f FILE	  default /dev/null      -l BRANCH  layouts of 535, 550, 570, 580 or 610
 *	-n TIMES  the whole of it again and again, each time with a file of its own
 *	-c CLIENT handle of the first client, default made from the process's number
 *	-k NUMBER the driver's number of the first channel; the next ones follow; default 0: none has one
 *	-p	  prints the client's handle and waits for a line before it ends
 *	-s	  the short NVOS21	 -x	each ioctl in its wrapper
 *	-e END	  how it ends: free, client, device, space, close, exit (default), kill, exec,
 *		  run (the same process runs what NV_RUN says, with the file open),
 *		  fork (a child has the file a while longer), dup (its groups live on in another client)
 *	PART	  groups, cuda (what a CUDA program asks for), alone (a channel without a group),
 *		  old (uses handles it never made), hostile (pointers and sizes that lead nowhere),
 *		  failed, monitor (controls of no interest), uvm (calls of the UVM driver, whose
 *		  numbers have no type: 37, 13 times 51, 62, 250)
 *
 * groups: 3 groups on GRAPHICS, COPY0 and COPY1 with 7, 3 and 2 channels in
 * subcontexts 63 and 62 by turns; a schedule of each, a token for each channel, a timeslice for the
 * first.
 *
 * cuda: the sequence of docs/grtrace-sched.1.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codes/nv_abi.h"

#define SPACE 0x5c000001U
#define DEVICE 0x5c000002U
#define FIRST 0x5c000010U
#define CHANNELS 0x5c000100U

static struct {
	const char *file;
	unsigned int branch;
	const char *end;
	unsigned int times;
	uint32_t client;
	uint32_t number;
	int pause;
	int is_short;
	int wrapped;
} opt = {.file = "/dev/null", .branch = 580, .end = "exit", .times = 1};

static int fd;
static uint32_t client;

static void set32(void *at, unsigned int offset, uint32_t value)
{
	memcpy((char *)at + offset, &value, sizeof(value));
}

static void set64(void *at, unsigned int offset, uint64_t value)
{
	memcpy((char *)at + offset, &value, sizeof(value));
}

static int call(uint32_t nr, void *data, uint32_t size)
{
	struct {
		uint32_t nr;
		uint32_t size;
		void *at;
	} wrapper = {nr, size, data};

	if (opt.wrapped)
		return ioctl(fd, 3U << 30 | NV_XFER_SIZE << 16 | 'F' << 8 | NV_ESC_XFER_CMD, &wrapper);
	return ioctl(fd, 3U << 30 | size << 16 | 'F' << 8 | nr, data);
}

static int alloc(uint32_t parent, uint32_t handle, uint32_t class, void *params, uint32_t size)
{
	unsigned char c[NV_ALLOC_SIZE_64] = {0};

	set32(c, NV_ALLOC_CLIENT, class == NV_CLASS_ROOT_CLIENT ? 0 : client);
	set32(c, NV_ALLOC_PARENT, parent);
	set32(c, NV_ALLOC_OBJECT, handle);
	set32(c, NV_ALLOC_CLASS, class);
	set64(c, NV_ALLOC_PARAMS, (uintptr_t)params);
	set32(c, opt.is_short ? 24 : 32, size);
	return call(NV_ESC_RM_ALLOC, c, opt.is_short ? NV_ALLOC_SIZE : NV_ALLOC_SIZE_64);
}

static int control(uint32_t handle, uint32_t cmd, void *params, uint32_t size)
{
	unsigned char c[NV_CONTROL_SIZE] = {0};

	set32(c, NV_CONTROL_CLIENT, client);
	set32(c, NV_CONTROL_OBJECT, handle);
	set32(c, NV_CONTROL_CMD, cmd);
	set64(c, NV_CONTROL_PARAMS, (uintptr_t)params);
	set32(c, NV_CONTROL_PARAMS_SIZE, size);
	return call(NV_ESC_RM_CONTROL, c, sizeof(c));
}

static int release(uint32_t handle)
{
	unsigned char c[NV_FREE_SIZE] = {0};

	set32(c, NV_FREE_CLIENT, client);
	set32(c, NV_FREE_OBJECT, handle);
	return call(NV_ESC_RM_FREE, c, sizeof(c));
}

static int duplicate(uint32_t to, uint32_t parent, uint32_t handle, uint32_t source)
{
	unsigned char c[NV_DUP_SIZE] = {0};

	set32(c, NV_DUP_CLIENT, to);
	set32(c, NV_DUP_PARENT, parent);
	set32(c, NV_DUP_OBJECT, handle);
	set32(c, NV_DUP_CLIENT_SRC, client);
	set32(c, NV_DUP_OBJECT_SRC, source);
	return call(NV_ESC_RM_DUP_OBJECT, c, sizeof(c));
}

/* Control file, version, client, GPU 2 at 0000:c6:00.0, device, address space. */
static void begin(void)
{
	unsigned char version[NV_VERSION_SIZE] = {0}, gpu[84] = {0}, device[56] = {0};

	fd = open(opt.file, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		perror(opt.file);
		exit(1);
	}
	snprintf((char *)version + NV_VERSION_TEXT, 64, "%u.65.06", opt.branch);
	call(NV_ESC_CHECK_VERSION, version, sizeof(version));
	alloc(0, client, NV_CLASS_ROOT_CLIENT, NULL, 0);
	set32(gpu, NV_ID_INFO_GPU, 0xc600);
	set32(gpu, NV_ID_INFO_INSTANCE, 2);
	control(client, NV_CTRL_GPU_GET_ID_INFO_V2, gpu, sizeof(gpu));
	set32(device, NV_DEVICE_ID, 2);
	alloc(client, DEVICE, NV_CLASS_DEVICE, device, sizeof(device));
	alloc(DEVICE, SPACE, NV_CLASS_VASPACE, NULL, 0);
}

static unsigned int channel_size(void)
{
	return opt.branch < 550 ? 304 : opt.branch < 570 ? 360 : opt.branch < 610 ? 368 : 376;
}

static void channel(uint32_t parent, uint32_t share, uint32_t handle, uint32_t engine)
{
	unsigned char p[376] = {0};

	set32(p, NV_CHANNEL_SHARE, share);
	set32(p, NV_CHANNEL_VASPACE, share ? 0 : SPACE);
	set32(p, opt.branch < 610 ? NV_CHANNEL_ENGINE : NV_CHANNEL_ENGINE_610, engine);
	set32(p, opt.branch < 610 ? NV_CHANNEL_ID : NV_CHANNEL_ID_610, opt.number);
	opt.number += opt.number != 0;
	alloc(parent, handle, 0xc86f, p, channel_size());
}

static void token(uint32_t handle, uint32_t value)
{
	control(handle, NV_CTRL_GET_TOKEN, &value, sizeof(value));
}

static void schedule(uint32_t handle, uint32_t cmd, unsigned char on)
{
	unsigned char p[3] = {on, 0, 0};

	control(handle, cmd, p, opt.branch < 580 ? 2 : 3);
}

/* @n: of the share among the group's handles; @veid: the number that the driver gives it */
static void subcontext(uint32_t group, uint32_t n, uint32_t veid)
{
	unsigned char share[NV_SHARE_SIZE] = {0};

	set32(share, NV_SHARE_VASPACE, SPACE);
	set32(share, NV_SHARE_SUBCONTEXT, veid);
	alloc(group, group + n, NV_CLASS_CONTEXT_SHARE, share, sizeof(share));
}

/* A group without a channel. */
static void empty_group(uint32_t handle, uint32_t engine)
{
	unsigned char p[20] = {0};

	set32(p, NV_GROUP_VASPACE, SPACE);
	set32(p, NV_GROUP_ENGINE, engine);
	alloc(DEVICE, handle, NV_CLASS_CHANNEL_GROUP, p, sizeof(p));
}

static void group(unsigned int i, unsigned int channels, uint32_t engine, uint32_t runlist)
{
	uint32_t handle = FIRST + 4 * i;

	empty_group(handle, engine);
	subcontext(handle, 1, 63);
	subcontext(handle, 2, 62);
	for (unsigned int k = 0; k < channels; k++)
		channel(handle, handle + 1 + k % 2, CHANNELS + 16 * i + k, 0);
	schedule(handle, NV_CTRL_GROUP_SCHEDULE, 1);
	for (unsigned int k = 0; k < channels; k++)
		token(CHANNELS + 16 * i + k, runlist << 16 | (16 * i + k));
}

static void groups(void)
{
	uint64_t us = 2000;

	group(0, 7, 1, 0);
	group(1, 3, 9, 13);
	group(2, 2, 10, 14);
	control(FIRST, NV_CTRL_GROUP_SET_TIMESLICE, &us, sizeof(us));
}

/* The first has a subcontext. */
static void cuda_group(unsigned int i, unsigned int channels, uint32_t engine, uint32_t runlist)
{
	uint32_t handle = FIRST + 4 * i, first = CHANNELS + 16 * i;

	empty_group(handle, engine);
	if (!i)
		subcontext(handle, 1, 63);
	for (unsigned int k = 0; k < channels; k++) {
		channel(handle, i ? 0 : handle + 1, first + k, 0);
		token(first + k, runlist << 16 | (8 * i + k));
	}
	schedule(handle, NV_CTRL_GROUP_SCHEDULE, 1);
}

static void cuda(void)
{
	uint64_t us = 2048;

	cuda_group(0, 8, 1, 0);
	for (unsigned int i = 1; i < 4; i++)
		cuda_group(i, 4, 10 + i, i);
	control(FIRST, NV_CTRL_GROUP_SET_TIMESLICE, &us, sizeof(us));
}

static void alone(void)
{
	channel(DEVICE, 0, 0x5c000200, 10);
	schedule(0x5c000200, NV_CTRL_CHANNEL_SCHEDULE, 1);
	token(0x5c000200, 14 << 16 | 99);
}

static void old(void)
{
	uint32_t mine = client;

	client ^= 0x08000000;
	schedule(FIRST, NV_CTRL_GROUP_SCHEDULE, 1);
	token(CHANNELS, 3 << 16 | 5);
	channel(FIRST, FIRST + 2, CHANNELS + 1, 0);
	client = mine;
}

/* A page whose neighbour is not there, with a struct at its end. */
static unsigned char *edge(size_t size)
{
	unsigned char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(at + 4096, 4096);
	return at + 4096 - size;
}

static void hostile(void)
{
	static const uintptr_t nowhere[] = {0, 1, 8, 0x1000, 0x7fffffffffffULL, 0xffff888000000000ULL, ~0ULL};
	unsigned char *p;

	for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++) {
		alloc(DEVICE, 0x5c000300 + (uint32_t)i, NV_CLASS_CHANNEL_GROUP, (void *)nowhere[i], 20);
		control(FIRST, NV_CTRL_GROUP_SCHEDULE, (void *)nowhere[i], 2);
		call(NV_ESC_RM_ALLOC, (void *)nowhere[i], NV_ALLOC_SIZE_64);
		call(NV_ESC_RM_CONTROL, (void *)nowhere[i], NV_CONTROL_SIZE);
		ioctl(fd, 0xc01046d3, (void *)nowhere[i]);
	}
	/* fields that end before what is needed */
	p = edge(8);
	alloc(DEVICE, 0x5c000310, NV_CLASS_CHANNEL_GROUP, p, 20);
	p = edge(16);
	call(NV_ESC_RM_CONTROL, p, NV_CONTROL_SIZE);
	control(FIRST, NV_CTRL_GROUP_SET_TIMESLICE, edge(8), 4);
	control(FIRST, NV_CTRL_GROUP_SET_TIMESLICE, edge(8), UINT32_MAX);
	/* sizes of no struct */
	for (uint32_t size = 0; size < 64; size += 3)
		call(NV_ESC_RM_ALLOC, edge(size ? size : 1), size);
	/* a wrapper in a wrapper, and one of an absurd size */
	p = edge(16);
	set32(p, 0, NV_ESC_XFER_CMD);
	set32(p, 4, 16);
	set64(p, 8, (uintptr_t)p);
	ioctl(fd, 0xc01046d3, p);
	set32(p, 0, NV_ESC_RM_ALLOC);
	set32(p, 4, UINT32_MAX);
	ioctl(fd, 0xc01046d3, p);
}

static void failed(void)
{
	unsigned char c[NV_ALLOC_SIZE_64] = {0};

	set32(c, NV_ALLOC_CLIENT, client);
	set32(c, NV_ALLOC_PARENT, DEVICE);
	set32(c, NV_ALLOC_OBJECT, 0x5c000400);
	set32(c, NV_ALLOC_CLASS, NV_CLASS_CHANNEL_GROUP);
	set32(c, NV_ALLOC_STATUS_64, 0x1a);
	call(NV_ESC_RM_ALLOC, c, sizeof(c));
}

static void monitor(void)
{
	uint32_t pids[64] = {0};

	for (unsigned int i = 0; i < 1009; i++)
		control(DEVICE, 0x2080018d, pids, sizeof(pids));
}

static void uvm(void)
{
	unsigned char p[128] = {0};

	ioctl(fd, 37, p);
	for (unsigned int i = 0; i < 13; i++)
		ioctl(fd, 51, p);
	ioctl(fd, 62, p);
	ioctl(fd, 250, p);
}

static const struct {
	const char *name;
	void (*play)(void);
} parts[] = {{"groups", groups},   {"cuda", cuda},     {"alone", alone},     {"old", old},
	     {"hostile", hostile}, {"failed", failed}, {"monitor", monitor}, {"uvm", uvm}};

static int play(const char *name)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strcmp(parts[i].name, name)) {
			parts[i].play();
			return 0;
		}
	fprintf(stderr, "nv_calls: no part %s\n", name);
	return 2;
}

/* ---------------------------------------------------------------- ends */

static void end_free(void)
{
	for (unsigned int i = 0; i < 4; i++)
		release(FIRST + 4 * i);
}

static void end_client(void)
{
	release(client);
}

static void end_device(void)
{
	release(DEVICE);
}

static void end_space(void)
{
	release(SPACE);
}

static void end_close(void)
{
	close(fd);
}

static void end_exit(void)
{
}

static void end_kill(void)
{
	raise(SIGKILL);
}

static void end_exec(void)
{
	execl("/bin/sleep", "sleep", "0.3", NULL);
}

static void end_run(void)
{
	const char *command = getenv("NV_RUN");

	fcntl(fd, F_SETFD, 0);
	execl("/bin/sh", "sh", "-c", command ? command : "exit 2", NULL);
}

/* A child has the file 0.4 s longer. */
static void end_fork(void)
{
	if (!fork()) {
		usleep(400000);
		_exit(0);
	}
}

/*
 * Another client of another file gets the first group, and makes a channel in it with a handle that the
 * first client uses, too, as clients of MPS do. The group outlives the first client; then that goes.
 */
static void end_dup(void)
{
	int first = fd;
	uint32_t other = client ^ 0x04000000, mine = client;
	unsigned char device[56] = {0};

	fd = open(opt.file, O_RDWR | O_CLOEXEC);
	alloc(0, other, NV_CLASS_ROOT_CLIENT, NULL, 0);
	client = other;
	alloc(other, DEVICE, NV_CLASS_DEVICE, device, sizeof(device));
	client = mine;
	duplicate(other, DEVICE, FIRST, FIRST);
	client = other;
	subcontext(FIRST, 1, 61);
	channel(FIRST, FIRST + 1, CHANNELS, 0);
	token(CHANNELS, 77);
	close(first);
	usleep(300000);
	release(FIRST);
	client = mine;
}

static const struct {
	const char *name;
	void (*end)(void);
} ends[] = {{"free", end_free},	  {"client", end_client}, {"device", end_device}, {"space", end_space},
	    {"close", end_close}, {"exit", end_exit},	  {"kill", end_kill},	  {"exec", end_exec},
	    {"fork", end_fork},	  {"dup", end_dup},	  {"run", end_run}};

static void end(void)
{
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strcmp(ends[i].name, opt.end))
			ends[i].end();
}

static int take_options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "f:l:e:n:c:k:psx")) >= 0)
		switch (c) {
		case 'f':
			opt.file = optarg;
			break;
		case 'l':
			opt.branch = (unsigned int)atoi(optarg);
			break;
		case 'e':
			opt.end = optarg;
			break;
		case 'n':
			opt.times = (unsigned int)atoi(optarg);
			break;
		case 'c':
			opt.client = (uint32_t)strtoul(optarg, NULL, 0);
			break;
		case 'k':
			opt.number = (uint32_t)strtoul(optarg, NULL, 0);
			break;
		case 'p':
			opt.pause = 1;
			break;
		case 's':
			opt.is_short = 1;
			break;
		case 'x':
			opt.wrapped = 1;
			break;
		default:
			return 2;
		}
	return 0;
}

int main(int argc, char **argv)
{
	int ret = take_options(argc, argv);

	for (unsigned int i = 0; i < opt.times && !ret; i++) {
		client = (opt.client ? opt.client : 0xc1000000U | (uint32_t)getpid() << 2) + i;
		begin();
		for (int k = optind; k < argc && !ret; k++)
			ret = play(argv[k]);
		if (opt.pause) {
			printf("%x\n", client);
			fflush(stdout);
			getchar();
		}
		end();
	}
	return ret;
}
