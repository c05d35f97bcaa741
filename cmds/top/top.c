// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace top: what the GPUs do now, and for which processes. Reads the command line, opens sources or a
 * recording, and shows the figures of each update: on a terminal, or one after the other as text or JSON.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kmod/kmod.h"
#include "base/memfile.h"
#include "cmds/live.h"
#include "cmds/reading.h"
#include "cmds/cmd.h"
#include "top.h"

/* The default sources: each one has facts about a GPU that the others lack. */
#define TOP_SOURCES_HERE "power,drm,nvctxsw,vblank"
#define INTERVAL 1.0
/* Defaults of --last and --last-size. */
#define LAST_SECONDS 30.0
#define LAST_SIZE (64ULL << 20)
#define LAST_SIZE_MIN (1ULL << 20)
#define OUTPUT "grtrace.top.grt"

static struct {
	const char *input;
	const char *sources;
	uint64_t pid;
	uint64_t updates;
	double interval;
	const char *output;
	double last;
	uint64_t last_size;
	bool no_last;
	bool stack;
	bool batch;
	bool json;
	bool wide;
} opt;

static const struct cmd_opt opts[] = {
	{"batch", 'b', OPT_FLAG, NULL, &opt.batch, "print the updates one after the other, without a screen"},
	{"updates", 'n', OPT_U64, "N", &opt.updates, "end after this number of updates"},
	{"interval", 's', OPT_SECONDS, "SECONDS", &opt.interval, "time of an update (default: 1)"},
	{"json", 'j', OPT_FLAG, NULL, &opt.json, "like -b, with one JSON object per line"},
	{"input", 'i', OPT_STR, "PATH", &opt.input, "like -b, for a recording, a raw file or text"},
	{"event", 'e', OPT_STR, "SRC,...", &opt.sources,
	 "live: record from these sources (default: those of " TOP_SOURCES_HERE " that work here)"},
	{"pid", 'p', OPT_PID_GPU, "PID", &opt.pid,
	 "live: only events of this process; end when it ends. gpu: with -e cuda, all processes that use CUDA"},
	{"stack", 0, OPT_FLAG, NULL, &opt.stack,
	 "live: record the CPU stack of each submit and launch, and show the hottest ones"},
	{"output", 'o', OPT_STR, "DIR", &opt.output,
	 "live: the key r writes the last seconds to this recording (default: " OUTPUT
	 "); with -b, the end of the run does"},
	{"last", 0, OPT_SECONDS, "TIME", &opt.last, "live: keep this time in memory for -o (default: 30)"},
	{"last-size", 0, OPT_SIZE, "SIZE", &opt.last_size,
	 "live: limit of the memory for --last (default: 64M)"},
	{"no-last", 0, OPT_FLAG, NULL, &opt.no_last, "live: keep nothing for that"},
	TERMINAL_WIDE_OPTION(&opt.wide),
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

/* ------------------------------------------------------------------- an update */

static const struct grt_table update_pairs = {"update", "update", NULL, GRT_TABLE_PAIRS};

static const struct cmd_json top_json = {
	.title = "a line of grtrace top --json",
	.tables = GRT_TABLES(&update_pairs, &top_gpu_table, &top_engine_table, &top_process_table,
			     &top_share_table, &top_stack_table),
};

/* Adds the time and size of a recording that would be written now. */
static void top_head_kept(const struct top *t, struct grt_fields *f)
{
	uint64_t ns, bytes;

	if (!t->last)
		return;
	top_last_held(t->last, &ns, &bytes);
	grt_field_add(f, "kept", GRT_CELL_NS, (struct grt_cell){.number = ns},
		      "time that a recording would have now");
	grt_field_add(f, "kept_bytes", GRT_CELL_BYTES, (struct grt_cell){.number = bytes},
		      "memory that this time takes");
}

static void top_head(const struct top *t, struct grt_fields *f)
{
	const struct reading_span span = {t->from, t->to, true};

	grt_field_add(f, "sources", GRT_CELL_TEXT,
		      (struct grt_cell){.text = t->sources[0] ? t->sources : t->input}, NULL);
	reading_span_fields(f, &span);
	grt_field_number(f, "events", t->now.events - t->before.events, NULL);
	grt_field_number(f, "jobs", t->now.jobs - t->before.jobs, "jobs that ended, kernels and copies");
	grt_field_number(f, "lost", t->now.lost - t->before.lost, "lost events");
	grt_field_number(f, "lost_since", t->now.lost, "since top started");
	top_head_kept(t, f);
}

static int top_compare_share(const void *a, const void *b)
{
	const struct top_process *x = *(void *const *)a, *y = *(void *const *)b;
	const struct grt_column *share = grt_column_find(&top_process_table, "share");
	const struct grt_cell p = grt_column_get(share, NULL, x), q = grt_column_get(share, NULL, y);

	return grt_cell_order(share, &p, &q) ?: (x->pid > y->pid) - (x->pid < y->pid);
}

static int top_compare_time(const void *a, const void *b)
{
	const struct top_stack *x = *(void *const *)a, *y = *(void *const *)b;

	return (x->time.value < y->time.value) - (x->time.value > y->time.value)
		       ?: (x->jobs < y->jobs) - (x->jobs > y->jobs)
		       ?: (x->pid > y->pid) - (x->pid < y->pid)
		       ?: (x->stack > y->stack) - (x->stack < y->stack);
}

static int top_write_keyed(struct grt_writer *w, const struct top *t, const struct grt_table *table,
			   const struct grt_keyed *k, int (*compare)(const void *a, const void *b))
{
	void **rows;
	int ret = grt_keyed_list(k, compare, &rows);

	if (ret)
		return ret;
	ret = grt_writer_list(w, table, t, rows, k->used);
	free(rows);
	return ret;
}

static int top_list_gpus(const void *a, const void *b)
{
	return top_by_device(*(void *const *)a, *(void *const *)b);
}

static void top_note(struct top *t)
{
	uint64_t lost = t->now.lost - t->before.lost;

	if (lost)
		grt_note(&t->notes, "%" PRIu64 " {event was|events were} lost: the counts are too low", lost);
	if (t->stacks.over + t->waits.over)
		grt_note(&t->notes,
			 "%" PRIu64
			 " {time|times} a stack or thread was not counted, because there were too many",
			 t->stacks.over + t->waits.over);
	if (top_cuda_over(t->cuda))
		grt_note(
			&t->notes,
			"%" PRIu64
			" {kernel or copy has|kernels and copies have} no row, because there are too many streams",
			top_cuda_over(t->cuda));
	if (t->late)
		grt_note(
			&t->notes,
			"%" PRIu64
			" {kernel or copy|kernels and copies} began in the time of an earlier update, whose shares are too small",
			t->late);
	if (t->over)
		grt_note(&t->notes, "%" PRIu64 " {time|times} a GPU or process had no row (limit of %u GPUs)",
			 t->over, TOP_GPUS_MAX);
	if (!t->gpus.used)
		grt_note(&t->notes, "no GPU so far: the sources have reported nothing");
}

static int top_write_to(struct top *t, FILE *out)
{
	struct grt_writer_options o = {.out = out, .colour = !t->json && cmd_colour()};
	struct grt_fields f = {.n = 0};
	struct grt_writer *w;
	int ret;

	terminal_fit(&o, t->wide);
	ret = grt_writer_new(&w, t->json ? &writer_json : &writer_text, &o);
	if (ret)
		return ret;
	grt_writer_begin(w);
	top_head(t, &f);
	grt_fields_write(&f, w, "update", "update");
	ret = top_write_keyed(w, t, &top_gpu_table, &t->gpus, top_list_gpus)
		      ?: grt_writer_rows(w, &top_engine_table, t, t->engine, sizeof(*t->engine), t->engines)
		      ?: top_write_keyed(w, t, &top_process_table, &t->processes, top_compare_share)
		      ?: grt_writer_rows(w, &top_share_table, t, t->share, sizeof(*t->share), t->on_engines);
	if (!ret && (t->json || t->stacks.any))
		ret = top_write_keyed(w, t, &top_stack_table, &t->stacks.shown, top_compare_time);
	top_note(t);
	grt_notes_write(&t->notes, w);
	grt_writer_end(w);
	grt_writer_free(w);
	return ret;
}

static int top_write(struct top *t)
{
	struct grt_memfile memory;
	FILE *out = grt_memfile_open(&memory);
	int ret = out ? top_write_to(t, out) : -ENOMEM;
	char *text = grt_memfile_close(&memory, out, NULL);

	if (!text)
		return -ENOMEM;
	if (!ret && t->json)
		cmd_put_one_line(text);
	else if (!ret)
		puts(text);
	free(text);
	t->write_error = cmd_flush();
	return ret ?: t->write_error ? TOP_STOP : 0;
}

/* Shows the update that ends at @to. Return: 0, TOP_STOP or -ENOMEM */
static int top_update(struct top *t, uint64_t to)
{
	int ret = top_figures(t, to) ?: (t->screen ? top_screen_show : top_write)(t);

	return ret ?: t->left && !--t->left ? TOP_STOP : 0;
}

/* ------------------------------------------------------------------------ live */

static struct top *noting;

static void top_tell(const char *text)
{
	if (noting && noting->screen)
		top_screen_say(text);
	else
		cmd_tell("top", text);
}

/* Ends an update at the time up to which all events, and no later ones, have been passed on. */
static int top_tick(void *arg)
{
	struct top *t = arg;
	uint64_t from, to;

	live_span(t->live, &from, &to);
	return to > t->to ? top_update(t, to) : 0;
}

static uint64_t top_begin_of(const struct live *l)
{
	uint64_t from, to;

	live_span(l, &from, &to);
	return from;
}

static int top_idle(void *arg)
{
	struct top *t = arg;

	return t->screen ? top_screen_keys(t) : 0;
}

static void top_name_sources(struct top *t, const struct live *l, const char *words)
{
	char all[sizeof(t->sources)], *word, *rest = all;
	size_t used = 0;

	snprintf(all, sizeof(all), "%s", words);
	while ((word = strsep(&rest, ",")))
		if (live_has(l, word) && used < sizeof(t->sources))
			used += (size_t)snprintf(t->sources + used, sizeof(t->sources) - used, "%s%s",
						 used ? ", " : "", word);
	t->sees_xids = live_has(l, "nvidia");
}

/* Return: the number of events that came after the last update */
static uint64_t top_unread(const struct top *t)
{
	const struct grt_health *h = grt_session_health(t->session);
	uint64_t delivered = h->balance.fate[GRT_FATE_DELIVERED];

	return t->sources[0] && delivered > h->events ? delivered - h->events : 0;
}

static int top_finish(struct top *t, const struct grt_err *err, int ret)
{
	if (ret == -ENOMEM)
		return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "the update");
	if (t->write_error)
		return cmd_write_failed(t->write_error);
	/* the rest of a recording was not read, so its events cannot be counted */
	if (ret == TOP_STOP && !t->sources[0])
		return cmd_close_stdout();
	return reading_judge(t->session, t->input, top_unread(t), ret < 0 ? ret : 0, err);
}

void top_save(struct top *t, char text[TOP_LAST_TEXT])
{
	struct grt_err err = {.what = ""};

	if (top_last_save(t->last, t->output, text, &err))
		snprintf(text, TOP_LAST_TEXT, "%s%s%s%s%s", err.what, err.why[0] ? ": " : "", err.why,
			 err.fix[0] ? "; try: " : "", err.fix);
}

/* A run without a screen has no keys, so it writes the recording at its end. Return: an exit status */
static int top_save_at_end(struct top *t, int status)
{
	struct grt_err err = {.what = ""};
	char text[TOP_LAST_TEXT];

	if (t->screen || !t->last || status != EXIT_DONE)
		return status;
	if (top_last_save(t->last, t->output, text, &err))
		return cmd_error(EXIT_FAILED, &err);
	cmd_tell("top", text);
	return status;
}

static int top_run_live(struct top *t, struct live *l)
{
	const struct live_limits limits = {
		.interval = opt.interval, .tick = top_tick, .sums = top_sums, .idle = top_idle, .arg = t};
	struct grt_err err = {.what = ""};
	int ret = live_start(l, &err);

	if (ret)
		return cmd_error(kmod_exit_status(ret), &err);
	t->session = live_session(l);
	t->live = l;
	top_cuda_from(t->cuda, top_begin_of(l));
	if (top_from(t, top_begin_of(l)))
		return top_finish(t, &err, -ENOMEM);
	t->screen = !opt.batch && !opt.json;
	if (t->screen)
		top_screen_open(t);
	ret = live_run(l, &t->c, &limits, &err);
	if (t->screen)
		top_screen_close();
	return top_save_at_end(t, top_finish(t, &err, ret));
}

static uint64_t last_size(void)
{
	return opt.last_size ?: LAST_SIZE;
}

/* Return: 0 or -ENOMEM */
static int top_keep(struct top *t)
{
	double seconds = opt.last > 0 ? opt.last : LAST_SECONDS;

	t->output = opt.output ?: OUTPUT;
	if (opt.no_last || ((opt.batch || opt.json) && !opt.output))
		return 0;
	return top_last_new(&t->last, (uint64_t)(seconds * 1e9), last_size());
}

static int top_watch(struct top *t)
{
	const struct live_setup setup = {
		.sources = opt.sources ?: TOP_SOURCES_HERE,
		.pid = opt.pid == OPT_GPU_USERS ? 0 : (pid_t)opt.pid,
		.gpu_users = opt.pid == OPT_GPU_USERS,
		.any = !opt.sources,
		.stack = opt.stack,
		.whole = !opt.stack && (!opt.sources || !strstr(opt.sources, "cuda")),
		.sums = true,
		.keep_jobs = t->last ? last_size() / 2 : 0,
		.keep = t->last ? top_last_keep : NULL,
		.arg = t->last,
		.note = top_tell,
	};
	struct grt_err err = {.what = ""};
	struct live *l = NULL;
	int ret, status;

	t->input = "live";
	noting = t;
	ret = live_open(&l, &setup, &err);
	if (t->last)
		top_last_of(t->last, l);
	if (ret) {
		status = cmd_error(ret == -EINVAL && opt.sources ? EXIT_USAGE : kmod_exit_status(ret), &err);
	} else {
		top_name_sources(t, l, setup.sources);
		status = top_run_live(t, l);
	}
	ret = live_close(l, &err);
	if (ret && status == EXIT_DONE)
		status = cmd_error(kmod_exit_status(ret), &err);
	return status;
}

/* ----------------------------------------------------------------- a recording */

/* Shows the updates that end before the time of an event. */
static __attribute__((noinline, cold)) int top_on_later(struct top *t, uint64_t time)
{
	int ret = 0;

	while (!ret && time - t->to >= t->step && time > t->to)
		ret = top_update(t, t->to + t->step);
	return ret;
}

static int top_on_any(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct top *t = (struct top *)c;

	return e->time - t->to < t->step ? 0 : top_on_later(t, e->time);
}

static int top_replay(struct top *t, const char *path)
{
	const struct opt_time whole = {.set = false};
	struct grt_err err = {.what = ""};
	struct reading_span span;
	int ret = grt_session_open(&t->session, path, &err), status;

	if (ret)
		return cmd_error(cmd_open_status(ret), &err);
	t->input = path;
	t->c.event = top_on_any;
	status = reading_span(t->session, &whole, &whole, &span);
	if (status == EXIT_DONE && !span.known)
		status = cmd_fail(EXIT_FAILED, "the file is empty, or a pipe", "grtrace report",
				  "%s: it is unknown when it begins", path);
	if (status == EXIT_DONE) {
		top_cuda_from(t->cuda, span.first);
		ret = top_from(t, span.first) ?: grt_session_run(t->session, &t->c, 0, UINT64_MAX, &err);
		t->whole = true;
		if (!ret && span.last > t->to)
			ret = top_update(t, span.last);
		status = top_finish(t, &err, ret);
	}
	grt_session_close(t->session);
	return status;
}

/* ---------------------------------------------------------------- command line */

static int top_check_options(void)
{
	if ((opt.batch || opt.json) && !opt.output && (opt.last > 0 || opt.last_size))
		return cmd_usage_error("with -b or --json, --last and --last-size need -o");
	if (opt.no_last && (opt.output || opt.last > 0 || opt.last_size))
		return cmd_usage_error("--no-last keeps nothing: it contradicts -o, --last and --last-size");
	if (opt.input && (opt.sources || opt.pid || opt.output || opt.stack || opt.last > 0 || opt.no_last))
		return cmd_usage_error(
			"-e, -p, -o, --last, --no-last and --stack work only on live events, not with -i");
	if (opt.pid == OPT_GPU_USERS && (!opt.sources || strcmp(opt.sources, "cuda")))
		return cmd_usage_error("-p gpu works only with -e cuda alone");
	if (opt.last_size && opt.last_size < LAST_SIZE_MIN)
		return cmd_usage_error("--last-size: at least %lluM", LAST_SIZE_MIN >> 20);
	if (!cmd_opt_given(&opts[2]))
		opt.interval = INTERVAL;
	if (!opt.input && opt.interval < 0.1)
		return cmd_usage_error("--interval: at least 0.1 s, which is how often counters are read");
	if (!opt.batch && !opt.json && !opt.input)
		return top_screen_usage();
	return EXIT_DONE;
}

static int top_run(int argc, char **argv)
{
	const char *path = opt.input ? opt.input : argc ? argv[0] : NULL;
	struct top t = {.left = opt.updates, .json = opt.json, .wide = opt.wide};
	int status;

	if (argc > 1 || (argc && opt.input))
		return cmd_usage_error("more than one trace: '%s'", argv[argc - 1]);
	opt.input = path;
	status = top_check_options();
	if (status != EXIT_DONE)
		return status;
	t.step = (uint64_t)(opt.interval * 1e9);
	if (top_begin(&t) || (!path && top_keep(&t)))
		status = cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "cannot begin");
	else
		status = path ? top_replay(&t, path) : top_watch(&t);
	top_last_free(t.last);
	top_end(&t);
	return status;
}

const struct cmd cmd_top = {
	.reads = true,
	.usage = "[-b] [-n N] [-s SECONDS] [-e SRC,...] [-p PID] [-o DIR] [--stack] [--json] [-i PATH]",
	.opts = opts,
	.run = top_run,
	.json = &top_json,
};
