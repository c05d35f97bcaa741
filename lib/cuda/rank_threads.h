/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The states of the main threads of processes, from the records of threads in a recording
 * of CUDA: any span of a main thread, divided into the states of thread_states.def.
 *
 * Memory is 24 bytes for each piece of a main thread's life, and that of threads/threads.h.
 */
#ifndef GRT_CUDA_RANK_THREADS_H
#define GRT_CUDA_RANK_THREADS_H

#include "threads/threads.h"

/* Most pieces of all main threads; further pieces are unknown, and counted. */
#define GRT_RANK_PIECES_MAX (1U << 23)

/**
 * struct grt_rank_spent - the states of a main thread in some spans
 * @ns: time by state; @all: their sum, 0: the states are unknown
 */
struct grt_rank_spent {
	uint64_t ns[GRT_THREAD_STATES];
	uint64_t all;
};

struct grt_rank_threads;

/** grt_rank_threads_new - begins. Return: 0 or -ENOMEM */
int grt_rank_threads_new(struct grt_rank_threads **out);

/** grt_rank_threads_within - ignores time before @ns; to be called before the first event */
void grt_rank_threads_within(struct grt_rank_threads *t, uint64_t ns);

/** grt_rank_threads_event - processes an event, see grt_threads_event(). Return: 0 or -ENOMEM */
int grt_rank_threads_event(struct grt_rank_threads *t, const struct grt_event *e);

/** grt_rank_threads_end - ends the trace. Return: 0 or -ENOMEM */
int grt_rank_threads_end(struct grt_rank_threads *t);

/** grt_rank_threads_add - adds the states of a process's main thread from @from to @to to @spent */
void grt_rank_threads_add(const struct grt_rank_threads *t, uint32_t pid, uint64_t from, uint64_t to,
			  struct grt_rank_spent *spent);

/** grt_rank_spent_text - "sleep 93 %, running 7 %": the states with half a percent or more; empty: the states
 * are unknown */
void grt_rank_spent_text(const struct grt_rank_spent *spent, char *text, size_t room);

/** grt_rank_threads_over - pieces that are not kept */
uint64_t grt_rank_threads_over(const struct grt_rank_threads *t);

/** grt_rank_threads_free - frees it; NULL is allowed */
void grt_rank_threads_free(struct grt_rank_threads *t);

#endif /* GRT_CUDA_RANK_THREADS_H */
