/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * From when to when a source saw everything. A recording has one such window for
 * all of its sources: it begins when the last of them has, and ends at one moment
 * for all. The recorder cuts packets to it; its metadata has it, and what was cut.
 */
#ifndef GRT_TRACE_WINDOW_H
#define GRT_TRACE_WINDOW_H

#include "env.h"

/**
 * struct grt_window - a window, and what a source told of beyond it
 * @from, @to: CLOCK_MONOTONIC ns, both included; @to is UINT64_MAX while it is not known
 * @before, @after: events that were dropped, since they were earlier and later
 * @deleted: events of the source whose segments were deleted, since the recording is bounded
 * @counted: of all these, those whose number the programs that made them tell, too (see written.h)
 */
struct grt_window {
	uint64_t from;
	uint64_t to;
	uint64_t before;
	uint64_t after;
	uint64_t deleted;
	uint64_t counted;
};

#define GRT_WINDOW_TEXT 200

/** grt_window_text - as it stands in the metadata, under SOURCE_window */
void grt_window_text(const struct grt_window *w, char text[GRT_WINDOW_TEXT]);

/** grt_window_read - the opposite. Return: whether @text is a window */
bool grt_window_read(struct grt_window *w, const char *text);

/** grt_window_of - the window of a source of this recording. Return: whether it says one */
bool grt_window_of(struct grt_window *w, const struct grt_env_list *env, const char *source, size_t len);

/**
 * grt_window_common - what the windows of all sources have in common, and the sums of what was cut
 * @shortest: gets the source that ends it where others go on; NULL: none does
 * Return: whether the recording has windows
 */
bool grt_window_common(struct grt_window *w, const struct grt_env_list *env, const char **shortest);

#endif /* GRT_TRACE_WINDOW_H */
