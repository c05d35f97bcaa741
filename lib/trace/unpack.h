/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Inputs that are compressed by gzip (RFC 1952) or zstd (RFC 8878), and recordings of trace-cmd. They are
 * converted into an unnamed temporary file, because text is read more than once, and then read like any other
 * input.
 */
#ifndef GRT_TRACE_UNPACK_H
#define GRT_TRACE_UNPACK_H

#include <stdbool.h>

#include <grtrace/grtrace.h>

/** struct grt_packed - an input; @head, @head_len: its first bytes, which were already read from a pipe
 */
struct grt_packed {
	int fd;
	const char *path;
	const char *head;
	size_t head_len;
	bool is_pipe;
};

/**
 * grt_unpack - decompresses an input that begins like a compressed file
 * @fd: gets a temporary file with the contents, positioned at its begin, which the caller closes, see
 *	base/tempfile.h; -1: the input is not compressed
 * Return: 0 or a negative errno; -ENOSYS: this program was built without the needed library
 */
int grt_unpack(const struct grt_packed *p, int *fd, struct grt_err *err);

#endif /* GRT_TRACE_UNPACK_H */
