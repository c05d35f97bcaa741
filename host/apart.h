/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of others are taken apart in a process of its own: without capabilities,
 * with bounds for memory and time, with no descriptor but those of the files, and
 * with no system call that reaches anything else: it can open, make, signal and
 * trace nothing. What goes wrong there costs the answer, and nothing else.
 */
#ifndef GRTRACE_APART_H
#define GRTRACE_APART_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes of an answer. */
#define APART_MAX 256

/**
 * apart_run - runs a function in such a process
 * @fd: the descriptor that stays open there
 * @fn: gets @fd and @arg, fills @answer; returns 0 or a negative errno
 * @answer: its @size bytes are what @fn made of them where that returned 0; at most APART_MAX
 * Return: as @fn, -ETIMEDOUT: it took too long, -EFAULT: it died, or another negative errno: it could not
 *	begin
 */
int apart_run(int (*fn)(int fd, const void *arg, void *answer), int fd, const void *arg, void *answer,
	      size_t size);

/** struct apart - such a process that goes on by itself; @in: what it writes */
struct apart {
	pid_t pid;
	int in;
};

/**
 * struct apart_work - what it does
 * @fn: gets @arg and writes to @out; the process ends when it returns
 * @keep: descriptors that stay open, in any order, and behind them a place for @out: @n in all; it is changed
 * @name: of the process, NULL: this one's
 * @memory: bytes beyond what this process has already
 * @cpu_seconds: of its time on the CPU
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

/** apart_begin - starts one, which sees all of this process's memory as it is now. Return: 0 or -errno */
int apart_begin(struct apart *a, const struct apart_work *work);

/** apart_end - ends it, whatever it does; one that was not begun (@pid is 0) is allowed. Return: 0, or -errno
 * that it could not begin with */
int apart_end(struct apart *a);

#endif /* GRTRACE_APART_H */
