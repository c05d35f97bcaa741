/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Arrays that grow at their end while a trace is read, and are used as a whole after that. What is beyond
 * GRT_SPILL_BYTES of memory goes into a file without a name (tempfile.h), which is mapped for use: then the
 * kernel decides what of it is in memory. Where the file cannot be made or written, all is in memory.
 */
#ifndef GRT_BASE_SPILL_H
#define GRT_BASE_SPILL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GRT_SPILL_BYTES (8U << 20)

/**
 * struct grt_spill - zeroed at first, freed by grt_spill_free(); private
 * @at: bytes that are not in the file, @used of them; NULL, if the file is mapped
 * @stored: bytes in the file, before those
 * @fd: the file, plus 1; 0: there is none
 * @stuck: it cannot be made or written
 * @map: the file; NULL: it is not mapped
 */
struct grt_spill {
	char *at;
	size_t used;
	size_t room;
	uint64_t stored;
	char *map;
	int fd;
	bool stuck;
};

/** grt_spill_more - what grt_spill_add() calls where there is no room. Return: 0 or -ENOMEM */
int grt_spill_more(struct grt_spill *s, size_t size);

/** grt_spill_add - adds @size bytes at the end, before grt_spill_use(). Return: 0 or -ENOMEM */
static inline int grt_spill_add(struct grt_spill *s, const void *bytes, size_t size)
{
	if (__builtin_expect(s->used + size > s->room, 0) && grt_spill_more(s, size))
		return -ENOMEM;
	memcpy(s->at + s->used, bytes, size);
	s->used += size;
	return 0;
}

/**
 * grt_spill_use - all bytes, which may be changed there; nothing can be added any more
 * @out: NULL if there are none
 * Return: 0 or a negative errno
 */
int grt_spill_use(struct grt_spill *s, void *out);

/**
 * grt_spill_leave - for those who have gone through a part of the array that is as large as GRT_SPILL_BYTES:
 * what is mapped needs not stay in this process
 */
void grt_spill_leave(const struct grt_spill *s);

void grt_spill_free(struct grt_spill *s);

#endif /* GRT_BASE_SPILL_H */
