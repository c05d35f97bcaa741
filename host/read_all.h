/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads files of the kernel, whose size is known only after reading them.
 */
#ifndef GRTRACE_READ_ALL_H
#define GRTRACE_READ_ALL_H

#include <stddef.h>

/**
 * read_all - reads the rest of a file
 * @max: most bytes; a longer file is an error
 * @used: gets the number of bytes, without the NUL that follows them
 * Return: the text, which the caller frees; NULL with errno set, EFBIG if the file is longer
 */
char *read_all(int fd, size_t max, size_t *used);

/** read_line - reads the first line of a file, without its newline, cut to @room; "" if there is none */
void read_line(const char *path, char *line, size_t room);

#endif /* GRTRACE_READ_ALL_H */
