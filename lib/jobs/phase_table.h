/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Tables of the durations of a ring's jobs: percentiles of each phase, and
 * jobs by power of two. The view of both tables is a struct grt_names.
 */
#ifndef GRT_JOBS_PHASE_TABLE_H
#define GRT_JOBS_PHASE_TABLE_H

#include "phases.h"
#include "table/table.h"

/* The phases of a job, and the waits of threads for it, in the order in which they are shown. */
#define GRT_LATENCIES (GRT_PHASES + 1)

/**
 * struct grt_latency_row - a row of grt_latency_table
 * @name: name of the phase, "t_exec"
 */
struct grt_latency_row {
	const struct grt_ring_phases *ring;
	const struct grt_hist *hist;
	const char *name;
};

/** grt_latency - the @i-th row (< GRT_LATENCIES) of a ring */
struct grt_latency_row grt_latency(const struct grt_ring_phases *ring, unsigned int i);

/**
 * struct grt_power_row - a row of grt_power_table: durations from @from up to, not including, @to
 * @weight: sum of the weights of the jobs with this duration
 */
struct grt_power_row {
	struct grt_latency_row of;
	uint64_t from;
	uint64_t to;
	uint64_t weight;
};

/**
 * grt_powers - the powers of two between the shortest and the longest duration
 * @row: gets the rows, ascending
 * Return: their number, 0: there are no jobs, or there was no memory for the histogram
 */
unsigned int grt_powers(const struct grt_latency_row *of, struct grt_power_row row[GRT_HIST_POWERS]);

/** grt_phases_list - the rings, those with the most jobs first. Return: their number */
uint32_t grt_phases_list(const struct grt_phases *p,
			 const struct grt_ring_phases *rings[GRT_PHASES_RINGS_MAX]);

#endif /* GRT_JOBS_PHASE_TABLE_H */
