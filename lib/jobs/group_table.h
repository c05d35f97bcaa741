/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A ring, engine or process as a row: rows are struct grt_group, the view is a
 * struct grt_group_view.
 */
#ifndef GRT_JOBS_GROUP_TABLE_H
#define GRT_JOBS_GROUP_TABLE_H

#include "groups.h"
#include "table/table.h"

/**
 * struct grt_group_view - what the columns need besides the group
 * @span: length of the trace, ns; 0: unknown, nothing is busy then
 */
struct grt_group_view {
	const struct grt_names *names;
	uint64_t span;
};

extern const struct grt_table grt_group_table[GRT_BYS];

/** grt_gpus_ring_table - that of rings where there are several GPUs: a ring's is shown */
extern const struct grt_table grt_gpus_ring_table;

#endif /* GRT_JOBS_GROUP_TABLE_H */
