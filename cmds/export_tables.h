/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exports whose formats are tables: what analyses compute, in one pass.
 */
#ifndef GRTRACE_EXPORT_TABLES_H
#define GRTRACE_EXPORT_TABLES_H

#include "filter.h"
#include "outfile.h"
#include "table/table.h"

/**
 * export_tables - writes the tables of all parts with GRT_PART_TABLES, and what is known of the recording
 * @path: of the trace, as typed
 * @events: gets how many were read
 * Return: 0 or a negative errno; @out is kept and closed in either case
 */
int export_tables(struct grt_session *s, const struct grt_writer_ops *ops, const struct filter *filter,
		  const char *path, const struct reading_span *span, struct outfile *out, uint64_t *events,
		  struct grt_err *err);

#endif /* GRTRACE_EXPORT_TABLES_H */
