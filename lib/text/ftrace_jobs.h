/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Finds the job that a line of ftrace text reports. Lines name a job by the context and number of its fence
 * (cut to 32 bits in some), by the address of the fence, or by the job's id on a ring; a job is found by each
 * of them. The memory is fixed: a new job replaces the oldest one.
 */
#ifndef GRT_TEXT_FTRACE_JOBS_H
#define GRT_TEXT_FTRACE_JOBS_H

#include <stdbool.h>
#include <stdint.h>

/* Jobs and fences that are kept at a time. */
#define FTRACE_JOBS 16384U
/* A completed job is kept until this many others have completed. They are few, so that memory is used again
 * while it is in the CPU's cache. */
#define FTRACE_DONE 1024U
/* Jobs on the hardware that are kept for ends that name no job, see ftrace_jobs_oldest(). */
#define FTRACE_RUNNING 256U

/* Bits of ftrace_job.seen: events of the job that were put; shifted by 8: that were put as inferred ones. */
#define FTRACE_SUBMIT 1U
#define FTRACE_COMMIT 2U
#define FTRACE_END 4U
#define FTRACE_COMPLETE 8U
#define FTRACE_INFERRED(seen) ((seen) << 8)
/* The scheduler's events of the job were seen: the next such event with the same identity is another job. */
#define FTRACE_QUEUED (1U << 16)
#define FTRACE_RUN (1U << 17)
/* The job's fence is signalled when the hardware is done, so the signal is also its END. */
#define FTRACE_FENCE_IS_END (1U << 18)
/* It is a fence of a text without jobs, shown as a span from its creation until it is signalled. */
#define FTRACE_SPAN (1U << 19)

/**
 * struct ftrace_job - a job, or a fence for which a job waits (@seen is 0 then)
 * @ctx, @seqno: the identity in the events that are put
 * @key_ctx, @key_seqno: context and number of its fence in the text, cut to 32 bits; @key_ctx 0: unknown
 * @fence: address of its fence as printed, 0: unknown
 * @ring, @id: its ring, and its id on the ring if @has_id
 * @tid, @pid: the thread and process that submitted it
 * @queued, @run: times of the scheduler's events of it, ns
 * @ticks: the GPU's counter at @run, 0: unknown
 * @waiters: number of jobs that wait for it
 * @serial: number of the job, different for each; 0: the place is free
 */
struct ftrace_job {
	uint64_t ctx;
	uint64_t seqno;
	uint64_t fence;
	uint64_t id;
	uint64_t queued;
	uint64_t run;
	uint64_t ticks;
	uint64_t serial;
	uint32_t key_ctx;
	uint32_t key_seqno;
	uint32_t ring;
	uint32_t device;
	uint32_t tid;
	uint32_t pid;
	uint32_t waiters;
	uint32_t seen;
	uint8_t engine;
	bool has_id;
};

/**
 * struct ftrace_running - refers to a job on the hardware, or a completed one
 * @slot: its place in ftrace_jobs.job; the place has another job by now if its serial is not @serial
 */
struct ftrace_running {
	uint32_t slot;
	uint32_t ring;
	uint64_t serial;
};

/** struct ftrace_jobs - the jobs of a text; all bytes zero: no job */
struct ftrace_jobs {
	struct ftrace_job job[FTRACE_JOBS];
	uint32_t used;
	uint32_t oldest;	     /* the slot to be replaced next once all are used */
	uint32_t spare[FTRACE_DONE]; /* free slots of completed jobs */
	uint32_t spares;
	struct ftrace_running done[FTRACE_DONE]; /* ring buffer of completed jobs */
	uint64_t dones;
	uint32_t place[8 * FTRACE_JOBS]; /* slot plus 1, by a hash of a key */
	uint64_t serial;
	struct ftrace_running running[FTRACE_RUNNING];
	uint32_t runnings;
};

/** ftrace_jobs_new - Return: a new job without identity and keys; valid until FTRACE_JOBS others were made */
struct ftrace_job *ftrace_jobs_new(struct ftrace_jobs *j);

/**
 * ftrace_jobs_done - the job is complete: its memory may be used again after FTRACE_DONE other completions
 */
void ftrace_jobs_done(struct ftrace_jobs *j, const struct ftrace_job *job);

/** ftrace_jobs_set_key, _set_fence, _set_id - makes the job the one that is found by this key */
void ftrace_jobs_set_key(struct ftrace_jobs *j, struct ftrace_job *job, uint64_t ctx, uint64_t seqno);
void ftrace_jobs_set_fence(struct ftrace_jobs *j, struct ftrace_job *job, uint64_t fence);
void ftrace_jobs_set_id(struct ftrace_jobs *j, struct ftrace_job *job, uint32_t ring, uint64_t id);

/** ftrace_jobs_by_key, _by_fence, _by_id - Return: the job with this key, NULL: there is none */
struct ftrace_job *ftrace_jobs_by_key(struct ftrace_jobs *j, uint64_t ctx, uint64_t seqno);
struct ftrace_job *ftrace_jobs_by_fence(struct ftrace_jobs *j, uint64_t fence);
struct ftrace_job *ftrace_jobs_by_id(struct ftrace_jobs *j, uint32_t ring, uint64_t id);

/**
 * ftrace_jobs_run - notes that the job went to the hardware, for a text whose lines of ends name no job
 * @hw_jobs: number of jobs on the ring including this one, as the line prints it; 0: unknown. If more are
 *	noted, the oldest of them ended without a line, and are forgotten
 */
void ftrace_jobs_run(struct ftrace_jobs *j, const struct ftrace_job *job, uint64_t hw_jobs);

/**
 * ftrace_jobs_oldest - Return: the job that went to the hardware first, and forgets it; NULL: there is none
 */
struct ftrace_job *ftrace_jobs_oldest(struct ftrace_jobs *j);

#endif /* GRT_TEXT_FTRACE_JOBS_H */
