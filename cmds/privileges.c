// SPDX-License-Identifier: GPL-2.0
/*
 * Gives up privileges, see privileges.h. By the system calls, so that nothing
 * is needed besides libc.
 */
#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "privileges.h"

bool privileges_user(uid_t *uid, gid_t *gid)
{
	const char *u = getenv("SUDO_UID"), *g = getenv("SUDO_GID");

	if (geteuid() || !u || !g || !isdigit((unsigned char)*u) || !isdigit((unsigned char)*g))
		return false;
	*uid = (uid_t)strtoul(u, NULL, 10);
	*gid = (gid_t)strtoul(g, NULL, 10);
	return true;
}

/* Capabilities that are permitted now are still there afterwards. */
static int become(uid_t uid, gid_t gid)
{
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgroups(1, &gid) || setresgid(gid, gid, gid) ||
	    setresuid(uid, uid, uid))
		return -errno;
	return 0;
}

static int keep_capabilities(uint64_t keep)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &head, data))
		return -errno;
	for (unsigned int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted &= (uint32_t)(keep >> 32 * i);
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

/* One that fails does not keep the others from being done. */
int privileges_drop(uint64_t keep, uid_t uid, gid_t gid, struct grt_err *err)
{
	int ret = uid != (uid_t)-1 && !geteuid() ? become(uid, gid) : 0;
	int last = keep_capabilities(keep);

	ret = ret ?: last;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		ret = ret ?: -errno;
	return ret ? grt_err_set(err, ret, strerror(-ret), NULL, "cannot give up all privileges") : 0;
}
