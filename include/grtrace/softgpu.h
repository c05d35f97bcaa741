/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * ioctls of the software GPU (kernel/softgpu), a DRM device named
 * "grtrace_softgpu". Structs are the same for 32 and 64 bit programs. Fields
 * named pad and flags that have no meaning here must be 0. See docs/softgpu.md.
 *
 * Stamps are CLOCK_MONOTONIC in ns.
 */
#ifndef GRTRACE_SOFTGPU_H
#define GRTRACE_SOFTGPU_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define GRTRACE_SOFTGPU_DRIVER "grtrace_softgpu"

enum grtrace_softgpu_type {
	GRTRACE_SOFTGPU_GFX,
	GRTRACE_SOFTGPU_COMPUTE,
	GRTRACE_SOFTGPU_SDMA,
	GRTRACE_SOFTGPU_VIDEO,
	GRTRACE_SOFTGPU_TYPES,
};

enum grtrace_softgpu_priority {
	GRTRACE_SOFTGPU_NORMAL,
	GRTRACE_SOFTGPU_LOW,
	GRTRACE_SOFTGPU_HIGH,
	GRTRACE_SOFTGPU_PRIORITIES,
};

/* Rings of a type; longest job; dependencies of a job; jobs of one SUBMIT. */
#define GRTRACE_SOFTGPU_RINGS_MAX 8
#define GRTRACE_SOFTGPU_DURATION_MAX 60000000000ULL
#define GRTRACE_SOFTGPU_DEPS_MAX 64
#define GRTRACE_SOFTGPU_BATCH_MAX 1024

/**
 * struct grtrace_softgpu_ring - DRM_IOCTL_GRTRACE_SOFTGPU_RING: one ring
 * @index: in: which, from 0
 * @count: out: how many there are
 * @type: out: enum grtrace_softgpu_type
 * @hw_depth: out: jobs that it holds besides those queued in the scheduler
 * @timeout_ms: out: after this a job has hung; 0: never
 * @jobs_max: out: jobs that an open file may have submitted and not read the results of
 * @name: out: as the kernel's events name it
 *
 * @name is empty where there is no ring @index.
 */
struct grtrace_softgpu_ring {
	__u32 index;
	__u32 count;
	__u32 type;
	__u32 hw_depth;
	__u32 timeout_ms;
	__u32 jobs_max;
	char name[32];
};

/* grtrace_softgpu_job.flags */
#define GRTRACE_SOFTGPU_HANG (1U << 0)	 /* never ends, until the timeout */
#define GRTRACE_SOFTGPU_REFUSE (1U << 1) /* the driver's run_job() fails with @error */
#define GRTRACE_SOFTGPU_FLAGS (GRTRACE_SOFTGPU_HANG | GRTRACE_SOFTGPU_REFUSE)

/**
 * struct grtrace_softgpu_job - one job to run
 * @duration: ns on the hardware
 * @cookie: the caller's, given back in the result
 * @in_syncs: array of @in_count handles of DRM sync objects whose fences must be signalled first
 * @in_count: up to GRTRACE_SOFTGPU_DEPS_MAX
 * @out_sync: sync object that gets the job's fence, 0: none
 * @ring: index
 * @priority: enum grtrace_softgpu_priority
 * @flags: GRTRACE_SOFTGPU_*
 * @error: 0, or -errno with which its fence is signalled
 * @ctx, @seqno: out: its finished fence, as the scheduler's events name it
 */
struct grtrace_softgpu_job {
	__u64 duration;
	__u64 cookie;
	__u64 in_syncs;
	__u32 in_count;
	__u32 out_sync;
	__u32 ring;
	__u32 priority;
	__u32 flags;
	__s32 error;
	__u64 ctx;
	__u64 seqno;
};

/**
 * struct grtrace_softgpu_submit - DRM_IOCTL_GRTRACE_SOFTGPU_SUBMIT: jobs, in this order
 * @jobs: array of struct grtrace_softgpu_job
 * @count: how many, from 1 to GRTRACE_SOFTGPU_BATCH_MAX
 * @done: out: how many were submitted
 *
 * Succeeds when at least one was; the error is that of the first one else.
 * EAGAIN: jobs_max are in flight or unread.
 */
struct grtrace_softgpu_submit {
	__u64 jobs;
	__u32 count;
	__u32 done;
};

enum grtrace_softgpu_state {
	GRTRACE_SOFTGPU_DONE,	 /* ran; its status is @error of the job */
	GRTRACE_SOFTGPU_TIMEOUT, /* aborted by the scheduler's timeout: -ETIMEDOUT */
	GRTRACE_SOFTGPU_REFUSED, /* never on the hardware: no start, no end */
	GRTRACE_SOFTGPU_KILLED,	 /* taken from the queue before it ran: no run, start, end */
	GRTRACE_SOFTGPU_STATES,
};

/**
 * struct grtrace_softgpu_result - what became of a job
 * @ctx, @seqno: its finished fence
 * @hw_ctx, @hw_seqno: its hardware fence, 0: never had one
 * @cookie, @duration: as submitted
 * @submit: right before drm_sched_entity_push_job()
 * @run: on entry to run_job()
 * @start: the later of @run and the @end before it on its ring
 * @end: in the handler of the timer (or of the timeout), right before the hardware fence is signalled
 * @ring: index
 * @state: enum grtrace_softgpu_state
 * @status: 0 or -errno
 * @pid, @tid: of the submitter
 *
 * A stamp of what did not happen is 0.
 */
struct grtrace_softgpu_result {
	__u64 ctx;
	__u64 seqno;
	__u64 hw_ctx;
	__u64 hw_seqno;
	__u64 cookie;
	__u64 duration;
	__u64 submit;
	__u64 run;
	__u64 start;
	__u64 end;
	__u32 ring;
	__u32 state;
	__s32 status;
	__u32 pid;
	__u32 tid;
	__u32 pad;
};

/**
 * struct grtrace_softgpu_results - DRM_IOCTL_GRTRACE_SOFTGPU_RESULTS: jobs that are over, in the order in
 * which they were
 * @results: array of struct grtrace_softgpu_result
 * @capacity: of the array, in results
 * @count: out: how many there are
 * @timeout: ns to wait for the first one while jobs are in flight
 * @in_flight: out: jobs of this open file that are not over
 * @pad: 0
 */
struct grtrace_softgpu_results {
	__u64 results;
	__u64 timeout;
	__u32 capacity;
	__u32 count;
	__u32 in_flight;
	__u32 pad;
};

/* 'd' and DRM_COMMAND_BASE of drm/drm.h, which is not everywhere. */
#define GRTRACE_SOFTGPU_IO(nr, type) _IOWR('d', 0x40 + (nr), type)

#define DRM_IOCTL_GRTRACE_SOFTGPU_RING GRTRACE_SOFTGPU_IO(0, struct grtrace_softgpu_ring)
#define DRM_IOCTL_GRTRACE_SOFTGPU_SUBMIT GRTRACE_SOFTGPU_IO(1, struct grtrace_softgpu_submit)
#define DRM_IOCTL_GRTRACE_SOFTGPU_RESULTS GRTRACE_SOFTGPU_IO(2, struct grtrace_softgpu_results)

#endif /* GRTRACE_SOFTGPU_H */
