/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes the unwind table of an object file: rows (unwind_rows.h) sorted by the
 * file's addresses. The file is anybody's, so this runs in a process apart.
 */
#ifndef GRTRACE_UNWIND_BUILD_H
#define GRTRACE_UNWIND_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "unwind_rows.h"

#define UNWIND_SEGMENTS 8U
#define UNWIND_ROWS_MAX (SHARD_ROWS * SHARDS_MAX)
/* The most long rules of one file. */
#define UNWIND_LONGS_MAX 4096U

/** struct unwind_segment - @size bytes of code at @offset of the file have these addresses */
struct unwind_segment {
	uint64_t offset;
	uint64_t address;
	uint64_t size;
};

/**
 * struct unwind_table - of a file; it need not be sound where the builder was not
 * @ret: 0 when it is complete, or -errno
 * @dropped: rules that there was no room for, or that cannot be followed
 * @python: CPython that the file is; addresses are the file's
 */
struct unwind_table {
	int32_t ret;
	uint32_t rows;
	uint32_t longs;
	uint32_t segments;
	uint64_t dropped;
	struct unwind_python python;
	struct unwind_segment segment[UNWIND_SEGMENTS];
	struct unwind_long rule[UNWIND_LONGS_MAX];
	uint64_t row[UNWIND_ROWS_MAX];
};

/** unwind_build - @file: its @size bytes; @t is 0 at first */
void unwind_build(struct unwind_table *t, const void *file, size_t size);

#endif /* GRTRACE_UNWIND_BUILD_H */
