// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A thread that wakes another one runs, so all of its sleeps before that have ended
 * and their records stand in front of the wait's, which comes when its thread runs.
 */
#include "wakers.h"

#include <errno.h>
#include <string.h>

#include "threads.h"

/* Sleeps of a thread that are remembered; what was before them is unknown. A power of two. */
#define SLEEPS 64U

/* From a wait to the waker's, and on. */
#define DEPTH 8U

/** struct sleep - a thread was off the CPU from @start to @end, asleep until @woken; @waker 0: no thread */
struct sleep {
	uint64_t start;
	uint64_t woken;
	uint64_t end;
	uint32_t waker;
	uint32_t waker_pid;
	uint8_t state;
};

/**
 * struct life - a thread
 * @n: sleeps so far, of which the last are at n - 1 and before, modulo SLEEPS
 * @first: all is known from here on
 * @number: of its last time off the CPU
 */
struct life {
	uint32_t pid;
	uint32_t n;
	uint64_t first;
	uint64_t number;
	struct sleep sleep[SLEEPS];
};

static const char *const waker_names[] = {
#define GRT_WAKER(number, NAME, name, help) [number] = #name,
#include <grtrace/wakers.def>
#undef GRT_WAKER
};

static const char *const cause_names[] = {
#define GRT_WAKE_CAUSE(number, NAME, name, help) [number] = #name,
#include <grtrace/wake_causes.def>
#undef GRT_WAKE_CAUSE
};

const char *grt_waker_name(unsigned int by)
{
	return by < sizeof(waker_names) / sizeof(waker_names[0]) ? waker_names[by] : NULL;
}

const char *grt_wake_cause_name(unsigned int cause)
{
	return cause < sizeof(cause_names) / sizeof(cause_names[0]) ? cause_names[cause] : NULL;
}

void grt_wakers_init(struct grt_wakers *w)
{
	*w = (struct grt_wakers){.from = 0};
	grt_keyed_init(&w->rows, sizeof(struct grt_waker_row), GRT_WAKERS_MAX);
	grt_keyed_init(&w->lives, sizeof(struct life), GRT_WAKERS_LIVES);
}

void grt_wakers_free(struct grt_wakers *w)
{
	grt_names_free(&w->names);
	grt_keyed_free(&w->rows);
	grt_keyed_free(&w->lives);
}

/* ------------------------------------------------------------- lives */

/* Return: NULL where it is not followed */
static const struct life *wakers_find_life(const struct grt_wakers *w, uint32_t pid, uint32_t tid)
{
	const struct life *l = tid ? grt_keyed_find(&w->lives, &(struct grt_key){{tid}}) : NULL;

	return l && l->pid == pid ? l : NULL;
}

/* @first: where it is new, it is known from here on. Return: 0 or -ENOMEM */
static int wakers_get_life(struct grt_wakers *w, const struct grt_event *e, uint64_t first, struct life **out)
{
	int ret = grt_keyed_get_or_replace(&w->lives, &(struct grt_key){{e->tid}}, NULL, (void **)out);

	if (!ret && (*out)->pid != e->pid) {
		(*out)->pid = e->pid;
		(*out)->n = 0;
		(*out)->first = first;
	}
	return ret;
}

/* One that has ended may be what others have waited for. */
static int wakers_see_thread(struct grt_wakers *w, const struct grt_ev_thread *e)
{
	struct life *l;
	int ret;

	if (e->what != GRT_THREAD_MADE && e->what != GRT_THREAD_SEEN_ON && e->what != GRT_THREAD_SEEN_OFF)
		return 0;
	ret = wakers_get_life(w, &e->e, e->e.time, &l);
	if (ret)
		return ret;
	l->n = 0;
	l->first = e->e.time;
	l->number = e->number;
	return 0;
}

static void wakers_remember(struct life *l, const struct sleep *s, uint64_t number)
{
	/* records are missing in front of it */
	if (number != l->number + 1) {
		l->n = 0;
		l->first = s->start;
	}
	l->number = number;
	if (l->n >= SLEEPS)
		l->first = l->sleep[l->n % SLEEPS].end;
	l->sleep[l->n++ % SLEEPS] = *s;
}

/* ------------------------------------------------------------- behind a wait */

static uint64_t overlap(uint64_t from, uint64_t to, uint64_t start, uint64_t end)
{
	uint64_t first = start > from ? start : from, last = end < to ? end : to;

	return last > first ? last - first : 0;
}

static bool waits_for_thread(unsigned int state)
{
	return state == GRT_THREAD_LOCK || state == GRT_THREAD_IO || state == GRT_THREAD_CHILD;
}

static void divide(const struct grt_wakers *w, const struct sleep *s, uint64_t from, uint64_t to,
		   unsigned int depth, uint64_t *behind);

/* What a thread did between two moments, at the second of which it ran and woke another one. */
static void divide_life(const struct grt_wakers *w, const struct life *l, uint64_t from, uint64_t to,
			unsigned int depth, uint64_t *behind)
{
	uint64_t known = l->first > from ? l->first : from, left, ns;
	const struct sleep *s;

	known = known < to ? known : to;
	behind[GRT_THREAD_UNKNOWN] += known - from;
	left = to - known;
	for (uint32_t i = 1; i <= SLEEPS && i <= l->n; i++) {
		s = &l->sleep[(l->n - i) % SLEEPS];
		if (s->end <= known)
			break;
		ns = overlap(known, to, s->woken, s->end);
		behind[GRT_THREAD_RUNNABLE] += ns;
		left -= ns + overlap(known, to, s->start, s->woken);
		divide(w, s, s->start > known ? s->start : known, s->woken < to ? s->woken : to, depth,
		       behind);
	}
	behind[GRT_THREAD_RUNNING] += left;
}

/* Of a sleep, that part. */
static void divide(const struct grt_wakers *w, const struct sleep *s, uint64_t from, uint64_t to,
		   unsigned int depth, uint64_t *behind)
{
	const struct life *l =
		waits_for_thread(s->state) ? wakers_find_life(w, s->waker_pid, s->waker) : NULL;

	if (to <= from)
		return;
	if (l && depth)
		divide_life(w, l, from, to, depth - 1, behind);
	else
		behind[s->state == GRT_THREAD_LOCK && s->waker ? GRT_THREAD_UNKNOWN : s->state] += to - from;
}

/* ------------------------------------------------------------- waits */

static bool is_for_nobody(const struct grt_ev_asleep *e)
{
	return e->by == GRT_WAKER_KERNEL && e->cause >= GRT_WAKE_DRIVER;
}

/* Return: 0 with *out NULL when there are too many, or -ENOMEM */
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

static int wakers_count(struct grt_wakers *w, const struct grt_ev_asleep *e, const struct sleep *s)
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

/* The record of an older program, or of a thread that was ready to run. */
static struct grt_ev_asleep widened(const struct grt_ev_off_cpu *e)
{
	struct grt_ev_asleep a = {.waker = 0};

	memcpy(&a, e, sizeof(*e));
	return a;
}

static int wakers_see_off_cpu(struct grt_wakers *w, const struct grt_ev_asleep *e)
{
	uint64_t woken = e->woken > e->start && e->woken < e->e.time ? e->woken : e->e.time;
	struct sleep s = {.start = e->start,
			  .woken = woken,
			  .end = e->e.time,
			  .waker = e->waker,
			  .waker_pid = e->waker_pid,
			  .state = e->reason < GRT_THREAD_STATES ? (uint8_t)e->reason : GRT_THREAD_UNKNOWN};
	struct life *l;
	int ret = 0;

	if (s.start > s.end)
		return 0;
	if (s.state == GRT_THREAD_RUNNABLE)
		s.woken = s.start;
	else
		ret = wakers_count(w, e, &s);
	if (!ret)
		ret = wakers_get_life(w, &e->e, e->start, &l);
	if (!ret)
		wakers_remember(l, &s, e->number);
	return ret;
}

int grt_wakers_event(struct grt_wakers *w, const struct grt_event *e)
{
	struct grt_ev_asleep old;

	if (e->type == GRT_EV_ASLEEP)
		return wakers_see_off_cpu(w, (const struct grt_ev_asleep *)e);
	if (e->type == GRT_EV_THREAD)
		return wakers_see_thread(w, (const struct grt_ev_thread *)e);
	if (e->type == GRT_EV_NAME)
		return grt_names_add(&w->names, (const struct grt_ev_name *)e);
	if (e->type != GRT_EV_OFF_CPU)
		return 0;
	old = widened((const struct grt_ev_off_cpu *)e);
	return wakers_see_off_cpu(w, &old);
}
