/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The rows of gpu_metrics.def, for the source that samples the counters and for analyses that
 * find them by name.
 */
#ifndef GRT_CODES_GPU_METRICS_H
#define GRT_CODES_GPU_METRICS_H

/** enum grt_metric_set - the sets, as bits 1 << n of struct grt_metric.sets */
enum grt_metric_set {
#define GRT_METRIC_SET(NAME, name, help) GRT_METRIC_SET_##NAME,
#include "gpu_metrics.def"
	GRT_METRIC_SETS,
};

/** enum grt_metric_id - the counters */
enum grt_metric_id {
#define GRT_METRIC(NAME, counter, unit, sets, help, ...) GRT_METRIC_##NAME,
#include "gpu_metrics.def"
	GRT_METRICS,
};

/** enum grt_metric_unit - units of values, see gpu_metrics.def */
enum grt_metric_unit {
	GRT_METRIC_SHARE,
	GRT_METRIC_BYTES,
	GRT_METRIC_HZ,
};

/* Most metrics of a counter; the first one that a chip has is used. */
#define GRT_METRIC_CHOICES 3

/** struct grt_metric - a row; @metric ends with NULL */
struct grt_metric {
	const char *counter;
	enum grt_metric_unit unit;
	unsigned int sets;
	const char *help;
	const char *metric[GRT_METRIC_CHOICES + 1];
};

extern const struct grt_metric grt_metrics_table[GRT_METRICS];

/** grt_metric_unit_name - the name of a unit in NAME records */
const char *grt_metric_unit_name(enum grt_metric_unit unit);

/** grt_metric_set_name - the name of a set; NULL after the last one */
const char *grt_metric_set_name(unsigned int n);

/** grt_metric_find - the row with a counter's name and unit; -1: none */
int grt_metric_find(const char *counter, const char *unit);

#endif /* GRT_CODES_GPU_METRICS_H */
