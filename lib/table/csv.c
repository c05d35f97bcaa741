// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * CSV as in RFC 4180: a header line, CRLF, quotes if needed. A file is one table, so it has no place for
 * lists of fields and notes.
 */
#include <string.h>

#include "base/escape.h"
#include "cells.h"
#include "table.h"
#include "base/units.h"

static void csv_put_text(FILE *out, const char *text)
{
	grt_escape_print(GRT_ESCAPE_CSV, out, text, strlen(text));
}

static void csv_put_cell(FILE *out, enum grt_cell_kind kind, const struct grt_cell *c)
{
	if (c->absent)
		return;
	if (grt_cell_is_text(kind))
		csv_put_text(out, grt_cell_text(kind, c));
	else if (kind == GRT_CELL_PERCENT)
		grt_put_percent(out, c->number);
	else if (kind == GRT_CELL_SIGNED)
		grt_put_s64(out, (int64_t)c->number);
	else if (kind == GRT_CELL_AMOUNT)
		grt_put_amount(out, (int64_t)c->number);
	else
		grt_put_u64(out, c->number);
}

static void csv_nothing(struct grt_writer *w)
{
}

static void csv_fields(struct grt_writer *w, const char *name, const char *title,
		       const struct grt_field_value *f)
{
}

static void csv_table(struct grt_writer *w)
{
	FILE *out = w->options.out;

	for (unsigned int i = 0; i < w->columns; i++)
		fprintf(out, "%s%s", i ? "," : "", w->key[i]);
	if (w->table->marks & GRT_MARK_INFERRED)
		fputs(",inferred", out);
	if (w->table->marks & GRT_MARK_ESTIMATED)
		fputs(",estimated", out);
	fputs("\r\n", out);
}

/* Names of marked columns, separated by spaces. */
static void csv_put_marks(struct grt_writer *w, const struct grt_cell *cells, bool estimated)
{
	const char *space = "";

	fputc(',', w->options.out);
	for (unsigned int i = 0; i < w->columns; i++) {
		if (!grt_cell_is_marked(&cells[i], estimated))
			continue;
		fputs(space, w->options.out);
		fputs(w->key[i], w->options.out);
		space = " ";
	}
}

static int csv_row(struct grt_writer *w, const struct grt_cell *cells)
{
	for (unsigned int i = 0; i < w->columns; i++) {
		if (i)
			fputc(',', w->options.out);
		csv_put_cell(w->options.out, w->column[i]->kind, &cells[i]);
	}
	if (w->table->marks & GRT_MARK_INFERRED)
		csv_put_marks(w, cells, false);
	if (w->table->marks & GRT_MARK_ESTIMATED)
		csv_put_marks(w, cells, true);
	fputs("\r\n", w->options.out);
	return 0;
}

static void csv_notes(struct grt_writer *w, const char *const *notes, unsigned int n)
{
}

const struct grt_writer_ops writer_csv = {
	.name = "csv",
	.where = GRT_COLUMN_MACHINE,
	.size = sizeof(struct grt_writer),
	.begin = csv_nothing,
	.fields = csv_fields,
	.table = csv_table,
	.row = csv_row,
	.table_end = csv_nothing,
	.notes = csv_notes,
	.end = csv_nothing,
};
