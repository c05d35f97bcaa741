// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The sentences and pairs of notes.h. */
#include "notes.h"

#include <stdarg.h>
#include <stdio.h>

void grt_note(struct grt_notes *n, const char *fmt, ...)
{
	va_list ap;

	if (n->n == GRT_NOTES_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(n->text[n->n++], sizeof(n->text[0]), fmt, ap);
	va_end(ap);
}

void grt_notes_write(struct grt_notes *n, struct grt_writer *w)
{
	const char *lines[GRT_NOTES_MAX];

	for (unsigned int i = 0; i < n->n; i++)
		lines[i] = n->text[i];
	grt_writer_notes(w, lines, n->n);
	n->n = 0;
}

void grt_field_add(struct grt_fields *f, const char *name, enum grt_cell_kind kind, struct grt_cell cell,
		   const char *text)
{
	if (f->n < GRT_FIELDS_MAX - 1)
		f->f[f->n++] = (struct grt_field_value){name, kind, cell, text};
}

void grt_field_number(struct grt_fields *f, const char *name, uint64_t number, const char *text)
{
	grt_field_add(f, name, GRT_CELL_NUMBER, (struct grt_cell){.number = number}, text);
}

void grt_fields_write(struct grt_fields *f, struct grt_writer *w, const char *name, const char *title)
{
	f->f[f->n].name = NULL;
	grt_writer_fields(w, name, title, f->f);
}
