// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * JSON, streaming: one object whose keys are the tables and field lists. Only
 * what RFC 8259 allows, whatever bytes the names of a trace hold.
 */
#include <string.h>

#include "base/escape.h"
#include "cells.h"
#include "json_cells.h"
#include "base/units.h"

struct json {
	struct grt_writer w;
	bool member; /* the object has one */
	bool row;    /* the open table has one */
};

void grt_json_put_string(FILE *out, const char *text)
{
	fputc('"', out);
	grt_escape_print(GRT_ESCAPE_JSON, out, text, strlen(text));
	fputc('"', out);
}

static void put_list(FILE *out, const struct grt_cell *c)
{
	fputc('[', out);
	for (uint64_t i = 0; i < c->number; i++) {
		if (i)
			fputs(", ", out);
		grt_put_u64(out, c->list[i]);
	}
	fputc(']', out);
}

void grt_json_put_cell(FILE *out, enum grt_cell_kind kind, const struct grt_cell *c)
{
	if (c->absent)
		fputs("null", out);
	else if (grt_cell_is_text(kind))
		grt_json_put_string(out, grt_cell_text(kind, c));
	else if (kind == GRT_CELL_BOOL)
		fputs(c->number ? "true" : "false", out);
	else if (kind == GRT_CELL_PERCENT)
		grt_put_percent(out, c->number);
	else if (kind == GRT_CELL_SIGNED)
		grt_put_s64(out, (int64_t)c->number);
	else if (kind == GRT_CELL_AMOUNT)
		grt_put_amount(out, (int64_t)c->number);
	else if (kind == GRT_CELL_LIST)
		put_list(out, c);
	else
		grt_put_u64(out, c->number);
}

static void json_put_key(struct json *j, const char *name)
{
	fputs(j->member ? ",\n" : "\n", j->w.options.out);
	j->member = true;
	grt_json_put_string(j->w.options.out, name);
	fputs(": ", j->w.options.out);
}

static void json_begin(struct grt_writer *w)
{
	fputc('{', w->options.out);
}

static void put_members(struct json *j, const struct grt_field_value *f)
{
	for (; f->name; f++) {
		json_put_key(j, f->name);
		grt_json_put_cell(j->w.options.out, f->kind, &f->cell);
	}
}

static void json_fields(struct grt_writer *w, const char *name, const char *title,
			const struct grt_field_value *f)
{
	FILE *out = w->options.out;

	if (!name) {
		put_members((struct json *)w, f);
		return;
	}
	json_put_key((struct json *)w, name);
	fputc('{', out);
	for (const char *comma = ""; f->name; f++, comma = ", ") {
		fputs(comma, out);
		grt_json_put_string(out, f->name);
		fputs(": ", out);
		grt_json_put_cell(out, f->kind, &f->cell);
	}
	fputc('}', out);
}

static void json_table(struct grt_writer *w)
{
	struct json *j = (struct json *)w;

	json_put_key(j, w->table->name);
	fputc('[', w->options.out);
	j->row = false;
}

void grt_json_put_marked(const struct grt_writer *w, const struct grt_cell *cells, bool estimated)
{
	const char *comma = "";

	fputc('[', w->options.out);
	for (unsigned int i = 0; i < w->columns; i++) {
		if (!grt_cell_is_marked(&cells[i], estimated))
			continue;
		fputs(comma, w->options.out);
		grt_json_put_string(w->options.out, w->key[i]);
		comma = ", ";
	}
	fputc(']', w->options.out);
}

static void json_put_marks(struct grt_writer *w, const char *name, const struct grt_cell *cells,
			   bool estimated)
{
	fprintf(w->options.out, ", \"%s\": ", name);
	grt_json_put_marked(w, cells, estimated);
}

static int json_row(struct grt_writer *w, const struct grt_cell *cells)
{
	struct json *j = (struct json *)w;
	FILE *out = w->options.out;

	fputs(j->row ? ",\n  {" : "\n  {", out);
	j->row = true;
	for (unsigned int i = 0; i < w->columns; i++) {
		fputs(i ? ", \"" : "\"", out);
		fputs(w->key[i], out);
		fputs("\": ", out);
		grt_json_put_cell(out, w->column[i]->kind, &cells[i]);
	}
	if (w->table->marks & GRT_MARK_INFERRED)
		json_put_marks(w, "inferred", cells, false);
	if (w->table->marks & GRT_MARK_ESTIMATED)
		json_put_marks(w, "estimated", cells, true);
	fputc('}', out);
	return 0;
}

static void json_table_end(struct grt_writer *w)
{
	fputs(((struct json *)w)->row ? "\n]" : "]", w->options.out);
}

static void json_notes(struct grt_writer *w, const char *const *notes, unsigned int n)
{
	json_put_key((struct json *)w, "notes");
	fputc('[', w->options.out);
	for (unsigned int i = 0; i < n; i++) {
		fputs(i ? ",\n  " : "\n  ", w->options.out);
		grt_json_put_string(w->options.out, notes[i]);
	}
	fputs(n ? "\n]" : "]", w->options.out);
}

static void json_end(struct grt_writer *w)
{
	fputs("\n}\n", w->options.out);
}

const struct grt_writer_ops writer_json = {
	.name = "json",
	.where = GRT_COLUMN_MACHINE,
	.size = sizeof(struct json),
	.begin = json_begin,
	.fields = json_fields,
	.table = json_table,
	.row = json_row,
	.table_end = json_table_end,
	.notes = json_notes,
	.end = json_end,
};
