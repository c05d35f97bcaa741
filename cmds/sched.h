/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One run of `grtrace sched`, shared by its files: sched.c parses the command line and counts, sched_line.c
 * prints a line per event.
 */
#ifndef GRTRACE_SCHED_H
#define GRTRACE_SCHED_H

#include "base/keyed.h"
#include "lines/event_json.h"
#include "lines/event_text.h"
#include "nvidia/tsg.h"
#include "trace/names.h"
#include "reading.h"

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

/** sched_status - the driver's status; 0 also if the event has none */
uint32_t sched_status(const struct grt_event *e);

#endif /* GRTRACE_SCHED_H */
