/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether the seccomp filters of a process allow the system calls that attaching and recording add to it. The
 * filters are read from the kernel and run here, so that nothing has to be tried in the process, which may be
 * killed for it.
 */
#ifndef GRTRACE_SECCOMP_H
#define GRTRACE_SECCOMP_H

#include <linux/filter.h>
#include <stddef.h>
#include <sys/types.h>

#define SECCOMP_WHY 160

/**
 * seccomp_check - the same for all filters of a thread
 * @tid: it is stopped, and traced by the caller
 * Return: 0, -EPERM with @why, -EACCES: this process may not read them, or another negative errno
 */
int seccomp_check(pid_t tid, char why[SECCOMP_WHY]);

#endif /* GRTRACE_SECCOMP_H */
