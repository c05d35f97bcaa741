/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Checks whether a descriptor is still ours. A program may close descriptors that it did not open
 * (daemon(), closefrom()) and get the same number for a file of its own, which we must not
 * write, lock or close.
 */
#ifndef GRT_INJECT_OWNED_H
#define GRT_INJECT_OWNED_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/** struct owned - the file of one of our descriptors; @inode 0: none */
struct owned {
	dev_t device;
	ino_t inode;
};

/** owned_note - the file of a descriptor that was just opened */
static inline struct owned owned_note(int fd)
{
	struct stat st;

	if (fd < 0 || syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH))
		return (struct owned){0};
	return (struct owned){st.st_dev, st.st_ino};
}

/** owned_is - whether the descriptor still has this file */
static inline bool owned_is(int fd, const struct owned *o)
{
	int saved = errno;
	struct owned now = owned_note(fd);

	errno = saved;
	return now.inode && now.inode == o->inode && now.device == o->device;
}

/** owned_close - closes the descriptor if it still has this file */
static inline void owned_close(int fd, const struct owned *o)
{
	if (owned_is(fd, o))
		close(fd);
}

#endif /* GRT_INJECT_OWNED_H */
