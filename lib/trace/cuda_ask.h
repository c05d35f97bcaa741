/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * How a recorder asks a program that runs with libgrtrace-cuda.so: a page of memory
 * that the library has, and a pipe that it makes when it is asked. The recorder opens
 * both in /proc/PID/fd: the kernel lets it do so where it could read the process's
 * memory as well, in whatever namespaces the process is, and nobody else. It locks the
 * page while it records, and the pipe has no reader any more when it has ended.
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

/** enum grt_cuda_asleep - what the library does; LEAVING: all is written, and CUPTI is given back */
enum grt_cuda_asleep { GRT_CUDA_ASLEEP, GRT_CUDA_WAKING, GRT_CUDA_AWAKE, GRT_CUDA_LEAVING };

/** enum grt_cuda_stack - what takes the CPU's stack of a launch */
enum grt_cuda_stack { GRT_CUDA_STACK_NONE, GRT_CUDA_STACK_INPROC, GRT_CUDA_STACK_BPF };

/** enum grt_cuda_left - how the last recording left CUPTI: it was not used, was taken out, is still there */
enum grt_cuda_left { GRT_CUDA_UNUSED, GRT_CUDA_DETACHED, GRT_CUDA_ATTACHED };

/**
 * struct grt_cuda_ask - the page
 * @pid: of the library's process, as that knows it: a page that a child has inherited is its parent's
 * @word: a futex: changes when the recorder has written
 * @ask, @taken, @end: the recorder's: the number of the recording that it wants; it has the pipe of; that
 * ends
 * @stack: the recorder's: enum grt_cuda_stack
 * @duties: the library's: it knows @duty; @duty: the recorder's: windows at random places, with @stack
 * @graphs: the library's: it knows @graph; @graph: the recorder's: a CUDA graph is one record
 * @cgroup: the recorder's: path of the process's control group as it sees it, or its end, "": unknown
 * @scrap, @scrap_bytes: the recorder's: memory of the process that nobody needs
 * @state: the library's: enum grt_cuda_asleep
 * @answer: the library's: the recording that @pipe, a descriptor, or -1 and @why are about
 * @left: the library's: enum grt_cuda_left
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
};

#endif /* GRT_TRACE_CUDA_ASK_H */
