/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Sentences about the output, and name and value pairs, which are collected one by
 * one and written together.
 */
#ifndef GRT_TABLE_NOTES_H
#define GRT_TABLE_NOTES_H

#include "table.h"

#define GRT_NOTES_MAX 24
#define GRT_FIELDS_MAX 40

/** struct grt_notes - sentences for grt_writer_notes(); those beyond GRT_NOTES_MAX are dropped */
struct grt_notes {
	char text[GRT_NOTES_MAX][256];
	unsigned int n;
};

/** grt_note - adds a sentence */
void grt_note(struct grt_notes *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

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
