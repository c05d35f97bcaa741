/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Temporary directories, which are removed when the command ends, also by a signal.
 */
#ifndef GRTRACE_TEMPDIR_H
#define GRTRACE_TEMPDIR_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * tempdir_make - makes NAME.XXXXXX in $TMPDIR, or in /tmp
 * @path: gets its path
 * @uid, @gid: its owner, (uid_t)-1: the user of this process
 * Return: 0, or -1 with errno set
 */
int tempdir_make(char *path, size_t room, const char *name, uid_t uid, gid_t gid);

/** tempdir_has - whether a path is in a temporary directory */
bool tempdir_has(const char *path);

/** tempdir_remove - removes a directory with its contents; "" is allowed */
void tempdir_remove(const char *path);

/** tempdir_remove_all - removes all temporary directories; for signal handlers */
void tempdir_remove_all(void);

#endif /* GRTRACE_TEMPDIR_H */
