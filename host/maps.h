/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a process has mapped, line by line, as /proc/PID/maps reports it.
 */
#ifndef GRTRACE_MAPS_H
#define GRTRACE_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

/**
 * struct maps - a text of that form on its way
 * @from: it, maps_open() of a process or any other; NULL: there is none
 * The rest is private, 0 at first.
 */
struct maps {
	FILE *from;
	char *line;
	size_t room;
};

/**
 * struct maps_row - a mapping
 * @offset: in its file
 * @major, @minor, @inode: of its file, as the kernel counts them: some file systems report others to stat()
 * @code: it may be executed
 * @path: as the process sees it, "[...]" or "" where it is no file's; good until the next maps_next()
 */
struct maps_row {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	unsigned int major;
	unsigned int minor;
	uint64_t inode;
	bool code;
	const char *path;
};

/** maps_open - those of a process; NULL with errno set: it has ended, or is none of ours */
FILE *maps_open(pid_t pid);

/** maps_next - the next mapping. Return: whether there is one */
bool maps_next(struct maps *m, struct maps_row *row);

/**
 * maps_file - opens the file of a mapping for reading, whatever its name leads to by now, or from where it is
 * seen: that of a chroot(8), of another mount namespace, a deleted one. Who may not, has the file of that
 * name as the process sees it, if it is the same
 * @start, @end: a row's
 * @same: NULL: there is nothing to compare a file of that name with, and none is taken
 * Return: a descriptor, or -errno
 */
int maps_file(pid_t pid, uint64_t start, uint64_t end, const struct maps_row *same);

/** maps_stat - what a mapping's file is. Return: 0, or -errno: who asks may not know, or it is no file's */
int maps_stat(pid_t pid, const struct maps_row *row, struct stat *st);

/** maps_close - closes it */
void maps_close(struct maps *m);

#endif /* GRTRACE_MAPS_H */
