// SPDX-License-Identifier: GPL-2.0
/*
 * Kernels that are built to stall for one reason each: pcsampling [KERNEL...], each for half a
 * second; or loop: launches as fast as there can be.
 */
#include <chrono>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

extern "C" __global__ void stall_global(int *data, int n)
{
	int at = (int)(threadIdx.x + blockIdx.x * blockDim.x) % n;

	for (int i = 0; i < 2000; i++)
		at = data[at];
	data[at] = at == -1 ? 1 : data[at];
}

extern "C" __global__ void stall_shared(int *data, int n)
{
	__shared__ int s[1024];
	int at = (int)(threadIdx.x % 32) * 32;

	for (int i = (int)threadIdx.x; i < 1024; i += (int)blockDim.x)
		s[i] = i;
	__syncthreads();
	for (int i = 0; i < 20000; i++)
		at = s[at];
	data[0] = at == -1 ? n : data[0];
}

extern "C" __global__ void stall_barrier(int *data, int n)
{
	float x = (float)threadIdx.x;

	for (int i = 0; i < 200; i++) {
		if (threadIdx.x < 32)
			for (int k = 0; k < 200; k++)
				x = x * 1.0001f + 0.5f;
		__syncthreads();
	}
	data[0] = x == -1 ? n : data[0];
}

extern "C" __global__ void stall_math(int *data, int n)
{
	double a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a + 7;

	for (int i = 0; i < 4000; i++) {
		a = a * 1.0001 + 0.5;
		b = b * 1.0001 + 0.5;
		c = c * 1.0001 + 0.5;
		d = d * 1.0001 + 0.5;
		e = e * 1.0001 + 0.5;
		f = f * 1.0001 + 0.5;
		g = g * 1.0001 + 0.5;
		h = h * 1.0001 + 0.5;
	}
	data[0] = a + b + c + d + e + f + g + h == -1 ? n : data[0];
}

__device__ __noinline__ int odd(int x)
{
	return x ^ 1;
}

__device__ __noinline__ int even(int x)
{
	return x ^ 3;
}

/* Calls and returns, and half of a warp waits for the other. */
extern "C" __global__ void stall_branch(int *data, int n)
{
	int x = (int)threadIdx.x;

#pragma unroll 1
	for (int i = 0; i < 4000; i++)
		x = x & 1 ? odd(x) : even(x);
	data[0] = x == -1 ? n : data[0];
}

extern "C" __global__ void stall_local(int *data, int n)
{
	volatile int here[256];
	int at = (int)threadIdx.x & 255;

	for (int i = 0; i < 256; i++)
		here[i] = (i * 97 + 13) & 255;
	for (int i = 0; i < 4000; i++)
		at = here[at];
	data[0] = at == -1 ? n : data[0];
}

static const struct {
	const char *name;
	void (*kernel)(int *, int);
	int blocks, threads;
} kernels[] = {
	{"global", stall_global, 264, 64},     {"shared", stall_shared, 264, 64},
	{"barrier", stall_barrier, 264, 1024}, {"math", stall_math, 528, 1024},
	{"branch", stall_branch, 264, 128},    {"local", stall_local, 264, 64},
};

extern "C" __global__ void empty(void)
{
}

/* What a launch costs the CPU, us. */
static int loop(void)
{
	const int n = 300000;

	empty<<<1, 32>>>();
	cudaDeviceSynchronize();
	auto begin = std::chrono::steady_clock::now();
	for (int i = 0; i < n; i++)
		empty<<<1, 32>>>();
	cudaDeviceSynchronize();
	std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
	printf("%.2f us a launch\n", took.count() / n);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "loop"))
		return loop();
	const int n = 64 << 20;
	int *host = new int[n], *data;

	/* far from each other: nothing is in a cache */
	for (int i = 0; i < n; i++)
		host[i] = (int)((i * 1103515245LL + 12345) % n);
	cudaMalloc(&data, n * sizeof(int));
	cudaMemcpy(data, host, n * sizeof(int), cudaMemcpyHostToDevice);
	for (auto &k : kernels) {
		bool wanted = argc < 2;
		long launches = 0;

		for (int i = 1; i < argc; i++)
			wanted |= !strcmp(argv[i], k.name);
		auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
		while (wanted && std::chrono::steady_clock::now() < end) {
			for (int i = 0; i < 10; i++, launches++)
				k.kernel<<<k.blocks, k.threads>>>(data, n);
			cudaDeviceSynchronize();
		}
		if (wanted)
			printf("%s %ld launches: %s\n", k.name, launches,
			       cudaGetErrorString(cudaGetLastError()));
	}
	return 0;
}
