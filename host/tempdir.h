/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A temporary directory, which is gone when the command has ended, also by a signal.
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

/** tempdir_has - whether a path is in one of them, and gone at the end */
bool tempdir_has(const char *path);

/** tempdir_remove - removes it with all that is in it; "" is allowed */
void tempdir_remove(const char *path);

/** tempdir_remove_all - the same for all of them; for handlers of signals */
void tempdir_remove_all(void);

#endif /* GRTRACE_TEMPDIR_H */
