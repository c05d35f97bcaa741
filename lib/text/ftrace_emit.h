/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Shared code of the handlers of ftrace events: the state of a text, access to the fields of a line by their
 * names, and the output of a job's events. Several lines may report the same step of a job, for example one
 * of the driver and one of the scheduler; each event is put once.
 */
#ifndef GRT_TEXT_FTRACE_EMIT_H
#define GRT_TEXT_FTRACE_EMIT_H

#include "ftrace_armed.h"
#include "ftrace_func.h"
#include "ftrace_jobs.h"
#include "ftrace_line.h"
#include "text_input.h"

/*
 * A job whose fence's context is not in the text gets a context with this bit. The kernel counts its contexts
 * from 1 and never reaches it. It is bit 52, because readers of JSON store numbers as doubles, which hold
 * integers of 53 bits.
 */
#define FTRACE_OWN (UINT64_C(1) << 52)

/**
 * enum ftrace_own - what such a context is made from: its bits from 48 on, above 48 bits of ftrace_own()'s @n
 */
enum ftrace_own {
	FTRACE_OWN_RING = 1, /* a scheduler's ring */
	FTRACE_OWN_VIRTIO,   /* device and queue; the sequence number is the fence_id */
	FTRACE_OWN_I915,     /* device and ring, before requests had contexts */
	FTRACE_OWN_XE,	     /* an exec queue's number */
	FTRACE_OWN_MSM,	     /* a ring; the sequence number is the number of the submit */
	FTRACE_OWN_MALI,     /* GPU and job slot */
};

static inline uint64_t ftrace_own(enum ftrace_own what, uint64_t n)
{
	return FTRACE_OWN | (uint64_t)what << 48 | (n & ((UINT64_C(1) << 48) - 1));
}

/* Queues of virtio-gpu devices whose fences are recognised. */
#define FTRACE_QUEUES 8U
/* Places for threads that wait for a fence, by the number of the thread. */
#define FTRACE_WAITERS 256U

/* Places for the dependencies that were reported last, by their hash. */
#define FTRACE_DEPENDS 256U

/** struct ftrace_dependency - the job (@ctx, @seqno) waits for the fence (@dep_ctx, @dep_seqno) */
struct ftrace_dependency {
	uint64_t ctx;
	uint64_t seqno;
	uint64_t dep_ctx;
	uint64_t dep_seqno;
};

/*
 * How long events are held, in ns, and how many. An inferred COMPLETE is held because a later line may report
 * the observed one. A SUBMIT of xe is held because the scheduler's line, which comes next, may report the
 * same job.
 */
#define FTRACE_HOLD UINT64_C(1000000)
#define FTRACE_HELD 64U

/**
 * struct ftrace_held - an event that is held
 * @open: it is still to be put; false: the line for which it was held came and replaced it
 * @span: it is the SUBMIT of a fence without a job, see FTRACE_SPAN
 */
struct ftrace_held {
	union {
		struct grt_event e;
		struct grt_ev_complete complete;
		struct grt_ev_submit submit;
	};
	uint32_t cpu;
	bool open;
	bool span;
};

/* Places for exec queues of xe, by a hash of their numbers. */
#define FTRACE_XE_QUEUES 512U

/** struct ftrace_xe_queue - an exec queue of xe; @class: enum xe_engine_class plus 1; 0: the place is free */
struct ftrace_xe_queue {
	uint32_t gt;
	uint32_t guc_id;
	uint8_t class;
};

/* GPUs of the driver mali, and job slots of each; later models have 3. */
#define FTRACE_MALI_GPUS 4U
#define FTRACE_MALI_SLOTS 16U

/**
 * struct ftrace_mali_slot - a job slot: its jobs have numbers; those from @first to @next - 1 have not ended
 */
struct ftrace_mali_slot {
	uint64_t first;
	uint64_t next;
};

/* Length of a PCI address in a line: 0000:03:00.0 */
#define FTRACE_PCI 12U

/** struct ftrace_wait - the wait of a thread for a fence, which two layers of the kernel may report */
struct ftrace_wait {
	uint64_t ctx;
	uint64_t seqno;
	uint32_t tid;
	uint32_t layer; /* the layer that reported its begin; 0: the thread does not wait */
};

/**
 * struct ftrace - the state of a text
 * @t, @l: the text and its current line
 * @threads: memory for @l.threads
 * @at: where the next field is looked for first: behind the field that was read last
 * @jobs: jobs and fences, found by what lines call them
 * @armer: threads that arm jobs, by tid % FTRACE_ARMERS
 * @number: the last sequence number that was given to a job without one
 * @queue, @queues: contexts of the virtio-gpu queues seen so far, and their number
 * @wait: threads that wait for a fence, by tid % FTRACE_WAITERS
 * @dependency: dependencies that were reported, see FTRACE_DEPENDS
 * @held, @held_at, @helds: the events that are held: the @helds entries before @held_at of a ring buffer
 * @held_submit: a SUBMIT was ever held
 * @xe_queue, @mali: exec queues of xe and job slots of mali
 * @has_msm: the text has events of msm
 * @xe_by_sched: the scheduler's events report the jobs of xe and msm, so the drivers' own events are ignored
 * @slot: rows of ftrace_events.def plus 1, by a hash of their names
 * @step: by row, the result of ftrace_step(); @of_jobs: by row, whether it reports jobs
 * @indexed: @slot, @step and @of_jobs are set
 * @has_jobs: the text has a line that reports a job
 * @by_module, @by_others: the first job was submitted by a line of the kernel module, or by another line, see
 *	ftrace_module.c
 * @clock_known, @clock_ahead: the text's clock minus the kernel module's, in ns, once it is known
 * @html: the text is in a page of HTML; @outside: the current line is not in the page's trace
 * @graphs: the functions in which threads are
 * @unstamped: the current line has no time stamp of its own
 * @pci_text, @pci: the PCI address seen last, as text and as a number
 */
struct ftrace {
	struct grt_text *t;
	struct ftrace_line l;
	struct ftrace_thread threads[FTRACE_THREADS];
	const char *at;
	struct ftrace_jobs jobs;
	struct ftrace_armer armer[FTRACE_ARMERS];
	uint64_t number;
	uint64_t queue[FTRACE_QUEUES];
	uint32_t queues;
	struct ftrace_wait wait[FTRACE_WAITERS];
	struct ftrace_dependency dependency[FTRACE_DEPENDS];
	struct ftrace_held held[FTRACE_HELD];
	uint32_t held_at;
	uint32_t helds;
	bool held_submit;
	struct ftrace_xe_queue xe_queue[FTRACE_XE_QUEUES];
	struct ftrace_mali_slot mali[FTRACE_MALI_GPUS][FTRACE_MALI_SLOTS];
	bool has_msm;
	bool xe_by_sched;
	uint8_t slot[256];
	uint8_t step[128];
	bool of_jobs[128];
	bool has_jobs;
	bool indexed;
	bool by_module;
	bool by_others;
	bool clock_known;
	uint64_t clock_ahead;
	bool html;
	bool outside;
	struct ftrace_graphs graphs;
	bool unstamped;
	char pci_text[FTRACE_PCI];
	uint32_t pci;
};

/* Fields */

/**
 * ftrace_seek - finds a field anywhere in the line; @key: its name and separator, @len bytes
 * Return: whether the line has it; @f->at is at its value then
 */
bool ftrace_seek(struct ftrace *f, const char *key, size_t len);

/**
 * ftrace_field - the same as ftrace_seek(), but looks behind the last field first: fields that are requested
 * in the order of the line cost no search
 */
static inline __attribute__((always_inline)) bool ftrace_field(struct ftrace *f, const char *key, size_t len)
{
	const char *p = f->at, *end = f->l.end;

	while (p < end && (*p == ' ' || *p == ','))
		p++;
	if ((size_t)(end - p) >= len && !memcmp(p, key, len)) {
		f->at = p + len;
		return true;
	}
	return ftrace_seek(f, key, len);
}

#define FTRACE_FIELD(f, key) ftrace_field((f), (key), sizeof(key) - 1)

/**
 * ftrace_number - reads a field that is a decimal or hexadecimal (0x) number
 * @v: gets the number, a negative one as two's complement
 * Return: whether the line has the field and it is a number
 */
static inline __attribute__((always_inline)) bool ftrace_number(struct ftrace *f, const char *key, size_t len,
								uint64_t *v)
{
	if (!ftrace_field(f, key, len))
		return false;
	grt_scan_blanks(&f->at, f->l.end);
	if (grt_scan_char(&f->at, f->l.end, '-')) {
		if (!grt_scan_line_u64(&f->at, f->l.end, v))
			return false;
		*v = 0 - *v;
		return true;
	}
	if (*f->at == '0' && (f->at[1] | 0x20) == 'x')
		return grt_scan_hex(&f->at, f->l.end, v);
	return grt_scan_line_u64(&f->at, f->l.end, v);
}

#define FTRACE_NUMBER(f, key, v) ftrace_number((f), (key), sizeof(key) - 1, (v))

/**
 * ftrace_number_or - reads a number as ftrace_number() does. Return: the number, or @otherwise without one
 */
static inline uint64_t ftrace_number_or(struct ftrace *f, const char *key, size_t len, uint64_t otherwise)
{
	uint64_t v;

	return ftrace_number(f, key, len, &v) ? v : otherwise;
}

#define FTRACE_NUMBER_OR(f, key, otherwise) ftrace_number_or((f), (key), sizeof(key) - 1, (otherwise))

/** ftrace_word - reads a field up to the next blank or comma. Return: whether @v is set and not empty */
static inline __attribute__((always_inline)) bool ftrace_word(struct ftrace *f, const char *key, size_t len,
							      struct grt_span *v)
{
	const char *p;

	if (!ftrace_field(f, key, len))
		return false;
	p = grt_line_until(f->at, f->l.end, ' ', ',');
	*v = (struct grt_span){f->at, (size_t)(p - f->at)};
	f->at = p;
	return v->len > 0;
}

#define FTRACE_WORD(f, key, v) ftrace_word((f), (key), sizeof(key) - 1, (v))

/** ftrace_pointer - reads a field that is a hexadecimal address. Return: 0 if it is hidden or missing */
static inline uint64_t ftrace_pointer(struct ftrace *f, const char *key, size_t len)
{
	uint64_t v;

	return ftrace_field(f, key, len) && grt_scan_hex(&f->at, f->l.end, &v) ? v : 0;
}

#define FTRACE_POINTER(f, key) ftrace_pointer((f), (key), sizeof(key) - 1)

/* Events */

/** ftrace_event - Return: an event with the line's time, without ring, process and thread */
struct grt_event ftrace_event(const struct ftrace *f, uint16_t type);

/** ftrace_by_current - sets the event's process and thread to those of the line, and puts their names */
void ftrace_by_current(struct ftrace *f, struct grt_event *e);

/** ftrace_ring - Return: the number of @driver's ring with this name; @engine: gets its engine */
uint32_t ftrace_ring(struct ftrace *f, struct grt_span name, const char *driver, uint8_t *engine);

/**
 * ftrace_ring_of - Return: the number of @driver's ring with this name of the GPU at the PCI address @gpu,
 * which is the field dev= of the scheduler's events; @engine: gets its engine
 */
uint32_t ftrace_ring_of(struct ftrace *f, struct grt_span name, const char *driver, struct grt_span gpu,
			uint8_t *engine);

/** ftrace_job_of - Return: the job with the fence (@ctx, @seqno); it is made if there is none */
struct ftrace_job *ftrace_job_of(struct ftrace *f, uint64_t ctx, uint64_t seqno);

/** ftrace_own_job - Return: a new job whose fence is unknown; its context is made from @what and @n */
struct ftrace_job *ftrace_own_job(struct ftrace *f, enum ftrace_own what, uint64_t n);

/** ftrace_place_job - sets the job's ring, engine and device; @device 0: leave the device as it is */
void ftrace_place_job(struct ftrace_job *job, uint32_t ring, uint8_t engine, uint32_t device);

/*
 * Functions that put an event of a job, unless it was put already; an observed event is put even if an
 * inferred one was. @flags: GRT_FLAG_INFERRED; GRT_FLAG_COMMIT: the SUBMIT is also the job's COMMIT.
 */
void ftrace_submit(struct ftrace *f, struct ftrace_job *job, uint16_t flags);
void ftrace_submit_command(struct ftrace *f, struct ftrace_job *job, uint32_t cmd, uint32_t hw_ctx,
			   uint64_t fence_id, uint16_t flags);
void ftrace_commit(struct ftrace *f, struct ftrace_job *job, uint64_t sw_depth, uint64_t hw_depth,
		   uint16_t flags);
void ftrace_start(struct ftrace *f, const struct ftrace_job *job);
void ftrace_end(struct ftrace *f, struct ftrace_job *job, uint32_t reply, uint64_t fence_id, uint16_t flags);
void ftrace_complete(struct ftrace *f, struct ftrace_job *job, uint16_t flags);

/**
 * ftrace_hold_submit - holds the SUBMIT of a job by the running thread, because the thread's next line of the
 * scheduler may report the same job
 */
void ftrace_hold_submit(struct ftrace *f, struct ftrace_job *job);

/**
 * ftrace_hold_span - holds the SUBMIT of a fence that was made. Texts without jobs show fences as spans, see
 * FTRACE_SPAN; if a line that reports a job follows soon, the fence is not a span
 */
void ftrace_hold_span(struct ftrace *f, struct ftrace_job *job);

/** ftrace_see_jobs - a line reports a job, so the text has jobs: drops the fences that are held as spans */
void ftrace_see_jobs(struct ftrace *f);

/**
 * ftrace_drop_submit - drops the thread's SUBMIT that is held, because the scheduler reports the job
 * Return: whether one was held
 */
bool ftrace_drop_submit(struct ftrace *f, uint32_t tid);

/** ftrace_put_held - puts the held events with a time before @before, in ns; UINT64_MAX: all */
void ftrace_put_held(struct ftrace *f, uint64_t before);

/**
 * ftrace_depend - puts WAIT_DEP: the job waits for the fence (@ctx, @seqno); @job NULL: the job is unknown
 * From Linux 6.17 on, the scheduler reports a dependency when it is added, and again when the scheduler
 * considers the job and the fence is not signalled. The second line of one dependency puts nothing.
 */
void ftrace_depend(struct ftrace *f, const struct ftrace_job *job, uint64_t ctx, uint64_t seqno);

/** ftrace_signalled - puts FENCE: the fence @job, on which other jobs depend, was signalled */
void ftrace_signalled(struct ftrace *f, struct ftrace_job *job);

/**
 * ftrace_wait - puts the begin (@enter) or end of the running thread's wait for the fence (@ctx, @seqno)
 * @job: the job of the fence, NULL: unknown
 * @layer: number, from 1, of the layer of the kernel that reports it. If two layers report one wait, only the
 *	lines of the first count
 */
void ftrace_wait(struct ftrace *f, const struct ftrace_job *job, uint64_t ctx, uint64_t seqno, bool enter,
		 uint32_t layer);

#endif /* GRT_TEXT_FTRACE_EMIT_H */
