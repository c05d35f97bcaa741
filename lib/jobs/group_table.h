/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A ring, engine or process as a row: rows are struct grt_group, the view is a
 * struct grt_group_view.
 */
#ifndef GRT_JOBS_GROUP_TABLE_H
#define GRT_JOBS_GROUP_TABLE_H

#include "groups.h"
#include "table/table.h"

extern const struct grt_table grt_group_table[GRT_BYS];

/** grt_gpus_ring_table - the table of rings if there are several GPUs; it has the GPU of each ring */
extern const struct grt_table grt_gpus_ring_table;

#endif /* GRT_JOBS_GROUP_TABLE_H */
