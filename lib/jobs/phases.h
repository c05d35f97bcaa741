/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Durations of the phases of jobs, by ring: in the driver's scheduler, behind
 * other jobs on the ring, on the hardware, and until the fence is signalled.
 */
#ifndef GRT_JOBS_PHASES_H
#define GRT_JOBS_PHASES_H

#include "base/hist.h"
#include "jobs.h"

/* Rings that are distinguished; jobs of what comes later are counted. */
#define GRT_PHASES_RINGS_MAX 1024U

/**
 * struct grt_ring_phases - the jobs of a ring
 * @ring, @device: GRT_RING_NONE where the ring is unknown
 * @engine: enum grt_engine
 * @jobs: sum of weights, see hist.h
 * @records: jobs in the trace
 * @incomplete, @failed: of these
 * @slow: sum of weights of jobs whose t_sched is above the bound given
 * @waits: waits of threads for these jobs, sum of weights
 * @wait_ns: sum of weight * time of these
 * @phase: by enum grt_phase, ns
 * @gpu_wait: t_gpu_wait of the jobs that have it, ns
 */
struct grt_ring_phases {
	uint32_t ring;
	uint32_t device;
	uint8_t engine;
	uint64_t jobs;
	uint64_t records;
	uint64_t incomplete;
	uint64_t failed;
	uint64_t slow;
	uint64_t waits;
	unsigned __int128 wait_ns;
	struct grt_hist phase[GRT_PHASES];
	struct grt_hist gpu_wait;
};

struct grt_phases;

/** grt_phases_new - begins; @slow_ns is the bound of @slow. Return: 0 or -ENOMEM */
int grt_phases_new(struct grt_phases **out, uint64_t slow_ns);

/** grt_phases_job - takes in a job, see struct grt_jobs_sink. Return: 0 or -ENOMEM */
int grt_phases_job(struct grt_phases *p, const struct grt_job *job);

/** grt_phases_each - the rings in the order of appearance: after @last, NULL for the first; NULL at the end
 */
const struct grt_ring_phases *grt_phases_each(const struct grt_phases *p, const struct grt_ring_phases *last);

/** grt_phases_over - jobs that are in no row because there were more than GRT_PHASES_RINGS_MAX rings */
uint64_t grt_phases_over(const struct grt_phases *p);

/** grt_phase_name - "t_sched", "t_queue", "t_exec", "t_complete" */
const char *grt_phase_name(enum grt_phase phase);

/** grt_phases_free - frees it; NULL is allowed */
void grt_phases_free(struct grt_phases *p);

#endif /* GRT_JOBS_PHASES_H */
