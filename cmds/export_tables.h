/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exports whose formats are tables: what analyses compute, in one pass.
 */
#ifndef GRTRACE_EXPORT_TABLES_H
#define GRTRACE_EXPORT_TABLES_H

#include "filter.h"
#include "outfile.h"
#include "table/table.h"

struct grt_export_format;

/**
 * export_tables - writes the tables of all parts with GRT_PART_TABLES, and what is known of the recording
 * @path: of the trace, as typed
 * @output: a file, or where the format has files for tables a directory
 * @events: gets how many were read
 * Return: 0 or a negative errno; nothing is left half
 */
int export_tables(struct grt_session *s, const struct grt_export_format *format, const struct filter *filter,
		  const char *path, const struct reading_span *span, const char *output, uint64_t *events,
		  struct grt_err *err);

#endif /* GRTRACE_EXPORT_TABLES_H */
