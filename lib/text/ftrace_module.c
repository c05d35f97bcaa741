// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The kernel module's own trace events, grtrace:grtrace_<name>, in ftrace text:
 * kernel/core/grtrace_trace.h prints every field of the record by its name of
 * events.def. Rings are numbers there, without their names.
 *
 * Lines of the scheduler and of fences may report the same jobs, under other
 * numbers. Whichever of the two submits the first job reports them all; the lines
 * of the other are passed over, and counted by their names.
 */
#include <stdio.h>

#include <grtrace/event_table.h>

#include "ftrace_module.h"

union record {
	struct grt_event e;
	char bytes[GRT_RECORD_MAX];
};

/* "name=" and its number */
static bool read_field(struct ftrace *f, const struct grt_field *field, union record *r)
{
	char key[64];
	uint64_t v;
	int len = snprintf(key, sizeof(key), "%s=", field->name);

	if (!ftrace_number(f, key, (size_t)len, &v))
		return false;
	memcpy(r->bytes + field->offset, &v, field->size); /* little-endian, as the format is */
	return true;
}

static bool read_fields(struct ftrace *f, const struct grt_field *field, union record *r)
{
	for (; field->name; field++)
		if (field->kind != GRT_FIELD_STR && !read_field(f, field, r))
			return false;
	return true;
}

/*
 * Clocks that differ by less than this are the same: a line is printed a moment after the time of its event.
 */
#define SAME_CLOCK 1000000

/*
 * The module's clock is CLOCK_MONOTONIC; that of the text may be another one. Return: by how much it is
 * ahead
 */
static uint64_t ahead(struct ftrace *f, uint64_t told)
{
	if (!f->clock_known) {
		f->clock_ahead = f->l.time - told;
		if (f->clock_ahead < SAME_CLOCK)
			f->clock_ahead = 0;
		f->clock_known = true;
	}
	return f->clock_ahead;
}

/*
 * When the event happened: an adapter may see it later. The line's own stamp where that is out of
 * reach, since clocks drift and can be set.
 */
static uint64_t when(struct ftrace *f, uint64_t told)
{
	uint64_t time = told + ahead(f, told);

	return f->l.time - time <= FTRACE_BACK ? time : f->l.time;
}

/* Time stamps in a record are of the module's clock as well. */
static void move_stamps(uint64_t told, const struct grt_field *field, union record *r)
{
	uint64_t stamp;

	for (; field->name; field++) {
		if (field->kind != GRT_FIELD_TIME)
			continue;
		memcpy(&stamp, r->bytes + field->offset, sizeof(stamp));
		stamp = stamp ? stamp + (r->e.time - told) : 0;
		memcpy(r->bytes + field->offset, &stamp, sizeof(stamp));
	}
}

/* Other lines of the text may have rings of their own, which have other numbers. */
static void ftrace_module_name_ring(struct ftrace *f, struct grt_event *e)
{
	uint8_t by_name;
	char name[32];
	int len;

	if (e->ring == GRT_RING_NONE)
		return;
	len = snprintf(name, sizeof(name), "ring %u", e->ring);
	e->ring = ftrace_ring(f, (struct grt_span){name, (size_t)len}, "", &by_name);
}

/* Names the running thread if the event belongs to it. */
static void ftrace_module_name_thread(struct ftrace *f, const struct grt_event *e)
{
	struct grt_event by = *e;

	if (e->tid && e->tid == f->l.tid)
		ftrace_by_current(f, &by);
}

enum grt_text_line ftrace_module(struct ftrace *f, unsigned int type)
{
	const struct grt_event_desc *d = &grt_event_table[type];
	union record r = {.e = {.type = (uint16_t)type}};
	uint64_t told;

	if (f->by_others) {
		grt_text_unknown(f->t, f->l.event.at, f->l.event.len);
		return GRT_LINE_DONE;
	}
	if (!read_fields(f, grt_common_fields, &r) || !FTRACE_NUMBER(f, "time=", &told) ||
	    !read_fields(f, d->fields(), &r))
		return GRT_LINE_BAD;
	f->by_module |= type == GRT_EV_SUBMIT;
	f->l.time = r.e.time = when(f, told);
	move_stamps(told, d->fields(), &r);
	ftrace_module_name_ring(f, &r.e);
	ftrace_module_name_thread(f, &r.e);
	grt_text_put(f->t, &r.e, f->l.cpu);
	return GRT_LINE_DONE;
}
