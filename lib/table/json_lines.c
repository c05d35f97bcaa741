// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Writes a table as lines of JSON: each row is an object. A file has one table, so lists of fields and notes
 * have no place in it.
 */
#include "json_cells.h"

static void json_lines_nothing(struct grt_writer *w)
{
}

static void json_lines_fields(struct grt_writer *w, const char *name, const char *title,
			      const struct grt_field_value *f)
{
}

static void json_lines_notes(struct grt_writer *w, const char *const *notes, unsigned int n)
{
}

static void json_lines_put_key(struct grt_writer *w, unsigned int i, const char *key)
{
	fputs(i ? ", " : "{", w->options.out);
	grt_json_put_string(w->options.out, key);
	fputs(": ", w->options.out);
}

/* Names of marked columns. */
static void json_lines_put_marks(struct grt_writer *w, const char *name, const struct grt_cell *cells,
				 bool estimated)
{
	json_lines_put_key(w, w->columns, name);
	grt_json_put_marked(w, cells, estimated);
}

static int json_lines_row(struct grt_writer *w, const struct grt_cell *cells)
{
	for (unsigned int i = 0; i < w->columns; i++) {
		json_lines_put_key(w, i, w->key[i]);
		grt_json_put_cell(w->options.out, w->column[i]->kind, &cells[i]);
	}
	if (w->table->marks & GRT_MARK_INFERRED)
		json_lines_put_marks(w, "inferred", cells, false);
	if (w->table->marks & GRT_MARK_ESTIMATED)
		json_lines_put_marks(w, "estimated", cells, true);
	fputs("}\n", w->options.out);
	return 0;
}

const struct grt_writer_ops writer_json_lines = {
	.name = "json_lines",
	.where = GRT_COLUMN_MACHINE,
	.size = sizeof(struct grt_writer),
	.begin = json_lines_nothing,
	.fields = json_lines_fields,
	.table = json_lines_nothing,
	.row = json_lines_row,
	.table_end = json_lines_nothing,
	.notes = json_lines_notes,
	.end = json_lines_nothing,
};
