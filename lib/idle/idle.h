/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The idle times of devices, and their causes. A device is a ring of DRM jobs, or a CUDA GPU
 * in a process. A gap is a time in which none of its work ran; it ends when the next work
 * begins. A gap is divided by time: first the activity of the thread that submitted the next
 * work, up to the submit (submitters.h), then the places where the work waited until it
 * began. Busy and idle time of a device add up to the whole time, and the
 * parts add up to the idle time, to the nanosecond.
 *
 * Work comes roughly in order of time: up to 4096 jobs of a ring and 32768 records of
 * a CUDA GPU are held for sorting. Memory is that of submitters.h, of cuda/launches.h, and 160 bytes
 * for each row.
 *
 * A caller that needs single parts instead of sums sets a callback, or requests that parts are kept
 * and reads the parts of an interval.
 */
#ifndef GRT_IDLE_IDLE_H
#define GRT_IDLE_IDLE_H

#include <grtrace/grtrace.h>
#include <grtrace/jobs.h>
#include <grtrace/launches.h>

#include "stack/frames.h"
#include "table/table.h"
#include "trace/names.h"

/* Most devices; work of further devices is counted. */
#define GRT_IDLE_DEVICES_MAX 4096U
/* Most rows; parts without a row are added to the row of their cause without a place. */
#define GRT_IDLE_ROWS_MAX 65536U

/** enum grt_idle_cause - causes; rows of idle_causes.def */
enum grt_idle_cause {
#define GRT_IDLE_CAUSE(NAME, name, colour, phrase, help) GRT_IDLE_##NAME,
#include "idle_causes.def"
	GRT_IDLE_CAUSES,
};

/** grt_idleness_cause_name - the name of a cause, in one word */
const char *grt_idleness_cause_name(unsigned int cause);

/**
 * struct grt_idleness_device - a device
 * @number: number of the device, from 0, in order of first work
 * @cuda: it is a CUDA GPU
 * @ring, @card, @engine: of a ring
 * @of, @image, @gpu: of a CUDA GPU, as in struct grt_device; @pid: its process, or the last of several
 * processes
 * @processes: number of processes; @uuid: "": unknown; set by grt_idleness_end()
 * @name: for people; set by grt_idleness_end()
 * @work: number of jobs, or of kernels and copies; @untimed: those without known times
 * @sampled: sampled jobs: the idle time is unknown
 * @first, @last: the time span, ns; @left_out: the part that was not recorded, see stack/estimates.h
 * @busy: ns in which some of its work ran; @inferred: it depends on inferred time stamps
 * @least: @busy is a lower bound; set by grt_idleness_end()
 * @cause: the remaining ns by cause
 * @ends: where the stacks of its work end, by grt_idleness_end()
 */
struct grt_idleness_device {
	uint32_t number;
	bool cuda;
	uint8_t engine;
	uint32_t ring;
	uint32_t card;
	uint32_t image;
	uint32_t gpu;
	uint32_t of;
	uint32_t pid;
	uint32_t processes;
	const char *uuid;
	char name[160];
	uint64_t work;
	uint64_t untimed;
	uint64_t sampled;
	uint64_t first;
	uint64_t last;
	uint64_t left_out;
	uint64_t busy;
	bool inferred;
	bool least;
	uint64_t cause[GRT_IDLE_CAUSES];
	struct grt_stack_ends ends;
};

/** grt_idleness_ns - the idle time of a device */
uint64_t grt_idleness_ns(const struct grt_idleness_device *d);

/**
 * struct grt_idleness_row - idle time of a device for one reason at one place
 * @number: number of the row, for struct grt_idleness_part
 * @inferred: the cause was inferred from a stack or from the first run of a kernel
 * @pid, @process: the submitter
 * @waker, @waker_pid, @waker_comm: the thread that ended the submitter's sleeps; 0: none, several, or
 *	unknown
 * @call: name of the driver's call; NULL: none
 * @place: the line in the user's own code, see stack/own_code.h; NULL: unknown
 * @since: the line of the submitter's previous call, if it is another line: no stack has the code between the
 *	two; NULL: unknown, or the same
 * @function: function of @place; NULL: unknown
 * @stack: the complete stack, outermost frame first; NULL: unknown
 * @set_up: GRT_IDLE_SET_UP: the kind of set-up
 * @parts: number of parts of gaps; @ns, @max: their sum and maximum
 * Texts are untrusted, and exist after grt_idleness_end().
 */
struct grt_idleness_row {
	uint32_t number;
	uint32_t device;
	uint8_t cause;
	bool inferred;
	uint32_t pid;
	uint32_t waker;
	uint32_t waker_pid;
	char waker_comm[17];
	const char *call;
	char *place;
	char *since;
	char *function;
	char *stack;
	const char *set_up;
	char *process;
	uint64_t parts;
	uint64_t ns;
	uint64_t max;
};

/**
 * struct grt_idleness_part - a part of a gap
 * @row: its row, for grt_idleness_row(), whose sums and texts are known after grt_idleness_end()
 */
struct grt_idleness_part {
	uint64_t from;
	uint64_t to;
	uint32_t device;
	uint32_t row;
};

/**
 * struct grt_idleness_options - requests in addition to sums
 * @part: gets each part, the parts of a device in order of time; a result other than 0 ends the run. May be
 * NULL
 */
struct grt_idleness_options {
	int (*part)(void *arg, const struct grt_idleness_part *p);
	void *arg;
};

/**
 * struct grt_idleness_count - counts of missing data
 * @late: work that came too late to be sorted: a gap may be too long
 * @unplaced: parts in the row of their cause without a place: there were too many rows
 * @over: work of devices beyond GRT_IDLE_DEVICES_MAX
 * @not_followed: ns of gaps in which the submitter's thread was not traced
 * @threads_over: records of threads beyond GRT_SUBMITTERS_MAX
 * @chosen: CUDA processes, and sources of jobs, that were recorded in random windows only
 * @ends_over: work whose stacks had no room, and which @ends of its device does not include
 */
struct grt_idleness_count {
	uint64_t late;
	uint64_t unplaced;
	uint64_t over;
	uint64_t not_followed;
	uint64_t threads_over;
	uint64_t chosen;
	uint64_t ends_over;
};

struct grt_idleness;

/**
 * struct grt_idleness_sink - callbacks that get the parts from the analysis of reports; results
 * other than 0 end the run
 * @part: as in struct grt_idleness_options
 * @end: devices and rows are known
 */
struct grt_idleness_sink {
	int (*part)(void *arg, const struct grt_idleness_part *p);
	int (*end)(void *arg, const struct grt_idleness *x);
	void *arg;
};

/**
 * grt_idleness_new - begins
 * @launches: the joiner of CUDA's launches, which lives as long as @out; its sink and that of
 *	grt_launches_outside() call grt_idleness_work(). It gets definitions of process images before
 *	grt_idleness_event(), and launches and GPU work after it
 * @options: copied; NULL: only sums
 * Return: 0 or -ENOMEM
 */
int grt_idleness_new(struct grt_idleness **out, struct grt_launches *launches,
		     const struct grt_idleness_options *options);

/** grt_idleness_within - sets the time span before the first event, ns. grt_idleness_end() may shorten it */
void grt_idleness_within(struct grt_idleness *x, uint64_t first, uint64_t last);

/**
 * grt_idleness_event - processes an event; uses the classes job, call, thread, stack, image, launch and name
 * Return: 0, -ENOMEM, or the result of @part
 */
int grt_idleness_event(struct grt_idleness *x, const struct grt_event *e);

/** grt_idleness_work - see struct grt_launches_sink. Return: as grt_idleness_event() */
int grt_idleness_work(struct grt_idleness *x, const struct grt_event *e, const struct grt_image *image,
		      const struct grt_launch *launch, enum grt_launched_how how);

/** grt_idleness_job - processes a retired job. Return: as grt_idleness_event() */
int grt_idleness_job(struct grt_idleness *x, const struct grt_job *job);

/** grt_idleness_read - ends the events, before grt_launches_flush(). Return: as grt_idleness_event() */
int grt_idleness_read(struct grt_idleness *x);

/** grt_idleness_lacks - before grt_idleness_end(): events that may have shown a device busy are not in the
 * trace */
void grt_idleness_lacks(struct grt_idleness *x);

/**
 * grt_idleness_end - completes sums, names and rows after grt_launches_flush(). Call it once
 * @names: names of rings, processes and threads
 * @last: end of the time span
 * Return: as grt_idleness_event()
 */
int grt_idleness_end(struct grt_idleness *x, const struct grt_names *names, uint64_t last);

/** grt_idleness_device, grt_idleness_row - by their numbers; NULL after the last */
const struct grt_idleness_device *grt_idleness_device(const struct grt_idleness *x, uint32_t number);
const struct grt_idleness_row *grt_idleness_row(const struct grt_idleness *x, uint32_t number);

/**
 * grt_idleness_rows - the rows, sorted by device and time
 * @out: gets an array, which is valid as long as @x. Rows with the same cause, place and waker are merged
 * Return: their number
 */
uint32_t grt_idleness_rows(const struct grt_idleness *x, const struct grt_idleness_row *const **out);

/**
 * grt_idleness_sentence - the most important facts about a device: its busy time, and the main causes of its
 * idle time
 * Return: a text for free(), one line; NULL: no memory. Text in it is untrusted
 */
char *grt_idleness_sentence(const struct grt_idleness *x, const struct grt_idleness_device *d);

/** grt_idleness_count - counts of missing data; complete after grt_idleness_end() */
struct grt_idleness_count grt_idleness_count(const struct grt_idleness *x);

/** grt_idleness_free - frees it; NULL is allowed */
void grt_idleness_free(struct grt_idleness *x);

#endif /* GRT_IDLE_IDLE_H */
