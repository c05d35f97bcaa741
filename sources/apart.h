/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of others are taken apart in a process of its own: without capabilities
 * and as nobody, with bounds for memory and time, and with no descriptor but the
 * file's. What goes wrong there costs the answer, and nothing else.
 */
#ifndef GRTRACE_APART_H
#define GRTRACE_APART_H

#include <stddef.h>

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

#endif /* GRTRACE_APART_H */
