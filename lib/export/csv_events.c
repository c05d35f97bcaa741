// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Events as CSV (RFC 4180): the columns are the same for every trace, made from
 * events.def; fields of the same name share one. Empty where an event has no
 * such field. Numbers as in jsonl.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <grtrace/event_table.h>

#include "trace/names.h"
#include "base/escape.h"
#include "base/containers.h"
#include "trace/field.h"
#include "export.h"
#include "base/outbuf.h"

#define ROW_MAX 16384U

/** struct csv_cell - a field of a type, and the column in which it stands */
struct csv_cell {
	unsigned int column;
	const struct grt_field *field;
};

/**
 * struct csv - the state of the export
 * @name: names of the columns for payload fields
 * @cell: cells of all types, those of one type in the order of the columns
 * @first: by type, index of its first cell; the cells of the next type follow
 */
struct csv {
	struct grt_outbuf out;
	struct grt_names names;
	unsigned int columns;
	const char **name;
	unsigned int cells;
	struct csv_cell *cell;
	unsigned int first[GRT_EV_MAX + 1];
};

static char *csv_events_put_text(char *p, const char *text, size_t length)
{
	return p + grt_escape(GRT_ESCAPE_CSV, p, GRT_ESCAPED_MAX(length), text, length);
}

/* Return: 0 or -ENOMEM */
static int csv_events_column_of(struct csv *f, const char *name, unsigned int *column)
{
	for (*column = 0; *column < f->columns; ++*column)
		if (!strcmp(f->name[*column], name))
			return 0;
	if (grt_grow_one(&f->name, f->columns))
		return -ENOMEM;
	f->name[f->columns++] = name;
	return 0;
}

static int csv_events_by_column(const void *a, const void *b)
{
	const struct csv_cell *x = a, *y = b;

	return x->column < y->column ? -1 : x->column > y->column;
}

static int csv_events_add_cells(struct csv *f, const struct grt_field *fields)
{
	unsigned int first = f->cells;

	for (; fields->name; fields++) {
		if (grt_grow_one(&f->cell, f->cells) ||
		    csv_events_column_of(f, fields->name, &f->cell[f->cells].column))
			return -ENOMEM;
		f->cell[f->cells++].field = fields;
	}
	qsort(f->cell + first, f->cells - first, sizeof(*f->cell), csv_events_by_column);
	return 0;
}

static int make_columns(struct csv *f)
{
	int ret = 0;

	for (unsigned int type = 0; type < GRT_EV_MAX && !ret; type++) {
		f->first[type] = f->cells;
		if (grt_event_table[type].name)
			ret = csv_events_add_cells(f, grt_event_table[type].fields());
	}
	f->first[GRT_EV_MAX] = f->cells;
	return ret;
}

static int csv_events_put_header(struct csv *f)
{
	char *p = grt_format_word(grt_outbuf_room(&f->out, ROW_MAX), "time,cpu,type");

	for (const struct grt_field *c = grt_common_fields; c->name; c++) {
		*p++ = ',';
		p = grt_format_word(p, c->name);
	}
	p = grt_format_word(p, ",ring_name,driver,comm,process");
	for (unsigned int i = 0; i < f->columns; i++) {
		*p++ = ',';
		p = grt_format_word(p, f->name[i]);
	}
	grt_outbuf_take(&f->out, grt_format_word(p, "\r\n"));
	return f->out.error;
}

static int csv_begin(struct grt_export *x)
{
	struct csv *f = x->state = calloc(1, sizeof(*f));

	if (!f || grt_outbuf_init(&f->out, x->fd))
		return -ENOMEM;
	return make_columns(f) ?: csv_events_put_header(f);
}

static char *csv_events_put_field(char *p, const struct grt_field *c, const struct grt_event *e)
{
	uint64_t v;

	if (c->kind == GRT_FIELD_STR)
		return csv_events_put_text(p, (const char *)e + c->offset, c->size);
	v = grt_field_value(c, e);
	if (grt_field_is_unknown(c, e, (int64_t)v))
		return p;
	if (c->kind == GRT_FIELD_SIGNED)
		return grt_format_s64(p, (int64_t)v);
	if (c->kind == GRT_FIELD_ENGINE && v < GRT_ENGINE_MAX && grt_engine_names[v])
		return grt_format_word(p, grt_engine_names[v]);
	return grt_format_u64(p, v);
}

static char *csv_events_put_names(const struct csv *f, char *p, unsigned int kind, bool is_one, uint32_t id)
{
	uint32_t number = is_one ? grt_names_find(&f->names, kind, id) : GRT_NAME_UNKNOWN;

	*p++ = ',';
	if (number)
		p = csv_events_put_text(p, f->names.name[number].name, sizeof(f->names.name->name));
	*p++ = ',';
	if (number)
		p = csv_events_put_text(p, f->names.name[number].owner, sizeof(f->names.name->owner));
	return p;
}

static char *csv_events_put_commas(char *p, unsigned int n)
{
	memset(p, ',', n);
	return p + n;
}

static char *put_payload(const struct csv *f, char *p, const struct grt_event *e)
{
	bool known = e->type < GRT_EV_MAX;
	const struct csv_cell *c = known ? &f->cell[f->first[e->type]] : NULL;
	const struct csv_cell *end = known ? &f->cell[f->first[e->type + 1]] : NULL;
	unsigned int at = 0;

	for (; c < end; at = c++->column + 1) {
		p = csv_events_put_commas(p, c->column + 1 - at);
		p = csv_events_put_field(p, c->field, e);
	}
	return csv_events_put_commas(p, f->columns - at);
}

static int csv_event(struct grt_export *x, const struct grt_event *e, uint32_t cpu)
{
	struct csv *f = x->state;
	const char *title = e->type < GRT_EV_MAX ? grt_event_table[e->type].title : NULL;
	char *p = grt_outbuf_room(&f->out, ROW_MAX);
	int ret = e->type == GRT_EV_NAME ? grt_names_add(&f->names, (const struct grt_ev_name *)e) : 0;

	if (ret || !x->shown)
		return ret;
	p = grt_format_u64(p, e->time);
	*p++ = ',';
	p = grt_format_u64(p, cpu);
	*p++ = ',';
	p = title ? grt_format_word(p, title) : grt_format_u64(p, e->type);
	for (const struct grt_field *c = grt_common_fields; c->name; c++) {
		*p++ = ',';
		p = csv_events_put_field(p, c, e);
	}
	p = csv_events_put_names(f, p, GRT_NAME_RING, e->ring != GRT_RING_NONE, e->ring);
	p = csv_events_put_names(f, p, GRT_NAME_THREAD, e->tid, e->tid);
	p = put_payload(f, p, e);
	grt_outbuf_take(&f->out, grt_format_word(p, "\r\n"));
	return f->out.error;
}

static int csv_end(struct grt_export *x, const struct grt_health *h)
{
	return grt_outbuf_flush(&((struct csv *)x->state)->out);
}

static void csv_free(struct grt_export *x)
{
	struct csv *f = x->state;

	if (!f)
		return;
	grt_names_free(&f->names);
	grt_outbuf_fini(&f->out);
	free(f->name);
	free(f->cell);
	free(f);
}

const struct grt_export_format grt_export_csv = {
	.begin = csv_begin,
	.event = csv_event,
	.end = csv_end,
	.free = csv_free,
};
