/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Starts and stops recording in a process that has loaded libgrtrace-cuda.so, see
 * trace/cuda_ask.h.
 */
#ifndef GRTRACE_CUDA_ASK_H
#define GRTRACE_CUDA_ASK_H

#include <stdbool.h>
#include <sys/types.h>

#include <grtrace/grtrace.h>

#include "trace/cuda_ask.h"

/* Most files of the records of a process. */
#define CUDA_ASK_FILES 64

/**
 * struct cuda_ask - a process
 * @fd, @page: its page of shared memory, which is locked
 * @number: number of the requested recording
 * @pipe: the pipe with its records; before there is one, a descriptor for poll() that is never readable
 * @left: remaining bytes of the packet for the file @to
 * @head, @got: a packet's header, and how many of its bytes were read
 */
struct cuda_ask {
	pid_t pid;
	int fd;
	struct grt_cuda_ask *page;
	uint32_t number;
	int pipe;
	size_t left;
	int to;
	struct grt_packet head;
	size_t got;
	int file[CUDA_ASK_FILES];
};

/**
 * cuda_ask_find - finds and locks the page of a process
 * Return: 0, -ENOENT: the process has not loaded the library, -EBUSY: another recorder has it, or -errno,
 * with *err
 */
int cuda_ask_find(struct cuda_ask *a, pid_t pid, struct grt_err *err);

#define GRT_CUDA_LIBRARY "libgrtrace-cuda.so"

/**
 * cuda_ask_library - the path of the library, PATH_MAX bytes: beside this program, or where it is installed.
 * Return: whether it exists
 */
bool cuda_ask_library(char *path);

/** cuda_ask_is_free - Return: 0, or -EBUSY: another recorder has it, with *err */
int cuda_ask_is_free(const struct cuda_ask *a, struct grt_err *err);

/** cuda_ask_is_without - Return: 0: the process has not loaded the library, -EBUSY: it has, with *err */
int cuda_ask_is_without(pid_t pid, struct grt_err *err);

/**
 * struct cuda_request - what to record: enum grt_cuda_stack, the windows, whether a CUDA graph is one record,
 * and whether modules of PyTorch are recorded
 */
struct cuda_request {
	uint32_t stack;
	struct grt_duty duty;
	bool whole_graphs;
	bool torch;
};

/** cuda_ask_start - wakes the library. Return: 0 or -errno with *err */
int cuda_ask_start(struct cuda_ask *a, const struct cuda_request *wish, struct grt_err *err);

/** cuda_ask_read - moves available records into files of the directory. Return: > 0, 0: the end, or -errno */
ssize_t cuda_ask_read(struct cuda_ask *a, int dir);

/**
 * cuda_ask_each - calls @fn for each process that can be recorded
 * @held: pid of its recorder, 0: none
 * Return: the number of processes
 */
unsigned int cuda_ask_each(void (*fn)(pid_t pid, pid_t held));

/**
 * cuda_ask_gpu - processes that have loaded CUDA's driver library; @pids gets at most @room. Return: their
 * number
 */
unsigned int cuda_ask_gpu(pid_t *pids, unsigned int room);

/** cuda_ask_stop - ends the recording; the remaining records can be read */
void cuda_ask_stop(struct cuda_ask *a);

/**
 * cuda_ask_wait - waits some seconds until the library sleeps again. Return: enum grt_cuda_left, -ETIMEDOUT,
 * -ESRCH
 */
int cuda_ask_wait(struct cuda_ask *a);

/** cuda_ask_close - frees it; all zero is allowed */
void cuda_ask_close(struct cuda_ask *a);

#endif /* GRTRACE_CUDA_ASK_H */
