// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace report: where the time of the jobs of a trace went. Parses the command
 * line, selects the requested analyses from their rows (lib/analyses.def)
 * and runs a session over them; report_print.c writes their results.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kmod/kmod.h"
#include "table/counts.h"
#include "trace/packet.h"
#include "trace/session.h"
#include "cmds/cmd.h"
#include "report.h"
#include "report_incident.h"
#include "report_page.h"
#include "report_sass.h"

#define NOT_GIVEN UINT64_MAX

/* Rows of the job table if the command line does not say. */
#define TOP_SUMMARY 10
#define TOP_JOBS 20
#define TOP_WORST 10
/* Enough for 136 MiB of sorted jobs. */
#define TOP_MAX 1000000
/* Time between two reads of a live stream. */
#define LIVE_PERIOD_NS 100000000

/* The views of --by, in the order of their rows. */
static const char *view_name(unsigned int n)
{
	const struct grt_part *p = grt_part_next(NULL, GRT_PART_BY);

	while (p && n--)
		p = grt_part_next(p, GRT_PART_BY);
	return p ? p->name : NULL;
}

static struct {
	const char *input;
	const char *output;
	struct opt_word by;
	const char *sort;
	const char *step_range;
	uint64_t top;
	struct filter filter;
	double duration;
	double interval;
	bool path;
	bool incident;
	bool json;
	bool csv;
	bool verbose;
	bool wide;
} opt = {.by.word = view_name, .top = NOT_GIVEN};

static const struct cmd_opt opts[] = {
	{"input", 'i', OPT_STR, "PATH", &opt.input,
	 "recording, raw file or text, - for standard input (default: ./" DEFAULT_INPUT
	 ", else the live module)"},
	{"output", 'o', OPT_STR, "FILE", &opt.output, "write a page for a browser: FILE.html"},
	{"by", 'b', OPT_WORD, "WHAT", &opt.by, "show this table in place of the summary"},
	{"path", 0, OPT_FLAG, NULL, &opt.path, "show the critical path: short for --by path"},
	{"incident", 0, OPT_FLAG, NULL, &opt.incident,
	 "describe a black box's snapshot: its reason, the process, the job and its stack, what else ran"},
	{"sort", 's', OPT_STR, "KEY", &opt.sort,
	 "sort by this column; for jobs also time: the order of completion"},
	{"top", 't', OPT_U64, "N", &opt.top, "number of rows of the table, 0: all (jobs as text: 20)"},
	{"step-range", 0, OPT_STR, "NAME", &opt.step_range,
	 "use the NVTX ranges, or marks, of this name as steps (default: those that look like steps)"},
	FILTER_OPTIONS(opt.filter, 0),
	{"json", 'j', OPT_FLAG, NULL, &opt.json, "print one JSON object, times as integers in ns"},
	{"csv", 'c', OPT_FLAG, NULL, &opt.csv, "print the table of --by (default: job) as CSV"},
	{"duration", 'd', OPT_SECONDS, "SECONDS", &opt.duration, "live: end after this time"},
	{"interval", 'n', OPT_SECONDS, "SEC", &opt.interval,
	 "live: every SEC, report what happened since the last report"},
	{"verbose", 'v', OPT_FLAG, NULL, &opt.verbose,
	 "more columns, and counts of delivered and dropped events by cause and CPU"},
	TERMINAL_WIDE_OPTION(&opt.wide),
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

static int on_elsewhere(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct report *r = (struct report *)c;
	enum grt_class class = grt_class_of[e->type];

	r->elsewhere[class] += !opt.filter.f.beside;
	return r->besides[class] ? r->besides[class](c, e, cpu) : 0;
}

/* Events from before or after the requested time do not extend the span. */
static void set_busy_span(struct report *r, uint64_t first, uint64_t last)
{
	grt_analyses_span(&r->a, first, last);
}

/* Names are used whenever they were defined. */
static bool report_is_selected(const struct report *r, const struct grt_event *e)
{
	return e->type != GRT_EV_NAME || (e->time >= r->asked.from && e->time <= r->asked.to);
}

/* The begin of the span is known, because the streams are merged by time. */
static void begin_span(struct report *r, uint64_t first)
{
	r->span.known = true;
	r->span.first = grt_session_health(r->session)->before ? r->asked.from : first;
	set_busy_span(r, r->span.first, r->asked.to);
}

static int on_any_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct report *r = (struct report *)c;
	int ret = 0;

	if (report_is_selected(r, e))
		ret = grt_analyses_event(&r->a, e, GRT_CLASSES);
	/* A live stream may begin with events from before the start of this program. */
	if ((r->live || r->piped) && !r->span.known && e->type != GRT_EV_NAME)
		begin_span(r, e->time);
	if (r->piped && e->type != GRT_EV_NAME)
		r->span.last = e->time;
	return ret;
}

/* The summary counts the events of classes for which no analysis has a table. */
static void set_consumer(struct report *r)
{
	grt_analyses_consume(&r->a);
#define GRT_CLASS(name, help, see)                                                \
	if (!r->by && (see)[0] && !grt_analyses_shows(&r->a, GRT_CLASS_##name)) { \
		r->besides[GRT_CLASS_##name] = r->a.c.name;                       \
		r->a.c.name = on_elsewhere;                                       \
	}
#include <grtrace/classes.def>
#undef GRT_CLASS
	if (r->a.c.event || r->live)
		r->a.c.event = on_any_event;
}

static int report_no_memory(void)
{
	return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "the report");
}

static int report_set_span(struct report *r)
{
	uint64_t first, last;
	int status = reading_span(r->session, &opt.filter.from, &opt.filter.to, &r->span);

	/* the span of a pipe is known when it has been read */
	r->piped = grt_session_span(r->session, &first, &last) == -ESPIPE;
	if (r->piped)
		r->a.c.event = on_any_event;
	if (opt.filter.from.set)
		r->asked.from = r->span.first;
	if (opt.filter.to.set || grt_session_short(r->session))
		r->asked.to = r->span.last;
	return status;
}

/* A pipe may have no event in the time, but jobs that last through it. */
static void report_end_pipe(struct report *r)
{
	const struct grt_health *h = grt_session_health(r->session);

	if (!r->piped || !h->after)
		return;
	r->span.last = r->asked.to;
	if (!r->span.known && h->before)
		begin_span(r, r->asked.from);
}

static int run_recording(struct report *r)
{
	struct grt_err err = {.what = ""};
	int ret = 0, written;
	int status = report_set_span(r);

	if (status != EXIT_DONE)
		return status;
	grt_analyses_within(&r->a, r->asked.from, r->asked.to);
	if (r->span.known || r->piped)
		set_busy_span(r, r->piped ? r->asked.from : r->span.first,
			      r->piped ? r->asked.to : r->span.last);
	if (report_streams(r))
		ret = report_begin(r);
	if (ret)
		return report_no_memory();
	grt_session_whole(r->session);
	ret = grt_session_run(r->session, &r->a.c, r->asked.from, r->asked.to, &err);
	report_end_pipe(r);
	status = ret < 0 || report_streams(r) ? EXIT_DONE : filter_found(&opt.filter, r->input);
	if (status != EXIT_DONE)
		return status;
	/* for a GPU that does not exist, all tables would be empty */
	if (ret >= 0 && !report_streams(r) && grt_session_gpu_missing(r->session, &err))
		return cmd_error(EXIT_FAILED, &err);
	written = grt_analyses_finish(&r->a);
	if (r->fed)
		written = grt_fed_collect(r->fed, &r->a) ?: written;
	written = written ?: report_print(r);
	return reading_judge(r->session, r->input, reading_unread(r->session, r->live),
			     ret < 0 ? ret : written, &err);
}

static bool report_wants(struct grt_analyses *a, const struct grt_job *job)
{
	return grt_filter_wants_job(&opt.filter.f, a->pass.names, job->pid, job->tid, job->ring);
}

/* Other threads may work for these groups; this one reads and joins for all. */
static int report_divide(struct report *r)
{
	static const unsigned int turns[] = {GRT_ANALYSES_FIND | GRT_ANALYSES_ALONE, GRT_ANALYSES_JOBS};
	int ret = grt_fed_new(&r->fed, r->threads - 1);

	for (unsigned int i = 0; i < sizeof(turns) / sizeof(turns[0]) && !ret; i++)
		ret = grt_fed_take(r->fed, &r->a, turns[i]);
	return ret;
}

static int report_begin_analyses(struct report *r)
{
	r->a.pass.filter = grt_filter_any(&opt.filter.f) ? &opt.filter.f : NULL;
	r->a.wants = r->a.pass.filter ? report_wants : NULL;
	r->a.pass.notes = &r->notes;
	r->a.pass.health = &r->health;
	if (r->threads > 1 && report_divide(r))
		return -ENOMEM;
	if (grt_analyses_join(&r->a))
		return -ENOMEM;
	if (grt_analyses_begin(&r->a))
		return -ENOMEM;
	set_consumer(r);
	return 0;
}

/* Names from before a report are repeated in it, as in the packets of a recording. */
static int report_take_name(void *arg, const struct grt_event *e)
{
	struct report *r = arg;

	return r->a.c.name(&r->a.c, e, 0);
}

/* The next report only covers what comes from now on. What was read of open packets belongs to this one. */
static int report_begin_again(struct report *r)
{
	struct grt_analyses a = {.pass = r->a.pass};
	struct grt_jobs *before = r->a.jobs;
	int ret;

	memcpy(a.parts, r->a.parts, sizeof(a.parts));
	memcpy(a.on, r->a.on, sizeof(a.on));
	a.pass.jobs_seen = 0;
	r->a.jobs = NULL;
	grt_analyses_free(&r->a);
	r->a = a;
	memset(r->elsewhere, 0, sizeof(r->elsewhere));
	r->before = *grt_session_health(r->session);
	r->before.balance.emitted -= reading_unread(r->session, r->live);
	r->before.balance.fate[GRT_FATE_DELIVERED] -= reading_unread(r->session, r->live);
	report_look(r);
	ret = report_begin_analyses(r) ?: grt_names_each(grt_jobs_names(before), report_take_name, r);
	grt_jobs_free(before);
	r->span = (struct reading_span){.first = r->span.last, .last = r->span.last, .known = true};
	set_busy_span(r, r->span.first, r->asked.to);
	return ret;
}

/* Reads until -d, Ctrl-C or the end of the streams. Return: as grt_session_run_live() */
static int report_pump(struct report *r, struct kmod *k, struct grt_err *err)
{
	const struct timespec period = {.tv_nsec = LIVE_PERIOD_NS};
	uint64_t begun = grt_now(), step = (uint64_t)(opt.interval * 1e9),
		 next = step ? begun + step : UINT64_MAX;
	uint64_t end = opt.duration > 0 ? begun + (uint64_t)(opt.duration * 1e9) : UINT64_MAX;
	bool last = false;
	int ret;

	for (;;) {
		last = cmd_signal || grt_now() >= end;
		ret = (last ? kmod_live_end : kmod_live_pump)(k, r->session, &r->a.c, err);
		r->span.last = k->read_to;
		if (ret <= 0 || last)
			return ret;
		if (grt_now() >= next) {
			next += step;
			ret = grt_analyses_finish(&r->a) ?: report_print(r) ?: report_begin_again(r);
			fflush(stdout);
		}
		if (ret < 0)
			return ret;
		nanosleep(&period, NULL);
	}
}

static int report_run_live(struct report *r, struct kmod *k)
{
	struct grt_err err = {.what = ""};
	int ret = 0, written;

	cmd_catch_signals();
	if (isatty(STDERR_FILENO))
		fputs("grtrace report: reading the live module; Ctrl-C ends and prints\n", stderr);
	if (report_streams(r))
		ret = report_begin(r);
	if (ret)
		return report_no_memory();
	ret = report_pump(r, k, &err);
	written = grt_analyses_finish(&r->a) ?: report_print(r);
	return reading_judge(r->session, r->input, reading_unread(r->session, r->live),
			     ret < 0 ? ret : written, &err);
}

static int no_view(const char *word)
{
	struct cmd_guess best = {0};
	char all[1024];

	for (unsigned int n = 0; view_name(n); n++)
		cmd_nearest(&best, word, view_name(n));
	if (best.name)
		return cmd_usage_error("--by %s: unknown (did you mean %s?)", word, best.name);
	return cmd_usage_error("--by %s: unknown; there are %s", word,
			       cmd_words(view_name, all, sizeof(all)));
}

/* The parts for which a page has room besides the summary. */
static void report_want_more(struct report *r)
{
	static const char *const more[] = {"thread", "frame", "step",	"rank",	   "wait",
					   "path",   "stall", "source", "roofline"};
	const struct grt_part *part;

	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		if ((part = grt_part_find(more[i], GRT_PART_BY)))
			grt_analyses_want(&r->a, part);
}

/*
 * Adds the parts that belong to the requested one. Parts that this form of the report does not show are not
 * computed.
 */
static void report_want_with(struct report *r)
{
	bool all = opt.verbose || opt.json || opt.output;
	const struct grt_part *part = r->by;

	while (part->with && (part = grt_part_find(part->with, ~0U)))
		if (all || !(part->where & GRT_PART_LONG))
			grt_analyses_want(&r->a, part);
}

/* Selects the parts: with CSV one table, otherwise also the parts that belong to it. */
static int set_view(struct report *r)
{
	const char *by = opt.by.value ?: opt.path ? "path" : opt.csv ? "job" : NULL;

	if (opt.path && opt.by.value && strcmp(opt.by.value, "path"))
		return cmd_usage_error("--path means --by path, which --by %s contradicts", opt.by.value);
	r->by = by ? grt_part_find(by, GRT_PART_BY) : NULL;
	if (by && !r->by)
		return no_view(by);
	r->a.pass.asked = r->by ? r->by : grt_part_find("job", GRT_PART_BY);
	r->a.pass.summary = !r->by;
	grt_analyses_always(&r->a);
	if (!r->by)
		grt_analyses_want_all(&r->a, GRT_PART_SUMMARY);
	else
		grt_analyses_want(&r->a, r->by);
	if (r->by && !opt.csv)
		report_want_with(r);
	if (opt.verbose)
		grt_analyses_want_all(&r->a, GRT_PART_VERBOSE);
	if (r->page && !r->by)
		report_want_more(r);
	return EXIT_DONE;
}

/* Jobs in the order of their completion are written while the trace is read. */
static int set_sort(struct report *r)
{
	const struct grt_table *table = r->a.pass.asked->table;
	bool of_jobs = r->a.pass.asked == grt_part_find("job", GRT_PART_BY);
	const char *sort = opt.sort || r->by ? opt.sort : "t_exec";
	struct cmd_guess best = {0};
	char all[400] = "";
	size_t used = 0;

	if (of_jobs && r->by && sort && !strcmp(sort, "time"))
		sort = NULL;
	r->a.pass.sort = sort ? grt_column_find(table, sort) : NULL;
	r->a.pass.streams = of_jobs && !sort;
	if (!sort || r->a.pass.sort)
		return EXIT_DONE;
	for (const struct grt_column *c = table->columns; c->name; c++)
		cmd_nearest(&best, opt.sort, c->name);
	if (best.name)
		return cmd_usage_error("--sort %s: the table of %s has no such column (did you mean %s?)",
				       opt.sort, table->name, best.name);
	for (const struct grt_column *c = table->columns; c->name; c++)
		used += (size_t)snprintf(all + used, used < sizeof(all) ? sizeof(all) - used : 0, "%s%s",
					 used ? ", " : "", c->name);
	return cmd_usage_error("--sort %s: the table of %s has no such column; there are %s%s", opt.sort,
			       table->name, all, used < sizeof(all) ? "" : "...");
}

static int set_top(struct report *r)
{
	struct grt_pass *pass = &r->a.pass;
	bool of_jobs = pass->asked == grt_part_find("job", GRT_PART_BY);
	uint64_t top = !r->by ? TOP_SUMMARY : pass->sort || !(opt.json || opt.csv) ? TOP_JOBS : 0;

	if (!of_jobs)
		top = r->by && r->by->where & GRT_PART_WORST && !opt.json && !opt.csv ? TOP_WORST : 0;
	pass->top = opt.top != NOT_GIVEN ? opt.top : top;
	if (!of_jobs || !pass->sort)
		return EXIT_DONE;
	if (!pass->top)
		return cmd_usage_error("--top 0 needs --by job --sort time: only that order needs no memory");
	if (pass->top > TOP_MAX)
		return cmd_usage_error("--top %" PRIu64 ": at most %d sorted jobs", pass->top, TOP_MAX);
	return EXIT_DONE;
}

/* A filter selects jobs when they are joined; if nothing is joined, it selects events. */
static int set_filter(struct report *r)
{
	bool by_type = r->by && r->by->table == &grt_type_table;

	opt.filter.f.joins = !by_type;
	opt.filter.f.strict = by_type;
	return filter_check(
		&opt.filter, by_type ? 0 : FILTER_TYPE,
		"jobs, threads and kernels are joined from events of several types; only --by type accepts it");
}

static int report_check_options(struct report *r)
{
	int status;

	if (opt.json && opt.csv)
		return cmd_usage_error("--json and --csv exclude each other");
	if (opt.output && (opt.json || opt.csv))
		return cmd_usage_error("-o writes a page: for --json and --csv use > FILE");
	if (opt.step_range && !*opt.step_range)
		return cmd_usage_error(
			"--step-range '': give the name of a range; report --by range lists them");
	if (opt.step_range && opt.by.value && strcmp(opt.by.value, "step") && strcmp(opt.by.value, "rank"))
		return cmd_usage_error(
			"--step-range works only with --by step and --by rank, not with --by %s",
			opt.by.value);
	if (opt.incident && (opt.json || opt.csv || opt.output || opt.by.value || opt.path))
		return cmd_usage_error("--incident prints text only: no other format or table works with it");
	status = set_view(r);
	if (status == EXIT_DONE)
		status = set_filter(r);
	if (status == EXIT_DONE)
		status = set_sort(r);
	if (status == EXIT_DONE)
		status = set_top(r);
	return status;
}

static void end_analyses(struct report *r)
{
	grt_writer_free(r->a.pass.writer);
	grt_analyses_free(&r->a);
	grt_fed_free(r->fed);
	grt_session_close(r->session);
}

static int report_recording(struct report *r, const char *path)
{
	struct grt_err err;
	int ret;

	if (opt.duration > 0 || opt.interval > 0)
		return cmd_usage_error(
			"-d and -n work only on the live module: use --from and --to with a recording");
	ret = grt_session_open(&r->session, path, &err);
	if (ret)
		return cmd_error(cmd_open_status(ret), &err);
	terminal_page();
	r->input = path;
	if (filter_session(&opt.filter, r->session, false) != EXIT_DONE)
		return EXIT_FAILED;
	/* one thread must write rows that are written while the trace is read */
	if (!report_streams(r))
		r->threads = beside_threads(r->session, path, &opt.filter);
	return report_begin_analyses(r) ? report_no_memory() : run_recording(r);
}

/* The tables come first, as in JSON, and then the page with the rest, once they are complete. */
static int report_page(struct report *r, const char *path)
{
	int status = report_page_usage(opt.output, path), written;
	size_t length = 0;
	char *tables = NULL;

	if (status != EXIT_DONE)
		return status;
	r->out = open_memstream(&tables, &length);
	if (!r->out || grt_lanes_new(&r->lanes))
		return report_no_memory();
	r->idle = grt_lanes_idle(r->lanes);
	r->a.pass.idle = &r->idle;
	status = report_recording(r, path);
	fclose(r->out);
	r->out = NULL;
	/* if a trace has a fault, everything before it is shown */
	if (status == EXIT_DONE || r->a.pass.jobs_seen) {
		written = report_page_write(r, opt.output, tables, length, opt.filter.gpu);
		status = status != EXIT_DONE ? status : written;
	}
	grt_lanes_free(r->lanes);
	free(tables);
	return status;
}

static int no_input(int ret, const struct grt_err *live)
{
	if (ret != -ENODEV && ret != -ENOENT && ret != -EACCES && ret != -EPERM)
		return cmd_error(kmod_exit_status(ret), live);
	return cmd_no_input(DEFAULT_INPUT, ret);
}

static int report_live(struct report *r)
{
	struct kmod k = {.dir = -1};
	struct grt_err err;
	int ret, status;

	r->live = true;
	ret = kmod_open(&k, &err);
	if (ret)
		return no_input(ret, &err);
	if (opt.filter.from.set || opt.filter.to.set)
		status = cmd_usage_error(
			"--from and --to work only with recordings: use -d and -n on the live module");
	else if (opt.interval > 0 && report_streams(r))
		status = cmd_usage_error(
			"-n repeats tables of sums, but --by job --sort time prints jobs as they complete");
	else if ((ret = kmod_live_session(&k, &r->session, &err)))
		status = cmd_error(kmod_exit_status(ret), &err);
	else if ((status = filter_session(&opt.filter, r->session, true)) == EXIT_DONE)
		status = report_begin_analyses(r) ? report_no_memory() : report_run_live(r, &k);
	grt_session_close(r->session);
	r->session = NULL;
	kmod_close(&k);
	return status;
}

static int report_run(int argc, char **argv)
{
	const char *path = opt.input ? opt.input : argc ? argv[0] : NULL;
	struct report r = {
		.input = "live module",
		.a.pass = {.json = opt.json || opt.output,
			   .page = opt.output,
			   .csv = opt.csv,
			   .step_range = opt.step_range,
			   .verbose = opt.verbose},
		.out = stdout,
		.page = opt.output,
		.verbose = opt.verbose,
		.wide = opt.wide,
		.asked = {0, UINT64_MAX},
		.filtered = opt.filter.pid || opt.filter.comm || opt.filter.ring,
		.narrowed = opt.filter.from.set || opt.filter.to.set,
	};
	int status = report_check_options(&r);
	struct report_sass sass;

	if (status != EXIT_DONE)
		return status;
	if (argc > 1 || (argc && opt.input))
		return cmd_usage_error("more than one trace: '%s'", argv[argc - 1]);
	if (!path && !access(DEFAULT_INPUT, F_OK))
		path = DEFAULT_INPUT;
	sass = (struct report_sass){.path = path, .sass = {report_sass_open, report_sass_close, &sass}};
	if (path)
		r.a.pass.sass = &sass.sass;
	if (opt.incident)
		status = path ? report_incident(path)
			      : cmd_usage_error("--incident needs the path of a snapshot");
	else
		status = opt.output ? report_page(&r, path)
			 : path	    ? report_recording(&r, path)
				    : report_live(&r);
	end_analyses(&r);
	filter_free(&opt.filter);
	return status;
}

const struct cmd cmd_report = {
	.reads = true,
	.usage =
		"[PATH] [-i PATH] [--by WHAT|--path] [--sort KEY] [--top N] [--from T] [--to T] [--device GPU] [--pid PID] [--comm NAME] [--ring R] [--json|--csv|-o FILE.html]",
	.opts = opts,
	.run = report_run,
	.json = &report_json,
};
