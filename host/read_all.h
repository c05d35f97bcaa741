/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads files of the kernel, whose size is known only after reading them.
 */
#ifndef GRTRACE_READ_ALL_H
#define GRTRACE_READ_ALL_H

#include <stddef.h>
#include <sys/types.h>

/**
 * read_all - reads the rest of a file
 * @max: most bytes; a longer file is an error
 * @used: gets the number of bytes, without the NUL that follows them
 * Return: the text, which the caller frees; NULL with errno set, EFBIG if the file is longer
 */
char *read_all(int fd, size_t max, size_t *used);

/** read_line - reads the first line of a file, without its newline, cut to @room; "" if there is none */
void read_line(const char *path, char *line, size_t room);

/** read_comm - reads the name of a process; "" if there is none */
void read_comm(pid_t pid, char *comm, size_t room);

/** read_status - reads the value of a line "KEY:\tVALUE" of /proc/PID/status; "" if there is none */
void read_status(pid_t pid, const char *key, char *value, size_t room);

#endif /* GRTRACE_READ_ALL_H */
