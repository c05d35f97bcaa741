/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Privileges that only the start of a capture needs are given up once it runs.
 */
#ifndef GRTRACE_PRIVILEGES_H
#define GRTRACE_PRIVILEGES_H

#include <stdbool.h>
#include <sys/types.h>

#include <grtrace/grtrace.h>

/** privileges_user - the user who called sudo, or for whom root acts. Return: whether we are root for a user,
 * and *@uid and *@gid are set */
bool privileges_user(uid_t *uid, gid_t *gid);

/** privileges_for_user - root acts for this user, whichever user called sudo */
void privileges_for_user(uid_t uid, gid_t gid);

/**
 * privileges_drop - gives up all capabilities but some, for good, and may become another user
 * @keep: bits (1 << CAP_*) that are kept where they are there
 * @uid, @gid: the user to become, from root only; (uid_t)-1: none
 * No program that is executed afterwards gets more. Children that were made before keep what they have, and
 * so do other threads, but for the user: they call capabilities_drop().
 * Return: 0, or a negative errno with *@err set: then some may be left
 */
int privileges_drop(uint64_t keep, uid_t uid, gid_t gid, struct grt_err *err);

#endif /* GRTRACE_PRIVILEGES_H */
