/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The inside of tables, see grtrace/tables.h, for writers. A writer is
 * a file of this room and a row of writers.def.
 */
#ifndef GRT_TABLE_TABLE_H
#define GRT_TABLE_TABLE_H

#include <grtrace/tables.h>

/* struct grt_column.where of pairs: left out in text if 0, and in all forms if absent */
#define GRT_COLUMN_NONZERO 8U
#define GRT_COLUMN_OPTIONAL 16U
/* text shows no @help after the value */
#define GRT_COLUMN_PLAIN 32U

/* struct grt_table.marks: grt_writer_pairs() writes its only row. Without @name, the pairs are members
 * of the top-level object; without @columns, they are not known in advance */
#define GRT_TABLE_PAIRS 4U
/* The object of the pairs may be null. */
#define GRT_TABLE_MAYBE 8U

/* struct grt_column.arg of GRT_CELL_LIST in a schema: the kind of the elements */
#define GRT_LIST_TEXTS 1
#define GRT_LIST_OBJECTS 2

/* A list of tables, ended by NULL. */
#define GRT_TABLES(...) ((const struct grt_table *const[]){__VA_ARGS__, NULL})

/** struct grt_writer_ops - a form; see the functions with the same names; @size 0: this program was built
 * without it; @failed: NULL: use the error flag of the file */
struct grt_writer_ops {
	const char *name;
	unsigned int where;
	size_t size;
	void (*begin)(struct grt_writer *w);
	void (*fields)(struct grt_writer *w, const char *name, const char *title,
		       const struct grt_field_value *f);
	void (*table)(struct grt_writer *w);
	int (*row)(struct grt_writer *w, const struct grt_cell *cells);
	void (*table_end)(struct grt_writer *w);
	void (*notes)(struct grt_writer *w, const char *const *notes, unsigned int n);
	void (*end)(struct grt_writer *w);
	int (*failed)(const struct grt_writer *w);
	void (*free)(struct grt_writer *w);
};

/**
 * struct grt_writer - begin of each writer's own state
 * @table, @view: the open table
 * @column: its columns in this form; @key: their names in JSON and CSV; @texts: bits of the columns of text
 *	whose cells are absent without one; 0: @ops->row finds that out
 * @beside: a part of the work may be another thread's
 * @later: rows that another thread writes, see struct grt_later; NULL: none were
 */
struct grt_writer {
	const struct grt_writer_ops *ops;
	struct grt_writer_options options;
	const struct grt_table *table;
	const void *view;
	const struct grt_column *column[GRT_COLUMNS_MAX];
	const char *key[GRT_COLUMNS_MAX];
	unsigned int columns;
	uint64_t texts;
	bool beside;
	struct grt_later *later;
};

#define GRT_WRITER(name, help) extern const struct grt_writer_ops writer_##name;
#include "writers.def"

/**
 * grt_writer_pairs - writes the columns of a table of GRT_TABLE_PAIRS as name and value pairs
 *
 * In text, the cell's @text follows a number or boolean; without one, the column's help does.
 */
void grt_writer_pairs(struct grt_writer *w, const struct grt_table *table, const void *view, const void *row);

/**
 * grt_writer_into - the next rows belong to this table
 * @table: NULL: to no table
 */
void grt_writer_into(struct grt_writer *w, const struct grt_table *table, const void *view);

/**
 * grt_writer_row_later - writes a copy of a row, as grt_writer_row() does. Where the writer may (@beside),
 * another thread writes it, in order with all other rows: until the table ends, what the row and its view
 * point to stays as it is, and columns take their values from nothing else
 * @size: of each row of this table
 * Return: 0 or a negative errno, of an earlier row perhaps
 */
int grt_writer_row_later(struct grt_writer *w, const void *row, size_t size);

/** grt_writer_settle - waits until all rows are written. Return: 0 or a negative errno */
int grt_writer_settle(struct grt_writer *w);

/** grt_writer_put_row - grt_writer_row(), without waiting for earlier rows */
int grt_writer_put_row(struct grt_writer *w, const void *row);

/** grt_writer_failed - 0, or a negative errno: the output is incomplete */
int grt_writer_failed(const struct grt_writer *w);

/** grt_cell_unit_key - adds the unit of a kind of value to a key: duration_ns, share_percent, bytes */
void grt_cell_unit_key(enum grt_cell_kind kind, const char *key, char *out, size_t room);

/* Room for grt_cell_plain(). */
#define GRT_CELL_DIGITS 32U

/**
 * grt_cell_plain - a value of any kind except lists as text; numbers as in JSON
 * @digits: GRT_CELL_DIGITS bytes, for the text of a number
 */
const char *grt_cell_plain(enum grt_cell_kind kind, const struct grt_cell *cell, char *digits);

/** grt_column_key - the name of a column in JSON and CSV; the same as in the JSON of events, see keys.def */
const char *grt_column_key(const struct grt_table *table, const struct grt_column *c);

#endif /* GRT_TABLE_TABLE_H */
