/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Estimates of all GPU work of a program, of all jobs of a machine, or of all calls, from the part that was
 * recorded in windows at random places (record --duty).
 *
 * Work belongs, with all of its time, to the window of its launch. A launch is a moment, and every moment is
 * in a window with the same probability, so all work has the same chance to be recorded. The estimate is the
 * ratio estimator over windows, sum(y) / sum(x), where y is the time of the work in a window, and x the
 * length of the window for totals, or the time of all work in it for shares. Its variance is that of y -
 * ratio * x over the windows, less the part that was recorded; the interval uses Student's t, 95 %.
 */
#ifndef GRT_STACK_ESTIMATES_H
#define GRT_STACK_ESTIMATES_H

#include <grtrace/event.h>

#include "base/busy.h"
#include "base/say.h"
#include "table/table.h"

/*
 * Windows: the recorded times, if CAPTURE or WINDOW records say that not all time was recorded. Time outside
 * of all windows was not recorded: it is neither busy nor idle. Without such records, all time is one window.
 */

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

/* With fewer windows, or fewer windows that have work, there is no interval. */
#define GRT_ESTIMATE_WINDOWS_MIN 10U
#define GRT_ESTIMATE_CELLS_MIN 5U

/** struct grt_estimate_cell - the work that was launched in a window */
struct grt_estimate_cell {
	uint32_t number;
	uint64_t ns;
	uint64_t works;
};

/** struct grt_estimate_sums - the work of all windows, by number of the window; a zeroed struct is set up */
struct grt_estimate_sums {
	struct grt_estimate_cell *cell;
	uint32_t cells, room;
};

/**
 * struct grt_estimate - an estimate
 * @known: there is an estimate; @interval: @low and @high are its bounds
 * @scale: the whole time divided by the recorded time
 */
struct grt_estimate {
	bool known;
	bool interval;
	double scale;
	uint64_t works;
	uint64_t value;
	uint64_t low;
	uint64_t high;
};

/**
 * grt_cell_estimate_works, _value, _low, _high - columns of tables whose rows have an estimate
 * @offset: of the struct grt_estimate in the row
 */
void grt_cell_estimate_works(struct grt_cell *cell, const void *view, const void *row, int offset);
void grt_cell_estimate_value(struct grt_cell *cell, const void *view, const void *row, int offset);
void grt_cell_estimate_low(struct grt_cell *cell, const void *view, const void *row, int offset);
void grt_cell_estimate_high(struct grt_cell *cell, const void *view, const void *row, int offset);

/** grt_estimate_add - adds @works works of @ns to window @number. Return: 0 or -ENOMEM */
int grt_estimate_add(struct grt_estimate_sums *s, uint32_t number, uint64_t ns, uint64_t works);

/** grt_estimate_has - whether the window of this number has ended, and counts */
bool grt_estimate_has(const struct grt_watch *w, uint32_t number, uint64_t from, uint64_t to);

/** grt_estimate_begun - the same, also of a window whose end is not known yet: grt_estimate_settle() is to
 * follow */
uint32_t grt_estimate_begun(const struct grt_watch *w, uint64_t moment, uint64_t from, uint64_t to);

/** grt_estimate_window - the window to which work belongs; @moment: time of its launch or, if that is
 * unknown, of its start. Return: number of the window; 0: it did not end in [@from, @to], or there is none */
uint32_t grt_estimate_window(const struct grt_watch *w, uint64_t moment, uint64_t from, uint64_t to);

/** grt_estimate_watched - the time of the windows in [@from, @to], ns; @of gets the time that they represent,
 * ns,
 * @windows their number */
uint64_t grt_estimate_watched(const struct grt_watch *w, uint64_t from, uint64_t to, uint64_t *of,
			      uint32_t *windows);

/**
 * grt_estimate_missed - the windows without a record between the first one that counts in [@from, @to] and
 * the last: they were over before they could begin
 */
uint32_t grt_estimate_missed(const struct grt_watch *w, uint64_t from, uint64_t to);

/** grt_estimate_total - estimate of all work of a process in [@from, @to]: works, and ns as the value */
struct grt_estimate grt_estimate_total(const struct grt_watch *w, const struct grt_estimate_sums *s,
				       uint64_t from, uint64_t to);

/** grt_estimate_share - estimated share of a part in all work: value, low and high in 1/1000 of a percent */
struct grt_estimate grt_estimate_share(const struct grt_estimate_sums *part,
				       const struct grt_estimate_sums *all);

/** grt_estimate_t - Student's t for an interval of 95 % */
double grt_estimate_t(double freedom);

/**
 * grt_estimate_settle - removes the work of incomplete windows; work is added before it is known which
 * windows are complete
 */
void grt_estimate_settle(struct grt_estimate_sums *s, const struct grt_watch *w, uint64_t from, uint64_t to);

/**
 * struct grt_estimate_watched - the windows that a note describes
 * @windows: number of complete windows; they last @watched ns and represent @of ns
 * @missed: number of windows between them that were not recorded
 * @beside: works that began in none of these windows
 * @lost: number of lost events
 */
struct grt_estimate_watched {
	uint32_t windows;
	uint32_t missed;
	uint64_t watched;
	uint64_t of;
	uint64_t beside;
	uint64_t lost;
};

/** grt_estimate_look - describes the windows of [@from, @to]; @beside of the result is 0 */
struct grt_estimate_watched grt_estimate_look(const struct grt_watch *w, uint64_t from, uint64_t to);

/** grt_estimate_note - notes how much was recorded, and what the intervals mean */
void grt_estimate_note(struct grt_notes *notes, const struct grt_estimate_watched *w);

/** grt_estimate_free - frees all memory of @s and empties it */
void grt_estimate_free(struct grt_estimate_sums *s);

#endif /* GRT_STACK_ESTIMATES_H */
