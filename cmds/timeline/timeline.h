/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One run of `grtrace timeline`, shared by its files: timeline.c parses the command line and drives the
 * session, timeline_bars.c draws.
 */
#ifndef GRTRACE_TIMELINE_H
#define GRTRACE_TIMELINE_H

#include "analyses.h"
#include "jobs/jobs.h"
#include "cmds/reading.h"

/* ">100.0 %*" after a bar. */
#define SHARE_WIDTH 9

/**
 * struct timeline_look - the layout of bars
 * @width: of a line, characters
 * @label: of this, for the row's name
 * @columns: of this, for the bar
 * @shares: each bar is followed by the busy share
 * @utf8: blocks, otherwise ASCII
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
 * @a: the analyses that have parts of a timeline
 * @input: its name for messages
 * @filter: as requested; @filtered: it selects only some jobs
 * @failed: -ENOMEM while drawing
 */
struct timeline {
	struct grt_analyses a;
	const char *input;
	struct grt_session *session;
	struct reading_span span;
	struct timeline_look look;
	const struct filter *filter;
	bool filtered;
	bool latency_only;
	bool verbose;
	int failed;
	struct grt_notes notes;
};

/**
 * timeline_draw - draws a part of an analysis that text shows as a picture
 * @state: of the analysis
 * @ret: 0 or -ENOMEM
 * Return: whether it is such a part
 */
bool timeline_draw(struct timeline *tl, const struct grt_part *part, const void *state, int *ret);

/** timeline_others - whether there are bars of anything other than jobs */
static inline bool timeline_others(const struct timeline *tl)
{
	return grt_analyses_any(&tl->a, GRT_PART_BARS, GRT_PART_BARS);
}

extern const struct cmd_json timeline_json;

#endif /* GRTRACE_TIMELINE_H */
