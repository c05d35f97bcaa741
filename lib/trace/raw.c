// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A file of packets of any CPUs, one after the other, without metadata. It is only read: an incomplete last
 * packet stays as it is.
 */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static bool raw_takes(const struct stat *st, const char *head, size_t len)
{
	return S_ISREG(st->st_mode) && !grt_head_is_text(head, len);
}

static int raw_open(struct grt_session *s, int fd, struct grt_err *err)
{
	struct stat st;
	struct grt_walk w;
	int own;

	if (!fstat(fd, &st) && st.st_size == 0)
		return grt_err_set(err, -ENODATA, "nothing was ever written to it",
				   "grtrace record -- PROGRAM, or the path of another file",
				   "%s: the file is empty", s->path);
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0)
		return grt_err_set(err, -errno, strerror(errno), NULL, "%s: cannot open", s->path);
	return grt_session_add_file(s, own, s->path, &w, err);
}

const struct grt_reader grt_reader_raw = {
	.name = "raw",
	.takes = raw_takes,
	.open = raw_open,
};
