// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The tables of analyses as lines of JSON; that writer does all the work. */
#include "export.h"
#include "table/table.h"

const struct grt_export_format grt_export_jsonl_tables = {.tables = &writer_json_lines, .directory = "jsonl"};
