/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * All of a program's GPU work, of a machine's jobs, or of its calls, by what was seen of it in windows at
 * random places (record --duty).
 *
 * Work belongs to the window that its launch was in, with all of its time: a launch is a moment, and every
 * moment is in a window with the same probability, so that no work is more likely to be seen than other. The
 * estimate is the ratio estimator over windows, sum(y) / sum(x), where y is the time of the work in a window,
 * and x its length for totals, or the time of all work in it for shares. Its variance is that of y - ratio *
 * x over the windows, less what was seen itself; the interval is of Student's t, 95 %.
 */
#ifndef GRT_STACK_ESTIMATES_H
#define GRT_STACK_ESTIMATES_H

#include "table/notes.h"
#include "windows.h"

/* With fewer windows, or work in fewer of them, there is no interval. */
#define GRT_ESTIMATE_WINDOWS_MIN 10U
#define GRT_ESTIMATE_CELLS_MIN 5U

/** struct grt_estimate_cell - what was launched in a window */
struct grt_estimate_cell {
	uint32_t number;
	uint64_t ns;
	uint64_t works;
};

/** struct grt_estimate_sums - the same for all windows, by number; zeroed it is set up */
struct grt_estimate_sums {
	struct grt_estimate_cell *cell;
	uint32_t cells, room;
};

/**
 * struct grt_estimate - @known: there is one; @interval: with its bounds
 * @scale: all of the time by what was watched of it
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

/** grt_estimate_add - work of a window. Return: 0 or -ENOMEM */
int grt_estimate_add(struct grt_estimate_sums *s, uint32_t number, uint64_t ns, uint64_t works);

/** grt_estimate_window - the window that work belongs to, by its launch, or where that is unknown when it
 * began. Return: its number; 0: none that has ended in [@from, @to] */
uint32_t grt_estimate_window(const struct grt_watch *w, uint64_t moment, uint64_t from, uint64_t to);

/** grt_estimate_watched - the time of the windows in [@from, @to], and the time that they stand for */
uint64_t grt_estimate_watched(const struct grt_watch *w, uint64_t from, uint64_t to, uint64_t *of,
			      uint32_t *windows);

/** grt_estimate_total - of all of a process's time in [@from, @to]: works, and ns as the value */
struct grt_estimate grt_estimate_total(const struct grt_watch *w, const struct grt_estimate_sums *s,
				       uint64_t from, uint64_t to);

/** grt_estimate_share - bounds of a part of all work: value, low and high in 1/1000 of a percent */
struct grt_estimate grt_estimate_share(const struct grt_estimate_sums *part,
				       const struct grt_estimate_sums *all);

/** grt_estimate_t - Student's t for an interval of 95 % */
double grt_estimate_t(double freedom);

/**
 * grt_estimate_settle - work was added as it came, before it was known which windows are whole: forgets that
 * of the others
 */
void grt_estimate_settle(struct grt_estimate_sums *s, const struct grt_watch *w, uint64_t from, uint64_t to);

/**
 * struct grt_estimate_watched - windows, of which notes tell
 * @windows: that are whole, in @watched ns, which stand for @of ns
 * @beside: works that began in none of these
 * @lost: events that were lost
 */
struct grt_estimate_watched {
	uint32_t windows;
	uint64_t watched;
	uint64_t of;
	uint64_t beside;
	uint64_t lost;
};

/** grt_estimate_look - the windows of [@from, @to]; @beside is left at 0 */
struct grt_estimate_watched grt_estimate_look(const struct grt_watch *w, uint64_t from, uint64_t to);

/** grt_estimate_note - how much was watched, and what intervals are */
void grt_estimate_note(struct grt_notes *notes, const struct grt_estimate_watched *w);

/** grt_estimate_free - frees all and empties it */
void grt_estimate_free(struct grt_estimate_sums *s);

#endif /* GRT_STACK_ESTIMATES_H */
