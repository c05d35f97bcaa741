// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace timeline: what the rings, engines, processes, CUDA devices, threads, displays and counters of a
 * trace did over time, as text. This file parses the command line and runs the session with the analyses
 * that have parts of a timeline (lib/analyses.def); this file and timeline_bars.c write their
 * results.
 */
#include "timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cmds/cmd.h"

/* -------------------------------------------------------- timeline print */

/* The output of `grtrace timeline` and its order, as text and as JSON. timeline_bars.c draws the bars. */

static const struct grt_table recording_pairs = {"recording", "recording", NULL, GRT_TABLE_PAIRS};

const struct cmd_json timeline_json = {
	.title = "what grtrace timeline --json prints",
	.tables = GRT_TABLES(&recording_pairs, &reading_health_pairs, &reading_join_pairs,
			     &reading_balance_pairs),
	.parts = GRT_PART_BARS | GRT_PART_LATENCY,
};

static void timeline_print_write_recording(struct timeline *tl)
{
	struct grt_fields f = {.n = 0};
	uint32_t columns = tl->a.pass.columns;

	reading_recording(&f, tl->session, tl->input);
	reading_span_fields(&f, &tl->span);
	if (tl->filter->ring)
		grt_field_add(&f, "only_ring", GRT_CELL_TEXT, (struct grt_cell){.text = tl->filter->ring},
			      NULL);
	if (tl->filter->comm)
		grt_field_add(&f, "only_comm", GRT_CELL_TEXT, (struct grt_cell){.text = tl->filter->comm},
			      NULL);
	if (tl->filter->pid)
		grt_field_number(&f, "only_pid", tl->filter->pid, NULL);
	if (!tl->latency_only)
		grt_field_number(&f, "columns", columns, NULL);
	if (columns && !tl->a.pass.json)
		grt_field_add(&f, "column", GRT_CELL_NS,
			      (struct grt_cell){.number = grt_pass_span(&tl->a.pass) / columns},
			      "its height is the share of the column in which jobs ran");
	grt_fields_write(&f, tl->a.pass.writer, "recording", "recording");
}

/* Notes */

static void note_selection(struct timeline *tl)
{
	if (tl->filtered)
		grt_note(
			&tl->notes,
			"bars, gaps and latencies cover the selected jobs only; other jobs may have run in the gaps");
	if (!tl->a.pass.whole)
		grt_note(
			&tl->notes,
			"latencies cover whole jobs that run at any time between --from and --to; the event counts cover the whole trace");
}

static void timeline_print_write_end(struct timeline *tl)
{
	struct grt_pass *pass = &tl->a.pass;
	const struct grt_health *h = grt_session_health(tl->session);

	pass->health = h;
	grt_jobs_notes(&tl->notes, tl->a.jobs, h);
	grt_analyses_notes(&tl->a);
	note_selection(tl);
	reading_note_health(&tl->notes, h, &tl->span, 0);
	grt_notes_write(&tl->notes, pass->writer);
	if (pass->json) {
		reading_health(pass->writer, h);
		reading_joins(pass->writer, tl->a.jobs);
	}
	reading_balance(pass->writer, h, 0);
}

/* The trace has no jobs but other things: people need no empty tables. Machines find every key. */
static bool timeline_has_no_jobs(const struct timeline *tl)
{
	return !tl->a.pass.json && !tl->a.pass.jobs_seen && grt_analyses_any(&tl->a, GRT_PART_JOBS, 0);
}

static bool timeline_print_is_shown(void *arg, const struct grt_part *part, const void *state)
{
	struct timeline *tl = arg;

	if (part->where & GRT_PART_JOBS && timeline_has_no_jobs(tl))
		return false;
	return !tl->failed && (tl->a.pass.json || !timeline_draw(tl, part, state, &tl->failed));
}

/* Writes all. Return: 0 or -ENOMEM. */
static int timeline_print(struct timeline *tl)
{
	const struct grt_writer_options o = {.out = stdout,
					     .verbose = tl->verbose,
					     .colour = tl->look.colour,
					     .width = terminal_width() ? tl->look.width : 0,
					     .utf8 = tl->look.utf8};
	struct grt_pass *pass = &tl->a.pass;
	int ret = grt_writer_new(&pass->writer, pass->json ? &writer_json : &writer_text, &o);

	if (ret)
		return ret;
	grt_writer_begin(pass->writer);
	timeline_print_write_recording(tl);
	ret = grt_analyses_write(&tl->a, timeline_print_is_shown, tl) ?: tl->failed;
	if (!ret)
		timeline_print_write_end(tl);
	grt_writer_end(pass->writer);
	return ret;
}

/* -------------------------------------------------------------- timeline */

#define NOT_GIVEN UINT64_MAX
#define WIDTH_MIN 20
#define WIDTH_MAX 1000
#define WIDTH_DEFAULT 80
/* From this width on, each bar is followed by the busy share. */
#define WIDTH_SHARES 40

static struct {
	const char *input;
	struct filter filter;
	uint64_t width;
	bool latency_only;
	bool ascii;
	bool json;
	bool verbose;
} opt = {.width = NOT_GIVEN};

static const struct cmd_opt opts[] = {
	{"input", 'i', OPT_STR, "PATH", &opt.input, "the trace (default: ./" DEFAULT_INPUT ")"},
	{"latency-only", 'l', OPT_FLAG, NULL, &opt.latency_only,
	 "print only latencies, no bars, gaps and overlaps"},
	FILTER_OPTIONS(opt.filter, 0),
	{"width", 'w', OPT_U64, "N", &opt.width,
	 "characters of a line, 20 to 1000 (default: the terminal's, else $COLUMNS, else 80)"},
	{"ascii", 'a', OPT_FLAG, NULL, &opt.ascii, "bars of ASCII characters (default: by the locale)"},
	{"json", 'j', OPT_FLAG, NULL, &opt.json, "print one JSON object, times as integers in ns"},
	{"verbose", 'v', OPT_FLAG, NULL, &opt.verbose, "more columns, and counts of dropped events by cause"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

static bool timeline_wants(struct grt_analyses *a, const struct grt_job *job)
{
	struct timeline *tl = (struct timeline *)a;

	return grt_filter_wants_job(&opt.filter.f, tl->a.pass.names, job->pid, job->tid, job->ring) &&
	       (a->pass.whole || grt_job_touches(job, a->pass.first, a->pass.last));
}

static bool width_fits(uint64_t width)
{
	return width >= WIDTH_MIN && width <= WIDTH_MAX;
}

/* The bar gets the width that label, share and the two borders leave. */
static void set_look(struct timeline_look *look)
{
	look->width = opt.width != NOT_GIVEN ? (unsigned int)opt.width : terminal_width() ?: WIDTH_DEFAULT;
	look->label = look->width / 4 - 1;
	if (look->label > 27)
		look->label = 27;
	look->shares = look->width >= WIDTH_SHARES;
	look->columns = look->width - look->label - 2 - (look->shares ? SHARE_WIDTH : 0);
	look->utf8 = !opt.ascii && terminal_utf8();
	look->colour = !opt.json && cmd_colour();
}

static int timeline_check_options(void)
{
	if (opt.width != NOT_GIVEN && !width_fits(opt.width))
		return cmd_usage_error("--width %" PRIu64 ": from %d to %d", opt.width, WIDTH_MIN, WIDTH_MAX);
	opt.filter.f.joins = true;
	return filter_check(&opt.filter, FILTER_TYPE,
			    "bars show jobs, which are joined from all their events");
}

static int timeline_no_memory(const struct timeline *tl)
{
	return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "%s", tl->input);
}

static int timeline_begin_analyses(struct timeline *tl)
{
	struct grt_pass *pass = &tl->a.pass;

	tl->a.wants = timeline_wants;
	pass->first = tl->span.first;
	pass->last = tl->span.last;
	pass->known = tl->span.known;
	pass->notes = &tl->notes;
	pass->filter = tl->filtered ? &opt.filter.f : NULL;
	if (!tl->latency_only)
		pass->columns = tl->look.columns;
	grt_analyses_want_all(&tl->a, tl->latency_only ? GRT_PART_LATENCY : GRT_PART_LATENCY | GRT_PART_BARS);
	if (grt_analyses_join(&tl->a) || grt_analyses_begin(&tl->a))
		return -ENOMEM;
	grt_analyses_consume(&tl->a);
	return 0;
}

/* Columns are filled while the trace is read, so their span must be known before. */
static int timeline_set_span(struct timeline *tl)
{
	uint64_t first, last;
	int status = reading_span(tl->session, &opt.filter.from, &opt.filter.to, &tl->span);

	if (status != EXIT_DONE || tl->span.known)
		return status;
	if (grt_session_span(tl->session, &first, &last) != -ESPIPE) {
		tl->span.first = tl->span.last = 0;
		return EXIT_DONE;
	}
	tl->span.known = opt.filter.from.set && opt.filter.to.set;
	if (tl->span.known)
		return EXIT_DONE;
	return cmd_fail(EXIT_FAILED, "the begin and end of a pipe are unknown until it has been read",
			"cat PIPE > FILE, then grtrace timeline FILE; or both --from T and --to T",
			"%s: no timeline of a pipe", tl->input);
}

/* The whole trace is read, because a job that extends into the span began before it. */
static int cmd_timeline_run(struct timeline *tl)
{
	struct grt_err err = {.what = ""};
	int status = timeline_set_span(tl);
	int ret, done;

	if (status != EXIT_DONE)
		return status;
	if (timeline_begin_analyses(tl))
		return timeline_no_memory(tl);
	ret = grt_session_run(tl->session, &tl->a.c, 0, UINT64_MAX, &err);
	done = grt_analyses_finish(&tl->a);
	if (!done && ret >= 0)
		status = filter_found(&opt.filter, tl->input);
	if (status != EXIT_DONE)
		return status;
	if (!done)
		done = timeline_print(tl);
	return reading_judge(tl->session, tl->input, 0, ret < 0 ? ret : done, &err);
}

static int run_path(struct timeline *tl)
{
	struct grt_err err;
	int ret = grt_session_open(&tl->session, tl->input, &err);

	if (ret)
		return cmd_error(cmd_open_status(ret), &err);
	terminal_page();
	ret = filter_session(&opt.filter, tl->session, false);
	if (ret == EXIT_DONE)
		ret = cmd_timeline_run(tl);
	grt_writer_free(tl->a.pass.writer);
	grt_analyses_free(&tl->a);
	grt_session_close(tl->session);
	return ret;
}

static int timeline_run(int argc, char **argv)
{
	struct timeline tl = {
		.input = opt.input ? opt.input
			 : argc	   ? argv[0]
				   : DEFAULT_INPUT,
		.latency_only = opt.latency_only,
		.verbose = opt.verbose,
		.a.pass = {.whole = !opt.filter.from.set && !opt.filter.to.set, .json = opt.json},
	};
	int status = timeline_check_options();

	if (status != EXIT_DONE)
		return status;
	if (argc > 1 || (argc && opt.input))
		return cmd_usage_error("more than one trace: '%s'", argv[argc - 1]);
	if (!argc && !opt.input && access(DEFAULT_INPUT, F_OK))
		return cmd_fail(EXIT_FAILED, "nothing was recorded here",
				"grtrace record -- PROGRAM, or grtrace timeline PATH",
				"there is no ./" DEFAULT_INPUT);
	tl.filter = &opt.filter;
	tl.filtered = grt_filter_any(&opt.filter.f);
	set_look(&tl.look);
	status = run_path(&tl);
	filter_free(&opt.filter);
	return status;
}

const struct cmd cmd_timeline = {
	.reads = true,
	.usage =
		"[PATH] [-i PATH] [--latency-only] [--from T] [--to T] [--width N] [--ring R] [--device GPU] [--pid P] [--json]",
	.opts = opts,
	.run = timeline_run,
	.json = &timeline_json,
};
