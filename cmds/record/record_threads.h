/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the threads of a process do at an incident, in the kernel and in user space. Only root may read the
 * stacks, so a process that was made before the recorder dropped its privileges reads them, and does nothing
 * else.
 */
#ifndef GRTRACE_RECORD_THREADS_H
#define GRTRACE_RECORD_THREADS_H

#include <stddef.h>
#include <sys/types.h>

/* The file beside a snapshot has the snapshot's name and this. */
#define RECORD_THREADS_SUFFIX ".threads"

/**
 * struct record_threads
 * @fd: socket to the process @pid, which reads them
 * @text: @used bytes of its last answer
 */
struct record_threads {
	int fd;
	pid_t pid;
	char *text;
	size_t used;
	size_t room;
};

/** record_threads_begin - makes the process; if that fails, snapshots have no threads */
void record_threads_begin(struct record_threads *t);

/** record_threads_look - reads the threads of a process, for at most a second; 0: none */
void record_threads_look(struct record_threads *t, pid_t pid);

/**
 * record_threads_write - writes them into a file of the snapshot at @path. Return: 0, or -errno after a
 * message
 */
int record_threads_write(const struct record_threads *t, const char *path);

/** record_threads_end - ends the process, and frees everything in @t; a struct of zeros is allowed */
void record_threads_end(struct record_threads *t);

#endif /* GRTRACE_RECORD_THREADS_H */
