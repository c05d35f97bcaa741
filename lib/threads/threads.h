/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The states of threads, from THREAD, OFF_CPU and SAMPLE records: a thread's life in the
 * trace is divided into pieces, each in one state of thread_states.def, without gap or
 * overlap, so the sum of all states of a thread is its life.
 *
 * What was running in a CUDA call that waits for the GPU is polling, and what
 * was asleep in it waited for the GPU, whatever for by its system call: LAUNCH
 * records have the calls of each thread, which come after what happened in them.
 * So the pieces since a thread's last call wait for its next one, if its
 * process is one that CUDA's library reports. Where nobody saw a thread return
 * from a sleep, the record of the sleep comes behind such calls: they wait for
 * the thread's next record.
 *
 * Memory is some 200 bytes for each thread and 32 for each piece that waits.
 */
#ifndef GRT_THREADS_THREADS_H
#define GRT_THREADS_THREADS_H

#include <grtrace/grtrace.h>

#include "base/containers.h"
#include "trace/names.h"
#include "table/table.h"

/* Most threads; records of further threads are counted. */
#define GRT_THREADS_MAX 262144U

/* Pieces of a thread that wait for its next call of CUDA; the older half of more is taken as in no call, and
 * counted. */
#define GRT_THREADS_WAITING 65536U

/* Calls that wait, of a thread since its last record; of more, the older half is taken as if the thread had
 * returned from each of its sleeps in sight. */
#define GRT_THREADS_CALLS 4096U

/**
 * struct grt_thread - a thread
 * @number: its number, from 0, in the order of first records
 * @name: number of its last name in grt_threads_names()
 * @first, @last: begin and end of the time in which its states are known, ns
 * @made, @ended: its creation and its end are in the trace
 * @gone: no state of it is known in the time of grt_threads_from(): it ended before, or has earlier records
 *	only
 * @tracer: it is a thread of grtrace in the program; no sum includes its time
 * @ns: time by state; the sum is @last - @first
 * @intervals: number of intervals off the CPU
 * @taken_off: number of intervals off the CPU in which it was ready to run
 * @delay_max: longest time for which it was ready to run without a CPU, ns
 * @samples: number of its samples
 * @lost: intervals off the CPU whose records are missing
 */
struct grt_thread {
	uint32_t number;
	uint32_t pid;
	uint32_t tid;
	uint32_t name;
	uint64_t first;
	uint64_t last;
	bool made;
	bool ended;
	bool tracer;
	bool gone;
	uint64_t ns[GRT_THREAD_STATES];
	uint64_t intervals;
	uint64_t taken_off;
	uint64_t delay_max;
	uint64_t samples;
	uint64_t lost;
};

/**
 * struct grt_thread_piece - a piece of a thread's life, or a sample
 * @start, @end: ns, the same for a sample
 * @sample: it is a sample of the running code at one moment, without a duration
 * @user, @kernel: ids of the stacks, 0: none; running pieces have none
 * @waker, @waker_pid: the thread that ended a sleep, 0: none, or unknown
 * @call: correlation id of the CUDA call in which the thread waited for the GPU, 0: none
 */
struct grt_thread_piece {
	uint64_t start;
	uint64_t end;
	uint32_t user;
	uint32_t kernel;
	uint32_t waker;
	uint32_t waker_pid;
	uint64_t call;
	uint8_t state;
	bool sample;
};

/**
 * struct grt_threads_sink - the receiver of the pieces
 * @piece: gets the pieces of each thread in the order of their ends; a result other than 0 ends the run. May
 *	be NULL
 */
struct grt_threads_sink {
	int (*piece)(void *arg, const struct grt_thread *t, const struct grt_thread_piece *p);
	void *arg;
};

/**
 * struct grt_threads_count - counts of missing records and limits
 * @lost: intervals off the CPU whose records are missing
 * @unseen: times off the CPU whose end was not recorded
 * @unsure: pieces beyond GRT_THREADS_WAITING
 * @over: records of threads beyond GRT_THREADS_MAX
 * @tracers: threads of grtrace in the program; @tracer_ns: the time for which they ran, ns
 */
struct grt_threads_count {
	uint64_t lost;
	uint64_t unseen;
	uint64_t unsure;
	uint64_t over;
	uint64_t tracers;
	uint64_t tracer_ns;
};

struct grt_threads;

/**
 * grt_threads_new - begins
 * @sink: is copied; NULL: compute only sums
 * Return: 0 or -ENOMEM
 */
int grt_threads_new(struct grt_threads **out, const struct grt_threads_sink *sink);

/**
 * grt_threads_from - ignores time before @ns; to be called before the first event. Earlier events are of use:
 * they say what threads did at that time
 */
void grt_threads_from(struct grt_threads *s, uint64_t ns);

/** grt_threads_event - processes an event; uses classes thread, launch, image and name. Return: 0,
 * -ENOMEM, or what the sink returned */
int grt_threads_event(struct grt_threads *s, const struct grt_event *e);

/** grt_threads_flush - ends the trace. Return: as grt_threads_event() */
int grt_threads_flush(struct grt_threads *s);

/** grt_threads_at - a thread by its number; NULL: there is no such thread. Valid until the next event */
const struct grt_thread *grt_threads_at(const struct grt_threads *s, uint32_t number);

/** grt_threads_names - names of threads */
const struct grt_names *grt_threads_names(const struct grt_threads *s);

/** grt_threads_count - the counts; complete after grt_threads_flush() */
struct grt_threads_count grt_threads_count(const struct grt_threads *s);

/** grt_threads_free - frees it; NULL is allowed */
void grt_threads_free(struct grt_threads *s);

/** grt_thread_state_name - the name of a state, "?": the number has none */
const char *grt_thread_state_name(unsigned int state);

/* ---------------------------------------------------------------- sleeps */

/*
 * The latest times of threads off the CPU, from which any recent span of a thread is divided into the states
 * of thread_states.def.
 */

/** struct grt_sleep - off the CPU from @start to @end, asleep until @woken; @waker 0: no thread */
struct grt_sleep {
	uint64_t start;
	uint64_t woken;
	uint64_t end;
	uint32_t waker;
	uint32_t waker_pid;
	char waker_comm[15];
	uint8_t state;
};

/**
 * struct grt_sleeper - a thread
 * @n: sleeps so far, for grt_sleeps_last()
 * @first: all is known from here on
 * @number: of its last time off the CPU
 */
struct grt_sleeper {
	uint32_t pid;
	uint32_t n;
	uint64_t first;
	uint64_t number;
	struct grt_sleep sleep[];
};

/**
 * struct grt_sleeps - set up by grt_sleeps_init(), to be given to grt_sleeps_free()
 * @kept: sleeps of a thread; what was before them is unknown
 */
struct grt_sleeps {
	struct grt_keyed threads;
	uint32_t kept;
};

/**
 * struct grt_spent - a span of a thread by states
 * @apart: process whose wake-ups are counted separately, 0: none
 * @ns: by enum grt_thread_state, without @apart_ns; their sum and @apart_ns are the span
 * @apart_ns: asleep until a thread of @apart woke it
 * @longest: the longest sleep in it; @waker, @waker_pid, @waker_comm: the thread that ended it, 0: no thread,
 *	or unknown
 */
struct grt_spent {
	uint32_t apart;
	uint32_t waker;
	uint32_t waker_pid;
	char waker_comm[17];
	uint64_t ns[GRT_THREAD_STATES];
	uint64_t apart_ns;
	uint64_t longest;
};

/**
 * grt_sleeps_init - begins without threads
 * @kept: number of sleeps that are kept for each thread, 48 bytes each; a power of two
 * @threads: most threads; a further thread replaces the oldest
 */
void grt_sleeps_init(struct grt_sleeps *s, uint32_t kept, uint32_t threads);

/**
 * grt_sleeps_read - reads a sleep from an event
 * @e: gets records of older programs, and of threads that were ready to run, as ASLEEP
 * Return: false: the event has no sleep
 */
bool grt_sleeps_read(const struct grt_event *event, struct grt_ev_asleep *e, struct grt_sleep *out);

/** grt_sleeps_event - processes an event; uses class thread. Return: 0 or -ENOMEM */
int grt_sleeps_event(struct grt_sleeps *s, const struct grt_event *e);

/** grt_sleeps_find - a thread, NULL: it is not followed */
const struct grt_sleeper *grt_sleeps_find(const struct grt_sleeps *s, uint32_t tid);

/** grt_sleeps_last - the sleep that was the @i th from the last one, from 1; NULL: it is not kept, or ended
 * before @known */
const struct grt_sleep *grt_sleeps_last(const struct grt_sleeps *s, const struct grt_sleeper *l, uint32_t i,
					uint64_t known);

/** grt_sleeps_overlap - the length of the overlap of two spans, ns */
uint64_t grt_sleeps_overlap(uint64_t from, uint64_t to, uint64_t start, uint64_t end);

/** grt_sleeps_divide - adds what a thread did from one moment to another, at which it ran, to @spent */
void grt_sleeps_divide(const struct grt_sleeps *s, uint32_t tid, uint64_t from, uint64_t to,
		       struct grt_spent *spent);

/** grt_sleeps_free - frees and empties it */
void grt_sleeps_free(struct grt_sleeps *s);

#endif /* GRT_THREADS_THREADS_H */
