// SPDX-License-Identifier: GPL-2.0
/*
 * Libraries are found by name, in the dynamic linker's cache and directories, and are not loaded.
 */
#include "library.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The header that ldconfig writes; an older format for old linkers may come before it. All offsets are
 * relative to this header.
 */
struct cache_header {
	char magic[20];
	uint32_t count;
	uint32_t strings;
	uint32_t unused[5];
};

struct cache_entry {
	int32_t flags;
	uint32_t name;
	uint32_t path;
	uint32_t os;
	uint64_t hwcap;
};

static const char cache_magic[] = "glibc-ld.so.cache1.1";

/* A text in the cache; NULL: it does not end within the cache. */
static const char *cache_text(const char *cache, size_t size, uint32_t at)
{
	return at < size && memchr(cache + at, '\0', size - at) ? cache + at : NULL;
}

static bool library_fits(const char *soname, const char *name)
{
	size_t length = strlen(soname);

	if (length && soname[length - 1] == '.')
		return !strncmp(name, soname, length);
	return !strcmp(name, soname);
}

/* The cache also has libraries of other architectures, so the file is checked. */
static bool scan_cache(const char *cache, size_t size, const char *soname, char path[PROBE_PATH])
{
	const struct cache_header *h = (const struct cache_header *)cache;
	const struct cache_entry *e = (const struct cache_entry *)(h + 1);
	const char *name, *where;
	uint32_t i;

	if (size < sizeof(*h) || h->count > (size - sizeof(*h)) / sizeof(*e))
		return false;
	for (i = 0; i < h->count; i++) {
		name = cache_text(cache, size, e[i].name);
		where = name && library_fits(soname, name) ? cache_text(cache, size, e[i].path) : NULL;
		if (where && !access(probe_path(path, "%s", where), F_OK))
			return true;
	}
	return false;
}

static bool in_cache(const char *soname, char path[PROBE_PATH])
{
	int fd = open(probe_path(path, "/etc/ld.so.cache"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	const char *start;
	void *map = MAP_FAILED;
	bool found = false;
	struct stat st;
	size_t size = 0;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0) {
		size = (size_t)st.st_size;
		map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return false;
	start = memmem(map, size, cache_magic, sizeof(cache_magic) - 1);
	if (start && !((uintptr_t)start & 7))
		found = scan_cache(start, size - (size_t)(start - (const char *)map), soname, path);
	munmap(map, size);
	return found;
}

static bool in_directory(const char *dir, size_t length, const char *soname, char path[PROBE_PATH])
{
	DIR *d = length ? opendir(probe_path(path, "%.*s", (int)length, dir)) : NULL;
	struct dirent *e;
	bool found = false;

	while (d && !found && (e = readdir(d))) {
		found = library_fits(soname, e->d_name);
		if (found)
			probe_path(path, "%.*s/%s", (int)length, dir, e->d_name);
	}
	if (d)
		closedir(d);
	return found;
}

bool library_find(const char *soname, const char *const *more, char path[PROBE_PATH])
{
	static const char *const usual[] = {"/lib/x86_64-linux-gnu",
					    "/usr/lib/x86_64-linux-gnu",
					    "/lib/aarch64-linux-gnu",
					    "/usr/lib/aarch64-linux-gnu",
					    "/lib64",
					    "/usr/lib64",
					    "/lib",
					    "/usr/lib",
					    NULL};
	const char *p = getenv("LD_LIBRARY_PATH"), *const * dir;

	for (; p && *p; p += strcspn(p, ":"), p += *p == ':')
		if (in_directory(p, strcspn(p, ":"), soname, path))
			return true;
	if (in_cache(soname, path))
		return true;
	for (dir = usual; *dir; dir++)
		if (in_directory(*dir, strlen(*dir), soname, path))
			return true;
	for (dir = more; dir && *dir; dir++)
		if (in_directory(*dir, strlen(*dir), soname, path))
			return true;
	return false;
}
