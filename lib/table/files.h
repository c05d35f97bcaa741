/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Tables in files of their own: a writer that gives each table to one of a form that
 * is one table. Names of columns have the unit. Pairs are rows of the table `meta`,
 * sentences of `notes`, and forms that have a place for pairs get all of them.
 */
#ifndef GRT_TABLE_FILES_H
#define GRT_TABLE_FILES_H

#include "table.h"

/** struct grt_table_files - @open: opens the file of a table, which stays its owner's. Return: NULL with
 * errno */
struct grt_table_files {
	FILE *(*open)(void *arg, const char *table);
	void *arg;
};

/** grt_writer_files - begins; @form: of the files. Return: 0 or -ENOMEM */
int grt_writer_files(struct grt_writer **out, const struct grt_writer_ops *form,
		     const struct grt_table_files *files);

#endif /* GRT_TABLE_FILES_H */
