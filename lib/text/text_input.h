/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Text as an input: lines become the same records that packets hold, so that
 * everything that reads a trace reads text too. A form of text is a row in
 * text.def, a file lib/text/NAME.c, and in it one struct grt_text_format.
 * The form only understands lines; reading, order, names and counting are done
 * in text.c.
 *
 * Lines come in any order, cut, quoted, with NUL bytes, of any length: a form
 * never trusts one, and never fails because of one. A form in which a line means
 * something by those before it gets them in the order of time (@in_time).
 */
#ifndef GRT_TEXT_TEXT_INPUT_H
#define GRT_TEXT_TEXT_INPUT_H

#include <grtrace/grtrace.h>

#include "text_order.h"

struct grt_text;

/** enum grt_text_line - what a form says about a line */
enum grt_text_line {
	GRT_LINE_DONE, /* understood: its events were put, or counted with grt_text_unknown() */
	GRT_LINE_SKIP, /* no event by its form: blank, comment, header, banner */
	GRT_LINE_BAD,  /* not understood: counted, and the first one shown with its number */
};

/** enum grt_text_place - where a line belongs */
enum grt_text_place {
	GRT_PLACE_BEHIND,  /* behind the line before: it has no stamp */
	GRT_PLACE_STAMP,   /* at its stamp */
	GRT_PLACE_NOWHERE, /* it was understood: it means the same anywhere */
};

/**
 * struct grt_text_format - a form of text
 * @name: as in text.def
 * @takes: whether a line is certainly of this form; decides which form reads a file
 * @mark: lines that begin with this character, behind blanks, are of no other form; 0: there is none
 * @time: its stamp in ns, without looking at the rest; false: it has none.
 *	Called for every line of a file before it is read, to learn how far out of
 *	order it is; so it must be fast. @hint is its own, for all lines of a file, and 0 before the first:
 *	the first member of what it learns
 * @learned_size: bytes of that, all zero at the start; 0: only the hint. See grt_text_learned()
 * @span: all stamps of a file have been looked at; may widen what they span by those that @time
 *	has left out. NULL: there are none
 * @line: understands a line and puts its events. @line..@end is without its
 *	newline, and *@end may be read: it is '\n', and so many bytes behind any of
 *	these as struct grt_lines promises
 * @outside: called for each line in the order of the text, before @line: whether it is of something around
 * the text, and is no line of it. NULL: none is
 * @in_time: @line gets lines in the order of their stamps; one without a stamp stays behind the line that
 * it follows
 * @place: which stamp that is; @hint as for @time. @place gets what of one moment is reported in one order
 *	whatever that of the lines is; where it gets no step, lines of one stamp come as they are in the text.
 *	NULL: as @time says
 * @end: the text is over: puts what the form held back; may be NULL
 * @state_size: bytes of state, all zero at the start; see grt_text_state()
 * @fini: frees what the state holds; may be NULL
 * @back: how much earlier than its line's stamp an event may be, ns
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

/** grt_text_state - @state_size bytes of the form's own; emptied when reading begins again */
void *grt_text_state(struct grt_text *t);

/** grt_text_learned - what the form's @time has learned of a file; NULL: nothing, as this is a pipe */
const void *grt_text_learned(const struct grt_text *t);

/** grt_text_sorted_at - the stamp by which the present line came here in the order of time; false: lines come
 * as they are in the text, and @ns stays */
bool grt_text_sorted_at(const struct grt_text *t, uint64_t *ns);

/**
 * grt_text_put - an event of the present line
 * @e: of any type; its size is set here from its type. Its stamp may be
 *	anywhere: order is made later
 * @cpu: of the event, 0 where the text does not say
 */
void grt_text_put(struct grt_text *t, struct grt_event *e, uint32_t cpu);

/** grt_text_put_held - the same of one that the form held back: where it stands is no disorder of the text */
void grt_text_put_held(struct grt_text *t, struct grt_event *e, uint32_t cpu);

/**
 * grt_text_name - says what a thread or device is called; nothing is done when
 * that is known already
 * @kind: GRT_NAME_*
 * @time: of the line, ns
 * @name, @owner: texts of so many bytes, cut to what a record holds; @owner may be NULL
 */
void grt_text_name(struct grt_text *t, uint32_t kind, uint32_t id, uint64_t time, const char *name,
		   size_t name_len, const char *owner, size_t owner_len);

/**
 * grt_text_ring - the id of the ring of this name, given at its first use
 * @engine: gets the engine that a ring of this name feeds
 * Return: the id for grt_event.ring
 */
uint32_t grt_text_ring(struct grt_text *t, uint64_t time, const char *name, size_t name_len,
		       const char *driver, size_t driver_len, uint8_t *engine);

/**
 * grt_text_ring_of - the same of a GPU, of which the text reports the address on its bus: rings of one name
 * on two GPUs are two; @gpu NULL: it is unknown
 */
uint32_t grt_text_ring_of(struct grt_text *t, uint64_t time, const char *name, size_t name_len,
			  const char *driver, size_t driver_len, const char *gpu, size_t gpu_len,
			  uint8_t *engine);

/**
 * grt_text_driver - the device of an event of which the text reports the driver only
 * Return: a number for grt_event.device that is no other's, named by its driver
 */
uint32_t grt_text_driver(struct grt_text *t, uint64_t time, const char *driver);

/** grt_text_unknown - counts an event that has no place here, by its name */
void grt_text_unknown(struct grt_text *t, const char *name, size_t len);

/** grt_text_lost - the text says that so many events are missing at this place; 0: it does not say how many
 */
void grt_text_lost(struct grt_text *t, uint64_t events);

/** grt_text_no_memory - the form's state needs memory that is not there: reading ends with this error */
void grt_text_no_memory(struct grt_text *t);

#define GRT_TEXT(name, help) extern const struct grt_text_format grt_text_##name;
#include "text.def"
#undef GRT_TEXT

#endif /* GRT_TEXT_TEXT_INPUT_H */
