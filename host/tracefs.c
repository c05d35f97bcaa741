// SPDX-License-Identifier: GPL-2.0
/*
 * Finds tracefs. If it is not mounted, a detached mount is made that no other process sees and that ends
 * with the descriptor.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "tracefs.h"

static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

static int open_mounted(void)
{
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < sizeof(places) / sizeof(places[0]); i++) {
		fd = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && faccessat(fd, "events", R_OK, AT_EACCESS)) {
			close(fd);
			fd = -1;
		}
	}
	return fd;
}

static int open_detached(void)
{
	int fs = fsopen("tracefs", FSOPEN_CLOEXEC), fd = -1, code;

	if (fs >= 0 && !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		fd = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	code = errno;
	if (fs >= 0)
		close(fs);
	errno = code;
	return fd;
}

int tracefs_open(struct grt_err *err)
{
	int fd = open_mounted();

	if (fd < 0)
		fd = open_detached();
	if (fd >= 0)
		return fd;
	if (errno == EPERM || errno == EACCES)
		return grt_err_set(err, -EACCES, "only root may use it", "the same command with sudo",
				   "cannot open tracefs");
	return grt_err_set(err, -ENOENT, strerror(errno), "sudo mount -t tracefs tracefs /sys/kernel/tracing",
			   "cannot open tracefs");
}

static bool has_event(int events, const char *group, const char *event)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", group, event);
	return faccessat(events, path, F_OK, AT_EACCESS) == 0;
}

bool tracefs_find(int tracefs, const char *group, const char *event, char *found, size_t room)
{
	int events = openat(tracefs, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = events >= 0 ? fdopendir(events) : NULL;
	bool here = false;
	struct dirent *e;

	if (dir && group)
		here = has_event(events, group, event);
	while (dir && !group && !here && (e = readdir(dir))) {
		here = e->d_name[0] != '.' && has_event(events, e->d_name, event);
		if (here && found)
			snprintf(found, room, "%s", e->d_name);
	}
	if (dir)
		closedir(dir);
	else if (events >= 0)
		close(events);
	return here;
}

int tracefs_event_id(int tracefs, const char *group, const char *event)
{
	char path[256], text[32] = "";
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "events/%s/%s/id", group, event);
	fd = openat(tracefs, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 ? atoi(text) : -EIO;
}

char *tracefs_format(int tracefs, const char *group, const char *event)
{
	const size_t room = 65536;
	char path[256], *text;
	size_t n = 0;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "events/%s/%s/format", group, event);
	fd = openat(tracefs, path, O_RDONLY | O_CLOEXEC);
	text = fd >= 0 ? malloc(room) : NULL;
	while (text && n < room - 1 && (got = read(fd, text + n, room - 1 - n)) > 0)
		n += (size_t)got;
	if (fd >= 0)
		close(fd);
	if (text)
		text[n] = '\0';
	return text;
}

/* The last word of a declaration, without the brackets after it. */
static bool declares(const char *decl, size_t length, const char *name)
{
	size_t want = strlen(name);
	const char *bracket = memchr(decl, '[', length);

	/* "char name[16]", but "char[] name", in which the brackets belong to the type */
	if (bracket && !memchr(bracket, ' ', length - (size_t)(bracket - decl)))
		length = (size_t)(bracket - decl);
	return length > want && !memcmp(decl + length - want, name, want) &&
	       strchr(" *", decl[length - want - 1]);
}

bool tracefs_field(const char *format, const char *name, struct tracefs_field *field)
{
	const char *line = format, *decl, *end;

	while (line && (line = strstr(line, "\tfield:"))) {
		decl = line + strlen("\tfield:");
		end = strchr(decl, ';');
		line = end;
		if (!end || !declares(decl, (size_t)(end - decl), name))
			continue;
		field->in_record = !strncmp(decl, "__data_loc", 10);
		return sscanf(end, ";\toffset:%u;\tsize:%u;", &field->offset, &field->size) == 2;
	}
	return false;
}
