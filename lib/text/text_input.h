/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Text as an input: lines become the same records that packets have, so everything that reads a trace reads
 * text as well. A form of text is a row in text.def and a file lib/text/NAME.c with a struct grt_text_format.
 * The form only parses lines; text.c reads, sorts, names and counts.
 *
 * Lines come in any order, cut, quoted, with NUL bytes, of any length: a form never trusts a line, and never
 * fails because of one. A form in which the meaning of a line depends on earlier lines gets the lines in the
 * order of time
 * (@in_time).
 */
#ifndef GRT_TEXT_TEXT_INPUT_H
#define GRT_TEXT_TEXT_INPUT_H

#include <grtrace/grtrace.h>

#include "text_order.h"

struct grt_text;

/** enum grt_text_line - result of parsing a line */
enum grt_text_line {
	GRT_LINE_DONE, /* parsed: the events were put, or counted by grt_text_unknown() */
	GRT_LINE_SKIP, /* the line has no event: a blank line, comment, header, banner */
	GRT_LINE_BAD,  /* not parsed: the line is counted, and the first such line is shown with its number */
};

/** enum grt_text_place - place of a line in the order of time */
enum grt_text_place {
	GRT_PLACE_BEHIND,  /* after the previous line: the line has no stamp */
	GRT_PLACE_STAMP,   /* at the time of its stamp */
	GRT_PLACE_NOWHERE, /* the line is already parsed: its meaning does not depend on its place */
};

/**
 * struct grt_text_format - a form of text
 * @name: name in text.def
 * @takes: whether a line certainly has this form; decides which form reads a file
 * @mark: lines that begin with this character, after blanks, have this form only; 0: there is no
 *	such character
 * @time: gets the stamp of a line, ns, without parsing the rest; false: the line has no stamp.
 *	Called for every line of a file before any is parsed, to find how far the lines are out of
 *	order, so it must be fast. @hint belongs to the form, for all lines of a file, and is 0 before
 *	the first line: it is the first member of what @time learns
 * @learned_size: size of what @time learns, bytes, zeroed at the start; 0: only @hint. See
 *	grt_text_learned()
 * @span: called when @time has seen all lines of a file; may widen the span by stamps that @time
 *	left out. NULL: @time leaves out none
 * @line: parses a line and puts its events. @line to @end is without its newline; *@end may be
 *	read and is '\n'. The bytes after it that may be read are those that struct grt_lines promises
 * @outside: called for each line in the order of the text, before @line: whether the line is not
 *	part of the text, but of something around it. NULL: there are no such lines
 * @in_time: @line gets lines in the order of their stamps; a line without a stamp stays after the
 *	line that it follows
 * @place: gets the place of a line in that order; @hint: see @time. @place->step orders lines of
 *	the same time, whatever their order in the text; without a step, they keep their order in the
 *	text. NULL: @time gives the place
 * @end: called at the end of the text: puts the events that the form held back; may be NULL
 * @state_size: size of the form's state, bytes, zeroed at the start; see grt_text_state()
 * @fini: frees memory that the state refers to; may be NULL
 * @back: maximum time by which an event is earlier than the stamp of its line, ns
 */
struct grt_text_format {
	const char *name;
	bool (*takes)(const char *line, const char *end);
	char mark;
	bool (*time)(const char *line, const char *end, uint64_t *ns, size_t *hint);
	size_t learned_size;
	void (*span)(void *learned, uint64_t *first, uint64_t *last);
	bool (*outside)(struct grt_text *t, const char *line, const char *end);
	enum grt_text_line (*line)(struct grt_text *t, const char *line, const char *end);
	bool in_time;
	enum grt_text_place (*place)(struct grt_text *t, const char *line, const char *end,
				     struct grt_order_place *place, size_t *hint);
	void (*end)(struct grt_text *t);
	size_t state_size;
	void (*fini)(void *state);
	uint64_t back;
};

/** grt_text_state - the state of the form, @state_size bytes; zeroed when reading begins again */
void *grt_text_state(struct grt_text *t);

/** grt_text_learned - what @time of the form has learned of a file; NULL: nothing, because the input is a
 * pipe */
const void *grt_text_learned(const struct grt_text *t);

/** grt_text_sorted_at - the stamp by which the current line was sorted, ns; false: lines are not sorted, and
 * @ns is not changed */
bool grt_text_sorted_at(const struct grt_text *t, uint64_t *ns);

/**
 * grt_text_put - puts an event of the current line
 * @e: event of any type; the function sets its size by its type. Its time may have any value: events are
 * sorted later
 * @cpu: CPU of the event; 0 if the text does not have it
 */
void grt_text_put(struct grt_text *t, struct grt_event *e, uint32_t cpu);

/** grt_text_put_held - the same for an event that the form held back: its place does not count as disorder of
 * the text
 */
void grt_text_put_held(struct grt_text *t, struct grt_event *e, uint32_t cpu);

/**
 * grt_text_name - gives a thread or device its name, unless the name is already known
 * @kind: GRT_NAME_*
 * @time: time of the line, ns
 * @name, @owner: texts, cut to the size in a record; @owner may be NULL
 */
void grt_text_name(struct grt_text *t, uint32_t kind, uint32_t id, uint64_t time, const char *name,
		   size_t name_len, const char *owner, size_t owner_len);

/**
 * grt_text_ring - the id of the ring of this name, assigned at its first use
 * @engine: gets the engine that a ring of this name feeds
 * Return: the id for grt_event.ring
 */
uint32_t grt_text_ring(struct grt_text *t, uint64_t time, const char *name, size_t name_len,
		       const char *driver, size_t driver_len, uint8_t *engine);

/**
 * grt_text_ring_of - the same for a ring of a GPU whose bus address the text has: rings with the same name on
 * two GPUs are different rings; @gpu: the bus address, NULL: unknown
 */
uint32_t grt_text_ring_of(struct grt_text *t, uint64_t time, const char *name, size_t name_len,
			  const char *driver, size_t driver_len, const char *gpu, size_t gpu_len,
			  uint8_t *engine);

/**
 * grt_text_driver - the device of an event whose driver is all that the text has
 * Return: a number for grt_event.device that no other device has; its name is that of the driver
 */
uint32_t grt_text_driver(struct grt_text *t, uint64_t time, const char *driver);

/** grt_text_unknown - counts an event without a type in grtrace, by its name */
void grt_text_unknown(struct grt_text *t, const char *name, size_t len);

/** grt_text_lost - the text reports that @events events are missing here; 0: it does not report how many */
void grt_text_lost(struct grt_text *t, uint64_t events);

#define GRT_TEXT(name, help) extern const struct grt_text_format grt_text_##name;
#include "text.def"
#undef GRT_TEXT

#endif /* GRT_TEXT_TEXT_INPUT_H */
