/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Windows: the times that a recording is of, where CAPTURE records say that it is not of all. What is not in
 * any process's window was not recorded: it is neither busy nor idle. Without such records all is one window.
 */
#ifndef GRT_STACK_WINDOWS_H
#define GRT_STACK_WINDOWS_H

#include <grtrace/event.h>

#include "base/busy.h"

/** struct grt_windows - @window: apart, in the order of time; zeroed it is set up */
struct grt_windows {
	struct grt_interval *window;
	uint32_t windows, room;
};

/**
 * struct grt_watch_window - @number: of its period, from 1
 * @end: 0 where it is unknown; @until: when it is to end, 0: nobody has said
 * @lost: events that were lost in it, or before it
 */
struct grt_watch_window {
	uint64_t begin;
	uint64_t end;
	uint64_t until;
	uint64_t lost;
	uint32_t number;
};

/**
 * struct grt_watch - a process, or all of a source's, that was watched in windows at random places, which
 * stand for all of its time; zeroed it is set up
 * @parts: as in CAPTURE; 0: the process was not
 * @window: by number
 * @first, @last: when the process was there, as far as it is known
 */
struct grt_watch {
	uint32_t parts;
	struct grt_watch_window *window;
	uint32_t windows, room;
	uint64_t first, last;
};

/** grt_watch_take - a CAPTURE record. Return: 0 or -ENOMEM */
int grt_watch_take(struct grt_watch *w, const struct grt_ev_capture *e);

/** grt_watch_take_window - a WINDOW record; it is of the source that @w is for. Return: 0 or -ENOMEM */
int grt_watch_take_window(struct grt_watch *w, const struct grt_ev_window *e);

/** grt_watch_number - the window that a moment is in, whether or not it is known to be whole; 0: none */
uint32_t grt_watch_number(const struct grt_watch *w, uint64_t moment);

/** grt_watch_at - the last window that began before a moment; NULL: none did */
const struct grt_watch_window *grt_watch_at(const struct grt_watch *w, uint64_t moment);

/** grt_watch_free - frees all and empties it */
void grt_watch_free(struct grt_watch *w);

/** grt_windows_take - a CAPTURE record. Return: 0 or -ENOMEM */
int grt_windows_take(struct grt_windows *w, const struct grt_ev_capture *e);

/** grt_windows_sum - how much of a time was recorded */
uint64_t grt_windows_sum(const struct grt_windows *w, uint64_t from, uint64_t to);

/** grt_windows_hole - the first part of a time that was not. Return: whether there is one */
bool grt_windows_hole(const struct grt_windows *w, uint64_t from, uint64_t to, struct grt_interval *hole);

/** grt_windows_free - frees all and empties it */
void grt_windows_free(struct grt_windows *w);

#endif /* GRT_STACK_WINDOWS_H */
