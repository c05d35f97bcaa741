/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef GRT_TRACE_UNPACK_TRACECMD_H
#define GRT_TRACE_UNPACK_TRACECMD_H

#include <grtrace/grtrace.h>

/**
 * grt_tracecmd_unpack - writes the events of a trace.dat as text
 * @fd: the trace.dat, a regular file
 * @out: descriptor for the text
 * Return: 0 or a negative errno; -ENOSYS: the library of trace-cmd is missing
 */
int grt_tracecmd_unpack(int fd, const char *path, int out, struct grt_err *err);

#endif /* GRT_TRACE_UNPACK_TRACECMD_H */
