/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Work that is handed to another thread, one portion at a time. The thread has one portion, while the caller
 * collects the next; so portions are worked on in order, and two are enough.
 *
 *	grt_relay_wait(r);    the thread has no portion
 *	...                   the caller swaps what it has collected with what the thread is done with
 *	grt_relay_go(r);      the thread works on it
 */
#ifndef GRT_BASE_RELAY_H
#define GRT_BASE_RELAY_H

#include <pthread.h>
#include <stdbool.h>

/**
 * struct grt_relay - a thread and its portion
 * @work: works on the portion, with @arg
 * @lock: guards @full and @ends
 * @turned: one of them has changed
 * @full: the portion is the thread's
 * @runs: there is a thread
 */
struct grt_relay {
	void (*work)(void *arg);
	void *arg;
	pthread_mutex_t lock;
	pthread_cond_t turned;
	pthread_t thread;
	bool full;
	bool ends;
	bool runs;
};

/** grt_relay_init - without a thread, which begins with the first portion */
void grt_relay_init(struct grt_relay *r, void (*work)(void *arg), void *arg);

/** grt_relay_wait - waits until the thread is done with its portion */
void grt_relay_wait(struct grt_relay *r);

/** grt_relay_go - the portion is the thread's; without a thread, the caller works on it now */
void grt_relay_go(struct grt_relay *r);

/** grt_relay_fini - waits for the thread and ends it */
void grt_relay_fini(struct grt_relay *r);

#endif /* GRT_BASE_RELAY_H */
