// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace annotate: the calls of threads to the GPU's driver: DRM ioctls, entered and left, one line each,
 * live or from a trace. lib/lines/line_out.c formats the lines.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "kmod/kmod.h"
#include "base/say.h"
#include "cmd.h"
#include "lines/line_out.h"
#include "reading.h"
#include "live.h"
#include "outfile.h"

/* ---------------------------------------------------------------- events */

/*
 * The events of a session as lines, as `grtrace annotate` prints them: the
 * calls of threads on GPU device files, with the duration of each ioctl.
 */

/**
 * struct grt_annotate - embed it, or use it as it is
 * @c: the consumer of the session
 * @lines: writes the lines
 * @pid: only events of this process, 0: of all
 * @all: every event, not only those of the CPU
 * @stop: ends the run with -EINTR when it is not 0; may be NULL
 */
struct grt_annotate {
	struct grt_consumer c;
	struct grt_line_out *lines;
	uint32_t pid;
	bool all;
	volatile int *stop;
};

static int annotate_on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct grt_annotate *a = (struct grt_annotate *)c;

	if (a->stop && *a->stop)
		return -EINTR;
	if (e->type != GRT_EV_NAME) {
		if (!a->all && !grt_line_out_is_cpu(e->type))
			return 0;
		if (a->pid && e->pid != a->pid)
			return 0;
	}
	return grt_line_out_event(a->lines, e, cpu, 0);
}

/**
 * annotate_init - begins
 * @form: GRT_LINE_OUT_ANNOTATE or _JSON
 * @fd: file descriptor for the lines
 * Return: 0 or -ENOMEM
 */
static int annotate_init(struct grt_annotate *a, enum grt_line_form form, int fd)
{
	*a = (struct grt_annotate){.c = {.event = annotate_on_event}};
	return grt_line_out_new(&a->lines, form, fd);
}

/** annotate_fini - frees its memory; lines that were not flushed are lost */
static void annotate_fini(struct grt_annotate *a)
{
	grt_line_out_free(a->lines);
	a->lines = NULL;
}

#define SOURCE "ioctl"

static struct {
	struct filter filter;
	const char *output;
	double seconds;
	const char *input;
	uint64_t buffer;
	bool all;
	bool json;
} opt;

static const struct cmd_opt opts[] = {
	FILTER_OPTIONS(opt.filter, 't'),
	{"output", 'o', OPT_STR, "FILE", &opt.output, "write here (default: standard output)"},
	{"duration", 'd', OPT_SECONDS, "SECONDS", &opt.seconds, "live: end after this time"},
	{"input", 'i', OPT_STR, "PATH", &opt.input, "a recording or text instead of this system"},
	{"buffer", 0, OPT_SIZE, "SIZE", &opt.buffer, "live: kernel buffer per CPU, like 16M"},
	{"all", 'a', OPT_FLAG, NULL, &opt.all, "with -i: every event, not only those of the CPU"},
	{"json", 'j', OPT_FLAG, NULL, &opt.json, "a JSON object per line"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

/** struct annotating - one run */
struct annotating {
	struct grt_annotate a;
	struct outfile out;
};

static void annotate_note(const char *text)
{
	cmd_tell("annotate", text);
}

static void annotate_show_counts(const struct annotating *run, const struct grt_health *h)
{
	const struct grt_line_out_count *c = grt_line_out_count(run->a.lines);
	char text[200];
	size_t used;

	used = (size_t)grt_say_text(text, sizeof(text), "%" PRIu64 " {ioctl|ioctls}, %" PRIu64 " lost",
				    c->calls + c->open_exits, (uint64_t)h->balance.fate[GRT_FATE_LOST]);
	if (c->open_exits)
		used += (size_t)grt_say_text(text + used, sizeof(text) - used,
					     "; %" PRIu64
					     " began before the trace: {its|their} duration is unknown",
					     c->open_exits);
	if (c->events[GRT_EV_IOCTL_ENTER] > c->calls)
		snprintf(text + used, sizeof(text) - used, "; %" PRIu64 " did not end",
			 c->events[GRT_EV_IOCTL_ENTER] - c->calls);
	annotate_note(text);
	if (h->balance.fate[GRT_FATE_LOST] && !opt.input)
		fputs("  try: a larger --buffer, so that nothing is lost\n", stderr);
}

/* Faults of the input are reported after everything that could be read. */
static int annotate_judge(const struct grt_health *h)
{
	uint64_t faults = 0;

	if (h->text.bad)
		grt_say(stderr,
			"grtrace annotate: %" PRIu64 " of %" PRIu64
			" {line was|lines were} not understood, the first is line %" PRIu64 "\n",
			h->text.bad, h->text.lines, h->text.bad_line);
	if (h->text.skipped)
		grt_say(stderr,
			"grtrace annotate: %" PRIu64
			" {line is an event of another kind|lines are events of other kinds}, skipped\n",
			h->text.skipped);
	for (unsigned int i = 0; i < GRT_FAULTS; i++)
		faults += h->fault[i];
	return faults ? cmd_error(EXIT_FAILED, &h->first) : EXIT_DONE;
}

/* If a reader (head) has seen enough, that is no failure. Return: an exit status */
static int annotate_finish(struct annotating *run, const struct grt_health *h, int ret, struct grt_err *err)
{
	int written = grt_line_out_flush(run->a.lines), status;

	if (written == -EPIPE)
		return EXIT_DONE;
	if (written) {
		outfile_failed(&run->out, written, err);
		return cmd_error(EXIT_FAILED, err);
	}
	if (ret == -EINTR)
		return 128 + cmd_signal;
	if (ret < 0)
		return cmd_error(kmod_exit_status(ret), err);
	annotate_show_counts(run, h);
	status = annotate_judge(h);
	if (outfile_keep(&run->out, err))
		return cmd_error(EXIT_FAILED, err);
	return status;
}

static int start_lines(struct annotating *run)
{
	if (annotate_init(&run->a, opt.json ? GRT_LINE_OUT_JSON : GRT_LINE_OUT_ANNOTATE, run->out.fd))
		return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "cannot begin");
	run->a.pid = (uint32_t)opt.filter.pid;
	run->a.all = opt.all;
	return EXIT_DONE;
}

/* ------------------------------------------------------------ a recording */

static int annotate_recording(struct annotating *run)
{
	struct grt_session *s = NULL;
	struct grt_err err = {.what = ""};
	struct reading_span span;
	int status, ret = grt_session_open(&s, opt.input, &err);

	if (ret)
		return cmd_error(cmd_open_status(ret), &err);
	if (!opt.output)
		terminal_page();
	status = filter_session(&opt.filter, s, false);
	if (status == EXIT_DONE)
		status = reading_span(s, &opt.filter.from, &opt.filter.to, &span);
	if (status != EXIT_DONE) {
		grt_session_close(s);
		return status;
	}
	ret = outfile_open(&run->out, opt.output, &err);
	status = ret ? cmd_error(EXIT_FAILED, &err) : start_lines(run);
	if (status == EXIT_DONE) {
		cmd_catch_signals();
		run->a.stop = &cmd_signal;
		ret = grt_session_run(s, &run->a.c, opt.filter.from.set ? span.first : 0,
				      opt.filter.to.set ? span.last : UINT64_MAX, &err);
		status = annotate_finish(run, grt_session_health(s), ret, &err);
	}
	grt_session_close(s);
	return status;
}

/* ------------------------------------------------------------------- live */

static int on_idle(void *arg)
{
	return grt_line_out_flush(((struct annotating *)arg)->a.lines);
}

static int annotate_run_live(struct annotating *run, struct live *l)
{
	const struct live_limits limits = {.seconds = opt.seconds, .idle = on_idle, .arg = run};
	struct grt_err err = {.what = ""};
	int status, ret = live_start(l, &err);

	if (ret)
		return cmd_error(kmod_exit_status(ret), &err);
	if (isatty(STDERR_FILENO))
		annotate_note("tracing the ioctls of GPU device files; Ctrl-C ends it");
	if (filter_session(&opt.filter, live_session(l), true) != EXIT_DONE)
		return EXIT_FAILED;
	ret = live_run(l, &run->a.c, &limits, &err);
	status = annotate_finish(run, grt_session_health(live_session(l)), ret, &err);
	return status;
}

static int annotate_live(struct annotating *run)
{
	const struct live_setup setup = {.sources = SOURCE,
					 .pid = (pid_t)opt.filter.pid,
					 .buffer_size = opt.buffer,
					 .note = annotate_note};
	struct grt_err err = {.what = ""};
	struct live *l = NULL;
	int status, ret;

	ret = live_open(&l, &setup, &err);
	status = ret ? cmd_error(kmod_exit_status(ret), &err) : EXIT_DONE;
	/* lines should appear as events come */
	if (status == EXIT_DONE && outfile_now(&run->out, opt.output, &err))
		status = cmd_error(EXIT_FAILED, &err);
	if (status == EXIT_DONE)
		status = start_lines(run);
	if (status == EXIT_DONE)
		status = annotate_run_live(run, l);
	ret = live_close(l, &err);
	return ret && status == EXIT_DONE ? cmd_error(EXIT_FAILED, &err) : status;
}

static int annotate_run(int argc, char **argv)
{
	struct annotating run = {.out.fd = -1};
	int status;

	if (argc)
		return cmd_usage_error("unexpected '%s': give a trace with -i", argv[0]);
	if (opt.input && opt.seconds > 0)
		return cmd_usage_error("-d works only on live events, not with -i");
	if (opt.all && !opt.input)
		return cmd_usage_error("--all works only with -i: live events are only ioctls");
	if (opt.input && opt.buffer)
		return cmd_usage_error("--buffer works only on live events, not with -i");
	status = filter_check(&opt.filter, opt.input ? 0 : FILTER_TIME, "it works only with recordings");
	if (status == EXIT_DONE)
		status = cmd_buffer_usage(opt.buffer);
	if (status == EXIT_DONE)
		status = outfile_usage(opt.output, opt.input);
	if (status != EXIT_DONE)
		return status;
	signal(SIGPIPE, SIG_IGN);
	status = opt.input ? annotate_recording(&run) : annotate_live(&run);
	annotate_fini(&run.a);
	outfile_drop(&run.out);
	filter_free(&opt.filter);
	return status;
}

const struct cmd cmd_annotate = {
	.reads = true,
	.usage =
		"[-p PID] [-o FILE] [-d SECONDS] [--buffer SIZE] [-i PATH [--all]] [--from T] [--to T] [--comm NAME] [--json]",
	.opts = opts,
	.run = annotate_run,
};
