/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program that is started under grtrace: forked first, run when capture is
 * set up, waited for as a shell would.
 */
#ifndef GRTRACE_CHILD_H
#define GRTRACE_CHILD_H

#include <sys/types.h>

#include "cmds/cmd.h"

/**
 * struct child - the program
 * @pid: 0: none
 * @go: the pipe that lets it run; -1: it does
 * @failed: the pipe that brings the errno of a failed exec
 * @pidfd: readable when it has ended; -1 on kernels without pidfds
 * @ended: it was waited for
 * @status: its exit status, as a shell has it (128 + signal), once @ended; @by_signal: the signal that ended
 * it, 0: none
 */
struct child {
	pid_t pid;
	int go;
	int failed;
	int pidfd;
	bool ended;
	int status;
	int by_signal;
};

/**
 * child_find - checks that argv[0] can be executed. Return: 0, or 127 or 126 after a message, like a shell
 */
int child_find(char **argv);

/**
 * child_fork - makes the process, which waits
 * @err_fd: its standard error; -1: ours
 * @user: the user that it becomes; NULL: ours
 * Return: 0 or -errno
 */
int child_fork(struct child *c, char **argv, int err_fd, const char *user, struct grt_err *err);

/**
 * child_run - lets the program run. Return: 0, or 126 or 127 after a message if it could not be executed
 */
int child_run(struct child *c, char **argv);

/** child_poll - checks whether the program has ended, without waiting. Return: c->ended */
bool child_poll(struct child *c);

/** child_close - closes the descriptors; a program that is not running yet will never run */
void child_close(struct child *c);

#endif /* GRTRACE_CHILD_H */
