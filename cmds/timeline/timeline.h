/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One run of `grtrace timeline`, shared by its files: timeline.c takes the
 * command line and drives the session, timeline_print.c puts together what is
 * written, timeline_bars.c draws.
 */
#ifndef GRTRACE_TIMELINE_H
#define GRTRACE_TIMELINE_H

#include "jobs/phase_table.h"
#include "jobs/timeline_table.h"
#include "cmds/reading.h"

/* ">100.0 %*" behind a bar. */
#define SHARE_WIDTH 9

/**
 * struct timeline_look - how bars look
 * @width: of a line, characters
 * @label: of this, for the row's name
 * @columns: of this, for the bar
 * @shares: the busy share stands behind the bar
 * @utf8: blocks, else ASCII
 * @colour: on a terminal
 */
struct timeline_look {
	unsigned int width;
	unsigned int label;
	unsigned int columns;
	bool shares;
	bool utf8;
	bool colour;
};

/**
 * struct timeline - one run
 * @c: what the session drives
 * @input: its name for people
 * @ring: only jobs of this one, by its name or, where @ring_by_id, @ring_id; NULL: of all
 * @pid: only jobs of this process, where @by_pid
 * @selected: jobs that were not left out by these
 */
struct timeline {
	struct grt_consumer c;
	const char *input;
	struct grt_session *session;
	struct grt_jobs *jobs;
	struct grt_timeline *t;
	struct grt_phases *phases;
	struct grt_writer *writer;
	struct reading_span span;
	struct timeline_look look;
	const char *ring;
	uint64_t ring_id;
	bool ring_by_id;
	uint64_t pid;
	bool by_pid;
	uint64_t selected;
	bool narrowed;
	bool latency_only;
	bool json;
	struct grt_notes notes;
};

/** timeline_print - writes all. Return: 0 or -ENOMEM */
int timeline_print(struct timeline *tl);

/** timeline_bars - the rows of rings, engines and processes as bars over time. Return: 0 or -ENOMEM */
int timeline_bars(struct timeline *tl);

/** timeline_histograms - a bar for each power of two, for each phase of each ring */
void timeline_histograms(struct timeline *tl, const struct grt_ring_phases *const *rings, uint32_t n);

/** timeline_span - length of what is looked at, ns */
static inline uint64_t timeline_span(const struct timeline *tl)
{
	return tl->span.known ? tl->span.last - tl->span.first : 0;
}

extern const struct cmd_json timeline_json;

#endif /* GRTRACE_TIMELINE_H */
