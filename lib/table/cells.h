/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Cells that several tables use.
 */
#ifndef GRT_TABLE_CELLS_H
#define GRT_TABLE_CELLS_H

#include "base/hist.h"
#include "base/units.h"
#include "trace/names.h"
#include "rows.h"
#include "table.h"

/** grt_cell_ring - a ring for a column of GRT_CELL_NAMED: its name, or its id if it has none */
static inline void grt_cell_ring(struct grt_cell *cell, const struct grt_names *names, uint32_t ring)
{
	cell->number = ring;
	cell->text = grt_names_name(names, grt_names_find(names, GRT_NAME_RING, ring));
	cell->absent = ring == GRT_RING_NONE;
}

/** grt_cell_ring_name - the name of a ring for a column of text: absent if it has none */
static inline void grt_cell_ring_name(struct grt_cell *cell, const struct grt_names *names, uint32_t ring)
{
	grt_cell_ring(cell, names, ring);
	cell->absent |= !cell->text;
}

/** grt_cell_name, grt_cell_owner - a text of grt_names by its number: absent if there is none */
static inline void grt_cell_name(struct grt_cell *cell, const struct grt_names *names, uint32_t number)
{
	cell->text = grt_names_name(names, number);
	cell->absent = !cell->text;
}

static inline void grt_cell_owner(struct grt_cell *cell, const struct grt_names *names, uint32_t number)
{
	cell->text = grt_names_owner(names, number);
	cell->absent = !cell->text;
}

/** grt_cell_driver - the driver of a ring: absent if unknown */
static inline void grt_cell_driver(struct grt_cell *cell, const struct grt_names *names, uint32_t ring)
{
	grt_cell_owner(cell, names, grt_names_find(names, GRT_NAME_RING, ring));
}

/** grt_cell_gpu - the bus address of a ring's GPU: absent if unknown */
static inline void grt_cell_gpu(struct grt_cell *cell, const struct grt_names *names, uint32_t ring)
{
	grt_cell_name(cell, names, grt_names_find(names, GRT_NAME_RING_GPU, ring));
}

/* Callbacks for columns whose value is a member of the row at @offset: a number. */
static inline void grt_cell_u8(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	cell->number = *(const uint8_t *)((const char *)row + offset);
}

static inline void grt_cell_u32(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	cell->number = *(const uint32_t *)((const char *)row + offset);
}

static inline void grt_cell_u64(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	cell->number = *(const uint64_t *)((const char *)row + offset);
}

/* A number that is absent if it is 0. */
static inline void grt_cell_id(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_u32(cell, view, row, offset);
	cell->absent = !cell->number;
}

/* An array of characters, absent if it is empty. */
static inline void grt_cell_chars(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	cell->text = (const char *)row + offset;
	cell->absent = !*cell->text;
}

/* A pointer to a text, absent if it is NULL. */
static inline void grt_cell_pointed(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	cell->text = *(const char *const *)((const char *)row + offset);
	cell->absent = !cell->text;
}

/* A pointer to a text that stays valid, see struct grt_cell. */
static inline void grt_cell_lasting(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_pointed(cell, view, row, offset);
	cell->lasting = true;
}

/* Text of a number of names, with the names as view: its name, its owner, or the process of a thread. */
static inline void grt_cell_name_at(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	cell->text = grt_names_name(view, *(const uint32_t *)((const char *)row + offset));
}

static inline void grt_cell_owner_at(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	cell->text = grt_names_owner(view, *(const uint32_t *)((const char *)row + offset));
}

static inline void grt_cell_process_at(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	cell->text = grt_process_name(view, *(const uint32_t *)((const char *)row + offset));
}

/* A number of 64 bits that is absent if it is 0. */
static inline void grt_cell_nonzero(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_u64(cell, view, row, offset);
	cell->absent = !cell->number;
}

/** grt_cell_hist - a value that stands for those of a histogram, see grt_hist_get() */
static inline void grt_cell_hist(struct grt_cell *cell, const struct grt_hist *h, int what)
{
	cell->absent = !grt_hist_get(h, what, &cell->number);
	cell->inferred = h->inferred;
}

/** grt_cell_share - a share, see grt_share(); absent if there is no whole */
static inline void grt_cell_share(struct grt_cell *cell, uint64_t part, uint64_t whole)
{
	cell->number = grt_share(part, whole);
	cell->absent = !whole;
}

/** grt_cell_is_marked - whether the name of the cell's column is in the row's list of marked columns */
static inline bool grt_cell_is_marked(const struct grt_cell *cell, bool estimated)
{
	return !cell->absent && (estimated ? cell->estimated : cell->inferred);
}

#endif /* GRT_TABLE_CELLS_H */
