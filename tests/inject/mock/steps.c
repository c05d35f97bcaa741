// SPDX-License-Identifier: GPL-2.0
/*
 * steps STEPS RANKS LATE EVERY MS: ranks that train, each in a process of its own: a copy,
 * four layers forward and backward by one line each, a collective that ends when all
 * ranks have come, an optimizer; every seventh step has one more kernel. Rank LATE
 * sleeps MS ms at the beginning of the EVERY-th step and of those EVERY further on.
 * With STEPS_HANG at their end, behind their launches. With STEPS_RANKED their environment has ranks from 10
 * on, in the other order. With STEPS_NVTX each step is a range of NVTX of that name and its number, with
 * ranges in it; with STEPS_ALIKE always 0. What each did is in the file of STEPS_LOG:
 * `step PID RANK NUMBER SLEPT_NS` when it ends.
 */
#include "mock.h"
#include "nvtx.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int cudaRuntimeGetVersion(int *version);

static pthread_barrier_t *all_there;

static void nap(long ns)
{
	struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	nanosleep(&t, NULL);
}

static void compute(void)
{
	nap(100000);
}

/* It runs from the arrival of a rank to that of the last one. */
static void communicate(void)
{
	pthread_barrier_wait(all_there);
	nap(50000);
}

static void launch(const char *name)
{
	mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, name);
}

static __attribute__((noinline)) void layers(const char *name)
{
	for (int i = 0; i < 4; i++)
		launch(name);
}

static __attribute__((noinline)) void all_reduce(void)
{
	mock.in_kernel = communicate;
	mock.stream = 20;
	launch("_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE");
	mock.stream = 7;
	mock.in_kernel = compute;
}

static void push(const char *name)
{
	if (getenv("STEPS_NVTX"))
		NVTX(push_a, name);
}

static void pop(void)
{
	if (getenv("STEPS_NVTX"))
		NVTX(pop);
}

static __attribute__((noinline)) void train_step(int number)
{
	mock_copy(CUPTI_DOMAIN_RUNTIME, 41, 279, 4096);
	push("forward");
	layers("forward");
	pop();
	push("backward");
	layers("backward");
	pop();
	all_reduce();
	if (number % 7 == 0)
		launch("norm");
	launch("adam");
}

static void tell_step(int rank, int number, long slept)
{
	const char *path = getenv("STEPS_LOG");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;

	if (fd < 0)
		return;
	dprintf(fd, "step %d %d %d %ld\n", getpid(), rank, number, slept);
	close(fd);
}

static void start_up(void)
{
	for (int i = 0; i < 30; i++)
		mock_copy(CUPTI_DOMAIN_RUNTIME, 41, 279, 1 << 20);
	launch("init");
}

static int train(int rank, uint32_t gpu, int steps, bool late, int every, long ms)
{
	int version;
	bool hangs = getenv("STEPS_HANG"), alike = getenv("STEPS_ALIKE");
	char told[16];

	snprintf(told, sizeof(told), "%d", rank);
	if (getenv("STEPS_RANKED"))
		setenv("RANK", told, 1);
	if (cudaRuntimeGetVersion(&version) || cuInit(0))
		return 1;
	if (getenv("STEPS_NVTX"))
		nvtx_load();
	mock.device = gpu;
	mock.in_kernel = compute;
	start_up();
	for (int i = 0; i < steps; i++) {
		bool sleeps = late && i % every == every - 1;
		char name[64];

		snprintf(name, sizeof(name), "%s %d", getenv("STEPS_NVTX") ?: "", alike ? 0 : i);
		push(name);
		if (sleeps && !hangs)
			nap(ms * 1000000);
		train_step(i);
		if (sleeps && hangs)
			nap(ms * 1000000);
		pop();
		tell_step(rank, i, sleeps ? ms * 1000000 : 0);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int ranks = argc == 6 ? atoi(argv[2]) : 0, failed = 0, status;
	bool ranked = getenv("STEPS_RANKED");
	pthread_barrierattr_t shared;

	all_there = mmap(NULL, sizeof(*all_there), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ranks < 1 || all_there == MAP_FAILED)
		return 2;
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(all_there, &shared, (unsigned int)ranks);
	for (int i = 0; i < ranks; i++)
		if (!fork())
			exit(train(ranked ? 9 + ranks - i : i, (uint32_t)i, atoi(argv[1]), i == atoi(argv[3]),
				   atoi(argv[4]), atol(argv[5])));
	while (wait(&status) > 0)
		failed += status != 0;
	return failed ? 1 : 0;
}
