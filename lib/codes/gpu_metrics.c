// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The rows of gpu_metrics.def. */
#include "gpu_metrics.h"

#include <stddef.h>
#include <string.h>

#define IN(NAME) (1U << GRT_METRIC_SET_##NAME)

const struct grt_metric grt_metrics_table[GRT_METRICS] = {
#define GRT_METRIC(NAME, counter, unit, sets, help, ...) \
	[GRT_METRIC_##NAME] = {counter, GRT_METRIC_##unit, sets, help, {__VA_ARGS__}},
#include "gpu_metrics.def"
};

const char *grt_metric_unit_name(enum grt_metric_unit unit)
{
	static const char *const names[] = {
		[GRT_METRIC_SHARE] = "m%", [GRT_METRIC_BYTES] = "B/s", [GRT_METRIC_HZ] = "Hz"};

	return names[unit];
}

const char *grt_metric_set_name(unsigned int n)
{
	static const char *const names[] = {
#define GRT_METRIC_SET(NAME, name, help) #name,
#include "gpu_metrics.def"
	};

	return n < GRT_METRIC_SETS ? names[n] : NULL;
}

int grt_metric_find(const char *counter, const char *unit)
{
	for (int i = 0; counter && unit && i < GRT_METRICS; i++)
		if (!strcmp(grt_metrics_table[i].counter, counter) &&
		    !strcmp(grt_metric_unit_name(grt_metrics_table[i].unit), unit))
			return i;
	return -1;
}
