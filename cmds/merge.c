// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace merge: the CPU's requests and the GPU's work as one timeline. lib/lines/line_out.c formats the
 * lines, lib/merge combines the streams.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd.h"
#include "reading.h"
#include "inputs.h"
#include "merge/merge.h"
#include "merge/offset.h"
#include "outfile.h"
#include "table/cells.h"
#include "table/table.h"

#define MERGE_INPUTS 16

/**
 * struct merging - one run
 * @path: the path of each input, as typed
 * @offset: added to the time stamps of the GPU's input; @estimated: the whole estimate
 * @from, @to: only events between these times
 */
struct merging {
	struct grt_merge *merge;
	const char *path[MERGE_INPUTS];
	struct grt_merged out;
	struct outfile file;
	struct grt_offset_result offset;
	bool estimated;
	uint64_t from;
	uint64_t to;
};

extern const struct cmd_json merge_json;

/* ----------------------------------------------------------- merge stats */

/* What a merge has read: the tables of --stats-only, and messages about each input. */

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

/* Prints the number of events by input and type. Return: 0 or -ENOMEM. */
static int merge_stats(struct merging *run, bool json, bool wide)
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

/* Prints the faults of an input to standard error; @verbose: also what was read. */
static void merge_print_input(struct merging *run, unsigned int input, bool verbose)
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

/* Whether an input is damaged; prints a message if it is. */
static bool merge_has_faults(struct merging *run, unsigned int input)
{
	const struct grt_health *h = grt_session_health(grt_merge_session(run->merge, input));
	uint64_t faults = 0;

	for (unsigned int i = 0; i < GRT_FAULTS; i++)
		faults += h->fault[i];
	if (faults)
		cmd_error(EXIT_FAILED, &h->first);
	return faults;
}

/* ----------------------------------------------------------------- merge */

static struct {
	const char *cpu;
	const char *gpu;
	const char *output;
	const char *offset;
	struct filter filter;
	bool stats_only;
	bool pretty;
	bool json;
	bool verbose;
	bool wide;
} opt;

static const struct cmd_opt opts[] = {
	{"cpu", 'c', OPT_STR, "FILE", &opt.cpu, "events of the CPU: text, or a recording with ioctls"},
	{"gpu", 'g', OPT_STR, "FILE", &opt.gpu, "events of the GPU: a recording, a raw file or text"},
	{"output", 'o', OPT_STR, "FILE", &opt.output, "write here (default: standard output)"},
	{"clock-offset", 0, OPT_STR, "NS|auto", &opt.offset,
	 "add this to the time stamps of --gpu; auto: estimate it from jobs and the ioctls that submitted them"},
	{"stats-only", 0, OPT_FLAG, NULL, &opt.stats_only,
	 "print only counts of events by input and type, no timeline"},
	FILTER_OPTIONS(opt.filter, 't'),
	{"pretty", 0, OPT_FLAG, NULL, &opt.pretty, "print readable lines that explain each event"},
	{"json", 'j', OPT_FLAG, NULL, &opt.json, "JSON: one object per event, or one for the statistics"},
	{"verbose", 'v', OPT_FLAG, NULL, &opt.verbose, "print how many events were read and skipped"},
	TERMINAL_WIDE_OPTION(&opt.wide),
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

static int merge_no_memory(void)
{
	return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "cannot merge");
}

/* ----------------------------------------------------------------- inputs */

static bool merge_is_same(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Return: whether an earlier input already provides the events of this one. */
static bool merge_has(const struct merging *run, const char *path, enum grt_merge_side side)
{
	for (unsigned int i = 0; i < grt_merge_inputs(run->merge); i++) {
		enum grt_merge_side other = grt_merge_side(run->merge, i);

		if ((side == other || side == GRT_MERGE_BOTH || other == GRT_MERGE_BOTH) &&
		    merge_is_same(run->path[i], path))
			return true;
	}
	return false;
}

static int merge_add(struct merging *run, const char *path, enum grt_merge_side side)
{
	struct grt_err err = {.what = ""};
	unsigned int n = grt_merge_inputs(run->merge);
	int ret;

	if (n == MERGE_INPUTS)
		return cmd_usage_error("more than %d inputs", MERGE_INPUTS);
	if (merge_has(run, path, side))
		return cmd_usage_error("%s is given twice: the timeline would have its events twice", path);
	run->path[n] = path;
	ret = grt_merge_open(run->merge, path, side, &err);
	return ret ? cmd_error(cmd_open_status(ret), &err) : EXIT_DONE;
}

static bool is_alone(int argc)
{
	return (opt.cpu ? 1 : 0) + (opt.gpu ? 1 : 0) + argc == 1;
}

/* A single input provides all its events. */
static int merge_add_inputs(struct merging *run, int argc, char **argv)
{
	bool alone = is_alone(argc);
	int status = outfile_usage(opt.output, opt.cpu), i;

	if (status == EXIT_DONE)
		status = outfile_usage(opt.output, opt.gpu);
	for (i = 0; i < argc && status == EXIT_DONE; i++)
		status = outfile_usage(opt.output, argv[i]);
	if (opt.cpu && status == EXIT_DONE)
		status = merge_add(run, opt.cpu, alone ? GRT_MERGE_BOTH : GRT_MERGE_CPU);
	if (opt.gpu && status == EXIT_DONE)
		status = merge_add(run, opt.gpu, alone ? GRT_MERGE_BOTH : GRT_MERGE_GPU);
	for (i = 0; i < argc && status == EXIT_DONE; i++)
		status = merge_add(run, argv[i], GRT_MERGE_BOTH);
	return status;
}

/* ----------------------------------------------------------------- clocks */

static int on_offset_event(void *arg, const struct grt_event *e, uint32_t cpu, unsigned int input)
{
	return grt_offset_event(arg, e, input);
}

static int merge_estimate(struct merging *run, struct grt_offset *o, struct grt_err *err)
{
	const struct grt_merge_sink sink = {.event = on_offset_event, .arg = o};
	int ret = grt_merge_run(run->merge, &sink, 0, UINT64_MAX, err);

	return ret ? ret : grt_offset_find(o, &run->offset, err);
}

static int offset_auto(struct merging *run)
{
	struct grt_err err = {.what = ""};
	char others[GRT_UNITS_MAX], more[GRT_UNITS_MAX + 64] = "";
	struct grt_offset *o;
	int ret;

	if (grt_offset_new(&o))
		return merge_no_memory();
	ret = merge_estimate(run, o, &err);
	grt_offset_free(o);
	if (ret)
		return cmd_error(EXIT_FAILED, &err);
	run->estimated = true;
	if (run->offset.others) {
		grt_units_ns(others, run->offset.others);
		snprintf(more, sizeof(more), "; the others differ by up to %s: the clocks may drift", others);
	}
	grt_say(stderr,
		"grtrace merge: clock offset %+" PRId64 " ns, off by at most %" PRIu64 " ns: fits %" PRIu64
		" of %" PRIu64 " {job's ioctl|jobs' ioctls}%s%s\n",
		run->offset.ns, run->offset.error, run->offset.agree, run->offset.pairs, more,
		run->offset.same ? "; the clocks may be the same" : "");
	return EXIT_DONE;
}

/* The number of the --gpu input. */
static unsigned int moved_input(void)
{
	return opt.cpu ? 1 : 0;
}

static int offset_usage(int argc)
{
	if (!opt.offset)
		return EXIT_DONE;
	if (!opt.gpu)
		return cmd_fail(EXIT_USAGE, "it applies to the --gpu input, and none was given",
				"--gpu FILE, the input whose time stamps to change",
				"--clock-offset has no input to move");
	if (!strcmp(opt.offset, "auto") && is_alone(argc))
		return cmd_fail(EXIT_USAGE,
				"auto compares the jobs of the --gpu input with the ioctls of another input",
				"--cpu FILE, or a number of ns", "--clock-offset auto with one input");
	return EXIT_DONE;
}

static int merge_set_offset(struct merging *run)
{
	const char *text = opt.offset;
	char *end;
	int status;

	if (!text)
		return EXIT_DONE;
	if (!strcmp(text, "auto")) {
		status = offset_auto(run);
	} else {
		errno = 0;
		run->offset.ns = strtoll(text, &end, 10);
		status = *end || end == text || isspace((unsigned char)*text) || errno
				 ? cmd_usage_error("--clock-offset: '%s' is neither a number of ns nor auto",
						   text)
				 : EXIT_DONE;
	}
	grt_merge_offset(run->merge, moved_input(), run->offset.ns);
	return status;
}

/* CLOCK_MONOTONIC begins with the boot: times of two boots have no order. */
static void merge_note_boots(const struct merging *run)
{
	const char *first = NULL, *boot;
	char path[2][512];

	for (unsigned int i = 0, of = 0; i < grt_merge_inputs(run->merge) && !opt.offset; i++) {
		boot = grt_session_env(grt_merge_session(run->merge, i), "boot_id");
		if (!boot || !*boot)
			continue;
		if (!first) {
			first = boot;
			of = i;
		}
		if (!strcmp(first, boot))
			continue;
		grt_escape(GRT_ESCAPE_TERM, path[0], sizeof(path[0]), run->path[of], strlen(run->path[of]));
		grt_escape(GRT_ESCAPE_TERM, path[1], sizeof(path[1]), run->path[i], strlen(run->path[i]));
		fprintf(stderr,
			"grtrace merge: %s and %s are of different boots, so their clocks differ and the order of their events is "
			"unknown\n  try: --cpu FILE --gpu FILE --clock-offset NS|auto\n",
			path[0], path[1]);
		return;
	}
}

/* ----------------------------------------------------------------- output */

static const char *const side_names[] = {
	[GRT_MERGE_CPU] = "cpu", [GRT_MERGE_GPU] = "gpu", [GRT_MERGE_BOTH] = "both"};

/* Writes the inputs of the timeline as comments. */
static int merge_put_header(struct merging *run)
{
	char line[1024], path[512];
	unsigned int i;
	int ret;

	ret = grt_line_out_text(run->out.lines, "# grtrace merge: [seconds] source event fields");
	for (i = 0; i < grt_merge_inputs(run->merge) && !ret; i++) {
		grt_escape(GRT_ESCAPE_TERM, path, sizeof(path), run->path[i], strlen(run->path[i]));
		snprintf(line, sizeof(line), "# %s: %s", side_names[grt_merge_side(run->merge, i)], path);
		ret = grt_line_out_text(run->out.lines, line);
	}
	if (run->offset.ns && !ret) {
		snprintf(line, sizeof(line), "# clock offset: %+" PRId64 " ns added to %s", run->offset.ns,
			 side_names[grt_merge_side(run->merge, moved_input())]);
		ret = grt_line_out_text(run->out.lines, line);
	}
	return ret;
}

static enum grt_line_form form(void)
{
	return opt.json ? GRT_LINE_OUT_JSON : opt.pretty ? GRT_LINE_OUT_PRETTY : GRT_LINE_OUT_MERGED;
}

static uint64_t events_of(const struct merging *run)
{
	uint64_t total = 0;

	for (unsigned int i = 0; i < run->out.inputs; i++)
		total += run->out.input[i].total;
	return total;
}

/* An input without any usable event is an error; a partly usable one is only reported. */
static int merge_judge(struct merging *run)
{
	unsigned int i, n = grt_merge_inputs(run->merge);
	int status = EXIT_DONE;

	for (i = 0; i < n; i++) {
		merge_print_input(run, i, opt.verbose);
		if (merge_has_faults(run, i))
			status = EXIT_FAILED;
	}
	if (events_of(run) || status != EXIT_DONE)
		return status;
	return cmd_fail(EXIT_FAILED,
			opt.filter.from.set || opt.filter.to.set
				? "no event is between --from and --to"
				: "the CPU input has no CPU events, and the GPU input has no GPU events",
			"grtrace merge --stats-only -v ..., which shows what was read", "no events to merge");
}

static int write_failed(struct merging *run, int code)
{
	struct grt_err err = {.what = ""};

	outfile_failed(&run->file, code, &err);
	return cmd_error(EXIT_FAILED, &err);
}

static int merge_finish(struct merging *run, int ret, struct grt_err *err)
{
	int written = grt_line_out_flush(run->out.lines), status;

	if (written)
		return written == -EPIPE ? EXIT_DONE : write_failed(run, written);
	if (ret == -EINTR)
		return 128 + cmd_signal;
	if (ret == -ENOMEM)
		return merge_no_memory();
	if (ret < 0)
		return cmd_error(EXIT_FAILED, err);
	if (opt.stats_only && merge_stats(run, opt.json, opt.wide))
		return merge_no_memory();
	status = opt.stats_only ? cmd_close_stdout() : EXIT_DONE;
	if (status == EXIT_DONE)
		status = merge_judge(run);
	if (events_of(run) && outfile_keep(&run->file, err))
		return cmd_error(EXIT_FAILED, err);
	return status;
}

static int merge_merge(struct merging *run)
{
	struct grt_err err = {.what = ""};
	int ret;

	if (!opt.output)
		terminal_page();
	ret = opt.stats_only ? 0 : outfile_open(&run->file, opt.output, &err);

	if (ret)
		return cmd_error(EXIT_FAILED, &err);
	if (grt_merged_init(&run->out, form(), opt.stats_only ? -1 : run->file.fd,
			    grt_merge_inputs(run->merge)))
		return merge_no_memory();
	cmd_catch_signals();
	run->out.stop = &cmd_signal;
	if (form() == GRT_LINE_OUT_MERGED)
		ret = merge_put_header(run);
	if (!ret)
		ret = grt_merge_run(run->merge, &run->out.sink, run->from, run->to, &err);
	return merge_finish(run, ret, &err);
}

static int merge_run(int argc, char **argv)
{
	struct merging run = {.file.fd = -1};
	int status;

	if (!opt.cpu && !opt.gpu && !argc)
		return cmd_usage_error("nothing to merge: give --cpu FILE and --gpu FILE");
	if (opt.stats_only && (opt.output || opt.pretty))
		return cmd_usage_error(
			"--stats-only prints no timeline: --output and --pretty do not work with it");
	if (opt.json && opt.pretty)
		return cmd_usage_error("--json and --pretty exclude each other");
	status = filter_check(&opt.filter, ~FILTER_TIME,
			      "an ioctl and its job are joined from all events of the inputs");
	if (status == EXIT_DONE)
		status = offset_usage(argc);
	if (status != EXIT_DONE)
		return status;
	if (grt_merge_new(&run.merge))
		return merge_no_memory();
	signal(SIGPIPE, SIG_IGN);
	status = merge_add_inputs(&run, argc, argv);
	if (status == EXIT_DONE)
		status = merge_set_offset(&run);
	if (status == EXIT_DONE)
		merge_note_boots(&run);
	if (status == EXIT_DONE)
		status = reading_merge_span(run.merge, &opt.filter.from, &opt.filter.to, &run.from, &run.to);
	if (status == EXIT_DONE)
		status = merge_merge(&run);
	outfile_drop(&run.file);
	grt_merged_fini(&run.out);
	grt_merge_free(run.merge);
	return status;
}

const struct cmd cmd_merge = {
	.reads = true,
	.usage =
		"--cpu FILE --gpu FILE [--output FILE] [--clock-offset NS|auto] [--pretty|--json|--stats-only] [PATH...]",
	.opts = opts,
	.run = merge_run,
	.json = &merge_json,
};
