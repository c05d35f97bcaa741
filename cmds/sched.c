// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace sched: requests to the scheduler of NVIDIA's driver, one line each, live or from a recording, and
 * counts at the end.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <grtrace/tsg.h>

#include "base/containers.h"
#include "base/memfile.h"
#include "base/outbuf.h"
#include "base/say.h"
#include "codes/nv_codes.h"
#include "kmod/kmod.h"
#include "lines/event_json.h"
#include "lines/event_text.h"
#include "live.h"
#include "nvidia/tsg.h"
#include "reading.h"
#include "cmd.h"
#include "trace/names.h"

/*
 * Ends the run, because the reader of the lines has gone. It differs from 1, which has a meaning in a live
 * run.
 */
#define SCHED_STOP 2

/**
 * struct sched - one run
 * @c: gets the events of the session
 * @input: the name of the input, for messages
 * @pid: only events of this process; 0: all
 * @verbose: also print lines for tokens and channels
 * @refused: also print lines for failed calls
 * @as_json: lines are JSON
 * @json, @text: the writer of events; one of the two is used
 * @offset: from the trace's clock to CLOCK_REALTIME, ns
 * @own_clock: only the trace's clock is known: times count from midnight
 * @seen: events by type
 * @refusals: events whose status is not 0
 * @groups: groups that exist, as struct sched_group, by grt_tsg_key()
 * @partly: number of groups that existed before the trace; @over: events of groups that did not fit into
 *	@groups
 * @tsgs: the time of groups on GPUs, of a recording as text; @span: the time looked at
 * @write_error: errno of a failed write, 0: none
 */
struct sched {
	struct grt_consumer c;
	struct grt_session *session;
	struct grt_names names;
	bool as_json;
	struct grt_event_json *json;
	struct grt_event_text *text;
	const char *input;
	uint32_t pid;
	bool verbose;
	bool refused;
	bool own_clock;
	int64_t offset;
	uint64_t seen[GRT_EV_MAX];
	uint64_t refusals;
	struct grt_keyed groups;
	uint64_t partly;
	uint64_t over;
	struct grt_tsgs tsgs;
	struct reading_span span;
	int write_error;
};

/** struct sched_group - a group; @is_met: it was counted; @is_partly: its TASK_INIT was not seen */
struct sched_group {
	bool is_met;
	bool is_partly;
};

/* ------------------------------------------------------------ sched line */

/*
 * The line of a TSG_* event in `grtrace sched`, in the form of tools for patched drivers, with correct
 * names. A row of the table below determines the contents of a line; unknown values are "?".
 */

#define UNKNOWN UINT32_MAX
#define NS_PER_DAY (86400 * NS_PER_S)

static char *put_number(char *p, const char *key, uint32_t value, bool known)
{
	p = grt_format_word(p, key);
	return known ? grt_format_u64(p, value) : grt_format_word(p, "?");
}

/* A channel's handle, with its client if that is not the group's. */
static char *put_handle(char *p, const char *key, uint32_t handle, uint32_t client, const struct grt_event *e)
{
	bool other = handle && client && client != ((const struct grt_tsg_event *)e)->client;

	if (!handle)
		return p + sprintf(p, "%s?", key);
	return p + (other ? sprintf(p, "%s%08" PRIx32 ":%" PRIx32, key, client, handle)
			  : sprintf(p, "%s%" PRIx32, key, handle));
}

static char *put_channel(char *p, const struct grt_event *e)
{
	const struct grt_ev_tsg_schedule *ev = (const struct grt_ev_tsg_schedule *)e;

	return ev->channel ? put_handle(p, " channel=", ev->channel, ev->channel_client, e) : p;
}

/* TSG_TOKEN and TSG_CHANNEL have the same layout, so one struct reads both. */
static char *put_bound(char *p, const struct grt_event *e)
{
	const struct grt_ev_tsg_token *ev = (const struct grt_ev_tsg_token *)e;

	return put_handle(p, " handle=", ev->channel, ev->channel_client, e);
}

_Static_assert(offsetof(struct grt_ev_tsg_token, channel) == offsetof(struct grt_ev_tsg_channel, channel) &&
		       offsetof(struct grt_ev_tsg_token, channel_client) ==
			       offsetof(struct grt_ev_tsg_channel, channel_client),
	       "the same places");

static char *put_token(char *p, const struct grt_event *e)
{
	const struct grt_ev_tsg_token *ev = (const struct grt_ev_tsg_token *)e;

	return put_number(p, " token=", ev->token, !ev->status || ev->chid != UNKNOWN);
}

/* A subcontext: "none was named" is different from "unknown". */
static char *put_subcontext(char *p, const struct grt_event *e)
{
	const struct grt_ev_tsg_channel *ev = (const struct grt_ev_tsg_channel *)e;

	if (!ev->subctx || ev->subctx == UNKNOWN)
		return grt_format_word(p, ev->subctx ? " subctx=?" : " subctx=none");
	p += sprintf(p, " subctx=%" PRIx32, ev->subctx);
	return put_number(p, " veid=", ev->veid, ev->veid != UNKNOWN);
}

/* The driver's status; 0 also if the event has none. */
static uint32_t sched_status(const struct grt_event *e)
{
	switch (e->type) {
	case GRT_EV_TSG_INIT:
		return ((const struct grt_ev_tsg_init *)e)->status;
	case GRT_EV_TSG_SCHEDULE:
		return ((const struct grt_ev_tsg_schedule *)e)->status;
	case GRT_EV_TSG_TOKEN:
		return ((const struct grt_ev_tsg_token *)e)->status;
	case GRT_EV_TSG_SET:
		return ((const struct grt_ev_tsg_set *)e)->status;
	}
	return 0;
}

/* The driver's own answer, if it refused; from 0xfffff001 on, the kernel answered in its place. */
static char *put_status(char *p, const struct grt_event *e)
{
	uint32_t status = sched_status(e);
	const char *name = grt_nv_status_name(status);

	if (!status)
		return p;
	p = grt_format_word(p, " status=");
	if (status >= 0xfffff001)
		return grt_format_word(grt_format_word(p, "-"), strerrorname_np(-(int32_t)status) ?: "?");
	return name ? grt_format_word(p, name) : grt_format_hex(p, status);
}

static char *put_allowed(char *p, const struct grt_event *e)
{
	return put_status(grt_format_word(p, sched_status(e) ? " allowed=no" : " allowed=yes"), e);
}

#define US .unit = " us"

static const struct grt_text_row fields[] = {
	GRT_TEXT_ROW(TSG_INIT, nv_engine, .name = "engine"),
	GRT_TEXT_ROW(TSG_INIT, timeslice, US),
	GRT_TEXT_ROW(TSG_INIT, interleave),
	GRT_TEXT_ROW(TSG_INIT, runlist),
	GRT_TEXT_ROW(TSG_INIT, bus, .name = "gpu"),
	GRT_TEXT_ROW(TSG_INIT, status, .put = put_status),
	GRT_TEXT_ROW(TSG_SCHEDULE, channel, .put = put_channel),
	GRT_TEXT_ROW(TSG_SCHEDULE, channels),
	GRT_TEXT_ROW(TSG_SCHEDULE, timeslice, US),
	GRT_TEXT_ROW(TSG_SCHEDULE, interleave),
	GRT_TEXT_ROW(TSG_SCHEDULE, status, .put = put_allowed),
	GRT_TEXT_ROW(TSG_TOKEN, chid, .name = "channel"),
	GRT_TEXT_ROW(TSG_TOKEN, channel, .put = put_bound),
	GRT_TEXT_ROW(TSG_TOKEN, token, .put = put_token),
	GRT_TEXT_ROW(TSG_TOKEN, runlist),
	GRT_TEXT_ROW(TSG_TOKEN, bus, .name = "gpu"),
	GRT_TEXT_ROW(TSG_TOKEN, status, .put = put_status),
	GRT_TEXT_ROW(TSG_CHANNEL, chid, .name = "channel"),
	GRT_TEXT_ROW(TSG_CHANNEL, channel, .put = put_bound),
	GRT_TEXT_ROW(TSG_CHANNEL, channels),
	GRT_TEXT_ROW(TSG_CHANNEL, subctx, .put = put_subcontext),
	GRT_TEXT_ROW(TSG_CHANNEL, context, .hide = GRT_TEXT_HIDE_ZERO),
	GRT_TEXT_ROW(TSG_SET, timeslice, .hide = GRT_TEXT_HIDE_ZERO, US),
	GRT_TEXT_ROW(TSG_SET, interleave, .hide = GRT_TEXT_HIDE_UNKNOWN),
	GRT_TEXT_ROW(TSG_SET, status, .put = put_allowed),
	GRT_TEXT_ROW(TSG_DESTROY, cause),
	{.field = NULL},
};

/* Allocates the writers of lines. Return: 0 or -ENOMEM. */
static int sched_line_new(struct sched *s)
{
	const struct grt_text_style style = {.rows = fields, .unknown = "?", .words = true};

	return s->as_json ? grt_event_json_new(&s->json) : grt_event_text_new(&s->text, &style);
}

/* The name of a line; @no: the name if something is revoked. */
static const struct {
	const char *title;
	const char *no;
} titles[GRT_EV_MAX] = {
	[GRT_EV_TSG_INIT] = {"TASK_INIT", NULL},    [GRT_EV_TSG_SCHEDULE] = {"SCHEDULE", "UNSCHEDULE"},
	[GRT_EV_TSG_TOKEN] = {"WORK_SUBMIT", NULL}, [GRT_EV_TSG_CHANNEL] = {"CHANNEL_ADD", "CHANNEL_FREE"},
	[GRT_EV_TSG_SET] = {"TASK_SET", NULL},	    [GRT_EV_TSG_DESTROY] = {"TASK_DESTROY", NULL},
};

static const char *sched_line_title_of(const struct grt_event *e)
{
	if ((e->type == GRT_EV_TSG_SCHEDULE && !((const struct grt_ev_tsg_schedule *)e)->on) ||
	    (e->type == GRT_EV_TSG_CHANNEL && !((const struct grt_ev_tsg_channel *)e)->bound))
		return titles[e->type].no;
	return titles[e->type].title;
}

static void sched_line_put_time(const struct sched *s, uint64_t time)
{
	uint64_t ns = s->own_clock ? time % NS_PER_DAY : time + (uint64_t)s->offset;
	time_t seconds = (time_t)(ns / NS_PER_S);
	struct tm tm;

	if (s->own_clock)
		gmtime_r(&seconds, &tm);
	else
		localtime_r(&seconds, &tm);
	printf("%02d:%02d:%02d.%06" PRIu64, tm.tm_hour, tm.tm_min, tm.tm_sec, ns % NS_PER_S / 1000);
}

/* "?" may be a name, so an unknown name is empty. */
static void sched_line_put_comm(const char *comm)
{
	size_t width = comm ? strlen(comm) : 0;

	putchar(' ');
	if (comm)
		cmd_put_text(stdout, comm);
	for (; width < 16; width++)
		putchar(' ');
}

static void put_identity(const struct grt_tsg_event *t)
{
	if (t->tsg)
		printf(" TSG=%08" PRIx32 ":%08" PRIx32, t->client, t->tsg);
	else if (t->client)
		printf(" TSG=%08" PRIx32 ":?", t->client);
	else if (t->grp != UNKNOWN)
		printf(" TSG=%" PRIu32, t->grp);
	else
		fputs(" TSG=?", stdout);
}

static void sched_line_text_line(const struct sched *s, const struct grt_event *e, uint32_t cpu,
				 const char *comm, bool partly)
{
	char pid[16], text[GRT_EVENT_TEXT_MAX];

	sched_line_put_time(s, e->time);
	snprintf(pid, sizeof(pid), "%" PRIu32, e->pid);
	printf(" [CPU%02" PRIu32 "] %-12s PID=%-6s", cpu, sched_line_title_of(e), pid);
	sched_line_put_comm(comm);
	put_identity((const struct grt_tsg_event *)e);
	*grt_event_text_put(s->text, text, e) = '\0';
	fputs(text, stdout);
	fputs(partly ? " known=partly\n" : "\n", stdout);
}

/*
 * Prints the line of a TSG_* event; after a failed write, ferror(stdout) is set
 * @partly: the group existed before the trace began
 */
static void sched_line(const struct sched *s, const struct grt_event *e, uint32_t cpu, bool partly)
{
	uint32_t name = grt_names_find(&s->names, GRT_NAME_THREAD, e->tid);

	if (s->json)
		grt_event_json_print(s->json, stdout, e, cpu, partly ? ",\"partly_known\":true" : "");
	else
		sched_line_text_line(s, e, cpu, grt_names_name(&s->names, name), partly);
}

/* ----------------------------------------------------------------- sched */

/* Lines are written when there are this many bytes, and when no event waits. */
#define OUTPUT_BUFFER 65536

static struct {
	const char *input;
	struct filter filter;
	double seconds;
	bool verbose;
	bool json;
	bool refused;
} opt;

static const struct cmd_opt opts[] = {
	{"verbose", 'v', OPT_FLAG, NULL, &opt.verbose, "print tokens and channels, too"},
	FILTER_OPTIONS(opt.filter, 't'),
	{"duration", 'd', OPT_SECONDS, "SECONDS", &opt.seconds, "live: end after this time"},
	{"include-failed", 0, OPT_FLAG, NULL, &opt.refused,
	 "record also failed calls, and calls on files that are not NVIDIA's"},
	{"json", 'j', OPT_FLAG, NULL, &opt.json, "a JSON object per line, the counts as the last one"},
	{"input", 'i', OPT_STR, "PATH", &opt.input, "a recording or text, in place of live events"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

/* Refused requests are shown on request, but a group that may not run is always shown. */
static bool sched_is_shown(const struct sched *s, const struct grt_event *e)
{
	if (e->type == GRT_EV_TSG_TOKEN || e->type == GRT_EV_TSG_CHANNEL)
		return s->verbose && (!sched_status(e) || s->refused);
	return e->type == GRT_EV_TSG_SCHEDULE || !sched_status(e) || s->refused;
}

/*
 * Follows the lives of groups, to recognise those that existed before. Text of other tools numbers groups by
 * runlist and does not always contain the runlist: such groups cannot be distinguished. Return: 0 or -ENOMEM
 */
static int sched_follow(struct sched *s, const struct grt_event *e, bool *partly)
{
	const struct grt_tsg_event *t = (const struct grt_tsg_event *)e;
	const struct grt_key key = grt_tsg_key(t);
	struct sched_group *g;
	void *found;
	int ret;

	*partly = false;
	if (!t->client || grt_tsg_never_was(e))
		return 0;
	ret = grt_keyed_get_or_count(&s->groups, &key, &s->over, &found);
	g = found;
	if (!g)
		return ret;
	if (!g->is_met || e->type == GRT_EV_TSG_INIT) {
		*g = (struct sched_group){true, e->type != GRT_EV_TSG_INIT};
		s->partly += g->is_partly;
	}
	*partly = g->is_partly;
	if (e->type == GRT_EV_TSG_DESTROY)
		grt_keyed_remove(&s->groups, g);
	return 0;
}

static int sched_on_tsg(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct sched *s = (struct sched *)c;
	bool partly;
	int ret;

	if (s->pid && s->pid != e->pid)
		return 0;
	ret = sched_follow(s, e, &partly);
	if (!ret && s->c.slice)
		ret = grt_tsgs_event(&s->tsgs, e, &s->names);
	if (ret)
		return ret;
	s->seen[e->type]++;
	s->refusals += sched_status(e) != 0;
	if (!sched_is_shown(s, e))
		return 0;
	errno = 0;
	sched_line(s, e, cpu, partly);
	if (!ferror(stdout))
		return 0;
	s->write_error = errno ? errno : EIO;
	return SCHED_STOP;
}

/* Also a slice that is only partly in the requested time. */
static int sched_on_slice(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct sched *s = (struct sched *)c;

	if (e->type != GRT_EV_GPU_SLICE || (s->pid && s->pid != e->pid))
		return 0;
	return grt_tsgs_event(&s->tsgs, e, &s->names);
}

static int sched_on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	return grt_event_json_see(((struct sched *)c)->json, e, 0);
}

static int sched_on_name(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	return grt_names_add(&((struct sched *)c)->names, (const struct grt_ev_name *)e);
}

/* ------------------------------------------------------------- end */

static const struct {
	const char *name;
	enum grt_event_type type;
} counted[] = {
	{"task_init", GRT_EV_TSG_INIT},
	{"schedule", GRT_EV_TSG_SCHEDULE},
	{"work_submit", GRT_EV_TSG_TOKEN},
	{"task_destroy", GRT_EV_TSG_DESTROY},
};
#define COUNTED (sizeof(counted) / sizeof(counted[0]))

static void print_statistics(const struct sched *s)
{
	uint64_t lost = grt_session_health(s->session)->balance.fate[GRT_FATE_LOST];

	puts("=== Statistics ===");
	for (size_t i = 0; i < COUNTED; i++)
		printf("%-13s %" PRIu64 "\n", counted[i].name, s->seen[counted[i].type]);
	if (s->partly)
		printf("%-13s %" PRIu64 "\n", "partly_known", s->partly);
	if (s->refusals)
		printf("%-13s %" PRIu64 "\n", "refused", s->refusals);
	printf("%-13s %" PRIu64 "\n", "dropped", lost);
}

/* The time for which groups had a GPU, if the recording has slices of it. Return: 0 or -ENOMEM */
static int sched_write_times(struct sched *s, struct grt_writer *w)
{
	struct grt_notes notes = {.n = 0};
	int ret = grt_tsg_times_write(&s->tsgs.times, &s->names, s->span.known ? s->span.last : 0, UINT64_MAX,
				      w, &notes);

	grt_notes_write(&notes, w);
	return ret;
}

static int sched_write_json(struct sched *s, FILE *out)
{
	const struct grt_writer_options options = {.out = out};
	struct grt_fields f = {.n = 0};
	struct grt_writer *w;
	int ret = grt_writer_new(&w, &writer_json, &options);

	if (ret)
		return ret;
	for (size_t i = 0; i < COUNTED; i++)
		grt_field_number(&f, counted[i].name, s->seen[counted[i].type], NULL);
	grt_field_number(&f, "partly_known", s->partly, NULL);
	grt_field_number(&f, "refused", s->refusals, NULL);
	grt_field_number(&f, "dropped", grt_session_health(s->session)->balance.fate[GRT_FATE_LOST], NULL);
	grt_writer_begin(w);
	grt_fields_write(&f, w, "statistics", "statistics");
	if (s->tsgs.times.slices)
		ret = sched_write_times(s, w);
	grt_writer_end(w);
	grt_writer_free(w);
	return ret;
}

/* The last line: counts, and the same times as in the text form. Return: 0 or -ENOMEM */
static int sched_print_json(struct sched *s)
{
	struct grt_memfile memory;
	FILE *out = grt_memfile_open(&memory);
	int ret = out ? sched_write_json(s, out) : -ENOMEM;
	char *text = grt_memfile_close(&memory, out, NULL);

	if (!text)
		return -ENOMEM;
	if (!ret)
		cmd_put_one_line(text);
	free(text);
	return ret;
}

static int sched_print_times(struct sched *s)
{
	struct grt_writer_options options = {.out = stdout, .colour = cmd_colour()};
	struct grt_writer *w;
	int ret;

	terminal_fit(&options, false);
	ret = grt_writer_new(&w, &writer_text, &options);
	if (ret)
		return ret;
	grt_writer_begin(w);
	ret = sched_write_times(s, w);
	grt_writer_end(w);
	grt_writer_free(w);
	putchar('\n');
	return ret;
}

static int sched_finish(struct sched *s, int ret, const struct grt_err *err)
{
	if (s->write_error)
		return cmd_write_failed(s->write_error);
	if (s->as_json ? sched_print_json(s) : s->tsgs.times.slices ? sched_print_times(s) : 0)
		return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "cannot sum up the GPU's time");
	if (!s->as_json)
		print_statistics(s);
	if (s->over)
		grt_say(stderr,
			"grtrace sched: %" PRIu64
			" {event belongs|events belong} to groups whose start is unknown (limit of %u groups)\n",
			s->over, GRT_TSGS_MAX);
	return reading_judge(s->session, s->input, 0, ret < 0 ? ret : 0, err);
}

/* ------------------------------------------------------------- input */

/* Takes the recorder's notes about the clocks; a text only has its own clock. */
static void sched_take_clock(struct sched *s)
{
	const char *text = grt_session_env(s->session, "clock_start");
	unsigned long long monotonic, realtime;

	if (text && sscanf(text, "monotonic=%llu realtime=%llu", &monotonic, &realtime) == 2)
		s->offset = (int64_t)(realtime - monotonic);
	else
		s->own_clock = true;
}

static void sched_begin_times(struct sched *s)
{
	struct grt_tsg_times *t = &s->tsgs.times;

	s->c.slice = s->c.late = sched_on_slice;
	t->from = opt.filter.from.set ? s->span.first : 0;
	t->to = opt.filter.to.set ? s->span.last : UINT64_MAX;
	t->first = s->span.known ? s->span.first : 0;
}

static int sched_replay(struct sched *s, const char *path)
{
	struct grt_err err = {.what = ""};
	int ret, status;

	if (opt.seconds > 0)
		return cmd_usage_error("-d works only on live events, not with -i");
	ret = grt_session_open(&s->session, path, &err);
	if (ret)
		return cmd_error(cmd_open_status(ret), &err);
	terminal_page();
	s->input = path;
	sched_take_clock(s);
	status = filter_session(&opt.filter, s->session, false);
	if (status == EXIT_DONE)
		status = reading_span(s->session, &opt.filter.from, &opt.filter.to, &s->span);
	if (status == EXIT_DONE) {
		sched_begin_times(s);
		ret = grt_session_run(s->session, &s->c, opt.filter.from.set ? s->span.first : 0,
				      opt.filter.to.set ? s->span.last : UINT64_MAX, &err);
		status = sched_finish(s, ret, &err);
	}
	grt_session_close(s->session);
	return status;
}

static void sched_note(const char *text)
{
	cmd_tell("sched", text);
}

static int sched_flush_lines(void *arg)
{
	struct sched *s = arg;

	s->write_error = cmd_flush();
	return s->write_error ? SCHED_STOP : 0;
}

static int sched_run_live(struct sched *s, struct live *l)
{
	const struct live_limits limits = {.seconds = opt.seconds, .idle = sched_flush_lines, .arg = s};
	struct grt_err err = {.what = ""};
	int ret = live_start(l, &err);

	if (ret)
		return cmd_error(kmod_exit_status(ret), &err);
	if (isatty(STDERR_FILENO))
		fputs("grtrace sched: Ctrl-C ends and prints the counts\n", stderr);
	s->session = live_session(l);
	if (filter_session(&opt.filter, s->session, true) != EXIT_DONE)
		return EXIT_FAILED;
	ret = live_run(l, &s->c, &limits, &err);
	return sched_finish(s, ret, &err);
}

static int sched_watch(struct sched *s)
{
	const struct live_setup setup = {
		.sources = "nvsched",
		.pid = (pid_t)opt.filter.pid,
		.flag = opt.refused ? "include-failed" : NULL,
		.note = sched_note,
	};
	struct grt_err err = {.what = ""};
	struct live *l = NULL;
	int ret, status;

	s->input = "live";
	s->offset = (int64_t)(grt_clock_ns(CLOCK_REALTIME) - grt_clock_ns(CLOCK_MONOTONIC));
	ret = live_open(&l, &setup, &err);
	status = ret ? cmd_error(kmod_exit_status(ret), &err) : sched_run_live(s, l);
	ret = live_close(l, &err);
	if (ret && status == EXIT_DONE)
		status = cmd_error(kmod_exit_status(ret), &err);
	return status;
}

static int sched_sched_run(int argc, char **argv)
{
	struct sched s = {
		.c = {.tsg = sched_on_tsg, .name = sched_on_name},
		.pid = (uint32_t)opt.filter.pid,
		.as_json = opt.json,
		.verbose = opt.verbose,
		.refused = opt.refused,
	};
	const char *path = opt.input ? opt.input : argc ? argv[0] : NULL;
	int status;

	if (argc > 1 || (argc && opt.input))
		return cmd_usage_error("more than one trace: '%s'", argv[argc - 1]);
	status = filter_check(&opt.filter, path ? FILTER_RING : FILTER_RING | FILTER_TIME,
			      path ? "channel groups are on runlists, and no event has their ring"
				   : "it works only with recordings");
	if (status != EXIT_DONE)
		return status;
	if (sched_line_new(&s))
		return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "cannot begin");
	s.c.event = s.json ? sched_on_event : NULL;
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	grt_keyed_init(&s.groups, sizeof(struct sched_group), GRT_TSGS_MAX);
	grt_tsgs_init(&s.tsgs);
	status = path ? sched_replay(&s, path) : sched_watch(&s);
	grt_keyed_free(&s.groups);
	grt_tsgs_free(&s.tsgs);
	grt_names_free(&s.names);
	grt_event_json_free(s.json);
	grt_event_text_free(s.text);
	filter_free(&opt.filter);
	return status;
}

static const struct grt_table statistics_pairs = {"statistics", NULL, NULL, GRT_TABLE_PAIRS};

static const struct cmd_json sched_json = {
	.title = "the last line of grtrace sched --json; those before it are events",
	.tables = GRT_TABLES(&statistics_pairs, &grt_tsg_time_table, &grt_tsg_change_table),
};

const struct cmd cmd_sched = {
	.reads = true,
	.usage =
		"[-v] [-p PID] [-d SECONDS] [--include-failed] [--json] [-i PATH] [--from T] [--to T] [--type T[,T]]",
	.opts = opts,
	.run = sched_sched_run,
	.json = &sched_json,
};
