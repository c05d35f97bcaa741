// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Opens files of other users, see debug_file.h. */
#include "debug_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols.h"

static int open_stat(const char *path, int flags, uint64_t max, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags), ret = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, st))
		ret = -errno;
	else if (!S_ISREG(st->st_mode))
		ret = -EINVAL;
	else if ((uint64_t)st->st_size > max)
		ret = -EFBIG;
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

int grt_open_regular(const char *path, uint64_t max)
{
	struct stat st;

	return open_stat(path, 0, max, &st);
}

int grt_open_no_link(const char *path, uint64_t max)
{
	struct stat st;

	return open_stat(path, O_NOFOLLOW, max, &st);
}

/*
 * Files that belong to root and that no other user can write do not change; nearly all libraries are such
 * files.
 */
static bool is_firm(const struct stat *st)
{
	return !st->st_uid && !(st->st_mode & 022);
}

/* Return: 0 or a negative errno */
static int debug_file_copy(int from, int to, uint64_t size)
{
	char part[65536];
	ssize_t n = 1, done;

	for (uint64_t at = 0; at < size && n > 0; at += (uint64_t)n) {
		n = read(from, part, sizeof(part));
		for (done = 0; n > 0 && done < n;) {
			ssize_t put = write(to, part + done, (size_t)(n - done));

			if (put < 0)
				return -errno;
			done += put;
		}
	}
	return n < 0 ? -errno : 0;
}

static int copy_of(int fd, uint64_t size)
{
	int to = memfd_create("grtrace-object", MFD_CLOEXEC),
	    ret = to < 0 ? -errno : debug_file_copy(fd, to, size);

	close(fd);
	if (!ret)
		return to;
	if (to >= 0)
		close(to);
	return ret;
}

int grt_open_firm(const char *path, uint64_t max)
{
	struct stat st;
	int fd = open_stat(path, 0, max, &st);

	if (fd < 0 || is_firm(&st))
		return fd;
	if ((uint64_t)st.st_size <= GRT_SYMBOLS_COPY_MAX)
		return copy_of(fd, (uint64_t)st.st_size);
	/* too large to copy; a file of this user is used as it is */
	if (st.st_uid == geteuid() && st.st_uid && !(st.st_mode & 022))
		return fd;
	close(fd);
	return -EFBIG;
}

#ifdef GRT_HAVE_DW

#include <elfutils/libdwelf.h>
#include <gelf.h>

#define PATH_ROOM 4400U
#define DEBUG_DIR "/usr/lib/debug"

/* The checksum of .gnu_debuglink, the same as zlib's crc32(). */
static uint32_t checksum(int fd)
{
	unsigned char part[65536];
	uint32_t table[256], crc = ~0U;
	off_t at = 0;
	ssize_t n;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320U : 0);
	}
	for (; (n = pread(fd, part, sizeof(part), at)) > 0; at += n)
		for (ssize_t i = 0; i < n; i++)
			crc = table[(crc ^ part[i]) & 0xff] ^ crc >> 8;
	return ~crc;
}

static bool debug_file_has_build_id(int fd, const char *wanted)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	const unsigned char *bits;
	const void *found = NULL;
	ssize_t n = elf ? dwelf_elf_gnu_build_id(elf, &found) : -1;
	bool same = n > 0 && strlen(wanted) == 2 * (size_t)n;
	char text[3];

	bits = found;
	for (ssize_t i = 0; same && i < n; i++) {
		snprintf(text, sizeof(text), "%02x", bits[i]);
		same = !memcmp(text, wanted + 2 * i, 2);
	}
	elf_end(elf);
	return same;
}

static bool is_debug_file(const struct grt_debug_link *l, int fd, bool by_build_id)
{
	if (by_build_id || l->build_id[0])
		return debug_file_has_build_id(fd, l->build_id);
	return !l->crc || checksum(fd) == l->crc;
}

static int try(const struct grt_debug_link *l, bool by_build_id, char **path, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int try(const struct grt_debug_link *l, bool by_build_id, char **path, const char *fmt, ...)
{
	char name[PATH_ROOM];
	va_list ap;
	int n, fd;

	va_start(ap, fmt);
	n = vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	fd = n < (int)sizeof(name) ? grt_open_firm(name, GRT_SYMBOLS_FILE_MAX) : -ENAMETOOLONG;
	if (fd < 0)
		return -ENOENT;
	*path = is_debug_file(l, fd, by_build_id) ? strdup(name) : NULL;
	if (*path)
		return fd;
	close(fd);
	return -ENOENT;
}

static int by_build_id(const struct grt_debug_link *l, const char *dir, char **path)
{
	return strlen(l->build_id) < 3 || !dir
		       ? -ENOENT
		       : try(l, true, path, "%s/.build-id/%.2s/%s.debug", dir, l->build_id, l->build_id + 2);
}

int grt_debug_file(const struct grt_debug_link *l, char **path)
{
	const char *slash = strrchr(l->path, '/');
	int dir = slash ? (int)(slash - l->path) : 0;
	int fd = l->crc || !l->file ? by_build_id(l, DEBUG_DIR, path) : -ENOENT;
	struct grt_debug_link alike = *l;

	if (fd < 0 && (l->crc || !l->file))
		fd = by_build_id(l, l->directory, path);
	if (fd >= 0 || !l->file || !slash)
		return fd;
	/* a file that several objects share has a build id of its own */
	if (!l->crc)
		alike.build_id = "";
	if (l->file[0] == '/')
		return try(&alike, false, path, "%s", l->file);
	fd = try(&alike, false, path, "%.*s/%s", dir, l->path, l->file);
	if (fd < 0)
		fd = try(&alike, false, path, "%.*s/.debug/%s", dir, l->path, l->file);
	if (fd < 0)
		fd = try(&alike, false, path, DEBUG_DIR "%.*s/%s", dir, l->path, l->file);
	if (fd < 0 && l->directory)
		fd = try(&alike, false, path, "%s%.*s/%s", l->directory, dir, l->path, l->file);
	if (fd < 0 && l->directory)
		fd = try(&alike, false, path, "%s/%s", l->directory, l->file);
	return fd;
}

#endif /* GRT_HAVE_DW */
