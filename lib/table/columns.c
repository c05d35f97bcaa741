// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Tables for a page (web/page/report_tables.js): one array of sections in the order in which they are
 * written. The values are those of JSON; beside them is what only people need: headings, kinds, help, and
 * which columns text would show.
 *
 *	{"table": NAME, "title": ..., "columns": [{"key", "name", "kind", "help", "brief"}],
 *	 "rows": [[value, ..., [inferred columns], [estimated columns]], ...],
 *	 "more": how many rows it has beside these}
 *	{"fields": NAME, "title": ..., "fields": [{"name", "kind", "value", "note", "inferred"}]}
 *	{"notes": [...]}
 */
#include <string.h>

#include "cells.h"
#include "json_cells.h"

/* Most rows of a table in a page; rows come in the order of their importance. */
#define ROWS_MAX 8000U

/**
 * struct columns
 * @section: a section was written
 * @rows: number of rows of the open table
 */
struct columns {
	struct grt_writer w;
	bool section;
	uint64_t rows;
};

static const char *const kind_names[GRT_CELL_KINDS] = {
	[GRT_CELL_TEXT] = "text",   [GRT_CELL_NUMBER] = "number", [GRT_CELL_SIGNED] = "number",
	[GRT_CELL_NAMED] = "named", [GRT_CELL_ENGINE] = "text",	  [GRT_CELL_EVENT] = "text",
	[GRT_CELL_NS] = "ns",	    [GRT_CELL_TIME] = "time",	  [GRT_CELL_PERCENT] = "percent",
	[GRT_CELL_BOOL] = "bool",   [GRT_CELL_AMOUNT] = "amount", [GRT_CELL_BYTES] = "bytes",
	[GRT_CELL_LIST] = "list",
};

static void columns_put_member(FILE *out, const char *name, const char *text)
{
	fprintf(out, "\"%s\": ", name);
	if (text)
		grt_json_put_string(out, text);
	else
		fputs("null", out);
}

/* Written after a number that has a name, or a unit. */
static void columns_put_value(FILE *out, enum grt_cell_kind kind, const struct grt_cell *c)
{
	bool pair = (kind == GRT_CELL_NAMED || kind == GRT_CELL_AMOUNT) && !c->absent && c->text;

	if (pair)
		fputc('[', out);
	grt_json_put_cell(out, kind, c);
	if (!pair)
		return;
	fputs(", ", out);
	grt_json_put_string(out, c->text);
	fputc(']', out);
}

static void columns_begin_section(struct grt_writer *w)
{
	struct columns *c = (struct columns *)w;

	fputs(c->section ? ",\n" : "\n", w->options.out);
	c->section = true;
}

static void columns_begin(struct grt_writer *w)
{
	fputc('[', w->options.out);
}

static void columns_fields(struct grt_writer *w, const char *name, const char *title,
			   const struct grt_field_value *f)
{
	FILE *out = w->options.out;

	columns_begin_section(w);
	fputc('{', out);
	columns_put_member(out, "fields", name ? name : "");
	fputs(", ", out);
	columns_put_member(out, "title", title);
	fputs(", \"list\": [", out);
	for (const char *comma = ""; f->name; f++, comma = ", ") {
		fprintf(out, "%s{", comma);
		columns_put_member(out, "name", f->name);
		fprintf(out, ", \"kind\": \"%s\", \"value\": ", kind_names[f->kind]);
		columns_put_value(out, f->kind, &f->cell);
		fputs(", ", out);
		columns_put_member(out, "note", f->note);
		fprintf(out, ", \"inferred\": %s}", f->cell.inferred ? "true" : "false");
	}
	fputs("]}", out);
}

static void columns_table(struct grt_writer *w)
{
	FILE *out = w->options.out;

	columns_begin_section(w);
	((struct columns *)w)->rows = 0;
	fputc('{', out);
	columns_put_member(out, "table", w->table->name);
	fputs(", ", out);
	columns_put_member(out, "title", w->table->title);
	fputs(", \"columns\": [", out);
	for (unsigned int i = 0; i < w->columns; i++) {
		const struct grt_column *c = w->column[i];

		fputs(i ? ", {" : "{", out);
		columns_put_member(out, "key", w->key[i]);
		fputs(", ", out);
		columns_put_member(out, "name", c->name);
		fprintf(out, ", \"kind\": \"%s\", ", kind_names[c->kind]);
		columns_put_member(out, "help", c->help);
		fprintf(out, ", \"brief\": %s, \"tells\": %s, \"machine\": %s}",
			c->where & GRT_COLUMN_BRIEF ? "true" : "false",
			c->where & GRT_COLUMN_TELLS ? "true" : "false",
			c->where & GRT_COLUMN_MACHINE ? "true" : "false");
	}
	fputs("], \"rows\": [", out);
}

static void columns_put_marks(struct grt_writer *w, const struct grt_cell *cells, bool estimated)
{
	const char *comma = "";

	fputs(", [", w->options.out);
	for (unsigned int i = 0; i < w->columns; i++) {
		if (!grt_cell_is_marked(&cells[i], estimated))
			continue;
		fprintf(w->options.out, "%s%u", comma, i);
		comma = ", ";
	}
	fputc(']', w->options.out);
}

static int columns_row(struct grt_writer *w, const struct grt_cell *cells)
{
	struct columns *c = (struct columns *)w;
	FILE *out = w->options.out;

	if (c->rows++ >= ROWS_MAX)
		return 0;
	fputs(c->rows > 1 ? ",\n[" : "\n[", out);
	for (unsigned int i = 0; i < w->columns; i++) {
		fputs(i ? ", " : "", out);
		columns_put_value(out, w->column[i]->kind, &cells[i]);
	}
	columns_put_marks(w, cells, false);
	columns_put_marks(w, cells, true);
	fputc(']', out);
	return 0;
}

static void columns_table_end(struct grt_writer *w)
{
	uint64_t rows = ((struct columns *)w)->rows;

	fprintf(w->options.out, "], \"more\": %llu}",
		(unsigned long long)(rows > ROWS_MAX ? rows - ROWS_MAX : 0));
}

static void columns_notes(struct grt_writer *w, const char *const *notes, unsigned int n)
{
	columns_begin_section(w);
	fputs("{\"notes\": [", w->options.out);
	for (unsigned int i = 0; i < n; i++) {
		fputs(i ? ", " : "", w->options.out);
		grt_json_put_string(w->options.out, notes[i]);
	}
	fputs("]}", w->options.out);
}

static void columns_end(struct grt_writer *w)
{
	fputs("\n]\n", w->options.out);
}

const struct grt_writer_ops writer_columns = {
	.name = "columns",
	.where = GRT_COLUMN_MACHINE | GRT_COLUMN_BRIEF,
	.size = sizeof(struct columns),
	.begin = columns_begin,
	.fields = columns_fields,
	.table = columns_table,
	.row = columns_row,
	.table_end = columns_table_end,
	.notes = columns_notes,
	.end = columns_end,
};
