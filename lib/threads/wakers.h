/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Waits of threads, from ASLEEP records: sums by thread, by the reason of the wait and by
 * the waker, which ended it.
 *
 * If the waker is followed, too, its activity during the wait is known: it ran, or it
 * waited for the GPU or for a third thread. So the time of each wait is divided by the
 * activity of the waker; while the waker waited for another thread, by the activity of
 * that thread, and so on. The sum of the parts is the wait.
 *
 * Memory is 300 bytes for each row, and 3 KB for each of GRT_WAKERS_LIVES threads.
 */
#ifndef GRT_THREADS_WAKERS_H
#define GRT_THREADS_WAKERS_H

#include <grtrace/grtrace.h>

#include "base/containers.h"
#include "table/table.h"
#include "trace/names.h"
#include "threads.h"

/* Most rows; waits of further rows are counted. */
#define GRT_WAKERS_MAX 65536U

/* Most threads whose sleeps are kept. The causes of waits for further threads are unknown. */
#define GRT_WAKERS_LIVES 16384U

/**
 * struct grt_waker_row - waits of a thread that ended in one way
 * @name: number of the thread's last name in grt_wakers.names
 * @state: the reason of the wait, enum grt_thread_state
 * @by, @cause, @waker, @waker_pid, @waker_comm: see grt_ev_asleep. A worker of the kernel that is known to
 *	have signalled a fence, or the like, is nobody's in particular: its numbers are 0
 * @waits, @ns, @max: number of waits, their sum, and the longest wait, ns
 * @behind: of @ns, by what the waker did meanwhile, and others did for it. Where no thread is followed that
 *	was waited for, that is the wait's own state; of a lock it is unknown
 */
struct grt_waker_row {
	uint32_t pid;
	uint32_t tid;
	uint32_t name;
	uint32_t waker;
	uint32_t waker_pid;
	uint8_t state;
	uint8_t by;
	uint8_t cause;
	char waker_comm[17];
	uint64_t waits;
	uint64_t ns;
	uint64_t max;
	uint64_t behind[GRT_THREAD_STATES];
};

/**
 * struct grt_wakers - set up by grt_wakers_init(), freed by grt_wakers_free()
 * @from: earlier time is ignored, ns
 * @rows: struct grt_waker_row
 * @over: waits beyond GRT_WAKERS_MAX rows
 * @inferred: waits whose cause is inferred from the waker's last action
 */
struct grt_wakers {
	uint64_t from;
	struct grt_names names;
	struct grt_keyed rows;
	struct grt_sleeps sleeps;
	uint64_t over;
	uint64_t inferred;
};

/** grt_wakers_init - begins without rows */
void grt_wakers_init(struct grt_wakers *w);

/** grt_wakers_event - processes an event; uses classes thread and name. Return: 0 or -ENOMEM */
int grt_wakers_event(struct grt_wakers *w, const struct grt_event *e);

/** grt_wakers_free - frees and empties it */
void grt_wakers_free(struct grt_wakers *w);

/** grt_waker_name, grt_wake_cause_name - the name of a number, NULL: it has none */
const char *grt_waker_name(unsigned int by);
const char *grt_wake_cause_name(unsigned int cause);

#endif /* GRT_THREADS_WAKERS_H */
