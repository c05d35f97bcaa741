/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Which fences a thread has made for jobs that it has not queued yet. To 6.14
 * the scheduler's events name a job's finished fence by its address alone; its
 * context and number are in the two dma_fence_init lines that the thread left
 * just before (drm_sched_job_arm() in sched_main.c: scheduled and finished,
 * contexts n and n + 1, the same number). Jobs are armed and queued by one
 * thread in one order.
 */
#ifndef GRT_TEXT_FTRACE_ARMED_H
#define GRT_TEXT_FTRACE_ARMED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/scan.h"

/* Threads, by their number; jobs that one arms before it queues the first: amdgpu has gangs of 4. */
#define FTRACE_ARMERS 64U
#define FTRACE_ARMED 4U

/* Room for a ring's name; longer ones are not remembered. */
#define FTRACE_ARMED_RING 48U

/** struct ftrace_armed - a finished fence; @ctx 0: none */
struct ftrace_armed {
	uint64_t ctx;
	uint64_t seqno;
	char ring[FTRACE_ARMED_RING];
	uint32_t ring_len;
};

/** struct ftrace_armer - a thread; @queued: it has queued since it armed, so what is left is of a line that
 * was lost */
struct ftrace_armer {
	uint32_t tid;
	uint32_t n;
	bool queued;
	struct ftrace_armed scheduled;
	struct ftrace_armed job[FTRACE_ARMED];
};

/** ftrace_armer_init - a fence of the scheduler was made by the thread */
void ftrace_armer_init(struct ftrace_armer *a, uint32_t tid, uint64_t ctx, uint64_t seqno,
		       struct grt_span ring);

/**
 * ftrace_armer_take - the fence of the job that the thread queues
 * @ring: of the job; empty: unknown, any
 * Return: it is known, and no longer after this
 */
bool ftrace_armer_take(struct ftrace_armer *a, uint32_t tid, struct grt_span ring, struct ftrace_armed *job);

#endif /* GRT_TEXT_FTRACE_ARMED_H */
