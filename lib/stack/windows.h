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

/** grt_windows_take - a CAPTURE record. Return: 0 or -ENOMEM */
int grt_windows_take(struct grt_windows *w, const struct grt_ev_capture *e);

/** grt_windows_sum - how much of a time was recorded */
uint64_t grt_windows_sum(const struct grt_windows *w, uint64_t from, uint64_t to);

/** grt_windows_hole - the first part of a time that was not. Return: whether there is one */
bool grt_windows_hole(const struct grt_windows *w, uint64_t from, uint64_t to, struct grt_interval *hole);

/** grt_windows_free - frees all and empties it */
void grt_windows_free(struct grt_windows *w);

#endif /* GRT_STACK_WINDOWS_H */
