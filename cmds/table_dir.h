/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A directory of tables, as engines that read many files have them: a file for each
 * table and recording, DIR/TABLE/host=HOST/date=DATE/NAME. What other recordings have
 * there stays.
 */
#ifndef GRTRACE_TABLE_DIR_H
#define GRTRACE_TABLE_DIR_H

#include "lib/table/files.h"
#include "outfile.h"

struct table_dir_file;

/**
 * struct table_dir - begun by table_dir_begin(), to be given to table_dir_drop()
 * @path: DIR, as typed
 * @place: of its files behind the table's name; @ending: of their names
 * @file, @used: those that are open
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
 * table_dir_begin - where the files of a trace are
 * @ending: of their names
 * @first: the first moment of the trace, where @known
 */
void table_dir_begin(struct table_dir *d, const char *path, const char *ending, const struct grt_session *s,
		     const char *input, uint64_t first, bool known);

/** table_dir_files - for grt_writer_files() */
struct grt_table_files table_dir_files(struct table_dir *d);

/** table_dir_keep - puts all files into their places. Return: 0 or a negative errno */
int table_dir_keep(struct table_dir *d, struct grt_err *err);

/** table_dir_drop - closes them; what is not in its place is removed */
void table_dir_drop(struct table_dir *d);

#endif /* GRTRACE_TABLE_DIR_H */
