// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace rocm report: reads a recording, or a log and text of ftrace, merges them on the kernel's clock and
 * writes the sections, whose contents lib/rocm/rocm.c computes.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inputs.h"
#include "base/say.h"
#include "rocm/rocm_table.h"
#include "cmds/cmd.h"
#include "rocm.h"

#define RECORDING "recording"
/* Rows of long tables that are shown without -v. */
#define ROWS 20

static int open_status(int code)
{
	return code == -EACCES || code == -EPERM ? EXIT_MISSING : EXIT_FAILED;
}

static int rocm_report_add(struct rocm_run *run, const char *path, enum grt_merge_side side)
{
	struct grt_err err = {.what = ""};
	int ret = grt_merge_open(run->merge, path, side, &err);

	return ret ? cmd_error(open_status(ret), &err) : EXIT_DONE;
}

/* rocm record writes a directory with the recording in it; a recording alone works as well. */
static int add_recording(struct rocm_run *run, const char *dir)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/" RECORDING "/metadata", dir);
	if (stat(path, &st))
		return rocm_report_add(run, dir, GRT_MERGE_BOTH);
	snprintf(path, sizeof(path), "%s/" RECORDING, dir);
	return rocm_report_add(run, path, GRT_MERGE_BOTH);
}

static int rocm_report_add_inputs(struct rocm_run *run)
{
	const struct rocm_options *opt = run->opt;
	int status = EXIT_DONE;

	if (opt->input)
		return add_recording(run, opt->input);
	if (opt->amd_log)
		status = rocm_report_add(run, opt->amd_log, opt->ftrace ? GRT_MERGE_GPU : GRT_MERGE_BOTH);
	if (opt->ftrace && status == EXIT_DONE)
		status = rocm_report_add(run, opt->ftrace, GRT_MERGE_BOTH);
	return status;
}

/* ------------------------------------------------------------------ clocks */

static int on_clock_event(void *arg, const struct grt_event *e, uint32_t cpu, unsigned int input)
{
	grt_rocm_clock_event(arg, e);
	return 0;
}

/*
 * Without an estimate the clocks are assumed to be the same, and a message says so, unless an estimate was
 * requested.
 */
static int rocm_report_estimate(struct rocm_run *run, bool asked)
{
	struct grt_rocm_clock *clock = NULL;
	struct grt_merge_sink sink = {.event = on_clock_event};
	struct grt_err err = {.what = ""};
	int ret = grt_rocm_clock_new(&clock);

	if (ret)
		return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "cannot begin");
	sink.arg = clock;
	ret = grt_merge_run(run->merge, &sink, 0, UINT64_MAX, &err);
	if (!ret) {
		ret = grt_rocm_clock_find(clock, &run->offset, &err);
		run->estimated = !ret;
		if (ret == -ENODATA || ret == -EDOM) {
			snprintf(run->why, sizeof(run->why), "%s", err.why);
			ret = asked ? ret : 0;
		}
	}
	grt_rocm_clock_free(clock);
	return ret ? cmd_error(EXIT_FAILED, &err) : EXIT_DONE;
}

static int rocm_report_set_offset(struct rocm_run *run)
{
	const char *text = run->opt->offset;
	bool both = grt_merge_inputs(run->merge) == 2;
	int status = EXIT_DONE;
	char *end;

	if (!text && !both)
		return EXIT_DONE;
	if (!both)
		return cmd_usage_error("--clock-offset is for a log and a trace in two files");
	if (!text || !strcmp(text, "auto")) {
		status = rocm_report_estimate(run, text != NULL);
		if (!run->estimated)
			run->offset.ns = 0;
	} else {
		errno = 0;
		run->offset.ns = strtoll(text, &end, 10);
		run->fixed = true;
		if (*end || end == text || isspace((unsigned char)*text) || errno)
			return cmd_usage_error("--clock-offset: '%s' is neither a number of ns nor auto",
					       text);
	}
	/* the log */
	grt_merge_offset(run->merge, 0, run->offset.ns);
	return status;
}

/* ------------------------------------------------------------------- events */

static int rocm_report_on_event(void *arg, const struct grt_event *e, uint32_t cpu, unsigned int input)
{
	struct rocm_run *run = arg;
	int ret = run->json ? grt_event_json_see(run->json, e, input) : 0;

	if (ret)
		return ret;
	if (e->type == GRT_EV_NAME)
		return 0;
	if (!run->r.count.log && !run->r.count.funcs && !run->last)
		run->first = e->time;
	run->last = e->time;
	if (run->json)
		grt_event_json_print(run->json, run->out, e, cpu, "");
	else if (run->opt->timeline)
		rocm_line(run, e);
	if (run->folded && rocm_folded_event(run->folded, e))
		return -ENOMEM;
	return grt_rocm_event(&run->r, e);
}

/* ----------------------------------------------------------------- sections */

/* --relative: time stamps count from the first event. */
static uint64_t zero_of(const struct rocm_run *run)
{
	return run->opt->relative ? run->first : 0;
}

/*
 * Adds what the recorder noted about its texts: their contents, what was skipped and why, and what was
 * missing.
 */
static void add_recorded(struct grt_fields *f, struct grt_session *s, const char *input)
{
	static const char *const keys[] = {
		"hostlog_text",	  "hostlog_skipped",  "hostlog_pids",	"ftrace_text",
		"ftrace_skipped", "ftrace_functions", "ftrace_missing",
	};

	reading_recording(f, s, input);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *value = grt_session_env(s, keys[i]);

		if (value && *value)
			grt_field_add(f, keys[i], GRT_CELL_TEXT, (struct grt_cell){.text = value}, NULL);
	}
}

static void write_inputs(struct rocm_run *run, struct grt_writer *w)
{
	const struct rocm_options *opt = run->opt;
	struct grt_fields f = {.n = 0};
	bool both = grt_merge_inputs(run->merge) == 2;

	if (opt->input)
		add_recorded(&f, grt_merge_session(run->merge, 0), opt->input);
	if (opt->amd_log)
		grt_field_add(&f, "amd_log", GRT_CELL_TEXT, (struct grt_cell){.text = opt->amd_log}, NULL);
	if (opt->ftrace)
		grt_field_add(&f, "ftrace", GRT_CELL_TEXT, (struct grt_cell){.text = opt->ftrace}, NULL);
	grt_field_add(&f, "from", GRT_CELL_TIME,
		      (struct grt_cell){.number = run->first - zero_of(run), .absent = !run->last}, NULL);
	grt_field_add(&f, "to", GRT_CELL_TIME,
		      (struct grt_cell){.number = run->last - zero_of(run), .absent = !run->last}, NULL);
	grt_field_add(&f, "span_ns", GRT_CELL_NS,
		      (struct grt_cell){.number = run->last - run->first, .absent = !run->last}, NULL);
	if (both) {
		grt_field_add(&f, "clock_offset_ns", GRT_CELL_SIGNED,
			      (struct grt_cell){.number = (uint64_t)run->offset.ns},
			      "ns added to the time stamps of the log");
		grt_field_add(&f, "clock_error_ns", GRT_CELL_NS,
			      (struct grt_cell){.number = run->offset.error, .absent = !run->estimated},
			      run->estimated ? "largest error of the offset in each direction, ns"
					     : "unknown");
		grt_field_number(&f, "clock_pairs", run->offset.pairs,
				 "events of the kernel compared with calls of the log");
		grt_field_number(&f, "clock_agree", run->offset.agree, "events for which the offset fits");
	}
	grt_fields_write(&f, w, "input", "input");
}

static int write_creations(const struct rocm_run *run, struct grt_writer *w)
{
	const struct grt_rocm *r = &run->r;
	const struct grt_rocm_view view = {r->creation, zero_of(run)};
	struct grt_rocm_step_row row;
	int ret = 0;

	grt_writer_table(w, &grt_rocm_creation_table, &view);
	for (unsigned int i = 0; i < r->creations && !ret; i++)
		ret = grt_writer_row(w, &r->creation[i]);
	grt_writer_table_end(w);
	grt_writer_table(w, &grt_rocm_step_table, NULL);
	for (unsigned int i = 0; i < r->creations && !ret; i++)
		for (unsigned int k = 0; k < r->creation[i].steps && !ret; k++) {
			row = (struct grt_rocm_step_row){i + 1, &r->creation[i], &r->creation[i].step[k]};
			ret = grt_writer_row(w, &row);
		}
	grt_writer_table_end(w);
	return ret;
}

static int write_steps(const struct rocm_run *run, struct grt_writer *w)
{
	static const enum grt_rocm_step shown[] = {
		GRT_ROCM_MQD_ALLOCATE, GRT_ROCM_MQD_INIT, GRT_ROCM_MQD_LOAD,  GRT_ROCM_MQD_UPDATE,
		GRT_ROCM_MQD_DESTROY,  GRT_ROCM_MAP,	  GRT_ROCM_UNMAP,     GRT_ROCM_SUBMIT,
		GRT_ROCM_KERNEL_QUEUE, GRT_ROCM_DOORBELL, GRT_ROCM_INTERRUPT, GRT_ROCM_DOORBELL_SETUP,
	};
	const struct grt_rocm_count *c = &run->r.count;
	int ret = 0;

	grt_writer_table(w, &grt_rocm_mqd_table, NULL);
	/* without the kernel's side nothing was counted */
	for (size_t i = 0; run->kernel && i < sizeof(shown) / sizeof(shown[0]) && !ret; i++) {
		struct grt_rocm_step_count row = {shown[i], grt_rocm_steps(c, shown[i]),
						  c->step_took[shown[i]]};

		ret = grt_writer_row(w, &row);
	}
	grt_writer_table_end(w);
	return ret;
}

/* A number of a side that is not in the trace is unknown, not 0. */
static void add_counted(struct grt_fields *f, bool known, const char *name, uint64_t number, const char *text)
{
	grt_field_add(f, name, GRT_CELL_NUMBER, (struct grt_cell){.number = number, .absent = !known}, text);
}

static void write_use(const struct rocm_run *run, struct grt_writer *w)
{
	const struct grt_rocm_count *c = &run->r.count;
	struct grt_fields f = {.n = 0};
	uint64_t rung = c->dispatches + c->barriers + c->packets;
	bool ratio = run->log && c->dispatches;

	add_counted(&f, run->log, "user_queue_kernels", c->dispatches,
		    "kernels that the program wrote into queues");
	add_counted(&f, run->log, "user_queue_barriers", c->barriers, NULL);
	add_counted(&f, run->log, "user_queue_packets", c->packets, "others");
	add_counted(&f, run->kernel, "kernel_queue_packets", grt_rocm_steps(c, GRT_ROCM_SUBMIT),
		    "packets that KFD sent to the GPU's scheduler");
	add_counted(&f, run->kernel, "kernel_submits", c->submits, "jobs of the driver");
	add_counted(&f, run->log, "doorbells", rung,
		    "doorbells that the program rang, from its log: the kernel does not see them");
	grt_field_add(&f, "doorbells_per_submit", GRT_CELL_AMOUNT,
		      (struct grt_cell){.text = "",
					.number = ratio ? rung * 1000 / c->dispatches : 0,
					.absent = !ratio},
		      "signals per kernel that the program wrote into a queue");
	add_counted(&f, run->kernel, "gpu_signals", grt_rocm_steps(c, GRT_ROCM_DOORBELL),
		    "signals from the GPU to the kernel");
	add_counted(&f, run->log, "copies", c->copies, NULL);
	add_counted(&f, run->log, "copy_bytes", c->copy_bytes, NULL);
	add_counted(&f, run->log, "copies_unsure", c->copies_unsure,
		    "records whose values contradict each other: a bug of the runtime's log");
	add_counted(&f, run->log, "faults", c->faults, c->faults ? c->first_fault : NULL);
	add_counted(&f, run->log, "aborted_at", c->hangs, c->hangs ? c->first_hang : NULL);
	add_counted(&f, run->log, "error_records", c->errors,
		    c->errors ? c->first_error : "error records of level 0 and 1");
	grt_fields_write(&f, w, "use", "kernel queues, user queues and doorbells");
}

/* Elements of a table sorted by a sum in them, the largest first. */
static size_t sum_at;

static int by_sum(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, *(const char *const *)a + sum_at, sizeof(x));
	memcpy(&y, *(const char *const *)b + sum_at, sizeof(y));
	return x == y ? 0 : x > y ? -1 : 1;
}

static int write_sorted(struct rocm_run *run, struct grt_writer *w, const struct grt_keyed *rows,
			const struct grt_table *table, size_t at, struct grt_notes *notes)
{
	uint32_t show = run->opt->verbose || run->opt->json || rows->used < ROWS ? rows->used : ROWS;
	const struct grt_rocm_view view = {run->r.creation, zero_of(run)};
	void **list = NULL;
	int ret;

	sum_at = at;
	ret = grt_keyed_list(rows, by_sum, &list);
	if (ret)
		return ret;
	grt_writer_table(w, table, &view);
	for (uint32_t i = 0; i < show && !ret; i++)
		ret = grt_writer_row(w, list[i]);
	grt_writer_table_end(w);
	if (show < rows->used)
		grt_note(notes, "%s: %u more; -v shows all", table->title, rows->used - show);
	free(list);
	return ret;
}

static int write_layers(const struct rocm_run *run, struct grt_writer *w)
{
	const struct grt_rocm_count *c = &run->r.count;
	const struct grt_rocm_layer layers[] = {
		{"HIP API", c->calls, c->call_took, "outermost calls of a thread"},
		{"runtime to queue", c->wait.n, c->wait, "command enqueued to kernel dispatched"},
		{"from queued to complete", c->run.n, c->run,
		 "kernel dispatched to command complete, as seen by the host"},
		{"KFD create queue", c->creations, c->create_took,
		 "time in the ioctl, or in the part of it that is in the trace"},
		{"KFD memory", grt_rocm_steps(c, GRT_ROCM_MEMORY), c->step_took[GRT_ROCM_MEMORY],
		 "in ioctls"},
		{"KFD MQD", grt_rocm_steps(c, GRT_ROCM_MQD_INIT), c->step_took[GRT_ROCM_MQD_INIT],
		 "initialising descriptors"},
		{"KFD map", grt_rocm_steps(c, GRT_ROCM_MAP), c->step_took[GRT_ROCM_MAP], "mapping queues"},
		{"GPU", c->gpu_took.n, c->gpu_took, "by the GPU's clock"},
	};
	int ret = 0;

	grt_writer_table(w, &grt_rocm_layer_table, NULL);
	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]) && !ret; i++)
		ret = grt_writer_row(w, &layers[i]);
	grt_writer_table_end(w);
	return ret;
}

static int rocm_report_write_tables(struct rocm_run *run, struct grt_writer *w, struct grt_notes *notes)
{
	struct grt_rocm *r = &run->r;
	int ret = write_creations(run, w);

	if (!ret)
		ret = write_sorted(run, w, &r->queues, &grt_rocm_queue_table,
				   offsetof(struct grt_rocm_queue, dispatches), notes);
	if (!ret)
		ret = write_steps(run, w);
	if (ret)
		return ret;
	write_use(run, w);
	ret = write_sorted(run, w, &r->kernels, &grt_rocm_kernel_table,
			   offsetof(struct grt_rocm_kernel, dispatches), notes);
	if (!ret)
		ret = write_sorted(
			run, w, &r->calls, &grt_rocm_call_table,
			offsetof(struct grt_rocm_call, took) + offsetof(struct grt_rocm_times, sum), notes);
	if (!ret)
		ret = write_sorted(run, w, &r->funcs, &grt_rocm_func_table,
				   offsetof(struct grt_rocm_func, calls), notes);
	return ret ? ret : write_layers(run, w);
}

/* An unknown limit is the largest number. */
static void note_rocr(const struct grt_rocm_count *c, struct grt_notes *n)
{
	static const char *const how[GRT_ROCM_ROCR] = {
		[1] = "converted with snapshots of both clocks",
		[2] = "converted so that they fit between the records before and after them in the log",
	};

	if (c->rocr[0])
		grt_note(
			n,
			"%" PRIu64
			" {line|lines} of ROCr, whose clock is CLOCK_MONOTONIC_RAW, {has the time of the line before it|have the time of the line before them}: the offset between the clocks is unknown",
			c->rocr[0]);
	for (unsigned int i = 1; i < GRT_ROCM_ROCR; i++) {
		char error[64] = "the largest error is unknown";

		if (c->rocr_error[i] != UINT64_MAX)
			snprintf(error, sizeof(error), "off by at most %" PRIu64 " ns", c->rocr_error[i]);
		if (c->rocr[i])
			grt_note(
				n,
				"%" PRIu64
				" {line|lines} of ROCr, whose clock is CLOCK_MONOTONIC_RAW, {was|were} %s: %s",
				c->rocr[i], how[i], error);
	}
}

static void note_clocks(const struct rocm_run *run, struct grt_notes *n)
{
	if (run->estimated)
		grt_note(n,
			 "the log's clock is %+" PRId64 " ns from the kernel's, off by at most %" PRIu64
			 " ns: %" PRIu64 " of %" PRIu64 " {queue or buffer|queues and buffers} fit",
			 run->offset.ns, run->offset.error, run->offset.agree, run->offset.pairs);
	else if (run->why[0])
		grt_note(
			n,
			"grtrace assumes that both clocks are equal, with an unknown error: %s; --clock-offset NS sets the offset",
			run->why);
	note_rocr(&run->r.count, n);
	if (run->r.count.gpu_took.n)
		grt_note(n, "times on the GPU are on CLOCK_BOOTTIME: only durations are used");
}

static void note_inputs(const struct rocm_run *run, struct grt_notes *n)
{
	for (unsigned int i = 0; i < grt_merge_inputs(run->merge); i++) {
		const struct grt_health *h = grt_session_health(grt_merge_session(run->merge, i));
		uint64_t lost = h->balance.fate[GRT_FATE_LOST];

		if (h->text.form)
			grt_note(n,
				 "%s: %" PRIu64 " {line|lines}; %" PRIu64 " not understood, %" PRIu64
				 " passed over, %" PRIu64 " out of order",
				 h->text.form, h->text.lines, h->text.bad, h->text.skipped,
				 h->text.reordered);
		if (h->text.bad)
			grt_note(n, "the first line that was not understood is line %" PRIu64 ": %s",
				 h->text.bad_line, h->text.bad_text);
		if (lost || h->text.gaps)
			grt_note(n,
				 "%" PRIu64 " {event was|events were} lost; %" PRIu64
				 " {place|places} without a number",
				 lost, h->text.gaps);
	}
	if (run->r.count.over)
		grt_note(n, "%" PRIu64 " {value is|values are} in no table, because it was full",
			 run->r.count.over);
}

/** struct passed - a kind of lines or events in a text that were skipped, and why */
struct passed {
	const char *form;
	const struct grt_skipped *of;
};

static void get_passed(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct passed *p = row;

	cell->text = arg ? p->of->name : p->form;
	cell->number = p->of->events;
}

static const struct grt_column passed_columns[] = {
	{"form", get_passed, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "of the text"},
	{"what", get_passed, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the event, or (why it is none)"},
	{"lines", get_passed, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "how many"},
	{.name = NULL},
};
static const struct grt_table passed_table = {"skipped", "passed over", passed_columns, 0};

static const struct grt_table input_pairs = {"input", "input", NULL, GRT_TABLE_PAIRS};
static const struct grt_table use_pairs = {"use", NULL, NULL, GRT_TABLE_PAIRS};
static const struct grt_table answer_pairs = {"answers", "answers", NULL, GRT_TABLE_PAIRS};

const struct cmd_json rocm_json = {
	.title = "what grtrace rocm report --json prints; with --timeline the lines before it are events",
	.tables = GRT_TABLES(&input_pairs, &grt_rocm_creation_table, &grt_rocm_step_table,
			     &grt_rocm_queue_table, &grt_rocm_mqd_table, &use_pairs, &grt_rocm_kernel_table,
			     &grt_rocm_call_table, &grt_rocm_func_table, &grt_rocm_layer_table,
			     &rocm_debugfs_table, &passed_table, &answer_pairs),
};

/* Return: 0 or -ENOMEM */
static int write_passed(const struct rocm_run *run, struct grt_writer *w, struct grt_notes *notes)
{
	unsigned int show = run->opt->verbose || run->opt->json ? UINT_MAX : ROWS;
	const struct grt_skipped *list;
	int ret = 0;

	grt_writer_table(w, &passed_table, NULL);
	for (unsigned int i = 0; i < grt_merge_inputs(run->merge) && !ret; i++) {
		struct grt_session *s = grt_merge_session(run->merge, i);
		unsigned int n = grt_session_skipped(s, &list);

		for (unsigned int k = 0; k < n && k < show && !ret; k++)
			ret = grt_writer_row(w, &(struct passed){grt_session_health(s)->text.form, &list[k]});
		if (n > show)
			grt_note(notes, "%u {more kind was|more kinds were} passed over; -v shows all",
				 n - show);
	}
	grt_writer_table_end(w);
	return ret;
}

static int rocm_report_write_report(struct rocm_run *run)
{
	struct grt_writer_options options = {
		.out = run->out, .verbose = run->opt->verbose, .colour = cmd_colour()};
	struct grt_writer *w = NULL;
	struct grt_notes n = {.n = 0};
	uint64_t over = 0;
	int ret;

	terminal_fit(&options, run->opt->wide);
	ret = grt_writer_new(&w, run->opt->json ? &writer_json : &writer_text, &options);
	if (ret)
		return ret;
	grt_writer_begin(w);
	write_inputs(run, w);
	ret = rocm_report_write_tables(run, w, &n);
	if (!ret)
		ret = rocm_debugfs(run, w, &over);
	if (over)
		grt_note(
			&n,
			"%" PRIu64
			" {queue or word of debugfs is|queues or words of debugfs are} not in the table, because there are too many",
			over);
	if (!ret && !run->opt->input)
		ret = write_passed(run, w, &n);
	if (!ret)
		rocm_answers(run, w);
	note_clocks(run, &n);
	note_inputs(run, &n);
	grt_notes_write(&n, w);
	grt_writer_end(w);
	grt_writer_free(w);
	return ret;
}

/* ---------------------------------------------------------------------- flow */

static bool is_empty(const struct rocm_run *run)
{
	return !run->r.count.log && !run->r.count.funcs;
}

static int rocm_report_judge(const struct rocm_run *run)
{
	for (unsigned int i = 0; i < grt_merge_inputs(run->merge); i++) {
		const struct grt_health *h = grt_session_health(grt_merge_session(run->merge, i));

		for (unsigned int k = 0; k < GRT_FAULTS; k++)
			if (h->fault[k])
				return cmd_error(EXIT_FAILED, &h->first);
	}
	return EXIT_DONE;
}

/* `record` requests a report even if there is nothing: programs that read it then find an empty one. */
static int rocm_report_note_empty(const struct rocm_run *run)
{
	uint64_t passed = 0, lines = 0;
	char why[128] = "it has no record of AMD's runtime and no kernel function";

	for (unsigned int i = 0; i < grt_merge_inputs(run->merge); i++) {
		const struct grt_health_text *t = &grt_session_health(grt_merge_session(run->merge, i))->text;

		passed += t->form && !strcmp(t->form, "amd_log") ? t->skipped : 0;
		lines += t->lines;
	}
	if (passed)
		grt_say_text(
			why, sizeof(why),
			"of %" PRIu64 " {line|lines}, %" PRIu64
			" {is a record|are records} of AMD's runtime, and none is of a call, queue or command",
			lines, passed);
	return cmd_fail(run->opt->recorded ? EXIT_DONE : EXIT_FAILED, why, "grtrace rocm record -- PROG",
			"%s: nothing to report",
			run->opt->input	    ? run->opt->input
			: run->opt->amd_log ? run->opt->amd_log
					    : run->opt->ftrace);
}

static int report(struct rocm_run *run)
{
	const struct grt_merge_sink sink = {.event = rocm_report_on_event, .arg = run};
	struct grt_err err = {.what = ""};
	uint64_t from = 0, to = UINT64_MAX;
	int ret, status = rocm_report_add_inputs(run);

	if (status == EXIT_DONE)
		status = rocm_report_set_offset(run);
	if (status == EXIT_DONE)
		status = reading_merge_span(run->merge, &run->opt->from, &run->opt->to, &from, &to);
	if (status != EXIT_DONE)
		return status;
	terminal_page();
	ret = grt_merge_run(run->merge, &sink, from, to, &err);
	if (ret)
		return err.what[0] ? cmd_error(EXIT_FAILED, &err)
				   : cmd_fail(EXIT_FAILED, strerror(-ret), NULL, "cannot go on");
	if (is_empty(run))
		status = rocm_report_note_empty(run);
	if (status != EXIT_DONE)
		return status;
	grt_rocm_finish(&run->r);
	run->log = run->r.count.log > 0;
	run->kernel = run->r.count.funcs + run->r.count.submits > 0;
	if (rocm_report_write_report(run))
		return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "cannot go on");
	status = cmd_close_stdout();
	if (run->folded && status == EXIT_DONE)
		status = rocm_folded_write(run->folded, run->opt->folded);
	return status == EXIT_DONE ? rocm_report_judge(run) : status;
}

int rocm_report(const struct rocm_options *opt)
{
	struct rocm_run run = {.opt = opt, .out = stdout};
	int status;

	if (opt->folded)
		run.folded = rocm_folded_new();
	if ((opt->folded && !run.folded) || grt_merge_new(&run.merge) ||
	    (opt->json && opt->timeline && grt_event_json_new(&run.json)))
		return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "cannot begin");
	grt_rocm_init(&run.r);
	status = report(&run);
	grt_rocm_free(&run.r);
	grt_merge_free(run.merge);
	rocm_folded_free(run.folded);
	grt_event_json_free(run.json);
	return status;
}
