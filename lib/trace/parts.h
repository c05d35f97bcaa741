/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The bytes of a file of packets, which may lie in several files, one behind the other, as those of a
 * recording's segments do. Each of these may be packed (packed.h): then a position is one in
 * what was packed.
 */
#ifndef GRT_TRACE_PARTS_H
#define GRT_TRACE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** struct grt_packed_place - a packet of a packed file: @at in what was packed, @file in the file; bytes of
 * both */
struct grt_packed_place {
	uint64_t at;
	uint64_t file;
	uint32_t bytes;
	uint32_t packed;
};

/**
 * struct grt_file_part - one of the files
 * @start, @size: where it lies in the whole, bytes
 * @begin: of a plain one, where in the file
 * @place, @places: the packets of a packed one, which has @tail bytes behind the last whole one
 */
struct grt_file_part {
	int fd;
	uint64_t start;
	uint64_t size;
	uint64_t begin;
	struct grt_packed_place *place;
	uint32_t places;
	uint64_t tail;
	bool is_packed;
};

/** struct grt_parts - all of them, @n, with @size bytes */
struct grt_parts {
	struct grt_file_part *part;
	unsigned int n;
	uint64_t size;
};

/**
 * struct grt_parts_cursor - what one reader has unpacked: packet @place of @part, NULL: none; in @buf, of
 * @room
 */
struct grt_parts_cursor {
	const struct grt_file_part *part;
	uint32_t place;
	char *buf;
	size_t room;
};

/** grt_parts_new - without files; NULL without memory */
struct grt_parts *grt_parts_new(void);

/** grt_parts_add - adds a file, whose @fd becomes theirs also when this fails. Return: 0 or -errno */
int grt_parts_add(struct grt_parts *p, int fd);

/** grt_parts_read - as pread(2); it may read less than there is. Return: bytes, 0: the end, or -errno */
ssize_t grt_parts_read(const struct grt_parts *p, struct grt_parts_cursor *c, void *buf, size_t len,
		       uint64_t at);

/** grt_parts_cursor_free, grt_parts_free - free what they hold; NULL is nothing */
void grt_parts_cursor_free(struct grt_parts_cursor *c);
void grt_parts_free(struct grt_parts *p);

#endif /* GRT_TRACE_PARTS_H */
