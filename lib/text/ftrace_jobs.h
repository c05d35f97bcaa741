/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Which job a line of ftrace text is about. Lines name it by its fence's
 * context and number (cut to 32 bits in some), by the fence's address, or by
 * its id on a ring; here each of these leads to the one job. Of fixed size: the
 * oldest job gives way.
 */
#ifndef GRT_TEXT_FTRACE_JOBS_H
#define GRT_TEXT_FTRACE_JOBS_H

#include <stdbool.h>
#include <stdint.h>

/* Jobs and fences known at a time. */
#define FTRACE_JOBS 16384U
/* Completions for which a complete job is known still: few, so that its memory is used again while it is
 * warm. */
#define FTRACE_DONE 1024U
/* Jobs on the hardware whose END has no key, see ftrace_jobs_oldest(). */
#define FTRACE_RUNNING 256U

/* ftrace_job.seen: events of its life that have been put; the same shifted by 8: only inferred */
#define FTRACE_SUBMIT 1U
#define FTRACE_COMMIT 2U
#define FTRACE_END 4U
#define FTRACE_COMPLETE 8U
#define FTRACE_INFERRED(seen) ((seen) << 8)
/* The scheduler's own events of it have been seen: the next of the same is another job. */
#define FTRACE_QUEUED (1U << 16)
#define FTRACE_RUN (1U << 17)
/* Its fence is signalled when the hardware is done: that is its END, too. */
#define FTRACE_FENCE_IS_END (1U << 18)
/* It is no job but a fence of a text that has no jobs: from when it was made until it is signalled. */
#define FTRACE_SPAN (1U << 19)

/**
 * struct ftrace_job - a job, or a fence that a job waits for (@seen is 0 then)
 * @ctx, @seqno: as its events carry them
 * @key_ctx, @key_seqno: its fence's, cut to 32 bits; 0: unknown
 * @fence: address of its fence as printed, 0: unknown
 * @ring, @id: the ring, and where @has_id its id there
 * @tid, @pid: of the submitter
 * @queued, @run: stamps of the scheduler's own events of it
 * @ticks: the GPU's counter at @run, 0: unknown
 * @waiters: jobs that wait for it
 * @serial: which of its slot's; 0: none
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

/** struct ftrace_running - a job on the hardware, or one that is complete */
struct ftrace_running {
	uint32_t slot;
	uint32_t ring;
	uint64_t serial;
};

/** struct ftrace_jobs - all zero is empty */
struct ftrace_jobs {
	struct ftrace_job job[FTRACE_JOBS];
	uint32_t used;
	uint32_t oldest; /* to give way next where all are used */
	uint32_t spare[FTRACE_DONE];
	uint32_t spares;
	struct ftrace_running done[FTRACE_DONE]; /* those that are complete, in a circle */
	uint64_t dones;
	uint32_t place[8 * FTRACE_JOBS]; /* slot plus 1, by a hash of a key */
	uint64_t serial;
	struct ftrace_running running[FTRACE_RUNNING];
	uint32_t runnings;
};

/** ftrace_jobs_new - another job; it has no key and no identity yet */
struct ftrace_job *ftrace_jobs_new(struct ftrace_jobs *j);

/** ftrace_jobs_done - the job is complete: soon it need not be known any more */
void ftrace_jobs_done(struct ftrace_jobs *j, const struct ftrace_job *job);

/** ftrace_jobs_set_key, _set_fence, _set_id - from now on the job is found by this; the job that was is not
 */
void ftrace_jobs_set_key(struct ftrace_jobs *j, struct ftrace_job *job, uint64_t ctx, uint64_t seqno);
void ftrace_jobs_set_fence(struct ftrace_jobs *j, struct ftrace_job *job, uint64_t fence);
void ftrace_jobs_set_id(struct ftrace_jobs *j, struct ftrace_job *job, uint32_t ring, uint64_t id);

/** ftrace_jobs_by_key, _by_fence, _by_id - the job, NULL: none is known */
struct ftrace_job *ftrace_jobs_by_key(struct ftrace_jobs *j, uint64_t ctx, uint64_t seqno);
struct ftrace_job *ftrace_jobs_by_fence(struct ftrace_jobs *j, uint64_t fence);
struct ftrace_job *ftrace_jobs_by_id(struct ftrace_jobs *j, uint32_t ring, uint64_t id);

/**
 * ftrace_jobs_run - the job went to the hardware, and what it will be known by at its end is not printed
 * @hw_jobs: jobs on the ring with this one: if more are thought to be there, the
 *	oldest must have ended; 0: unknown
 */
void ftrace_jobs_run(struct ftrace_jobs *j, const struct ftrace_job *job, uint64_t hw_jobs);

/** ftrace_jobs_oldest - the job that has been on the hardware longest, which it leaves; NULL: none */
struct ftrace_job *ftrace_jobs_oldest(struct ftrace_jobs *j);

#endif /* GRT_TEXT_FTRACE_JOBS_H */
