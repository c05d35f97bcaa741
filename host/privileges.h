/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Under sudo, root creates files as the user who called sudo: symbolic links lead only where this user
 * may go, new files belong to the user at once, and existing files keep their owner.
 */
#ifndef GRTRACE_PRIVILEGES_H
#define GRTRACE_PRIVILEGES_H

#include <grtrace/grtrace.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * as_user_begin - opens, creates, renames and removes files as this user, until as_user_end()
 * @uid: (uid_t)-1: no change
 */
void as_user_begin(uid_t uid, gid_t gid);

/** as_user_end - ends as_user_begin(); errno is unchanged */
void as_user_end(void);

/**
 * as_user_change - changes the user for files without the way back of as_user_end(), by system calls alone:
 * for signal handlers of a process that ends
 */
void as_user_change(uid_t uid, gid_t gid);

/**
 * as_user_begin_at - as_user_begin() for a new file or directory
 *
 * If the user may not write to its directory, nobody except root may, and the path has no symbolic link, root
 * creates it: this is a root shell from sudo in a directory of root.
 * Return: whether the user creates it; call as_user_end() in any case
 */
bool as_user_begin_at(uid_t uid, gid_t gid, const char *path);

/**
 * as_user_begin_in - as_user_begin_at() for what is created and replaced in an open directory
 *
 * What another user made in the directory must not be changed by its name: that user can put another file in
 * its place. What the user creates needs no change.
 */
bool as_user_begin_in(uid_t uid, gid_t gid, int dir);

/**
 * as_user_is_roots - whether only root can write to the directory @dir, and @path leads there without a
 * symbolic link
 */
bool as_user_is_roots(int dir, const char *path);

/* ------------------------------------------------------------ privileges */

/*
 * Drops privileges that only the start of a capture needs, once the capture runs.
 */

/** privileges_user - the user who called sudo, or for whom root acts. Return: whether we are root for a user,
 * and *@uid and *@gid are set */
bool privileges_user(uid_t *uid, gid_t *gid);

/** privileges_for_user - sets the user for whom root acts, instead of the user who called sudo */
void privileges_for_user(uid_t uid, gid_t gid);

/**
 * privileges_drop - drops all capabilities except some, for good, and can change the user
 * @keep: bits (1 << CAP_*) of capabilities that are kept if the process has them
 * @uid, @gid: the user to change to, only as root; (uid_t)-1: no change Programs that are executed later
 *	cannot get more capabilities. Existing children keep their capabilities. Other threads change their
 *	user, too, but keep their capabilities until they call capabilities_drop().
 * Return: 0, or a negative errno with *@err set: then some capabilities may be left
 */
int privileges_drop(uint64_t keep, uid_t uid, gid_t gid, struct grt_err *err);

/* ---------------------------------------------------------- capabilities */

/*
 * Each thread has its own capabilities and must drop them itself.
 */

/**
 * capabilities_drop - drops all capabilities of the calling thread except some, for good, also for programs
 * that it executes
 * @keep: bits (1 << CAP_*) of capabilities that are kept if the thread has them
 * Return: 0 or a negative errno; then some capabilities may be left
 */
int capabilities_drop(uint64_t keep);

#endif /* GRTRACE_PRIVILEGES_H */
