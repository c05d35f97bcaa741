/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Functions from text files: perf-PID.map, written by programs that generate code at run time
 * (tools/perf/Documentation/jit-interface.txt, Linux 6.1), and /proc/kallsyms. Both are untrusted.
 */
#ifndef GRT_STACK_TEXT_MAP_H
#define GRT_STACK_TEXT_MAP_H

#include "functions.h"

/**
 * grt_perf_map_parse - parses lines of START SIZE NAME, with hexadecimal numbers
 * @errors: incremented for each line of another form
 * Return: 0 or -ENOMEM
 */
int grt_perf_map_parse(struct grt_functions *out, const char *text, size_t length, uint64_t *errors);

/**
 * grt_perf_map_read - the same from a file, part by part, because its owner may write to it and truncate it
 * meanwhile
 * @size: number of bytes to read; later text is not read
 * Return: 0, -ENOMEM or the -errno of reading
 */
int grt_perf_map_read(struct grt_functions *out, int fd, uint64_t size, uint64_t *errors);

/** grt_kallsyms_parse - parses lines of ADDRESS TYPE NAME [MODULE]; address 0 means that the kernel hides it.
 * Return: as above */
int grt_kallsyms_parse(struct grt_functions *out, const char *text, size_t length, uint64_t *errors);

#endif /* GRT_STACK_TEXT_MAP_H */
