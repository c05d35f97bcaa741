/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A directory of tables in the layout of query engines that read many files: a file for each
 * table and recording, DIR/TABLE/host=HOST/date=DATE/NAME. Files of other recordings
 * stay unchanged.
 */
#ifndef GRTRACE_TABLE_DIR_H
#define GRTRACE_TABLE_DIR_H

#include "lib/table/files.h"
#include "outfile.h"

struct table_dir_file;

/**
 * struct table_dir - initialised by table_dir_begin(), freed by table_dir_drop()
 * @path: DIR, as typed
 * @place: path of its files after the table's name; @ending: ending of their names
 * @file, @used: the open files
 * @err: why a file was not opened
 */
struct table_dir {
	const char *path;
	char place[1024];
	const char *ending;
	struct table_dir_file **file;
	unsigned int used;
	struct grt_err err;
};

/**
 * table_dir_begin - determines the paths of the files of a trace
 * @ending: ending of their names
 * @first: the first time of the trace, if @known
 */
void table_dir_begin(struct table_dir *d, const char *path, const char *ending, const struct grt_session *s,
		     const char *input, uint64_t first, bool known);

/** table_dir_files - for grt_writer_files() */
struct grt_table_files table_dir_files(struct table_dir *d);

/** table_dir_keep - renames all files to their final paths. Return: 0 or a negative errno */
int table_dir_keep(struct table_dir *d, struct grt_err *err);

/** table_dir_drop - closes the files and removes those without their final path */
void table_dir_drop(struct table_dir *d);

#endif /* GRTRACE_TABLE_DIR_H */
