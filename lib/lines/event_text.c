// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The words of event_text.h: which fields of an event are shown is determined once. */
#include "event_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <grtrace/event_table.h>

#include "base/outbuf.h"
#include "joins.h"
#include "meaning.h"
#include "trace/field.h"

#define FIELDS_MAX 24

/**
 * struct shown - how a field is named and read, and which of its values are hidden
 * @plain: a number without a meaning in words, as in most fields
 */
struct shown {
	struct grt_field_word at;
	struct grt_key_text key;
	const struct grt_unknown *unknown;
	const struct grt_meaning *meaning;
	const char *unit;
	char *(*put)(char *p, const struct grt_event *e);
	uint8_t hide;
	bool plain;
};

/** struct grt_event_text - the shown fields by event, each list ended by a field without key */
struct grt_event_text {
	struct grt_text_style style;
	const char *unknown;
	struct shown field[GRT_EV_MAX][FIELDS_MAX + 1];
};

/* Room for all fields of an event, whatever their values. */
#define GRT_U(bits, name, base, help) +sizeof(", " #name "=18446744073709551615 us") + GRT_WORD_MAX
#define GRT_I(bits, name, help) +sizeof(", " #name "=-9223372036854775808 us")
#define GRT_STR(size, name, help) +sizeof(", " #name "=\"\"") + GRT_ESCAPED_MAX(size) + GRT_JOINS_TEXT
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) \
	_Static_assert(0 fields + GRT_PAD <= GRT_EVENT_TEXT_MAX, #NAME);
#include <grtrace/events.def>
#undef GRT_STR
#undef GRT_I
#undef GRT_U
#define GRT_U(bits, name, base, help) +1
#define GRT_I(bits, name, help) +1
#define GRT_STR(size, name, help) +1
#undef GRT_EVENT
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) \
	_Static_assert(0 fields <= FIELDS_MAX, #NAME);
#include <grtrace/events.def>
#undef GRT_EVENT
#undef GRT_STR
#undef GRT_I
#undef GRT_U

static struct shown event_text_shown(const struct grt_text_style *style, unsigned int type,
				     const struct grt_field *f, const struct grt_text_row *row)
{
	struct shown s = {.at = grt_field_word(f),
			  .unknown = grt_unknown_of(type, f->offset),
			  .unit = row->unit,
			  .put = row->put,
			  .hide = row->hide};

	if (style->words)
		s.meaning = grt_meaning_of(type, f);
	s.plain = f->kind != GRT_FIELD_STR && !s.meaning && !s.unit && !s.put;
	grt_key_text(&s.key, "%s%s=", style->before ?: " ", row->name ?: f->name);
	return s;
}

static void event_text_choose(struct grt_event_text *x, unsigned int type)
{
	const struct grt_field *f, *fields = grt_event_table[type].fields();
	const struct grt_text_style *style = &x->style;
	struct shown *s = x->field[type];

	for (f = fields; f->name && !style->rows; f++) {
		const struct grt_text_row row = {.hide = style->hide ? style->hide(type, f) : 0};

		if (!(row.hide & GRT_TEXT_HIDE))
			*s++ = event_text_shown(style, type, f, &row);
	}
	for (const struct grt_text_row *r = style->rows; r && r->field; r++)
		for (f = fields; r->type == type && f->name; f++)
			if (!strcmp(r->field, f->name))
				*s++ = event_text_shown(style, type, f, r);
}

int grt_event_text_new(struct grt_event_text **out, const struct grt_text_style *style)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->style = *style;
	(*out)->unknown = style->unknown ?: "-";
	for (unsigned int i = 0; i < GRT_EV_MAX; i++)
		if (grt_event_table[i].name)
			event_text_choose(*out, i);
	return 0;
}

void grt_event_text_free(struct grt_event_text *x)
{
	free(x);
}

static char *event_text_put_string(const struct grt_event_text *x, char *p, const struct shown *s,
				   const struct grt_event *e)
{
	const char *text = (const char *)e + s->at.offset;
	struct grt_joins_text t;

	if (x->style.bare) {
		grt_joins_escape(GRT_ESCAPE_TERM, &t, text, s->at.size, false);
		return t.len ? grt_format_text(grt_key_put(p, &s->key), t.text, t.len) : p;
	}
	p = grt_key_put(p, &s->key);
	*p++ = '"';
	p += grt_escape(GRT_ESCAPE_TERM, p, GRT_ESCAPED_MAX(s->at.size), text, s->at.size);
	*p++ = '"';
	return p;
}

/* Most numbers are small. */
static inline char *event_text_put_digits(char *p, const struct shown *s, uint64_t n)
{
	if (s->at.kind == GRT_FIELD_HEX)
		return grt_format_hex(p, n);
	if (n >= 10)
		return s->at.kind == GRT_FIELD_SIGNED ? grt_format_s64(p, (int64_t)n) : grt_format_u64(p, n);
	*p++ = (char)('0' + n);
	return p;
}

static char *event_text_put_value(const struct grt_event_text *x, char *p, const struct shown *s, uint64_t n)
{
	char room[GRT_WORD_MAX];
	const char *word;

	if (s->meaning && s->meaning->show == GRT_SHOW_WORD) {
		word = s->meaning->word(room, n);
		return grt_format_word(p, word ?: x->unknown);
	}
	return event_text_put_digits(p, s, n);
}

static __attribute__((noinline)) char *event_text_put_number(const struct grt_event_text *x, char *p,
							     const struct shown *s, const struct grt_event *e)
{
	uint64_t n = grt_field_read(&s->at, e);
	bool unknown = (s->unknown && grt_is_unknown(s->unknown, e, n)) ||
		       (s->meaning && s->meaning->is_set && !s->meaning->is_set(e));

	if ((s->hide & GRT_TEXT_HIDE_ZERO && !n) || (s->hide & GRT_TEXT_HIDE_UNKNOWN && unknown) ||
	    (s->hide & GRT_TEXT_HIDE_NEGATIVE && (int64_t)n < 0))
		return p;
	p = grt_key_put(p, &s->key);
	if (unknown)
		return grt_format_word(p, x->unknown);
	p = event_text_put_value(x, p, s, n);
	return s->unit ? grt_format_word(p, s->unit) : p;
}

/* Whether event_text_put_number() must check further: the field may be unknown, or must not be negative. */
static inline bool event_text_is_special(const struct shown *s, uint64_t n)
{
	return (s->unknown && grt_may_be_unknown(s->unknown, n)) ||
	       (s->hide & GRT_TEXT_HIDE_NEGATIVE && (int64_t)n < 0);
}

static inline char *event_text_put_plain(const struct grt_event_text *x, char *p, const struct shown *s,
					 const struct grt_event *e)
{
	uint64_t n = grt_field_read(&s->at, e);

	if (!n && s->hide & GRT_TEXT_HIDE_ZERO)
		return p;
	if (event_text_is_special(s, n))
		return event_text_put_number(x, p, s, e);
	return event_text_put_digits(grt_key_put(p, &s->key), s, n);
}

char *grt_event_text_put(const struct grt_event_text *x, char *p, const struct grt_event *e)
{
	const struct shown *s = e->type < GRT_EV_MAX ? x->field[e->type] : NULL;

	for (; s && s->key.len; s++) {
		if (s->plain)
			p = event_text_put_plain(x, p, s, e);
		else if (s->put)
			p = s->put(p, e);
		else
			p = s->at.kind == GRT_FIELD_STR ? event_text_put_string(x, p, s, e)
							: event_text_put_number(x, p, s, e);
	}
	return p;
}
