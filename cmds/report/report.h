/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One run of `grtrace report`, shared by its files: report.c parses the command line and runs the session,
 * report_print.c composes the output.
 */
#ifndef GRTRACE_REPORT_H
#define GRTRACE_REPORT_H

#include "analyses.h"
#include "base/busy.h"
#include "export/lanes.h"
#include "fed.h"
#include "cmds/beside.h"
#include "cmds/reading.h"

/**
 * struct report - one run
 * @a: the analyses whose parts are shown
 * @threads: so many read the trace, 0: one; @fed: the analyses for which all of them work
 * @input: its name, for messages
 * @by: the part requested by --by, or by --csv; NULL: the summary
 * @elsewhere: number of events without a table in the summary, by class; classes.def says which command
 *	shows them
 * @besides: the callbacks of analyses that take such events and have no table of them
 * @asked: the time requested by --from and --to; without them, all
 * @span: the time that is examined (live: known with the first event)
 * @live: the input is the live module
 * @piped: the input is a pipe, so the time is known when it has been read
 * @narrowed: --from or --to was given
 * @filtered: only some processes, threads or rings are examined
 * @health: what went wrong; with --interval, since the previous report
 * @before: what had gone wrong before that
 * @verbose, @wide: as requested
 * @out: the output
 * @page: the output is the tables of a page; @lanes: its lanes; @idle: passes idle time to these
 */
struct report {
	struct grt_analyses a;
	struct grt_fed *fed;
	unsigned int threads;
	const char *input;
	struct grt_session *session;
	const struct grt_part *by;
	uint64_t elsewhere[GRT_CLASSES];
	int (*besides[GRT_CLASSES])(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu);
	struct grt_interval asked;
	struct reading_span span;
	bool live;
	bool piped;
	bool narrowed;
	bool filtered;
	bool verbose;
	bool wide;
	FILE *out;
	bool page;
	struct grt_lanes *lanes;
	struct grt_idleness_sink idle;
	struct grt_health health;
	struct grt_health before;
	struct grt_notes notes;
};

/** report_streams - whether jobs are written while the trace is read */
static inline bool report_streams(const struct report *r)
{
	return r->a.pass.streams;
}

/**
 * report_begin - writes the beginning of the output, up to the first job if jobs are written while the trace
 * is read. Return: 0 or -ENOMEM
 */
int report_begin(struct report *r);

/** report_print - writes the rest, or everything. Return: 0 or -ENOMEM */
int report_print(struct report *r);

/** report_look - updates @health */
void report_look(struct report *r);

extern const struct cmd_json report_json;

#endif /* GRTRACE_REPORT_H */
