// SPDX-License-Identifier: GPL-2.0
/*
 * A CUDA program that ends in the ways a test asks for, and times what tracing
 * could slow down.
 *
 *	nv_program exit|reset|wait|bad|first|contexts N|launches N
 *
 *	exit	  adds vectors and returns        reset	  resets the device before that
 *	wait	  adds, prints a line, waits for ever (to be killed)
 *	bad	  writes where nothing is: Xid 31
 *	first	  us from cuInit to the end of the first kernel
 *	contexts  us for a context made and destroyed, of N
 *	launches  ns for a launch, of N empty kernels
 */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <unistd.h>

__global__ void add(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

__global__ void nothing()
{
}

static double now_us()
{
	return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
		.count();
}

static int vectors()
{
	const int n = 1 << 20;
	float *a, *b, *c, first;

	if (cudaMalloc(&a, n * 4) || cudaMalloc(&b, n * 4) || cudaMalloc(&c, n * 4))
		return 1;
	cudaMemset(a, 0, n * 4);
	cudaMemset(b, 0, n * 4);
	add<<<n / 256, 256>>>(a, b, c, n);
	return cudaMemcpy(&first, c, 4, cudaMemcpyDeviceToHost) || first != 0;
}

static int contexts(int n)
{
	CUcontext context;
	CUdevice device;
	double begin;

	cuInit(0);
	cuDeviceGet(&device, 0);
	begin = now_us();
	for (int i = 0; i < n; i++) {
#if CUDA_VERSION >= 13000
		if (cuCtxCreate(&context, nullptr, 0, device))
			return 1;
#else
		if (cuCtxCreate(&context, 0, device))
			return 1;
#endif
		cuCtxDestroy(context);
	}
	printf("%.1f\n", (now_us() - begin) / n);
	return 0;
}

static int launches(int n)
{
	double begin;

	nothing<<<1, 1>>>();
	cudaDeviceSynchronize();
	begin = now_us();
	for (int i = 0; i < n; i++)
		nothing<<<1, 1>>>();
	cudaDeviceSynchronize();
	printf("%.1f\n", (now_us() - begin) * 1000 / n);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "exit";
	int n = argc > 2 ? atoi(argv[2]) : 1;
	double begin = now_us();

	if (!strcmp(what, "contexts"))
		return contexts(n);
	if (!strcmp(what, "launches"))
		return launches(n);
	if (!strcmp(what, "first")) {
		nothing<<<1, 1>>>();
		cudaDeviceSynchronize();
		printf("%.1f\n", now_us() - begin);
		return 0;
	}
	if (vectors())
		return 1;
	if (!strcmp(what, "reset"))
		cudaDeviceReset();
	if (!strcmp(what, "bad")) {
		add<<<1, 1>>>(nullptr, nullptr, (float *)8, 1);
		return cudaDeviceSynchronize() == cudaSuccess;
	}
	if (!strcmp(what, "wait")) {
		puts("ready");
		fflush(stdout);
		pause();
	}
	return 0;
}
