/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The activity of a ROCm program, its runtime and KFD, from the runtime's log and from
 * functions and events of the kernel: calls, queues, kernels, functions, and the
 * creation of each hardware queue. Records are joined by identity: pid, the log's
 * thread, tid, queue address. Records that are joined only by time are flagged.
 *
 * Memory is bounded: items beyond a limit are counted in struct grt_rocm_count.
 */
#ifndef GRT_ROCM_ROCM_H
#define GRT_ROCM_ROCM_H

#include <grtrace/grtrace.h>

#include "base/containers.h"

/* Names of functions and calls, queues, kernels that are distinguished. */
#define GRT_ROCM_NAMES_MAX 4096U
#define GRT_ROCM_QUEUES_MAX 4096U
#define GRT_ROCM_KERNELS_MAX 8192U
/* Most open calls and functions, and most commands in flight; a further one replaces the oldest. */
#define GRT_ROCM_OPEN_MAX 8192U
#define GRT_ROCM_COMMANDS_MAX 16384U
/* Most creations of queues that are kept with their steps, and most steps of one creation. */
#define GRT_ROCM_CREATIONS_MAX 1024U
#define GRT_ROCM_STEPS_MAX 24U
/* Most nested calls of one name in a thread. */
#define GRT_ROCM_NEST 8U
#define GRT_ROCM_UNKNOWN UINT64_MAX
/* How the stamp of a line of ROCr was made, see log_notes.def. */
#define GRT_ROCM_ROCR 3U

/** enum grt_rocm_step - the purpose of a function of the kernel, see rocm_steps.def */
enum grt_rocm_step {
	GRT_ROCM_OTHER,
	GRT_ROCM_IOCTL_CREATE,
	GRT_ROCM_IOCTL_DESTROY,
	GRT_ROCM_IOCTL,
	GRT_ROCM_IOCTL_ENTRY,
	GRT_ROCM_MEMORY,
	GRT_ROCM_PROCESS,
	GRT_ROCM_QUEUE_CREATE,
	GRT_ROCM_QUEUE_DESTROY,
	GRT_ROCM_UPDATE,
	GRT_ROCM_MQD_ALLOCATE,
	GRT_ROCM_MQD_INIT,
	GRT_ROCM_MQD_LOAD,
	GRT_ROCM_MQD_UPDATE,
	GRT_ROCM_MQD_DESTROY,
	GRT_ROCM_MAP,
	GRT_ROCM_UNMAP,
	GRT_ROCM_SUBMIT,
	GRT_ROCM_KERNEL_QUEUE,
	GRT_ROCM_DOORBELL,
	GRT_ROCM_DOORBELL_SETUP,
	GRT_ROCM_INTERRUPT,
	GRT_ROCM_EVICT,
	GRT_ROCM_RESTORE,
	GRT_ROCM_STEPS,
};

/** grt_rocm_step_name - the name of a step */
const char *grt_rocm_step_name(enum grt_rocm_step step);

/** grt_rocm_step_of - the purpose of a function; @room: bytes of @name, which may have no NUL */
enum grt_rocm_step grt_rocm_step_of(const char *name, size_t room);

/**
 * struct grt_rocm_times - durations
 * @n: number of known durations; @min, @max: the shortest and the longest
 */
struct grt_rocm_times {
	uint64_t n;
	uint64_t sum;
	uint64_t min;
	uint64_t max;
};

/**
 * struct grt_rocm_call - a function of the runtime's interface
 * @calls: entered, or returned from where the entry is not in the log
 * @returned: calls that returned
 * @errors: calls that returned an error
 * @took: of those with both, or by the log's own words
 * @ambiguous: paired by name only, as the log names no thread
 */
struct grt_rocm_call {
	char name[65];
	uint64_t calls;
	uint64_t returned;
	uint64_t errors;
	uint64_t ambiguous;
	struct grt_rocm_times took;
};

/** struct grt_rocm_queue - a hardware queue of a process, known by its address in it */
struct grt_rocm_queue {
	uint32_t pid;
	uint64_t queue;
	uint64_t soft;
	uint64_t size;
	uint64_t made; /* stamp; 0: before the log */
	uint64_t gone;
	uint32_t priority; /* UINT32_MAX: unknown */
	bool cooperative;
	uint64_t dispatches;
	uint64_t barriers;
	uint64_t packets;
	uint64_t depth_max;
	bool depth_known;
	uint32_t users;
};

/**
 * struct grt_rocm_kernel - a kernel of a process
 * @name: its whole name where the log has it, cut to what fits; "" where the log names none
 * @hash: of the whole name, 0: none; then @object
 * @queue: the last one; @queues_vary: there were others. So with the grid
 * @wait: from enqueued to written into the queue; @run: from there to complete; @gpu: on the GPU, by its
 * clock
 */
struct grt_rocm_kernel {
	char name[512];
	uint64_t hash;
	uint64_t object;
	uint32_t pid;
	uint64_t dispatches;
	uint64_t shaders; /* named without a dispatch in the log */
	uint64_t hangs;	  /* times a queue was aborted before it was complete */
	uint64_t queue;
	bool queues_vary;
	bool grids_vary;
	uint32_t grid[3];
	uint32_t group[3];
	struct grt_rocm_times wait;
	struct grt_rocm_times run;
	struct grt_rocm_times gpu;
};

/** struct grt_rocm_func - a function or event of the kernel */
struct grt_rocm_func {
	char name[49];
	enum grt_rocm_step step;
	uint64_t calls;
	uint64_t start_only; /* of these, without a return */
	uint64_t errors;
	uint64_t events; /* hits of events and inner probes */
	struct grt_rocm_times took;
};

/** struct grt_rocm_made_step - a step of a creation. @took: GRT_ROCM_UNKNOWN: start only */
struct grt_rocm_made_step {
	char name[49];
	uint64_t at;
	uint64_t took;
	int64_t ret;
	bool has_ret;
};

/**
 * struct grt_rocm_creation - the creation of a hardware queue, or its failure
 * @begin, @end: of the ioctl, or of what is known of it; @end 0: start only
 * @asked, @told: the runtime's words around it, 0: not found. Joined by the pid and by time, so flagged
 * @queue: the runtime's, 0: unknown
 * @qid, @type, @gpu, @doorbell: GRT_ROCM_UNKNOWN: no probe reported it
 */
struct grt_rocm_creation {
	uint32_t pid;
	uint32_t tid;
	uint64_t begin;
	uint64_t end;
	uint64_t asked;
	uint64_t told;
	uint64_t queue;
	uint64_t qid;
	uint64_t type;
	uint64_t gpu;
	uint64_t doorbell;
	int64_t ret;
	bool has_ret;
	bool open;
	bool by_point; /* from one trace point to another, not a function */
	bool by_ioctl;
	bool no_pid; /* joined by time alone */
	unsigned int steps;
	unsigned int more; /* steps beyond GRT_ROCM_STEPS_MAX */
	struct grt_rocm_made_step step[GRT_ROCM_STEPS_MAX];
};

/** struct grt_rocm_request - a queue that the runtime made: between these stamps */
struct grt_rocm_request {
	uint32_t pid;
	uint64_t asked; /* 0: unknown */
	uint64_t told;
	uint64_t queue;
	bool joined;
};

/**
 * struct grt_rocm_count - counts of records, errors and limits
 * @submits: jobs that the kernel's own drivers submitted (SUBMIT)
 * @over: that were in no table since it was full
 * @faults: of the GPU or a queue; @errors: other records of level 0 or 1
 * @hangs: packets at which a queue was aborted
 * @step: calls of functions by what they are for; @point: hits of trace points, which may stand in those
 *	functions
 * @ioctls: handlers of ioctls, each of which the dispatcher calls
 * @rocr: lines of ROCr: [0] where the one before stands, [1] moved by snapshots of the clocks, [2] by the
 *	order of lines; @rocr_error: ns that one of these may be wrong by at most
 */
struct grt_rocm_count {
	uint64_t log;
	uint64_t funcs;
	uint64_t calls;
	uint64_t dispatches;
	uint64_t barriers;
	uint64_t packets;
	uint64_t copies;
	uint64_t copy_bytes;
	uint64_t copies_unsure;
	uint64_t enqueues;
	uint64_t completes;
	uint64_t host_waits;
	uint64_t markers;
	uint64_t faults;
	uint64_t errors;
	uint64_t hangs;
	uint64_t ioctls;
	uint64_t rocr[GRT_ROCM_ROCR];
	uint64_t rocr_error[GRT_ROCM_ROCR];
	uint64_t queues;
	uint64_t submits;
	uint64_t jobs_done;
	uint64_t creations;
	uint64_t over;
	uint64_t step[GRT_ROCM_STEPS];
	uint64_t point[GRT_ROCM_STEPS];
	struct grt_rocm_times step_took[GRT_ROCM_STEPS];
	struct grt_rocm_times call_took; /* outermost calls of their threads */
	struct grt_rocm_times create_took;
	struct grt_rocm_times gpu_took;
	struct grt_rocm_times wait;
	struct grt_rocm_times run;
	char first_fault[65];
	char first_error[65];
	char first_hang[512];
};

/** grt_rocm_steps - how often something was done: functions and the trace points in them are not two things
 */
static inline uint64_t grt_rocm_steps(const struct grt_rocm_count *c, enum grt_rocm_step step)
{
	return c->step[step] > c->point[step] ? c->step[step] : c->point[step];
}

/** struct grt_rocm - set up by grt_rocm_init(), freed by grt_rocm_free() */
struct grt_rocm {
	struct grt_keyed calls;	   /* grt_rocm_call by name */
	struct grt_keyed queues;   /* grt_rocm_queue by (pid, address) */
	struct grt_keyed kernels;  /* grt_rocm_kernel by (pid, name or address) */
	struct grt_keyed funcs;	   /* grt_rocm_func by name */
	struct grt_keyed open;	   /* calls that a thread is inside of */
	struct grt_keyed threads;  /* what a thread of the log does */
	struct grt_keyed commands; /* by (pid, address) */
	struct grt_keyed signals;  /* dispatches by (pid, signal) */
	struct grt_keyed inside;   /* creations by tid, as an index */
	struct grt_keyed asked;	   /* when the runtime counted its queues, by (pid, thread) */
	struct grt_rocm_creation *creation;
	unsigned int creations;
	struct grt_rocm_request *request;
	unsigned int requests;
	struct grt_rocm_count count;
};

/** grt_rocm_init - begins without records */
void grt_rocm_init(struct grt_rocm *r);

/** grt_rocm_event - processes an event; events must come in the order of time. Return: 0 or -ENOMEM */
int grt_rocm_event(struct grt_rocm *r, const struct grt_event *e);

/** grt_rocm_finish - joins requests of the runtime with actions of KFD; to be called once, after the last
 * event */
void grt_rocm_finish(struct grt_rocm *r);

/** grt_rocm_free - frees and empties it */
void grt_rocm_free(struct grt_rocm *r);

/* Clocks */

/**
 * struct grt_rocm_offset - the offset between the log's clock and the kernel's clock
 * @ns: the offset, to be added to the log's stamps
 * @error: largest error in each direction, ns
 * @pairs: events of the kernel that must lie inside calls of the log
 * @agree: events that do with this offset
 */
struct grt_rocm_offset {
	int64_t ns;
	uint64_t error;
	uint64_t pairs;
	uint64_t agree;
};

struct grt_rocm_clock;

/** grt_rocm_clock_new - begins an estimate. Return: 0 or -ENOMEM */
int grt_rocm_clock_new(struct grt_rocm_clock **out);

/** grt_rocm_clock_event - processes an event with the stamp of its own clock; the two clocks' may be mixed */
void grt_rocm_clock_event(struct grt_rocm_clock *c, const struct grt_event *e);

/**
 * grt_rocm_clock_find - the offset at which most queues and buffers that the kernel made lie inside of the
 * calls of the runtime that make them
 * Return: 0, -ENODATA: there are no pairs, -EDOM: two offsets fit equally well, -ENOMEM
 */
int grt_rocm_clock_find(struct grt_rocm_clock *c, struct grt_rocm_offset *o, struct grt_err *err);

/** grt_rocm_clock_free - frees it; NULL is allowed */
void grt_rocm_clock_free(struct grt_rocm_clock *c);

#endif /* GRT_ROCM_ROCM_H */
