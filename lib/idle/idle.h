/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * When devices were idle, and why. A device is a ring of DRM jobs, or a GPU of CUDA's
 * in a process. A gap is a time in which none of its work ran; it ends with the work
 * that begins behind it, and is divided by time: what the thread that submitted that
 * work did until it submitted it (submitters.h), and then where the work was until it
 * began. Busy and idle time of a device add up to the time that is looked at, and the
 * parts to the idle time, to the nanosecond.
 *
 * Work comes in about the order of time: up to 4096 jobs of a ring and 32768 records of
 * a GPU of CUDA's wait for earlier ones. Memory is that of submitters.h, of cuda/launches.h, and 160 bytes
 * for each row.
 *
 * Who wants each part, and not sums alone, has a sink; or lets parts be kept and asks
 * for those of an interval.
 */
#ifndef GRT_IDLE_IDLE_H
#define GRT_IDLE_IDLE_H

#include <grtrace/grtrace.h>
#include <grtrace/jobs.h>

#include "stack/stack_ends.h"
#include "table/table.h"
#include "trace/names.h"

/* Devices; work of further ones is counted. */
#define GRT_IDLE_DEVICES_MAX 4096U
/* Rows; parts that would be in further ones go to the row of their cause without its place. */
#define GRT_IDLE_ROWS_MAX 65536U

/** enum grt_idle_cause - why; rows of idle_causes.def */
enum grt_idle_cause {
#define GRT_IDLE_CAUSE(NAME, name, colour, phrase, help) GRT_IDLE_##NAME,
#include "idle_causes.def"
	GRT_IDLE_CAUSES,
};

/** grt_idleness_cause_name - in a word */
const char *grt_idleness_cause_name(unsigned int cause);

/**
 * struct grt_idleness_device - a device
 * @number: of it, from 0, in the order of their first work
 * @cuda: it is a GPU of CUDA's
 * @ring, @card, @engine: of a ring
 * @of, @image, @gpu: of a GPU of CUDA's, as in struct grt_device; @pid: of its process, of several the last
 * one
 * @processes: how many; @uuid: "": unknown; by grt_idleness_end()
 * @name: for people; by grt_idleness_end()
 * @work: jobs, or kernels and copies; @untimed: of these, those of which it is unknown when they ran
 * @sampled: jobs that stand for more than themselves: what is idle is unknown
 * @first, @last: the time that is looked at, ns; @left_out: of it, not recorded, see stack/windows.h
 * @busy: ns in which some of its work ran; @inferred: it rests on stamps that were not observed
 * @cause: the other ns by cause
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
	uint64_t cause[GRT_IDLE_CAUSES];
	struct grt_stack_ends ends;
};

/** grt_idleness_ns - how long it was idle */
uint64_t grt_idleness_ns(const struct grt_idleness_device *d);

/**
 * struct grt_idleness_row - idle time of a device for one reason at one place
 * @number: of it, for struct grt_idleness_part
 * @inferred: the cause follows from a stack or from the first run of a kernel, and was not observed
 * @pid, @process: of the submitter
 * @waker, @waker_pid, @waker_comm: who ended the submitter's sleeps; 0: nobody, several, or it
 *	is unknown
 * @call: name of the driver's call; NULL: none
 * @place: where in the user's own code, see stack/own_code.h; NULL: unknown
 * @since: where in it the submitter's call before was made, if that is another place: what it did between the
 *	two is not in a stack; NULL: unknown, or the same
 * @function: of that place; NULL: unknown
 * @stack: the whole stack, outermost frame first; NULL: unknown
 * @set_up: GRT_IDLE_SET_UP: what it is
 * @parts: how many such parts gaps have; @ns, @max: of these
 * Texts are untrusted, and there after grt_idleness_end().
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
 * struct grt_idleness_options - what is wanted beside sums
 * @part: gets each part, those of a device in the order of time; a result other than 0 ends the run. May be
 * NULL
 * @keep: so many parts of all devices are kept for grt_idleness_between()
 */
struct grt_idleness_options {
	int (*part)(void *arg, const struct grt_idleness_part *p);
	void *arg;
	uint32_t keep;
};

/**
 * struct grt_idleness_count - what is left open
 * @late: work that came after later work had been taken: a gap may be too long
 * @unplaced: parts in the row of their cause alone: there were too many rows
 * @over: work of devices beyond GRT_IDLE_DEVICES_MAX
 * @unkept: parts that @keep had no room for
 * @not_followed: ns of gaps in which a submitter was that nobody followed
 * @threads_over: records of threads beyond GRT_SUBMITTERS_MAX
 * @chosen: CUDA processes that were watched in windows at random places only
 * @ends_over: work of stacks for which there was no room, and which is not in @ends of its device
 */
struct grt_idleness_count {
	uint64_t late;
	uint64_t unplaced;
	uint64_t over;
	uint64_t unkept;
	uint64_t not_followed;
	uint64_t threads_over;
	uint64_t chosen;
	uint64_t ends_over;
};

struct grt_idleness;

/**
 * struct grt_idleness_sink - what the analysis of reports hands its parts to, beside its tables; results
 * other than 0 end the run
 * @part: as of struct grt_idleness_options
 * @end: devices and rows are known
 */
struct grt_idleness_sink {
	int (*part)(void *arg, const struct grt_idleness_part *p);
	int (*end)(void *arg, const struct grt_idleness *x);
	void *arg;
};

/** grt_idleness_new - begins; @options is copied, NULL: only sums are wanted. Return: 0 or -ENOMEM */
int grt_idleness_new(struct grt_idleness **out, const struct grt_idleness_options *options);

/** grt_idleness_within - before the first event: what counts, ns. grt_idleness_end() may shorten it */
void grt_idleness_within(struct grt_idleness *x, uint64_t first, uint64_t last);

/**
 * grt_idleness_event - takes in an event; of use are classes job, call, thread, stack, image, launch and name
 * Return: 0, -ENOMEM, or what @part returned
 */
int grt_idleness_event(struct grt_idleness *x, const struct grt_event *e);

/** grt_idleness_job - takes in a job that is retired. Return: as above */
int grt_idleness_job(struct grt_idleness *x, const struct grt_job *job);

/**
 * grt_idleness_end - the trace is over: sums, names and rows are whole. Once
 * @names: of rings, processes and threads
 * @last: end of the time that is looked at
 * Return: as above
 */
int grt_idleness_end(struct grt_idleness *x, const struct grt_names *names, uint64_t last);

/** grt_idleness_device, grt_idleness_row - by their numbers; NULL behind the last */
const struct grt_idleness_device *grt_idleness_device(const struct grt_idleness *x, uint32_t number);
const struct grt_idleness_row *grt_idleness_row(const struct grt_idleness *x, uint32_t number);

/**
 * grt_idleness_rows - rows in the order of devices, and of their time
 * @out: gets an array, which lives as long as @x. Rows of one cause, place and waker are one in it
 * Return: how many
 */
uint32_t grt_idleness_rows(const struct grt_idleness *x, const struct grt_idleness_row *const **out);

/** grt_idleness_find - the device of a ring (@image 0), or of a GPU in an image plus 1; NULL: it had no work
 */
const struct grt_idleness_device *grt_idleness_find(const struct grt_idleness *x, uint32_t image,
						    uint32_t number);

/**
 * grt_idleness_between - why a device was idle in an interval: parts that were kept, cut to it, in their
 * order
 * @put: a result other than 0 ends it
 * Return: 0, or what @put returned
 */
int grt_idleness_between(const struct grt_idleness *x, uint32_t device, uint64_t from, uint64_t to,
			 int (*put)(void *arg, const struct grt_idleness_part *p), void *arg);

/**
 * grt_idleness_sentence - what a person should know first of a device: how long it was busy, and what most of
 *the other time passed in Return: a text for free(), one line; NULL: no memory. Text in it is untrusted
 */
char *grt_idleness_sentence(const struct grt_idleness *x, const struct grt_idleness_device *d);

/** grt_idleness_count - what is left open; complete after grt_idleness_end() */
struct grt_idleness_count grt_idleness_count(const struct grt_idleness *x);

/** grt_idleness_free - frees it; NULL is allowed */
void grt_idleness_free(struct grt_idleness *x);

/* Rows are struct grt_idleness_device and struct grt_idleness_row, the view is the struct grt_idleness. */
extern const struct grt_table grt_idleness_device_table;
extern const struct grt_table grt_idleness_table;

#endif /* GRT_IDLE_IDLE_H */
