// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Shared code of the writers: choosing the columns, taking cells from rows, the order of cells and rows,
 * collecting sentences and pairs (notes.h). The writers decide how a cell looks.
 */
#include "table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "base/relay.h"
#include "base/say.h"
#include "base/sized.h"
#include "base/units.h"

/* ----------------------------------------------------------------- later */

/*
 * Rows that another thread writes while the caller makes more, see grt_writer_row_later().
 */

struct grt_later;

/*
 * Rows that another thread writes. They are collected in a batch of bounded size; a full batch belongs to the
 * thread. Whatever else the writer does waits for all rows first (grt_writer_settle()).
 */

#define BATCH_ROWS 8192U

/** struct later_batch - @size: of each of @rows, of which @used are there */
struct later_batch {
	struct grt_writer *writer;
	char *row;
	size_t size;
	uint32_t used;
	int ret;
};

/**
 * struct grt_later - rows that wait
 * @collected: by the caller; @written: by the thread of @relay while it has them
 * @error: a negative errno of a row
 */
struct grt_later {
	struct later_batch collected;
	struct later_batch written;
	struct grt_relay relay;
	int error;
};

/* The batch beside this one has another thread, which should not wait for its cache line: so nothing is
 * written to it before the end. */
static void later_write(struct later_batch *b)
{
	const uint32_t used = b->used;
	int ret = b->ret;

	for (uint32_t i = 0; i < used && !ret; i++)
		ret = grt_writer_put_row(b->writer, b->row + i * b->size);
	b->ret = ret;
	b->used = 0;
}

static void later_work(void *arg)
{
	later_write(&((struct grt_later *)arg)->written);
}

static struct grt_later *later_new(void)
{
	struct grt_later *l = calloc(1, sizeof(*l));

	if (l)
		grt_relay_init(&l->relay, later_work, l);
	return l;
}

static void later_wait(struct grt_later *l)
{
	grt_relay_wait(&l->relay);
	l->error = l->error ?: l->written.ret;
}

/* The full batch for the thread, and the one that it has written for the caller. */
static void later_hand_over(struct grt_later *l)
{
	struct later_batch full = l->collected;

	later_wait(l);
	if (l->error)
		return;
	l->collected = l->written;
	l->written = full;
	grt_relay_go(&l->relay);
}

static bool later_room(struct later_batch *b, struct grt_writer *w, size_t size)
{
	if (!b->row || b->size != size) {
		free(b->row);
		*b = (struct later_batch){.writer = w, .row = malloc(BATCH_ROWS * size), .size = size};
	}
	return b->row;
}

int grt_writer_row_later(struct grt_writer *w, const void *row, size_t size)
{
	struct grt_later *l = w->beside ? w->later ?: later_new() : NULL;
	struct later_batch *b = l ? &l->collected : NULL;

	w->later = l ?: w->later;
	/* without memory for many rows there may be some for one */
	if (!l || (b->used && b->size != size) || !later_room(b, w, size))
		return grt_writer_row(w, row);
	memcpy(b->row + b->used++ * size, row, size);
	if (b->used == BATCH_ROWS)
		later_hand_over(l);
	return l->error;
}

int grt_writer_settle(struct grt_writer *w)
{
	struct grt_later *l = w->later;

	if (!l)
		return 0;
	later_wait(l);
	if (!l->error && l->collected.used) {
		later_write(&l->collected);
		l->error = l->collected.ret;
	}
	l->collected.used = 0;
	return l->error;
}

/* Waits for the thread and frees the rows that it did not write; NULL is allowed. */
static void later_free(struct grt_later *l)
{
	if (!l)
		return;
	grt_relay_fini(&l->relay);
	free(l->collected.row);
	free(l->written.row);
	free(l);
}

/* ----------------------------------------------------------------- table */

const struct grt_writer_ops *grt_writer_find(const char *name)
{
	static const struct grt_writer_ops *const writers[] = {
#define GRT_WRITER(form, help) &writer_##form,
#include "writers.def"
	};

	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++)
		if (!strcmp(writers[i]->name, name))
			return writers[i];
	return NULL;
}

int grt_writer_new_sized(struct grt_writer **out, const struct grt_writer_ops *ops,
			 const struct grt_writer_options *options, size_t size)
{
	*out = calloc(1, ops->size);
	if (!*out)
		return -ENOMEM;
	(*out)->ops = ops;
	grt_sized_copy(&(*out)->options, sizeof((*out)->options), options, size);
	/* Only one thread writes, and a lock for each comma would cost more than the comma. */
	__fsetlocking(options->out, FSETLOCKING_BYCALLER);
	return 0;
}

void grt_writer_begin(struct grt_writer *w)
{
	w->ops->begin(w);
}

void grt_writer_end(struct grt_writer *w)
{
	grt_writer_settle(w);
	w->ops->end(w);
}

void grt_writer_fields(struct grt_writer *w, const char *name, const char *title,
		       const struct grt_field_value *f)
{
	grt_writer_settle(w);
	w->ops->fields(w, name, title, f);
}

static const char *table_note(const struct grt_column *c, const struct grt_cell *cell)
{
	if ((c->kind == GRT_CELL_NUMBER || c->kind == GRT_CELL_BOOL) && cell->text)
		return cell->text;
	return c->where & GRT_COLUMN_PLAIN ? NULL : c->help;
}

void grt_writer_pairs(struct grt_writer *w, const struct grt_table *table, const void *view, const void *row)
{
	struct grt_field_value f[GRT_COLUMNS_MAX + 1];
	bool machine = w->ops->where & GRT_COLUMN_MACHINE;
	unsigned int n = 0;

	for (const struct grt_column *c = table->columns; c->name && n < GRT_COLUMNS_MAX; c++) {
		const struct grt_cell cell = grt_column_get(c, view, row);

		if (!(c->where & w->ops->where) || (c->where & GRT_COLUMN_OPTIONAL && cell.absent) ||
		    (c->where & GRT_COLUMN_NONZERO && !cell.number && !machine))
			continue;
		f[n++] = (struct grt_field_value){c->name, c->kind, cell, table_note(c, &cell)};
	}
	f[n].name = NULL;
	grt_writer_fields(w, table->name, table->title, f);
}

void grt_writer_table(struct grt_writer *w, const struct grt_table *table, const void *view)
{
	unsigned int where = w->ops->where | (w->options.verbose ? GRT_COLUMN_VERBOSE : 0);

	grt_writer_settle(w);
	w->table = table;
	w->view = view;
	w->columns = 0;
	w->texts = 0;
	for (const struct grt_column *c = table->columns; c->name && w->columns < GRT_COLUMNS_MAX; c++)
		if (c->where & where) {
			w->texts |= (uint64_t)(c->kind == GRT_CELL_TEXT) << w->columns;
			w->key[w->columns] = grt_column_key(table, c);
			w->column[w->columns++] = c;
		}
	w->ops->table(w);
}

int grt_writer_row(struct grt_writer *w, const void *row)
{
	int ret = w->later ? grt_writer_settle(w) : 0;

	return ret ?: grt_writer_put_row(w, row);
}

_Static_assert(GRT_COLUMNS_MAX <= 64, "a bit for each column");

int grt_writer_put_row(struct grt_writer *w, const void *row)
{
	struct grt_cell cell[GRT_COLUMNS_MAX];
	const unsigned int columns = w->columns;
	const void *view = w->view;

	memset(cell, 0, columns * sizeof(cell[0]));
	for (unsigned int i = 0; i < columns; i++) {
		const struct grt_column *c = w->column[i];

		c->get(&cell[i], view, row, c->arg);
	}
	for (uint64_t rest = w->texts; rest; rest &= rest - 1) {
		struct grt_cell *text = &cell[__builtin_ctzll(rest)];

		text->absent |= !text->text;
	}
	return w->ops->row(w, cell);
}

void grt_writer_table_end(struct grt_writer *w)
{
	grt_writer_settle(w);
	w->ops->table_end(w);
	w->table = NULL;
}

void grt_writer_into(struct grt_writer *w, const struct grt_table *table, const void *view)
{
	if (w->table == table)
		return;
	if (w->table)
		grt_writer_table_end(w);
	if (table)
		grt_writer_table(w, table, view);
}

int grt_writer_rows(struct grt_writer *w, const struct grt_table *table, const void *view, const void *row,
		    size_t size, uint64_t n)
{
	int ret = 0;

	grt_writer_table(w, table, view);
	for (uint64_t i = 0; i < n && !ret; i++)
		ret = grt_writer_row(w, (const char *)row + i * size);
	grt_writer_table_end(w);
	return ret;
}

int grt_writer_list(struct grt_writer *w, const struct grt_table *table, const void *view, const void *row,
		    uint64_t n)
{
	const void *at;
	int ret = 0;

	grt_writer_table(w, table, view);
	for (uint64_t i = 0; i < n && !ret; i++) {
		/* a pointer to rows of any type */
		memcpy(&at, (const char *)row + i * sizeof(at), sizeof(at));
		ret = grt_writer_row(w, at);
	}
	grt_writer_table_end(w);
	return ret;
}

void grt_writer_notes(struct grt_writer *w, const char *const *notes, unsigned int n)
{
	grt_writer_settle(w);
	w->ops->notes(w, notes, n);
}

void grt_writer_free(struct grt_writer *w)
{
	if (!w)
		return;
	later_free(w->later);
	if (w->ops->free)
		w->ops->free(w);
	free(w);
}

const char *grt_column_key(const struct grt_table *table, const struct grt_column *c)
{
	static const char *const keys[][3] = {
#define GRT_COLUMN_KEY(table, column, key) {table, column, key},
#include "keys.def"
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(keys[i][1], c->name) &&
		    (!keys[i][0] || (table->name && !strcmp(keys[i][0], table->name))))
			return keys[i][2];
	return c->name;
}

int grt_writer_failed(const struct grt_writer *w)
{
	return w->ops->failed ? w->ops->failed(w) : ferror(w->options.out) ? -EIO : 0;
}

void grt_cell_unit_key(enum grt_cell_kind kind, const char *key, char *out, size_t room)
{
	static const char *const units[GRT_CELL_KINDS] = {
		[GRT_CELL_NS] = "ns",
		[GRT_CELL_TIME] = "ns",
		[GRT_CELL_PERCENT] = "percent",
		[GRT_CELL_BYTES] = "bytes",
	};
	const char *unit = units[kind];

	if (unit && strstr(key, unit))
		unit = NULL;
	snprintf(out, room, "%s%s%s", key, unit ? "_" : "", unit ? unit : "");
}

const struct grt_column *grt_column_find(const struct grt_table *table, const char *name)
{
	for (const struct grt_column *c = table->columns; c->name; c++)
		if (!strcmp(c->name, name) || !strcmp(grt_column_key(table, c), name))
			return c;
	return NULL;
}

bool grt_cell_is_text(enum grt_cell_kind kind)
{
	return kind == GRT_CELL_TEXT || kind == GRT_CELL_ENGINE || kind == GRT_CELL_EVENT;
}

const char *grt_cell_text(enum grt_cell_kind kind, const struct grt_cell *cell)
{
	switch (kind) {
	case GRT_CELL_ENGINE:
		return grt_engine_name(cell->number);
	case GRT_CELL_EVENT:
		return grt_event_title(cell->number);
	default:
		return cell->text ? cell->text : "";
	}
}

const char *grt_cell_plain(enum grt_cell_kind kind, const struct grt_cell *cell, char *digits)
{
	if (grt_cell_is_text(kind))
		return grt_cell_text(kind, cell);
	if (kind == GRT_CELL_PERCENT)
		snprintf(digits, GRT_CELL_DIGITS, "%.3f", (double)cell->number / 1000);
	else if (kind == GRT_CELL_AMOUNT)
		snprintf(digits, GRT_CELL_DIGITS, "%.3f", (double)(int64_t)cell->number / 1000);
	else if (kind == GRT_CELL_SIGNED)
		snprintf(digits, GRT_CELL_DIGITS, "%" PRId64, (int64_t)cell->number);
	else
		snprintf(digits, GRT_CELL_DIGITS, "%" PRIu64, cell->number);
	return digits;
}

int grt_cell_order(const struct grt_column *c, const struct grt_cell *a, const struct grt_cell *b)
{
	if (a->absent || b->absent)
		return a->absent - b->absent;
	if (grt_cell_is_text(c->kind))
		return strcmp(grt_cell_text(c->kind, a), grt_cell_text(c->kind, b));
	if (c->kind == GRT_CELL_SIGNED || c->kind == GRT_CELL_AMOUNT)
		return ((int64_t)b->number > (int64_t)a->number) - ((int64_t)b->number < (int64_t)a->number);
	return (b->number > a->number) - (b->number < a->number);
}

struct order {
	const struct grt_column *sort;
	const void *view;
	int (*tie)(const void *a, const void *b);
};

static int compare_rows(const void *a, const void *b, void *arg)
{
	const void *x = *(const void *const *)a, *y = *(const void *const *)b;
	const struct order *o = arg;
	struct grt_cell p, q;
	int order = 0;

	if (o->sort) {
		p = grt_column_get(o->sort, o->view, x);
		q = grt_column_get(o->sort, o->view, y);
		order = grt_cell_order(o->sort, &p, &q);
	}
	return order || !o->tie ? order : o->tie(x, y);
}

void grt_rows_sort(const void *rows, uint64_t n, const struct grt_column *sort, const void *view,
		   int (*tie)(const void *a, const void *b))
{
	struct order o = {sort, view, tie};

	if (sort || tie)
		qsort_r((void *)rows, n, sizeof(void *), compare_rows, &o);
}

/* ------------------------------------------------------------------ notes */

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
