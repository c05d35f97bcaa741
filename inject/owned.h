/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Whether a descriptor is still ours: a program may close what it does not know
 * (daemon(), closefrom()) and get the number for a file of its own, which must not be
 * written, locked or closed.
 */
#ifndef GRT_INJECT_OWNED_H
#define GRT_INJECT_OWNED_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/** struct owned - which file a descriptor of ours is of; @inode 0: none was noted */
struct owned {
	dev_t device;
	ino_t inode;
};

/** owned_note - the descriptor was just opened */
static inline struct owned owned_note(int fd)
{
	struct stat st;

	if (fd < 0 || syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH))
		return (struct owned){0};
	return (struct owned){st.st_dev, st.st_ino};
}

/** owned_is - whether it is still the same file */
static inline bool owned_is(int fd, const struct owned *o)
{
	int saved = errno;
	struct owned now = owned_note(fd);

	errno = saved;
	return now.inode && now.inode == o->inode && now.device == o->device;
}

/** owned_close - where it is */
static inline void owned_close(int fd, const struct owned *o)
{
	if (owned_is(fd, o))
		close(fd);
}

#endif /* GRT_INJECT_OWNED_H */
