/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Types and functions that the files of the analysis idle.h share.
 */
#ifndef GRT_IDLE_IDLE_PARTS_H
#define GRT_IDLE_IDLE_PARTS_H

#include "cuda/launches.h"
#include "idle.h"
#include "stack/frames.h"
#include "stack/image_frames.h"
#include "submitters.h"

/**
 * struct idle_work - a job, a kernel or a copy
 * @asked: when its submitter requested it, @handed: when it was passed to the device; with @known
 * @began: start of its process, 0: not in the trace
 * @stack: id of the stack that submitted it, or node of @image; 0: none
 * @image: number of its process image plus 1, 0: it is a job
 * @name: name of its thread
 * @kernel: the string of the kernel's name plus 1, 0: it is no kernel
 * @unsure: it ran at an unknown time between @from and @to; UINT64_MAX: unknown
 * @inferred: one of its time stamps is inferred
 * @fresh: the first kernel of its name of its process on the device; set when it is taken
 * @interpreted: its stack has frames of an interpreter, which the stacks of its thread's sleeps lack
 */
struct idle_work {
	uint64_t from;
	uint64_t to;
	uint64_t asked;
	uint64_t handed;
	uint64_t began;
	uint32_t pid;
	uint32_t tid;
	uint32_t stack;
	uint32_t image;
	uint32_t name;
	uint32_t kernel;
	bool known;
	bool unsure;
	bool inferred;
	bool fresh;
	bool interpreted;
};

/* Elements that are found without a search, a power of two. */
#define IDLE_NEAR 512U

/**
 * struct idle_device - a device
 * @line: work that waits for earlier work, if it came in order: @lined elements from @line_first on, in a
 *	ring buffer whose length @line_room is a power of two
 * @heap: the rest of the waiting work
 * @reached: the causes of all time up to here are known; @taken: begin of the last work that was taken
 * @unsure: up to here, a job with unknown times existed; @endless: and its end is unknown
 * @any: there was work
 * @worked: sum of the last works with one stack, @worked_key, which is not in struct grt_idleness.worked yet
 * @worked_near: for grt_keyed_near(), by stack
 * @open: the last part, which may continue
 */
struct idle_device {
	struct grt_idleness_device device;
	struct idle_work *line;
	uint32_t line_first, lined, line_room;
	struct idle_work *heap;
	uint32_t used, room;
	uint64_t reached;
	uint64_t taken;
	uint64_t unsure;
	bool endless;
	bool any;
	uint64_t worked_key;
	struct grt_stack_end_sum worked;
	uint32_t worked_near[IDLE_NEAR];
	struct grt_idleness_part open;
};

/**
 * struct idle_row - a row; @as: the one that it is shown as
 * @call, @stack, @slept, @since, @image, @name: what its texts are made of
 */
struct idle_row {
	struct grt_idleness_row row;
	uint32_t as;
	uint32_t call;
	uint32_t stack;
	uint32_t slept;
	uint32_t since;
	uint32_t image;
	uint32_t name;
};

/** struct idle_at - what a part is; @stack: of the work; @slept: that the submitter slept in, of FRAME
 * records; @since: of the call that had returned before */
struct idle_at {
	struct idle_device *device;
	const struct idle_work *work;
	enum grt_idle_cause cause;
	uint32_t call;
	uint32_t stack;
	uint32_t waker;
	uint32_t waker_pid;
	uint32_t slept;
	uint32_t since;
};

/** struct idle_call - an ioctl that a thread is in; @user: stack id of the stack that entered it, 0: none */
struct idle_call {
	uint64_t begin;
	uint32_t user;
};

/** struct idle_image - @nodes: that were looked at; @interpreted: one of them is of an interpreter */
struct idle_image {
	uint32_t nodes;
	bool interpreted;
};

/* Devices that are found without a search. */
#define IDLE_RECENT 16U

/** struct idle_recent - @device: of the last work with this number; NULL: none */
struct idle_recent {
	struct idle_device *device;
	uint32_t image;
	uint32_t number;
};

/** struct idle_seen - @kernel: a name, see struct idle_work, that the device has already run; 0: none */
struct idle_seen {
	const struct idle_device *device;
	uint32_t image;
	uint32_t kernel;
};

struct grt_idleness {
	struct grt_idleness_options options;
	uint64_t first, last;
	bool lacks; /* see grt_idleness_lacks() */
	struct grt_windows windows;
	struct grt_submitters submitters;
	struct grt_threads *threads;
	struct grt_launches *launches;
	struct grt_frames frames;
	struct grt_image_frames *image_frames;
	struct grt_keyed devices; /* numbers of @device by image and number */
	struct idle_device **device;
	uint32_t device_room;
	struct idle_recent recent[IDLE_RECENT]; /* by number */
	struct grt_keyed by_key;		/* numbers of @row */
	uint32_t row_near[IDLE_NEAR];		/* for grt_keyed_near(), by stack */
	struct idle_row **row;
	uint32_t rows, row_room;
	struct grt_keyed stacks;    /* of jobs in flight, by (ctx, seqno) */
	struct grt_keyed inside;    /* struct idle_call by thread */
	struct grt_keyed processes; /* when they began */
	struct grt_keyed wakers;    /* their names */
	struct grt_keyed kernels;   /* by device, process image and name */
	struct idle_seen seen[IDLE_NEAR];
	struct grt_keyed worked; /* struct grt_stack_end_sum by device, image and stack */
	struct idle_image *image;
	uint32_t images;
	const struct grt_idleness_row **listed;
	uint32_t listed_rows;
	size_t text;
	struct grt_idleness_count count;
};

/** idle_name_all - the texts of devices and rows, and the list of rows. Return: 0 or -ENOMEM */
int idle_name_all(struct grt_idleness *x, const struct grt_names *names);

#endif /* GRT_IDLE_IDLE_PARTS_H */
