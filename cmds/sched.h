/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One run of `grtrace sched`, shared by its files: sched.c takes the command
 * line and counts, sched_line.c prints a line per event.
 */
#ifndef GRTRACE_SCHED_H
#define GRTRACE_SCHED_H

#include "base/keyed.h"
#include "lines/event_json.h"
#include "lines/event_text.h"
#include "nvidia/tsg.h"
#include "trace/names.h"
#include "reading.h"

/* Ends the run: nobody reads the lines. Not 1, which has a meaning in a live one. */
#define SCHED_STOP 2

/**
 * struct sched - one run
 * @c: what the session drives
 * @input: its name for people
 * @pid: only events of this process; 0: of all
 * @verbose: tokens and channels have lines, too
 * @refused: as have calls that failed
 * @as_json: lines are JSON
 * @json, @text: one of them writes events
 * @offset: from the trace's clock to CLOCK_REALTIME, ns
 * @own_clock: the trace's clock is all there is: stamps are from midnight
 * @seen: events by type
 * @refusals: of these, with a status that is not 0
 * @groups: that live, as struct sched_group, by grt_tsg_key()
 * @partly: of those met, how many were there before; @over: events of groups that found no place in @groups
 * @tsgs: their time on GPUs, of a recording as text; @span: of it
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

/** struct sched_group - a group; @is_met: it has been counted; @is_partly: its TASK_INIT was not seen */
struct sched_group {
	bool is_met;
	bool is_partly;
};

/** sched_status - what the driver answered, 0 also where that is not in the event */
uint32_t sched_status(const struct grt_event *e);

/** sched_line_new - begins. Return: 0 or -ENOMEM */
int sched_line_new(struct sched *s);

/**
 * sched_line - prints the line of a TSG_* event; a failed write shows in ferror(stdout)
 * @partly: its group was there before the trace began
 */
void sched_line(const struct sched *s, const struct grt_event *e, uint32_t cpu, bool partly);

#endif /* GRTRACE_SCHED_H */
