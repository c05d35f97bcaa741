// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace monitor: events as they happen, one line each, and statistics at the end. This file parses the
 * command line, opens sources or a recording, and passes the requested events to the analyses and to the
 * line printer. The monitors are rows of monitors.def.
 */
#include "monitor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memfile.h"
#include "cmds/reading.h"
#include "cmds/live.h"
#include "cmds/report/report_print.h"
#include "cmds/cmd.h"
#include "host/tracefs.h"
#include "kmod/kmod.h"
#include "sources/source.h"
#include "table/rows.h"
#include "trace/job_record.h"
#include "trace/packet.h"
#include "trace/session.h"

/* --------------------------------------------------------- monitor stats */

/*
 * The statistics at the end of `grtrace monitor`: selects the parts of the analyses, and adds which events
 * were lost. The writer formats the values.
 */

/* Head and end */

static bool has_events(const struct monitor *m, const struct grt_part *part, const void *state)
{
	if (part->any)
		return part->any(state);
	for (const uint16_t *type = part->types; *type; type++)
		if (m->seen[*type])
			return true;
	return false;
}

/* A monitor of one driver or subject shows its tables even if they are empty. */
static bool monitor_stats_is_shown(void *arg, const struct grt_part *part, const void *state)
{
	const struct monitor *m = arg;

	return m->row->sources[0] || has_events(m, part, state);
}

static void write_head(struct monitor *m)
{
	const struct reading_span span = {m->first, m->last, m->known};
	struct grt_fields f = {.n = 0};

	grt_field_add(&f, "monitor", GRT_CELL_TEXT, (struct grt_cell){.text = m->row->name}, NULL);
	reading_recording(&f, m->session, m->input);
	reading_span_fields(&f, &span);
	grt_field_number(&f, "events", m->seen[0], NULL);
	grt_fields_write(&f, m->a.pass.writer, "run", "statistics");
}

static const struct grt_column lost_columns[] = {
	{"cpu", grt_row_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "CPU"},
	{"lost", grt_row_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "events lost because the buffer was full"},
	{.name = NULL},
};
static const struct grt_table lost_table = {"lost_by_cpu", "events lost, by CPU", lost_columns, 0};
static const struct grt_table run_pairs = {"run", "statistics", NULL, GRT_TABLE_PAIRS};

const struct cmd_json monitor_json = {
	.title = "the last line of grtrace monitor --json; those before it are events",
	.tables = GRT_TABLES(&run_pairs, &lost_table, &reading_health_pairs, &reading_balance_pairs),
	.parts = GRT_PART_MONITOR,
};

static int write_lost(struct monitor *m)
{
	uint64_t all = 0;
	int ret = 0;

	for (uint32_t i = 0; i < GRT_COUNTS_CPUS; i++)
		all += m->counts->cpu[i].balance.fate[GRT_FATE_LOST];
	if (!all && !m->json)
		return 0;
	grt_writer_table(m->a.pass.writer, &lost_table, NULL);
	for (uint32_t i = 0; i < GRT_COUNTS_CPUS && !ret; i++) {
		struct grt_row_cells c = {.n = 0};

		grt_row_number(&c, i);
		grt_row_number(&c, m->counts->cpu[i].balance.fate[GRT_FATE_LOST]);
		if (c.cell[1].number)
			ret = grt_writer_row(m->a.pass.writer, &c);
	}
	grt_writer_table_end(m->a.pass.writer);
	return ret;
}

static void monitor_stats_write_notes(struct monitor *m, const struct grt_health *h)
{
	const struct reading_span span = {m->first, m->last, m->known};

	reading_note_health(&m->notes, h, m->live ? NULL : &span, reading_unread(m->session, m->live));
	report_text_notes(&m->notes, h);
	report_text_passed(&m->notes, m->session);
	if (m->names.dropped)
		grt_note(&m->notes, "%" PRIu64 " {NAME record|NAME records} ignored (limit of %u names)",
			 m->names.dropped, GRT_NAMES_MAX);
	if (m->left_out)
		grt_note(
			&m->notes,
			"%" PRIu64
			" {event of other processes or drivers was|events of other processes or drivers were} left out; the event counts include them",
			m->left_out);
	if (m->counters)
		grt_note(&m->notes, "%" PRIu64 " {value|values} of counters: report", m->counters);
	grt_notes_write(&m->notes, m->a.pass.writer);
}

static int monitor_stats_write_all(struct monitor *m)
{
	const struct grt_health *h = grt_session_health(m->session);
	int ret;

	m->a.pass.first = m->first;
	m->a.pass.last = m->last;
	m->a.pass.known = m->known;
	grt_writer_begin(m->a.pass.writer);
	write_head(m);
	ret = grt_analyses_write(&m->a, monitor_stats_is_shown, m);
	if (!ret)
		ret = write_lost(m);
	monitor_stats_write_notes(m, h);
	if (m->json)
		reading_health(m->a.pass.writer, h);
	reading_balance(m->a.pass.writer, h, reading_unread(m->session, m->live));
	grt_writer_end(m->a.pass.writer);
	return ret;
}

static int write_to(struct monitor *m, FILE *out)
{
	struct grt_writer_options o = {.out = out, .verbose = m->verbose, .colour = !m->json && cmd_colour()};
	int ret;

	terminal_fit(&o, m->wide);
	ret = grt_writer_new(&m->a.pass.writer, m->json ? &writer_json : &writer_text, &o);
	if (!ret)
		ret = monitor_stats_write_all(m);
	grt_writer_free(m->a.pass.writer);
	m->a.pass.writer = NULL;
	return ret;
}

/* Prints the statistics. Return: 0 or -ENOMEM. */
static int monitor_stats(struct monitor *m)
{
	struct grt_memfile memory;
	char *text;
	FILE *out;
	int ret;

	if (!m->json) {
		if (m->header)
			putchar('\n');
		return write_to(m, stdout);
	}
	out = grt_memfile_open(&memory);
	if (!out)
		return -ENOMEM;
	ret = write_to(m, out);
	text = grt_memfile_close(&memory, out, NULL);
	if (!text)
		ret = -ENOMEM;
	if (!ret)
		cmd_put_one_line(text);
	free(text);
	return ret;
}

/* --------------------------------------------------------------- monitor */

/* Lines are written in pieces of this size, and when no event waits. */
#define OUTPUT_BUFFER 65536

static struct {
	const char *input;
	const char *sources;
	const char *driver;
	struct filter filter;
	uint64_t sample;
	double seconds;
	bool json;
	bool quiet;
	bool probes;
	bool verbose;
	bool wide;
} opt = {.sample = 1};

static const struct cmd_opt opts[] = {
	FILTER_OPTIONS(opt.filter, 't'),
	{"duration", 'd', OPT_SECONDS, "SECONDS", &opt.seconds, "live: end after this time"},
	{"json", 'j', OPT_FLAG, NULL, &opt.json, "a JSON object per event, the statistics as the last one"},
	{"input", 'i', OPT_STR, "PATH", &opt.input, "a recording, raw file or text, in place of live events"},
	{"quiet", 'q', OPT_FLAG, NULL, &opt.quiet, "print only the statistics"},
	{"ioctl-sample", 0, OPT_U64, "N", &opt.sample,
	 "print every Nth ioctl (0: none); the statistics count all"},
	{"driver", 0, OPT_STR, "NAME", &opt.driver, "only rings of this driver (amdgpu, nouveau, xe)"},
	{"event", 'e', OPT_STR, "SRC,...", &opt.sources, "live: record from these sources"},
	{"probes", 0, OPT_FLAG, NULL, &opt.probes,
	 "nvidia, live: also functions of its kernel modules: interrupts, faults, P2P, power"},
	{"verbose", 'v', OPT_FLAG, NULL, &opt.verbose, "more columns, and counts of dropped events by cause"},
	TERMINAL_WIDE_OPTION(&opt.wide),
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

static const struct monitor_row rows[] = {
#define GRT_MONITOR(name, LAYOUT, sources, driver, parts, limit, help) \
	{#name, MONITOR_LAYOUT_##LAYOUT, sources, driver, parts, limit, help},
#include "monitors.def"
#undef GRT_MONITOR
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/**
 * struct wish - a tracepoint that some kernels lack
 * @has: a tracepoint that shows that the kernel has others of the group
 * @wants: the tracepoint that may be missing
 * @without: what is unknown without it
 */
struct wish {
	const char *monitor;
	const char *group;
	const char *has;
	const char *wants;
	const char *without;
};

static const struct wish wishes[] = {
	{"i915", "i915", "i915_request_queue", "i915_request_in",
	 "no request_in/out here (CONFIG_DRM_I915_LOW_LEVEL_TRACEPOINTS=n): execution is inferred"},
};

static int feed_deps(struct monitor *m, const struct grt_event *e, struct monitor_did *did)
{
	int ret = grt_deps_event(m->deps, e);

	did->ended = ret > 0 ? ret : 0;
	return ret < 0 ? ret : 0;
}

/* Which events */

static bool monitor_is_selected(const struct monitor *m, uint64_t ctx, uint32_t pid, uint32_t ring,
				uint32_t device)
{
	const struct grt_dep_context *context = grt_deps_context(m->deps, ctx);
	const char *driver;

	/* The fence's context may be known even if the event lacks it. */
	if (context && !pid)
		pid = context->pid;
	if (context && ring == GRT_RING_NONE)
		ring = context->ring;
	if (m->pid && pid != m->pid)
		return false;
	if (!m->driver)
		return true;
	driver = grt_names_owner(&m->names, grt_names_find(&m->names, GRT_NAME_RING, ring));
	/* memory belongs to no ring */
	if (ring == GRT_RING_NONE && device)
		driver = grt_names_owner(&m->names, grt_names_find(&m->names, GRT_NAME_DEVICE, device));
	return driver ? !strcmp(driver, m->driver) : !m->sure;
}

static bool monitor_wants(struct grt_analyses *a, const struct grt_job *job)
{
	return monitor_is_selected((struct monitor *)a, job->ctx, job->pid, job->ring, job->device);
}

static bool has_line(struct monitor *m, const struct grt_event *e)
{
	const struct grt_ev_ioctl_enter *enter = (const struct grt_ev_ioctl_enter *)e;

	/* for some, a text at most reports that they began */
	if (m->quiet || (e->type == GRT_EV_IOCTL_ENTER && enter->fd != GRT_FD_UNKNOWN))
		return false;
	if (e->type != GRT_EV_IOCTL_EXIT && e->type != GRT_EV_IOCTL_ENTER)
		return true;
	return m->sample && !(m->ioctls++ % m->sample);
}

/* A job in one record counts as its events. */
static int take_whole_job(struct monitor *m, const struct grt_event *e)
{
	struct grt_job_parts parts;
	int ret = 0;

	grt_job_split(e, &parts);
	for (unsigned int i = 0; i < parts.n && !ret; i++) {
		m->seen[parts.of[i].e.type]++;
		ret = grt_analyses_event(&m->a, &parts.of[i].e, grt_class_of[parts.of[i].e.type]);
	}
	m->seen[GRT_EV_SYNC_WAIT_ENTER] += ((const struct grt_ev_job *)e)->waits;
	return ret;
}

static int monitor_take_in(struct monitor *m, const struct grt_event *e, struct monitor_did *did)
{
	m->seen[0]++;
	m->seen[e->type]++;
	m->a.pass.completed_again += e->type == GRT_EV_COMPLETE && m->again;
	m->a.pass.call = &did->call;
	if (e->type == GRT_EV_WAIT_DEP)
		return feed_deps(m, e, did);
	if (e->type == GRT_EV_JOB)
		return take_whole_job(m, e);
	return grt_analyses_event(&m->a, e, grt_class_of[e->type]);
}

/*
 * Jobs and signals of all processes are followed, because requested jobs wait for them, and run after them
 * on a ring. Return: 0 or -ENOMEM
 */
static int monitor_follow(struct monitor *m, const struct grt_event *e, struct monitor_did *did)
{
	uint64_t before = grt_jobs_completed_again(m->a.jobs);
	int ret = grt_jobs_event(m->a.jobs, e);

	m->again = grt_jobs_completed_again(m->a.jobs) != before;
	return ret || e->type == GRT_EV_WAIT_DEP ? ret : feed_deps(m, e, did);
}

/* Of these events, a monitor only wants functions that grtrace has probed itself. */
static bool is_log(const struct grt_event *e)
{
	return grt_class_of[e->type] == GRT_CLASS_log && !(e->type == GRT_EV_FUNC && e->flags & GRT_FLAG_BPF);
}

/* A recording has its full length, whichever of its events are requested. */
static void stretch(struct monitor *m, uint64_t ns)
{
	if (m->live)
		return;
	if (!m->known)
		m->first = ns;
	m->last = ns;
	m->known = true;
}

static int monitor_on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct monitor *m = (struct monitor *)c;
	struct monitor_did did = {.ended = 0};
	int ret = m->lines ? grt_event_json_see(m->lines, e, 0) : 0;
	bool pass;

	if (ret)
		return ret;
	stretch(m, e->time);
	m->counters += e->type == GRT_EV_COUNTER && !(m->classes & GRT_IN_CLASS(counter));
	if (e->type >= GRT_EV_MAX || !(m->classes >> grt_class_of[e->type] & 1) || is_log(e))
		return 0;
	ret = monitor_follow(m, e, &did);
	pass = monitor_is_selected(m, e->ctx, e->pid, e->ring, e->device);
	m->left_out += !pass;
	if (!ret && pass)
		ret = monitor_take_in(m, e, &did);
	if (ret || !(pass || did.ended) || !has_line(m, e))
		return ret;
	return monitor_line(m, e, cpu, &did);
}

/* Jobs that are partly in the requested time count as a whole, as in other commands. */
static int monitor_on_beyond(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct monitor *m = (struct monitor *)c;
	enum grt_class class = e->type < GRT_EV_MAX ? grt_class_of[e->type] : GRT_CLASS_unknown;

	if (class != GRT_CLASS_job && class != GRT_CLASS_wait && class != GRT_CLASS_error)
		return 0;
	return grt_jobs_event(m->a.jobs, e);
}

static int monitor_on_name(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct monitor *m = (struct monitor *)c;

	return grt_names_add(&m->names, (const struct grt_ev_name *)e);
}

static int monitor_on_packet(struct grt_consumer *c, const struct grt_packet *p)
{
	grt_counts_packet(((struct monitor *)c)->counts, p);
	return 0;
}

/* Begin and end */

/* Writes the parts in the monitor's row. */
static void want_parts(struct monitor *m)
{
	char words[128], *word, *rest = words;

	snprintf(words, sizeof(words), "%s", m->row->parts);
	if (!words[0])
		grt_analyses_want_all(&m->a, GRT_PART_MONITOR);
	while ((word = strsep(&rest, " ")))
		if (*word)
			grt_analyses_want(&m->a, grt_part_find(word, GRT_PART_MONITOR));
}

static int monitor_begin(struct monitor *m)
{
	struct grt_pass *pass = &m->a.pass;

	m->a.c = (struct grt_consumer){
		.event = monitor_on_event, .name = monitor_on_name, .packet = monitor_on_packet};
	m->a.wants = monitor_wants;
	m->counts = calloc(1, sizeof(*m->counts));
	if (!m->counts || grt_analyses_join(&m->a) || grt_deps_new(&m->deps, NULL) ||
	    (!m->quiet && monitor_line_new(m)))
		return -ENOMEM;
	pass->deps = m->deps;
	pass->names = &m->names;
	pass->seen = m->seen;
	pass->notes = &m->notes;
	pass->json = m->json;
	want_parts(m);
	if (grt_analyses_begin(&m->a))
		return -ENOMEM;
	m->classes = grt_analyses_classes(&m->a);
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	return 0;
}

static void monitor_end(struct monitor *m)
{
	grt_analyses_free(&m->a);
	grt_deps_free(m->deps);
	monitor_line_free(m);
	grt_names_free(&m->names);
	free(m->counts);
}

static int monitor_no_memory(void)
{
	return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "the monitor");
}

/* Writes the statistics, and what went wrong. @ret: result of the run. Return: exit status */
static int monitor_finish(struct monitor *m, const struct grt_err *err, int ret)
{
	int written;

	if (m->write_error)
		return cmd_write_failed(m->write_error);
	m->a.pass.health = grt_session_health(m->session);
	written = grt_analyses_finish(&m->a) ?: monitor_stats(m);
	return reading_judge(m->session, m->input, reading_unread(m->session, m->live),
			     ret < 0 ? ret : written, err);
}

/* Input */

static int monitor_replay(struct monitor *m, const char *path)
{
	struct grt_err err = {.what = ""};
	struct reading_span span;
	int ret, status;

	if (opt.seconds > 0 || opt.sources)
		return cmd_usage_error("-d and -e work only on live events, not with -i");
	ret = grt_session_open(&m->session, path, &err);
	if (ret)
		return cmd_error(cmd_open_status(ret), &err);
	terminal_page();
	m->input = path;
	if (!m->driver)
		m->driver = m->row->driver;
	status = filter_session(&opt.filter, m->session, false);
	if (status == EXIT_DONE)
		status = reading_span(m->session, &opt.filter.from, &opt.filter.to, &span);
	if (status == EXIT_DONE) {
		uint64_t from = opt.filter.from.set ? span.first : 0;
		uint64_t to = opt.filter.to.set ? span.last : UINT64_MAX;

		grt_jobs_within(m->a.jobs, from, to);
		m->a.c.beyond = monitor_on_beyond;
		grt_session_whole(m->session);
		ret = grt_session_run(m->session, &m->a.c, from, to, &err);
		status = monitor_finish(m, &err, ret);
	}
	grt_session_close(m->session);
	return status;
}

static const char *told; /* the monitor for tell(), whose callers cannot pass it on */

static void monitor_note(const char *text)
{
	fprintf(stderr, "monitor: %s: ", told);
	cmd_put_text(stderr, text);
	fputc('\n', stderr);
}

static void monitor_note_missing(const struct monitor_row *row)
{
	struct grt_err err;
	int tracefs = tracefs_open(&err);

	if (row->limit)
		monitor_note(row->limit);
	if (tracefs < 0)
		return;
	for (unsigned int i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++)
		if (!strcmp(wishes[i].monitor, row->name) &&
		    tracefs_find(tracefs, wishes[i].group, wishes[i].has, NULL, 0) &&
		    !tracefs_find(tracefs, wishes[i].group, wishes[i].wants, NULL, 0))
			monitor_note(wishes[i].without);
	close(tracefs);
}

/*
 * Every source that does not repeat another one and needs no program; the module's events would repeat those
 * of drm.
 */
static const char *every_source(void)
{
	static char text[256];
	size_t used = 0;

	for (size_t i = 0; i < SOURCES && used < sizeof(text); i++) {
		const struct source *s = all_sources[i];

		if (!s->by_name && !s->program && s != &source_kmod)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? "," : "",
						 s->name);
	}
	return text;
}

static int monitor_flush_lines(void *arg)
{
	struct monitor *m = arg;

	m->write_error = cmd_flush();
	return m->write_error ? MONITOR_STOP : 0;
}

static int monitor_run_live(struct monitor *m, struct live *l)
{
	const struct live_limits limits = {
		.seconds = opt.seconds, .idle = monitor_flush_lines, .prompt = true, .arg = m};
	struct grt_err err = {.what = ""};
	int ret = live_start(l, &err);

	if (ret)
		return cmd_error(kmod_exit_status(ret), &err);
	if (isatty(STDERR_FILENO))
		fputs("grtrace monitor: Ctrl-C ends and prints the statistics\n", stderr);
	m->session = live_session(l);
	if (filter_session(&opt.filter, m->session, true) != EXIT_DONE)
		return EXIT_FAILED;
	m->first = grt_now();
	ret = live_run(l, &m->a.c, &limits, &err);
	m->last = grt_now();
	m->known = true;
	return monitor_finish(m, &err, ret);
}

static int monitor_watch(struct monitor *m)
{
	const char *own = m->row->sources[0] ? m->row->sources : every_source();
	const struct live_setup setup = {
		.sources = opt.sources ? opt.sources : own,
		.pid = (pid_t)opt.filter.pid,
		.driver = opt.driver,
		.flag = opt.probes ? "probes" : NULL,
		.any = !opt.sources && !m->row->sources[0],
		.note = monitor_note,
	};
	struct grt_err err = {.what = ""};
	struct live *l = NULL;
	int ret, status;

	m->live = true;
	m->input = "live";
	told = m->row->name;
	monitor_note_missing(m->row);
	ret = live_open(&l, &setup, &err);
	if (ret == -EINVAL && opt.sources)
		status = cmd_error(EXIT_USAGE, &err);
	else if (ret)
		status = cmd_error(kmod_exit_status(ret), &err);
	else
		status = monitor_run_live(m, l);
	ret = live_close(l, &err);
	if (ret && status == EXIT_DONE)
		status = cmd_error(kmod_exit_status(ret), &err);
	return status;
}

/* Command line */

static const char *monitor_name(unsigned int n)
{
	return n < ROWS ? rows[n].name : NULL;
}

static int no_monitor(const char *word)
{
	char all[256];
	struct cmd_guess best = {0};

	if (!word)
		return cmd_usage_error("no monitor given (there are: %s)",
				       cmd_words(monitor_name, all, sizeof(all)));
	for (unsigned int i = 0; i < ROWS; i++)
		cmd_nearest(&best, word, rows[i].name);
	if (best.name)
		return cmd_usage_error("'%s' is unknown (did you mean %s?)", word, best.name);
	return cmd_usage_error("unknown monitor '%s' (there are: %s)", word,
			       cmd_words(monitor_name, all, sizeof(all)));
}

static const struct monitor_row *monitor_find_row(const char *name)
{
	for (unsigned int i = 0; name && i < ROWS; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

static int monitor_run(int argc, char **argv)
{
	struct monitor m = {
		.row = monitor_find_row(argv[0]),
		.pid = (uint32_t)opt.filter.pid,
		.driver = opt.driver,
		.sure = opt.driver,
		.sample = opt.sample,
		.json = opt.json,
		.quiet = opt.quiet,
		.verbose = opt.verbose,
		.wide = opt.wide,
	};
	int status;

	if (!m.row)
		return no_monitor(argv[0]);
	if (argc > 1)
		return cmd_usage_error("more than one monitor: '%s'; `all` shows all of them", argv[1]);
	if (!strcmp(m.row->name, "fence") && !opt.driver && !opt.input)
		return cmd_usage_error("fence: name the driver, for example --driver nouveau");
	if (opt.probes && (strcmp(m.row->name, "nvidia") || opt.input))
		return cmd_usage_error("--probes works only with `monitor nvidia` on live events");
	status = filter_check(&opt.filter, opt.input ? 0 : FILTER_TIME, "it works only with recordings");
	if (status != EXIT_DONE)
		return status;
	/*
	 * the monitor filters processes itself: it knows more of them, from contexts of fences, and counts
	 * what it leaves out
	 */
	opt.filter.f.pid = 0;
	if (monitor_begin(&m))
		status = monitor_no_memory();
	else
		status = opt.input ? monitor_replay(&m, opt.input) : monitor_watch(&m);
	monitor_end(&m);
	filter_free(&opt.filter);
	return status;
}

const struct cmd cmd_monitor = {
	.reads = true,
	.usage =
		"WHAT [-p PID] [-d SECONDS] [--json] [-i PATH] [-q] [--ioctl-sample N] [--driver NAME] [-e SRC,...] [--probes] [--device GPU] [--ring R] [--type T[,T]]",
	.opts = opts,
	.operand = monitor_name,
	.run = monitor_run,
	.json = &monitor_json,
};
