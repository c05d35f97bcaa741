/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A process that runs with libgrtrace-cuda.so is asked to record: see
 * trace/cuda_ask.h.
 */
#ifndef GRTRACE_CUDA_ASK_H
#define GRTRACE_CUDA_ASK_H

#include <stdbool.h>
#include <sys/types.h>

#include <grtrace/grtrace.h>

#include "trace/cuda_ask.h"

/* Files that the records of a process are in, at most. */
#define CUDA_ASK_FILES 64

/**
 * struct cuda_ask - a process
 * @fd, @page: the page, which is locked
 * @number: of the recording that was asked for
 * @pipe: where its records come from; before, and for poll(), a descriptor that has nothing
 * @left: bytes of the packet that go into the file @to
 * @head, @got: a packet's header, and how much of it is there
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
 * cuda_ask_find - the page of a process, which nobody else is to have
 * Return: 0, -ENOENT: it runs without the library, -EBUSY: another recorder has it, or -errno, with *err
 */
int cuda_ask_find(struct cuda_ask *a, pid_t pid, struct grt_err *err);

#define GRT_CUDA_LIBRARY "libgrtrace-cuda.so"

/** cuda_ask_library - its path, PATH_MAX bytes: beside this program, or where it is installed. Return:
 * whether it is there */
bool cuda_ask_library(char *path);

/** cuda_ask_holder - who records it, 0: nobody, -1: a process that is not seen here */
pid_t cuda_ask_holder(const struct cuda_ask *a);

/** struct cuda_wish - what is recorded: enum grt_cuda_stack, when, and whether a CUDA graph is one record */
struct cuda_wish {
	uint32_t stack;
	struct grt_duty duty;
	bool whole_graphs;
};

/** cuda_ask_start - wakes it. Return: 0 or -errno with *err */
int cuda_ask_start(struct cuda_ask *a, const struct cuda_wish *wish, struct grt_err *err);

/** cuda_ask_read - what there is, into files of the directory. Return: > 0, 0: the end, or -errno */
ssize_t cuda_ask_read(struct cuda_ask *a, int dir);

/**
 * cuda_ask_each - calls @fn for each process that may be asked, by its number
 * @held: who records it, 0: nobody
 * Return: how many there are
 */
unsigned int cuda_ask_each(void (*fn)(pid_t pid, pid_t held));

/** cuda_ask_gpu - processes that have the driver of CUDA in them; @pids gets at most @room. Return: how many
 */
unsigned int cuda_ask_gpu(pid_t *pids, unsigned int room);

/** cuda_ask_stop - its recording ends; the rest can be read */
void cuda_ask_stop(struct cuda_ask *a);

/** cuda_ask_wait - until it sleeps again, some s. Return: enum grt_cuda_left, -ETIMEDOUT, -ESRCH */
int cuda_ask_wait(struct cuda_ask *a);

/** cuda_ask_close - also of one that is all 0 */
void cuda_ask_close(struct cuda_ask *a);

#endif /* GRTRACE_CUDA_ASK_H */
