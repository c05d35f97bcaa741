// SPDX-License-Identifier: GPL-2.0
/* Reads the links of links.h. */
#include "links.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool link_end(const char *path, char *name, size_t room)
{
	char target[PATH_MAX], *slash;
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n <= 0)
		return false;
	target[n] = '\0';
	slash = strrchr(target, '/');
	snprintf(name, room, "%s", slash ? slash + 1 : target);
	return true;
}

bool link_program_dir(char *dir)
{
	ssize_t n = readlink("/proc/self/exe", dir, PATH_MAX - 1);
	char *slash;

	if (n <= 0)
		return false;
	dir[n] = '\0';
	slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
	return slash;
}
