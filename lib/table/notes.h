/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Sentences about the output (base/say.h), and name and value pairs, which are collected one by
 * one and written together.
 */
#ifndef GRT_TABLE_NOTES_H
#define GRT_TABLE_NOTES_H

#include "base/say.h"
#include "table.h"

#define GRT_FIELDS_MAX 40

/** grt_notes_write - writes and removes the sentences */
void grt_notes_write(struct grt_notes *n, struct grt_writer *w);

/** struct grt_fields - name and value pairs for grt_writer_fields() */
struct grt_fields {
	struct grt_field_value f[GRT_FIELDS_MAX];
	unsigned int n;
};

/** grt_field_add, grt_field_number - add a pair; in text, @text follows it, and may be NULL */
void grt_field_add(struct grt_fields *f, const char *name, enum grt_cell_kind kind, struct grt_cell cell,
		   const char *text);
void grt_field_number(struct grt_fields *f, const char *name, uint64_t number, const char *text);

/** grt_fields_write - see grt_writer_fields() */
void grt_fields_write(struct grt_fields *f, struct grt_writer *w, const char *name, const char *title);

#endif /* GRT_TABLE_NOTES_H */
