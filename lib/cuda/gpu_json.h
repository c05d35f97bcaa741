/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Traces of CUDA as JSON (Chrome's Trace Event Format) with the categories of
 * PyTorch's profiler (Kineto), also what other tools write in that way or from the
 * text of CUPTI's records: calls, kernels, copies and fills become the records of
 * cupti_text.h. gzip is read where
 * the program was built with zlib.
 */
#ifndef GRT_CUDA_GPU_JSON_H
#define GRT_CUDA_GPU_JSON_H

#include "cupti_records.h"

/* Most bytes of a name; the rest is cut. */
#define GRT_GPU_JSON_NAME_MAX 65536U

/** grt_gpu_json_takes - whether a file begins like JSON, or like gzip */
bool grt_gpu_json_takes(const char *head, size_t len);

/**
 * grt_gpu_json_read - hands out a trace's records in its order
 * @count: `lines` are the trace's events, `other` those of other categories; `first_bad` is the number of an
 * event
 * @record: a result other than 0 ends the reading
 * Return: 0, also for one that is cut behind an event; what @record returned, -ENOMEM, -EPROTO: it is no
 * JSON or ends before any event (what precedes was handed out), -ENOSYS: gzip, without zlib; or another
 * negative errno
 */
int grt_gpu_json_read(int fd, struct grt_cupti_count *count,
		      int (*record)(void *arg, const struct grt_cupti_record *r), void *arg);

/** grt_gpu_json_read_all - the same, with ranges and the names of processes */
int grt_gpu_json_read_all(int fd, struct grt_cupti_count *count,
			  int (*record)(void *arg, const struct grt_cupti_record *r), void *arg);

#endif /* GRT_CUDA_GPU_JSON_H */
