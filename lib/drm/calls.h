/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * System calls on GPU device files, by process: how many, which failed, how
 * long ioctls took, and which files are open. Only what is in the trace
 * counts: a file opened before it, or inherited, is known by no OPEN.
 */
#ifndef GRT_DRM_CALLS_H
#define GRT_DRM_CALLS_H

#include <grtrace/grtrace.h>

#include "base/hist.h"
#include "stack/estimates.h"

/* Processes that are distinguished. */
#define GRT_CALLS_PROCESSES_MAX 4096U
/* Open files; of more, the oldest is counted and forgotten. */
#define GRT_CALLS_FILES_MAX 65536U
/* Threads inside an ioctl; of more, the oldest is forgotten. */
#define GRT_CALLS_INSIDE_MAX 16384U

/**
 * struct grt_call_process - one process
 * @tid: a thread of it, for its name
 * @opens, @open_errors: OPEN, of these that failed
 * @open: files opened in the trace and not closed
 * @ioctls: entered, or left where the entry is not in the trace; @ioctl_errors: left with an error
 * @timed, @ioctl_ns: those that were entered and left, their time
 * @windows: of a trace of windows at random, what was entered in which; @total: what that says of all of the
 *time, by grt_calls_estimate()
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
 * struct grt_calls_count - of all processes together
 * @forgotten: open files that had to give way
 * @half: ioctls whose entry or exit is not in the trace; so far: those that have not returned, too
 * @over: events of processes beyond GRT_CALLS_PROCESSES_MAX
 */
struct grt_calls_count {
	uint64_t calls;
	uint64_t ioctls;
	uint64_t forgotten;
	uint64_t half;
	uint64_t over;
};

/** struct grt_call_end - of the ioctl that an IOCTL_EXIT ends; @known: its entry is in the trace */
struct grt_call_end {
	bool known;
	int32_t fd;
	uint64_t ns;
};

struct grt_calls;

/** grt_calls_new - begins. Return: 0 or -ENOMEM */
int grt_calls_new(struct grt_calls **out);

/**
 * grt_calls_event - takes in an event; of use are OPEN, CLOSE, MMAP, POLL, IOCTL_*, WINDOW
 * @end: gets what is known of the ioctl that ended; may be NULL
 * Return: 0 or -ENOMEM
 */
int grt_calls_event(struct grt_calls *c, const struct grt_event *e, struct grt_call_end *end);

/** grt_calls_estimate - of all processes, by the windows within [@from, @to], which *@out reports */
void grt_calls_estimate(struct grt_calls *c, uint64_t from, uint64_t to, struct grt_estimate_watched *out);

/** grt_calls_count - what was met so far */
struct grt_calls_count grt_calls_count(const struct grt_calls *c);

/** grt_calls_ioctl_time - of all ioctls that were entered and left, ns */
const struct grt_hist *grt_calls_ioctl_time(const struct grt_calls *c);

/**
 * grt_calls_processes - the processes, those with the most calls first
 * @out: gets an array that the caller frees; @n gets its length
 * Return: 0 or -ENOMEM
 */
int grt_calls_processes(const struct grt_calls *c, const struct grt_call_process ***out, uint32_t *n);

/** grt_calls_free - frees it; NULL is allowed */
void grt_calls_free(struct grt_calls *c);

#endif /* GRT_DRM_CALLS_H */
