// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Events as CSV (RFC 4180): the columns are the same for every trace, made from
 * events.def; fields of the same name share one. Empty where an event has no
 * such field. Numbers as in jsonl.c.
 */
#include <errno.h>

#include <grtrace/event_table.h>

#include "trace/names.h"
#include "base/escape.h"
#include "trace/field.h"
#include "export.h"
#include "base/outbuf.h"

#define COLUMNS_MAX 256U
#define ROW_MAX 16384U

/**
 * struct csv - the export
 * @name: of each column of payload fields
 * @field: by type and column, which field stands there; 0: none, else its place + 1
 */
struct csv {
	struct grt_outbuf out;
	struct grt_names names;
	unsigned int columns;
	const char *name[COLUMNS_MAX];
	uint8_t field[GRT_EV_MAX][COLUMNS_MAX];
};

static char *csv_events_put_text(char *p, const char *text, size_t length)
{
	return p + grt_escape(GRT_ESCAPE_CSV, p, GRT_ESCAPED_MAX(length), text, length);
}

static unsigned int csv_events_column_of(struct csv *f, const char *name)
{
	for (unsigned int i = 0; i < f->columns; i++)
		if (!strcmp(f->name[i], name))
			return i;
	f->name[f->columns] = name;
	return f->columns++;
}

static void make_columns(struct csv *f)
{
	for (unsigned int type = 0; type < GRT_EV_MAX; type++) {
		const struct grt_field *fields =
			grt_event_table[type].name ? grt_event_table[type].fields() : NULL;

		for (unsigned int i = 0; fields && fields[i].name && f->columns < COLUMNS_MAX; i++)
			f->field[type][csv_events_column_of(f, fields[i].name)] = (uint8_t)(i + 1);
	}
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
	make_columns(f);
	return csv_events_put_header(f);
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

static char *put_payload(const struct csv *f, char *p, const struct grt_event *e)
{
	const struct grt_event_desc *d = e->type < GRT_EV_MAX ? &grt_event_table[e->type] : NULL;

	for (unsigned int i = 0; i < f->columns; i++) {
		*p++ = ',';
		if (d && d->name && f->field[e->type][i])
			p = csv_events_put_field(p, &d->fields()[f->field[e->type][i] - 1], e);
	}
	return p;
}

static int csv_event(struct grt_export *x, const struct grt_event *e, uint32_t cpu)
{
	struct csv *f = x->state;
	const char *title = e->type < GRT_EV_MAX ? grt_event_table[e->type].title : NULL;
	char *p = grt_outbuf_room(&f->out, ROW_MAX);
	int ret = e->type == GRT_EV_NAME ? grt_names_add(&f->names, (const struct grt_ev_name *)e) : 0;

	if (ret)
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
	free(f);
}

const struct grt_export_format grt_export_csv = {
	.begin = csv_begin,
	.event = csv_event,
	.end = csv_end,
	.free = csv_free,
};
