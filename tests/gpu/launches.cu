// SPDX-License-Identifier: GPL-2.0
/*
 * launches WHAT [N]: launches kernels by one API, N times, and prints how many
 * kernels ran in the end, as a counter on the GPU says.
 */
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

#define CHECK(call)                                                                                     \
	do {                                                                                            \
		int code_ = (int)(call);                                                                \
		if (code_) {                                                                            \
			fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call, code_);     \
			exit(1);                                                                        \
		}                                                                                       \
	} while (0)

static long n = 1000;

/* One more in *count for a launch, whatever its size. */
extern "C" __global__ void count_kernel(unsigned long long *count)
{
	if (!threadIdx.x && !blockIdx.x)
		atomicAdd(count, 1ULL);
}

extern "C" __global__ void empty_kernel(void)
{
}

static unsigned long long *count;

static void by_runtime(void)
{
	for (long i = 0; i < n; i++)
		count_kernel<<<1, 32>>>(count);
}

static void by_launch_kernel(void)
{
	void *args[] = {&count};

	for (long i = 0; i < n; i++)
		CHECK(cudaLaunchKernel((const void *)count_kernel, dim3(1), dim3(32), args, 0, 0));
}

static void by_ex(void)
{
	cudaLaunchConfig_t config = {};

	config.gridDim = dim3(1);
	config.blockDim = dim3(32);
	for (long i = 0; i < n; i++)
		CHECK(cudaLaunchKernelEx(&config, count_kernel, count));
}

static void by_cooperative(void)
{
	void *args[] = {&count};

	for (long i = 0; i < n; i++)
		CHECK(cudaLaunchCooperativeKernel((const void *)count_kernel, dim3(1), dim3(32), args, 0, 0));
}

static CUfunction driver_function(void)
{
	cudaFunction_t f;

	CHECK(cudaGetFuncBySymbol(&f, (const void *)count_kernel));
	return (CUfunction)f;
}

static void by_driver(void)
{
	CUfunction f = driver_function();
	void *args[] = {&count};

	for (long i = 0; i < n; i++)
		CHECK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, args, NULL));
}

static void by_driver_ex(void)
{
	CUfunction f = driver_function();
	void *args[] = {&count};
	CUlaunchConfig config = {};

	config.gridDimX = config.gridDimY = config.gridDimZ = 1;
	config.blockDimX = 32;
	config.blockDimY = config.blockDimZ = 1;
	for (long i = 0; i < n; i++)
		CHECK(cuLaunchKernelEx(&config, f, args, NULL));
}

static void by_driver_cooperative(void)
{
	CUfunction f = driver_function();
	void *args[] = {&count};

	for (long i = 0; i < n; i++)
		CHECK(cuLaunchCooperativeKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, args));
}

static cudaGraphExec_t capture(cudaStream_t stream, int nodes)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < nodes; i++)
		count_kernel<<<1, 32, 0, stream>>>(count);
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	return exec;
}

/* Ten kernels with each launch. */
static void by_graph(bool driver)
{
	cudaStream_t stream;
	cudaGraphExec_t exec;

	CHECK(cudaStreamCreate(&stream));
	exec = capture(stream, 10);
	for (long i = 0; i < n; i++)
		CHECK(driver ? (int)cuGraphLaunch((CUgraphExec)exec, (CUstream)stream)
			     : (int)cudaGraphLaunch(exec, stream));
}

static void by_streams(void)
{
	cudaStream_t stream[16];

	for (auto &s : stream)
		CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	for (long i = 0; i < n; i++)
		count_kernel<<<1, 32, 0, stream[i % 16]>>>(count);
}

static void by_threads(void)
{
	std::vector<std::thread> all;

	for (int t = 0; t < 8; t++)
		all.emplace_back(by_runtime);
	for (auto &t : all)
		t.join();
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

extern "C" __global__ void wait_kernel(volatile int *go, unsigned long long *count)
{
	while (!*go)
		;
	atomicAdd(count, 1ULL);
}

/* A kernel that runs until the program says so, N ms later. What waits for it before hangs. */
static void kernel_waits(bool idle)
{
	double end = seconds() + (double)n * 1e-3, longest = 0, begun;
	volatile int *go;
	int *device;

	CHECK(cudaHostAlloc((void **)&go, sizeof(*go), cudaHostAllocMapped));
	*go = 0;
	CHECK(cudaHostGetDevicePointer((void **)&device, (void *)go, 0));
	wait_kernel<<<1, 1>>>(device, count);
	while (seconds() < end) {
		begun = seconds();
		if (!idle && cudaStreamQuery(0) != cudaErrorNotReady)
			exit(1);
		longest = seconds() - begun > longest ? seconds() - begun : longest;
		usleep(1000);
	}
	*go = 1;
	CHECK(cudaDeviceSynchronize());
	printf("longest call %.1f ms\n", longest * 1e3);
	n = 1;
}

static void copies(void)
{
	std::vector<char> host(1 << 20);
	void *device;

	CHECK(cudaMalloc(&device, host.size()));
	for (long i = 0; i < n; i++) {
		CHECK(cudaMemcpy(device, host.data(), host.size(), cudaMemcpyHostToDevice));
		CHECK(cudaMemsetAsync(device, 0, host.size(), 0));
		CHECK(cudaMemcpy(host.data(), device, host.size(), cudaMemcpyDeviceToHost));
		CHECK(cudaDeviceSynchronize());
	}
}

/* Deep stacks for the bench. */
static __attribute__((noinline)) void deeper(int depth, void (*fn)(void))
{
	if (depth)
		deeper(depth - 1, fn);
	else
		fn();
	__asm__ volatile("" : : : "memory");
}

static void loop(void)
{
	for (long i = 0; i < n; i++)
		empty_kernel<<<1, 1>>>();
}

/* What a launch takes the CPU, in us; the GPU keeps up. */
static void bench(int depth)
{
	double begun, best = 1e9;

	deeper(depth, loop);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < 7; i++) {
		begun = seconds();
		deeper(depth, loop);
		CHECK(cudaDeviceSynchronize());
		begun = (seconds() - begun) / (double)n * 1e6;
		printf("us %.4f\n", begun);
		best = begun < best ? begun : best;
	}
	printf("best %.4f\n", best);
}

static const struct {
	const char *name;
	void (*run)(void);
	int kernels;
} ways[] = {
	{"runtime", by_runtime, 1},
	{"launch_kernel", by_launch_kernel, 1},
	{"ex", by_ex, 1},
	{"cooperative", by_cooperative, 1},
	{"driver", by_driver, 1},
	{"driver_ex", by_driver_ex, 1},
	{"driver_cooperative", by_driver_cooperative, 1},
	{"graph", [] { by_graph(false); }, 10},
	{"driver_graph", [] { by_graph(true); }, 10},
	{"streams", by_streams, 1},
	{"threads", by_threads, 8},
	{"kernel_waits", [] { kernel_waits(false); }, 1},
	{"kernel_waits_idle", [] { kernel_waits(true); }, 1},
};

static void run(const char *what)
{
	unsigned long long ran = 0, wanted = 0;

	CHECK(cudaSetDevice(0));
	CHECK(cudaMalloc((void **)&count, sizeof(*count)));
	CHECK(cudaMemset(count, 0, sizeof(*count)));
	for (const auto &way : ways)
		if (!strcmp(what, way.name) || (!strcmp(what, "all") && !strstr(way.name, "waits"))) {
			way.run();
			wanted += (unsigned long long)(n * way.kernels);
		}
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(&ran, count, sizeof(ran), cudaMemcpyDeviceToHost));
	printf("ran %llu wanted %llu\n", ran, wanted);
	if (ran != wanted)
		exit(1);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "all";

	if (argc > 2)
		n = atol(argv[2]);
	if (!strcmp(what, "processes")) {
		for (int i = 0; i < 4; i++)
			if (!fork()) {
				run("runtime");
				exit(0);
			}
		while (wait(NULL) > 0)
			;
	} else if (!strcmp(what, "copies")) {
		copies();
	} else if (!strcmp(what, "bench")) {
		bench(argc > 3 ? atoi(argv[3]) : 0);
	} else {
		run(what);
	}
	return 0;
}
