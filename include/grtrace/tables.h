/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What every writer gets: a table is rows of columns; a column says once what
 * its name, unit and kind are and how its value is taken from a row. Text,
 * JSON and CSV are made from the same rows.
 *
 *	grt_writer_begin(w)
 *	  grt_writer_fields(w, "recording", ...)	name and value pairs
 *	  grt_writer_table(w, table, view)
 *	    grt_writer_row(w, row) ...
 *	  grt_writer_table_end(w)
 *	  grt_writer_notes(w, ...)
 *	grt_writer_end(w)
 */
#ifndef GRTRACE_TABLES_H
#define GRTRACE_TABLES_H

#include <string.h>

#include <grtrace/grtrace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Columns of a table, at most. */
#define GRT_COLUMNS_MAX 40

/** enum grt_cell_kind - what a value is */
enum grt_cell_kind {
	GRT_CELL_TEXT, /* untrusted text; absent when NULL */
	GRT_CELL_NUMBER,
	GRT_CELL_SIGNED,
	GRT_CELL_NAMED,	  /* a number that may have a name: text shows the name, machines the number */
	GRT_CELL_ENGINE,  /* enum grt_engine, by name */
	GRT_CELL_EVENT,	  /* enum grt_event_type, by title */
	GRT_CELL_NS,	  /* a duration; scaled in text */
	GRT_CELL_TIME,	  /* a stamp; seconds with 9 digits in text */
	GRT_CELL_PERCENT, /* in 1/1000 of a percent */
	GRT_CELL_BOOL,
	GRT_CELL_AMOUNT, /* signed, in 1/1000 of the unit @text, which is untrusted; scaled in text */
	GRT_CELL_BYTES,	 /* scaled in text */
	GRT_CELL_LIST,	 /* @number numbers at @list; for JSON, other forms show how many */
	GRT_CELL_KINDS,
};

/**
 * struct grt_cell - one value
 * @text, @list, @number: by the column's kind; GRT_CELL_SIGNED is a cast of @number
 * @absent: not known; a dash, null or nothing
 * @inferred: not observed
 * @estimated: not counted but scaled up from a sample, or a lower bound
 * @lasting: @text stays where it is, as it is, until the table ends: a writer that sees the pointer again
 *	knows the text
 */
struct grt_cell {
	union {
		const char *text;
		const uint64_t *list;
	};
	uint64_t number;
	bool absent;
	bool inferred;
	bool estimated;
	bool lasting;
};

/* struct grt_column.where */
#define GRT_COLUMN_BRIEF 1U   /* in text */
#define GRT_COLUMN_VERBOSE 2U /* in text where detail is asked for */
#define GRT_COLUMN_MACHINE 4U /* in JSON and CSV */
#define GRT_COLUMN_ALL 7U
#define GRT_COLUMN_MORE 6U
/* In text only where rows differ in it, or have it and detail is asked for: it tells rows of one name apart.
 */
#define GRT_COLUMN_TELLS 8U
/* Text that does not fit leaves the least important columns out first, and the rightmost of these. */
#define GRT_COLUMN_LESS 64U
#define GRT_COLUMN_LEAST 128U

/**
 * struct grt_column - one column
 * @name: as header and key
 * @get: takes the value from @row; @view is what the rows belong to
 * @arg: for @get
 * @kind: enum grt_cell_kind
 * @where: GRT_COLUMN_*
 * @help: one line, with the unit
 */
struct grt_column {
	const char *name;
	void (*get)(struct grt_cell *cell, const void *view, const void *row, int arg);
	int arg;
	uint8_t kind;
	uint8_t where;
	const char *help;
};

/* struct grt_table.marks: which lists of marked columns machine forms add to each row */
#define GRT_MARK_INFERRED 1U
#define GRT_MARK_ESTIMATED 2U

/**
 * struct grt_table - a kind of row
 * @name: JSON key
 * @title: heading in text
 * @columns: ended by a row without name
 * @marks: GRT_MARK_*
 */
struct grt_table {
	const char *name;
	const char *title;
	const struct grt_column *columns;
	unsigned int marks;
};

/**
 * struct grt_field_value - a name and value pair
 * @name: as key; NULL ends a list
 * @kind: enum grt_cell_kind
 * @note: what follows it in text; may be NULL
 */
struct grt_field_value {
	const char *name;
	enum grt_cell_kind kind;
	struct grt_cell cell;
	const char *note;
};

/**
 * struct grt_writer_options - how to write
 * @out: where to; errors stay in its error flag. Only one thread uses it: it is not locked
 * @verbose: text shows the columns of GRT_COLUMN_VERBOSE too
 * @colour: text may be coloured
 * @width: tables of text are at most so many characters wide: columns are left out, and names cut in the
 *	middle; 0: as wide as they are
 * @wide: names are not cut, however long
 * @utf8: what is cut has an ellipsis in it, else dots
 * @wrap: sentences of text are broken between words into lines of at most so many characters; 0: they are not
 */
struct grt_writer_options {
	FILE *out;
	bool verbose;
	bool colour;
	uint64_t width;
	bool wide;
	bool utf8;
	uint64_t wrap;
};

struct grt_writer;
struct grt_writer_ops;

/** grt_writer_find - the writer "text", "json" or "csv"; NULL: there is none of this name */
const struct grt_writer_ops *grt_writer_find(const char *name);

/** grt_writer_new_sized - what grt_writer_new() calls; @size: of *@options */
int grt_writer_new_sized(struct grt_writer **out, const struct grt_writer_ops *ops,
			 const struct grt_writer_options *options, size_t size);

/** grt_writer_new - begins. Return: 0 or -ENOMEM */
static inline int grt_writer_new(struct grt_writer **out, const struct grt_writer_ops *ops,
				 const struct grt_writer_options *options)
{
	return grt_writer_new_sized(out, ops, options, sizeof(*options));
}

/** grt_writer_begin, grt_writer_end - around everything else */
void grt_writer_begin(struct grt_writer *w);
void grt_writer_end(struct grt_writer *w);

/**
 * grt_writer_fields - name and value pairs; not part of CSV
 * @name: key of the pairs' object; NULL: they are members of the whole
 * @title: heading in text; NULL: not part of text
 */
void grt_writer_fields(struct grt_writer *w, const char *name, const char *title,
		       const struct grt_field_value *f);

/** grt_writer_table - begins a table; @view is handed to the columns and lives until its end */
void grt_writer_table(struct grt_writer *w, const struct grt_table *table, const void *view);

/** grt_writer_row - a row. Return: 0 or -ENOMEM */
int grt_writer_row(struct grt_writer *w, const void *row);

/** grt_writer_table_end - ends the table */
void grt_writer_table_end(struct grt_writer *w);

/**
 * grt_writer_rows, grt_writer_list - a whole table
 * @row: @n rows of @size bytes each; or as many pointers to rows
 * Return: 0 or -ENOMEM
 */
int grt_writer_rows(struct grt_writer *w, const struct grt_table *table, const void *view, const void *row,
		    size_t size, uint64_t n);
int grt_writer_list(struct grt_writer *w, const struct grt_table *table, const void *view, const void *row,
		    uint64_t n);

/** grt_writer_notes - sentences about all that was written; not part of CSV */
void grt_writer_notes(struct grt_writer *w, const char *const *notes, unsigned int n);

/** grt_writer_free - frees it, @out stays open; NULL is allowed */
void grt_writer_free(struct grt_writer *w);

/** grt_column_find - the column of this name, as text or as JSON and CSV call it; NULL: there is none */
const struct grt_column *grt_column_find(const struct grt_table *table, const char *name);

/** grt_column_get - the value of a column */
static inline struct grt_cell grt_column_get(const struct grt_column *c, const void *view, const void *row)
{
	struct grt_cell cell;

	memset(&cell, 0, sizeof(cell));
	c->get(&cell, view, row, c->arg);
	cell.absent |= c->kind == GRT_CELL_TEXT && !cell.text;
	return cell;
}

/**
 * grt_cell_order - the order of two values of a column: numbers from the
 * greatest, texts from A, what is absent last
 */
int grt_cell_order(const struct grt_column *c, const struct grt_cell *a, const struct grt_cell *b);

/** grt_cell_is_text - whether machine forms quote a value of this kind */
bool grt_cell_is_text(enum grt_cell_kind kind);

/** grt_cell_text - the text of a value of such a kind, never NULL */
const char *grt_cell_text(enum grt_cell_kind kind, const struct grt_cell *cell);

#ifdef __cplusplus
}
#endif

#endif /* GRTRACE_TABLES_H */
