/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Tables in separate files: a writer that creates one file per table, in a form that
 * can hold one table. Names of columns include the unit. Pairs are rows of the table `meta`,
 * sentences are rows of `notes`; forms with a place for pairs also get all pairs.
 */
#ifndef GRT_TABLE_FILES_H
#define GRT_TABLE_FILES_H

#include "table.h"

/**
 * struct grt_table_files - @open: opens the file of a table, which the callback's owner closes. Return: NULL
 * with errno
 * @beside: a second core is free: other threads may encode rows, and write them
 */
struct grt_table_files {
	FILE *(*open)(void *arg, const char *table);
	void *arg;
	bool beside;
};

/** grt_writer_files - begins; @form: form of the files. Return: 0 or -ENOMEM */
int grt_writer_files(struct grt_writer **out, const struct grt_writer_ops *form,
		     const struct grt_table_files *files);

#endif /* GRT_TABLE_FILES_H */
