// SPDX-License-Identifier: GPL-2.0
/*
 * switch_load SECONDS KERNEL_US SLEEP_US: kernels that spin for KERNEL_US, one at a time, with
 * SLEEP_US between; KERNEL_US 0: empty kernels, a thousand in a row. Prints us per launch.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <time.h>
#include <unistd.h>

__global__ void spin(uint64_t ns)
{
	uint64_t begin, now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (now - begin < ns);
}

static double host_now()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double seconds = argc > 3 ? atof(argv[1]) : 0, begin, end;
	uint64_t ns = argc > 3 ? strtoull(argv[2], NULL, 10) * 1000 : 0;
	unsigned int pause = argc > 3 ? atoi(argv[3]) : 0;
	int row = ns ? 1 : 1000;
	long n = 0;

	if (cudaFree(0))
		return 1;
	for (int i = 0; i < 1000; i++)
		spin<<<1, 1>>>(0);
	cudaDeviceSynchronize();
	begin = host_now();
	do {
		for (int i = 0; i < row; i++)
			spin<<<1, 1>>>(ns);
		n += row;
		if (cudaDeviceSynchronize())
			return 1;
		if (pause)
			usleep(pause);
		end = host_now();
	} while (end - begin < seconds);
	printf("%.4f\n", (end - begin) / n * 1e6);
	return 0;
}
