// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Notes about jobs. */
#include <inttypes.h>

#include "codes/firmware.h"
#include "job_stats.h"

/*
 * Return: number of events that may be missing from the order of a ring's jobs; events that a level leaves
 * out never belong to it.
 */
static uint64_t not_recorded(const struct grt_health *h, uint64_t replaced)
{
	static const enum grt_fate fates[] = {
		GRT_FATE_FILTERED,   GRT_FATE_WATCH_DENIED, GRT_FATE_SAMPLED_OUT, GRT_FATE_RATE_LIMITED,
		GRT_FATE_AGGREGATED, GRT_FATE_LOST,	    GRT_FATE_UNHELD};
	uint64_t sum = h->missing_events;

	for (unsigned int i = 0; i < sizeof(fates) / sizeof(fates[0]); i++)
		sum += h->balance.fate[fates[i]];
	/* the jobs that a JOB record represents are counted as `aggregated`, and are in the trace */
	return sum > replaced ? sum - replaced : 0;
}

void grt_jobs_notes(struct grt_notes *n, const struct grt_jobs *jobs, const struct grt_health *h)
{
	const struct grt_jobs_count count = grt_jobs_count(jobs), *c = &count;

	if (c->sample_min && c->sample_min == c->sample_max)
		grt_note(n, "sampled at %u %%: counts are estimates", c->sample_min);
	else if (c->sample_min)
		grt_note(n, "sampled at %u to %u %%: counts are estimates", c->sample_min, c->sample_max);
	if (h && c->inferred_start && not_recorded(h, c->replaced))
		grt_note(n,
			 "inferred times assume that the trace has all jobs of a ring, but %" PRIu64
			 " {event is|events are} missing",
			 not_recorded(h, c->replaced));
	if (grt_jobs_chosen(jobs))
		grt_note(
			n,
			"%" PRIu64
			" {job is|jobs are} one JOB record each: {its|their} waits are mostly unknown, and shorter jobs may be missing",
			grt_jobs_chosen(jobs));
	if (c->no_status)
		grt_note(
			n,
			"%" PRIu64
			" {job|jobs} completed with an unknown result (no event says whether {it|they} failed)",
			c->no_status);
	if (c->firmware_start)
		grt_note(
			n,
			"%" PRIu64
			" {job has|jobs have} no START: firmware schedules {its|their} queues (" GRT_FIRMWARE_DRIVERS
			"), so waiting in the firmware and execution cannot be separated",
			c->firmware_start);
	if (c->unordered_start)
		grt_note(
			n,
			"%" PRIu64
			" {job has|jobs have} no START: it can be inferred only when all jobs of a ring are recorded",
			c->unordered_start);
}
