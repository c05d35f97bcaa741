/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Remembers the fences that a thread has made for jobs that it has not queued yet. Up to Linux 6.14, the
 * scheduler's events name a job's finished fence only by its address. The fence's context and number are in
 * two dma_fence_init lines that the same thread wrote just before: drm_sched_job_arm() in sched_main.c makes
 * the scheduled and the finished fence, with contexts n and n + 1 and the same number. A thread queues its
 * jobs in the order in which it armed them.
 */
#ifndef GRT_TEXT_FTRACE_ARMED_H
#define GRT_TEXT_FTRACE_ARMED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/scan.h"

/* Places for threads, by the number of the thread; two threads with one place replace each other. */
#define FTRACE_ARMERS 64U
/* Jobs that a thread may arm before it queues the first one: amdgpu has gangs of 4. */
#define FTRACE_ARMED 4U

/* Room for a ring's name; fences of rings with longer names are not remembered. */
#define FTRACE_ARMED_RING 48U

/** struct ftrace_armed - the fence of a job, with the name of the job's ring; @ctx 0: there is no fence */
struct ftrace_armed {
	uint64_t ctx;
	uint64_t seqno;
	char ring[FTRACE_ARMED_RING];
	uint32_t ring_len;
};

/**
 * struct ftrace_armer - a thread that arms jobs
 * @n: number of jobs in @job, which are armed and not queued
 * @queued: the thread has queued a job since it last armed one. If it arms again, jobs that are still in @job
 *	are dropped: the lines that queued them were lost
 * @scheduled: the last fence, if it can be the scheduled fence of a job
 */
struct ftrace_armer {
	uint32_t tid;
	uint32_t n;
	bool queued;
	struct ftrace_armed scheduled;
	struct ftrace_armed job[FTRACE_ARMED];
};

/** ftrace_armer_init - takes a dma_fence_init line of the thread @tid for a fence of the scheduler's @ring */
void ftrace_armer_init(struct ftrace_armer *a, uint32_t tid, uint64_t ctx, uint64_t seqno,
		       struct grt_span ring);

/**
 * ftrace_armer_take - finds the fence of the job that the thread @tid queues, and forgets it
 * @ring: the job's ring; empty: any ring, because the line does not name it
 * @job: gets the fence
 * Return: whether the thread had armed such a job
 */
bool ftrace_armer_take(struct ftrace_armer *a, uint32_t tid, struct grt_span ring, struct ftrace_armed *job);

#endif /* GRT_TEXT_FTRACE_ARMED_H */
