// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The tables of analyses as files of CSV; the CSV writer does all the work. */
#include "export.h"
#include "table/table.h"

const struct grt_export_format grt_export_csv_tables = {.tables = &writer_csv, .directory = "csv"};
