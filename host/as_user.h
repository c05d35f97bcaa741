/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Root by sudo makes files as the user who called it: links lead where that user
 * may go, what is made is the user's at once, and nothing that was there changes
 * its owner.
 */
#ifndef GRTRACE_AS_USER_H
#define GRTRACE_AS_USER_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * as_user_begin - until as_user_end() files are opened, made, renamed and removed as a user
 * @uid: (uid_t)-1: as we are
 */
void as_user_begin(uid_t uid, gid_t gid);

/** as_user_end - as before; errno stays */
void as_user_end(void);

/**
 * as_user_begin_at - the same for a new file or directory
 * Where the user may not write beside it, but nobody except root may either and no link leads there, it is
 * root's to make: a shell of root by sudo, in a directory of root. Return: whether it is made as the user;
 * as_user_end() follows in any case
 */
bool as_user_begin_at(uid_t uid, gid_t gid, const char *path);

#endif /* GRTRACE_AS_USER_H */
