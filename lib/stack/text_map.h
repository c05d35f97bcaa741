/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Functions that text files report: perf-PID.map, as programs that make code at
 * run time write it (tools/perf/Documentation/jit-interface.txt, Linux 6.1), and
 * /proc/kallsyms. Neither is trusted.
 */
#ifndef GRT_STACK_TEXT_MAP_H
#define GRT_STACK_TEXT_MAP_H

#include "functions.h"

/**
 * grt_perf_map_parse - lines of START SIZE NAME, numbers hexadecimal
 * @errors: gets the lines added that are not of this form
 * Return: 0 or -ENOMEM
 */
int grt_perf_map_parse(struct grt_functions *out, const char *text, size_t length, uint64_t *errors);

/**
 * grt_perf_map_read - the same from a file, of which a part is in memory: its owner may write it and cut
 * it off
 * @size: bytes that are read; what is added meanwhile is not
 * Return: 0, -ENOMEM or the -errno of reading
 */
int grt_perf_map_read(struct grt_functions *out, int fd, uint64_t size, uint64_t *errors);

/** grt_kallsyms_parse - lines of ADDRESS TYPE NAME [MODULE]; those at 0 are hidden. Return: as above */
int grt_kallsyms_parse(struct grt_functions *out, const char *text, size_t length, uint64_t *errors);

#endif /* GRT_STACK_TEXT_MAP_H */
