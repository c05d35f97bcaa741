/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Files of other tools with CUDA calls and GPU work, as a stream: calls, kernels, copies, fills, waits and
 * ranges become the records that the injected library writes, so that every command reads them. The readers
 * of such files return struct grt_cupti_record and know nothing of events.
 *
 * A file is read twice: first for its time span and its processes, then for its records, which are sorted by
 * time.
 */
#ifndef GRT_TEXT_CUDA_FILE_H
#define GRT_TEXT_CUDA_FILE_H

#include "cuda/cupti_records.h"
#include "trace/session.h"

/**
 * struct grt_cuda_file_kind - a kind of file
 * @form: name of the kind in reports
 * @one_process: all records of a file belong to one process: that of its first call or, without calls, the
 *	first one with a name; otherwise, and if calls of several processes are found and all work has the pid
 *	of one of these, each record has its pid
 * @shows_calls: the function of a launch is a frame of its own, even if no other frame contains it
 * @nests: a launch is in the operators, functions and ranges that contain it on its thread
 * @read: passes all records to @record, from the beginning. Return: 0, a negative errno, or the result of
 *@record
 * @judge: judges the first reading, which returned @code; -ENODATA: the file has no call and no work. Return:
 * 0: the file will be read, or @code with @err filled in
 * @free: frees the reader
 */
struct grt_cuda_file_kind {
	const char *form;
	bool one_process;
	bool nests;
	bool shows_calls;
	int (*read)(void *reader, struct grt_cupti_count *count,
		    int (*record)(void *arg, const struct grt_cupti_record *r), void *arg);
	int (*judge)(void *reader, const char *path, const struct grt_cupti_count *count, int code,
		     struct grt_err *err);
	void (*free)(void *reader);
};

/**
 * grt_cuda_file_open - reads a file for the first time, and adds a stream of its records
 * @reader: the reader of @kind; the stream owns it, even if the function fails
 * Return: 0 or a negative errno
 */
int grt_cuda_file_open(struct grt_session *s, const struct grt_cuda_file_kind *kind, void *reader,
		       struct grt_err *err);

#endif /* GRT_TEXT_CUDA_FILE_H */
