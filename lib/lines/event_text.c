// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The words of event_text.h: which fields of each event are shown is found out once. */
#include "event_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <grtrace/event_table.h>

#include "base/escape.h"
#include "base/outbuf.h"
#include "trace/field.h"

#define FIELDS_MAX 24

/** struct shown - a field, what it is called, and the value that says nothing */
struct shown {
	const struct grt_field *row;
	const char *name;
	const struct grt_unknown *unknown;
	uint8_t hide;
};

/** struct grt_event_text - by event, ended by a field without row */
struct grt_event_text {
	struct shown field[GRT_EV_MAX][FIELDS_MAX + 1];
};

/* All fields fit, whatever they hold. */
#define GRT_U(bits, name, base, help) +sizeof(" " #name "=18446744073709551615")
#define GRT_I(bits, name, help) +sizeof(" " #name "=-9223372036854775808")
#define GRT_STR(size, name, help) +sizeof(" " #name "=\"\"") + GRT_ESCAPED_MAX(size)
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) \
	_Static_assert(0 fields + GRT_PAD <= GRT_EVENT_TEXT_MAX, #NAME);
#include <grtrace/events.def>
#undef GRT_EVENT
#undef GRT_STR
#undef GRT_I
#undef GRT_U

static const struct grt_text_row *event_text_row_of(const struct grt_text_row *rows, unsigned int type,
						    const struct grt_field *f)
{
	for (; rows->field; rows++)
		if (rows->type == type && !strcmp(rows->field, f->name))
			return rows;
	return NULL;
}

static void event_text_choose(struct shown *s, const struct grt_text_row *rows, unsigned int type)
{
	static const struct grt_text_row plain = {.field = ""};
	const struct grt_text_row *r;

	for (const struct grt_field *f = grt_event_table[type].fields(); f->name; f++) {
		r = rows ? event_text_row_of(rows, type, f) : &plain;
		if (r)
			*s++ = (struct shown){f, r->name ?: f->name, grt_unknown_of(type, f->offset),
					      r->hide};
	}
}

int grt_event_text_new(struct grt_event_text **out, const struct grt_text_row *rows)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (unsigned int i = 0; i < GRT_EV_MAX; i++)
		if (grt_event_table[i].name)
			event_text_choose((*out)->field[i], rows, i);
	return 0;
}

void grt_event_text_free(struct grt_event_text *x)
{
	free(x);
}

static uint64_t event_text_number_of(const struct grt_field *f, const struct grt_event *e)
{
	unsigned int unused = 64 - 8 * f->size;
	uint64_t n = 0;

	memcpy(&n, (const char *)e + f->offset, f->size);
	return f->kind == GRT_FIELD_SIGNED ? (uint64_t)((int64_t)(n << unused) >> unused) : n;
}

static char *event_text_put_key(char *p, const struct shown *s)
{
	*p++ = ' ';
	p = grt_format_word(p, s->name);
	*p++ = '=';
	return p;
}

static char *event_text_put_string(char *p, const struct shown *s, const struct grt_event *e)
{
	p = event_text_put_key(p, s);
	*p++ = '"';
	p += grt_escape(GRT_ESCAPE_TERM, p, GRT_ESCAPED_MAX(s->row->size), (const char *)e + s->row->offset,
			s->row->size);
	*p++ = '"';
	return p;
}

static char *event_text_put_number(char *p, const struct shown *s, const struct grt_event *e)
{
	uint64_t n = event_text_number_of(s->row, e);
	bool unknown = grt_is_unknown(s->unknown, e, n);

	if ((!n && s->hide & GRT_TEXT_HIDE_ZERO) || (unknown && s->hide & GRT_TEXT_HIDE_UNKNOWN))
		return p;
	p = event_text_put_key(p, s);
	if (unknown)
		*p++ = '-';
	else if (s->row->kind == GRT_FIELD_SIGNED)
		p = grt_format_s64(p, (int64_t)n);
	else
		p = s->row->kind == GRT_FIELD_HEX ? grt_format_hex(p, n) : grt_format_u64(p, n);
	return p;
}

char *grt_event_text_put(const struct grt_event_text *x, char *p, const struct grt_event *e)
{
	const struct shown *s = e->type < GRT_EV_MAX ? x->field[e->type] : NULL;

	for (; s && s->row; s++)
		p = s->row->kind == GRT_FIELD_STR ? event_text_put_string(p, s, e)
						  : event_text_put_number(p, s, e);
	return p;
}
