/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The rows of a part of a timeline, by key, each with a value for each column of the span. Shared by the
 * analyses whose rows are made by the first event that has the row's key.
 */
#ifndef GRT_TABLE_BAR_ROWS_H
#define GRT_TABLE_BAR_ROWS_H

#include "analysis.h"
#include "base/containers.h"
#include "base/timescale.h"
#include "bars.h"
#include "rows.h"

/** struct grt_bar_row - the begin of each row; @column: values by column of the span, all 0 at first */
struct grt_bar_row {
	uint64_t *column;
};

/**
 * struct grt_bar_rows - set up by grt_bar_rows_begin(), freed by grt_bar_rows_free()
 * @scale: the columns of the span
 * @rows: the rows by key; each begins with a struct grt_bar_row
 * @list: the rows in order, after grt_bar_rows_finish(); there are @rows.used
 * @over: events that have no row, because there were too many rows
 */
struct grt_bar_rows {
	struct grt_timescale scale;
	struct grt_keyed rows;
	void **list;
	uint64_t over;
};

/**
 * grt_bar_rows_begin - begins without rows, with the span of the pass
 * @size: size of a row, bytes; @most: most rows
 * Return: 0 or -ENOMEM
 */
int grt_bar_rows_begin(struct grt_bar_rows *b, const struct grt_pass *pass, uint32_t size, uint32_t most);

/**
 * grt_bar_rows_get - finds the row of a key; makes it, with all bytes 0 except its column, if there is none
 * @out: gets the row; NULL: there are too many rows, which is counted
 * Return: 0 or -ENOMEM
 */
int grt_bar_rows_get(struct grt_bar_rows *b, const struct grt_key *key, void *out);

/** grt_bar_rows_finish - sorts the rows; @compare: as for qsort(), of pointers to rows. Return: 0 or -ENOMEM
 */
int grt_bar_rows_finish(struct grt_bar_rows *b, int (*compare)(const void *a, const void *b));

/** grt_bar_rows_at - Return: the @i-th row after grt_bar_rows_finish(), NULL: there are fewer */
const void *grt_bar_rows_at(const struct grt_bar_rows *b, uint32_t i);

/** grt_bar_rows_put - adds the values of a row to its cells */
void grt_bar_rows_put(const struct grt_bar_rows *b, const void *row, struct grt_row_cells *cells);

/** grt_bar_rows_put_busy - adds a time to a row's cells, and its share of the time @span, which 0 means
 * unknown */
void grt_bar_rows_put_busy(struct grt_row_cells *cells, uint64_t busy, uint64_t span);

/**
 * grt_bar_rows_write - writes the rows as a table
 * @cells: adds the cells of a row; @state: passed to it
 * Return: 0 or a negative errno
 */
int grt_bar_rows_write(const struct grt_bar_rows *b, struct grt_pass *pass, const struct grt_table *table,
		       void (*cells)(const void *state, const void *row, const struct grt_pass *pass,
				     struct grt_row_cells *c),
		       const void *state);

/** grt_bar_rows_free - frees all that @b owns; all bytes 0 are allowed */
void grt_bar_rows_free(struct grt_bar_rows *b);

#endif /* GRT_TABLE_BAR_ROWS_H */
