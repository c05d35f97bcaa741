/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The rows of a timeline, its gaps and its overlaps, as rows of tables. Rows of
 * grt_timeline_table are struct grt_timeline_row with a struct
 * grt_timeline_view, those of the others are struct grt_idle_row with a struct
 * grt_names as view.
 */
#ifndef GRT_JOBS_TIMELINE_TABLE_H
#define GRT_JOBS_TIMELINE_TABLE_H

#include "timeline.h"
#include "table/table.h"

/**
 * struct grt_timeline_view - data for the columns in addition to the row
 * @span: ns, 0: no shares
 * @columns: see grt_timeline_columns()
 */
struct grt_timeline_view {
	const struct grt_names *names;
	uint64_t span;
	uint32_t columns;
};

/**
 * struct grt_idle_row - a gap or an overlap
 * @first, @last, @waiter: texts for people
 */
struct grt_idle_row {
	const struct grt_timeline_row *row;
	const struct grt_idle *idle;
	char first[96];
	char last[96];
	char waiter[64];
};

/**
 * grt_idle_row - makes a row; jobs of a ring are shown with their processes, jobs of a process with their
 * rings
 */
struct grt_idle_row grt_idle_row(const struct grt_names *names, enum grt_group_by by,
				 const struct grt_timeline_row *row, const struct grt_idle *idle);

extern const struct grt_table grt_timeline_table[GRT_BYS];
/* The tables of gaps; engines have none. */
extern const struct grt_table grt_gap_table[GRT_BYS];
extern const struct grt_table grt_overlap_table;

#endif /* GRT_JOBS_TIMELINE_TABLE_H */
