// SPDX-License-Identifier: GPL-2.0
/*
 * gpumetrics WHAT [N]: kernels whose counters are known.
 *	steps N	N kernels of 5 ms that keep every multiprocessor busy, with some milliseconds between them
 *	far N	the same with half a second between them
 *	copy N	a kernel that reads and writes 1 GiB, N times; prints bytes, and the time by CUDA's events
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#define CHECK(call)                                                               \
	do {                                                                      \
		cudaError_t e = call;                                             \
		if (e != cudaSuccess) {                                           \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e)); \
			exit(1);                                                  \
		}                                                                 \
	} while (0)

__device__ unsigned long long timer(void)
{
	unsigned long long t;

	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
	return t;
}

__global__ void spin(unsigned long long ns)
{
	unsigned long long begun = timer();

	while (timer() - begun < ns)
		;
}

__global__ void copy(const float4 *__restrict__ from, float4 *__restrict__ to, size_t n)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		to[i] = from[i];
}

static void steps(int n, int pause)
{
	cudaDeviceProp device;

	CHECK(cudaGetDeviceProperties(&device, 0));
	spin<<<device.multiProcessorCount * 2, 1024>>>(1000);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < n; i++) {
		/* at other places of a sample each time */
		usleep(pause + i * 137 % 3000);
		spin<<<device.multiProcessorCount * 2, 1024>>>(5000000);
		CHECK(cudaDeviceSynchronize());
	}
}

static void copies(int n)
{
	const size_t bytes = (size_t)1 << 30;
	cudaEvent_t begun, ended;
	float4 *from, *to;
	float ms;

	CHECK(cudaMalloc(&from, bytes));
	CHECK(cudaMalloc(&to, bytes));
	CHECK(cudaMemset(from, 1, bytes));
	CHECK(cudaEventCreate(&begun));
	CHECK(cudaEventCreate(&ended));
	CHECK(cudaDeviceSynchronize());
	usleep(100000);
	CHECK(cudaEventRecord(begun));
	for (int i = 0; i < n; i++)
		copy<<<132 * 16, 512>>>(from, to, bytes / sizeof(*from));
	CHECK(cudaEventRecord(ended));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaEventElapsedTime(&ms, begun, ended));
	printf("copies %d bytes %zu ms %.3f\n", n, bytes, ms);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 20;

	if (!strcmp(what, "copy"))
		copies(n);
	else
		steps(n, !strcmp(what, "far") ? 500000 : 7300);
	return 0;
}
