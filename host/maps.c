// SPDX-License-Identifier: GPL-2.0
/* Reads the lines described in maps.h, see proc(5); other lines are skipped. */
#include "maps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/containers.h"

/* The kernel shows at most a page of text at each read(2). */
#define MAPS_PART 4096U

#define NAME_BYTES 32

static const char *maps_name(char *name, pid_t pid)
{
	snprintf(name, NAME_BYTES, "/proc/%d/maps", (int)pid);
	return name;
}

FILE *maps_open(pid_t pid)
{
	char name[NAME_BYTES];

	return fopen(maps_name(name, pid), "re");
}

/* Return: whether the kernel has told all of it */
static bool maps_read_all(int fd, char **text, size_t *length)
{
	size_t room = 0;
	ssize_t n;
	char c;

	do {
		if (grt_grow(text, &room, *length + MAPS_PART, MAPS_PART))
			return false;
		n = read(fd, *text + *length, MAPS_PART);
		*length += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	/* a process that has ended has none, from the beginning on */
	return !n && pread(fd, &c, 1, 0) == 1;
}

bool maps_copy(struct maps *m, pid_t pid)
{
	char name[NAME_BYTES];
	int fd = open(maps_name(name, pid), O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	bool whole;

	*m = (struct maps){.from = NULL};
	if (fd < 0)
		return false;
	whole = maps_read_all(fd, &m->copy, &length);
	close(fd);
	m->from = length ? fmemopen(m->copy, length, "r") : NULL;
	return whole && m->from;
}

static bool maps_take_line(struct maps_row *row, const char *line)
{
	unsigned long long start, end, offset, inode;
	unsigned int major, minor;
	char perms[8];
	int path = 0;

	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %n", &start, &end, perms, &offset, &major, &minor,
		   &inode, &path) < 7)
		return false;
	*row = (struct maps_row){start, end,   offset,		major,
				 minor, inode, perms[2] == 'x', path ? line + path : ""};
	return true;
}

bool maps_next(struct maps *m, struct maps_row *row)
{
	bool found = false;

	while (m->from && !found && getline(&m->line, &m->room, m->from) > 0) {
		m->line[strcspn(m->line, "\n")] = '\0';
		found = maps_take_line(row, m->line);
	}
	return found;
}

void maps_again(struct maps *m)
{
	if (m->from)
		rewind(m->from);
}

void maps_close(struct maps *m)
{
	if (m->from)
		fclose(m->from);
	free(m->line);
	free(m->copy);
	*m = (struct maps){.from = NULL};
}

/* Bytes for a link that leads to the file itself. */
#define LINK_BYTES 96

static void maps_link(char *path, pid_t pid, uint64_t start, uint64_t end)
{
	snprintf(path, LINK_BYTES, "/proc/%d/map_files/%llx-%llx", (int)pid, (unsigned long long)start,
		 (unsigned long long)end);
}

int maps_stat(pid_t pid, const struct maps_row *row, struct stat *st)
{
	char path[LINK_BYTES];

	maps_link(path, pid, row->start, row->end);
	return stat(path, st) ? -errno : 0;
}

/* The name leads to the file only if no other file or link has taken its place. */
static int maps_file_by_name(pid_t pid, const struct maps_row *row, int flags)
{
	char path[PATH_MAX + 32];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, row->path);
	fd = open(path, flags | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_ino == row->inode && st.st_dev == makedev(row->major, row->minor))
		return fd;
	close(fd);
	return -ENODEV;
}

int maps_file(pid_t pid, uint64_t start, uint64_t end, const struct maps_row *same)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	char path[LINK_BYTES];
	struct stat st;
	int fd, ret;

	maps_link(path, pid, start, end);
	/* opening a device may have side effects */
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return -ENODEV;
	fd = open(path, flags);
	if (fd >= 0)
		return fd;
	ret = -errno;
	return ret == -EPERM && same ? maps_file_by_name(pid, same, flags) : ret;
}
