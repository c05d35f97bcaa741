/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What the main threads of processes did, from the records of threads that are in the
 * recording beside those of CUDA: any span of theirs, divided into the states of
 * thread_states.def.
 *
 * Memory is 24 bytes for each piece of a main thread's life, and that of threads/threads.h.
 */
#ifndef GRT_CUDA_RANK_THREADS_H
#define GRT_CUDA_RANK_THREADS_H

#include "threads/threads.h"

/* Pieces of all main threads; what comes beyond is unknown, and counted. */
#define GRT_RANK_PIECES_MAX (1U << 23)

/**
 * struct grt_rank_spent - what spans of a main thread were
 * @ns: by state; @all: their sum, 0: nothing is known of it
 */
struct grt_rank_spent {
	uint64_t ns[GRT_THREAD_STATES];
	uint64_t all;
};

struct grt_rank_threads;

/** grt_rank_threads_new - begins. Return: 0 or -ENOMEM */
int grt_rank_threads_new(struct grt_rank_threads **out);

/** grt_rank_threads_within - before the first event: what is before @ns does not count */
void grt_rank_threads_within(struct grt_rank_threads *t, uint64_t ns);

/** grt_rank_threads_event - takes in an event, see grt_threads_event(). Return: 0 or -ENOMEM */
int grt_rank_threads_event(struct grt_rank_threads *t, const struct grt_event *e);

/** grt_rank_threads_end - the trace is over. Return: 0 or -ENOMEM */
int grt_rank_threads_end(struct grt_rank_threads *t);

/** grt_rank_threads_add - adds to @spent what a process's main thread did from one moment to another */
void grt_rank_threads_add(const struct grt_rank_threads *t, uint32_t pid, uint64_t from, uint64_t to,
			  struct grt_rank_spent *spent);

/** grt_rank_spent_text - "sleep 93 %, running 7 %": the states of half a percent and more; empty where
 * nothing is known */
void grt_rank_spent_text(const struct grt_rank_spent *spent, char *text, size_t room);

/** grt_rank_threads_over - pieces that are not kept */
uint64_t grt_rank_threads_over(const struct grt_rank_threads *t);

/** grt_rank_threads_free - frees it; NULL is allowed */
void grt_rank_threads_free(struct grt_rank_threads *t);

#endif /* GRT_CUDA_RANK_THREADS_H */
