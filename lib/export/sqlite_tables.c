// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The tables of analyses as a database; the SQLite writer does all the work. */
#include "export.h"
#include "table/table.h"

const struct grt_export_format grt_export_sqlite = {.tables = &writer_sqlite};
