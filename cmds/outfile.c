// SPDX-License-Identifier: GPL-2.0
/*
 * Files that are written whole or not at all, see outfile.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outfile.h"

int outfile_failed(const struct outfile *o, int code, struct grt_err *err)
{
	return grt_err_set(err, code, strerror(-code),
			   code == -ENOSPC ? "free space on the disk, or write elsewhere" : NULL,
			   "cannot write to %s", o->path ? o->path : "standard output");
}

static int open_failed(const char *path, int code, struct grt_err *err)
{
	return grt_err_set(err, -code, strerror(code),
			   code == EACCES || code == EROFS ? "a directory that you may write to" : NULL,
			   "cannot create %s", path);
}

int outfile_open(struct outfile *o, const char *path, struct grt_err *err)
{
	struct stat st;

	*o = (struct outfile){.fd = STDOUT_FILENO};
	if (!path || !strcmp(path, "-"))
		return 0;
	o->path = path;
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		o->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return o->fd < 0 ? open_failed(path, errno, err) : 0;
	}
	if ((size_t)snprintf(o->temp, sizeof(o->temp), "%s.XXXXXX", path) >= sizeof(o->temp))
		return open_failed(path, ENAMETOOLONG, err);
	/* made with mode 0600 */
	o->fd = mkostemp(o->temp, O_CLOEXEC);
	if (o->fd >= 0)
		return 0;
	o->temp[0] = '\0';
	return open_failed(path, errno, err);
}

int outfile_now(struct outfile *o, const char *path, struct grt_err *err)
{
	*o = (struct outfile){.fd = STDOUT_FILENO};
	if (!path || !strcmp(path, "-"))
		return 0;
	o->path = path;
	o->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600);
	return o->fd < 0 ? open_failed(path, errno, err) : 0;
}

int outfile_keep(struct outfile *o, struct grt_err *err)
{
	int ret = 0;

	if (!o->path)
		return 0;
	if (close(o->fd))
		ret = -errno;
	o->fd = -1;
	if (!ret && o->temp[0] && rename(o->temp, o->path))
		ret = -errno;
	if (!ret)
		o->temp[0] = '\0';
	if (ret)
		outfile_failed(o, ret, err);
	outfile_drop(o);
	return ret;
}

void outfile_drop(struct outfile *o)
{
	if (o->path && o->fd >= 0)
		close(o->fd);
	if (o->temp[0])
		unlink(o->temp);
	*o = (struct outfile){.fd = -1};
}
