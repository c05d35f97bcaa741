/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * How a recorder starts a recording in a program that has loaded libgrtrace-cuda.so. The library
 * has a page of shared memory, and creates a pipe on request. The recorder opens
 * both in /proc/PID/fd. The kernel allows this only to processes that could also read the process's
 * memory, in any namespaces. The recorder locks the page while it records; when it ends, the pipe
 * has no reader any more.
 */
#ifndef GRT_TRACE_CUDA_ASK_H
#define GRT_TRACE_CUDA_ASK_H

#include <stdatomic.h>
#include <stdint.h>

#include "duty.h"

/* The name of the memory, and its link in /proc/PID/fd. */
#define GRT_CUDA_ASK_NAME "grtrace-cuda"
#define GRT_CUDA_ASK_LINK "/memfd:" GRT_CUDA_ASK_NAME " (deleted)"
#define GRT_CUDA_ASK_MAGIC 0x6b73616475637467ULL /* "gtcudask" */
#define GRT_CUDA_ASK_VERSION 1
#define GRT_CUDA_ASK_BYTES 4096

/**
 * enum grt_cuda_asleep - the state of the library; LEAVING: everything is written, and CUPTI is being
 * detached
 */
enum grt_cuda_asleep { GRT_CUDA_ASLEEP, GRT_CUDA_WAKING, GRT_CUDA_AWAKE, GRT_CUDA_LEAVING };

/** enum grt_cuda_stack - how the CPU stack of a launch is taken */
enum grt_cuda_stack { GRT_CUDA_STACK_NONE, GRT_CUDA_STACK_INPROC, GRT_CUDA_STACK_BPF };

/** enum grt_cuda_left - CUPTI after the last recording: not used, detached, still attached */
enum grt_cuda_left { GRT_CUDA_UNUSED, GRT_CUDA_DETACHED, GRT_CUDA_ATTACHED };

/**
 * struct grt_cuda_ask - the page; each member has one writer
 * @pid: pid of the library's process in its own namespace: a page that a child has inherited belongs to its
 *	parent
 * @word: a futex: changes when the recorder has written
 * @ask, @taken, @end: written by the recorder: numbers of the recording that it requests, whose pipe it has
 *	opened, and that must end
 * @stack: written by the recorder: enum grt_cuda_stack
 * @duties: written by the library: it supports @duty; @duty: written by the recorder: random windows, with
 *	@stack
 * @graphs: written by the library: it supports @graph; @graph: written by the recorder: a CUDA graph is one
 *	record
 * @torches: written by the library: it supports @torch; @torch: written by the recorder: PyTorch's modules
 *	are recorded
 * @cgroup: written by the recorder: path of the process's control group as the recorder sees it, or the end
 *	of it, "": unknown
 * @scrap, @scrap_bytes: written by the recorder: memory of the process that is no longer needed
 * @state: written by the library: enum grt_cuda_asleep
 * @answer: written by the library: the recording to which @pipe (a descriptor) belongs, or -1 and @why
 * @left: written by the library: enum grt_cuda_left
 */
struct grt_cuda_ask {
	uint64_t magic;
	uint32_t version;
	uint32_t pid;
	_Atomic uint32_t word;
	_Atomic uint32_t ask;
	_Atomic uint32_t taken;
	_Atomic uint32_t end;
	_Atomic uint32_t stack;
	_Atomic uint64_t scrap;
	_Atomic uint64_t scrap_bytes;
	_Atomic uint32_t state;
	_Atomic uint32_t answer;
	_Atomic int32_t pipe;
	_Atomic uint32_t left;
	char why[128];
	uint32_t duties;
	struct grt_duty duty;
	uint32_t graphs;
	uint32_t graph;
	char cgroup[176];
	uint32_t torches;
	uint32_t torch;
};

#endif /* GRT_TRACE_CUDA_ASK_H */
