/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One run of `grtrace monitor`, shared by its files: monitor.c parses the command line and passes events to
 * the analyses, monitor_line.c prints a line per event and monitor.c the results of the analyses
 * at the end.
 */
#ifndef GRTRACE_MONITOR_H
#define GRTRACE_MONITOR_H

#include "analyses.h"
#include "codes/nv_codes.h"
#include "drm/calls.h"
#include "jobs/deps.h"
#include "jobs/jobs.h"
#include "lines/event_json.h"
#include "lines/event_text.h"
#include "cmds/reading.h"
#include "table/counts.h"

/** enum monitor_layout - columns of a line */
enum monitor_layout {
	MONITOR_LAYOUT_JOBS,
	MONITOR_LAYOUT_CALLS,
	MONITOR_LAYOUT_FRAMES,
	MONITOR_LAYOUTS,
};

/**
 * struct monitor_row - a row of monitors.def
 * @parts: names separated by spaces; "": all
 */
struct monitor_row {
	const char *name;
	enum monitor_layout layout;
	const char *sources;
	const char *driver;
	const char *parts;
	const char *limit;
	const char *help;
};

/**
 * struct monitor_did - what the analyses know about the present event
 * @ended: number of waits for a fence that ended with it
 * @call: its ioctl, if it ends one
 */
struct monitor_did {
	int ended;
	struct grt_call_end call;
};

/**
 * struct monitor - one run
 * @a: the analyses of what is shown
 * @input: its name for people
 * @pid, @driver: only events of these; 0 and NULL: of all
 * @sure: @driver was requested: a ring of unknown driver is not its
 * @left_out: events of others
 * @counters: values of counters, which this monitor does not show
 * @sample: every Nth ioctl is printed, 0: none
 * @ioctls: met so far
 * @classes: bit per class of events that are taken in, see monitor.c
 * @seen: events taken in, by type; all types together in [0]
 * @again: the present event is a COMPLETE of a job that was complete
 * @first, @last: stamps of the recording's first and last event, of whatever kind and process (live:
 * begin and end of the run), ns; valid with @known
 * @lines, @details: of JSON and of text; NULL: there are none
 * @header: the line above the first one was printed
 * @write_error: errno of a failed write, 0: none
 */
struct monitor {
	struct grt_analyses a;
	const struct monitor_row *row;
	const char *input;
	uint32_t pid;
	const char *driver;
	bool sure;
	uint64_t left_out;
	uint64_t counters;
	uint64_t sample;
	uint64_t ioctls;
	bool json;
	bool quiet;
	bool verbose;
	bool wide;
	bool live;
	uint32_t classes;
	struct grt_session *session;
	struct grt_names names;
	struct grt_event_json *lines;
	struct grt_event_text *details;
	struct grt_counts *counts;
	bool again;
	struct grt_deps *deps;
	uint64_t seen[GRT_EV_MAX];
	uint64_t first;
	uint64_t last;
	bool known;
	bool header;
	int write_error;
	struct grt_notes notes;
};

/* Ends the run, because no process reads the lines. It differs from 1, which has a meaning in a live run. */
#define MONITOR_STOP 2

/** monitor_line_new - allocates what lines need. Return: 0 or -ENOMEM. monitor_line_free - frees it */
int monitor_line_new(struct monitor *m);
void monitor_line_free(struct monitor *m);

/** monitor_line - prints the line of an event. Return: 0, or MONITOR_STOP */
int monitor_line(struct monitor *m, const struct grt_event *e, uint32_t cpu, const struct monitor_did *did);

/** monitor_nv_name - the name of an ioctl's class or control; NULL: it has none */
static inline const char *monitor_nv_name(enum grt_nv_about kind, uint32_t about)
{
	return grt_nv_about_name(kind, about);
}

extern const struct cmd_json monitor_json;

#endif /* GRTRACE_MONITOR_H */
