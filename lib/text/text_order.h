/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Brings records into the order of time. They come in the order of the text,
 * which is nearly that of time; equal stamps keep it.
 *
 * A record goes out when no earlier one can follow it: when a stamp has been
 * seen that is @window later. Where that takes more memory than there is, what
 * is held is sorted and written to a temporary file (a run), all that follows
 * goes the same way, and at the end the runs are merged. Where no file may be
 * used (the input is a pipe), the older half goes out instead, and what then
 * comes too late is reported.
 *
 * Lines of text can be brought into order the same way, before they are
 * understood: what a line means may follow from those before it in time. Lines
 * without a stamp stay behind the line that they follow.
 */
#ifndef GRT_TEXT_TEXT_ORDER_H
#define GRT_TEXT_TEXT_ORDER_H

#include <grtrace/grtrace.h>

/* A window that is never over. */
#define GRT_WINDOW_ALL UINT64_MAX

struct grt_order_entry;
struct grt_order_merge;

/**
 * struct grt_order_line - lines as a record: one with a stamp, or without any before it, and those without
 * that follow it
 * @type: 0
 * @bytes: of @text: lines, a newline behind each
 * @step, @from: see grt_order_put_line(); GRT_ORDER_BARE: not even the first has a stamp
 * @number: of the first line in its input
 */
struct grt_order_line {
	uint64_t time;
	uint16_t type;
	uint16_t size;
	uint16_t bytes;
	uint8_t step;
	uint8_t from;
	uint64_t number;
	char text[];
};

/* Longer lines are cut to this length. */
#define GRT_ORDER_LINE_MAX 60000U
#define GRT_ORDER_BARE UINT8_MAX

/**
 * struct grt_order_run - records that go out
 * @ptr, @end: one after the other, in time order
 * @first, @last: their stamps
 * @late: they belong before what went out already
 */
struct grt_order_run {
	const char *ptr;
	const char *end;
	uint64_t first;
	uint64_t last;
	uint32_t cpu;
	bool late;
};

/**
 * struct grt_order - set up by grt_order_init(), freed by grt_order_fini()
 * @window: see above, ns
 * @may_spill: temporary files may be used
 * @budget: bytes of records held at most
 * @records, @used, @room: the records held and their memory; @spare, @spare_room: the same to move what stays
 * @entry, @other, @entries, @entries_room: their stamps and places, sorted up to @ready; and the same for
 * sorting
 * @goal: bytes of records at which what is ready is looked for
 * @next, @ready: entries that go out
 * @latest: stamp so far; @out: the latest that went out
 * @reordered: records that came behind a later one, NAME not counted
 * @sorted: records that went through runs
 * @merge: the runs, NULL: none
 * @steps: a line came that had a step
 * @err: what grt_order_settle() failed at
 */
struct grt_order {
	uint64_t window;
	bool may_spill;
	size_t budget;
	char *records;
	size_t used;
	size_t room;
	char *spare;
	size_t spare_room;
	struct grt_order_entry *entry;
	struct grt_order_entry *other;
	size_t entries;
	size_t entries_room;
	size_t goal;
	size_t next;
	size_t ready;
	uint64_t latest;
	uint64_t out;
	uint64_t reordered;
	uint64_t sorted;
	struct grt_order_merge *merge;
	bool steps;
	struct grt_err err;
};

/** grt_order_init - begins without records; @budget 0: the default (memory stays below 25 MiB) */
void grt_order_init(struct grt_order *o, uint64_t window, bool may_spill, size_t budget);

/** grt_order_put - adds a record of @e->size bytes. Return: 0 or -ENOMEM */
int grt_order_put(struct grt_order *o, const struct grt_event *e, uint32_t cpu);

/** struct grt_order_place - where a line belongs, see grt_order_put_line() */
struct grt_order_place {
	uint64_t time;
	unsigned int step;
	size_t from;
};

/**
 * grt_order_put_line - adds a line with its stamp
 * @place: its stamp, and its step: of lines with one stamp, those without a step (0) come first, as they
 * came; then by their steps, and of one step by their texts: these are in one order, however they came
 * @number: of the line
 * @line: @len bytes, without its newline
 * Return: 0 or -ENOMEM
 */
int grt_order_put_line(struct grt_order *o, const struct grt_order_place *place, uint64_t number,
		       const char *line, size_t len);

/** grt_order_follow - adds a line without a stamp after the line that was added last; nothing may
 * have been settled since. Return: 0 or -ENOMEM */
int grt_order_follow(struct grt_order *o, uint64_t number, const char *line, size_t len);

/** grt_order_full - whether grt_order_settle() must be called, because enough records were added */
static inline bool grt_order_full(const struct grt_order *o)
{
	return o->used >= o->goal;
}

/**
 * grt_order_settle - decides what goes out; what was ready before must have gone
 * @end: nothing more will be put
 * Return: 0, or a negative errno with @o->err filled in
 */
int grt_order_settle(struct grt_order *o, bool end);

/** grt_order_next - the next record or line of the output; valid until the next call of any kind. Return: 1,
 * 0: nothing now, or a negative errno with @o->err */
int grt_order_next(struct grt_order *o, struct grt_order_run *run);

/** grt_order_fini - frees it */
void grt_order_fini(struct grt_order *o);

#endif /* GRT_TEXT_TEXT_ORDER_H */
