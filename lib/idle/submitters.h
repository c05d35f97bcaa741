/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The activity of threads that submit work to devices between two moments: from the
 * pieces of their time (threads/threads.h), and from their driver calls.
 *
 * The last GRT_SUBMITTER_PIECES pieces and calls of a thread are kept, far fewer of a
 * thread that never submitted anything, and GRT_SUBMITTERS_PIECES of all threads
 * together; older ones are unknown, and counted.
 */
#ifndef GRT_IDLE_SUBMITTERS_H
#define GRT_IDLE_SUBMITTERS_H

#include "base/containers.h"
#include "threads/threads.h"

/* Most threads; further threads are unknown. */
#define GRT_SUBMITTERS_MAX 65536U
#define GRT_SUBMITTERS_RECENT 16U
#define GRT_SUBMITTER_PIECES 131072U
#define GRT_SUBMITTER_PIECES_BEFORE 1024U
#define GRT_SUBMITTERS_PIECES 4194304U

struct submitter;

/** enum grt_submitter_calls - kinds of calls; calls of one kind do not overlap */
enum grt_submitter_calls {
	GRT_SUBMITTER_IOCTLS,
	GRT_SUBMITTER_CUDA,
	GRT_SUBMITTER_CALLS,
};

/* The state of a thread that was not traced. */
#define GRT_SUBMITTER_NOT_FOLLOWED GRT_THREAD_STATES

/**
 * struct grt_submitter_piece - a part of a thread's time
 * @state: enum grt_thread_state, or GRT_SUBMITTER_NOT_FOLLOWED
 * @user: id of the user stack of the sleep or the call, 0: none
 * @waker, @waker_pid: the thread that ended the sleep, 0: none or unknown
 * @call: number of the call in which the thread was, 0: none
 * @after: node of the stack of the previous call, 0: unknown, or the thread was in a call
 */
struct grt_submitter_piece {
	uint64_t from;
	uint64_t to;
	uint32_t user;
	uint32_t waker;
	uint32_t waker_pid;
	uint32_t call;
	uint32_t after;
	uint32_t state;
};

/**
 * struct grt_submitters - initialised by grt_submitters_init(), freed by grt_submitters_free()
 * @threads: by pid and tid
 * @pieces: room of all rings of pieces
 * @over: records of threads beyond GRT_SUBMITTERS_MAX
 * @recent: threads that are found without a search: records of several threads take turns. At the thread's
 *	number, modulo; NULL: none; @key, @room: its key, and the room of @threads when it was found
 */
struct grt_submitters {
	struct grt_keyed threads;
	uint32_t pieces;
	uint64_t over;
	struct grt_submitters_recent {
		struct submitter *thread;
		uint64_t key;
		uint32_t room;
	} recent[GRT_SUBMITTERS_RECENT];
};

/** grt_submitters_init - begins without threads */
void grt_submitters_init(struct grt_submitters *s);

/** grt_submitters_follow - all sleeps of a thread are traced from @time on. Return: 0 or -ENOMEM */
int grt_submitters_follow(struct grt_submitters *s, uint32_t pid, uint32_t tid, uint64_t time);

/** grt_submitters_submits - a thread submits work, so more of its pieces are kept. Return: 0 or -ENOMEM
 */
int grt_submitters_submits(struct grt_submitters *s, uint32_t pid, uint32_t tid);

/** grt_submitters_piece - adds the next piece of a thread. Return: 0 or -ENOMEM */
int grt_submitters_piece(struct grt_submitters *s, uint32_t pid, uint32_t tid,
			 const struct grt_thread_piece *p);

/**
 * grt_submitters_call - adds a thread's next call of a kind, which has returned; @p.call: not 0, @p.after:
 * node of its own stack. Return: 0 or -ENOMEM
 */
int grt_submitters_call(struct grt_submitters *s, uint32_t pid, uint32_t tid, enum grt_submitter_calls kind,
			const struct grt_submitter_piece *p);

/**
 * grt_submitters_divide - divides a time by the activity of a thread, without gap or overlap
 * @put: gets each part, in order; a result other than 0 ends the loop
 * Return: 0, or the result of @put
 */
int grt_submitters_divide(struct grt_submitters *s, uint32_t pid, uint32_t tid, enum grt_submitter_calls kind,
			  uint64_t from, uint64_t to,
			  int (*put)(void *arg, const struct grt_submitter_piece *p), void *arg);

/**
 * grt_submitters_returned - when a thread returned from the call of a kind that it entered at @entered
 * Return: the time; 0: there is no such call, or it took no time
 */
uint64_t grt_submitters_returned(struct grt_submitters *s, uint32_t pid, uint32_t tid,
				 enum grt_submitter_calls kind, uint64_t entered);

/** grt_submitters_free - frees and empties it */
void grt_submitters_free(struct grt_submitters *s);

#endif /* GRT_IDLE_SUBMITTERS_H */
