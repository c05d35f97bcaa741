// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace dump: the events of a trace, one line each, in the order of time. The rows of events.def determine
 * what is printed. Names that only other records contain (of threads and rings) are those seen so far.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include <grtrace/event_table.h>

#include "kmod/kmod.h"
#include "cmd.h"
#include "base/escape.h"
#include "base/say.h"
#include "lines/event_json.h"
#include "lines/event_text.h"
#include "trace/packet.h"
#include "reading.h"

#define NOT_GIVEN UINT64_MAX
/* Time between two reads of a live stream. */
#define LIVE_PERIOD_NS 100000000

static const char *opt_input;
static struct filter opt_filter;
static uint64_t opt_count = NOT_GIVEN;
static bool opt_json;

static const struct cmd_opt opts[] = {
	{"input", 'i', OPT_STR, "PATH", &opt_input,
	 "recording, raw file or text (default: ./" DEFAULT_INPUT ", else the live module)"},
	{"count", 'n', OPT_U64, "N", &opt_count, "stop after N events"},
	FILTER_OPTIONS(opt_filter, 't'),
	{"json", 'j', OPT_FLAG, NULL, &opt_json, "a JSON object per line"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

/**
 * struct dump - one run
 * @c: gets the events of the session
 * @left: number of events still to be printed
 * @write_error: errno of a failed write, 0: none
 * @json, @text: the writer of events; one of the two is used
 * @joins: names for @text
 */
struct dump {
	struct grt_consumer c;
	uint64_t left;
	int write_error;
	struct grt_event_json *json;
	struct grt_event_text *text;
	struct grt_joins joins;
};

static const char *const flag_names[] = {
#define GRT_FLAG(NAME, name, help) #name,
#include <grtrace/flags.def>
#undef GRT_FLAG
};

static const struct grt_event_desc *dump_describe(const struct grt_event *e)
{
	const struct grt_event_desc *d = e->type < GRT_EV_MAX ? &grt_event_table[e->type] : NULL;

	return d && d->name ? d : NULL;
}

static int dump_name(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	return grt_joins_name(&((struct dump *)c)->joins, (const struct grt_ev_name *)e, 0);
}

static const char *engine_name(const struct grt_event *e)
{
	return e->engine < GRT_ENGINE_MAX ? grt_engine_names[e->engine] : NULL;
}

static void text_name(const struct grt_joins_name *n)
{
	putchar('(');
	grt_escape_print(GRT_ESCAPE_TERM, stdout, n->name, sizeof(n->name));
	putchar(')');
}

static void text_identity(struct dump *d, const struct grt_event *e)
{
	struct grt_joined joined;

	grt_joins_look(&d->joins, e, 0, &joined);
	if (e->ring != GRT_RING_NONE)
		printf(" ring=%u", e->ring);
	if (joined.ring)
		text_name(&joined.ring->as_told);
	if (engine_name(e) && e->engine)
		printf(" engine=%s", engine_name(e));
	else if (e->engine)
		printf(" engine=%u", e->engine);
	if (e->pid || e->tid)
		printf(" pid=%u/%u", e->pid, e->tid);
	if (joined.thread)
		text_name(&joined.thread->as_told);
	if (e->ctx && !grt_has_job(e))
		printf(" image=%llx", (unsigned long long)e->ctx);
	else if (e->ctx)
		printf(" ctx=%llu seqno=%llu", (unsigned long long)e->ctx, (unsigned long long)e->seqno);
}

static void text_rest(const struct grt_event *e)
{
	const char *sep = " flags=";

	if (e->device)
		printf(" device=%u", e->device);
	if (e->sample)
		printf(" sample=%u", e->sample);
	for (unsigned int i = 0; i < GRT_FLAG_BITS; i++) {
		if (!(e->flags & (1U << i)))
			continue;
		printf("%s%s", sep, flag_names[i]);
		sep = "|";
	}
	if (e->flags >> GRT_FLAG_BITS)
		printf("%s0x%x", sep, e->flags >> GRT_FLAG_BITS << GRT_FLAG_BITS);
}

static void dump_print_text(struct dump *d, const struct grt_event *e, uint32_t cpu)
{
	const struct grt_event_desc *desc = dump_describe(e);
	char title[24], fields[GRT_EVENT_TEXT_MAX];

	snprintf(title, sizeof(title), "UNKNOWN(%u)", e->type);
	printf("%6llu.%09llu [%03u] %-15s", (unsigned long long)(e->time / NS_PER_S),
	       (unsigned long long)(e->time % NS_PER_S), cpu, desc ? desc->title : title);
	text_identity(d, e);
	*grt_event_text_put(d->text, fields, e) = '\0';
	fputs(fields, stdout);
	text_rest(e);
	putchar('\n');
}

static int dump_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct dump *d = (struct dump *)c;
	int ret = d->json ? grt_event_json_see(d->json, e, 0) : 0;

	if (ret)
		return ret;
	if (grt_filter_any(&opt_filter.f) && !opt_filter.f.shown)
		return 0;
	if (!d->left)
		return 1;
	errno = 0;
	if (d->json)
		grt_event_json_print(d->json, stdout, e, cpu, "");
	else
		dump_print_text(d, e, cpu);
	if (ferror(stdout)) {
		d->write_error = errno ? errno : EIO;
		return 1;
	}
	d->left--;
	return d->left ? 0 : 1;
}

/* Faults are reported after everything that could be read. */
static int dump_judge(const char *path, const struct grt_health *h)
{
	struct grt_err err = h->first;
	uint64_t faults = 0;
	size_t used;

	for (unsigned int i = 0; i < GRT_FAULTS; i++)
		faults += h->fault[i];
	if (!faults && !h->finished) {
		fputs("grtrace dump: ", stderr);
		cmd_put_text(stderr, path);
		fputs(": the recorder did not finish this recording: it still runs or was killed\n", stderr);
	}
	if (!faults)
		return EXIT_DONE;
	used = strlen(err.why);
	if (faults > 1 || h->missing_events)
		grt_say_text(
			err.why + used, sizeof(err.why) - used,
			"%s%llu {fault|faults} in all, %llu {byte|bytes} skipped, %llu {event|events} missing",
			used ? "; " : "", (unsigned long long)faults, (unsigned long long)h->skipped_bytes,
			(unsigned long long)h->missing_events);
	return cmd_error(EXIT_FAILED, &err);
}

/*
 * If the reader of the output (head) has closed it, that is no error, and nothing is printed. Return:
 * EXIT_DONE; @quiet: whether it was that
 */
static int close_output(struct dump *d, bool *quiet)
{
	if (!d->write_error)
		d->write_error = cmd_flush();
	*quiet = d->write_error == EPIPE;
	return d->write_error ? cmd_write_failed(d->write_error) : cmd_close_stdout();
}

static int run_session(struct dump *d, struct grt_session *s, const char *path)
{
	struct reading_span span;
	struct grt_err err;
	bool quiet;
	int ret, status = reading_span(s, &opt_filter.from, &opt_filter.to, &span);

	if (status != EXIT_DONE)
		return status;
	ret = grt_session_run(s, &d->c, opt_filter.from.set ? span.first : 0,
			      opt_filter.to.set ? span.last : UINT64_MAX, &err);
	status = close_output(d, &quiet);
	if (quiet || status != EXIT_DONE)
		return status;
	if (ret < 0)
		return cmd_error(EXIT_FAILED, &err);
	if (!ret && grt_session_gpu_missing(s, &err))
		return cmd_error(EXIT_FAILED, &err);
	return dump_judge(path, grt_session_health(s));
}

static int dump_path(struct dump *d, const char *path)
{
	struct grt_session *s;
	struct grt_err err;
	int ret = grt_session_open(&s, path, &err);

	if (ret)
		return cmd_error(cmd_open_status(ret), &err);
	terminal_page();
	ret = filter_session(&opt_filter, s, false);
	if (ret == EXIT_DONE)
		ret = run_session(d, s, path);
	grt_session_close(s);
	return ret;
}

/*
 * Prints the events since the last call; @last: up to the end. Return: as kmod_live_pump(); 0: the output
 * was closed
 */
static int dump_pump(struct dump *d, struct kmod *k, struct grt_session *s, bool last, struct grt_err *err)
{
	int ret = (last ? kmod_live_end : kmod_live_pump)(k, s, &d->c, err);

	if (!d->write_error)
		d->write_error = cmd_flush();
	return d->write_error || !d->left ? 0 : ret;
}

static int dump_run_live(struct dump *d, struct kmod *k, struct grt_session *s)
{
	const struct timespec period = {.tv_nsec = LIVE_PERIOD_NS};
	struct grt_err err;
	bool last, quiet;
	int ret, status;

	cmd_catch_signals();
	if (isatty(STDERR_FILENO))
		fputs("grtrace dump: reading the live module; Ctrl-C ends\n", stderr);
	do {
		last = cmd_signal;
		ret = dump_pump(d, k, s, last, &err);
		if (ret > 0 && !last)
			nanosleep(&period, NULL);
	} while (ret > 0 && !last);
	status = close_output(d, &quiet);
	if (quiet || status != EXIT_DONE)
		return status;
	return ret < 0 ? cmd_error(EXIT_FAILED, &err) : dump_judge("live module", grt_session_health(s));
}

static int dump_live(struct dump *d)
{
	struct kmod k = {.dir = -1};
	struct grt_session *s = NULL;
	struct grt_err err;
	int ret = kmod_open(&k, &err);

	if (ret == -ENODEV || ret == -ENOENT || ret == -EACCES || ret == -EPERM)
		return cmd_no_input(DEFAULT_INPUT, ret);
	if (!ret)
		ret = kmod_live_session(&k, &s, &err);
	ret = ret ? cmd_error(kmod_exit_status(ret), &err) : filter_session(&opt_filter, s, true);
	if (ret == EXIT_DONE)
		ret = dump_run_live(d, &k, s);
	grt_session_close(s);
	kmod_close(&k);
	return ret;
}

static int dump_run(int argc, char **argv)
{
	const char *path = opt_input ? opt_input : argc ? argv[0] : NULL;
	struct dump *d;
	int ret;

	if (argc > 1 || (argc && opt_input))
		return cmd_usage_error("more than one trace: '%s'", argv[argc - 1]);
	if (filter_check(&opt_filter, 0, NULL) != EXIT_DONE)
		return EXIT_USAGE;
	d = calloc(1, sizeof(*d));
	if (!d || (opt_json ? grt_event_json_new(&d->json)
			    : grt_event_text_new(&d->text, &(struct grt_text_style){.rows = NULL})))
		return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "cannot begin");
	grt_joins_init(&d->joins, GRT_ESCAPE_TERM);
	d->c.event = dump_event;
	d->c.name = d->text ? dump_name : NULL;
	d->left = opt_count;
	if (!path && !access(DEFAULT_INPUT, F_OK))
		path = DEFAULT_INPUT;
	if (!path && (opt_filter.from.set || opt_filter.to.set))
		ret = cmd_usage_error("--from and --to work only with recordings");
	else
		ret = path ? dump_path(d, path) : dump_live(d);
	filter_free(&opt_filter);
	grt_event_json_free(d->json);
	grt_event_text_free(d->text);
	grt_joins_fini(&d->joins);
	free(d);
	return ret;
}

const struct cmd cmd_dump = {
	.reads = true,
	.usage =
		"[PATH] [-i PATH] [-n N] [--type T[,T]] [--pid PID] [--ring R] [--device GPU] [--from T] [--to T] [--json]",
	.opts = opts,
	.run = dump_run,
};
