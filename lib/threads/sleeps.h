/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The latest times of threads off the CPU, from which any recent span of a thread is divided into the states
 * of thread_states.def.
 */
#ifndef GRT_THREADS_SLEEPS_H
#define GRT_THREADS_SLEEPS_H

#include <grtrace/grtrace.h>

#include "base/keyed.h"

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

#endif /* GRT_THREADS_SLEEPS_H */
