/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The mappings of a process, line by line, from /proc/PID/maps.
 */
#ifndef GRTRACE_MAPS_H
#define GRTRACE_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

/**
 * struct maps - a text in this format that is being read
 * @from: the text, from maps_open() or maps_copy(); NULL: none
 * The rest is private and zero at first.
 */
struct maps {
	FILE *from;
	char *line;
	size_t room;
	char *copy;
};

/**
 * struct maps_row - a mapping
 * @offset: in its file
 * @major, @minor, @inode: numbers of its file inside the kernel: some file systems report others to stat()
 * @code: it is executable
 * @path: as the process sees it, "[...]" or "" if it has no file; valid until the next maps_next()
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

/**
 * maps_open - opens the mappings of a process; NULL with errno set: it has ended, or we may not inspect it
 */
FILE *maps_open(pid_t pid);

/**
 * maps_copy - reads all mappings of a process before the first maps_next()
 * Return: whether these are all. If not, the process has ended or runs another program meanwhile: the kernel
 * shows a few of them at each read(2), and then no more
 */
bool maps_copy(struct maps *m, pid_t pid);

/** maps_next - reads the next mapping. Return: whether there is one */
bool maps_next(struct maps *m, struct maps_row *row);

/**
 * maps_file - opens the file of a mapping for reading, even if its name now leads to another file, or if the
 * file is in a chroot(8) or another mount namespace, or was deleted. Without the privilege for this, opens
 * the file by its name as the process sees it, if it is the same file
 * @start, @end: addresses of the mapping
 * @same: the file to compare with; NULL: do not open a file by its name
 * Return: a descriptor, or -errno
 */
int maps_file(pid_t pid, uint64_t start, uint64_t end, const struct maps_row *same);

/**
 * maps_stat - stat(2) of the file of a mapping. Return: 0, or -errno: no privilege, or the mapping has no
 * file
 */
int maps_stat(pid_t pid, const struct maps_row *row, struct stat *st);

/** maps_again - the next is the first one again; only after maps_copy() */
void maps_again(struct maps *m);

/** maps_close - closes it */
void maps_close(struct maps *m);

#endif /* GRTRACE_MAPS_H */
