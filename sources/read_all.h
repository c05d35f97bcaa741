/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files whose size is known only when they have been read: those that a kernel makes.
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

#endif /* GRTRACE_READ_ALL_H */
