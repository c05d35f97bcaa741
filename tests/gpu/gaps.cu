// SPDX-License-Identifier: GPL-2.0
/*
 * gaps SECONDS FILE: one kernel that looks at the GPU's clock all the time and
 * notes when it did not run for 20 us. FILE gets, in ns: lines "clock BEFORE GPU
 * AFTER", the GPU's clock between two readings of CLOCK_MONOTONIC by the host, and lines
 * "gap FROM TO" of the GPU's clock.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <time.h>

#define GAPS (1U << 20)
#define GAP_NS 20000

__device__ static uint64_t gpu_now()
{
	uint64_t t;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
}

__global__ void watch(uint64_t ns, uint64_t *log, unsigned int *gaps)
{
	uint64_t begin = gpu_now(), before = begin, now;
	unsigned int n = 0;

	while ((now = gpu_now()) - begin < ns) {
		if (now - before > GAP_NS && n < GAPS) {
			log[2 * n] = before;
			log[2 * n++ + 1] = now;
		}
		before = now;
	}
	*gaps = n;
}

/* The host writes the flag's number, the kernel answers with its clock. */
__global__ void answer(volatile uint32_t *asked, volatile uint64_t *clock, uint32_t times)
{
	for (uint32_t i = 1; i <= times; i++) {
		while (*asked != i)
			;
		clock[i] = gpu_now();
		__threadfence_system();
	}
}

static uint64_t host_now()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* The sample of which the host's two readings are closest. */
static void sample(FILE *out)
{
	const uint32_t times = 200;
	volatile uint32_t *asked;
	volatile uint64_t *clock;
	uint64_t before, after, best[3] = {0, 0, UINT64_MAX};

	cudaHostAlloc((void **)&asked, sizeof(*asked), cudaHostAllocMapped);
	cudaHostAlloc((void **)&clock, (times + 1) * sizeof(*clock), cudaHostAllocMapped);
	*asked = 0;
	for (uint32_t i = 0; i <= times; i++)
		clock[i] = 0;
	answer<<<1, 1>>>(asked, clock, times);
	for (uint32_t i = 1; i <= times; i++) {
		before = host_now();
		*asked = i;
		while (!clock[i])
			;
		after = host_now();
		if (after - before < best[2] - best[0]) {
			best[0] = before;
			best[1] = clock[i];
			best[2] = after;
		}
	}
	cudaDeviceSynchronize();
	fprintf(out, "clock %lu %lu %lu\n", best[0], best[1], best[2]);
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? atof(argv[1]) : 0;
	FILE *out = argc > 2 ? fopen(argv[2], "w") : NULL;
	unsigned int *gaps, n;
	uint64_t *log, *here;

	if (!out || cudaMalloc(&log, 16 * GAPS) || cudaMalloc(&gaps, sizeof(*gaps)))
		return 1;
	sample(out);
	watch<<<1, 1>>>((uint64_t)(seconds * 1e9), log, gaps);
	if (cudaDeviceSynchronize() || cudaMemcpy(&n, gaps, sizeof(n), cudaMemcpyDeviceToHost))
		return 1;
	sample(out);
	here = (uint64_t *)malloc(16 * n + 16);
	if (cudaMemcpy(here, log, 16 * n, cudaMemcpyDeviceToHost))
		return 1;
	for (unsigned int i = 0; i < n; i++)
		fprintf(out, "gap %lu %lu\n", here[2 * i], here[2 * i + 1]);
	return fclose(out) != 0;
}
