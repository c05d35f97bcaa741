/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jobs of the software GPU, for tests of what drops, holds or sums up events:
 * which events the adapter drm_bridge must have emitted of them, and between
 * which moments each was, by what that GPU itself says. Programs that use it
 * have one set of jobs at a time.
 */
#ifndef REAL_H
#define REAL_H

#include <stdbool.h>
#include <stdint.h>

#include "kmod.h"
#include "softgpu.h"

#define REAL_JOBS_MAX 2048
#define REAL_STEPS 5

/* Stamps of the two modules are of one clock, read in two ways that may differ by this. */
#define REAL_SLACK_NS 2000ULL

/**
 * struct real_step - an event that was emitted
 * @type: GRT_EV_*
 * @from, @to: its stamp lies between these
 * @e: its record in the capture of real_join(); NULL: it was not delivered
 */
struct real_step {
	unsigned int type;
	uint64_t from;
	uint64_t to;
	const struct grt_event *e;
};

/**
 * struct real_job - a job that is over
 * @r: what the software GPU says of it
 * @ring: its ring's id in grtrace
 * @step: its events, in their order
 * @steps: how many
 * @record: its JOB record in the capture; NULL: none
 */
struct real_job {
	struct grtrace_softgpu_result r;
	uint32_t ring;
	struct real_step step[REAL_STEPS];
	unsigned int steps;
	const struct grt_event *record;
};

/**
 * struct real - the jobs
 * @gpu: the open device
 * @want: filled in by the test; their cookies are their indices here
 * @job: the same jobs, when they are over
 * @jobs: how many there are
 */
struct real {
	struct softgpu gpu;
	struct grtrace_softgpu_job want[REAL_JOBS_MAX];
	struct real_job job[REAL_JOBS_MAX];
	unsigned int jobs;
};

extern struct real real;

/** real_here - opens the device, with no jobs yet. Return: false after skipping the case: there is none */
bool real_here(void);

/** real_mix - @count more jobs of about @duration ns on all rings and priorities, some of which fail */
void real_mix(unsigned int count, uint64_t duration);

/** real_submit - the jobs from @first on. Return: false after failing the case */
bool real_submit(unsigned int first, unsigned int count);

/** real_submit_as - the same by another process, of user @uid. Return: its pid, 0 after failing the case */
uint32_t real_submit_as(uint32_t uid, unsigned int first, unsigned int count);

/** real_play - all jobs, @batch at a time every @gap_us. Return: false after failing the case */
bool real_play(unsigned int batch, unsigned int gap_us);

/**
 * real_over - waits until all jobs are over and have emitted their events
 * Return: false after failing the case; else real.job and its steps are filled in
 */
bool real_over(void);

/**
 * real_join - finds the records of all steps in a capture
 * @c: valid; of these jobs only. AGGREGATE records are left out
 *
 * Each record must be one step's, or one job's JOB record, with its stamps between
 * the moments that are known of them, the submitter's pid and the ring.
 * Return: false after failing the case
 */
bool real_join(const struct capture *c);

/** real_ring - id in grtrace of the GPU's ring @index, once it had a job; GRT_RING_NONE before */
uint32_t real_ring(unsigned int index);

/** real_steps - how many events the jobs have emitted */
uint64_t real_steps(void);

/** real_delivered - how many of them have a record */
uint64_t real_delivered(void);

/** real_whole - whether the job has records of all of its steps: 1, of none: 0, of some: -1 */
int real_whole(const struct real_job *j);

/** real_latency - from SUBMIT to COMPLETE, at least and at most */
void real_latency(const struct real_job *j, uint64_t *least, uint64_t *most);

/** real_none_refused - whether no step that is known to have been between these moments lacks its record;
 *		       false after failing the case
 */
bool real_none_refused(uint64_t from, uint64_t to);

/**
 * real_records - all records of a capture that are steps, by time
 * @n: gets how many
 * Return: an array to be freed
 */
const struct grt_event **real_records(const struct capture *c, unsigned int *n);

#endif /* REAL_H */
