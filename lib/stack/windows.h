/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Windows: the recorded times, if CAPTURE or WINDOW records say that not all time was recorded. Time outside
 * of all windows was not recorded: it is neither busy nor idle. Without such records, all time is one window.
 */
#ifndef GRT_STACK_WINDOWS_H
#define GRT_STACK_WINDOWS_H

#include <grtrace/event.h>

#include "base/busy.h"

/** struct grt_windows - @window: disjoint windows in the order of time; a zeroed struct is set up */
struct grt_windows {
	struct grt_interval *window;
	uint32_t windows, room;
};

/**
 * struct grt_watch_window - a window
 * @number: number of its period, from 1
 * @end: end of the window, ns; 0: unknown; @until: planned end, ns; 0: unknown
 * @lost: number of events that were lost in the window, or before it
 */
struct grt_watch_window {
	uint64_t begin;
	uint64_t end;
	uint64_t until;
	uint64_t lost;
	uint32_t number;
};

/**
 * struct grt_watch - a process, or all processes of a source, watched in windows at random places, which
 * represent all of its time; a zeroed struct is set up
 * @parts: see CAPTURE; 0: the process was not watched in windows
 * @window: windows by number
 * @first, @last: known start and end of the process, ns
 */
struct grt_watch {
	uint32_t parts;
	struct grt_watch_window *window;
	uint32_t windows, room;
	uint64_t first, last;
};

/** grt_watch_take - processes a CAPTURE record. Return: 0 or -ENOMEM */
int grt_watch_take(struct grt_watch *w, const struct grt_ev_capture *e);

/** grt_watch_take_window - processes a WINDOW record of the source of @w. Return: 0 or -ENOMEM */
int grt_watch_take_window(struct grt_watch *w, const struct grt_ev_window *e);

/** grt_watch_number - number of the window at a time, complete or not; 0: there is none */
uint32_t grt_watch_number(const struct grt_watch *w, uint64_t moment);

/** grt_watch_at - the last window that began before a time; NULL: there is none */
const struct grt_watch_window *grt_watch_at(const struct grt_watch *w, uint64_t moment);

/** grt_watch_free - frees all memory of @w and empties it */
void grt_watch_free(struct grt_watch *w);

/** grt_windows_take - processes a CAPTURE record. Return: 0 or -ENOMEM */
int grt_windows_take(struct grt_windows *w, const struct grt_ev_capture *e);

/** grt_windows_add - [@from, @to] was recorded. Return: 0 or -ENOMEM */
int grt_windows_add(struct grt_windows *w, uint64_t from, uint64_t to);

/** grt_windows_sum - recorded time in [@from, @to], ns */
uint64_t grt_windows_sum(const struct grt_windows *w, uint64_t from, uint64_t to);

/** grt_windows_hole - the first part of [@from, @to] that was not recorded. Return: whether there is one */
bool grt_windows_hole(const struct grt_windows *w, uint64_t from, uint64_t to, struct grt_interval *hole);

/** grt_windows_free - frees all memory of @w and empties it */
void grt_windows_free(struct grt_windows *w);

#endif /* GRT_STACK_WINDOWS_H */
