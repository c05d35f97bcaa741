// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The export for a machine of many: the tables with sums, as files of Apache Parquet. */
#include "export.h"
#include "table/analysis.h"
#include "table/table.h"

const struct grt_export_format grt_export_rollup = {
	.tables = &writer_parquet, .directory = "parquet", .parts = GRT_PART_ROLLUP};
