/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the threads of a process do when there is an incident, in the kernel and in user space. Only root may
 * read the stacks: a process that was made before the recorder gave up its privileges reads them, and does
 * nothing else.
 */
#ifndef GRTRACE_RECORD_THREADS_H
#define GRTRACE_RECORD_THREADS_H

#include <stddef.h>
#include <sys/types.h>

/* Beside a snapshot. */
#define RECORD_THREADS_SUFFIX ".threads"

/**
 * struct record_threads - @fd: socket to the process @pid that reads them; @text: @used bytes of its last
 * answer
 */
struct record_threads {
	int fd;
	pid_t pid;
	char *text;
	size_t used;
	size_t room;
};

/** record_threads_begin - makes it; where that fails, snapshots have no threads */
void record_threads_begin(struct record_threads *t);

/** record_threads_look - at those of a process, 0: none; for a second at most */
void record_threads_look(struct record_threads *t, pid_t pid);

/** record_threads_write - into a file beside the snapshot at @path. Return: 0, or -errno after saying why */
int record_threads_write(const struct record_threads *t, const char *path);

/** record_threads_end - ends the process, and frees all that @t owns; a struct of zeros is allowed */
void record_threads_end(struct record_threads *t);

#endif /* GRTRACE_RECORD_THREADS_H */
