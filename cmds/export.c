// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace export: converts a trace to the format of another program. This file parses the command line and
 * runs the session; the formats are rows of lib/export/exports.def.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outfile.h"
#include "base/say.h"
#include "reading.h"
#include "export/export.h"
#include "trace/session.h"
#include "export_tables.h"

static struct {
	const char *input;
	const char *output;
	const char *format;
	struct filter filter;
} opt;

static const char format_words[] = ""
#define GRT_EXPORT(name, ending, help) "|" #name
#include "export/exports.def"
#undef GRT_EXPORT
	;

static const struct cmd_opt options[] = {
	{"format", 'f', OPT_STR, format_words + 1, &opt.format,
	 "format of the other program (default: from the ending of FILE)"},
	{"input", 'i', OPT_STR, "PATH", &opt.input, "the trace (default: ./" DEFAULT_INPUT ")"},
	{"output", 'o', OPT_STR, "FILE", &opt.output,
	 "write here, tables into a directory (default: standard output)"},
	FILTER_OPTIONS(opt.filter, 't'),
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

static int no_format(const char *what, const char *value)
{
	char list[256] = "";

	for (const struct grt_export_row *row = grt_export_rows; row->name; row++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", *list ? ", " : "",
			 row->name);
	return cmd_usage_error("%s%s%s; there are: %s", what, value ? ": " : "", value ?: "", list);
}

/* Return: EXIT_DONE and the format, or EXIT_USAGE after a message */
static int find_format(const struct grt_export_row **row)
{
	*row = opt.format   ? grt_export_find(opt.format)
	       : opt.output ? grt_export_find_ending(opt.output)
			    : NULL;
	if (*row)
		return EXIT_DONE;
	if (opt.format)
		return no_format("no such format", opt.format);
	if (opt.output && strcmp(opt.output, "-") != 0)
		return cmd_usage_error("--output %s: no format has this ending: use -f FORMAT", opt.output);
	return no_format("-f FORMAT is needed", NULL);
}

static void print_if(uint64_t n, const char *text)
{
	char room[128];

	if (n)
		fprintf(stderr, "  %s\n", grt_say_count(room, sizeof(room), n, text));
}

/* Prints counts of items that are not drawn, or whose begin or end was not seen. */
static void print_tracks(const struct grt_tracks_count *n)
{
	/* of what threads did, events outside of a part of the time are not used */
	bool part = opt.filter.from.set || opt.filter.to.set;

	grt_say(stderr,
		": %" PRIu64 " {job|jobs}, %" PRIu64 " {slice|slices}, %" PRIu64
		" {instant|instants}, %" PRIu64 " {value|values} of counters\n",
		n->jobs, n->slices, n->instants, n->values);
	print_if(n->inferred, "{job has|jobs have} a START or END that is inferred, not observed");
	print_if(n->sampled, "{job was|jobs were} sampled: each stands for several jobs");
	print_if(n->undrawn, "{job is|jobs are} not drawn: {its|their} START or END is unknown");
	print_if(n->half,
		 part ? "{end is|ends are} not drawn: {its|their} begin is before --from, or was lost"
		      : "{end is|ends are} not drawn: {its|their} begin is before the trace, or was lost");
	print_if(n->cut, part ? "{slice has|slices have} no end up to --to"
			      : "{slice has|slices have} no end in the trace");
	print_if(n->over,
		 "{item is|items are} not drawn: too many tracks, or too many items at the same time");
	print_if(n->back,
		 "{item is|items are} not drawn: {its|their} time is before that of the item before");
	print_if(
		n->ended,
		"{counter|counters} ended before the trace did: {its|their} last value is drawn up to the end");
}

/* @tracks: NULL: the format has no tracks */
static void export_print_summary(const struct grt_session *s, struct grt_tracks *tracks, uint64_t events,
				 const char *path)
{
	const struct grt_health *h = grt_session_health(s);

	fprintf(stderr, "grtrace export: ");
	cmd_put_text(stderr, path);
	grt_say(stderr, ": %" PRIu64 " {event|events}", events);
	if (tracks)
		print_tracks(grt_tracks_count(tracks));
	else
		fputc('\n', stderr);
	print_if(h->balance.fate[GRT_FATE_LOST], "{event was|events were} lost in the recording");
	print_if(h->missing_events,
		 "{event is|events are} missing: {its packet is|their packets are} not in the recording");
	if (!h->finished)
		fprintf(stderr,
			"  the recorder did not finish this recording: later events may be missing\n");
}

/*
 * @empty: gets whether the trace has nothing that the format can show: then there is no file
 * Return: 0 or a negative errno, with the output closed in either case
 */
static int run_export(struct grt_export *x, struct grt_session *s, const struct grt_export_row *row,
		      const struct reading_span *span, struct outfile *out, bool *empty, struct grt_err *err)
{
	int ret = grt_export_init(x, row, s, out->fd);
	uint64_t from = opt.filter.from.set ? span->first : 0,
		 to = opt.filter.to.set ? span->last : UINT64_MAX;

	if (!ret) {
		*err = (struct grt_err){0};
		grt_export_within(x, from, to);
		if (row->format->whole)
			grt_session_whole(s);
		ret = grt_session_run(s, &x->c, from, to, err);
	}
	ret = ret < 0 ? ret : grt_export_end(x);
	/* a failure outside of the session is a failed write, or missing memory */
	if (ret && !err->what[0])
		outfile_failed(out, ret, err);
	*empty = !ret && row->format->missing && !x->items;
	if (!ret && !*empty)
		ret = outfile_keep(out, err);
	outfile_drop(out);
	return ret;
}

static int export_run_tables(struct grt_session *s, const char *path, const struct grt_export_row *row,
			     const struct reading_span *span, struct grt_err *err)
{
	uint64_t events;
	int ret = export_tables(s, row->format, &opt.filter, path, span, opt.output, &events, err);

	if (!ret)
		export_print_summary(s, NULL, events, path);
	return ret;
}

/* An empty file would look as if the GPU had done nothing. */
static int export_is_empty(const struct grt_export_row *row, const char *path)
{
	bool narrowed =
		grt_filter_any(&opt.filter.f) || opt.filter.gpu || opt.filter.from.set || opt.filter.to.set;

	return cmd_fail(EXIT_FAILED, "nothing is written",
			narrowed ? "grtrace report PATH, which shows its contents" : row->format->fix,
			"%s: -f %s: %s has no %s", path, row->name,
			narrowed ? "what the filters select" : "the trace", row->format->missing);
}

static int export_session(struct grt_session *s, const char *path, const struct grt_export_row *row)
{
	struct reading_span span;
	struct grt_err err = {0};
	struct grt_export x = {.fd = -1};
	struct outfile out;
	bool empty;
	int ret, status = reading_span(s, &opt.filter.from, &opt.filter.to, &span);

	if (status != EXIT_DONE)
		return status;
	if (row->format->tables)
		return reading_judge(s, path, 0, export_run_tables(s, path, row, &span, &err), &err);
	if (outfile_open(&out, opt.output, &err))
		return cmd_error(EXIT_FAILED, &err);
	ret = run_export(&x, s, row, &span, &out, &empty, &err);
	if (!ret && !empty)
		export_print_summary(s, x.tracks, x.events, path);
	grt_export_fini(&x);
	/* the reader has seen enough */
	if (ret == -EPIPE)
		return EXIT_DONE;
	status = reading_judge(s, path, 0, ret, &err);
	return status == EXIT_DONE && empty ? export_is_empty(row, path) : status;
}

/* Pages of a database are read and written again in any order; other formats of tables have several files. */
static int export_check_tables(const struct grt_export_format *format)
{
	bool none = !opt.output || !strcmp(opt.output, "-");
	struct stat st;

	if (format->directory && (none || (!stat(opt.output, &st) && !S_ISDIR(st.st_mode))))
		return cmd_usage_error("tables need a directory: use -o DIR");
	if (!format->directory && (none || (!stat(opt.output, &st) && !S_ISREG(st.st_mode))))
		return cmd_usage_error("a database needs a regular file: use -o FILE");
	opt.filter.f.joins = true;
	return filter_check(&opt.filter, FILTER_TYPE,
			    "rows are joined from events of several types; only -f csv accepts it");
}

static int export_check(const struct grt_export_row *row)
{
	opt.filter.f.whole = row->format->joins;
	if (!row->format->tables)
		return filter_check(&opt.filter, 0, NULL);
	if (!row->format->tables->size)
		return cmd_fail(EXIT_MISSING, "this grtrace was built without libsqlite3",
				"apt-get install libsqlite3-dev, and build grtrace again", "cannot write %s",
				row->name);
	return export_check_tables(row->format);
}

/* A directory of tables inside a recording would make the recording invalid, as a file would. */
static int export_check_output(const struct grt_export_row *row, const char *path)
{
	char inside[4096];

	if (!row->format->directory)
		return outfile_usage(opt.output, path);
	snprintf(inside, sizeof(inside), "%s/.", opt.output);
	return outfile_usage(opt.output, path) ?: outfile_usage(inside, path);
}

static int export_run(int argc, char **argv)
{
	const char *path = opt.input ? opt.input : argc ? argv[0] : DEFAULT_INPUT;
	const struct grt_export_row *row;
	struct grt_session *s;
	struct grt_err err;
	int ret, status;

	if (argc > 1 || (argc && opt.input))
		return cmd_usage_error("more than one trace: '%s'", argv[argc - 1]);
	status = find_format(&row);
	if (status == EXIT_DONE)
		status = export_check(row);
	if (status == EXIT_DONE)
		status = export_check_output(row, path);
	if (status != EXIT_DONE)
		return status;
	if (!strcmp(row->name, "perfetto") && !opt.output && isatty(STDOUT_FILENO))
		return cmd_usage_error("perfetto is binary: use -o FILE");
	if (!opt.input && !argc && access(path, F_OK))
		return cmd_fail(EXIT_FAILED, "there is no such recording", "grtrace record -- PROG",
				"cannot open %s", path);
	ret = grt_session_open(&s, path, &err);
	if (ret)
		return cmd_error(cmd_open_status(ret), &err);
	status = filter_session(&opt.filter, s, false);
	if (status == EXIT_DONE)
		status = export_session(s, path, row);
	grt_session_close(s);
	filter_free(&opt.filter);
	return status;
}

const struct cmd cmd_export = {
	.reads = true,
	.usage =
		"[-f FORMAT] [PATH] [-i PATH] [-o FILE] [--from T] [--to T] [--device GPU] [--pid PID] [--comm NAME] [--ring R] [--type T[,T]]",
	.opts = options,
	.run = export_run,
};
