/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exports in formats that are tables: one pass writes the tables of all analyses.
 */
#ifndef GRTRACE_EXPORT_TABLES_H
#define GRTRACE_EXPORT_TABLES_H

#include "reading.h"
#include "outfile.h"
#include "table/table.h"

struct grt_export_format;

/**
 * export_tables - writes the tables of all parts with GRT_PART_TABLES, and a table about the recording
 * @path: the path of the trace, as typed
 * @output: a file; a directory if the format has a file for each table
 * @events: gets the number of events read
 * Return: 0 or a negative errno; no incomplete output is left
 */
int export_tables(struct grt_session *s, const struct grt_export_format *format, const struct filter *filter,
		  const char *path, const struct reading_span *span, const char *output, uint64_t *events,
		  struct grt_err *err);

#endif /* GRTRACE_EXPORT_TABLES_H */
