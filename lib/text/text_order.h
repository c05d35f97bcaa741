/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Sorts records by time. Records arrive in the order of the text, which is nearly the order of time; records
 * with equal time stamps keep their order.
 *
 * A record leaves once no earlier one can arrive any more: when a record arrived whose time is @window later.
 * If the records that are held exceed the memory budget, they are sorted and written to a temporary file as a
 * run; all later records are written as runs, too, and the runs are merged at the end. If no temporary file
 * may be used, because the input is a pipe, the older half of the records leaves instead, and a record that
 * then arrives too late is marked as late.
 *
 * Lines of text can be sorted the same way before they are parsed, for formats in which the meaning of a line
 * depends on earlier lines. A line without a time stamp stays after the line that it follows.
 */
#ifndef GRT_TEXT_TEXT_ORDER_H
#define GRT_TEXT_TEXT_ORDER_H

#include <grtrace/grtrace.h>

/* A window that never ends: no record leaves before the end. */
#define GRT_WINDOW_ALL UINT64_MAX

struct grt_order_entry;
struct grt_order_merge;

/**
 * struct grt_order_line - a record of lines: one line, and the lines without a time stamp that follow it
 * @time: time stamp of the first line, ns
 * @type: 0
 * @bytes: length of @text, in which a newline ends each line
 * @step, @from: see grt_order_put_line(); @step GRT_ORDER_BARE: the first line has no time stamp either
 * @number: number of the first line in the input
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
 * struct grt_order_run - records that leave
 * @ptr, @end: the records, one after the other, in the order of time
 * @first, @last: times of the first and the last one, ns
 * @late: they should have left before records that left earlier
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
 * @window: the most by which a record may be out of order, ns
 * @may_spill: temporary files may be used
 * @budget: bytes of records that may be held
 * @records, @used, @room: the records that are held: their memory, bytes in use, bytes in all
 * @spare, @spare_room: second memory, to which records that stay are copied
 * @entry, @entries, @entries_room: times and places of the records
 * @other: memory for sorting @entry
 * @goal: bytes of records at which grt_order_settle() looks for records that can leave
 * @next, @ready: the entries from @next to @ready - 1 leave now; those before @ready are sorted
 * @latest: latest time that arrived; @out: latest time that left
 * @reordered: records that arrived after one with a later time, without NAME records
 * @sorted: records that were written to runs
 * @merge: the runs, NULL: none
 * @steps: a line with a step arrived
 * @err: why grt_order_settle() failed
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

/** grt_order_init - begins without records; @budget 0: the default, with which memory stays below 25 MiB */
void grt_order_init(struct grt_order *o, uint64_t window, bool may_spill, size_t budget);

/** grt_order_put - adds a record of @e->size bytes. Return: 0 or -ENOMEM */
int grt_order_put(struct grt_order *o, const struct grt_event *e, uint32_t cpu);

/** struct grt_order_place - the place of a line in the order, see grt_order_put_line() */
struct grt_order_place {
	uint64_t time;
	unsigned int step;
	size_t from;
};

/**
 * grt_order_put_line - adds a line with a time stamp
 * @place: its time, and its step. Among lines with equal times, those without a step (0) come first, in the
 *	order of their arrival. Lines with a step follow, sorted by step and then by their text from byte
 *	@from on, so their order does not depend on the order of their arrival
 * @number: number of the line in the input
 * @line: @len bytes, without the newline
 * Return: 0 or -ENOMEM
 */
int grt_order_put_line(struct grt_order *o, const struct grt_order_place *place, uint64_t number,
		       const char *line, size_t len);

/**
 * grt_order_follow - adds a line without a time stamp after the line that was added last; grt_order_settle()
 * must not have been called in between. Return: 0 or -ENOMEM
 */
int grt_order_follow(struct grt_order *o, uint64_t number, const char *line, size_t len);

/** grt_order_full - Return: whether grt_order_settle() must be called, because enough records were added */
static inline bool grt_order_full(const struct grt_order *o)
{
	return o->used >= o->goal;
}

/**
 * grt_order_settle - decides which records leave; all that were ready before must have left
 * @end: no more records will be added
 * Return: 0, or a negative errno with @o->err filled in
 */
int grt_order_settle(struct grt_order *o, bool end);

/**
 * grt_order_next - gets the next records that leave; @run is valid until the next call for @o
 * Return: 1, 0: no record can leave now, or a negative errno with @o->err filled in
 */
int grt_order_next(struct grt_order *o, struct grt_order_run *run);

/** grt_order_fini - frees everything that @o owns */
void grt_order_fini(struct grt_order *o);

#endif /* GRT_TEXT_TEXT_ORDER_H */
