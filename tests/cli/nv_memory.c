// SPDX-License-Identifier: GPL-2.0
/*
 * Asks a file for memory as programs ask NVIDIA's driver, at random, and keeps
 * its own account of what it has, which is not ours. On /dev/null each call fails with
 * ENOTTY and leaves its struct as it is, so the driver's answers are written into
 * it beforehand.
 *
 *	nv_memory [-s SEED] [-n CALLS] [-e END] [-c CLIENT]
 *
 *	-e END	how it ends: free (all by hand), clients, devices, close, exit (default), kill,
 *		share (no random calls: memory that another process has, too, see share())
 *	-c	handle of the first client
 *
 * To the standard output, a line each 100 calls and one at the end:
 *	CLOCK_MONOTONIC_ns PID LIVE_GPU LIVE_HOST BLOCKS
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "codes/nv_abi.h"

#define CLIENTS 3
#define DEVICES 2
#define BLOCKS 4096
#define EVERY 100

/* Handles of a client's devices, then of its memory. */
#define DEVICE 0x5c000002U
#define MEMORY 0x5c010000U

/** struct block - memory; @of: index of the block that it is a duplicate of, itself: it is none */
struct block {
	uint32_t client;
	uint32_t handle;
	uint32_t device;
	uint64_t bytes;
	int on_gpu;
	int used;
	int of;
	int handles;
};

static struct block block[BLOCKS];
static uint32_t client[CLIENTS], next_handle = MEMORY;
static int file;

static void set32(void *at, unsigned int offset, uint32_t value)
{
	memcpy((char *)at + offset, &value, sizeof(value));
}

static void set64(void *at, unsigned int offset, uint64_t value)
{
	memcpy((char *)at + offset, &value, sizeof(value));
}

static void call(uint32_t nr, void *data, uint32_t size)
{
	ioctl(file, 3U << 30 | size << 16 | 'F' << 8 | nr, data);
}

static void alloc(uint32_t of, uint32_t parent, uint32_t handle, uint32_t class, void *params)
{
	unsigned char c[NV_ALLOC_SIZE_64] = {0};

	set32(c, NV_ALLOC_CLIENT, of);
	set32(c, NV_ALLOC_PARENT, parent);
	set32(c, NV_ALLOC_OBJECT, handle);
	set32(c, NV_ALLOC_CLASS, class);
	set64(c, NV_ALLOC_PARAMS, (uintptr_t)params);
	call(NV_ESC_RM_ALLOC, c, sizeof(c));
}

static void release(uint32_t of, uint32_t handle)
{
	unsigned char c[NV_FREE_SIZE] = {0};

	set32(c, NV_FREE_CLIENT, of);
	set32(c, NV_FREE_OBJECT, handle);
	call(NV_ESC_RM_FREE, c, sizeof(c));
}

static void device(uint32_t of, unsigned int i)
{
	unsigned char gpu[84] = {0}, c[NV_CONTROL_SIZE] = {0}, params[56] = {0};

	set32(gpu, NV_ID_INFO_GPU, 0xc600U + (i << 8));
	set32(gpu, NV_ID_INFO_INSTANCE, i);
	set32(c, NV_CONTROL_CLIENT, of);
	set32(c, NV_CONTROL_OBJECT, of);
	set32(c, NV_CONTROL_CMD, NV_CTRL_GPU_GET_ID_INFO_V2);
	set64(c, NV_CONTROL_PARAMS, (uintptr_t)gpu);
	set32(c, NV_CONTROL_PARAMS_SIZE, sizeof(gpu));
	call(NV_ESC_RM_CONTROL, c, sizeof(c));
	set32(params, NV_DEVICE_ID, i);
	alloc(of, of, DEVICE + i, NV_CLASS_DEVICE, params);
}

static void begin(uint32_t first)
{
	memset(block, 0, sizeof(block));
	file = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (unsigned int i = 0; i < CLIENTS; i++) {
		client[i] = first + i;
		alloc(0, client[i], client[i], NV_CLASS_ROOT_CLIENT, NULL);
		for (unsigned int k = 0; k < DEVICES; k++)
			device(client[i], k);
	}
}

/* ------------------------------------------------------------- memory */

static struct block *free_block(void)
{
	for (int i = 0; i < BLOCKS; i++)
		if (!block[i].used && !block[i].handles)
			return &block[i];
	return NULL;
}

static uint32_t attr_of(int on_gpu)
{
	return (on_gpu ? 0U : 1U) << 25 | 0x18000000U;
}

static void by_alloc(const struct block *b, uint32_t class)
{
	unsigned char p[NV_MEM_SIZE] = {0};

	set32(p, NV_MEM_ATTR, attr_of(b->on_gpu));
	set64(p, NV_MEM_BYTES, b->bytes);
	alloc(b->client, b->device, b->handle, class, p);
}

static void by_heap(const struct block *b)
{
	unsigned char p[NV_HEAP_SIZE] = {0};

	set32(p, NV_HEAP_CLIENT, b->client);
	set32(p, NV_HEAP_PARENT, b->device);
	set32(p, NV_HEAP_FUNCTION, NV_HEAP_ALLOC_SIZE);
	set32(p, NV_HEAP_UNION + NV_HEAP_OBJECT, b->handle);
	set32(p, NV_HEAP_UNION + NV_HEAP_ATTR, attr_of(b->on_gpu));
	set64(p, NV_HEAP_UNION + NV_HEAP_BYTES, b->bytes);
	call(NV_ESC_RM_VID_HEAP_CONTROL, p, sizeof(p));
}

static void by_memory(const struct block *b)
{
	unsigned char p[NV_MEMORY_SIZE] = {0};

	set32(p, NV_MEMORY_CLIENT, b->client);
	set32(p, NV_MEMORY_PARENT, b->device);
	set32(p, NV_MEMORY_OBJECT, b->handle);
	set32(p, NV_MEMORY_CLASS, NV_CLASS_MEMORY_OS_DESCRIPTOR);
	set64(p, NV_MEMORY_LIMIT, b->bytes - 1);
	call(NV_ESC_RM_ALLOC_MEMORY, p, sizeof(p));
}

static void allocate(void)
{
	struct block *b = free_block();

	if (!b)
		return;
	*b = (struct block){.client = client[random() % CLIENTS],
			    .handle = next_handle++,
			    .device = DEVICE + (uint32_t)(random() % DEVICES),
			    .bytes = ((uint64_t)random() % 512 + 1) << 12,
			    .on_gpu = random() % 4 != 0,
			    .used = 1,
			    .of = (int)(b - block),
			    .handles = 1};
	switch (random() % 4) {
	case 0:
		by_heap(b);
		break;
	case 1:
		if (!b->on_gpu) {
			by_memory(b);
			break;
		}
		/* fall through */
	default:
		by_alloc(b, b->on_gpu || random() % 2 ? NV_CLASS_MEMORY_LOCAL : NV_CLASS_MEMORY_SYSTEM);
	}
}

static struct block *any_block(void)
{
	int at = (int)(random() % BLOCKS);

	for (int i = 0; i < BLOCKS; i++)
		if (block[(at + i) % BLOCKS].used)
			return &block[(at + i) % BLOCKS];
	return NULL;
}

static void duplicate(void)
{
	unsigned char c[NV_DUP_SIZE] = {0};
	struct block *from = any_block(), *b = from ? free_block() : NULL;

	if (!b)
		return;
	*b = (struct block){.client = client[random() % CLIENTS],
			    .handle = next_handle++,
			    .device = from->device,
			    .bytes = from->bytes,
			    .on_gpu = from->on_gpu,
			    .used = 1,
			    .of = from->of};
	/* the block that counts may be gone by now, then this one's does */
	block[b->of].handles++;
	set32(c, NV_DUP_CLIENT, b->client);
	set32(c, NV_DUP_PARENT, b->device);
	set32(c, NV_DUP_OBJECT, b->handle);
	set32(c, NV_DUP_CLIENT_SRC, from->client);
	set32(c, NV_DUP_OBJECT_SRC, from->handle);
	call(NV_ESC_RM_DUP_OBJECT, c, sizeof(c));
}

/* A row that others refer to stays until the last of them has gone. */
static void forget(struct block *b)
{
	b->used = 0;
	block[b->of].handles--;
}

static void give_back(void)
{
	struct block *b = any_block();

	if (!b)
		return;
	release(b->client, b->handle);
	forget(b);
}

/* A client goes with all that it has, and comes again. */
static void renew(void)
{
	uint32_t which = (uint32_t)(random() % CLIENTS);

	release(client[which], client[which]);
	for (int i = 0; i < BLOCKS; i++)
		if (block[i].used && block[i].client == client[which])
			forget(&block[i]);
	alloc(0, client[which], client[which], NV_CLASS_ROOT_CLIENT, NULL);
	for (unsigned int k = 0; k < DEVICES; k++)
		device(client[which], k);
}

static void report(void)
{
	struct timespec now;
	uint64_t live[2] = {0};
	unsigned int blocks = 0;

	for (int i = 0; i < BLOCKS; i++) {
		if (!block[i].handles || block[i].of != i)
			continue;
		live[!block[i].on_gpu] += block[i].bytes;
		blocks++;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%lld%09ld %d %llu %llu %u\n", (long long)now.tv_sec, now.tv_nsec, (int)getpid(),
	       (unsigned long long)live[0], (unsigned long long)live[1], blocks);
	fflush(stdout);
}

static void play(unsigned long calls)
{
	for (unsigned long i = 0; i < calls; i++) {
		long what = random() % 100;

		if (what < 48)
			allocate();
		else if (what < 60)
			duplicate();
		else if (what < 99)
			give_back();
		else if (!(random() % 8))
			renew();
		if (i % EVERY == EVERY - 1)
			report();
	}
	report();
}

/* ------------------------------------------------------------- ends */

static void end(const char *how)
{
	if (!strcmp(how, "free"))
		for (int i = 0; i < BLOCKS; i++)
			if (block[i].used)
				release(block[i].client, block[i].handle);
	if (!strcmp(how, "clients"))
		for (unsigned int i = 0; i < CLIENTS; i++)
			release(client[i], client[i]);
	if (!strcmp(how, "devices"))
		for (unsigned int i = 0; i < CLIENTS * DEVICES; i++)
			release(client[i % CLIENTS], DEVICE + i / CLIENTS);
	if (!strcmp(how, "close"))
		close(file);
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
}

static void one(uint32_t handle, uint64_t bytes)
{
	const struct block b = {
		.client = client[0], .handle = handle, .device = DEVICE, .bytes = bytes, .on_gpu = 1};

	by_alloc(&b, NV_CLASS_MEMORY_LOCAL);
}

static void take(uint32_t handle, uint32_t from)
{
	unsigned char c[NV_DUP_SIZE] = {0};

	set32(c, NV_DUP_CLIENT, client[0]);
	set32(c, NV_DUP_PARENT, DEVICE);
	set32(c, NV_DUP_OBJECT, handle);
	set32(c, NV_DUP_CLIENT_SRC, from);
	set32(c, NV_DUP_OBJECT_SRC, handle);
	call(NV_ESC_RM_DUP_OBJECT, c, sizeof(c));
}

/*
 * One process has 1, 2 and 4 MiB; another one duplicates 1 and 2. The first frees 2
 * and ends: from then on the second has 1 and 2, and 4 is free.
 */
static void share(uint32_t first)
{
	int ready[2], go[2];
	char byte;

	if (pipe(ready) || pipe(go))
		exit(1);
	begin(first);
	for (unsigned int i = 0; i < 3; i++)
		one(MEMORY + i, 1ULL << (20 + i));
	if (!fork()) {
		close(file);
		close(ready[0]);
		begin(first + CLIENTS);
		take(MEMORY, first);
		take(MEMORY + 1, first);
		if (write(ready[1], "", 1) != 1)
			exit(1);
		/* until the first one has ended */
		close(go[1]);
		if (read(go[0], &byte, 1) < 0)
			exit(1);
		/* its end is seen by who looks at the open files, which takes a while */
		sleep(1);
		printf("%d\n", (int)getpid());
		exit(0);
	}
	printf("%d\n", (int)getpid());
	fflush(stdout);
	if (read(ready[0], &byte, 1) != 1)
		exit(1);
	release(client[0], MEMORY + 1);
	exit(0);
}

int main(int argc, char **argv)
{
	uint32_t first = 0xc1d00019U;
	unsigned long calls = 2000;
	const char *how = "exit";
	unsigned int seed = 1;
	int c;

	while ((c = getopt(argc, argv, "s:n:e:c:")) != -1) {
		if (c == 's')
			seed = (unsigned int)strtoul(optarg, NULL, 0);
		else if (c == 'n')
			calls = strtoul(optarg, NULL, 0);
		else if (c == 'e')
			how = optarg;
		else if (c == 'c')
			first = (uint32_t)strtoul(optarg, NULL, 0);
		else
			return 2;
	}
	if (!strcmp(how, "share"))
		share(first);
	srandom(seed);
	begin(first);
	play(calls);
	end(how);
	return 0;
}
