// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace report: where the time of the jobs of a trace went. Takes the command
 * line, sets up the analyses that it needs and lets a session drive them. What
 * is concluded from events stands in lib/analysis, what is written in
 * report_print.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../sources/kmod.h"
#include "trace/packet.h"
#include "report.h"

#define NOT_GIVEN UINT64_MAX

/* Rows of the job table where the command line does not say. */
#define TOP_SUMMARY 10
#define TOP_JOBS 20
/* 136 MiB of sorted jobs. */
#define TOP_MAX 1000000
/* Between two looks at a live stream. */
#define LIVE_PERIOD_NS 100000000

static struct {
	const char *input;
	const char *by;
	const char *gpu;
	const char *sort;
	uint64_t top;
	struct opt_time from;
	struct opt_time to;
	double duration;
	double interval;
	bool json;
	bool csv;
	bool verbose;
} opt = {.top = NOT_GIVEN};

static const struct cmd_opt opts[] = {
	{"input", 'i', OPT_STR, "PATH", &opt.input,
	 "recording, raw file or text, - for standard input (default: ./" DEFAULT_INPUT
	 ", else the live module)"},
	{"by", 'b', OPT_STR, "WHAT", &opt.by,
	 "job, ring, process, engine, type, tsg or thread; of CUDA kernel, stack, stream, device or copy (default: a summary)"},
	{"sort", 's', OPT_STR, "KEY", &opt.sort,
	 "a column; jobs also time, the order in which they completed"},
	{"top", 't', OPT_U64, "N", &opt.top, "rows of the table asked for, 0: all (jobs as text: 20)"},
	{"from", 0, OPT_TIME, "T", &opt.from,
	 "only events from here: seconds, +T after the start, -T before the end"},
	{"to", 0, OPT_TIME, "T", &opt.to, "only events up to here"},
	READING_GPU_OPTION(&opt.gpu),
	{"json", 'j', OPT_FLAG, NULL, &opt.json, "one JSON object, plain integers in ns"},
	{"csv", 'c', OPT_FLAG, NULL, &opt.csv, "the table of --by (job) as CSV"},
	{"duration", 'd', OPT_SECONDS, "SECONDS", &opt.duration, "live: end after this time"},
	{"interval", 'n', OPT_SECONDS, "SEC", &opt.interval, "live: print what there is every SEC"},
	{"verbose", 'v', OPT_FLAG, NULL, &opt.verbose, "more columns, and the balance of each CPU"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

#define RINGS (1U << GRT_BY_RING)
#define ENGINES (1U << GRT_BY_ENGINE)
#define PROCESSES (1U << GRT_BY_PROCESS)

#define NO_LAUNCHES GRT_LAUNCH_BYS

static const struct view summary = {NULL,  RINGS | PROCESSES,	 GRT_BYS, true, false,
				    false, GRT_LAUNCH_BY_KERNEL, false};
static const struct view views[] = {
	{"job", RINGS, GRT_BYS, true, false, false, NO_LAUNCHES, false},
	{"ring", RINGS, GRT_BY_RING, false, false, false, NO_LAUNCHES, false},
	{"process", PROCESSES, GRT_BY_PROCESS, false, false, false, NO_LAUNCHES, false},
	{"engine", ENGINES, GRT_BY_ENGINE, false, false, false, NO_LAUNCHES, false},
	{"type", 0, GRT_BYS, false, true, false, NO_LAUNCHES, false},
	{"tsg", 0, GRT_BYS, false, false, true, NO_LAUNCHES, false},
	{"thread", 0, GRT_BYS, false, false, false, NO_LAUNCHES, true},
	{"kernel", 0, GRT_BYS, false, false, false, GRT_LAUNCH_BY_KERNEL, false},
	{"stack", 0, GRT_BYS, false, false, false, GRT_LAUNCH_BY_STACK, false},
	{"stream", 0, GRT_BYS, false, false, false, GRT_LAUNCH_BY_STREAM, false},
	{"device", 0, GRT_BYS, false, false, false, GRT_LAUNCH_BY_DEVICE, false},
	{"copy", 0, GRT_BYS, false, false, false, GRT_LAUNCH_BY_COPY, false},
};
#define VIEWS (sizeof(views) / sizeof(views[0]))

static int on_held(void *arg, const struct grt_job *job)
{
	return grt_groups_held(((struct report *)arg)->groups, job);
}

static int on_job(void *arg, const struct grt_job *job)
{
	struct report *r = arg;
	int ret = grt_groups_job(r->groups, job);

	if (r->top && !ret)
		ret = grt_top_add(r->top, job);
	else if (r->view->jobs && !ret && (!r->job_top || r->jobs_seen < r->job_top))
		ret = grt_writer_row(r->writer, job);
	r->jobs_seen++;
	return ret;
}

static int on_stray(void *arg, const struct grt_event *e)
{
	struct report *r = arg;

	return grt_groups_stray(r->groups, e,
				grt_names_find(grt_jobs_names(r->jobs), GRT_NAME_THREAD, e->tid));
}

static int on_join_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	(void)cpu;
	return grt_jobs_event(((struct report *)c)->jobs, e);
}

static int on_counter(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	(void)cpu;
	return grt_counters_event(&((struct report *)c)->counters, e);
}

static int on_aggregate(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	(void)cpu;
	return grt_aggregates_event(&((struct report *)c)->aggregates, e);
}

static int on_tsg(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	(void)cpu;
	return grt_tsgs_event(&((struct report *)c)->tsgs, e, grt_jobs_names(((struct report *)c)->jobs));
}

static int on_launched(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	(void)cpu;
	return grt_launch_groups_event(((struct report *)c)->launched, e);
}

static int on_thread(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	(void)cpu;
	return grt_threads_event(((struct report *)c)->threads, e);
}

static int on_elsewhere(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	(void)cpu;
	((struct report *)c)->elsewhere[grt_class_of[e->type]]++;
	return 0;
}

/* Both need the names. */
static int on_thread_name(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	int ret = on_thread(c, e, cpu);

	return ret ? ret : on_join_event(c, e, cpu);
}

/* Records of what was before or is after the time looked at are no part of it. */
static void set_busy_span(struct report *r, uint64_t first, uint64_t last)
{
	grt_groups_span(r->groups, first, last);
	if (r->launched)
		grt_launch_groups_span(r->launched, first, last);
}

/* Names are told of whenever they are from. */
static bool is_asked_for(const struct report *r, const struct grt_event *e)
{
	return e->type != GRT_EV_NAME || (e->time >= r->asked.from && e->time <= r->asked.to);
}

/* What lies before the first event handed out is known: the merge is by time. */
static void begin_span(struct report *r, uint64_t first)
{
	r->span.known = true;
	r->span.first = grt_session_health(r->session)->before ? r->asked.from : first;
	set_busy_span(r, r->span.first, r->asked.to);
}

static int on_any_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct report *r = (struct report *)c;

	(void)cpu;
	if (r->view->types && is_asked_for(r, e))
		grt_counts_event(r->counts, e);
	/* What a live stream begins with may be older than this program. */
	if ((r->live || r->piped) && !r->span.known && e->type != GRT_EV_NAME)
		begin_span(r, e->time);
	if (r->piped && e->type != GRT_EV_NAME)
		r->span.last = e->time;
	return 0;
}

static int on_packet(struct grt_consumer *c, const struct grt_packet *p)
{
	grt_counts_packet(((struct report *)c)->counts, p);
	return 0;
}

static void set_consumer(struct report *r)
{
	r->c = (struct grt_consumer){
		.job = on_join_event,
		.wait = on_join_event,
		.error = on_join_event,
		.command = on_join_event,
		.name = on_join_event,
		.counter = on_counter,
		.aggregate = on_aggregate,
	};
	if (!r->view->name)
		r->c.call = r->c.tsg = r->c.thread = r->c.xid = r->c.mem = r->c.vblank = r->c.log =
			on_elsewhere;
	if (r->view->tsgs)
		r->c.tsg = on_tsg;
	if (r->launched)
		r->c.image = r->c.launch = r->c.beyond = r->c.late = on_launched;
	if (r->threads) {
		r->c.thread = r->c.image = r->c.launch = r->c.beyond = on_thread;
		r->c.name = on_thread_name;
	}
	if (r->view->types || r->live)
		r->c.event = on_any_event;
	if (r->verbose)
		r->c.packet = on_packet;
}

static int no_memory(void)
{
	return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "the report");
}

static int set_span(struct report *r)
{
	uint64_t first, last;
	int status = reading_span(r->session, &opt.from, &opt.to, &r->span);

	/* what a pipe spans shows when it has been read */
	r->piped = grt_session_span(r->session, &first, &last) == -ESPIPE;
	if (r->piped)
		r->c.event = on_any_event;
	if (opt.from.set)
		r->asked.from = r->span.first;
	if (opt.to.set)
		r->asked.to = r->span.last;
	return status;
}

static int run_recording(struct report *r)
{
	struct grt_err err = {.what = ""};
	int ret = 0, written;
	int status = set_span(r);

	if (status != EXIT_DONE)
		return status;
	if (r->threads && opt.from.set)
		grt_threads_from(r->threads, r->asked.from);
	if (r->launched)
		grt_launch_groups_within(r->launched, r->asked.from, r->asked.to);
	if (r->span.known)
		set_busy_span(r, r->span.first, r->span.last);
	if (report_streams(r))
		ret = report_begin(r);
	if (ret)
		return no_memory();
	ret = grt_session_run(r->session, &r->c, r->asked.from, r->asked.to, &err);
	if (r->piped && grt_session_health(r->session)->after)
		r->span.last = r->asked.to;
	written = grt_jobs_flush(r->jobs) ?: report_print(r);
	return reading_judge(r->session, r->input, report_unread(r), ret < 0 ? ret : written, &err);
}

/* Reads until -d, Ctrl-C or the end of the streams. Return: as grt_session_run_live() */
static int pump(struct report *r, struct kmod *k, struct grt_err *err)
{
	const struct timespec period = {.tv_nsec = LIVE_PERIOD_NS};
	uint64_t begun = grt_now(), step = (uint64_t)(opt.interval * 1e9),
		 next = step ? begun + step : UINT64_MAX;
	uint64_t end = opt.duration > 0 ? begun + (uint64_t)(opt.duration * 1e9) : UINT64_MAX;
	bool last = false;
	int ret;

	for (;;) {
		last = cmd_signal || grt_now() >= end;
		r->span.last = grt_now();
		ret = (last ? kmod_live_end : kmod_live_pump)(k, r->session, &r->c, err);
		if (ret <= 0 || last)
			return ret;
		if (grt_now() >= next) {
			next += step;
			ret = report_print(r);
			fflush(stdout);
		}
		if (ret < 0)
			return ret;
		nanosleep(&period, NULL);
	}
}

static int run_live(struct report *r, struct kmod *k)
{
	struct grt_err err = {.what = ""};
	int ret = 0, written;

	cmd_catch_signals();
	if (isatty(STDERR_FILENO))
		fputs("grtrace report: reading the live module; Ctrl-C ends and prints\n", stderr);
	if (report_streams(r))
		ret = report_begin(r);
	if (ret)
		return no_memory();
	ret = pump(r, k, &err);
	written = grt_jobs_flush(r->jobs) ?: report_print(r);
	return reading_judge(r->session, r->input, report_unread(r), ret < 0 ? ret : written, &err);
}

static int set_view(struct report *r)
{
	struct cmd_guess best = {0};

	r->view = opt.csv ? &views[0] : &summary;
	if (!opt.by)
		return EXIT_DONE;
	for (unsigned int i = 0; i < VIEWS; i++) {
		if (!strcmp(views[i].name, opt.by)) {
			r->view = &views[i];
			return EXIT_DONE;
		}
		cmd_nearest(&best, opt.by, views[i].name);
	}
	if (best.name)
		return cmd_usage_error("--by %s: unknown (did you mean %s?)", opt.by, best.name);
	return cmd_usage_error(
		"--by %s: unknown; there are job, ring, process, engine, type, tsg, thread, kernel, stack, stream, device, copy",
		opt.by);
}

static const struct grt_table *sorted_table(const struct report *r)
{
	if (r->view->types)
		return &grt_type_table;
	if (r->view->tsgs)
		return &grt_tsg_table;
	if (r->view->threads)
		return &grt_thread_table;
	if (r->view != &summary && r->view->launched != NO_LAUNCHES)
		return &grt_launch_table[r->view->launched];
	return r->view->own == GRT_BYS ? &grt_job_table : &grt_group_table[r->view->own];
}

static int set_sort(struct report *r)
{
	const struct grt_table *table = sorted_table(r);
	const struct grt_column *sort = opt.sort ? grt_column_find(table, opt.sort) : NULL;
	struct cmd_guess best = {0};

	if (table == &grt_job_table && opt.sort && !strcmp(opt.sort, "time") && r->view != &summary)
		return EXIT_DONE;
	if (!opt.sort) {
		if (r->view == &summary)
			r->job_sort = grt_column_find(table, "t_exec");
		return EXIT_DONE;
	}
	if (sort) {
		*(table == &grt_job_table ? &r->job_sort : &r->group_sort) = sort;
		return EXIT_DONE;
	}
	for (const struct grt_column *c = table->columns; c->name; c++)
		cmd_nearest(&best, opt.sort, c->name);
	return cmd_usage_error("--sort %s: the table of %s has no such column%s%s%s", opt.sort, table->name,
			       best.name ? " (did you mean " : "", best.name ? best.name : "",
			       best.name ? "?)" : "");
}

static int set_top(struct report *r)
{
	uint64_t top = r->view == &summary		       ? TOP_SUMMARY
		       : r->job_sort || !(opt.json || opt.csv) ? TOP_JOBS
							       : 0;

	r->job_top = opt.top == NOT_GIVEN ? top : opt.top;
	r->group_top = opt.top == NOT_GIVEN ? 0 : opt.top;
	if (!r->view->jobs || !r->job_sort)
		return EXIT_DONE;
	if (!r->job_top)
		return cmd_usage_error("--top 0 needs --by job --sort time: only that order needs no memory");
	if (r->job_top > TOP_MAX)
		return cmd_usage_error("--top %" PRIu64 ": at most %d sorted jobs", r->job_top, TOP_MAX);
	return EXIT_DONE;
}

static int check_options(struct report *r)
{
	int status;

	if (opt.json && opt.csv)
		return cmd_usage_error("--json and --csv exclude each other");
	status = set_view(r);
	if (status == EXIT_DONE)
		status = set_sort(r);
	if (status == EXIT_DONE)
		status = set_top(r);
	return status;
}

static int begin_analyses(struct report *r)
{
	const struct grt_jobs_sink sink = {
		.held = on_held,
		.job = on_job,
		.stray = on_stray,
		.arg = r,
	};

	if (grt_groups_new(&r->groups, r->view->groups) || grt_jobs_new(&r->jobs, &sink, NULL))
		return -ENOMEM;
	r->job_view.names = grt_jobs_names(r->jobs);
	grt_counters_init(&r->counters, r->job_view.names);
	grt_aggregates_init(&r->aggregates);
	grt_tsgs_init(&r->tsgs);
	if (r->view->launched != NO_LAUNCHES && grt_launch_groups_new(&r->launched, r->view->launched))
		return -ENOMEM;
	if (r->view->threads && grt_threads_new(&r->threads, NULL))
		return -ENOMEM;
	if (r->job_sort && grt_top_new(&r->top, r->job_sort, &r->job_view, r->job_top))
		return -ENOMEM;
	if (r->verbose || r->view->types)
		r->counts = calloc(1, sizeof(*r->counts));
	if ((r->verbose || r->view->types) && !r->counts)
		return -ENOMEM;
	set_consumer(r);
	return 0;
}

static void end_analyses(struct report *r)
{
	grt_writer_free(r->writer);
	grt_top_free(r->top);
	grt_jobs_free(r->jobs);
	grt_groups_free(r->groups);
	grt_counters_free(&r->counters);
	grt_aggregates_free(&r->aggregates);
	grt_tsgs_free(&r->tsgs);
	grt_launch_groups_free(r->launched);
	grt_threads_free(r->threads);
	free(r->counts);
	grt_session_close(r->session);
}

static int report_recording(struct report *r, const char *path)
{
	struct grt_err err;
	int ret;

	if (opt.duration > 0 || opt.interval > 0)
		return cmd_usage_error("-d and -n are for the live module; a recording has --from and --to");
	ret = grt_session_open(&r->session, path, &err);
	if (ret)
		return cmd_error(cmd_open_status(ret), &err);
	r->input = path;
	if (reading_gpu(r->session, opt.gpu, false) != EXIT_DONE)
		return EXIT_FAILED;
	return begin_analyses(r) ? no_memory() : run_recording(r);
}

static int no_input(int ret, const struct grt_err *live)
{
	if (ret != -ENODEV && ret != -ENOENT)
		return cmd_error(kmod_exit_status(ret), live);
	return cmd_no_input(DEFAULT_INPUT);
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
	if (opt.from.set || opt.to.set)
		status = cmd_usage_error("--from and --to are for recordings; live has -d and -n");
	else if (opt.interval > 0 && report_streams(r))
		status = cmd_usage_error(
			"-n repeats what is summed up; jobs in the order of time stream anyway");
	else if ((ret = kmod_live_session(&k, &r->session, &err)))
		status = cmd_error(kmod_exit_status(ret), &err);
	else if ((status = reading_gpu(r->session, opt.gpu, true)) == EXIT_DONE)
		status = begin_analyses(r) ? no_memory() : run_live(r, &k);
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
		.json = opt.json,
		.csv = opt.csv,
		.verbose = opt.verbose,
		.asked = {0, UINT64_MAX},
		.narrowed = opt.from.set || opt.to.set,
	};
	int status = check_options(&r);

	if (status != EXIT_DONE)
		return status;
	if (argc > 1 || (argc && opt.input))
		return cmd_usage_error("more than one trace: '%s'", argv[argc - 1]);
	if (!path && !access(DEFAULT_INPUT, F_OK))
		path = DEFAULT_INPUT;
	status = path ? report_recording(&r, path) : report_live(&r);
	end_analyses(&r);
	return status;
}

const struct cmd cmd_report = {
	.reads = true,
	.usage =
		"[PATH] [-i PATH] [--by WHAT] [--sort KEY] [--top N] [--from T] [--to T] [--device GPU] [--json|--csv]",
	.opts = opts,
	.run = report_run,
};
