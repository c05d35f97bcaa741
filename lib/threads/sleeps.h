/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What threads did lately: their last times off the CPU, from which any span that
 * is not long ago is divided into the states of thread_states.def.
 */
#ifndef GRT_THREADS_SLEEPS_H
#define GRT_THREADS_SLEEPS_H

#include <grtrace/grtrace.h>

#include "base/keyed.h"

/* Of a thread; what was before them is unknown. A power of two. */
#define GRT_SLEEPS_KEPT 512U
/* Threads that are remembered, of 24 KB each; the oldest gives way. */
#define GRT_SLEEPS_THREADS 1024U

/** struct grt_sleeps - set up by grt_sleeps_init(), to be given to grt_sleeps_free() */
struct grt_sleeps {
	struct grt_keyed threads;
};

/**
 * struct grt_spent - what a span of a thread was
 * @apart: process whose wake-ups are counted apart, 0: none
 * @ns: by enum grt_thread_state, without @apart_ns; their sum and @apart_ns are the span
 * @apart_ns: asleep until a thread of @apart woke it
 * @longest: the longest sleep in it; @waker, @waker_pid, @waker_comm: who ended that, 0: no thread, or
 * unknown
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

/** grt_sleeps_init - an empty one */
void grt_sleeps_init(struct grt_sleeps *s);

/** grt_sleeps_event - takes in an event; of use is class thread. Return: 0 or -ENOMEM */
int grt_sleeps_event(struct grt_sleeps *s, const struct grt_event *e);

/** grt_sleeps_divide - adds what a thread did from one moment to another, at which it ran, to @spent */
void grt_sleeps_divide(const struct grt_sleeps *s, uint32_t tid, uint64_t from, uint64_t to,
		       struct grt_spent *spent);

/** grt_sleeps_free - frees and empties it */
void grt_sleeps_free(struct grt_sleeps *s);

#endif /* GRT_THREADS_SLEEPS_H */
