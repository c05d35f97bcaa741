/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Inputs that are packed by gzip (RFC 1952) or zstd (RFC 8878), or are recordings of trace-cmd: they are
 * unpacked into a file without a name, since text is read more than once, and read from there as any other.
 */
#ifndef GRT_TRACE_UNPACK_H
#define GRT_TRACE_UNPACK_H

#include <stdbool.h>

#include <grtrace/grtrace.h>

/** struct grt_packed - an input; @head, @head_len: what it begins with, and of a pipe what was read already
 */
struct grt_packed {
	int fd;
	const char *path;
	const char *head;
	size_t head_len;
	bool is_pipe;
};

/**
 * grt_unpack - unpacks an input that begins like one that is packed
 * @fd: gets a file of the caller's with what was in it, at its begin, see base/tempfile.h;
 *	-1: it is not packed
 * Return: 0 or a negative errno; with -ENOSYS this program was built without what unpacks it
 */
int grt_unpack(const struct grt_packed *p, int *fd, struct grt_err *err);

#endif /* GRT_TRACE_UNPACK_H */
