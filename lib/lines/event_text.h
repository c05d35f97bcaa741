/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The fields of an event as ` key=value` words: one walk over the rows of
 * events.def, with a table of what a command shows of them and how it calls them.
 */
#ifndef GRT_LINES_EVENT_TEXT_H
#define GRT_LINES_EVENT_TEXT_H

#include <stdbool.h>

#include <grtrace/grtrace.h>

struct grt_field;

/* Room for the fields of an event. */
#define GRT_EVENT_TEXT_MAX 4096U

/** enum grt_text_hide - the values for which a field is left out */
enum grt_text_hide {
	GRT_TEXT_HIDE_ZERO = 1 << 0,	 /* also a text that is empty */
	GRT_TEXT_HIDE_UNKNOWN = 1 << 1,	 /* otherwise as the style says */
	GRT_TEXT_HIDE_NEGATIVE = 1 << 2, /* a descriptor that is not known is -1 */
	GRT_TEXT_HIDE = 1 << 3,		 /* always */
};

/**
 * struct grt_text_row - a field that is shown
 * @name: its name in the line, NULL: its name in events.def
 * @hide: enum grt_text_hide
 * @unit: follows the value, NULL: no unit
 * @put: writes another text in place of the field; NULL: the field is written
 */
struct grt_text_row {
	uint16_t type;
	const char *field;
	const char *name;
	uint8_t hide;
	const char *unit;
	char *(*put)(char *p, const struct grt_event *e);
};

/* A row for a field, by the names of event and field, and further texts about it. */
#define GRT_TEXT_ROW(TYPE, member, ...)                                \
	{                                                              \
		.type = GRT_EV_##TYPE, .field = #member, ##__VA_ARGS__ \
	}

/**
 * struct grt_text_style - the fields that are shown, and their form
 * @rows: the fields, in this order, ended by a row without field; NULL: every field
 * @hide: when a field is left out, where there are no rows; NULL: never
 * @before: each key; NULL: a blank
 * @unknown: in place of a value; NULL: -
 * @bare: texts have no quotes, nothing in them looks like a key, and one that is empty is left out
 * @words: numbers that stand for words are these
 */
struct grt_text_style {
	const struct grt_text_row *rows;
	uint8_t (*hide)(unsigned int type, const struct grt_field *f);
	const char *before;
	const char *unknown;
	bool bare;
	bool words;
};

struct grt_event_text;

/** grt_event_text_new - begins. Return: 0 or -ENOMEM */
int grt_event_text_new(struct grt_event_text **out, const struct grt_text_style *style);

/** grt_event_text_put - writes an event's fields to @p, which has room for GRT_EVENT_TEXT_MAX bytes. Return:
 * the end of the text */
char *grt_event_text_put(const struct grt_event_text *x, char *p, const struct grt_event *e);

/** grt_event_text_free - frees it; NULL is allowed */
void grt_event_text_free(struct grt_event_text *x);

#endif /* GRT_LINES_EVENT_TEXT_H */
