// SPDX-License-Identifier: GPL-2.0
/*
 * Root acts for a user: privileges are given up for good, or the kernel checks the user's access to files for
 * a while, see setfsuid(2).
 */
#include "privileges.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---------------------------------------------------------- capabilities */

/*
 * Drops capabilities. It calls the kernel directly, so it needs no library besides libc.
 */

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

/* Both are tried, so a failure of one does not prevent the other. */
int capabilities_drop(uint64_t keep)
{
	int ret = keep_capabilities(keep);

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		ret = ret ?: -errno;
	return ret;
}

/* ------------------------------------------------------------ privileges */

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

/* ----------------------------------------------------------------- files */

static struct {
	gid_t groups[NGROUPS_MAX];
	int n;
	bool is_user;
} before;

void as_user_begin(uid_t uid, gid_t gid)
{
	before.is_user = uid != (uid_t)-1 && !geteuid();
	if (!before.is_user)
		return;
	before.n = getgroups(NGROUPS_MAX, before.groups);
	/*
	 * root's groups are replaced together with root; if that is impossible, the user can do less, not
	 * more
	 */
	if (before.n >= 0 && setgroups(1, &gid))
		before.n = -1;
	setfsgid(gid);
	/* this also removes root's capabilities for files */
	setfsuid(uid);
}

void as_user_end(void)
{
	int code = errno;

	if (before.is_user) {
		setfsuid(0);
		setfsgid(getegid());
		if (before.n >= 0 && setgroups((size_t)before.n, before.groups))
			before.n = -1;
	}
	before.is_user = false;
	errno = code;
}

void as_user_change(uid_t uid, gid_t gid)
{
	bool is_user = uid != (uid_t)-1;

	if (geteuid())
		return;
	/* setgroups() of the C library waits for other threads */
	syscall(SYS_setgroups, is_user ? 1 : 0, &gid);
	setfsgid(is_user ? gid : getegid());
	setfsuid(is_user ? uid : 0);
}

static void directory_of(const char *path, char *dir)
{
	const char *slash;
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	slash = memrchr(path, '/', length);
	if (!slash)
		snprintf(dir, PATH_MAX, ".");
	else
		snprintf(dir, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

static bool is_writable_by_root_only(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && !st.st_uid && !(st.st_mode & 022);
}

static int open_without_links(const char *dir)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};

	return (int)syscall(SYS_openat2, AT_FDCWD, dir, &how, sizeof(how));
}

/* Return: whether no other user can have put anything at this place, or on the way to it. */
static bool is_roots(const char *dir)
{
	int fd = open_without_links(dir);
	bool is = fd >= 0 && is_writable_by_root_only(fd);

	if (fd >= 0)
		close(fd);
	return is;
}

bool as_user_is_roots(int dir, const char *path)
{
	int fd = open_without_links(path);
	struct stat ours, there;
	bool is = fd >= 0 && is_writable_by_root_only(fd) && !fstat(fd, &there) && !fstat(dir, &ours) &&
		  ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;

	if (fd >= 0)
		close(fd);
	return is;
}

/* Return: whether the present user for files may create files there: AT_EACCESS is about this user. */
static bool may_create_in(int at, const char *dir)
{
	return !faccessat(at, dir, W_OK | X_OK, AT_EACCESS) || (errno != EACCES && errno != EPERM);
}

bool as_user_begin_at(uid_t uid, gid_t gid, const char *path)
{
	char dir[PATH_MAX];

	as_user_begin(uid, gid);
	if (!before.is_user)
		return false;
	directory_of(path, dir);
	if (may_create_in(AT_FDCWD, dir))
		return true;
	as_user_end();
	if (is_roots(dir))
		return false;
	as_user_begin(uid, gid);
	return true;
}

bool as_user_begin_in(uid_t uid, gid_t gid, int dir)
{
	as_user_begin(uid, gid);
	if (!before.is_user)
		return false;
	if (may_create_in(dir, ".") || !is_writable_by_root_only(dir))
		return true;
	as_user_end();
	return false;
}
