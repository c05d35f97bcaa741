/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files that the kernel makes, whose size is known only when they have been read.
 */
#ifndef GRTRACE_READ_ALL_H
#define GRTRACE_READ_ALL_H

#include <stddef.h>

/**
 * read_all - what is left in a file
 * @max: of more bytes, none are read
 * @used: gets how many there are, without the NUL behind them
 * Return: it, which the caller frees; NULL with errno set, EFBIG where there is more
 */
char *read_all(int fd, size_t max, size_t *used);

/** read_line - the first line of a file, without its end, cut to @room; "" where there is none */
void read_line(const char *path, char *line, size_t room);

#endif /* GRTRACE_READ_ALL_H */
