/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parses untrusted files in an isolated process. It has no capabilities, limits for
 * memory and time, only the descriptors of the files, and no system call that reaches
 * anything else: it cannot open or create files, send signals or trace. If it fails,
 * only its answer is lost.
 */
#ifndef GRTRACE_APART_H
#define GRTRACE_APART_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Most bytes of an answer. */
#define APART_MAX 256

/**
 * apart_run - runs a function in an isolated process
 * @fd: the descriptor that stays open in it
 * @fn: gets @fd and @arg, fills @answer; returns 0 or a negative errno
 * @answer: gets the @size bytes of the answer if @fn returned 0; at most APART_MAX
 * Return: the result of @fn, -ETIMEDOUT: it took too long, -EFAULT: it died, or another negative errno: it
 * could not start
 */
int apart_run(int (*fn)(int fd, const void *arg, void *answer), int fd, const void *arg, void *answer,
	      size_t size);

/** struct apart - an isolated process that runs in the background; @in: the pipe with its output */
struct apart {
	pid_t pid;
	int in;
};

/**
 * struct apart_work - the work of an isolated process
 * @fn: gets @arg and writes to @out; the process ends when it returns
 * @keep: @n descriptors that stay open, in any order; the last element is free for @out. The array is changed
 * @name: name of the process, NULL: the name of this process
 * @memory: limit of its memory, in addition to the memory of this process, bytes
 * @cpu_seconds: limit of its CPU time
 */
struct apart_work {
	void (*fn)(int out, const void *arg);
	const void *arg;
	int *keep;
	size_t n;
	const char *name;
	uint64_t memory;
	unsigned int cpu_seconds;
};

/** apart_begin - starts an isolated process with a copy of this process's memory. Return: 0 or -errno */
int apart_begin(struct apart *a, const struct apart_work *work);

/** apart_end - kills the process; @pid 0 (not started) is allowed. Return: 0, or the -errno
 * with which its start failed */
int apart_end(struct apart *a);

#endif /* GRTRACE_APART_H */
