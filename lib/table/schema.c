// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* JSON Schemas of tables, see schema.h: the columns that JSON has, by their kinds. */
#include "schema.h"

#include <string.h>

#include "base/escape.h"
#include "json_cells.h"

void grt_schema_add(struct grt_schema *s, const struct grt_table *table)
{
	if (table && s->n < GRT_SCHEMA_TABLES)
		s->table[s->n++] = table;
}

void grt_schema_add_all(struct grt_schema *s, const struct grt_table *const *tables)
{
	for (; tables && *tables; tables++)
		grt_schema_add(s, *tables);
}

/* Absent values are null, except pairs, which are left out. */
static void schema_put_column(FILE *out, const char *key, const struct grt_column *c)
{
	const char *type = c->kind == GRT_CELL_BOOL				       ? "boolean"
			   : c->kind == GRT_CELL_LIST				       ? "array"
			   : c->kind == GRT_CELL_PERCENT || c->kind == GRT_CELL_AMOUNT ? "number"
			   : grt_cell_is_text(c->kind)				       ? "string"
										       : "integer";

	grt_json_put_string(out, key);
	fprintf(out,
		c->where & GRT_COLUMN_OPTIONAL ? ": {\"type\": \"%s\"" : ": {\"type\": [\"%s\", \"null\"]",
		type);
	if (c->kind == GRT_CELL_LIST)
		fprintf(out, ", \"items\": {\"type\": \"%s\"}",
			c->get			     ? "integer"
			: c->arg == GRT_LIST_OBJECTS ? "object"
						     : "string");
	if (c->help) {
		fputs(", \"description\": ", out);
		grt_json_put_string(out, c->help);
	}
	fputc('}', out);
}

static bool schema_has(const struct grt_column *c)
{
	return c->where & GRT_COLUMN_MACHINE;
}

/* The properties of marked columns are lists after the others. */
static void schema_put_marks(FILE *out, const struct grt_table *t)
{
	static const char *const names[] = {"inferred", "estimated"};

	for (unsigned int i = 0; i < 2; i++)
		if (t->marks & (GRT_MARK_INFERRED << i))
			fprintf(out,
				",\n    \"%s\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}}",
				names[i]);
	fputs("},\n   \"required\": [", out);
}

static void schema_put_object(FILE *out, const struct grt_table *t)
{
	const char *comma = "";

	if (!t->columns) {
		fputs("{\"type\": \"object\", \"additionalProperties\": {\"type\": [\"number\", \"string\", \"boolean\", \"null\"]}}",
		      out);
		return;
	}
	fputs("{\"type\": \"object\", \"additionalProperties\": false,\n   \"properties\": {", out);
	for (const struct grt_column *c = t->columns; c->name; c++) {
		if (!schema_has(c))
			continue;
		fprintf(out, "%s\n    ", comma);
		schema_put_column(out, grt_column_key(t, c), c);
		comma = ",";
	}
	schema_put_marks(out, t);
	comma = "";
	for (const struct grt_column *c = t->columns; c->name; c++) {
		if (!schema_has(c) || c->where & GRT_COLUMN_OPTIONAL)
			continue;
		fputs(comma, out);
		grt_json_put_string(out, grt_column_key(t, c));
		comma = ", ";
	}
	for (unsigned int i = 0; i < 2; i++)
		if (t->marks & (GRT_MARK_INFERRED << i))
			fprintf(out, "%s\"%s\"", comma, i ? "estimated" : "inferred");
	fputs("]}", out);
}

/* The tables of one name from the @first on: what stands there is of one of them. */
static void schema_put_tables(FILE *out, const struct grt_schema *s, unsigned int first)
{
	const struct grt_table *t = s->table[first];
	const char *comma = "";

	fprintf(out, ",\n\"%s\": ", t->name);
	if (!(t->marks & GRT_TABLE_PAIRS))
		fputs("{\"type\": \"array\", \"items\": ", out);
	fputs("{\"anyOf\": [\n  ", out);
	for (unsigned int i = first; i < s->n; i++) {
		if (!s->table[i]->name || strcmp(s->table[i]->name, t->name) != 0)
			continue;
		fputs(comma, out);
		schema_put_object(out, s->table[i]);
		comma = ",\n  ";
	}
	if (t->marks & GRT_TABLE_MAYBE)
		fputs(",\n  {\"type\": \"null\"}", out);
	fputs(t->marks & GRT_TABLE_PAIRS ? "]}" : "]}}", out);
}

static bool schema_is_first(const struct grt_schema *s, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (s->table[i]->name && !strcmp(s->table[i]->name, s->table[n]->name))
			return false;
	return true;
}

void grt_schema_print(const struct grt_schema *s, FILE *out)
{
	fputs("{\"$schema\": \"http://json-schema.org/draft-07/schema#\",\n\"title\": ", out);
	grt_json_put_string(out, s->title);
	fputs(",\n\"type\": \"object\", \"additionalProperties\": false, \"properties\": {\n"
	      "\"notes\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}}",
	      out);
	for (unsigned int i = 0; i < s->n; i++) {
		const struct grt_table *t = s->table[i];

		if (t->name && schema_is_first(s, i))
			schema_put_tables(out, s, i);
		for (const struct grt_column *c = t->name ? NULL : t->columns; c && c->name; c++) {
			fputs(",\n", out);
			schema_put_column(out, grt_column_key(t, c), c);
		}
	}
	fputs("}}\n", out);
}
