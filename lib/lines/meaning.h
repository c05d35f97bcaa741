/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Meanings of the fields of events.def beyond their kind, for writers of events: numbers
 * that have names, numbers that are true or false, and values that mean unknown.
 */
#ifndef GRT_LINES_MEANING_H
#define GRT_LINES_MEANING_H

#include <stdbool.h>
#include <stdint.h>

#include <grtrace/event_table.h>

/* Room for a word. */
#define GRT_WORD_MAX 64

/** enum grt_show - how a field is written */
enum grt_show {
	GRT_SHOW_NUMBER,
	GRT_SHOW_SIGNED,
	GRT_SHOW_TEXT,	 /* its bytes */
	GRT_SHOW_TRUTH,	 /* true, where it is not 0 */
	GRT_SHOW_WORD,	 /* what struct grt_meaning.word calls it */
	GRT_SHOW_STRING, /* the program's string of this number */
	GRT_SHOW_NEVER,
};

/** enum grt_absent - values of a field that mean unknown, besides those of trace/unknown.def */
enum grt_absent {
	GRT_ABSENT_ZERO = 1 << 0,
	GRT_ABSENT_ONES = 1 << 1, /* all bits set */
};

/**
 * struct grt_meaning - the meaning of a field beyond its kind
 * @type: type of the event, 0: any
 * @word: Return: the word for a number, in @room if it is composed; NULL: there is none, and the number is
 *	written as a string
 * @is_set: false: the field has no meaning in this event; may be NULL
 */
struct grt_meaning {
	uint16_t type;
	const char *field;
	uint8_t show;
	uint8_t absent;
	const char *(*word)(char *room, uint64_t n);
	bool (*is_set)(const struct grt_event *e);
};

/** grt_meaning_of - the meaning of a field, NULL: it is a number of its kind */
const struct grt_meaning *grt_meaning_of(unsigned int type, const struct grt_field *f);

/** grt_show_of - how a field of this meaning, which may be NULL, is written */
enum grt_show grt_show_of(const struct grt_meaning *m, const struct grt_field *f);

#endif /* GRT_LINES_MEANING_H */
