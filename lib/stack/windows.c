// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Windows as the union of the windows of all processes. */
#include "windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Return: index of the first window that ends after a moment. */
static uint32_t windows_behind(const struct grt_windows *w, uint64_t moment)
{
	uint32_t low = 0, high = w->windows;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (w->window[mid].to > moment)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
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
	uint32_t low = 0, high = w->windows;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (w->window[mid].begin > moment)
			high = mid;
		else
			low = mid + 1;
	}
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
