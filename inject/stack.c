// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Bounds of stacks: the C library knows those of its threads; of any other
 * (an alternate signal stack, a coroutine's) the mapping must do.
 */
#include "stack.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

struct grt_stack grt_stack_of_thread(void)
{
	struct grt_stack s = {0, 0};
	pthread_attr_t attr;
	void *low;
	size_t size;
	int error = errno;

	if (pthread_getattr_np(pthread_self(), &attr))
		return s;
	if (!pthread_attr_getstack(&attr, &low, &size))
		s = (struct grt_stack){(uintptr_t)low, (uintptr_t)low + size};
	pthread_attr_destroy(&attr);
	errno = error;
	return s;
}

/* The next "LOW-HIGH " at the start of a line of /proc/self/maps, over reads of any size. */
struct lines {
	uint64_t value[2];
	unsigned int which; /* 0, 1: the number being read; 2: the rest of the line */
};

static bool feed(struct lines *l, char c)
{
	unsigned int digit = c >= 'a' ? (unsigned int)(c - 'a') + 10 : (unsigned int)(c - '0');

	if (c == '\n') {
		*l = (struct lines){{0, 0}, 0};
		return false;
	}
	if (l->which == 2)
		return false;
	if (digit < 16) {
		l->value[l->which] = l->value[l->which] << 4 | digit;
		return false;
	}
	return ++l->which == 2;
}

static bool scan(struct lines *l, const char *text, ssize_t size, uint64_t address, struct grt_stack *found)
{
	for (ssize_t i = 0; i < size; i++)
		if (feed(l, text[i]) && address >= l->value[0] && address < l->value[1]) {
			*found = (struct grt_stack){l->value[0], l->value[1]};
			return true;
		}
	return false;
}

struct grt_stack grt_stack_mapping(uint64_t address)
{
	struct grt_stack found = {0, 0};
	struct lines l = {{0, 0}, 0};
	int error = errno, fd;
	char text[1024];
	ssize_t size;

	fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		do
			size = read(fd, text, sizeof(text));
		while (size > 0 && !scan(&l, text, size, address, &found));
		close(fd);
	}
	errno = error;
	return found;
}
