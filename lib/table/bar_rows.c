// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Rows of a part of a timeline, see bar_rows.h. */
#include "bar_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/units.h"

int grt_bar_rows_begin(struct grt_bar_rows *b, const struct grt_pass *pass, uint32_t size, uint32_t most)
{
	grt_keyed_init(&b->rows, size, most);
	return grt_timescale_init(&b->scale, pass->first, pass->last, pass->columns);
}

int grt_bar_rows_get(struct grt_bar_rows *b, const struct grt_key *key, void *out)
{
	struct grt_bar_row *row;
	void *found;
	int ret = grt_keyed_get_or_count(&b->rows, key, &b->over, &found);

	*(void **)out = row = found;
	if (!row)
		return ret;
	if (!row->column)
		row->column = calloc(b->scale.columns + 1, sizeof(*row->column));
	return row->column ? 0 : -ENOMEM;
}

int grt_bar_rows_finish(struct grt_bar_rows *b, int (*compare)(const void *a, const void *b))
{
	return grt_keyed_list(&b->rows, compare, &b->list);
}

const void *grt_bar_rows_at(const struct grt_bar_rows *b, uint32_t i)
{
	return i < b->rows.used ? b->list[i] : NULL;
}

void grt_bar_rows_put(const struct grt_bar_rows *b, const void *row, struct grt_row_cells *cells)
{
	grt_row_add(cells, (struct grt_cell){.list = ((const struct grt_bar_row *)row)->column,
					     .number = b->scale.columns});
}

void grt_bar_rows_put_busy(struct grt_row_cells *cells, uint64_t busy, uint64_t span)
{
	grt_row_number(cells, busy);
	grt_row_number(cells, grt_share_down(busy, span));
	cells->cell[cells->n - 1].absent = !span;
}

int grt_bar_rows_write(const struct grt_bar_rows *b, struct grt_pass *pass, const struct grt_table *table,
		       void (*cells)(const void *state, const void *row, const struct grt_pass *pass,
				     struct grt_row_cells *c),
		       const void *state)
{
	int ret = 0;

	grt_writer_table(pass->writer, table, NULL);
	for (uint32_t i = 0; i < b->rows.used && !ret; i++) {
		struct grt_row_cells c = {.n = 0};

		cells(state, b->list[i], pass, &c);
		ret = grt_writer_row(pass->writer, &c);
	}
	grt_writer_table_end(pass->writer);
	return ret;
}

void grt_bar_rows_free(struct grt_bar_rows *b)
{
	for (struct grt_bar_row *r = grt_keyed_oldest(&b->rows); r; r = grt_keyed_next(&b->rows, r))
		free(r->column);
	grt_keyed_free(&b->rows);
	grt_timescale_free(&b->scale);
	free(b->list);
}
