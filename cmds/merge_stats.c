// SPDX-License-Identifier: GPL-2.0
/* What a merge has read: the tables of --stats-only, and messages about each input. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "table/cells.h"
#include "base/say.h"
#include "merge.h"
#include "terminal.h"
#include "table/table.h"

/* ----------------------------------------------------------------- tables */

/** struct row - events of a type in an input */
struct row {
	const char *path;
	uint16_t type;
	uint64_t events;
	uint64_t span;
};

static void get_source(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = grt_line_out_is_cpu(((const struct row *)row)->type) ? "CPU" : "GPU";
}

static void merge_stats_get_type(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ((const struct row *)row)->type;
}

static uint64_t per_second(uint64_t events, uint64_t span)
{
	return (uint64_t)((unsigned __int128)events * 1000000000 / span);
}

static void get_rate(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct row *r = row;

	cell->absent = !r->span;
	cell->number = r->span ? per_second(r->events, r->span) : 0;
}

static const struct grt_column columns[] = {
	{"source", get_source, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "CPU or GPU"},
	{"event", merge_stats_get_type, 0, GRT_CELL_EVENT, GRT_COLUMN_ALL, "type of the event"},
	{"events", grt_cell_u64, offsetof(struct row, events), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "number of events"},
	{"per_second", get_rate, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "events per second of the merged time"},
	{"input", grt_cell_pointed, offsetof(struct row, path), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "path of the input"},
	{.name = NULL},
};

static const struct grt_table table = {"events", "events", columns, 0};
static const struct grt_table merge_pairs = {"merge", "merge", NULL, GRT_TABLE_PAIRS};

const struct cmd_json merge_json = {
	.title = "what grtrace merge --stats-only --json prints",
	.tables = GRT_TABLES(&merge_pairs, &table),
};

/** struct sums - over all inputs */
struct sums {
	uint64_t events;
	uint64_t first;
	uint64_t last;
	uint64_t lines;
	uint64_t bad;
	uint64_t skipped;
};

static struct sums merge_stats_sum_up(const struct merging *run)
{
	struct sums s = {.first = UINT64_MAX};

	for (unsigned int i = 0; i < run->out.inputs; i++) {
		const struct grt_merged_input *in = &run->out.input[i];
		const struct grt_health *h = grt_session_health(grt_merge_session(run->merge, i));

		s.events += in->total;
		if (in->total && in->first < s.first)
			s.first = in->first;
		if (in->total && in->last > s.last)
			s.last = in->last;
		s.lines += h->text.lines;
		s.bad += h->text.bad;
		s.skipped += h->text.skipped;
	}
	return s;
}

static void put_sums(const struct merging *run, struct grt_writer *w, const struct sums *s)
{
	const struct grt_line_out_count *c = grt_line_out_count(run->out.lines);
	uint64_t span = s->events ? s->last - s->first : 0;
	const struct grt_field_value fields[] = {
		{"events", GRT_CELL_NUMBER, {.number = s->events}, NULL},
		{"from", GRT_CELL_TIME, {.number = s->first, .absent = !s->events}, NULL},
		{"to", GRT_CELL_TIME, {.number = s->last, .absent = !s->events}, NULL},
		{"span", GRT_CELL_NS, {.number = span, .absent = !s->events}, NULL},
		{"per_second",
		 GRT_CELL_NUMBER,
		 {.number = span ? per_second(s->events, span) : 0, .absent = !span},
		 "events"},
		{"clock_offset_ns",
		 GRT_CELL_SIGNED,
		 {.number = (uint64_t)run->offset.ns},
		 "ns added to the time stamps of the GPU input"},
		{"clock_error_ns",
		 GRT_CELL_NUMBER,
		 {.number = run->offset.error, .absent = !run->estimated},
		 NULL},
		{"ioctls", GRT_CELL_NUMBER, {.number = c->calls}, "ioctls with entry and exit"},
		{"jobs", GRT_CELL_NUMBER, {.number = c->jobs}, "jobs with SUBMIT and COMPLETE"},
		{"submits_in_ioctl",
		 GRT_CELL_NUMBER,
		 {.number = c->submits},
		 "SUBMITs made while their thread was in an ioctl"},
		{"lines", GRT_CELL_NUMBER, {.number = s->lines}, "lines of text"},
		{"bad_lines", GRT_CELL_NUMBER, {.number = s->bad}, "lines that were not understood"},
		{"skipped_lines",
		 GRT_CELL_NUMBER,
		 {.number = s->skipped},
		 "events that are not about GPU jobs"},
		{.name = NULL},
	};

	grt_writer_fields(w, "merge", "merge", fields);
}

static int merge_stats_put_rows(const struct merging *run, struct grt_writer *w, const struct sums *s)
{
	int ret = 0;

	grt_writer_table(w, &table, NULL);
	for (unsigned int i = 0; i < run->out.inputs; i++)
		for (uint16_t type = 0; type < GRT_EV_MAX && !ret; type++) {
			const struct row r = {run->path[i], type, run->out.input[i].events[type],
					      s->events ? s->last - s->first : 0};

			if (r.events)
				ret = grt_writer_row(w, &r);
		}
	grt_writer_table_end(w);
	return ret;
}

int merge_stats(struct merging *run, bool json, bool wide)
{
	struct grt_writer_options o = {.out = stdout, .colour = !json && cmd_colour()};
	const struct sums s = merge_stats_sum_up(run);
	struct grt_writer *w;
	int ret;

	terminal_fit(&o, wide);
	ret = grt_writer_new(&w, json ? &writer_json : &writer_text, &o);
	if (ret)
		return ret;
	grt_writer_begin(w);
	put_sums(run, w, &s);
	ret = merge_stats_put_rows(run, w, &s);
	grt_writer_end(w);
	grt_writer_free(w);
	return ret;
}

/* ----------------------------------------------------------------- inputs */

static void merge_stats_begin(const struct merging *run, unsigned int input)
{
	fputs("grtrace merge: ", stderr);
	cmd_put_text(stderr, run->path[input]);
	fputs(": ", stderr);
}

static void print_faults(const struct merging *run, unsigned int input, const struct grt_health *h)
{
	merge_stats_begin(run, input);
	grt_say(stderr,
		"%" PRIu64 " of %" PRIu64 " {line was|lines were} not understood, the first is line %" PRIu64
		": ",
		h->text.bad, h->text.lines, h->text.bad_line);
	cmd_put_text(stderr, h->text.bad_text);
	fputc('\n', stderr);
}

static void print_skipped(const struct merging *run, unsigned int input, bool verbose)
{
	const struct grt_session *s = grt_merge_session(run->merge, input);
	const struct grt_health *h = grt_session_health(s);
	const struct grt_skipped *list;
	unsigned int n = grt_session_skipped(s, &list);

	merge_stats_begin(run, input);
	grt_say(stderr, "%" PRIu64 " {event is|events are} not about GPU jobs, of %u {kind|kinds}%s\n",
		h->text.skipped, n, verbose ? ":" : " (-v names them)");
	for (unsigned int i = 0; verbose && i < n; i++) {
		fputs("  ", stderr);
		cmd_put_text(stderr, list[i].name);
		fprintf(stderr, " %" PRIu64 "\n", list[i].events);
	}
}

static void print_read(const struct merging *run, unsigned int input, const struct grt_health *h)
{
	const struct grt_merged_input *in = &run->out.input[input];

	merge_stats_begin(run, input);
	grt_say(stderr, "%" PRIu64 " {event|events} taken of %" PRIu64 " read", in->total, h->events);
	if (h->text.form)
		grt_say(stderr, ", %" PRIu64 " {line|lines} of %s, %" PRIu64 " out of order", h->text.lines,
			h->text.form, h->text.reordered);
	else
		grt_say(stderr, ", %" PRIu64 " {packet|packets}", h->packets);
	fputc('\n', stderr);
}

void merge_print_input(struct merging *run, unsigned int input, bool verbose)
{
	const struct grt_health *h = grt_session_health(grt_merge_session(run->merge, input));
	enum grt_merge_side side = grt_merge_side(run->merge, input);

	if (verbose)
		print_read(run, input, h);
	if (h->text.bad)
		print_faults(run, input, h);
	if (h->text.skipped)
		print_skipped(run, input, verbose);
	/* if --from and --to exclude events, nothing follows about the input */
	if (side == GRT_MERGE_BOTH || run->out.input[input].total || run->from || run->to != UINT64_MAX)
		return;
	merge_stats_begin(run, input);
	fprintf(stderr, "no event of the %s in it\n", side == GRT_MERGE_CPU ? "CPU" : "GPU");
}

bool merge_has_faults(struct merging *run, unsigned int input)
{
	const struct grt_health *h = grt_session_health(grt_merge_session(run->merge, input));
	uint64_t faults = 0;

	for (unsigned int i = 0; i < GRT_FAULTS; i++)
		faults += h->fault[i];
	if (faults)
		cmd_error(EXIT_FAILED, &h->first);
	return faults;
}
