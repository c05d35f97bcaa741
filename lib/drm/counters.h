/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Counters over time: smallest, mean, largest and last value of each. A value lasts
 * until the next value, or until a value with the flag ENDED, after which it is
 * unknown.
 *
 * A counter whose unit begins with "total " only grows (busy time). The table has its
 * growth over time: for "total ns" in percent, for others per second.
 */
#ifndef GRT_DRM_COUNTERS_H
#define GRT_DRM_COUNTERS_H

#include <grtrace/grtrace.h>

#include "base/containers.h"
#include "trace/names.h"
#include "table/table.h"

/* Most counters with a row. */
#define GRT_COUNTERS_MAX 8192U

/* The largest value, or growth of a total from value to value, for the columns: larger ones are only counted.
 */
#define GRT_COUNTER_VALUE_MAX (INT64_MAX / 1000)

/**
 * struct grt_counter_row - a counter of a device or process
 * @counter, @instance: see COUNTER in events.def
 * @device: number of its device file, 0: unknown
 * @name: number of its name
 * @unit: unit of the columns; untrusted text
 * @values: number of values
 * @outside: number of values, or growths of a total, that are too large
 * @grows: it is a total
 * @known: there is a previous value, at @time
 * @value: the previous value, in the counter's unit
 * @least, @most, @last: smallest, largest and last value, in 1/1000 of @unit
 * @seen: number of values in these members, 0: none
 * @area: sum of value times duration, ns
 * @lasted: time with a known value, ns
 * @growth: growth of a total, in its unit
 * @inferred: some values were inferred
 */
struct grt_counter_row {
	uint32_t counter;
	uint32_t instance;
	uint32_t device;
	uint32_t name;
	char unit[20];
	uint64_t values;
	uint64_t outside;
	bool grows;
	bool known;
	bool inferred;
	int64_t value;
	uint64_t time;
	int64_t least;
	int64_t most;
	int64_t last;
	uint64_t seen;
	__int128 area;
	uint64_t lasted;
	uint64_t growth;
};

/**
 * struct grt_counters - set up by grt_counters_init()
 * @names: names of counters, devices and threads
 * @over: values without a row, because there were too many counters
 */
struct grt_counters {
	struct grt_keyed rows;
	const struct grt_names *names;
	uint64_t over;
};

/** grt_counters_init - begins without counters; @names must outlive it */
void grt_counters_init(struct grt_counters *c, const struct grt_names *names);

/** grt_counters_event - processes an event; uses COUNTER. Return: 0 or -ENOMEM */
int grt_counters_event(struct grt_counters *c, const struct grt_event *e);

/** grt_counter_mean - the mean over time, in 1/1000 of @row->unit. Return: whether there is one */
bool grt_counter_mean(const struct grt_counter_row *row, int64_t *mean);

/**
 * grt_counters_list - the rows, sorted by device, process and name; rows of devices precede rows of processes
 * @out: gets an array of @c->rows.used pointers, which the caller frees
 * Return: 0 or -ENOMEM
 */
int grt_counters_list(const struct grt_counters *c, const struct grt_counter_row ***out);

/** grt_counters_free - frees and empties it */
void grt_counters_free(struct grt_counters *c);

#endif /* GRT_DRM_COUNTERS_H */
