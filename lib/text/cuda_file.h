/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Files of other tools with CUDA's calls and the GPU's work, as a stream: calls,
 * kernels, copies, fills, waits and ranges become the records that the library in a
 * program writes, so that every command reads them. The readers of such files hand out
 * struct grt_cupti_record and know nothing of events.
 *
 * A file is read twice: for what it spans and which processes are in it, and for its
 * records, which are then brought into the order of time.
 */
#ifndef GRT_TEXT_CUDA_FILE_H
#define GRT_TEXT_CUDA_FILE_H

#include "cuda/cupti_records.h"
#include "trace/session.h"

/**
 * struct grt_cuda_file_kind - a kind of file
 * @form: its name in reports
 * @one_process: all of a file is of one process, that of its first call, else the first one with a name;
 *	otherwise each record has its pid
 * @shows_calls: the function of a launch is a frame of its own, also where nothing is around it
 * @nests: launches are in the operators, functions and ranges that contain them on their thread
 * @read: hands out all records, from the beginning. Return: 0, a negative errno, or what @record returned
 * @judge: of the first reading, which returned @code; -ENODATA: there is no call and no work. Return: 0: the
 *	file is read, or @code with @err filled in
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
 * @reader: becomes the stream's, also when this fails
 * Return: 0 or a negative errno
 */
int grt_cuda_file_open(struct grt_session *s, const struct grt_cuda_file_kind *kind, void *reader,
		       struct grt_err *err);

#endif /* GRT_TEXT_CUDA_FILE_H */
