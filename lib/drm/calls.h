/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * System calls on GPU device files, by process: their numbers, failures, the
 * duration of ioctls, and open files. Only calls in the trace count: a file that was
 * opened earlier, or inherited, has no OPEN.
 */
#ifndef GRT_DRM_CALLS_H
#define GRT_DRM_CALLS_H

#include <grtrace/grtrace.h>

#include "base/hist.h"
#include "stack/estimates.h"

/* Most processes with a row. */
#define GRT_CALLS_PROCESSES_MAX 4096U
/* Most open files; beyond that, the oldest is dropped and counted. */
#define GRT_CALLS_FILES_MAX 65536U
/* Most threads inside an ioctl; beyond that, the oldest is dropped. */
#define GRT_CALLS_INSIDE_MAX 16384U

/**
 * struct grt_call_process - one process
 * @tid: a thread of it, for its name
 * @opens, @open_errors: OPEN events, and failed ones
 * @open: files opened in the trace and not closed
 * @ioctls: ioctls with an entry, or with an exit whose entry is not in the trace; @ioctl_errors: failed
 *	ioctls
 * @timed, @ioctl_ns: ioctls with entry and exit, and their time
 * @windows: with random windows, the counts by window; @total: the estimate for the whole time, from
 *	grt_calls_estimate()
 */
struct grt_call_process {
	uint32_t pid;
	uint32_t tid;
	uint64_t opens;
	uint64_t open_errors;
	uint64_t closes;
	uint64_t open;
	uint64_t ioctls;
	uint64_t ioctl_errors;
	uint64_t timed;
	uint64_t ioctl_ns;
	uint64_t mmaps;
	uint64_t polls;
	struct grt_estimate_sums windows;
	struct grt_estimate total;
};

/**
 * struct grt_calls_count - sums of all processes
 * @forgotten: dropped open files
 * @half: ioctls whose entry or exit is not in the trace, including ioctls that have not returned yet
 * @over: events of processes beyond GRT_CALLS_PROCESSES_MAX
 */
struct grt_calls_count {
	uint64_t calls;
	uint64_t ioctls;
	uint64_t forgotten;
	uint64_t half;
	uint64_t over;
};

/** struct grt_call_end - the entry of the ioctl that an IOCTL_EXIT ends; @known: it is in the trace */
struct grt_call_end {
	bool known;
	int32_t fd;
	uint64_t ns;
};

struct grt_calls;

/** grt_calls_new - begins. Return: 0 or -ENOMEM */
int grt_calls_new(struct grt_calls **out);

/**
 * grt_calls_event - processes an event; uses OPEN, CLOSE, MMAP, POLL, IOCTL_*, WINDOW
 * @end: gets the entry of the ioctl that ended; may be NULL
 * Return: 0 or -ENOMEM
 */
int grt_calls_event(struct grt_calls *c, const struct grt_event *e, struct grt_call_end *end);

/** grt_calls_count - the sums so far */
struct grt_calls_count grt_calls_count(const struct grt_calls *c);

/**
 * grt_calls_processes - the processes, those with the most calls first
 * @out: gets an array that the caller frees; @n gets its length
 * Return: 0 or -ENOMEM
 */
int grt_calls_processes(const struct grt_calls *c, const struct grt_call_process ***out, uint32_t *n);

/** grt_calls_free - frees it; NULL is allowed */
void grt_calls_free(struct grt_calls *c);

#endif /* GRT_DRM_CALLS_H */
