/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What AGGREGATE records say of each ring: sums are exact, whatever became of
 * the events themselves. Percentiles and phases cannot be had from them.
 */
#ifndef GRT_JOBS_AGGREGATES_H
#define GRT_JOBS_AGGREGATES_H

#include <grtrace/grtrace.h>

#include "base/keyed.h"
#include "trace/names.h"
#include "table/table.h"

/* Rings that are distinguished. */
#define GRT_AGGREGATES_MAX 4096U

/**
 * struct grt_aggregate_row - a ring
 * @windows: records of it
 * @window: number of the last one
 * @missing: windows whose record was lost; what they counted is in no sum
 * @length: of the windows, ns
 * @events: of its jobs
 * @replaced: of these, not in the stream
 * @submits, @completes, @failed: jobs; @failed of @completes
 * @jobs: of @completes, those whose SUBMIT was seen: only these have a latency
 * @latency: sum from SUBMIT to COMPLETE, ns
 * @latency_min, @latency_max: ns, meaningless without @jobs
 * @depth: sum over SUBMITs of the ring's jobs in flight, this one included
 * @depth_max: largest of these
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
 * @replaced: events that are not in the stream because records stand for them
 * @over: records in no row, because there were too many rings
 */
struct grt_aggregates {
	struct grt_keyed rows;
	uint64_t replaced;
	uint64_t over;
};

/* Rows are struct grt_aggregate_row, the view is struct grt_names. */
extern const struct grt_table grt_aggregate_table;

/** grt_aggregates_init - empty */
void grt_aggregates_init(struct grt_aggregates *a);

/** grt_aggregates_event - takes in an event; of use is AGGREGATE. Return: 0 or -ENOMEM */
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
