/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Tables, see grtrace/tables.h, for those who write a form of them: a writer is
 * a file of this room and a row of writers.def.
 */
#ifndef GRT_TABLE_TABLE_H
#define GRT_TABLE_TABLE_H

#include <grtrace/tables.h>

/* struct grt_column.where of pairs: not in text where it is 0; nowhere where it is absent */
#define GRT_COLUMN_NONZERO 8U
#define GRT_COLUMN_OPTIONAL 16U
/* text shows no @help behind the value */
#define GRT_COLUMN_PLAIN 32U

/* struct grt_table.marks: its one row is written by grt_writer_pairs(). Without @name the pairs are members
 * of the whole; without @columns they are not known beforehand */
#define GRT_TABLE_PAIRS 4U
/* These may be null as a whole. */
#define GRT_TABLE_MAYBE 8U

/* struct grt_column.arg of GRT_CELL_LIST in a schema: what is in the list */
#define GRT_LIST_TEXTS 1
#define GRT_LIST_OBJECTS 2

/* Tables ended by NULL. */
#define GRT_TABLES(...) ((const struct grt_table *const[]){__VA_ARGS__, NULL})

/** struct grt_writer_ops - a form; see the functions of the same names; @size 0: this program was built
 * without it; @failed: NULL: the error flag of the file says it */
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
 * struct grt_writer - head of each writer's own state
 * @table, @view: the open table
 * @column: its columns in this form; @key: what JSON and CSV call them
 */
struct grt_writer {
	const struct grt_writer_ops *ops;
	struct grt_writer_options options;
	const struct grt_table *table;
	const void *view;
	const struct grt_column *column[GRT_COLUMNS_MAX];
	const char *key[GRT_COLUMNS_MAX];
	unsigned int columns;
};

#define GRT_WRITER(name, help) extern const struct grt_writer_ops writer_##name;
#include "writers.def"

/**
 * grt_writer_pairs - the columns of a table of GRT_TABLE_PAIRS as name and value pairs
 * In text what follows a number or truth is the cell's @text, where it has one, else the column's help.
 */
void grt_writer_pairs(struct grt_writer *w, const struct grt_table *table, const void *view, const void *row);

/**
 * grt_writer_into - the next rows are of this table, whichever other one they were of before
 * @table: NULL: of none
 */
void grt_writer_into(struct grt_writer *w, const struct grt_table *table, const void *view);

/** grt_writer_failed - 0, or a negative errno: what was written is not whole */
int grt_writer_failed(const struct grt_writer *w);

/** grt_cell_unit_key - a key with the unit of a kind of value: duration_ns, share_percent, bytes */
void grt_cell_unit_key(enum grt_cell_kind kind, const char *key, char *out, size_t room);

/* Room for grt_cell_plain(). */
#define GRT_CELL_DIGITS 32U

/**
 * grt_cell_plain - a value as one text, of a kind that is no list: a number as JSON has it
 * @digits: GRT_CELL_DIGITS bytes, for those of numbers
 */
const char *grt_cell_plain(enum grt_cell_kind kind, const struct grt_cell *cell, char *digits);

/** grt_column_key - what JSON and CSV call a column: as the JSON of events does, see keys.def */
const char *grt_column_key(const struct grt_table *table, const struct grt_column *c);

#endif /* GRT_TABLE_TABLE_H */
