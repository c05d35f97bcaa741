// SPDX-License-Identifier: GPL-2.0
/* The loop of a recording: waits for packets, and looks at the clock, at signals and at the program. */
#include <limits.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "record.h"
#include "record_options.h"

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

int record_loop(struct run *run, struct grt_err *err)
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
