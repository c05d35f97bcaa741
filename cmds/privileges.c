// SPDX-License-Identifier: GPL-2.0
/*
 * Drops privileges, see privileges.h.
 */
#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "host/capabilities.h"
#include "privileges.h"

/* the process for which the user was looked up */
static uid_t for_uid = (uid_t)-1;
static gid_t for_gid = (gid_t)-1;

void privileges_for_user(uid_t uid, gid_t gid)
{
	for_uid = uid;
	for_gid = gid;
}

bool privileges_user(uid_t *uid, gid_t *gid)
{
	const char *u = getenv("SUDO_UID"), *g = getenv("SUDO_GID");

	if (for_uid != (uid_t)-1 && !geteuid()) {
		if (!for_uid)
			return false;
		*uid = for_uid;
		*gid = for_gid;
		return true;
	}
	if (geteuid() || !u || !g || !isdigit((unsigned char)*u) || !isdigit((unsigned char)*g))
		return false;
	*uid = (uid_t)strtoul(u, NULL, 10);
	*gid = (gid_t)strtoul(g, NULL, 10);
	return true;
}

/* Whether capabilities that are permitted now are also permitted afterwards. */
static int privileges_become(uid_t uid, gid_t gid)
{
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgroups(1, &gid) || setresgid(gid, gid, gid) ||
	    setresuid(uid, uid, uid))
		return -errno;
	return 0;
}

/* A failure of one does not prevent the other. */
int privileges_drop(uint64_t keep, uid_t uid, gid_t gid, struct grt_err *err)
{
	int ret = uid != (uid_t)-1 && !geteuid() ? privileges_become(uid, gid) : 0;
	int last = capabilities_drop(keep);

	ret = ret ?: last;
	return ret ? grt_err_set(err, ret, strerror(-ret), NULL, "cannot give up all privileges") : 0;
}
