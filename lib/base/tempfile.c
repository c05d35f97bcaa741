// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *grt_tempfile_dir(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

int grt_tempfile_open(void)
{
	char path[4096];
	/* without a name from the start, if the file system supports that */
	int fd = open(grt_tempfile_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);

	if (fd >= 0)
		return fd;
	if (snprintf(path, sizeof(path), "%s/grtrace.XXXXXX", grt_tempfile_dir()) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}
