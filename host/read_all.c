// SPDX-License-Identifier: GPL-2.0
/* Reads files as read_all.h says. */
#include "read_all.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers.h"

/* Enough for most of these files. */
#define FIRST 4096U

char *read_all(int fd, size_t max, size_t *used)
{
	char *text = NULL;
	size_t room = 0;
	ssize_t n = 0;
	int code = 0;

	*used = 0;
	do {
		*used += (size_t)n;
		if (*used > max)
			code = EFBIG;
		else if (grt_grow(&text, &room, *used + 2, FIRST))
			code = ENOMEM;
		else if ((n = read(fd, text + *used, room - *used - 1)) < 0)
			code = errno;
	} while (!code && n);
	if (!code) {
		text[*used] = '\0';
		return text;
	}
	free(text);
	errno = code;
	return NULL;
}

void read_line(const char *path, char *line, size_t room)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(line, (int)room, f))
		line[0] = '\0';
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = '\0';
}

void read_comm(pid_t pid, char *comm, size_t room)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	read_line(path, comm, room);
}

void read_status(pid_t pid, const char *key, char *value, size_t room)
{
	char path[64], line[256];
	size_t length = strlen(key);
	bool found = false;
	FILE *f;

	value[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		found = !strncmp(line, key, length) && line[length] == ':';
		if (found)
			snprintf(value, room, "%.*s", (int)strcspn(line + length + 2, "\n"),
				 line + length + 2);
	}
	if (f)
		fclose(f);
}
