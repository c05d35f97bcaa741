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
#include "cmds/beside.h"
#include "cmds/filter.h"

/**
 * struct report - one run
 * @a: the analyses of what is shown
 * @beside: those that another thread feeds, until the trace has been read
 * @input: its name for people
 * @by: the part requested by --by, or by --csv; NULL: the summary
 * @elsewhere: events that the summary has no table for, by class; classes.def says where to look
 * @besides: the callbacks of analyses that take these in and have no table of them
 * @here: the callbacks of this thread for the classes that @beside needs, too
 * @asked: by --from and --to, all there is without them
 * @span: the time that is looked at (live: known with the first event)
 * @live: input is the live module
 * @piped: input is a pipe: the time is known when it has been read
 * @narrowed: --from or --to were given
 * @filtered: only some processes, threads or rings are looked at
 * @health: what the run met; with --interval, since the report before this one
 * @before: what it had met then
 * @verbose, @wide: as asked for
 * @out: where to
 * @page: it gets the tables of a page; @lanes: of it; @idle: these, as they get idle time
 */
struct report {
	struct grt_analyses a;
	struct beside beside;
	const char *input;
	struct grt_session *session;
	const struct grt_part *by;
	uint64_t elsewhere[GRT_CLASSES];
	int (*besides[GRT_CLASSES])(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu);
	int (*here[GRT_CLASSES])(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu);
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

/** report_begin - the head of the output, up to the first job where they stream. Return: 0 or -ENOMEM */
int report_begin(struct report *r);

/** report_print - the rest of it, or all where jobs do not stream. Return: 0 or -ENOMEM */
int report_print(struct report *r);

/** report_look - brings @health up to date */
void report_look(struct report *r);

/** report_unread - events in packets that were begun, later than the end of a live stream */
uint64_t report_unread(const struct report *r);

extern const struct cmd_json report_json;

#endif /* GRTRACE_REPORT_H */
