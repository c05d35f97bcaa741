// SPDX-License-Identifier: GPL-2.0
/* Notes of a report about text, see report_text.h. */
#include "report_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "table/cells.h"

/* Most kinds of skipped events that are shown. */
#define SKIPPED_ROWS 10

static void get_bad(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_health_text *t = row;

	cell->absent = !t->bad;
	if (arg)
		cell->text = t->bad_text;
	else
		cell->number = t->bad_line;
}

#define TEXT(name, member, where, help)                                                                    \
	{                                                                                                  \
		name, grt_cell_u64, offsetof(struct grt_health_text, member), GRT_CELL_NUMBER, where, help \
	}
#define NONZERO (GRT_COLUMN_ALL | GRT_COLUMN_NONZERO)

/* clang-format off */
static const struct grt_column text_columns[] = {
	{"form", grt_cell_pointed, offsetof(struct grt_health_text, form), GRT_CELL_TEXT,
	 GRT_COLUMN_ALL | GRT_COLUMN_PLAIN, "form of the text"},
	TEXT("lines", lines, GRT_COLUMN_ALL, "read"),
	TEXT("bad", bad, GRT_COLUMN_ALL, "lines that were not understood"),
	{"bad_line", get_bad, 0, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE, "number of the first such line"},
	{"bad_text", get_bad, 1, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "beginning of that line"},
	TEXT("skipped", skipped, GRT_COLUMN_ALL, "events that are not about GPU jobs"),
	TEXT("reordered", reordered, NONZERO, "lines or events that came after later ones"),
	TEXT("sorted", sorted, NONZERO, "events that were sorted in temporary files"),
	TEXT("gaps", gaps, NONZERO, "places where an unknown number of events is missing"),
	{.name = NULL},
};
/* clang-format on */

const struct grt_table report_text_pairs = {"text", "text", text_columns, GRT_TABLE_PAIRS};

void report_text_health(struct grt_writer *w, const struct grt_health *h)
{
	if (h->text.form)
		grt_writer_pairs(w, &report_text_pairs, NULL, &h->text);
}

void report_text_notes(struct grt_notes *n, const struct grt_health *h)
{
	const struct grt_health_text *t = &h->text;

	if (t->bad)
		grt_note(n,
			 "%" PRIu64 " {line was|lines were} not understood, the first is line %" PRIu64
			 ": %s",
			 t->bad, t->bad_line, t->bad_text);
	if (t->form && !h->events && t->lines)
		grt_note(n, "none of the %" PRIu64 " lines has an event", t->lines);
	if (t->gaps)
		grt_note(n,
			 "events are missing at %" PRIu64
			 " {place|places}, and the text does not say how many",
			 t->gaps);
}

void report_text_passed(struct grt_notes *n, const struct grt_session *s)
{
	const struct grt_health_text *t = &grt_session_health(s)->text;
	const struct grt_skipped *list;
	unsigned int kinds = grt_session_skipped(s, &list),
		     show = kinds > SKIPPED_ROWS ? SKIPPED_ROWS : kinds;
	char names[512] = "";

	if (!t->skipped)
		return;
	for (unsigned int i = 0; i < show; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s %" PRIu64, i ? ", " : "",
			 list[i].name, list[i].events);
	grt_note(n, "%" PRIu64 " {event is|events are} not about GPU jobs: %s%s", t->skipped, names,
		 kinds > show ? ", ..." : "");
}

static const struct grt_column columns[] = {
	{"event", grt_cell_pointed, offsetof(struct grt_skipped, name), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "name of the event in the text"},
	{"events", grt_cell_u64, offsetof(struct grt_skipped, events), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "how many were skipped"},
	{.name = NULL},
};

const struct grt_table report_text_skipped_table = {"skipped", "skipped events", columns, 0};

static int report_text_compare(const void *a, const void *b)
{
	const struct grt_skipped *x = a, *y = b;

	if (x->events != y->events)
		return x->events > y->events ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* The most frequent ones come first. */
int report_text_skipped(const struct grt_session *s, struct grt_writer *w, struct grt_notes *notes, bool all)
{
	const struct grt_skipped *list;
	unsigned int n = grt_session_skipped(s, &list), show = !all && n > SKIPPED_ROWS ? SKIPPED_ROWS : n;
	struct grt_skipped *row;
	int ret;

	if (!n)
		return 0;
	row = malloc(n * sizeof(*row));
	if (!row)
		return -ENOMEM;
	memcpy(row, list, n * sizeof(*row));
	qsort(row, n, sizeof(*row), report_text_compare);
	ret = grt_writer_rows(w, &report_text_skipped_table, NULL, row, sizeof(*row), show);
	if (n > show)
		grt_note(notes,
			 "%u {more kind of events was|more kinds of events were} skipped: -v shows all",
			 n - show);
	free(row);
	return ret;
}
