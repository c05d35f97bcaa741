/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Cells as JSON, for writers of JSON. */
#ifndef GRT_TABLE_JSON_CELLS_H
#define GRT_TABLE_JSON_CELLS_H

#include "table.h"

/** grt_json_put_string - writes a text, in quotes; bytes that are not UTF-8 become U+FFFD */
void grt_json_put_string(FILE *out, const char *text);

/** grt_json_put_cell - writes a value, null if it is absent */
void grt_json_put_cell(FILE *out, enum grt_cell_kind kind, const struct grt_cell *c);

/**
 * grt_json_put_marked - writes an array with the names of the columns whose cells are marked as @estimated,
 * or else as inferred
 */
void grt_json_put_marked(const struct grt_writer *w, const struct grt_cell *cells, bool estimated);

#endif /* GRT_TABLE_JSON_CELLS_H */
