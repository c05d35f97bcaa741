// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace monitor: events as they happen, a line each, and statistics at the
 * end. Takes the command line, opens sources or a recording, and hands every
 * event that was asked for to the analyses and to the line printer. What there
 * is to monitor stands in monitors.def.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../sources/kmod.h"
#include "../sources/source.h"
#include "../sources/tracefs.h"
#include "trace/job_record.h"
#include "trace/packet.h"
#include "live.h"
#include "monitor.h"

/* Interrupts, IBs per submit and command numbers that are told apart. */
#define TALLY_ROWS 4096
/* Lines are written in pieces of this size, and when no event waits. */
#define OUTPUT_BUFFER 65536

static struct {
	const char *input;
	const char *sources;
	const char *driver;
	uint64_t pid;
	uint64_t sample;
	double seconds;
	bool json;
	bool quiet;
	bool probes;
} opt = {.sample = 1};

static const struct cmd_opt opts[] = {
	{"pid", 'p', OPT_PID, "PID", &opt.pid, "only events of this process; live: end when it ends"},
	{"duration", 'd', OPT_SECONDS, "SECONDS", &opt.seconds, "live: end after this time"},
	{"json", 'j', OPT_FLAG, NULL, &opt.json, "a JSON object per event, the statistics as the last one"},
	{"input", 'i', OPT_STR, "PATH", &opt.input, "a recording, raw file or text, in place of live events"},
	{"quiet", 'q', OPT_FLAG, NULL, &opt.quiet, "only the statistics"},
	{"ioctl-sample", 0, OPT_U64, "N", &opt.sample, "print every Nth ioctl (0: none); all are counted"},
	{"driver", 0, OPT_STR, "NAME", &opt.driver, "only rings of this driver (amdgpu, nouveau, xe)"},
	{"event", 'e', OPT_STR, "SRC,...", &opt.sources, "live: take the events from these sources"},
	{"probes", 0, OPT_FLAG, NULL, &opt.probes,
	 "nvidia, live: functions of its kernel modules: interrupts, faults, P2P, power"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

static const struct monitor_row rows[] = {
#define GRT_MONITOR(name, LAYOUT, sources, driver, SHOWS, limit, help) \
	{#name, MONITOR_LAYOUT_##LAYOUT, sources, driver, SHOWS, limit, help},
#include "monitors.def"
#undef GRT_MONITOR
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/**
 * struct wish - a tracepoint that is not there on every kernel that has the others
 * @has: one of these others
 * @wants: the one that may be missing
 * @without: what is then not known
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

#define BIT(class) (1U << GRT_CLASS_##class)
#define ANY_JOBS (MONITOR_JOBS | MONITOR_SUBMITS | MONITOR_COMMANDS)
#define ANY_MEMORY \
	(MONITOR_PLACEMENT | MONITOR_MOVES | MONITOR_LIVE | MONITOR_BINDS | MONITOR_SHRINKS | MONITOR_FAULTS)

static const struct {
	unsigned int shows;
	uint32_t classes;
} wanted[] = {
	{ANY_JOBS, BIT(job) | BIT(wait) | BIT(error) | BIT(command) | BIT(dep)},
	{ANY_MEMORY, BIT(mem)},
	{MONITOR_IRQS, BIT(irq)},
	{MONITOR_FRAMES, BIT(vblank)},
	{MONITOR_CALLS, BIT(call)},
	{MONITOR_XIDS, BIT(xid)},
	{MONITOR_FUNCTIONS, BIT(log)},
};

/* Feeding the analyses, by class */

static int (*const feed[GRT_CLASSES])(struct monitor *m, const struct grt_event *e, struct monitor_did *did);

/* Numbers that mean something to one driver's users only; a ring without a name may be that driver's. */
static int count_number(const struct monitor *m, struct grt_tally *t, const char *driver,
			const struct grt_event *e, uint32_t number)
{
	const char *owner = grt_names_owner(&m->names, grt_names_find(&m->names, GRT_NAME_RING, e->ring));

	if (owner && strcmp(owner, driver))
		return 0;
	return grt_tally_add(t, &(struct grt_key){{number}}, 0, e->time);
}

/* A job in one record counts as its events. */
static int feed_whole_job(struct monitor *m, const struct grt_event *e, struct monitor_did *did)
{
	struct grt_job_parts parts;
	int ret = 0;

	grt_job_split(e, &parts);
	for (unsigned int i = 0; i < parts.n && !ret; i++) {
		m->seen[parts.of[i].e.type]++;
		ret = feed[grt_class_of[parts.of[i].e.type]](m, &parts.of[i].e, did);
	}
	m->seen[GRT_EV_SYNC_WAIT_ENTER] += ((const struct grt_ev_job *)e)->waits;
	return ret;
}

static int feed_job(struct monitor *m, const struct grt_event *e, struct monitor_did *did)
{
	const struct grt_ev_submit *submit = (const struct grt_ev_submit *)e;
	int ret;

	if (e->type == GRT_EV_JOB)
		return feed_whole_job(m, e, did);
	if (e->type != GRT_EV_SUBMIT)
		return 0;
	ret = count_number(m, &m->ibs, "amdgpu", e, submit->cmd);
	return ret ? ret : count_number(m, &m->commands, "virtio_gpu", e, submit->cmd);
}

static int feed_error(struct monitor *m, const struct grt_event *e, struct monitor_did *did)
{
	(void)did;
	return count_number(m, &m->answers, "virtio_gpu", e, ((const struct grt_ev_error *)e)->code);
}

static int feed_command(struct monitor *m, const struct grt_event *e, struct monitor_did *did)
{
	(void)did;
	return count_number(m, &m->commands, "virtio_gpu", e, ((const struct grt_ev_command *)e)->cmd);
}

static int feed_deps(struct monitor *m, const struct grt_event *e, struct monitor_did *did)
{
	int ret = grt_deps_event(m->deps, e);

	did->ended = ret > 0 ? ret : 0;
	return ret < 0 ? ret : 0;
}

static int feed_irq(struct monitor *m, const struct grt_event *e, struct monitor_did *did)
{
	const struct grt_ev_irq *ev = (const struct grt_ev_irq *)e;

	(void)did;
	return grt_tally_add(
		&m->irqs, &(struct grt_key){{ev->source, (uint64_t)ev->hw_ring << 16 | ev->vmid, ev->pasid}},
		0, e->time);
}

static int feed_call(struct monitor *m, const struct grt_event *e, struct monitor_did *did)
{
	int ret = grt_calls_event(m->calls, e, &did->call);

	return ret || e->type != GRT_EV_IOCTL_EXIT ? ret : monitor_nv_call(m, e, &did->call);
}

static int feed_vblank(struct monitor *m, const struct grt_event *e, struct monitor_did *did)
{
	(void)did;
	return grt_vblank_event(m->vblank, e);
}

static int feed_memory(struct monitor *m, const struct grt_event *e, struct monitor_did *did)
{
	(void)did;
	return grt_memory_event(m->memory, e);
}

static int feed_function(struct monitor *m, const struct grt_event *e, struct monitor_did *did)
{
	(void)did;
	return monitor_function(m, (const struct grt_ev_func *)e);
}

static int feed_xid(struct monitor *m, const struct grt_event *e, struct monitor_did *did)
{
	(void)did;
	return grt_xids_event(&m->xids, e);
}

static int (*const feed[GRT_CLASSES])(struct monitor *m, const struct grt_event *e,
				      struct monitor_did *did) = {
	[GRT_CLASS_job] = feed_job,    [GRT_CLASS_error] = feed_error, [GRT_CLASS_command] = feed_command,
	[GRT_CLASS_irq] = feed_irq,    [GRT_CLASS_call] = feed_call,   [GRT_CLASS_vblank] = feed_vblank,
	[GRT_CLASS_mem] = feed_memory, [GRT_CLASS_xid] = feed_xid,     [GRT_CLASS_log] = feed_function,
};

/* Which events */

static bool is_asked_for(const struct monitor *m, uint64_t ctx, uint32_t pid, uint32_t ring, uint32_t device)
{
	const struct grt_dep_context *context = grt_deps_context(m->deps, ctx);
	const char *driver;

	/* What it does not say of itself may be known of its fence's context. */
	if (context && !pid)
		pid = context->pid;
	if (context && ring == GRT_RING_NONE)
		ring = context->ring;
	if (m->pid && pid != m->pid)
		return false;
	if (!m->driver)
		return true;
	driver = grt_names_owner(&m->names, grt_names_find(&m->names, GRT_NAME_RING, ring));
	/* memory is on no ring */
	if (ring == GRT_RING_NONE && device)
		driver = grt_names_owner(&m->names, grt_names_find(&m->names, GRT_NAME_DEVICE, device));
	return driver ? !strcmp(driver, m->driver) : !m->sure;
}

static int on_job(void *arg, const struct grt_job *job)
{
	struct monitor *m = arg;

	if (!is_asked_for(m, job->ctx, job->pid, job->ring, job->device))
		return 0;
	m->inferred += job->inferred >> GRT_STAMP_START & 1;
	return grt_phases_job(m->phases, job);
}

static bool has_line(struct monitor *m, const struct grt_event *e)
{
	const struct grt_ev_ioctl_enter *enter = (const struct grt_ev_ioctl_enter *)e;

	/* of some a text tells no more than that they began */
	if (m->quiet || (e->type == GRT_EV_IOCTL_ENTER && enter->fd != GRT_FD_UNKNOWN))
		return false;
	if (e->type != GRT_EV_IOCTL_EXIT && e->type != GRT_EV_IOCTL_ENTER)
		return true;
	return m->sample && !(m->ioctls++ % m->sample);
}

static int take_in(struct monitor *m, const struct grt_event *e, struct monitor_did *did)
{
	unsigned int class = grt_class_of[e->type];

	m->seen[0]++;
	m->seen[e->type]++;
	m->completed_again += e->type == GRT_EV_COMPLETE && m->again;
	if (e->type == GRT_EV_WAIT_DEP)
		return feed_deps(m, e, did);
	return feed[class] ? feed[class](m, e, did) : 0;
}

/*
 * Jobs and signals are followed whoever they belong to: those asked for run
 * behind them on a ring, and wait for them. Return: 0 or -ENOMEM
 */
static int follow(struct monitor *m, const struct grt_event *e, struct monitor_did *did)
{
	uint64_t before = grt_jobs_completed_again(m->jobs);
	int ret = grt_jobs_event(m->jobs, e);

	m->again = grt_jobs_completed_again(m->jobs) != before;
	return ret || e->type == GRT_EV_WAIT_DEP ? ret : feed_deps(m, e, did);
}

/* Of these only functions that we have probed ourselves are for a monitor. */
static bool is_log(const struct grt_event *e)
{
	return grt_class_of[e->type] == GRT_CLASS_log && !(e->type == GRT_EV_FUNC && e->flags & GRT_FLAG_BPF);
}

/* A recording is as long as it is, whichever of its events are asked for. */
static void stretch(struct monitor *m, uint64_t ns)
{
	if (m->live)
		return;
	if (!m->known)
		m->first = ns;
	m->last = ns;
	m->known = true;
}

static int on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct monitor *m = (struct monitor *)c;
	struct monitor_did did = {.ended = 0};
	int ret = m->lines ? grt_event_json_see(m->lines, e, 0) : 0;
	bool pass;

	if (ret)
		return ret;
	stretch(m, e->time);
	m->counters += e->type == GRT_EV_COUNTER;
	if (e->type >= GRT_EV_MAX || !(m->classes >> grt_class_of[e->type] & 1) || is_log(e))
		return 0;
	ret = follow(m, e, &did);
	pass = is_asked_for(m, e->ctx, e->pid, e->ring, e->device);
	m->left_out += !pass;
	if (!ret && pass)
		ret = take_in(m, e, &did);
	if (ret || !(pass || did.ended) || !has_line(m, e))
		return ret;
	return monitor_line(m, e, cpu, &did);
}

static int on_name(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct monitor *m = (struct monitor *)c;

	(void)cpu;
	return grt_names_add(&m->names, (const struct grt_ev_name *)e);
}

static int on_packet(struct grt_consumer *c, const struct grt_packet *p)
{
	grt_counts_packet(((struct monitor *)c)->counts, p);
	return 0;
}

/* Begin and end */

static int begin(struct monitor *m)
{
	const struct grt_jobs_sink sink = {.job = on_job, .arg = m};

	m->c = (struct grt_consumer){.event = on_event, .name = on_name, .packet = on_packet};
	for (unsigned int i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (m->row->shows & wanted[i].shows)
			m->classes |= wanted[i].classes;
	grt_xids_init(&m->xids);
	grt_tally_init(&m->ibs, TALLY_ROWS);
	grt_tally_init(&m->commands, TALLY_ROWS);
	grt_tally_init(&m->answers, TALLY_ROWS);
	grt_tally_init(&m->irqs, TALLY_ROWS);
	grt_tally_init(&m->nv_calls, TALLY_ROWS);
	grt_tally_init(&m->nv_refused, TALLY_ROWS);
	m->counts = calloc(1, sizeof(*m->counts));
	if (!m->counts || grt_phases_new(&m->phases, MONITOR_SLOW_NS) ||
	    grt_jobs_new(&m->jobs, &sink, NULL) || grt_deps_new(&m->deps, NULL) ||
	    (!m->quiet && monitor_line_new(m)) || grt_memory_new(&m->memory, 0) ||
	    grt_vblank_new(&m->vblank, 0) || grt_calls_new(&m->calls))
		return -ENOMEM;
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	return 0;
}

static void end(struct monitor *m)
{
	grt_jobs_free(m->jobs);
	grt_phases_free(m->phases);
	grt_deps_free(m->deps);
	grt_memory_free(m->memory);
	monitor_line_free(m);
	grt_vblank_free(m->vblank);
	grt_calls_free(m->calls);
	grt_xids_free(&m->xids);
	grt_tally_free(&m->ibs);
	grt_tally_free(&m->commands);
	grt_tally_free(&m->answers);
	grt_tally_free(&m->irqs);
	grt_tally_free(&m->nv_calls);
	grt_tally_free(&m->nv_refused);
	monitor_functions_free(m);
	grt_names_free(&m->names);
	free(m->counts);
}

static int no_memory(void)
{
	return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "the monitor");
}

/* The statistics, and what went wrong. @ret: of the run. Return: exit status */
static int finish(struct monitor *m, const struct grt_err *err, int ret)
{
	int written;

	if (m->write_error)
		return cmd_write_failed(m->write_error);
	written = grt_jobs_flush(m->jobs);
	if (!written)
		written = monitor_stats(m);
	return reading_judge(m->session, m->input, monitor_unread(m), ret < 0 ? ret : written, err);
}

/* Input */

static int replay(struct monitor *m, const char *path)
{
	struct grt_err err = {.what = ""};
	int ret, status;

	if (opt.seconds > 0 || opt.sources)
		return cmd_usage_error("-d and -e are for live events, -i reads a recording");
	ret = grt_session_open(&m->session, path, &err);
	if (ret)
		return cmd_error(cmd_open_status(ret), &err);
	m->input = path;
	if (!m->driver)
		m->driver = m->row->driver;
	ret = grt_session_run(m->session, &m->c, 0, UINT64_MAX, &err);
	status = finish(m, &err, ret);
	grt_session_close(m->session);
	return status;
}

static const char *told; /* the monitor that tell() speaks of: its callers cannot hand it over */

static void tell(const char *text)
{
	fprintf(stderr, "monitor: %s: ", told);
	cmd_put_text(stderr, text);
	fputc('\n', stderr);
}

static void tell_missing(const struct monitor_row *row)
{
	struct grt_err err;
	int tracefs = tracefs_open(&err);

	if (row->limit)
		tell(row->limit);
	if (tracefs < 0)
		return;
	for (unsigned int i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++)
		if (!strcmp(wishes[i].monitor, row->name) &&
		    tracefs_find(tracefs, wishes[i].group, wishes[i].has, NULL, 0) &&
		    !tracefs_find(tracefs, wishes[i].group, wishes[i].wants, NULL, 0))
			tell(wishes[i].without);
	close(tracefs);
}

/* Every source that does not repeat another and needs no program; the module's events are those of drm again.
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

static int flush_lines(void *arg)
{
	struct monitor *m = arg;

	m->write_error = cmd_flush();
	return m->write_error ? MONITOR_STOP : 0;
}

static int run_live(struct monitor *m, struct live *l)
{
	const struct live_limits limits = {.seconds = opt.seconds, .idle = flush_lines, .arg = m};
	struct grt_err err = {.what = ""};
	int ret = live_start(l, &err);

	if (ret)
		return cmd_error(kmod_exit_status(ret), &err);
	if (isatty(STDERR_FILENO))
		fputs("grtrace monitor: Ctrl-C ends and prints the statistics\n", stderr);
	m->session = live_session(l);
	m->first = grt_now();
	ret = live_run(l, &m->c, &limits, &err);
	m->last = grt_now();
	m->known = true;
	return finish(m, &err, ret);
}

static int watch(struct monitor *m)
{
	const char *own = m->row->sources[0] ? m->row->sources : every_source();
	const struct live_setup setup = {
		.sources = opt.sources ? opt.sources : own,
		.pid = (pid_t)opt.pid,
		.driver = opt.driver,
		.probes = opt.probes,
		.any = !opt.sources && !m->row->sources[0],
		.note = tell,
	};
	struct grt_err err = {.what = ""};
	struct live *l = NULL;
	int ret, status;

	m->live = true;
	m->input = "live";
	told = m->row->name;
	tell_missing(m->row);
	ret = live_open(&l, &setup, &err);
	if (ret == -EINVAL && opt.sources)
		status = cmd_error(EXIT_USAGE, &err);
	else if (ret)
		status = cmd_error(kmod_exit_status(ret), &err);
	else
		status = run_live(m, l);
	ret = live_close(l, &err);
	if (ret && status == EXIT_DONE)
		status = cmd_error(kmod_exit_status(ret), &err);
	return status;
}

/* Command line */

static int no_monitor(const char *word)
{
	char all[256] = "";
	struct cmd_guess best = {0};
	size_t used = 0;

	for (unsigned int i = 0; i < ROWS; i++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "", rows[i].name);
	if (!word)
		return cmd_usage_error("what is to be monitored? There are %s", all);
	for (unsigned int i = 0; i < ROWS; i++)
		cmd_nearest(&best, word, rows[i].name);
	if (best.name)
		return cmd_usage_error("'%s' is unknown (did you mean %s?)", word, best.name);
	return cmd_usage_error("'%s' is unknown; there are %s", word, all);
}

static const struct monitor_row *find_row(const char *name)
{
	for (unsigned int i = 0; name && i < ROWS; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

static int monitor_run(int argc, char **argv)
{
	struct monitor m = {
		.row = find_row(argv[0]),
		.pid = (uint32_t)opt.pid,
		.driver = opt.driver,
		.sure = opt.driver,
		.sample = opt.sample,
		.json = opt.json,
		.quiet = opt.quiet,
	};
	int status;

	if (!m.row)
		return no_monitor(argv[0]);
	if (argc > 1)
		return cmd_usage_error("more than one monitor: '%s'; `all` shows all of them", argv[1]);
	if (!strcmp(m.row->name, "fence") && !opt.driver && !opt.input)
		return cmd_usage_error("fence: whose fences are jobs? --driver nouveau, for one");
	if (opt.probes && (strcmp(m.row->name, "nvidia") || opt.input))
		return cmd_usage_error("--probes is for `monitor nvidia`, live");
	if (begin(&m))
		status = no_memory();
	else
		status = opt.input ? replay(&m, opt.input) : watch(&m);
	end(&m);
	return status;
}

const struct cmd cmd_monitor = {
	.reads = true,
	.usage =
		"WHAT [-p PID] [-d SECONDS] [--json] [-i PATH] [-q] [--ioctl-sample N] [--driver NAME] [-e SRC,...] [--probes]",
	.opts = opts,
	.run = monitor_run,
};
