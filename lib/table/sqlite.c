// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Writes tables into a SQLite database, a file that is empty at first. Pairs are rows of `meta`, sentences
 * rows of `notes`. Numbers are integers, those with decimals are real; unknown values are NULL. Names of
 * columns have the unit.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/database.h"
#include "base/escape.h"
#include "base/containers.h"
#include "cells.h"
#include "table.h"

#ifdef GRT_HAVE_SQLITE
#define SQL_MAX 8192U
#define NAME_MAX_BYTES 96U

struct sqlite_table {
	const struct grt_table *table;
	sqlite3_stmt *insert;
};

/**
 * struct sqlite_writer - the state
 * @tables, @used: with the statement of a row; @insert: of the open table; @pair, @note: of meta and notes
 * @text, @room: a text that is valid UTF-8, or a list
 * @error: a negative errno: what comes is dropped
 */
struct sqlite_writer {
	struct grt_writer w;
	sqlite3 *db;
	struct sqlite_table *tables;
	unsigned int used;
	sqlite3_stmt *insert;
	sqlite3_stmt *pair;
	sqlite3_stmt *note;
	char *text;
	size_t room;
	int error;
};

static struct sqlite_writer *sqlite_of(struct grt_writer *w)
{
	return (struct sqlite_writer *)w;
}

static void sqlite_check(struct sqlite_writer *s, int code)
{
	if (!code || code == SQLITE_DONE || s->error)
		return;
	s->error = code == SQLITE_NOMEM ? -ENOMEM : code == SQLITE_FULL ? -ENOSPC : -EIO;
}

static void sqlite_run(struct sqlite_writer *s, const char *sql)
{
	if (!s->error)
		sqlite_check(s, sqlite3_exec(s->db, sql, NULL, NULL, NULL));
}

static void sqlite_prepare(struct sqlite_writer *s, const char *sql, sqlite3_stmt **out)
{
	if (!s->error)
		sqlite_check(s, sqlite3_prepare_v2(s->db, sql, -1, out, NULL));
}

/* Runs a statement whose values have been bound. */
static void sqlite_step(struct sqlite_writer *s, sqlite3_stmt *q)
{
	if (s->error)
		return;
	sqlite_check(s, sqlite3_step(q));
	sqlite3_reset(q);
}

/* ----------------------------------------------------------------- values */

static void sqlite_bind_text(struct sqlite_writer *s, sqlite3_stmt *q, int at, const char *text)
{
	size_t len = strlen(text), used;

	if (grt_grow(&s->text, &s->room, GRT_ESCAPED_MAX(len), 256)) {
		s->error = -ENOMEM;
		return;
	}
	used = grt_escape(GRT_ESCAPE_UTF8, s->text, s->room, text, len);
	sqlite_check(s, sqlite3_bind_text(q, at, s->text, (int)used, SQLITE_TRANSIENT));
}

/* [1,2,3] */
static void sqlite_bind_list(struct sqlite_writer *s, sqlite3_stmt *q, int at, const struct grt_cell *c)
{
	size_t used = 1;

	if (grt_grow(&s->text, &s->room, c->number * 21 + 3, 256)) {
		s->error = -ENOMEM;
		return;
	}
	s->text[0] = '[';
	for (uint64_t i = 0; i < c->number; i++)
		used += (size_t)snprintf(s->text + used, s->room - used, "%s%llu", i ? "," : "",
					 (unsigned long long)c->list[i]);
	s->text[used++] = ']';
	sqlite_check(s, sqlite3_bind_text(q, at, s->text, (int)used, SQLITE_TRANSIENT));
}

/*
 * Integers have 63 bits. SQLite rounds the digits of a larger number in a column of integers to a REAL, so no
 * identity is such a number.
 */
static void sqlite_bind_large(sqlite3_stmt *q, int at, uint64_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, number);
	sqlite3_bind_text(q, at, digits, -1, SQLITE_TRANSIENT);
}

static void sqlite_bind(struct sqlite_writer *s, sqlite3_stmt *q, int at, enum grt_cell_kind kind,
			const struct grt_cell *c)
{
	if (s->error)
		return;
	if (c->absent)
		sqlite3_bind_null(q, at);
	else if (grt_cell_is_text(kind))
		sqlite_bind_text(s, q, at, grt_cell_text(kind, c));
	else if (kind == GRT_CELL_LIST)
		sqlite_bind_list(s, q, at, c);
	else if (kind == GRT_CELL_PERCENT)
		sqlite3_bind_double(q, at, (double)c->number / 1000);
	else if (kind == GRT_CELL_AMOUNT)
		sqlite3_bind_double(q, at, (double)(int64_t)c->number / 1000);
	else if (kind == GRT_CELL_SIGNED || c->number <= INT64_MAX)
		sqlite3_bind_int64(q, at, (sqlite3_int64)c->number);
	else
		sqlite_bind_large(q, at, c->number);
}

/* Names of marked columns, separated by spaces. */
static void sqlite_bind_marks(struct sqlite_writer *s, int at, const struct grt_cell *cells, bool estimated)
{
	char names[GRT_COLUMNS_MAX * NAME_MAX_BYTES], key[NAME_MAX_BYTES];
	size_t used = 0;

	for (unsigned int i = 0; i < s->w.columns; i++) {
		if (!grt_cell_is_marked(&cells[i], estimated))
			continue;
		grt_cell_unit_key(s->w.column[i]->kind, s->w.key[i], key, sizeof(key));
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", used ? " " : "", key);
	}
	if (used)
		sqlite_bind_text(s, s->insert, at, names);
	else
		sqlite3_bind_null(s->insert, at);
}

/* ----------------------------------------------------------------- tables */

static const char *sqlite_type(enum grt_cell_kind kind)
{
	return grt_cell_is_text(kind) || kind == GRT_CELL_LIST	     ? "TEXT"
	       : kind == GRT_CELL_PERCENT || kind == GRT_CELL_AMOUNT ? "REAL"
								     : "INTEGER";
}

static void sqlite_begin_table(struct sqlite_writer *s)
{
	struct grt_writer *w = &s->w;
	char sql[SQL_MAX], key[NAME_MAX_BYTES];
	size_t used =
		(size_t)snprintf(sql, sizeof(sql), "CREATE TABLE IF NOT EXISTS \"%s\" (", w->table->name);
	unsigned int n = w->columns;

	for (unsigned int i = 0; i < w->columns; i++) {
		grt_cell_unit_key(w->column[i]->kind, w->key[i], key, sizeof(key));
		used += (size_t)snprintf(sql + used, sizeof(sql) - used, "%s\"%s\" %s", i ? ", " : "", key,
					 sqlite_type(w->column[i]->kind));
	}
	for (unsigned int mark = GRT_MARK_INFERRED; mark <= GRT_MARK_ESTIMATED; mark <<= 1)
		if (w->table->marks & mark) {
			used += (size_t)snprintf(sql + used, sizeof(sql) - used, ", %s TEXT",
						 mark == GRT_MARK_INFERRED ? "inferred" : "estimated");
			n++;
		}
	snprintf(sql + used, sizeof(sql) - used, ")");
	sqlite_run(s, sql);
	used = (size_t)snprintf(sql, sizeof(sql), "INSERT INTO \"%s\" VALUES (?", w->table->name);
	for (unsigned int i = 1; i < n; i++)
		used += (size_t)snprintf(sql + used, sizeof(sql) - used, ",?");
	snprintf(sql + used, sizeof(sql) - used, ")");
	sqlite_prepare(s, sql, &s->insert);
	s->tables[s->used++] = (struct sqlite_table){w->table, s->insert};
}

/* A table may be written several times: all rows go to one table. */
static void sqlite_table(struct grt_writer *w)
{
	struct sqlite_writer *s = sqlite_of(w);

	s->insert = NULL;
	for (unsigned int i = 0; i < s->used && !s->insert; i++)
		if (s->tables[i].table == w->table)
			s->insert = s->tables[i].insert;
	if (s->insert)
		return;
	if (grt_grow_one(&s->tables, s->used))
		s->error = -ENOMEM;
	else
		sqlite_begin_table(s);
}

static int sqlite_row(struct grt_writer *w, const struct grt_cell *cells)
{
	struct sqlite_writer *s = sqlite_of(w);
	int at = (int)w->columns;

	for (unsigned int i = 0; i < w->columns; i++)
		sqlite_bind(s, s->insert, (int)i + 1, w->column[i]->kind, &cells[i]);
	if (w->table->marks & GRT_MARK_INFERRED)
		sqlite_bind_marks(s, ++at, cells, false);
	if (w->table->marks & GRT_MARK_ESTIMATED)
		sqlite_bind_marks(s, ++at, cells, true);
	sqlite_step(s, s->insert);
	return s->error;
}

static void sqlite_table_end(struct grt_writer *w)
{
	sqlite_of(w)->insert = NULL;
}

static void sqlite_fields(struct grt_writer *w, const char *name, const char *title,
			  const struct grt_field_value *f)
{
	struct sqlite_writer *s = sqlite_of(w);
	char key[2 * NAME_MAX_BYTES], unit[NAME_MAX_BYTES];

	for (; f->name && !s->error; f++) {
		grt_cell_unit_key(f->kind, f->name, unit, sizeof(unit));
		snprintf(key, sizeof(key), "%s%s%s", name ? name : "", name ? "." : "", unit);
		sqlite_bind_text(s, s->pair, 1, key);
		sqlite_bind(s, s->pair, 2, f->kind, &f->cell);
		sqlite_step(s, s->pair);
	}
}

static void sqlite_notes(struct grt_writer *w, const char *const *notes, unsigned int n)
{
	struct sqlite_writer *s = sqlite_of(w);

	for (unsigned int i = 0; i < n && !s->error; i++) {
		sqlite_bind_text(s, s->note, 1, notes[i]);
		sqlite_step(s, s->note);
	}
}

static void sqlite_begin(struct grt_writer *w)
{
	struct sqlite_writer *s = sqlite_of(w);

	sqlite_check(s, grt_database_write(&s->db, fileno(w->options.out)));
	sqlite_run(
		s,
		"BEGIN; CREATE TABLE meta (key TEXT NOT NULL, value); CREATE TABLE notes (note TEXT NOT NULL)");
	sqlite_prepare(s, "INSERT INTO meta VALUES (?, ?)", &s->pair);
	sqlite_prepare(s, "INSERT INTO notes VALUES (?)", &s->note);
}

static void sqlite_end(struct grt_writer *w)
{
	sqlite_run(sqlite_of(w), "COMMIT");
}

static int sqlite_failed(const struct grt_writer *w)
{
	return ((const struct sqlite_writer *)w)->error;
}

static void sqlite_free(struct grt_writer *w)
{
	struct sqlite_writer *s = sqlite_of(w);

	for (unsigned int i = 0; i < s->used; i++)
		sqlite3_finalize(s->tables[i].insert);
	free(s->tables);
	sqlite3_finalize(s->pair);
	sqlite3_finalize(s->note);
	sqlite3_close(s->db);
	free(s->text);
}

const struct grt_writer_ops writer_sqlite = {
	.name = "sqlite",
	.where = GRT_COLUMN_MACHINE,
	.size = sizeof(struct sqlite_writer),
	.begin = sqlite_begin,
	.fields = sqlite_fields,
	.table = sqlite_table,
	.row = sqlite_row,
	.table_end = sqlite_table_end,
	.notes = sqlite_notes,
	.end = sqlite_end,
	.failed = sqlite_failed,
	.free = sqlite_free,
};
#else
const struct grt_writer_ops writer_sqlite = {.name = "sqlite"};
#endif
