// SPDX-License-Identifier: GPL-2.0
// graphs.cu HOW REPLAYS: a graph that is captured, explicit, a clone, or has children; functions whose names say how many
// kernels they make make its nodes; prints for each function how many kernels of it ran. The names are C's, so that stacks have them as they are.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#define CHECK(call)                                                                     \
	do {                                                                            \
		if (cudaError_t e = (call)) {                                           \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));      \
			exit(1);                                                        \
		}                                                                       \
	} while (0)

__global__ void step(int *at, int by)
{
	atomicAdd(at, by);
}

static int *count;
static const char *const names[] = {"capture_three", "capture_two", "add_four"};

extern "C" {

__attribute__((noipa)) void capture_three(cudaStream_t s)
{
	for (int i = 0; i < 3; i++)
		step<<<1, 1, 0, s>>>(count, 1);
	__asm__ volatile("");
}

__attribute__((noipa)) void capture_two(cudaStream_t s)
{
	for (int i = 0; i < 2; i++)
		step<<<1, 1, 0, s>>>(count + 1, 1);
	__asm__ volatile("");
}

/* Nodes without a stream. */
__attribute__((noipa)) void add_four(cudaGraph_t graph)
{
	int by = 1, *at = count + 2;
	void *args[] = {&at, &by};
	cudaKernelNodeParams p = {};

	p.func = (void *)step;
	p.gridDim = p.blockDim = dim3(1);
	p.kernelParams = args;
	for (int i = 0; i < 4; i++) {
		cudaGraphNode_t node;

		CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &p));
	}
	__asm__ volatile("");
}

__attribute__((noipa)) void replay_graphs(cudaGraphExec_t exec, cudaStream_t s, int n)
{
	while (n--)
		CHECK(cudaGraphLaunch(exec, s));
	__asm__ volatile("");
}
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 100, ran[3];
	const char *what = argc > 1 ? argv[1] : "";
	cudaGraph_t graph, child, all;
	cudaGraphExec_t exec;
	cudaGraphNode_t node;
	cudaStream_t s;

	CHECK(cudaMalloc(&count, sizeof(ran)));
	CHECK(cudaMemset(count, 0, sizeof(ran)));
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	capture_three(s);
	capture_two(s);
	CHECK(cudaStreamEndCapture(s, &graph));
	CHECK(cudaGraphCreate(&child, 0));
	add_four(child);
	all = graph;
	if (!strcmp(what, "explicit"))
		all = child;
	if (!strcmp(what, "clone"))
		CHECK(cudaGraphClone(&all, graph));
	if (!strcmp(what, "children")) {
		CHECK(cudaGraphCreate(&all, 0));
		CHECK(cudaGraphAddChildGraphNode(&node, all, nullptr, 0, graph));
		CHECK(cudaGraphAddChildGraphNode(&node, all, &node, 1, child));
	}
	CHECK(cudaGraphInstantiate(&exec, all, 0));
	replay_graphs(exec, s, n);
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaMemcpy(ran, count, sizeof(ran), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 3; i++)
		if (ran[i])
			printf("%s %d\n", names[i], ran[i]);
	return 0;
}
