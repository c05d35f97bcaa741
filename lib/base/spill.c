// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "spill.h"

#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "containers.h"
#include "tempfile.h"

/* Where a file system writes changed blocks to new places, a full disk could not take changes of the map. */
static void spill_stay_in_place(int fd)
{
	int flags;

	if (!ioctl(fd, FS_IOC_GETFLAGS, &flags)) {
		flags |= FS_NOCOW_FL;
		ioctl(fd, FS_IOC_SETFLAGS, &flags);
	}
}

/* Moves the bytes in memory to the file. Return: false: they stay in memory, and so do all that come */
static bool spill_store(struct grt_spill *s)
{
	ssize_t n;

	if (!s->fd) {
		s->fd = grt_tempfile_open() + 1;
		if (s->fd)
			spill_stay_in_place(s->fd - 1);
	}
	for (size_t done = 0; s->fd && done < s->used; done += (size_t)n) {
		n = pwrite(s->fd - 1, s->at + done, s->used - done, (off_t)(s->stored + done));
		if (n <= 0)
			return false;
	}
	if (!s->fd)
		return false;
	s->stored += s->used;
	s->used = 0;
	return true;
}

int grt_spill_more(struct grt_spill *s, size_t size)
{
	if (s->used + size > GRT_SPILL_BYTES && !s->stuck)
		s->stuck = !spill_store(s);
	return grt_grow(&s->at, &s->room, s->used + size, 4096);
}

/* Reads the file into memory, before the bytes that are there. Return: 0 or a negative errno */
static int spill_read_back(struct grt_spill *s)
{
	size_t all = (size_t)s->stored + s->used;
	char *at = malloc(all);
	ssize_t n;

	if (!at)
		return -ENOMEM;
	for (size_t done = 0; done < s->stored; done += (size_t)n) {
		n = pread(s->fd - 1, at + done, (size_t)s->stored - done, (off_t)done);
		if (n <= 0) {
			free(at);
			return n ? -errno : -EIO;
		}
	}
	if (s->used)
		memcpy(at + s->stored, s->at, s->used);
	free(s->at);
	s->at = at;
	s->used = s->room = all;
	s->stored = 0;
	return 0;
}

static int spill_map(struct grt_spill *s)
{
	void *map;

	if (!spill_store(s))
		return -EIO;
	map = mmap(NULL, (size_t)s->stored, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd - 1, 0);
	if (map == MAP_FAILED)
		return -errno;
	s->map = map;
	free(s->at);
	s->at = NULL;
	s->room = 0;
	return 0;
}

int grt_spill_use(struct grt_spill *s, void *out)
{
	int ret = !s->stored || s->map ? 0 : s->stuck || spill_map(s) ? spill_read_back(s) : 0;

	memcpy(out, s->map ? &s->map : &s->at, sizeof(s->at));
	return ret;
}

void grt_spill_leave(const struct grt_spill *s)
{
	/* they are in the file */
	if (s->map)
		madvise(s->map, (size_t)s->stored, MADV_DONTNEED);
}

void grt_spill_free(struct grt_spill *s)
{
	if (s->map)
		munmap(s->map, (size_t)s->stored);
	if (s->fd)
		close(s->fd - 1);
	free(s->at);
	*s = (struct grt_spill){.at = NULL};
}
