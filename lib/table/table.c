// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * What the writers share: choosing the columns, taking cells from rows, the
 * order of cells. How a cell looks is in the writers.
 */
#include "table.h"

#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

int grt_writer_new(struct grt_writer **out, const struct grt_writer_ops *ops,
		   const struct grt_writer_options *options)
{
	*out = calloc(1, ops->size);
	if (!*out)
		return -ENOMEM;
	(*out)->ops = ops;
	(*out)->options = *options;
	/* One thread writes: a lock for each comma would cost more than the comma. */
	__fsetlocking(options->out, FSETLOCKING_BYCALLER);
	return 0;
}

void grt_writer_begin(struct grt_writer *w)
{
	w->ops->begin(w);
}

void grt_writer_end(struct grt_writer *w)
{
	w->ops->end(w);
}

void grt_writer_fields(struct grt_writer *w, const char *name, const char *title,
		       const struct grt_field_value *f)
{
	w->ops->fields(w, name, title, f);
}

void grt_writer_table(struct grt_writer *w, const struct grt_table *table, const void *view)
{
	unsigned int where = w->ops->where | (w->options.verbose ? GRT_COLUMN_VERBOSE : 0);

	w->table = table;
	w->view = view;
	w->columns = 0;
	for (const struct grt_column *c = table->columns; c->name && w->columns < GRT_COLUMNS_MAX; c++)
		if (c->where & where)
			w->column[w->columns++] = c;
	w->ops->table(w);
}

int grt_writer_row(struct grt_writer *w, const void *row)
{
	struct grt_cell cell[GRT_COLUMNS_MAX];

	for (unsigned int i = 0; i < w->columns; i++)
		cell[i] = grt_column_get(w->column[i], w->view, row);
	return w->ops->row(w, cell);
}

void grt_writer_table_end(struct grt_writer *w)
{
	w->ops->table_end(w);
}

int grt_writer_rows(struct grt_writer *w, const struct grt_table *table, const void *view, const void *row,
		    size_t size, uint64_t n)
{
	int ret = 0;

	grt_writer_table(w, table, view);
	for (uint64_t i = 0; i < n && !ret; i++)
		ret = grt_writer_row(w, (const char *)row + i * size);
	grt_writer_table_end(w);
	return ret;
}

int grt_writer_list(struct grt_writer *w, const struct grt_table *table, const void *view, const void *row,
		    uint64_t n)
{
	const void *at;
	int ret = 0;

	grt_writer_table(w, table, view);
	for (uint64_t i = 0; i < n && !ret; i++) {
		/* a pointer to rows of any type */
		memcpy(&at, (const char *)row + i * sizeof(at), sizeof(at));
		ret = grt_writer_row(w, at);
	}
	grt_writer_table_end(w);
	return ret;
}

void grt_writer_notes(struct grt_writer *w, const char *const *notes, unsigned int n)
{
	w->ops->notes(w, notes, n);
}

void grt_writer_free(struct grt_writer *w)
{
	if (!w)
		return;
	if (w->ops->free)
		w->ops->free(w);
	free(w);
}

const struct grt_column *grt_column_find(const struct grt_table *table, const char *name)
{
	for (const struct grt_column *c = table->columns; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

bool grt_cell_is_text(enum grt_cell_kind kind)
{
	return kind == GRT_CELL_TEXT || kind == GRT_CELL_ENGINE || kind == GRT_CELL_EVENT;
}

const char *grt_cell_text(enum grt_cell_kind kind, const struct grt_cell *cell)
{
	switch (kind) {
	case GRT_CELL_ENGINE:
		return grt_engine_name(cell->number);
	case GRT_CELL_EVENT:
		return grt_event_title(cell->number);
	default:
		return cell->text ? cell->text : "";
	}
}

int grt_cell_order(const struct grt_column *c, const struct grt_cell *a, const struct grt_cell *b)
{
	if (a->absent || b->absent)
		return a->absent - b->absent;
	if (grt_cell_is_text(c->kind))
		return strcmp(grt_cell_text(c->kind, a), grt_cell_text(c->kind, b));
	if (c->kind == GRT_CELL_SIGNED || c->kind == GRT_CELL_AMOUNT)
		return ((int64_t)b->number > (int64_t)a->number) - ((int64_t)b->number < (int64_t)a->number);
	return (b->number > a->number) - (b->number < a->number);
}
