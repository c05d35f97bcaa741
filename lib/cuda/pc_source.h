/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Lists lines of source files with their PC samples: the lines that have samples, and the lines around them.
 * Names of files come from the trace and are not trusted: a file is read only if its name is that of a source
 * file, and if it is a regular file of at most GRT_PC_SOURCE_BYTES.
 */
#ifndef GRT_CUDA_PC_SOURCE_H
#define GRT_CUDA_PC_SOURCE_H

#include "pc_samples.h"

#define GRT_PC_SOURCE_BYTES (4U << 20)
/* Longest bar in characters, and bytes of a line that are kept. */
#define GRT_PC_SOURCE_BAR 20U
#define GRT_PC_SOURCE_LINE 160U

/**
 * struct grt_pc_source - a line of a source file
 * @file: name of the file without its directory; @path: with it
 * @line: number of the line
 * @reason: stall reason of most of its samples, NULL: it has no samples
 * @samples: number of its samples
 * @bar: a bar for its samples, relative to the line with the most samples
 * @text: the line
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
 * struct grt_pc_sources - lines of source files
 * @row, @rows, @room: the lines; files with more samples come first, lines of a file are in order
 * @missing: number of files that could not be read; @first: the first of them, NULL: none
 * @samples: samples of lines that are not shown
 * @changed: a file that was written after the recording or has too few lines, NULL: none
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

/**
 * grt_pc_sources_read - reads the source files of samples; @p: samples that are complete
 * @last: end of the recording, ns, 0: unknown. Return: 0 or -ENOMEM
 */
int grt_pc_sources_read(struct grt_pc_sources *s, const struct grt_pc_samples *p, uint64_t last);

/** grt_pc_sources_free - frees all that @s owns, and makes it empty */
void grt_pc_sources_free(struct grt_pc_sources *s);

#endif /* GRT_CUDA_PC_SOURCE_H */
