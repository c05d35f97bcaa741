/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What handlers of ftrace events share: the state of a text, its fields by
 * name, and the events of a job's life, each put once whatever number of lines
 * report it.
 */
#ifndef GRT_TEXT_FTRACE_EMIT_H
#define GRT_TEXT_FTRACE_EMIT_H

#include "ftrace_armed.h"
#include "ftrace_func.h"
#include "ftrace_jobs.h"
#include "ftrace_line.h"
#include "text_input.h"

/*
 * Contexts of jobs whose fence's context is not in the text. Those of the
 * kernel are counted from 1, so none has this bit. JSON's readers keep numbers
 * as doubles, which hold up to 53 bits.
 */
#define FTRACE_OWN (UINT64_C(1) << 52)

/** enum ftrace_own - what such a context is made of; the number stands above 48 bits of @n */
enum ftrace_own {
	FTRACE_OWN_RING = 1, /* a scheduler's ring */
	FTRACE_OWN_VIRTIO,   /* device and queue; the sequence number is the fence_id */
	FTRACE_OWN_I915,     /* device and ring, before requests had contexts */
	FTRACE_OWN_XE,	     /* an exec queue's number */
	FTRACE_OWN_MSM,	     /* its ring; the sequence number is the submit's */
	FTRACE_OWN_MALI,     /* GPU and job slot */
};

static inline uint64_t ftrace_own(enum ftrace_own what, uint64_t n)
{
	return FTRACE_OWN | (uint64_t)what << 48 | (n & ((UINT64_C(1) << 48) - 1));
}

/* Queues of virtio-gpu devices whose fences are looked for. */
#define FTRACE_QUEUES 8U
/* Threads whose open waits are known, by their number. */
#define FTRACE_WAITERS 256U

/* Dependencies that were reported last, by a hash of them. */
#define FTRACE_DEPENDS 256U

/** struct ftrace_dependency - the job @ctx, @seqno waits for the fence @dep_ctx, @dep_seqno */
struct ftrace_dependency {
	uint64_t ctx;
	uint64_t seqno;
	uint64_t dep_ctx;
	uint64_t dep_seqno;
};

/* A COMPLETE that is inferred waits so long, ns, for the line that says it, and so many do; a SUBMIT of xe
 * for one of the scheduler's. */
#define FTRACE_HOLD UINT64_C(1000000)
#define FTRACE_HELD 64U

/** struct ftrace_held - an event that has not been put; not @open: its line has come; @span: see
 * FTRACE_SPAN */
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

/* Exec queues of xe, by a hash of their numbers. */
#define FTRACE_XE_QUEUES 512U

/** struct ftrace_xe_queue - an exec queue. @class: enum xe_engine_class plus 1; 0: none */
struct ftrace_xe_queue {
	uint32_t gt;
	uint32_t guc_id;
	uint8_t class;
};

/* GPUs of the driver mali, and job slots of each; later models have 3. */
#define FTRACE_MALI_GPUS 4U
#define FTRACE_MALI_SLOTS 16U

/** struct ftrace_mali_slot - its jobs are numbered: from @first to before @next they have not ended */
struct ftrace_mali_slot {
	uint64_t first;
	uint64_t next;
};

/* A PCI address as lines have it: 0000:03:00.0 */
#define FTRACE_PCI 12U

/** struct ftrace_wait - a wait that a thread is in; two layers of the kernel may report it */
struct ftrace_wait {
	uint64_t ctx;
	uint64_t seqno;
	uint32_t tid;
	uint32_t layer; /* which began it; 0: none is open */
};

/**
 * struct ftrace - the state of a text
 * @t, @l: the text and its present line
 * @threads: for @l
 * @at: where in the fields the next one is looked for first
 * @jobs: what is known of jobs
 * @armer: and of threads that are about to queue some, by their number
 * @number: sequence number given last to a job that has none
 * @queue, @queues: contexts of virtio-gpu queues met
 * @dependency: see FTRACE_DEPENDS
 * @held: in a circle, @helds of them before @held_at; @held_submit: a SUBMIT was among them
 * @xe_queue, @mali: see above; @has_msm: there are events of msm; @xe_by_sched: the scheduler's events report
 *	the jobs of xe or msm
 * @slot: rows of the events plus 1, by a hash of their names; @step: by row, see ftrace_step(); @of_jobs: by
 * row, it reports jobs; @indexed: they are set; @has_jobs: the text has such a line
 * @graphs: functions that threads are in; @unstamped: the present line has no stamp of its own
 * @pci_text, @pci: a PCI address as text and as number, the one met last
 * @by_module, @by_others: whose lines report the jobs, see ftrace_module.c
 * @clock_ahead: how much the text's clock is before the module's, ns; @clock_known: it is set
 * @html: the text is in a page; @outside: of the part of it that is a trace
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

/** ftrace_seek - finds a field that is not next. Return: @f->at is at its value */
bool ftrace_seek(struct ftrace *f, const char *key, size_t len);

/** ftrace_field - finds a field by its name with its separator ("ring="); in the order in which they are
 * printed this is cheap. Return: @f->at is at its value */
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

/** ftrace_number - a field that is a number, decimal or 0x; UINT64_MAX - 1 and the like stand for -2. Return:
 * it is */
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

/** ftrace_number_or - the same, @otherwise where it is not there */
static inline uint64_t ftrace_number_or(struct ftrace *f, const char *key, size_t len, uint64_t otherwise)
{
	uint64_t v;

	return ftrace_number(f, key, len, &v) ? v : otherwise;
}

#define FTRACE_NUMBER_OR(f, key, otherwise) ftrace_number_or((f), (key), sizeof(key) - 1, (otherwise))

/** ftrace_word - a field that is a word: up to a blank or a comma. Return: it is there and not empty */
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

/** ftrace_pointer - a field that is an address, in hex; 0 where it is hidden or not there */
static inline uint64_t ftrace_pointer(struct ftrace *f, const char *key, size_t len)
{
	uint64_t v;

	return ftrace_field(f, key, len) && grt_scan_hex(&f->at, f->l.end, &v) ? v : 0;
}

#define FTRACE_POINTER(f, key) ftrace_pointer((f), (key), sizeof(key) - 1)

/* Events */

/** ftrace_event - an event at the line's time, on no ring, of nobody */
struct grt_event ftrace_event(const struct ftrace *f, uint16_t type);

/** ftrace_by_current - the event is the running thread's, which gets its name */
void ftrace_by_current(struct ftrace *f, struct grt_event *e);

/** ftrace_ring - the ring of a name and its engine */
uint32_t ftrace_ring(struct ftrace *f, struct grt_span name, const char *driver, uint8_t *engine);

/** ftrace_ring_of - the same of the GPU at this address, as dev= of the scheduler's events reports it */
uint32_t ftrace_ring_of(struct ftrace *f, struct grt_span name, struct grt_span gpu, uint8_t *engine);

/** ftrace_job_of - the job of a fence (ctx, seqno), a new one where none is known */
struct ftrace_job *ftrace_job_of(struct ftrace *f, uint64_t ctx, uint64_t seqno);

/** ftrace_own_job - a new job without a fence that is known */
struct ftrace_job *ftrace_own_job(struct ftrace *f, enum ftrace_own what, uint64_t n);

/** ftrace_place_job - says where the job runs */
void ftrace_place_job(struct ftrace_job *job, uint32_t ring, uint8_t engine, uint32_t device);

/** ftrace_submit and the others - the job's event, if it is news; @flags: GRT_FLAG_INFERRED, and
 * GRT_FLAG_COMMIT */
void ftrace_submit(struct ftrace *f, struct ftrace_job *job, uint16_t flags);
void ftrace_submit_command(struct ftrace *f, struct ftrace_job *job, uint32_t cmd, uint32_t hw_ctx,
			   uint64_t fence_id, uint16_t flags);
void ftrace_commit(struct ftrace *f, struct ftrace_job *job, uint64_t sw_depth, uint64_t hw_depth,
		   uint16_t flags);
void ftrace_start(struct ftrace *f, const struct ftrace_job *job);
void ftrace_end(struct ftrace *f, struct ftrace_job *job, uint32_t reply, uint64_t fence_id, uint16_t flags);
void ftrace_complete(struct ftrace *f, struct ftrace_job *job, uint16_t flags);

/** ftrace_hold_submit - the running thread submits the job, unless its next line of the scheduler says so,
 * too */
void ftrace_hold_submit(struct ftrace *f, struct ftrace_job *job);

/** ftrace_hold_span - a fence was made. It is a span, unless a line that reports a job comes soon */
void ftrace_hold_span(struct ftrace *f, struct ftrace_job *job);

/** ftrace_see_jobs - a line that reports jobs has come: fences that wait to be spans are none */
void ftrace_see_jobs(struct ftrace *f);

/** ftrace_drop_submit - that line has come: the job that this thread's SUBMIT is of is the scheduler's.
 * Return: there was one */
bool ftrace_drop_submit(struct ftrace *f, uint32_t tid);

/** ftrace_put_held - no line of before @before, ns, will come any more: puts what waited for one */
void ftrace_put_held(struct ftrace *f, uint64_t before);

/** ftrace_depend - the job (NULL: unknown) waits for a fence. From 6.17 that is reported when the fence is
 * added, and again when the job is looked at and it is not signalled */
void ftrace_depend(struct ftrace *f, const struct ftrace_job *job, uint64_t ctx, uint64_t seqno);

/** ftrace_signalled - the fence @job, of which jobs depended, was signalled */
void ftrace_signalled(struct ftrace *f, struct ftrace_job *job);

/** ftrace_wait - the thread begins or ends a wait for a fence; @layer: which part of the kernel says so, from
 * 1 */
void ftrace_wait(struct ftrace *f, const struct ftrace_job *job, uint64_t ctx, uint64_t seqno, bool enter,
		 uint32_t layer);

#endif /* GRT_TEXT_FTRACE_EMIT_H */
