// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A thread that wakes another one is running, so all of its earlier sleeps have ended, and their records
 * come before the record of the wait, which is written when the woken thread runs.
 */
#include "wakers.h"

#include <errno.h>
#include <string.h>

#include "codes/words.h"
#include "threads.h"

/* Sleeps that are kept for each thread, a power of two; earlier ones are unknown. */
#define SLEEPS 64U

/* The longest chain from a wait to the waker's wait, and so on. */
#define DEPTH 8U

const char *grt_waker_name(unsigned int by)
{
	return grt_word(GRT_WORDS_WAKER, by);
}

const char *grt_wake_cause_name(unsigned int cause)
{
	return grt_word(GRT_WORDS_WAKE_CAUSE, cause);
}

void grt_wakers_init(struct grt_wakers *w)
{
	*w = (struct grt_wakers){.from = 0};
	grt_keyed_init(&w->rows, sizeof(struct grt_waker_row), GRT_WAKERS_MAX);
	grt_sleeps_init(&w->sleeps, SLEEPS, GRT_WAKERS_LIVES);
}

void grt_wakers_free(struct grt_wakers *w)
{
	grt_names_free(&w->names);
	grt_keyed_free(&w->rows);
	grt_sleeps_free(&w->sleeps);
}

/* ------------------------------------------------------------- behind a wait */

static bool waits_for_thread(unsigned int state)
{
	return state == GRT_THREAD_LOCK || state == GRT_THREAD_IO || state == GRT_THREAD_CHILD;
}

static void divide(const struct grt_wakers *w, const struct grt_sleep *s, uint64_t from, uint64_t to,
		   unsigned int depth, uint64_t *behind);

/* Divides what a thread did between two moments; at the second one, it ran and woke another thread. */
static void divide_life(const struct grt_wakers *w, const struct grt_sleeper *l, uint64_t from, uint64_t to,
			unsigned int depth, uint64_t *behind)
{
	uint64_t known = l->first > from ? l->first : from, left, ns;
	const struct grt_sleep *s;

	known = known < to ? known : to;
	behind[GRT_THREAD_UNKNOWN] += known - from;
	left = to - known;
	for (uint32_t i = 1; (s = grt_sleeps_last(&w->sleeps, l, i, known)); i++) {
		ns = grt_sleeps_overlap(known, to, s->woken, s->end);
		behind[GRT_THREAD_RUNNABLE] += ns;
		left -= ns + grt_sleeps_overlap(known, to, s->start, s->woken);
		divide(w, s, s->start > known ? s->start : known, s->woken < to ? s->woken : to, depth,
		       behind);
	}
	behind[GRT_THREAD_RUNNING] += left;
}

/* Divides a part of a sleep. */
static void divide(const struct grt_wakers *w, const struct grt_sleep *s, uint64_t from, uint64_t to,
		   unsigned int depth, uint64_t *behind)
{
	const struct grt_sleeper *l =
		waits_for_thread(s->state) ? grt_sleeps_find(&w->sleeps, s->waker) : NULL;

	if (to <= from)
		return;
	if (l && l->pid == s->waker_pid && depth)
		divide_life(w, l, from, to, depth - 1, behind);
	else
		behind[s->state == GRT_THREAD_LOCK && s->waker ? GRT_THREAD_UNKNOWN : s->state] += to - from;
}

/* ------------------------------------------------------------- waits */

static bool is_for_nobody(const struct grt_ev_asleep *e)
{
	return e->by == GRT_WAKER_KERNEL && e->cause >= GRT_WAKE_DRIVER;
}

/* Return: 0 with *out NULL: there are too many, or -ENOMEM */
static int wakers_row(struct grt_wakers *w, const struct grt_ev_asleep *e, uint8_t state,
		      struct grt_waker_row **out)
{
	bool nobody = is_for_nobody(e);
	uint64_t waker = nobody ? 0 : (uint64_t)e->waker_pid << 32 | e->waker;
	struct grt_key key = {{(uint64_t)e->e.pid << 32 | e->e.tid,
			       (uint64_t)e->cause << 32 | (uint64_t)(uint8_t)e->by << 8 | state, waker}};
	int ret = grt_keyed_get_or_count(&w->rows, &key, &w->over, (void **)out);
	struct grt_waker_row *r = *out;

	if (!r)
		return ret;
	r->pid = e->e.pid;
	r->tid = e->e.tid;
	r->name = grt_names_find(&w->names, GRT_NAME_THREAD, e->e.tid);
	r->state = state;
	r->by = (uint8_t)e->by;
	r->cause = (uint8_t)e->cause;
	r->waker = (uint32_t)waker;
	r->waker_pid = (uint32_t)(waker >> 32);
	memcpy(r->waker_comm, nobody ? "" : e->waker_comm, nobody ? 1 : sizeof(e->waker_comm));
	return 0;
}

static int wakers_count(struct grt_wakers *w, const struct grt_ev_asleep *e, const struct grt_sleep *s)
{
	uint64_t from = s->start > w->from ? s->start : w->from, ns = s->woken - from;
	struct grt_waker_row *r;
	int ret;

	if (s->woken <= from)
		return 0;
	ret = wakers_row(w, e, s->state, &r);
	if (!r)
		return ret;
	w->inferred += !!(e->e.flags & GRT_FLAG_INFERRED);
	r->waits++;
	r->ns += ns;
	r->max = ns > r->max ? ns : r->max;
	divide(w, s, from, s->woken, DEPTH, r->behind);
	return 0;
}

int grt_wakers_event(struct grt_wakers *w, const struct grt_event *event)
{
	struct grt_ev_asleep e;
	struct grt_sleep s;
	int ret = 0;

	if (event->type == GRT_EV_NAME)
		return grt_names_add(&w->names, (const struct grt_ev_name *)event);
	if (grt_sleeps_read(event, &e, &s) && s.state != GRT_THREAD_RUNNABLE)
		ret = wakers_count(w, &e, &s);
	return ret ?: grt_sleeps_event(&w->sleeps, event);
}
