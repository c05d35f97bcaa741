/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Cells that several tables have.
 */
#ifndef GRT_ANALYSIS_CELLS_H
#define GRT_ANALYSIS_CELLS_H

#include "analysis/names.h"
#include "writers/table.h"

/** grt_cell_ring - a ring for a column of GRT_CELL_NAMED: its name where it has one, else its id */
static inline void grt_cell_ring(struct grt_cell *cell, const struct grt_names *names, uint32_t ring)
{
	cell->number = ring;
	cell->text = grt_names_name(names, grt_names_find(names, GRT_NAME_RING, ring));
	cell->absent = ring == GRT_RING_NONE;
}

/** grt_cell_ring_name - the same for a column of text: absent where it has no name */
static inline void grt_cell_ring_name(struct grt_cell *cell, const struct grt_names *names, uint32_t ring)
{
	grt_cell_ring(cell, names, ring);
	cell->absent |= !cell->text;
}

/* For columns whose value is a member of the row at @offset. */
static inline void grt_cell_u32(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	(void)view;
	cell->number = *(const uint32_t *)((const char *)row + offset);
}

static inline void grt_cell_u64(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	(void)view;
	cell->number = *(const uint64_t *)((const char *)row + offset);
}

#endif /* GRT_ANALYSIS_CELLS_H */
