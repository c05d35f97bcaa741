// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Sums over all windows are computed as if no window had work, and then corrected for those that have,
 * because most windows have little.
 */
#include "estimates.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/containers.h"

/* --------------------------------------------------------------- windows */

/* Windows as the union of the windows of all processes. */

/* Return: index of the first window that ends after a moment. */
static uint32_t windows_behind(const struct grt_windows *w, uint64_t moment)
{
	return grt_bisect(w->windows, i, w->window[i].to <= moment);
}

/* Windows that the new one touches are merged with it. */
int grt_windows_add(struct grt_windows *w, uint64_t from, uint64_t to)
{
	struct grt_interval x = {from, to};
	uint32_t at = 0, past;

	if (grt_grow(&w->window, &w->room, w->windows + 1, 8))
		return -ENOMEM;
	while (at < w->windows && w->window[at].to < x.from)
		at++;
	for (past = at; past < w->windows && w->window[past].from <= x.to; past++) {
		x.from = w->window[past].from < x.from ? w->window[past].from : x.from;
		x.to = w->window[past].to > x.to ? w->window[past].to : x.to;
	}
	memmove(&w->window[at + 1], &w->window[past], (w->windows - past) * sizeof(*w->window));
	w->window[at] = x;
	w->windows += 1 + at - past;
	return 0;
}

int grt_windows_take(struct grt_windows *w, const struct grt_ev_capture *e)
{
	return grt_windows_add(w, e->begin, e->end && e->end >= e->begin ? e->end : e->begin);
}

/* The last window may not have ended: without an end, it lasts until the end of the recording. */
static uint64_t windows_end(const struct grt_windows *w, uint32_t at)
{
	return at + 1 == w->windows && w->window[at].from == w->window[at].to ? UINT64_MAX : w->window[at].to;
}

uint64_t grt_windows_sum(const struct grt_windows *w, uint64_t from, uint64_t to)
{
	uint64_t sum = 0, begin, end;

	if (!w->windows)
		return to > from ? to - from : 0;
	for (uint32_t i = 0; i < w->windows; i++) {
		begin = w->window[i].from > from ? w->window[i].from : from;
		end = windows_end(w, i) < to ? windows_end(w, i) : to;
		sum += end > begin ? end - begin : 0;
	}
	return sum;
}

bool grt_windows_hole(const struct grt_windows *w, uint64_t from, uint64_t to, struct grt_interval *hole)
{
	uint32_t at = windows_behind(w, from);

	if (!w->windows || from >= to)
		return false;
	if (at == w->windows && windows_end(w, at - 1) == UINT64_MAX && w->window[at - 1].from <= from)
		return false;
	hole->from = at < w->windows && w->window[at].from <= from ? windows_end(w, at++) : from;
	hole->to = at < w->windows && w->window[at].from < to ? w->window[at].from : to;
	return hole->from < hole->to;
}

/* A window has two records, one at its begin and one at its end. */
static int watch_put(struct grt_watch *w, const struct grt_watch_window *x)
{
	uint32_t at = w->windows;

	while (at && w->window[at - 1].number >= x->number)
		at--;
	if (at == w->windows || w->window[at].number != x->number) {
		if (grt_grow(&w->window, &w->room, w->windows + 1, 16))
			return -ENOMEM;
		memmove(&w->window[at + 1], &w->window[at], (w->windows++ - at) * sizeof(*w->window));
	}
	w->window[at] = *x;
	return 0;
}

int grt_watch_take(struct grt_watch *w, const struct grt_ev_capture *e)
{
	const struct grt_watch_window x = {
		.begin = e->begin, .end = e->end > e->begin ? e->end : 0, .number = e->number};

	if (!e->parts)
		return 0;
	w->parts = e->parts;
	w->last = e->end > w->last ? e->end : w->last;
	return watch_put(w, &x);
}

int grt_watch_take_window(struct grt_watch *w, const struct grt_ev_window *e)
{
	struct grt_watch_window x = {
		.begin = e->begin, .until = e->end, .lost = e->lost, .number = e->number};

	w->parts = e->parts;
	if (!w->first || e->begin < w->first)
		w->first = e->begin;
	/* of a recorder that was killed, the end of the last complete window */
	if (e->what == GRT_WINDOW_OVER && e->end > w->last)
		w->last = e->end;
	if (!e->number || e->end <= e->begin)
		return 0;
	x.end = e->what == GRT_WINDOW_OVER ? e->end : 0;
	return watch_put(w, &x);
}

uint32_t grt_watch_number(const struct grt_watch *w, uint64_t moment)
{
	const struct grt_watch_window *x = grt_watch_at(w, moment);

	return x && moment < x->until ? x->number : 0;
}

const struct grt_watch_window *grt_watch_at(const struct grt_watch *w, uint64_t moment)
{
	uint32_t low = grt_bisect(w->windows, i, w->window[i].begin <= moment);

	return low ? &w->window[low - 1] : NULL;
}

void grt_watch_free(struct grt_watch *w)
{
	free(w->window);
	memset(w, 0, sizeof(*w));
}

void grt_windows_free(struct grt_windows *w)
{
	free(w->window);
	memset(w, 0, sizeof(*w));
}

/* ------------------------------------------------------------- estimates */

int grt_estimate_add(struct grt_estimate_sums *s, uint32_t number, uint64_t ns, uint64_t works)
{
	uint32_t at = s->cells;

	/* work comes in order, except at the ends of windows */
	while (at && s->cell[at - 1].number >= number)
		at--;
	if (at == s->cells || s->cell[at].number != number) {
		if (grt_grow(&s->cell, &s->room, s->cells + 1, 4))
			return -ENOMEM;
		memmove(&s->cell[at + 1], &s->cell[at], (s->cells++ - at) * sizeof(*s->cell));
		s->cell[at] = (struct grt_estimate_cell){.number = number};
	}
	s->cell[at].ns += ns;
	s->cell[at].works += works;
	return 0;
}

/* Whether a window counts: not if its end is unknown, or if it is cut. */
static bool estimate_counts(const struct grt_watch_window *x, uint64_t from, uint64_t to)
{
	return x->end && x->begin >= from && x->end <= to;
}

uint32_t grt_estimate_window(const struct grt_watch *w, uint64_t moment, uint64_t from, uint64_t to)
{
	const struct grt_watch_window *x = grt_watch_at(w, moment);

	return x && estimate_counts(x, from, to) ? x->number : 0;
}

uint32_t grt_estimate_begun(const struct grt_watch *w, uint64_t moment, uint64_t from, uint64_t to)
{
	const struct grt_watch_window *x = grt_watch_at(w, moment);

	return x && (x->end ? estimate_counts(x, from, to) : x->begin >= from) ? x->number : 0;
}

uint64_t grt_estimate_watched(const struct grt_watch *w, uint64_t from, uint64_t to, uint64_t *of,
			      uint32_t *windows)
{
	uint64_t first = w->first > from ? w->first : from, last = w->last < to ? w->last : to, sum = 0;

	*windows = 0;
	for (uint32_t i = 0; i < w->windows; i++) {
		const struct grt_watch_window *x = &w->window[i];

		/* the window extends beyond what is known */
		if (!x->end && x->begin < last && i + 1 == w->windows)
			last = x->begin;
		if (!estimate_counts(x, from, to))
			continue;
		sum += x->end - x->begin;
		++*windows;
	}
	*of = last > first && last - first > sum ? last - first : sum;
	return sum;
}

uint32_t grt_estimate_missed(const struct grt_watch *w, uint64_t from, uint64_t to)
{
	uint32_t first = 0, last = 0, n = 0;

	for (uint32_t i = 0; i < w->windows; i++) {
		if (!estimate_counts(&w->window[i], from, to))
			continue;
		last = w->window[i].number;
		first = n++ ? first : last;
	}
	return n ? last - first + 1 - n : 0;
}

/*
 * The expansion in powers of 1 / freedom: for 9 degrees and more it is correct to four digits, for 3 to two.
 */
double grt_estimate_t(double freedom)
{
	const double z = 1.959963985, n = freedom, z2 = z * z;

	return z + z * (z2 + 1) / (4 * n) + z * (5 * z2 * z2 + 16 * z2 + 3) / (96 * n * n) +
	       z * (3 * z2 * z2 * z2 + 19 * z2 * z2 + 17 * z2 - 15) / (384 * n * n * n);
}

/**
 * struct squares - sums over windows, for the variance of the ratio of @y to @x
 * @n, @x, @y: number of windows, and sums of their times and of the work in them
 * @x2, @x4: sums of the second and fourth powers of the residuals as if no window had work, divided by powers
 *	of the ratio
 * @d2, @d4: what windows with work change in these sums
 */
struct squares {
	uint32_t n;
	double x, y, d2, d4, x2, x4;
};

static void squares_begin(struct squares *s, double x)
{
	s->n++;
	s->x += x;
}

/* The change of the ratio without a window whose @y - ratio * @x is @d (the jackknife). */
static double squares_weighed(const struct squares *s, double x, double d)
{
	return d / (1 - x / s->x);
}

static void squares_add_window(struct squares *s, double x)
{
	double d = x < s->x ? squares_weighed(s, x, x) : 0;

	s->x2 += d * d;
	s->x4 += d * d * d * d;
}

/* Corrects the sums for a window with work, which were computed as if it had none. */
static void squares_add_work(struct squares *s, double x, double y)
{
	double ratio = s->y / s->x, d, none;

	if (x >= s->x)
		return;
	d = squares_weighed(s, x, y - ratio * x);
	none = squares_weighed(s, x, ratio * x);
	s->d2 += d * d - none * none;
	s->d4 += d * d * d * d - none * none * none * none;
}

/*
 * Return: half of the confidence interval of sum(y) / sum(x); @unseen: part of all windows that was not
 * recorded. If few windows have much of the work, the variance itself is uncertain. The kurtosis of the
 * residuals then reduces the degrees of freedom below the number of windows.
 */
static double squares_half(const struct squares *s, double unseen)
{
	double ratio = s->y / s->x, n = s->n;
	double d2 = s->d2 + ratio * ratio * s->x2, d4 = s->d4 + ratio * ratio * ratio * ratio * s->x4;
	double kurtosis = d2 > 0 ? n * d4 / (d2 * d2) : 3,
	       freedom = 2 * n / (kurtosis > 1 ? kurtosis - 1 : 1);

	if (d2 <= 0)
		return 0;
	freedom = freedom > n - 1 ? n - 1 : freedom < 3 ? 3 : freedom;
	return grt_estimate_t(freedom) * sqrt(unseen * (n - 1) / n * d2) / s->x;
}

static uint64_t estimate_round(double value)
{
	return value <= 0 ? 0 : value >= 1.8e19 ? UINT64_MAX : (uint64_t)(value + 0.5);
}

static void estimate_bound(struct grt_estimate *e, double value, double half, double least, double most)
{
	e->low = estimate_round(value - half > least ? value - half : least);
	e->high = estimate_round(value + half < most ? value + half : most);
}

static double estimate_length(const struct grt_watch_window *x)
{
	return (double)(x->end - x->begin);
}

/* From a place on. */
static uint32_t estimate_find(const struct grt_watch *w, uint32_t number, uint32_t at)
{
	while (at < w->windows && w->window[at].number < number)
		at++;
	return at;
}

struct grt_estimate grt_estimate_total(const struct grt_watch *w, const struct grt_estimate_sums *s,
				       uint64_t from, uint64_t to)
{
	struct grt_estimate e = {.known = false};
	struct squares q = {.n = 0};
	uint64_t of, watched;
	uint32_t windows, at = 0;
	double works = 0, value;

	watched = grt_estimate_watched(w, from, to, &of, &windows);
	if (!watched)
		return e;
	for (uint32_t i = 0; i < w->windows; i++)
		if (estimate_counts(&w->window[i], from, to))
			squares_begin(&q, estimate_length(&w->window[i]));
	for (uint32_t i = 0; i < s->cells; i++) {
		q.y += (double)s->cell[i].ns;
		works += (double)s->cell[i].works;
	}
	for (uint32_t i = 0; i < w->windows; i++)
		if (estimate_counts(&w->window[i], from, to))
			squares_add_window(&q, estimate_length(&w->window[i]));
	for (uint32_t i = 0; i < s->cells; i++) {
		at = estimate_find(w, s->cell[i].number, at);
		if (at < w->windows)
			squares_add_work(&q, estimate_length(&w->window[at]), (double)s->cell[i].ns);
	}
	e.known = true;
	e.scale = (double)of / (double)watched;
	value = q.y * e.scale;
	e.value = estimate_round(value);
	e.works = estimate_round(works * e.scale);
	e.interval = windows >= GRT_ESTIMATE_WINDOWS_MIN && s->cells >= GRT_ESTIMATE_CELLS_MIN;
	/* at least the recorded work exists */
	if (e.interval)
		estimate_bound(&e, value, squares_half(&q, 1 - 1 / e.scale) * (double)of, q.y, 1.8e19);
	return e;
}

struct grt_estimate grt_estimate_share(const struct grt_estimate_sums *part,
				       const struct grt_estimate_sums *all)
{
	struct grt_estimate e = {.known = false};
	struct squares q = {.n = 0};
	uint32_t at = 0;
	double share;

	for (uint32_t i = 0; i < all->cells; i++)
		squares_begin(&q, (double)all->cell[i].ns);
	for (uint32_t i = 0; i < part->cells; i++)
		q.y += (double)part->cell[i].ns;
	if (q.x <= 0)
		return e;
	e.known = true;
	share = q.y / q.x * 100000;
	e.value = estimate_round(share);
	e.interval = q.n >= GRT_ESTIMATE_WINDOWS_MIN && part->cells >= GRT_ESTIMATE_CELLS_MIN;
	if (!e.interval)
		return e;
	for (uint32_t i = 0; i < all->cells; i++)
		squares_add_window(&q, (double)all->cell[i].ns);
	for (uint32_t i = 0; i < part->cells; i++) {
		while (at < all->cells && all->cell[at].number < part->cell[i].number)
			at++;
		if (at < all->cells)
			squares_add_work(&q, (double)all->cell[at].ns, (double)part->cell[i].ns);
	}
	estimate_bound(&e, share, squares_half(&q, 1) * 100000, 0, 100000);
	return e;
}

void grt_estimate_free(struct grt_estimate_sums *s)
{
	free(s->cell);
	memset(s, 0, sizeof(*s));
}

static const struct grt_watch_window *estimate_by_number(const struct grt_watch *w, uint32_t number)
{
	uint32_t low = grt_bisect(w->windows, i, w->window[i].number < number);

	return low < w->windows && w->window[low].number == number ? &w->window[low] : NULL;
}

bool grt_estimate_has(const struct grt_watch *w, uint32_t number, uint64_t from, uint64_t to)
{
	const struct grt_watch_window *x = estimate_by_number(w, number);

	return x && estimate_counts(x, from, to);
}

void grt_estimate_settle(struct grt_estimate_sums *s, const struct grt_watch *w, uint64_t from, uint64_t to)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->cells; i++) {
		const struct grt_watch_window *x = estimate_by_number(w, s->cell[i].number);

		if (x && estimate_counts(x, from, to))
			s->cell[kept++] = s->cell[i];
	}
	s->cells = kept;
}

struct grt_estimate_watched grt_estimate_look(const struct grt_watch *w, uint64_t from, uint64_t to)
{
	struct grt_estimate_watched out = {.windows = 0};

	out.watched = grt_estimate_watched(w, from, to, &out.of, &out.windows);
	out.missed = grt_estimate_missed(w, from, to);
	for (uint32_t i = 0; i < w->windows; i++)
		out.lost += w->window[i].lost;
	return out;
}

void grt_estimate_note(struct grt_notes *notes, const struct grt_estimate_watched *w)
{
	if (!w->windows)
		return;
	grt_note(
		notes,
		"%" PRIu32
		" random {window|windows}, %.1f s of %.1f s (%.2f %%), {was|were} recorded: numbers marked ~ are "
		"estimated for the whole recording, all others cover only the windows",
		w->windows, (double)w->watched / 1e9, (double)w->of / 1e9,
		100.0 * (double)w->watched / (double)w->of);
	grt_note(
		notes,
		w->windows < GRT_ESTIMATE_WINDOWS_MIN
			? "  there is no interval: it needs %u windows, and work in %u of them"
			: "  intervals of 95 %% are those of the ratio estimator over windows; with fewer than %u windows, "
			  "or work in fewer than %u of them, there is none",
		GRT_ESTIMATE_WINDOWS_MIN, GRT_ESTIMATE_CELLS_MIN);
	if (w->missed)
		grt_note(
			notes,
			"  %" PRIu32
			" {more window was|more windows were} over before {it|they} could begin, as where a machine is busy: the "
			"estimates are right if {it was|they were} like the recorded ones, and intervals do not include that",
			w->missed);
	if (w->lost)
		grt_note(
			notes,
			"  %" PRIu64
			" {event of the windows was|events of the windows were} lost: estimates are too small",
			w->lost);
}

/* --------------------------------------------------------------- columns */

static const struct grt_estimate *estimate_in(const void *row, int offset)
{
	return (const struct grt_estimate *)((const char *)row + offset);
}

static void estimate_put(struct grt_cell *cell, uint64_t number, bool known)
{
	cell->number = number;
	cell->absent = !known;
	cell->estimated = true;
}

void grt_cell_estimate_works(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	estimate_put(cell, estimate_in(row, offset)->works, estimate_in(row, offset)->known);
}

void grt_cell_estimate_value(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	estimate_put(cell, estimate_in(row, offset)->value, estimate_in(row, offset)->known);
}

void grt_cell_estimate_low(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	estimate_put(cell, estimate_in(row, offset)->low, estimate_in(row, offset)->interval);
}

void grt_cell_estimate_high(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	estimate_put(cell, estimate_in(row, offset)->high, estimate_in(row, offset)->interval);
}
