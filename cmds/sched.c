// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace sched: requests to the scheduler of NVIDIA's driver, one line each, live or from a recording, and
 * counts at the end. sched_line.c formats the lines.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kmod/kmod.h"
#include "base/memfile.h"
#include "base/say.h"
#include "nvidia/tsg.h"
#include "filter.h"
#include "live.h"
#include "sched.h"
#include "terminal.h"

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

uint32_t sched_status(const struct grt_event *e)
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
