// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace timeline: when the rings, engines and processes of a trace were busy,
 * as text. Takes the command line and lets the session drive the analyses that
 * have parts of a timeline (lib/analyses.def); how they look is in
 * timeline_print.c and timeline_bars.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmds/terminal.h"
#include "timeline.h"

#define NOT_GIVEN UINT64_MAX
#define WIDTH_MIN 20
#define WIDTH_MAX 1000
#define WIDTH_DEFAULT 80
/* From this width on the busy share follows each bar. */
#define WIDTH_SHARES 40

static struct {
	const char *input;
	struct opt_time from;
	struct opt_time to;
	uint64_t width;
	const char *ring;
	const char *gpu;
	uint64_t pid;
	bool latency_only;
	bool ascii;
	bool json;
	bool verbose;
} opt = {.width = NOT_GIVEN, .pid = NOT_GIVEN};

static const struct cmd_opt opts[] = {
	{"input", 'i', OPT_STR, "PATH", &opt.input, "the trace (default: ./" DEFAULT_INPUT ")"},
	{"latency-only", 'l', OPT_FLAG, NULL, &opt.latency_only,
	 "only latencies: no bars, gaps and overlaps"},
	{"from", 0, OPT_TIME, "T", &opt.from, "begin here: seconds, +T after the start, -T before the end"},
	{"to", 0, OPT_TIME, "T", &opt.to, "end here"},
	{"width", 'w', OPT_U64, "N", &opt.width,
	 "characters of a line, 20 to 1000 (default: the terminal's, else $COLUMNS, else 80)"},
	{"ring", 'r', OPT_STR, "RING", &opt.ring, "only jobs of this ring, by id or name"},
	READING_GPU_OPTION(&opt.gpu),
	{"pid", 'p', OPT_U64, "PID", &opt.pid, "only jobs of this process"},
	{"ascii", 'a', OPT_FLAG, NULL, &opt.ascii, "bars of ASCII characters (default: by the locale)"},
	{"json", 'j', OPT_FLAG, NULL, &opt.json, "one JSON object, plain integers in ns"},
	{"verbose", 'v', OPT_FLAG, NULL, &opt.verbose,
	 "more columns, and what became of the events by cause"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

/* Names are records of the trace: a ring has its name before a job of it is settled. */
static bool is_selected(const struct timeline *tl, const struct grt_job *job)
{
	const struct grt_names *names = tl->a.pass.names;
	const char *name;

	if (tl->by_pid && job->pid != tl->pid)
		return false;
	if (!tl->ring)
		return true;
	if (tl->ring_by_id)
		return job->ring == tl->ring_id;
	name = grt_names_name(names, grt_names_find(names, GRT_NAME_RING, job->ring));
	return name && !strcmp(name, tl->ring);
}

static bool timeline_wants(struct grt_analyses *a, const struct grt_job *job)
{
	struct timeline *tl = (struct timeline *)a;
	bool selected = is_selected(tl, job);

	tl->selected |= selected;
	return selected && (a->pass.whole || grt_job_touches(job, a->pass.first, a->pass.last));
}

static bool timeline_is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

static bool width_fits(uint64_t width)
{
	return width >= WIDTH_MIN && width <= WIDTH_MAX;
}

/* What is not the label, nor the share, nor the two bars around it is the bar. */
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

static int timeline_check_options(struct timeline *tl)
{
	char *end;

	if (opt.width != NOT_GIVEN && !width_fits(opt.width))
		return cmd_usage_error("--width %" PRIu64 ": from %d to %d", opt.width, WIDTH_MIN, WIDTH_MAX);
	if (opt.pid != NOT_GIVEN && opt.pid > UINT32_MAX)
		return cmd_usage_error("--pid %" PRIu64 ": process ids are smaller than that", opt.pid);
	if (opt.ring && !*opt.ring)
		return cmd_usage_error("--ring: empty");
	errno = 0;
	tl->ring_by_id = opt.ring && timeline_is_number(opt.ring);
	if (tl->ring_by_id)
		tl->ring_id = strtoull(opt.ring, &end, 10);
	if (errno)
		return cmd_usage_error("--ring %s: ring ids are smaller than that", opt.ring);
	return EXIT_DONE;
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
	if (!tl->latency_only)
		pass->columns = tl->look.columns;
	grt_analyses_want_all(&tl->a, tl->latency_only ? GRT_PART_LATENCY : GRT_PART_LATENCY | GRT_PART_BARS);
	if (grt_analyses_join(&tl->a) || grt_analyses_begin(&tl->a))
		return -ENOMEM;
	grt_analyses_consume(&tl->a);
	return 0;
}

static int nothing_selected(const struct timeline *tl)
{
	char what[64] = "";

	if (tl->by_pid)
		snprintf(what, sizeof(what), "--pid %" PRIu64 "%s", tl->pid, tl->ring ? ", " : "");
	return cmd_fail(EXIT_FAILED, NULL, "grtrace report --by ring PATH, or --by process",
			"%s: %s%s%s: the trace has no such job", tl->input, what, tl->ring ? "--ring " : "",
			tl->ring ? tl->ring : "");
}

/* Columns are filled while the trace is read, so what they span must be known before. */
static int timeline_set_span(struct timeline *tl)
{
	uint64_t first, last;
	int status = reading_span(tl->session, &opt.from, &opt.to, &tl->span);

	if (status != EXIT_DONE || tl->span.known)
		return status;
	if (grt_session_span(tl->session, &first, &last) != -ESPIPE) {
		tl->span.first = tl->span.last = 0;
		return EXIT_DONE;
	}
	tl->span.known = opt.from.set && opt.to.set;
	if (tl->span.known)
		return EXIT_DONE;
	return cmd_fail(EXIT_FAILED, "the begin and end of a pipe are unknown until it has been read",
			"cat PIPE > FILE, then grtrace timeline FILE; or both --from T and --to T",
			"%s: no timeline of a pipe", tl->input);
}

/* The whole trace is read, since a job that runs into the span began before it. */
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
	if (!done && (tl->ring || tl->by_pid) && !tl->selected)
		return ret < 0 ? reading_judge(tl->session, tl->input, 0, ret, &err) : nothing_selected(tl);
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
	ret = reading_gpu(tl->session, opt.gpu, false);
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
		.ring = opt.ring,
		.pid = opt.pid,
		.by_pid = opt.pid != NOT_GIVEN,
		.latency_only = opt.latency_only,
		.verbose = opt.verbose,
		.a.pass = {.whole = !opt.from.set && !opt.to.set, .json = opt.json},
	};
	int status = timeline_check_options(&tl);

	if (status != EXIT_DONE)
		return status;
	if (argc > 1 || (argc && opt.input))
		return cmd_usage_error("more than one trace: '%s'", argv[argc - 1]);
	if (!argc && !opt.input && access(DEFAULT_INPUT, F_OK))
		return cmd_fail(EXIT_FAILED, NULL, "grtrace record -- PROGRAM, or grtrace timeline PATH",
				"no ./" DEFAULT_INPUT " here");
	set_look(&tl.look);
	return run_path(&tl);
}

const struct cmd cmd_timeline = {
	.reads = true,
	.usage =
		"[PATH] [-i PATH] [--latency-only] [--from T] [--to T] [--width N] [--ring R] [--device GPU] [--pid P] [--json]",
	.opts = opts,
	.run = timeline_run,
	.json = &timeline_json,
};
