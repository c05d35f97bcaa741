// SPDX-License-Identifier: GPL-2.0
/*
 * faults HOW: a hundred steps of kernels, each a range of NVTX, and then a fault in the next one, in a function of its
 * name, behind a launch in it: illegal (a kernel writes where nothing is), killed (the process sends itself SIGSEGV), endless (a kernel
 * does not end, and the thread waits for it), deadlock (the thread waits for a lock that it has). Prints its pid, and
 * when the fault comes, on CLOCK_MONOTONIC, ns.
 */
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

__global__ void spin(uint64_t ns, volatile int *stop)
{
	uint64_t begin, now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (stop ? !*stop : now - begin < ns);
}

__global__ void stray(int *nowhere)
{
	*nowhere = 1;
}

static void tell_fault()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	printf("pid %d fault %lld\n", getpid(), (long long)t.tv_sec * 1000000000 + t.tv_nsec);
	fflush(stdout);
}

static void launch()
{
	spin<<<1, 32>>>(1000, NULL);
	cudaDeviceSynchronize();
}

static int illegal()
{
	launch();
	stray<<<1, 1>>>((int *)16);
	return cudaDeviceSynchronize() != cudaSuccess;
}

static int killed()
{
	launch();
	/* the library writes what it has every 0.1 s */
	usleep(300000);
	raise(SIGSEGV);
	return 1;
}

static int endless()
{
	int *stop;

	launch();
	if (cudaMalloc((void **)&stop, sizeof(*stop)) || cudaMemset(stop, 0, sizeof(*stop)))
		return 1;
	spin<<<1, 1>>>(0, stop);
	return cudaDeviceSynchronize() != cudaSuccess;
}

static int deadlock()
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	launch();
	pthread_mutex_lock(&lock);
	return pthread_mutex_lock(&lock);
}

static const struct {
	const char *name;
	int (*fault)();
} faults[] = {{"illegal", illegal}, {"killed", killed}, {"endless", endless}, {"deadlock", deadlock}};

static int step(int number, int (*fault)())
{
	char name[32];
	int failed;

	snprintf(name, sizeof(name), "train step %d", number);
	nvtxRangePushA(name);
	for (int i = 0; i < 20; i++)
		spin<<<1, 32>>>(100000, NULL);
	cudaDeviceSynchronize();
	if (fault)
		tell_fault();
	failed = fault ? fault() : 0;
	nvtxRangePop();
	return failed;
}

int main(int argc, char **argv)
{
	for (unsigned int f = 0; argc == 2 && f < sizeof(faults) / sizeof(faults[0]); f++) {
		if (strcmp(argv[1], faults[f].name))
			continue;
		for (int i = 0; i < 100; i++)
			step(i, NULL);
		return step(100, faults[f].fault);
	}
	return 2;
}
