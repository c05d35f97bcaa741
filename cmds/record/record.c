// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace record: moves packets from sources into a recording, while a program
 * runs, for a time, or until Ctrl-C, and restores all settings that it changed.
 * record.h names the files of its steps.
 */
#include "record.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/source_list.h"
#include "kmod/kmod.h"
#include "record_choice.h"
#include "record_names.h"
#include "record_options.h"

/* --------------------------------------------------------- record output */

/*
 * The destination of packets: a directory, a directory with segments, the memory of a black box, or a file
 * of plain packets.
 */

/* Number of segments within the limit, and the largest default size of a segment. */
#define SEGMENTS 16U
#define SEGMENT_MAX (256ULL << 20)

/* Default limits of a black box: bytes, and seconds. */
#define LAST_SIZE (64ULL << 20)
#define LAST_AFTER 5
#define LAST_PAUSE 60

/* Adds a file for each stream. Return: 0 or -errno */
static int output_add_files(void *arg, struct recording *r, struct grt_err *err)
{
	struct run *run = arg;
	int ret = 0;

	for (unsigned int i = 0; ret >= 0 && i < run->n_inputs; i++)
		for (unsigned int k = 0; ret >= 0 && k < run->inputs[i].places; k++) {
			/* it is unknown which processes there will be */
			ret = (run->inputs[i].places > run->inputs[i].streams
				       ? recording_name_file
				       : recording_add_file)(r, run->inputs[i].source->name, k, err);
			if (ret >= 0)
				r->files[ret].source = i;
		}
	return ret < 0 ? ret : 0;
}

/*
 * The metadata is written first: whenever the recorder is killed, it leaves a recording, or a directory that
 * the next one uses. Return: 0 or -errno
 */
static int output_begin(struct run *run, const char *path, struct grt_err *err)
{
	unsigned int i;
	int ret;

	machine_begin(&run->machine);
	ret = record_write_metadata(run, "recording", err);
	if (!ret && run->box.on)
		run->box.number = recording_snapshots(&run->rec);
	else if (!ret)
		ret = output_add_files(run, &run->rec, err);
	if (ret >= 0 && run->rec.segments)
		ret = segments_begin(&run->rec, err);
	if (ret < 0)
		return ret;
	for (i = 0; i < run->n_inputs; i++) {
		const struct input *in = &run->inputs[i];

		ret = in->source->attach ? in->source->attach(in->state, run->rec.dir, path, err) : 0;
		if (ret)
			return ret;
	}
	return 0;
}

/* A segment is a part of the limit, so that only a small part is deleted at a time. */
/* Sets the limits of segments from the options. */
static void record_set_bounds(struct run *run)
{
	uint64_t segment = record_opt.max_size / SEGMENTS < SEGMENT_MAX && record_opt.max_size
				   ? record_opt.max_size / SEGMENTS
				   : SEGMENT_MAX;

	if (!record_in_segments())
		return;
	segment = segment > RECORD_SEGMENT_MIN ? segment : RECORD_SEGMENT_MIN;
	run->segments.bounds = (struct segment_bounds){
		.bytes = record_opt.max_size,
		.ns = (uint64_t)(record_opt.max_time * NS_PER_S),
		.segment_bytes = record_opt.segment ?: segment,
		.segment_ns = (uint64_t)(record_opt.max_time * NS_PER_S / SEGMENTS),
		.pack = record_opt.compress,
	};
	run->segments.metadata = record_segment_metadata;
	run->segments.changed = record_segments_changed;
	run->segments.arg = run;
	run->rec.segments = &run->segments;
}

/* Without a source that shows it, an incident would be waited for in vain. Return: an exit status */
static int output_check_triggers(const struct triggers *t)
{
	bool shown;

	for (int trigger = 0; trigger < TRIGGERS; trigger++) {
		shown = !t->limit[trigger].on;
		for (size_t i = 0; i < SOURCES && !shown; i++)
			shown = record_choice(all_sources[i]) != CHOICE_NO &&
				trigger_is_of(trigger, all_sources[i]->name);
		if (!shown)
			return cmd_usage_error("--on %s: no source of -e %s shows it; these do: %s",
					       trigger_name(trigger), record_opt.sources ?: "auto",
					       trigger_sources(trigger));
	}
	return EXIT_DONE;
}

/* Sets up the black box from the options. Return: an exit status. */
static int record_set_box(struct run *run)
{
	const struct box_bounds bounds = {
		.bytes = record_opt.last_size ?: LAST_SIZE,
		.ns = (uint64_t)(record_opt.last * NS_PER_S) + RECORD_NAMING_NS / 4,
		.last = (uint64_t)(record_opt.last * NS_PER_S),
		.after = (uint64_t)((record_opt.after > 0 ? record_opt.after : LAST_AFTER) * NS_PER_S),
		.pause = (uint64_t)((record_opt.pause > 0 ? record_opt.pause : LAST_PAUSE) * NS_PER_S),
	};
	const struct box_ops ops = {output_add_files, record_snapshot_metadata, NULL, run};
	char word[64];

	if (!(record_opt.last > 0))
		return EXIT_DONE;
	triggers_init(&run->box.triggers);
	if (triggers_parse(&run->box.triggers, record_opt.on ?: TRIGGERS_DEFAULT, word))
		return cmd_usage_error("--on %s: not an incident; there are %s", word,
				       triggers_names + strlen(", "));
	box_init(&run->box, &bounds, &ops);
	run->rec.box = true;
	record_box_catch();
	return output_check_triggers(&run->box.triggers);
}

/* Without metadata, the directory would not be a recording that the next one may replace. */
/*
 * Opens the directory with its first metadata, or the file of --raw. Return: 0 or
 * -errno
 */
static int record_output_open(struct run *run, struct grt_err *err)
{
	const char *path = record_output_path();
	int ret;

	if (record_opt.raw)
		return recording_open_raw(&run->rec, record_opt.raw, err);
	ret = recording_open_dir(&run->rec, path, err);
	if (ret < 0)
		return ret;
	ret = output_begin(run, path, err);
	if (ret)
		recording_discard(&run->rec);
	return ret;
}

/* ----------------------------------------------------------- record loop */

/* The loop of a recording: waits for packets, and looks at the clock, at signals and at the program. */

/* The begin is written into the metadata after this time, when everything that starts late has started. */
#define TELL_BEGIN_NS (NS_PER_S / 2)

/* Why capture ends now. */
static bool loop_should_end(struct run *run, uint64_t now)
{
	if (child_poll(&run->child) || !run->left)
		return true;
	if (record_opt.seconds > 0 && (double)(now - run->begun) >= record_opt.seconds * NS_PER_S)
		return true;
	if (run->fds[run->streams + 1].revents)
		return true;
	if (!cmd_signal)
		return false;
	return !run->child.pid || !record_program_may_end(run, now);
}

/* ms until there is something to do without an event; -1: never. */
static int loop_timeout(const struct run *run, uint64_t now)
{
	double left = record_opt.seconds * 1e3 - (double)(now - run->begun) / 1e6;
	bool ticks = !run->told_begin || run->asked || (run->child.pid && run->child.pidfd < 0);

	if (record_opt.seconds > 0 && left < RECORD_TICK_MS)
		return left > 0 ? (int)left + 1 : 0;
	ticks |= run->rec.segments && run->segments.bounds.segment_ns;
	if (run->naming)
		return RECORD_NAMING_MS;
	ticks |= run->box.on;
	if (ticks || isatty(STDERR_FILENO))
		return RECORD_TICK_MS;
	return record_opt.seconds > 0 ? (int)(left < INT_MAX ? left : INT_MAX) : -1;
}

/*
 * Writes metadata with the time from which the recording is complete, in case the recorder is killed later.
 */
static void loop_write_begin(struct run *run, uint64_t now)
{
	if (run->told_begin || now - run->begun < TELL_BEGIN_NS)
		return;
	run->told_begin = true;
	record_write_metadata(run, "recording", NULL);
}

/* Runs until there is a reason to end. */
static int record_loop(struct run *run, struct grt_err *err)
{
	uint64_t now = run->begun;
	int ret = 0;

	while (!ret && !loop_should_end(run, now)) {
		record_summary_progress(run, now);
		loop_write_begin(run, now);
		if (cmd_poll(run->fds, run->streams + 2, loop_timeout(run, now)) > 0)
			ret = record_move_ready(run, err);
		now = grt_now();
		ret = ret ?: record_parts_check_segments(run, now, err);
		ret = ret ?: record_parts_check_box(run, now, err);
	}
	return ret;
}

/* ---------------------------------------------------------------- record */

void record_note(const char *text)
{
	cmd_tell("record", text);
}

void record_note_error(const struct grt_err *err)
{
	char text[sizeof(err->what) + sizeof(err->why) + 8];

	snprintf(text, sizeof(text), "%s%s%s", err->what, err->why[0] ? ": " : "", err->why);
	record_note(text);
}

/* After a write error, what was written before is a readable recording. */
static void record_finish(struct run *run, int captured, struct grt_err *err)
{
	struct grt_err other = {0};
	int ret = record_move_rest(run, captured, err);

	if (ret < 0)
		run->status = cmd_error(EXIT_FAILED, err);
	record_inputs_adopt(run);
	if (record_parts_end_box(run, &other) && !ret)
		run->status = cmd_error(EXIT_FAILED, &other);
	if (run->rec.segments && segments_end(&run->rec, run->end, &other) && !ret)
		run->status = cmd_error(EXIT_FAILED, &other);
	if (recording_finish(&run->rec, &other) && !ret)
		run->status = cmd_error(EXIT_FAILED, &other);
	record_inputs_check_missed(run, ret >= 0);
	machine_end(&run->machine);
	if (record_write_metadata(run, ret < 0 ? "failed" : "complete", &other) && ret >= 0)
		run->status = cmd_error(EXIT_FAILED, &other);
	if (ret >= 0 && record_inputs_have_addresses(run) && record_names_write(&run->rec, &other))
		record_note_error(&other);
	record_summary_print(run);
}

/* Everything is set up. Return: an exit status */
static int record_record(struct run *run, char **argv, struct grt_err *err)
{
	int ret, failed;

	ret = record_inputs_start(run, err);
	if (ret)
		return cmd_error(kmod_exit_status(ret), err);
	record_inputs_confine(run);
	record_inputs_begin(run);
	if (!run->child.pid && record_opt.seconds == 0 &&
	    (!record_opt.pid || record_opt.pid == OPT_GPU_USERS))
		record_note("recording; Ctrl-C ends it");
	failed = record_program_run(run, argv);
	run->fds[run->streams].fd = run->child.pidfd;
	ret = failed ? 0 : record_loop(run, err);
	record_finish(run, ret, err);
	if (!ret && !failed && record_files_any(&record_opt.files) &&
	    record_files_write(&record_opt.files, run->rec.path) != EXIT_DONE)
		run->status = EXIT_FAILED;
	return failed ? failed : record_program_status(run, argv);
}

static int record_set_up(struct run *run, char **argv)
{
	struct grt_err err = {0};
	int ret, status = record_inputs_open(run);

	if (status == EXIT_DONE)
		status = record_inputs_make_tables(run);
	if (status != EXIT_DONE)
		return status;
	ret = record_output_open(run, &err);
	if (!ret && argv[0])
		ret = child_fork(&run->child, argv, record_inputs_program_stderr(run), record_opt.user, &err);
	for (struct input *in = run->inputs; in < run->inputs + run->n_inputs; in++)
		if (in->source->program_started)
			in->source->program_started(in->state);
	if (ret)
		return cmd_error(EXIT_FAILED, &err);
	return record_record(run, argv, &err);
}

static int record_open_target(struct run *run)
{
	run->target = -1;
	if (!record_opt.pid || record_opt.pid == OPT_GPU_USERS)
		return EXIT_DONE;
	run->target = (int)syscall(SYS_pidfd_open, (pid_t)record_opt.pid, 0);
	if (run->target >= 0)
		return EXIT_DONE;
	return cmd_fail(EXIT_FAILED, strerror(errno), "ps -e", "cannot follow process %llu",
			(unsigned long long)record_opt.pid);
}

static int record_run(int argc, char **argv)
{
	struct run run = {.rec = {.dir = -1, .at = -1},
			  .threads.fd = -1,
			  .child = {.go = -1, .failed = -1, .pidfd = -1}};
	bool list = record_opt.sources && !strcmp(record_opt.sources, "list");
	int status, closed;

	if (list && argc)
		return cmd_usage_error("-e list only prints the sources, and runs no program");
	if (list)
		return source_list(record_opt.json);
	if (record_opt.json)
		return cmd_usage_error("--json works only with -e list; report --json reads a recording");
	status = record_options_check(argv);
	if (status == EXIT_DONE)
		status = record_options_check_duty();
	if (status == EXIT_DONE)
		status = record_open_target(&run);
	if (status == EXIT_DONE && record_opt.user)
		status = record_program_user(record_opt.user, argv[0]);
	if (status == EXIT_DONE && argv[0])
		status = child_find(argv);
	record_set_bounds(&run);
	if (status == EXIT_DONE)
		status = record_set_box(&run);
	if (status != EXIT_DONE)
		return status;
	cmd_catch_signals();
	/* A full file or a closed pipe must be an error of write(), so that settings can be restored. */
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	run.command = record_opt.no_command ? NULL : machine_command();
	run.program = argv[0];
	status = record_set_up(&run, argv);
	closed = record_inputs_close(&run);
	child_close(&run.child);
	recording_close(&run.rec);
	segments_free(&run.segments);
	if (run.box.on) {
		record_threads_end(&run.threads);
		box_free(&run.box);
	}
	if (run.target >= 0)
		close(run.target);
	record_inputs_free_tables(&run);
	free(run.command);
	return status == EXIT_DONE ? closed : status;
}

const struct cmd cmd_record = {
	.usage = "[-o DIR] [-e SRC,...] [-d SECONDS] [-p PID] [OPTIONS] [[--] PROG [ARGS]]",
	.opts = record_options,
	.run = record_run,
	.sources = true,
	.stop_at_operand = true,
	.json = &source_list_json,
};
