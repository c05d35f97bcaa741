// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Tables in files of their own, see files.h. */
#include "files.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "cells.h"

/** struct file_of - a table's writer; @key: names of its columns */
struct file_of {
	struct grt_writer *writer;
	char key[GRT_COLUMNS_MAX][96];
};

/**
 * struct files - the state
 * @file: by table
 * @now: the file of the open table, NULL: none
 * @error: a negative errno: everything further is dropped
 */
struct files {
	struct grt_writer w;
	const struct grt_writer_ops *form;
	struct grt_table_files files;
	struct file_of **file;
	unsigned int used;
	struct file_of *now;
	int error;
};

/** struct files_pair - a row of meta, or of notes */
struct files_pair {
	const char *key;
	const char *value;
};

/* clang-format off */
static const struct grt_column meta_columns[] = {
	{"key", grt_cell_pointed, offsetof(struct files_pair, key), GRT_CELL_TEXT, GRT_COLUMN_ALL, "what it is"},
	{"value", grt_cell_pointed, offsetof(struct files_pair, value), GRT_CELL_TEXT, GRT_COLUMN_ALL, "as text"},
	{.name = NULL},
};

static const struct grt_column note_columns[] = {
	{"note", grt_cell_pointed, offsetof(struct files_pair, value), GRT_CELL_TEXT, GRT_COLUMN_ALL, "a sentence"},
	{.name = NULL},
};
/* clang-format on */

static const struct grt_table meta_table = {"meta", "meta", meta_columns, 0};
static const struct grt_table notes_table = {"notes", "notes", note_columns, 0};

static struct files *files_of(struct grt_writer *w)
{
	return (struct files *)w;
}

static struct file_of *files_find(const struct files *s, const char *table)
{
	for (unsigned int i = 0; i < s->used; i++)
		if (!strcmp(s->file[i]->writer->table->name, table))
			return s->file[i];
	return NULL;
}

/* Return: 0 or a negative errno */
static int files_begin_file(struct files *s, const struct grt_table *table, struct file_of **out)
{
	struct grt_writer_options o = {.out = NULL};
	struct file_of *f;

	if (grt_grow_one(&s->file, s->used))
		return -ENOMEM;
	o.out = s->files.open(s->files.arg, table->name);
	if (!o.out)
		return -errno;
	f = calloc(1, sizeof(*f));
	if (!f || grt_writer_new(&f->writer, s->form, &o)) {
		free(f);
		return -ENOMEM;
	}
	f->writer->table = table;
	f->writer->beside = s->files.beside;
	s->file[s->used++] = f;
	grt_writer_begin(f->writer);
	*out = f;
	return 0;
}

/* The columns are chosen already; a table that comes again has its header. */
static void files_table(struct grt_writer *w)
{
	struct files *s = files_of(w);
	struct file_of *f = files_find(s, w->table->name);
	bool first = !f;

	if (s->error)
		return;
	if (first)
		s->error = files_begin_file(s, w->table, &f);
	s->now = s->error ? NULL : f;
	if (s->error)
		return;
	f->writer->table = w->table;
	f->writer->columns = w->columns;
	for (unsigned int i = 0; i < w->columns; i++) {
		grt_cell_unit_key(w->column[i]->kind, w->key[i], f->key[i], sizeof(f->key[i]));
		f->writer->key[i] = f->key[i];
		f->writer->column[i] = w->column[i];
	}
	if (first) {
		f->writer->texts = w->texts;
		s->form->table(f->writer);
	}
	w->texts = f->writer->texts;
}

static int files_row(struct grt_writer *w, const struct grt_cell *cells)
{
	struct files *s = files_of(w);

	return s->error ? s->error : s->form->row(s->now->writer, cells);
}

static void files_table_end(struct grt_writer *w)
{
	struct files *s = files_of(w);

	if (!s->error)
		s->form->table_end(s->now->writer);
}

static void files_fields(struct grt_writer *w, const char *name, const char *title,
			 const struct grt_field_value *f)
{
	struct files *s = files_of(w);
	char key[192], unit[96], digits[GRT_CELL_DIGITS];
	struct files_pair row = {key, NULL};

	for (unsigned int i = 0; i < s->used && !s->error; i++)
		s->form->fields(s->file[i]->writer, name, title, f);
	grt_writer_table(w, &meta_table, NULL);
	for (; f->name; f++) {
		grt_cell_unit_key(f->kind, f->name, unit, sizeof(unit));
		snprintf(key, sizeof(key), "%s%s%s", name ? name : "", name ? "." : "", unit);
		row.value = f->cell.absent ? NULL : grt_cell_plain(f->kind, &f->cell, digits);
		grt_writer_row(w, &row);
	}
	grt_writer_table_end(w);
}

static void files_notes(struct grt_writer *w, const char *const *notes, unsigned int n)
{
	grt_writer_table(w, &notes_table, NULL);
	for (unsigned int i = 0; i < n; i++)
		grt_writer_row(w, &(struct files_pair){NULL, notes[i]});
	grt_writer_table_end(w);
}

static void files_begin(struct grt_writer *w)
{
}

static void files_end(struct grt_writer *w)
{
	struct files *s = files_of(w);

	for (unsigned int i = 0; i < s->used && !s->error; i++)
		grt_writer_end(s->file[i]->writer);
}

static int files_failed(const struct grt_writer *w)
{
	const struct files *s = (const struct files *)w;
	int ret = s->error;

	for (unsigned int i = 0; i < s->used && !ret; i++)
		ret = grt_writer_failed(s->file[i]->writer);
	return ret;
}

static void files_free(struct grt_writer *w)
{
	struct files *s = files_of(w);

	for (unsigned int i = 0; i < s->used; i++) {
		grt_writer_free(s->file[i]->writer);
		free(s->file[i]);
	}
	free(s->file);
}

static const struct grt_writer_ops files_ops = {
	.name = "files",
	.where = GRT_COLUMN_MACHINE,
	.size = sizeof(struct files),
	.begin = files_begin,
	.fields = files_fields,
	.table = files_table,
	.row = files_row,
	.table_end = files_table_end,
	.notes = files_notes,
	.end = files_end,
	.failed = files_failed,
	.free = files_free,
};

int grt_writer_files(struct grt_writer **out, const struct grt_writer_ops *form,
		     const struct grt_table_files *files)
{
	const struct grt_writer_options none = {.out = stdout};
	int ret = grt_writer_new(out, &files_ops, &none);

	if (ret)
		return ret;
	files_of(*out)->form = form;
	files_of(*out)->files = *files;
	(*out)->beside = files->beside;
	return 0;
}
