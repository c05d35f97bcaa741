/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The fields of an event as ` key=value` words: one walk over the rows of
 * events.def, with a table of what a command shows of them and how it calls them.
 */
#ifndef GRT_LINES_EVENT_TEXT_H
#define GRT_LINES_EVENT_TEXT_H

#include <stdbool.h>

#include <grtrace/grtrace.h>

/* Room for the fields of an event. */
#define GRT_EVENT_TEXT_MAX 4096U

/** enum grt_text_hide - when a field is left out */
enum grt_text_hide {
	GRT_TEXT_HIDE_ZERO = 1 << 0,
	GRT_TEXT_HIDE_UNKNOWN = 1 << 1, /* else it is - */
};

/** struct grt_text_row - a field that is shown; @name: what it is called, NULL: as in events.def */
struct grt_text_row {
	uint16_t type;
	const char *field;
	const char *name;
	uint8_t hide;
};

struct grt_event_text;

/**
 * grt_event_text_new - begins
 * @rows: what is shown, ended by a row without field; NULL: every field
 * Return: 0 or -ENOMEM
 */
int grt_event_text_new(struct grt_event_text **out, const struct grt_text_row *rows);

/** grt_event_text_put - writes an event's fields to @p, where GRT_EVENT_TEXT_MAX bytes are. Return: the place
 * behind */
char *grt_event_text_put(const struct grt_event_text *x, char *p, const struct grt_event *e);

/** grt_event_text_free - frees it; NULL is allowed */
void grt_event_text_free(struct grt_event_text *x);

#endif /* GRT_LINES_EVENT_TEXT_H */
