/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Durations of the phases of jobs, by ring: in the driver's scheduler, waiting on the
 * ring for other jobs, on the hardware, and until the fence is signalled.
 */
#ifndef GRT_JOBS_PHASES_H
#define GRT_JOBS_PHASES_H

#include "base/hist.h"
#include "jobs.h"

/* Most rings with a row; jobs of further rings are counted. */
#define GRT_PHASES_RINGS_MAX 1024U

/**
 * struct grt_ring_phases - the jobs of a ring
 * @ring, @device: GRT_RING_NONE if the ring is unknown
 * @engine: enum grt_engine
 * @jobs: sum of weights, see hist.h
 * @records: jobs in the trace
 * @incomplete, @failed: number of such jobs
 * @slow: sum of weights of jobs whose t_sched is above the given limit
 * @waits: waits of threads for these jobs, sum of weights
 * @wait_ns: sum of weight * time of these waits
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

/** grt_phases_new - begins; @slow_ns is the limit for @slow. Return: 0 or -ENOMEM */
int grt_phases_new(struct grt_phases **out, uint64_t slow_ns);

/** grt_phases_job - processes a job, see struct grt_jobs_sink. Return: 0 or -ENOMEM */
int grt_phases_job(struct grt_phases *p, const struct grt_job *job);

/**
 * grt_phases_each - the rings in order of appearance: the one after @last, the first for NULL; NULL at the
 * end
 */
const struct grt_ring_phases *grt_phases_each(const struct grt_phases *p, const struct grt_ring_phases *last);

/** grt_phases_over - jobs without a row because there were more than GRT_PHASES_RINGS_MAX rings */
uint64_t grt_phases_over(const struct grt_phases *p);

/** grt_phase_name - "t_sched", "t_queue", "t_exec", "t_complete" */
const char *grt_phase_name(enum grt_phase phase);

/** grt_phases_free - frees it; NULL is allowed */
void grt_phases_free(struct grt_phases *p);

#endif /* GRT_JOBS_PHASES_H */
