/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Inputs that are compressed by gzip (RFC 1952) or zstd (RFC 8878), and recordings of trace-cmd. They are
 * converted into an unnamed temporary file, because text is read more than once, and then read like any other
 * input.
 */
#ifndef GRT_TRACE_UNPACK_H
#define GRT_TRACE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#include <grtrace/grtrace.h>

/* Recognises files of other tools that cannot be read, for messages. */

/**
 * grt_foreign_refuse - refuses an input that is certainly a file of foreign.def
 * @head: its first bytes
 * Return: 0 if it is not, or -EINVAL with the kind of file and what to type
 */
int grt_foreign_refuse(const char *path, const char *head, size_t len, struct grt_err *err);

/**
 * grt_foreign_text - recognises a text in which no line was understood
 * @what, @fix: get the kind of text and what to type
 * Return: false: unknown
 */
bool grt_foreign_text(const char *head, size_t len, const char **what, const char **fix);

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
