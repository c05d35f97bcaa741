// SPDX-License-Identifier: GPL-2.0
// graphs.cu REPLAYS: graphs made in several ways, by functions whose names say how many kernels they make;
// prints for each function how many kernels of it ran. The names are C's, so that stacks have them as they are.
#include <cstdio>
#include <cstdlib>
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
	int n = argc > 1 ? atoi(argv[1]) : 100, ran[3];
	cudaGraph_t graph, child, all, clone;
	cudaGraphExec_t exec, other;
	cudaGraphNode_t node;
	cudaStream_t s;

	CHECK(cudaMalloc(&count, sizeof(ran)));
	CHECK(cudaMemset(count, 0, sizeof(ran)));
	CHECK(cudaStreamCreate(&s));
	/* a captured graph, one of explicit nodes as its child, and a clone of both */
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	capture_three(s);
	capture_two(s);
	CHECK(cudaStreamEndCapture(s, &graph));
	CHECK(cudaGraphCreate(&child, 0));
	add_four(child);
	CHECK(cudaGraphCreate(&all, 0));
	CHECK(cudaGraphAddChildGraphNode(&node, all, nullptr, 0, graph));
	CHECK(cudaGraphAddChildGraphNode(&node, all, &node, 1, child));
	CHECK(cudaGraphClone(&clone, all));
	CHECK(cudaGraphInstantiate(&exec, all, 0));
	CHECK(cudaGraphInstantiate(&other, clone, 0));
	replay_graphs(exec, s, n);
	replay_graphs(other, s, 2 * n);
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaMemcpy(ran, count, sizeof(ran), cudaMemcpyDeviceToHost));
	printf("capture_three %d\ncapture_two %d\nadd_four %d\n", ran[0], ran[1], ran[2]);
	return 0;
}
