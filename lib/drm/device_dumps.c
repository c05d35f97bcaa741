// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* What the heads of device dumps say, line by line, and a sentence for each dump. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/containers.h"
#include "base/units.h"
#include "table/cells.h"
#include "table/rows.h"

/* Most lines in the table; further lines are counted. A head has about twenty. */
#define LINES_MAX 4096U

/* Most dumps with a sentence. */
#define SENTENCES 5U

/** struct device_dump_line - a line; the texts are untrusted and end */
struct device_dump_line {
	uint64_t time;
	uint32_t device;
	char key[sizeof(((struct grt_ev_dump *)0)->key) + 1];
	char value[sizeof(((struct grt_ev_dump *)0)->value) + 1];
};

/** struct device_dump - a dump; @first: its first line */
struct device_dump {
	uint64_t time;
	uint32_t device;
	uint32_t ring;
	uint32_t pid;
	uint32_t first;
};

/** struct device_dumps - @last: the dump of the last line; @dump: the first of the @dumps that there are */
struct device_dumps {
	struct device_dump_line *line;
	uint32_t lines;
	uint64_t over;
	struct device_dump dump[SENTENCES];
	struct device_dump last;
	uint32_t dumps;
};

#define X(member) offsetof(struct device_dump_line, member)

static void device_dumps_get_driver(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	const struct device_dump_line *l = row;

	grt_cell_owner(cell, view, grt_names_find(view, GRT_NAME_DEVICE, l->device));
}

static const struct grt_column device_dump_columns[] = {
	{"time", grt_cell_u64, X(time), GRT_CELL_TIME, GRT_COLUMN_ALL, "time of the dump"},
	{"driver", device_dumps_get_driver, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "driver of the device"},
	{"key", grt_cell_chars, X(key), GRT_CELL_TEXT, GRT_COLUMN_ALL, "what the line says"},
	{"value", grt_cell_chars, X(value), GRT_CELL_TEXT, GRT_COLUMN_ALL, "its text, up to 160 bytes"},
	{.name = NULL},
};

static const struct grt_table device_dump_table = {"device_dumps", "heads of device dumps",
						   device_dump_columns, 0};

static int show_device_dumps(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct device_dumps *d = state;
	uint64_t shown = grt_pass_shown(pass, part, d->lines);
	const struct device_dump_line **row = calloc(d->lines + 1U, sizeof(*row));
	int ret;

	if (!row)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->lines; i++)
		row[i] = &d->line[i];
	if (grt_pass_sort(pass, part, NULL))
		grt_rows_sort(row, d->lines, grt_pass_sort(pass, part, NULL), pass->names, NULL);
	ret = grt_writer_list(pass->writer, &device_dump_table, pass->names, row, shown);
	free(row);
	if (d->lines > shown)
		grt_note(pass->notes, "%" PRIu64 " {more line|more lines}: --top 0 shows all",
			 d->lines - shown);
	if (d->over)
		grt_note(pass->notes,
			 "%" PRIu64 " {line of dumps is|lines of dumps are} not in the table (limit of %u)",
			 d->over, LINES_MAX);
	return ret;
}

/* Return: what the dump says under this key, "": nothing */
static const char *device_dump_value(const struct device_dumps *d, const struct device_dump *x,
				     const char *key)
{
	const struct device_dump_line *l = &d->line[x->first], *end = d->line + d->lines;

	for (; l < end && l->time == x->time && l->device == x->device; l++)
		if (!strcmp(l->key, key))
			return l->value;
	return "";
}

static void device_dump_note(const struct device_dumps *d, const struct device_dump *x,
			     const struct grt_names *names, struct grt_notes *notes)
{
	const char *driver = grt_names_owner(names, grt_names_find(names, GRT_NAME_DEVICE, x->device));
	const char *ring = grt_names_name(names, grt_names_find(names, GRT_NAME_RING, x->ring));
	const char *process = grt_process_name(names, x->pid), *reason = device_dump_value(d, x, "reason");
	char at[GRT_UNITS_MAX], whose[64] = "";

	grt_units_time(at, x->time);
	if (x->pid)
		snprintf(whose, sizeof(whose), " with work of %.20s%s%u%s", process ?: "",
			 process ? " (PID " : "PID ", x->pid, process ? ")" : "");
	grt_note(notes, "a device of %.15s failed%s%s: its dump names %s%.31s%s%s%.100s",
		 driver ?: "an unknown driver", x->time ? " at " : "", x->time ? at : "",
		 ring ? "ring " : "no ring", ring ?: "", whose, *reason ? "; reason: " : "", reason);
}

/* Writes sentences before all tables, for people. */
static int write_device_dump_sentences(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct device_dumps *d = state;

	for (uint32_t i = 0; i < d->dumps && i < SENTENCES; i++)
		device_dump_note(d, &d->dump[i], pass->names, pass->notes);
	return 0;
}

static void device_dumps_count(struct device_dumps *d, const struct grt_event *e)
{
	if (d->dumps && d->last.time == e->time && d->last.device == e->device)
		return;
	d->last = (struct device_dump){
		.time = e->time, .device = e->device, .ring = e->ring, .pid = e->pid, .first = d->lines};
	if (d->dumps++ < SENTENCES)
		d->dump[d->dumps - 1] = d->last;
}

static int device_dumps_take_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	const struct grt_ev_dump *x = (const struct grt_ev_dump *)e;
	struct device_dumps *d = state;
	struct device_dump_line *l;

	if (e->type != GRT_EV_DUMP)
		return 0;
	if (d->lines == LINES_MAX) {
		d->over++;
		return 0;
	}
	if (grt_grow_one(&d->line, d->lines))
		return -ENOMEM;
	device_dumps_count(d, e);
	l = &d->line[d->lines++];
	*l = (struct device_dump_line){.time = e->time, .device = e->device};
	memcpy(l->key, x->key, sizeof(x->key));
	memcpy(l->value, x->value, sizeof(x->value));
	return 0;
}

static void device_dumps_free(void *state)
{
	struct device_dumps *d = state;

	free(d->line);
}

static const uint16_t device_dump_types[] = {GRT_EV_DUMP, 0};
GRT_ANALYSIS_ANY(any_device_dumps, device_dumps, lines)

static const struct grt_part device_dump_parts[] = {
	{"dump", "what the heads of device dumps say", GRT_PART_BY | GRT_PART_SUMMARY | GRT_PART_NO_JOBS, 0,
	 &device_dump_table, .types = device_dump_types, .any = any_device_dumps, .write = show_device_dumps},
	{"dump_sentences", "a sentence for each device dump",
	 GRT_PART_SUMMARY | GRT_PART_FIRST | GRT_PART_NO_JOBS, .types = device_dump_types,
	 .any = any_device_dumps, .write = write_device_dump_sentences},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_device_dumps = {
	.name = "device_dumps",
	.classes = GRT_IN_CLASS(dump),
	.waits = true,
	.parts = device_dump_parts,
	.size = sizeof(struct device_dumps),
	.event = device_dumps_take_event,
	.free = device_dumps_free,
};
