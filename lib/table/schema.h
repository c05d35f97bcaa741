/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The JSON Schema of the JSON writer's output. */
#ifndef GRT_TABLE_SCHEMA_H
#define GRT_TABLE_SCHEMA_H

#include "table.h"

/* Most tables of an output. */
#define GRT_SCHEMA_TABLES 128

/**
 * struct grt_schema - an object of tables and notes
 * @title: its title
 * @table: @n tables; if several have the same name, each row belongs to one of them
 */
struct grt_schema {
	const char *title;
	const struct grt_table *table[GRT_SCHEMA_TABLES];
	unsigned int n;
};

/** grt_schema_add - adds a table, or tables up to NULL; tables beyond GRT_SCHEMA_TABLES are dropped */
void grt_schema_add(struct grt_schema *s, const struct grt_table *table);
void grt_schema_add_all(struct grt_schema *s, const struct grt_table *const *tables);

/** grt_schema_print - prints it; every key that is not optional is required, and no other is allowed */
void grt_schema_print(const struct grt_schema *s, FILE *out);

#endif /* GRT_TABLE_SCHEMA_H */
