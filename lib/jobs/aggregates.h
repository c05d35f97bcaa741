/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The sums of AGGREGATE records by ring. The sums are exact, even if the events themselves
 * were dropped. The records contain no percentiles and no phases.
 */
#ifndef GRT_JOBS_AGGREGATES_H
#define GRT_JOBS_AGGREGATES_H

#include <grtrace/grtrace.h>

#include "base/containers.h"
#include "trace/names.h"
#include "table/table.h"

/* Most rings with a row. */
#define GRT_AGGREGATES_MAX 4096U

/**
 * struct grt_aggregate_row - a ring
 * @windows: number of its records
 * @window: number of the last window
 * @missing: windows whose record was lost; no sum includes their events
 * @length: length of the windows, ns
 * @events: events of its jobs
 * @replaced: events that are not in the stream
 * @submits, @completes, @failed: jobs; @failed is a part of @completes
 * @jobs: completed jobs whose SUBMIT was seen: only these have a latency
 * @latency: sum from SUBMIT to COMPLETE, ns
 * @latency_min, @latency_max: ns, undefined if @jobs is 0
 * @depth: sum over SUBMITs of the ring's jobs in flight, including the submitted job
 * @depth_max: largest number of jobs in flight
 */
struct grt_aggregate_row {
	uint32_t ring;
	uint32_t device;
	uint8_t engine;
	uint64_t windows;
	uint32_t window;
	uint64_t missing;
	unsigned __int128 length;
	uint64_t events;
	uint64_t replaced;
	uint64_t submits;
	uint64_t completes;
	uint64_t failed;
	uint64_t jobs;
	unsigned __int128 latency;
	uint64_t latency_min;
	uint64_t latency_max;
	unsigned __int128 depth;
	uint32_t depth_max;
};

/**
 * struct grt_aggregates - set up by grt_aggregates_init()
 * @replaced: events that records replaced in the stream
 * @over: records without a row, because there were too many rings
 */
struct grt_aggregates {
	struct grt_keyed rows;
	uint64_t replaced;
	uint64_t over;
};

/* Rows are struct grt_aggregate_row, the view is struct grt_names. */
extern const struct grt_table grt_aggregate_table;

/** grt_aggregates_init - begins without rows */
void grt_aggregates_init(struct grt_aggregates *a);

/** grt_aggregates_event - processes an event; uses AGGREGATE. Return: 0 or -ENOMEM */
int grt_aggregates_event(struct grt_aggregates *a, const struct grt_event *e);

/**
 * grt_aggregates_list - the rows by device and ring
 * @out: gets an array of @a->rows.used pointers, which the caller frees
 * Return: 0 or -ENOMEM
 */
int grt_aggregates_list(const struct grt_aggregates *a, const struct grt_aggregate_row ***out);

/** grt_aggregates_free - frees and empties it */
void grt_aggregates_free(struct grt_aggregates *a);

#endif /* GRT_JOBS_AGGREGATES_H */
