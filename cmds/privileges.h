/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Drops privileges that only the start of a capture needs, once the capture runs.
 */
#ifndef GRTRACE_PRIVILEGES_H
#define GRTRACE_PRIVILEGES_H

#include <stdbool.h>
#include <sys/types.h>

#include <grtrace/grtrace.h>

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

#endif /* GRTRACE_PRIVILEGES_H */
