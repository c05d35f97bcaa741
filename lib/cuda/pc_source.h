/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Source files with the PC samples of their lines: the lines that have some, and those around them. A file is
 * read where it has the name of a source, is a regular one, and is not larger than GRT_PC_SOURCE_BYTES: names
 * come from the trace.
 */
#ifndef GRT_CUDA_PC_SOURCE_H
#define GRT_CUDA_PC_SOURCE_H

#include "pc_samples.h"

#define GRT_PC_SOURCE_BYTES (4U << 20)
/* Characters of a bar, and bytes of a line. */
#define GRT_PC_SOURCE_BAR 20U
#define GRT_PC_SOURCE_LINE 160U

/**
 * struct grt_pc_source - a line; @file: the name without its directory
 * @reason: that most samples of it have, NULL: it has none
 * @bar: its samples beside those of the line with most of them
 */
struct grt_pc_source {
	const char *file;
	const char *path;
	uint32_t line;
	const char *reason;
	uint64_t samples;
	char bar[GRT_PC_SOURCE_BAR + 1];
	char text[GRT_PC_SOURCE_LINE];
};

/**
 * struct grt_pc_sources - @row: by file, the one with most samples first, and line
 * @missing: files that are not read, @first: one of them; @samples: of lines that are not shown
 * @changed: a file that was written after the recording, or is too short, NULL: none
 */
struct grt_pc_sources {
	struct grt_pc_source **row;
	uint32_t rows;
	uint32_t room;
	uint32_t missing;
	const char *first;
	uint64_t samples;
	const char *changed;
};

/** grt_pc_sources_read - of samples that are finished; @last: when the recording ended, 0: unknown. Return: 0
 * or -ENOMEM */
int grt_pc_sources_read(struct grt_pc_sources *s, const struct grt_pc_samples *p, uint64_t last);

/** grt_pc_sources_free - frees and empties it */
void grt_pc_sources_free(struct grt_pc_sources *s);

#endif /* GRT_CUDA_PC_SOURCE_H */
