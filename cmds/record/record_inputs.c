// SPDX-License-Identifier: GPL-2.0
/* The sources of a recording: opens, starts, ends and closes all that were chosen. */
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kmod/kmod.h"
#include "cmds/cmd.h"
#include "host/privileges.h"
#include "record.h"
#include "record_choice.h"
#include "record_options.h"

/* All sources learn the end this long before it, so that they can prepare for it. */
#define END_AHEAD_NS 1000000ULL

/* Whether a source that is open already reports the jobs of a driver. */
static bool inputs_cover(void *arg, const char *driver)
{
	const struct run *run = arg;
	const struct input *in;

	for (in = run->inputs; in < run->inputs + run->n_inputs; in++)
		if (in->source->covers && in->source->covers(in->state, driver))
			return true;
	return false;
}

/* Opens a source. A source that was not named and does not work here is left out. Return: 0 or -errno */
static int inputs_open_source(struct run *run, const struct source *source, enum choice choice,
			      struct grt_err *err)
{
	struct source_setup setup = {
		.pid = record_opt.pid == OPT_GPU_USERS ? 0 : (pid_t)record_opt.pid,
		.gpu_users = record_opt.pid == OPT_GPU_USERS,
		.comm = record_opt.comm,
		.ring = record_opt.ring,
		.driver = record_opt.driver,
		.gpu = record_opt.device ? &record_opt.gpu : NULL,
		.types = record_opt.types,
		.duty = source->duty && record_opt.duty_text ? &record_opt.duty : NULL,
		.buffer_size = record_opt.buffer,
		.merged = record_opt.raw,
		.ring_base = run->n_inputs * SOURCE_RINGS,
		.user_stack = record_wants_stack(),
		.kernel_stack = record_opt.kernel_stack,
		.stack = record_opt.stack,
		.no_names = record_opt.no_symbols,
		.program = run->program,
		.named = choice == CHOICE_NAMED,
		.taken = run->rec.segments || run->box.on,
		.uid = (uid_t)-1,
		.gid = (gid_t)-1,
		.covered = record_wants_stack() || record_opt.kernel_stack ? NULL : inputs_cover,
		.arg = run,
		.note = record_note,
	};
	struct input *in = &run->inputs[run->n_inputs];
	int ret = choice == CHOICE_AUTO && source->probe ? source->probe(err) : 0;

	if (ret)
		return ret;
	if (record_opt.raw)
		privileges_user(&setup.uid, &setup.gid);
	else
		recording_owner(record_output_path(), &setup.uid, &setup.gid);
	in->source = source;
	ret = source->open(&in->state, &setup, err);
	if (ret && choice == CHOICE_AUTO)
		source->close(in->state, NULL);
	else
		run->n_inputs++;
	return ret;
}

/** struct left_out - why `auto` continues without a source; @code 0: it does not */
struct left_out {
	int code;
	struct grt_err why;
};

/* Reports details on request; a missing privilege that the user can get is always reported. */
static void inputs_note_left_out(const struct left_out *left)
{
	char text[sizeof(left->why.what) + sizeof(left->why.why) + 64];
	size_t i;

	for (i = 0; i < SOURCES; i++) {
		if (!left[i].code || (!record_opt.verbose && left[i].code != -EACCES))
			continue;
		snprintf(text, sizeof(text), "without %s: %s%s%s", all_sources[i]->name, left[i].why.what,
			 left[i].why.why[0] ? ": " : "", left[i].why.why);
		record_note(text);
	}
}

/* Most likely a privilege is missing. */
static int inputs_none_works(const struct left_out *left)
{
	size_t i = 0;

	while (i < SOURCES && left[i].code != -EACCES)
		i++;
	for (i %= SOURCES; !left[i].code; i++)
		;
	return cmd_error(kmod_exit_status(left[i].code), &left[i].why);
}

/* If the source of an option is not open, the option has no effect: that is an error. */
static void inputs_blame_option(const struct source *source, struct grt_err *why)
{
	const struct cmd_opt *o = record_option_given(source);
	char what[sizeof(why->what)];

	if (!o)
		return;
	snprintf(what, sizeof(what), "%s", why->what);
	snprintf(why->what, sizeof(why->what), "--%s needs the source %s: %.300s", o->name, source->name,
		 what);
}

int record_inputs_open(struct run *run)
{
	struct left_out left[SOURCES] = {0};
	enum choice choice;
	size_t i;
	int ret;

	for (i = 0; i < SOURCES; i++) {
		choice = record_choice(all_sources[i]);
		/* only their files distinguish packets of two sources */
		if (record_opt.raw && run->n_inputs && choice == CHOICE_NAMED)
			return cmd_usage_error("--raw: one source at a time, with -e");
		if (choice == CHOICE_NO || (record_opt.raw && run->n_inputs))
			continue;
		if (choice == CHOICE_AUTO && all_sources[i]->background && !run->n_inputs)
			continue;
		ret = inputs_open_source(run, all_sources[i], choice, &left[i].why);
		if (ret)
			inputs_blame_option(all_sources[i], &left[i].why);
		/* a source that exists here but is in use, or has another version, is not skipped silently */
		if (ret && (choice == CHOICE_NAMED || ret == -EBUSY || ret == -EPROTO))
			return cmd_error(kmod_exit_status(ret), &left[i].why);
		left[i].code = ret;
	}
	if (!run->n_inputs)
		return inputs_none_works(left);
	inputs_note_left_out(left);
	return EXIT_DONE;
}

int record_inputs_make_tables(struct run *run)
{
	struct input *in;
	unsigned int i;

	/* Two more descriptors: for the child and the process of -p. */
	run->fds = calloc(run->n_inputs * SOURCE_STREAMS_MAX + 2, sizeof(*run->fds));
	for (i = 0; run->fds && i < run->n_inputs; i++) {
		in = &run->inputs[i];
		in->first = run->streams;
		in->left = in->streams = in->source->streams(in->state, run->fds + run->streams);
		in->cut.window.to = UINT64_MAX;
		run->streams += in->streams;
		in->first_place = run->places;
		in->places = in->source->places ? in->source->places(in->state) : in->streams;
		run->places += in->places;
	}
	run->left = run->streams;
	run->cut = run->fds ? calloc(run->places + 1, sizeof(*run->cut)) : NULL;
	run->buffer = run->cut ? malloc(RECORD_CHUNK) : NULL;
	if (!run->buffer)
		return cmd_fail(EXIT_FAILED, NULL, "a smaller --buffer",
				"no memory for a buffer of %zu {byte|bytes}", RECORD_CHUNK);
	run->fds[run->streams] = (struct pollfd){.fd = -1, .events = POLLIN};
	run->fds[run->streams + 1] = (struct pollfd){.fd = run->target, .events = POLLIN};
	return EXIT_DONE;
}

void record_inputs_free_tables(struct run *run)
{
	for (unsigned int i = 0; run->cut && i < run->places; i++)
		grt_cut_stream_free(&run->cut[i]);
	for (unsigned int i = 0; i < run->n_inputs; i++)
		grt_cut_free(&run->inputs[i].cut);
	free(run->cut);
	free(run->fds);
	free(run->buffer);
}

int record_inputs_start(struct run *run, struct grt_err *err)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < run->n_inputs; i++)
		ret = run->inputs[i].source->start(run->inputs[i].state, err);
	return ret;
}

/* Raw packets come from a single source and are not changed. */
void record_inputs_begin(struct run *run)
{
	struct input *in;

	run->begun = grt_now();
	for (in = run->inputs; in < run->inputs + run->n_inputs; in++) {
		in->cut.window.from = record_opt.raw || in->source->uncut ? 0 : run->begun;
		if (in->source->begins)
			in->source->begins(in->state, run->begun);
	}
}

int record_inputs_program_stderr(const struct run *run)
{
	int fd = -1;

	for (const struct input *in = run->inputs; in < run->inputs + run->n_inputs && fd < 0; in++)
		fd = in->source->program_stderr ? in->source->program_stderr(in->state) : -1;
	return fd;
}

/*
 * Running sources need fewer privileges than starting them. The recording must stay writable, so that it can
 * be ended. A user who must end PROG may be neither this user nor root.
 */
void record_inputs_confine(struct run *run)
{
	uint64_t keep = run->child.pid ? 1ULL << CAP_KILL : 0;
	/* only root can read dumps of devices */
	uint64_t dumps = run->box.on && run->box.triggers.limit[TRIGGER_devcoredump].on
				 ? 1ULL << CAP_DAC_READ_SEARCH
				 : 0;
	struct grt_err err = {0};
	struct input *in;
	int ret = 0;

	if (run->box.on)
		record_threads_begin(&run->threads);
	for (in = run->inputs; !ret && in < run->inputs + run->n_inputs; in++)
		ret = in->source->confine ? in->source->confine(in->state, &keep, &err) : 0;
	if (!ret)
		ret = privileges_drop(keep | dumps, run->rec.uid, run->rec.gid, &err);
	for (in = run->inputs; in < run->inputs + run->n_inputs; in++)
		if (in->source->confined)
			ret = in->source->confined(in->state, ret ? NULL : &err) ?: ret;
	if (ret)
		record_note_error(&err);
}

/* Sources that take samples take one more; then all sources learn the moment at which they end. */
void record_inputs_end(struct run *run)
{
	struct timespec left = {0};
	struct input *in;
	uint64_t now;

	for (in = run->inputs; in < run->inputs + run->n_inputs; in++)
		if (in->source->flush)
			in->source->flush(in->state, NULL);
	run->end = grt_now() + END_AHEAD_NS;
	for (in = run->inputs; in < run->inputs + run->n_inputs; in++) {
		in->cut.window.to = record_opt.raw || in->source->uncut ? UINT64_MAX : run->end;
		if (in->source->ends)
			in->source->ends(in->state, run->end);
	}
	/* no sleep, whose functions somebody may trace */
	while ((now = grt_now()) < run->end) {
		left.tv_nsec = (long)(run->end - now);
		ppoll(NULL, 0, &left, NULL);
	}
}

int record_inputs_close(struct run *run)
{
	struct grt_err err = {0};
	unsigned int i;
	int ret, status = EXIT_DONE;

	for (i = 0; i < run->n_inputs; i++) {
		ret = run->inputs[i].source->close(run->inputs[i].state, &err);
		if (ret)
			status = cmd_error(EXIT_FAILED, &err);
	}
	return status;
}

void record_inputs_adopt(struct run *run)
{
	struct input *in;
	struct grt_err err = {0};

	for (in = run->inputs; in < run->inputs + run->n_inputs; in++) {
		if (!in->source->adopted)
			continue;
		if (recording_adopt(&run->rec, in->source->name, &in->cut, &err))
			run->status = cmd_error(EXIT_FAILED, &err);
		in->source->adopted(in->state);
	}
}

void record_inputs_check_missed(struct run *run, bool tell)
{
	struct grt_balance missed;
	struct grt_err err = {0};
	const struct input *in;
	int ret;

	for (in = run->inputs; in < run->inputs + run->n_inputs; in++) {
		ret = in->source->missed ? in->source->missed(in->state, &missed, &err) : 0;
		if (tell && (ret || (in->source->missed && missed.fate[GRT_FATE_DELIVERED])))
			run->status = cmd_error(EXIT_FAILED, &err);
	}
}

bool record_inputs_have_addresses(const struct run *run)
{
	bool any = false;

	for (const struct input *in = run->inputs; in < run->inputs + run->n_inputs; in++)
		any |= in->source->addresses;
	return any && !record_opt.raw && !record_opt.no_symbols && !run->rec.segments && !run->box.on;
}
