// SPDX-License-Identifier: GPL-2.0
/*
 * The output of `grtrace report` and its order. The analyses compute the values and
 * the writer formats them; this file selects them, with the sentences around them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/say.h"
#include "base/units.h"
#include "cmds/cmd.h"
#include "report.h"
#include "report_print.h"
#include "table/cells.h"

/* ----------------------------------------------------------- report text */

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

/* Pairs: the format, the number of lines, and what became of them */
static void report_text_health(struct grt_writer *w, const struct grt_health *h)
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

	return grt_compare(y->events, x->events) ?: strcmp(x->name, y->name);
}

/* The most frequent ones come first. */
static int report_text_skipped(const struct grt_session *s, struct grt_writer *w, struct grt_notes *notes,
			       bool all)
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

/* ---------------------------------------------------------- report print */

static const struct grt_table recording_pairs = {"recording", "recording", NULL, GRT_TABLE_PAIRS};

static void get_span(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct reading_span *span = row;

	*cell = (struct grt_cell){.number = span->last - span->first, .absent = !span->known};
}

static const struct grt_column span_columns[] = {
	{"span_ns", get_span, 0, GRT_CELL_NS, GRT_COLUMN_MACHINE, "length of the examined time, ns"},
	{.name = NULL},
};

static const struct grt_table span_pairs = {NULL, NULL, span_columns, GRT_TABLE_PAIRS};

const struct cmd_json report_json = {
	.title = "what grtrace report --json prints",
	.tables = GRT_TABLES(&recording_pairs, &report_text_skipped_table, &span_pairs, &reading_health_pairs,
			     &report_text_pairs, &reading_join_pairs, &reading_balance_pairs),
	.parts = GRT_PART_BY | GRT_PART_SUMMARY | GRT_PART_VERBOSE,
};

static void report_print_write_recording(struct report *r)
{
	struct grt_fields f = {.n = 0};

	reading_recording(&f, r->session, r->input);
	reading_span_fields(&f, &r->span);
	grt_fields_write(&f, r->a.pass.writer, "recording", "recording");
}

void report_look(struct report *r)
{
	const struct grt_health *b = &r->before;
	struct grt_health *h = &r->health;

	*h = *grt_session_health(r->session);
	h->events -= b->events;
	h->left_out -= b->left_out;
	h->unknown -= b->unknown;
	h->packets -= b->packets;
	h->bytes -= b->bytes;
	h->skipped_bytes -= b->skipped_bytes;
	h->missing_events -= b->missing_events;
	h->balance.emitted -= b->balance.emitted;
	for (unsigned int i = 0; i < GRT_FATES; i++)
		h->balance.fate[i] -= b->balance.fate[i];
	for (unsigned int i = 0; i < GRT_FAULTS; i++)
		h->fault[i] -= b->fault[i];
}

static const char *const see[GRT_CLASSES] = {
#define GRT_CLASS(name, help, see) [GRT_CLASS_##name] = see,
#include <grtrace/classes.def>
#undef GRT_CLASS
};

/*
 * Return: whether the trace has no jobs but other things: people then need no empty tables. Programs find
 * every key.
 */
static bool has_no_jobs(const struct report *r)
{
	bool other = grt_analyses_any(&r->a, GRT_PART_JOBS, 0);

	if (r->a.pass.json || r->by || r->a.pass.jobs_seen ||
	    grt_analyses_any(&r->a, GRT_PART_JOBS, GRT_PART_JOBS))
		return false;
	for (unsigned int i = 0; i < GRT_CLASSES; i++)
		other |= r->elsewhere[i] > 0;
	return other;
}

/* Of events without jobs, only errors are shown; the commands that recorded the others show them. */
static void note_elsewhere(struct report *r, bool errors_only)
{
	char room[128];

	for (unsigned int i = 0; i < GRT_CLASSES; i++)
		if (r->elsewhere[i] && (!errors_only || i == GRT_CLASS_xid))
			grt_note(&r->notes, "%s", grt_say_count(room, sizeof(room), r->elsewhere[i], see[i]));
}

static void note_joins(struct report *r, const struct grt_health *h)
{
	const struct grt_names *names = grt_jobs_names(r->a.jobs);

	grt_jobs_notes(&r->notes, r->a.jobs, r->by && r->by->where & GRT_PART_NO_TIME ? NULL : h);
	if (names->dropped)
		grt_note(&r->notes, "%" PRIu64 " {NAME record|NAME records} ignored (limit of %u names)",
			 names->dropped, GRT_NAMES_MAX);
}

static void note_health(struct report *r, const struct grt_health *h)
{
	char first[GRT_UNITS_MAX], last[GRT_UNITS_MAX];

	grt_units_time(first, r->span.first);
	grt_units_time(last, r->span.last);
	if (r->live && r->span.known && report_streams(r))
		grt_note(&r->notes, "read live from %s to %s", first, last);
	report_text_notes(&r->notes, h);
	reading_note_window(&r->notes, r->session, &r->span);
	reading_note_health(&r->notes, h, r->live ? NULL : &r->span, reading_unread(r->session, r->live));
	if (r->filtered)
		grt_note(
			&r->notes,
			"tables cover only what --pid, --comm and --ring select; the counts of jobs, waits and events cover everything");
	if (r->narrowed)
		grt_note(&r->notes,
			 "the event counts cover the whole recording, also outside --from and --to");
}

static void report_print_write_notes(struct report *r, const struct grt_health *h)
{
	note_joins(r, h);
	grt_analyses_notes(&r->a);
	note_health(r, h);
	/* A CSV file has no place for these. */
	for (unsigned int i = 0; r->a.pass.csv && i < r->notes.n; i++)
		cmd_tell("report", r->notes.text[i]);
	grt_notes_write(&r->notes, r->a.pass.writer);
}

static const struct grt_writer_ops *chosen_writer(const struct report *r)
{
	return r->page		? &writer_columns
	       : r->a.pass.json ? &writer_json
	       : r->a.pass.csv	? &writer_csv
				: &writer_text;
}

/* The sentences at the beginning of a report: parts that are written before all tables. */
static bool is_first(void *arg, const struct grt_part *part, const void *state)
{
	const struct report *r = arg;

	return part->where & GRT_PART_FIRST && !r->by;
}

/* Why a black box wrote this recording, which is the first question of its reader. */
static void write_incident(struct report *r)
{
	const char *what = grt_session_env(r->session, "incident_text");
	struct grt_notes first = {.n = 0}, *notes = r->a.pass.json ? &r->notes : &first;

	if (r->by || r->a.pass.csv || !what || !*what)
		return;
	grt_note(notes, "a black box wrote this recording: %s (report --incident)", what);
	if (first.n)
		grt_notes_write(&first, r->a.pass.writer);
}

static int begin_output(struct report *r)
{
	struct grt_writer_options o = {
		.out = r->out,
		.verbose = r->verbose,
		.colour = !r->a.pass.json && !r->a.pass.csv && cmd_colour(),
	};
	int ret;

	if (!r->page)
		terminal_fit(&o, r->wide);
	ret = grt_writer_new(&r->a.pass.writer, chosen_writer(r), &o);
	if (ret)
		return ret;
	grt_writer_begin(r->a.pass.writer);
	write_incident(r);
	ret = grt_analyses_write(&r->a, is_first, r);
	/* in JSON, they are notes */
	if (r->page && r->notes.n)
		grt_notes_write(&r->notes, r->a.pass.writer);
	report_print_write_recording(r);
	return ret;
}

int report_begin(struct report *r)
{
	int ret = begin_output(r);

	if (!ret)
		grt_analyses_open(&r->a);
	return ret;
}

static bool report_print_is_shown(void *arg, const struct grt_part *part, const void *state)
{
	const struct report *r = arg;

	return part != r->by && !is_first(arg, part, state) &&
	       !(r->a.pass.no_jobs && part->where & GRT_PART_JOBS) && !r->a.pass.csv;
}

/* The requested part comes first; CSV has nothing else. */
static int report_print_write_tables(struct report *r)
{
	int ret = 0;

	note_elsewhere(r, !r->a.pass.no_jobs);
	if (r->by)
		ret = grt_analyses_write_part(&r->a, r->by);
	if (!ret)
		ret = grt_analyses_write(&r->a, report_print_is_shown, r);
	if (!ret && !r->a.pass.csv)
		ret = report_text_skipped(r->session, r->a.pass.writer, &r->notes,
					  r->a.pass.json || r->verbose);
	return ret;
}

/* Gives the analyses the facts about the whole run when it has ended. */
static void end_pass(struct report *r)
{
	struct grt_pass *pass = &r->a.pass;

	pass->first = r->span.first;
	pass->last = r->span.last;
	pass->known = r->span.known;
	pass->no_jobs = has_no_jobs(r);
}

int report_print(struct report *r)
{
	const struct grt_health *h = &r->health;
	struct grt_pass *pass = &r->a.pass;
	int ret;

	report_look(r);
	end_pass(r);
	ret = report_streams(r) ? 0 : begin_output(r);
	if (ret)
		return ret;
	ret = report_print_write_tables(r);
	report_print_write_notes(r, h);
	/* after the tables, because the span of a live report is known only at its end */
	grt_writer_pairs(pass->writer, &span_pairs, NULL, &r->span);
	reading_health(pass->writer, h);
	report_text_health(pass->writer, h);
	if (!(r->by && r->by->where & GRT_PART_NO_JOBS) && !pass->no_jobs)
		reading_joins(pass->writer, r->a.jobs);
	reading_balance(pass->writer, h, reading_unread(r->session, r->live));
	grt_writer_end(pass->writer);
	grt_writer_free(pass->writer);
	pass->writer = NULL;
	return ret;
}
