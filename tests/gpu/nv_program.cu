// SPDX-License-Identifier: GPL-2.0
/*
 * A CUDA program that ends in the ways a test asks for, and times what tracing
 * could slow down.
 *
 *	nv_program exit|reset|wait|bad|first|contexts SECONDS|launches SECONDS
 *
 *	exit	  adds vectors and returns        reset	  resets the device before that
 *	wait	  adds, prints a line, waits for ever (to be killed)
 *	bad	  writes where nothing is: Xid 31
 *	first	  us from cuInit to the end of the first kernel
 *	contexts  us for a context made and destroyed, each
 *	launches  ns for a launch of an empty kernel, over 10000 of them
 *
 * What is timed is printed as lines of its begin and end in seconds of CLOCK_MONOTONIC,
 * and the time.
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

static double now_s()
{
	return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static void sample(double begin, double factor)
{
	double end = now_s();

	printf("%.6f %.6f %.1f\n", begin, end, (end - begin) * factor);
	fflush(stdout);
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

static int contexts(double seconds)
{
	CUcontext context;
	CUdevice device;

	cuInit(0);
	cuDeviceGet(&device, 0);
	for (double end = now_s() + seconds; now_s() < end;) {
		double begin = now_s();
#if CUDA_VERSION >= 13000
		if (cuCtxCreate(&context, nullptr, 0, device))
			return 1;
#else
		if (cuCtxCreate(&context, 0, device))
			return 1;
#endif
		cuCtxDestroy(context);
		sample(begin, 1e6);
	}
	return 0;
}

static int launches(double seconds)
{
	const int n = 10000;

	nothing<<<1, 1>>>();
	cudaDeviceSynchronize();
	for (double end = now_s() + seconds; now_s() < end;) {
		double begin = now_s();

		for (int i = 0; i < n; i++)
			nothing<<<1, 1>>>();
		cudaDeviceSynchronize();
		sample(begin, 1e9 / n);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "exit";
	double seconds = argc > 2 ? atof(argv[2]) : 1;
	double begin = now_s();

	if (!strcmp(what, "contexts"))
		return contexts(seconds);
	if (!strcmp(what, "launches"))
		return launches(seconds);
	if (!strcmp(what, "first")) {
		nothing<<<1, 1>>>();
		cudaDeviceSynchronize();
		sample(begin, 1e6);
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
