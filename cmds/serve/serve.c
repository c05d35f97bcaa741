// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace serve: metrics of the GPUs, their processes and control groups for Prometheus, as a service.
 * lib/export/metrics.h describes the metrics; the incidents are those of a black box,
 * cmds/record/triggers.def.
 */
#include "serve.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memfile.h"
#include "cmds/cmd.h"
#include "cmds/live.h"
#include "cmds/record/triggers.h"
#include "export/metrics.h"
#include "host/known_gpus.h"
#include "host/probe.h"
#include "kmod/kmod.h"
#include "sources/source.h"

/* ---------------------------------------------------------- serve notify */

/*
 * Messages of a service of type notify to the service manager: datagrams to the socket that NOTIFY_SOCKET
 * names, sd_notify(3). Without a socket, nothing is sent.
 */

static int manager = -1;
/* Half of the time after which the manager takes the service for dead, ns; 0: it does not watch. */
static uint64_t period;
static uint64_t last;

/* Finds the service manager; there may be none. */
static void serve_notify_open(void)
{
	const char *path = getenv("NOTIFY_SOCKET"), *usec = getenv("WATCHDOG_USEC");
	const char *pid = getenv("WATCHDOG_PID");
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t length = path ? strlen(path) : 0;
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);

	if (!length || length >= sizeof(to.sun_path) || (*path != '/' && *path != '@'))
		return;
	memcpy(to.sun_path, path, length);
	/* a name that is not a file's begins with NUL */
	if (*path == '@')
		to.sun_path[0] = '\0';
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (manager >= 0 && connect(manager, (struct sockaddr *)&to, size)) {
		close(manager);
		manager = -1;
	}
	if (usec && (!pid || atol(pid) == getpid()))
		period = strtoull(usec, NULL, 10) * 500;
}

/* Sends a state to it, "READY=1" */
static void serve_notify(const char *state)
{
	if (manager >= 0)
		(void)!send(manager, state, strlen(state), MSG_NOSIGNAL);
}

/* Tells its watchdog that the service is alive, as often as it requires. */
static void serve_notify_alive(void)
{
	uint64_t now = grt_now();

	if (!period || now - last < period / 2)
		return;
	last = now;
	serve_notify("WATCHDOG=1");
}

/* ----------------------------------------------------------------- serve */

/* Jobs are counted this long after their completion, because events of them may come later. */
#define SERVE_SETTLE_NS 500000000ULL
#define SERVE_FORGET_NS (10 * NS_PER_S)
#define SERVE_SOURCES "drm,nvidia,nvctxsw,power"
#define SERVE_INCIDENTS "fence-error,xid"
/* Most lines about incidents per second; further ones are only counted. */
#define SERVE_LINES 5U
/* Most present incidents that are looked for at a time. */
#define SERVE_LOOKS 32U

static struct {
	const char *listen;
	const char *sources;
	const char *incidents;
	double seconds;
} opt = {.listen = SERVE_DEFAULT, .incidents = SERVE_INCIDENTS};

static const struct cmd_opt options[] = {
	{"listen", 'l', OPT_STR, "[ADDRESS:]PORT", &opt.listen,
	 "answer requests here (default: " SERVE_DEFAULT ")"},
	{"event", 'e', OPT_STR, "SRC,...", &opt.sources,
	 "record from these sources (default: those of " SERVE_SOURCES " that work here)"},
	{"on", 0, OPT_STR, "INCIDENT,...", &opt.incidents,
	 "report these incidents, as `record --on` names them (default: " SERVE_INCIDENTS ")"},
	{"duration", 'd', OPT_SECONDS, "SECONDS", &opt.seconds, "end after this time"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

/**
 * struct serve - the service
 * @incidents: number of each kind
 * @lines: lines that were written since @second
 * @forgot: when old rows were last removed
 */
struct serve {
	struct grt_consumer c;
	struct live *live;
	struct serve_http *http;
	struct grt_metrics *metrics;
	struct triggers triggers;
	uint64_t incidents[TRIGGERS];
	uint64_t second;
	unsigned int lines;
	uint64_t forgot;
};

/* -------------------------------------------------------------- the log */

/* A line for the journal begins with its priority. */
static void serve_log(int priority, const char *text)
{
	if (getenv("JOURNAL_STREAM"))
		fprintf(stderr, "<%d>", priority);
	cmd_tell("serve", text);
}

static void serve_note(const char *text)
{
	serve_log(5, text);
}

static void serve_incident(struct serve *s, const struct incident *found)
{
	uint64_t second = grt_now() / NS_PER_S;
	char text[384], job[96] = "";

	s->incidents[found->trigger]++;
	s->lines = second == s->second ? s->lines + 1 : 1;
	s->second = second;
	if (s->lines > SERVE_LINES)
		return;
	if (found->pid)
		snprintf(job, sizeof(job), ", process %" PRIu32, found->pid);
	if (found->ctx)
		snprintf(job + strlen(job), sizeof(job) - strlen(job), ", job ctx=%" PRIu64 " seqno=%" PRIu64,
			 found->ctx, found->seqno);
	snprintf(text, sizeof(text), "%s: %s%s%s", trigger_name(found->trigger), found->text, job,
		 s->lines == SERVE_LINES ? "; further ones of this second are only counted" : "");
	serve_log(3, text);
}

static void serve_look(struct serve *s)
{
	uint64_t now = grt_now();
	struct incident found;

	/* incidents of many jobs that are late together are spread over time */
	for (unsigned int i = 0; i < SERVE_LOOKS && (triggers_late_job(&s->triggers, now, true, &found) ||
						     triggers_dump(&s->triggers, now, &found));
	     i++)
		serve_incident(s, &found);
}

/* ------------------------------------------------------------- the page */

static void serve_put_sources(struct serve *s, FILE *out)
{
	struct grt_metrics_source source[SOURCES + 1];
	unsigned int n = 0;

	while ((source[n].name = live_source(s->live, n, &source[n].balance)))
		n++;
	grt_metrics_losses(out, source, n);
	grt_metrics_family(out, "grtrace_events_missing_total", "counter",
			   "Events that were delivered and could not be read.");
	fprintf(out, "grtrace_events_missing_total %" PRIu64 "\n",
		grt_session_health(live_session(s->live))->missing_events);
}

static void serve_put_incidents(const struct serve *s, FILE *out)
{
	grt_metrics_family(out, "grtrace_incidents_total", "counter", "Incidents that --on names.");
	for (unsigned int i = 0; i < TRIGGERS; i++)
		if (s->triggers.limit[i].on) {
			fputs("grtrace_incidents_total", out);
			grt_metrics_label(out, "{", "incident", trigger_name((enum trigger)i));
			fprintf(out, "} %" PRIu64 "\n", s->incidents[i]);
		}
}

/* Writes the resources of the service itself, under the names that all exporters use. */
static void serve_put_cost(FILE *out)
{
	struct rusage use;
	char text[128];
	unsigned long pages;

	getrusage(RUSAGE_SELF, &use);
	grt_metrics_family(out, "process_cpu_seconds_total", "counter", "CPU time of the service.");
	fprintf(out, "process_cpu_seconds_total %lld.%06lld\n",
		(long long)(use.ru_utime.tv_sec + use.ru_stime.tv_sec +
			    (use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1000000),
		(long long)((use.ru_utime.tv_usec + use.ru_stime.tv_usec) % 1000000));
	if (probe_read(text, sizeof(text), "/proc/self/statm") > 0 && sscanf(text, "%*u %lu", &pages) == 1) {
		grt_metrics_family(out, "process_resident_memory_bytes", "gauge", "Memory of the service.");
		fprintf(out, "process_resident_memory_bytes %" PRIu64 "\n",
			(uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE));
	}
	grt_metrics_family(out, "grtrace_build_info", "gauge", "The version of grtrace.");
	fprintf(out, "grtrace_build_info{version=\"%s\"} 1\n", grt_version());
}

static char *serve_page(void *arg, size_t *length)
{
	struct serve *s = arg;
	struct grt_memfile memory;
	FILE *out = grt_memfile_open(&memory);
	char *text;
	int ret;

	if (!out)
		return NULL;
	ret = grt_metrics_write(s->metrics, out);
	serve_put_sources(s, out);
	serve_put_incidents(s, out);
	serve_put_cost(out);
	text = grt_memfile_close(&memory, out, length);
	if (!ret)
		return text;
	free(text);
	return NULL;
}

/* ------------------------------------------------------------- the loop */

static int serve_on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct serve *s = (struct serve *)c;
	struct incident found;
	int ret = grt_metrics_event(s->metrics, e) ?: triggers_see_event(&s->triggers, e);

	if (!ret && triggers_take(&s->triggers, &found))
		serve_incident(s, &found);
	return ret;
}

static bool serve_gone(uint32_t pid)
{
	return kill((pid_t)pid, 0) && errno == ESRCH;
}

static int serve_idle(void *arg)
{
	struct serve *s = arg;
	uint64_t now = grt_now();
	int ret = grt_metrics_settle(s->metrics, now - SERVE_SETTLE_NS);

	serve_look(s);
	if (now - s->forgot > SERVE_FORGET_NS) {
		grt_metrics_forget(s->metrics, now, serve_gone);
		s->forgot = now;
	}
	serve_notify_alive();
	serve_http_run(s->http);
	return ret;
}

static int serve_loop(struct serve *s, struct grt_err *err)
{
	const struct live_limits limits = {
		.seconds = opt.seconds, .idle = serve_idle, .fd = serve_http_fd(s->http), .arg = s};
	int ret = live_start(s->live, err);
	char text[160];

	if (ret)
		return ret;
	snprintf(text, sizeof(text), "%s", serve_http_url(s->http));
	serve_log(5, text);
	serve_notify("READY=1");
	ret = live_run(s->live, &s->c, &limits, err);
	serve_notify("STOPPING=1");
	return ret;
}

/* ---------------------------------------------------------- begin and end */

static int serve_begin(struct serve *s)
{
	char cards[1024] = "", word[64];
	const char *bad;

	triggers_init(&s->triggers);
	bad = triggers_parse(&s->triggers, opt.incidents, word);
	if (bad)
		return cmd_usage_error("--on %s: not an incident; there are %s", bad,
				       triggers_names + strlen(", "));
	if (s->triggers.limit[TRIGGER_signal].on || s->triggers.limit[TRIGGER_exit_by_signal].on)
		return cmd_usage_error("--on %s: only a recording has this incident: grtrace record --last",
				       opt.incidents);
	known_gpus_env(cards, sizeof(cards));
	if (grt_metrics_new(&s->metrics) || grt_metrics_cards(s->metrics, cards))
		return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "the service");
	return EXIT_DONE;
}

/* The address is opened while there are privileges, and before anything in the system is changed. */
static int serve_open(struct serve *s)
{
	struct live_setup setup = {
		.sources = opt.sources ?: SERVE_SOURCES,
		.any = !opt.sources,
		.note = serve_note,
	};
	struct grt_err err = {.what = ""};
	int ret = serve_http_open(&s->http, opt.listen, serve_page, s, &err);

	if (ret)
		return cmd_error(ret == -EINVAL	  ? EXIT_USAGE
				 : ret == -ENOSYS ? EXIT_MISSING
						  : EXIT_FAILED,
				 &err);
	grt_metrics_types(&setup.types);
	if (s->triggers.limit[TRIGGER_frame].on)
		grt_types_add(&setup.types, GRT_EV_VBLANK_DELIVERED);
	ret = live_open(&s->live, &setup, &err);
	if (!ret)
		ret = serve_loop(s, &err);
	if (ret)
		return cmd_error(ret == -EINVAL && opt.sources ? EXIT_USAGE : kmod_exit_status(ret), &err);
	return EXIT_DONE;
}

static int serve_run(int argc, char **argv)
{
	struct serve s = {.c = {.event = serve_on_event}};
	struct grt_err err = {.what = ""};
	int status, ret;

	if (argc)
		return cmd_usage_error("it takes no operands: '%s'", argv[0]);
	serve_notify_open();
	status = serve_begin(&s);
	if (status == EXIT_DONE)
		status = serve_open(&s);
	serve_http_close(s.http);
	ret = live_close(s.live, &err);
	if (ret && status == EXIT_DONE)
		status = cmd_error(kmod_exit_status(ret), &err);
	grt_metrics_free(s.metrics);
	triggers_free(&s.triggers);
	return status;
}

const struct cmd cmd_serve = {
	.usage = "[-l [ADDRESS:]PORT] [-e SRC,...] [--on INCIDENT,...] [-d SECONDS]",
	.opts = options,
	.run = serve_run,
};
