/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Tables, see grtrace/tables.h, for those who write a form of them: a writer is
 * a file of this room and a row of writers.def.
 */
#ifndef GRT_TABLE_TABLE_H
#define GRT_TABLE_TABLE_H

#include <grtrace/tables.h>

/** struct grt_writer_ops - a form; see the functions of the same names */
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
	void (*free)(struct grt_writer *w);
};

/**
 * struct grt_writer - head of each writer's own state
 * @table, @view: the open table
 * @column: its columns in this form
 */
struct grt_writer {
	const struct grt_writer_ops *ops;
	struct grt_writer_options options;
	const struct grt_table *table;
	const void *view;
	const struct grt_column *column[GRT_COLUMNS_MAX];
	unsigned int columns;
};

#define GRT_WRITER(name, help) extern const struct grt_writer_ops writer_##name;
#include "writers.def"

#endif /* GRT_TABLE_TABLE_H */
