// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* What threads did lately, see sleeps.h. */
#include "sleeps.h"

#include <errno.h>
#include <string.h>

/** struct sleep - off the CPU from @start to @end, asleep until @woken */
struct sleep {
	uint64_t start;
	uint64_t woken;
	uint64_t end;
	uint32_t waker;
	uint32_t waker_pid;
	char waker_comm[15];
	uint8_t state;
};

/**
 * struct lately - a thread
 * @n: sleeps so far, of which the last are at n - 1 and before, modulo GRT_SLEEPS_KEPT
 * @first: all is known from here on
 * @number: of its last time off the CPU
 */
struct lately {
	uint32_t pid;
	uint32_t n;
	uint64_t first;
	uint64_t number;
	struct sleep sleep[GRT_SLEEPS_KEPT];
};

void grt_sleeps_init(struct grt_sleeps *s)
{
	grt_keyed_init(&s->threads, sizeof(struct lately), GRT_SLEEPS_THREADS);
}

void grt_sleeps_free(struct grt_sleeps *s)
{
	grt_keyed_free(&s->threads);
}

/* @first: where it is new, it is known from here on. Return: 0 or -ENOMEM */
static int sleeps_thread(struct grt_sleeps *s, const struct grt_event *e, uint64_t first, struct lately **out)
{
	int ret = grt_keyed_get_or_replace(&s->threads, &(struct grt_key){{e->tid}}, NULL, (void **)out);

	if (!ret && (*out)->pid != e->pid) {
		(*out)->pid = e->pid;
		(*out)->n = 0;
		(*out)->first = first;
		(*out)->number = 0;
	}
	return ret;
}

static int sleeps_see_thread(struct grt_sleeps *s, const struct grt_ev_thread *e)
{
	struct lately *l;
	int ret;

	if (e->what != GRT_THREAD_MADE && e->what != GRT_THREAD_SEEN_ON && e->what != GRT_THREAD_SEEN_OFF)
		return 0;
	ret = sleeps_thread(s, &e->e, e->e.time, &l);
	if (ret)
		return ret;
	l->n = 0;
	l->first = e->e.time;
	l->number = e->number;
	return 0;
}

static void sleeps_remember(struct lately *l, const struct sleep *s, uint64_t number)
{
	/* records are missing in front of it */
	if (number != l->number + 1) {
		l->n = 0;
		l->first = s->start;
	}
	l->number = number;
	if (l->n >= GRT_SLEEPS_KEPT)
		l->first = l->sleep[l->n % GRT_SLEEPS_KEPT].end;
	l->sleep[l->n++ % GRT_SLEEPS_KEPT] = *s;
}

static int sleeps_see_off_cpu(struct grt_sleeps *s, const struct grt_ev_asleep *e)
{
	struct sleep one = {
		.start = e->start,
		.woken = e->woken > e->start && e->woken < e->e.time ? e->woken : e->e.time,
		.end = e->e.time,
		.waker = e->waker,
		.waker_pid = e->waker_pid,
		.state = e->reason < GRT_THREAD_STATES ? (uint8_t)e->reason : GRT_THREAD_UNKNOWN,
	};
	struct lately *l;
	int ret;

	if (one.start > one.end)
		return 0;
	if (one.state == GRT_THREAD_RUNNABLE)
		one.woken = one.start;
	/* nobody saw when it returned */
	if (!e->over && e->e.flags & GRT_FLAG_INFERRED)
		one.end = one.woken;
	memcpy(one.waker_comm, e->waker_comm, sizeof(one.waker_comm));
	ret = sleeps_thread(s, &e->e, one.start, &l);
	if (!ret)
		sleeps_remember(l, &one, e->number);
	return ret;
}

int grt_sleeps_event(struct grt_sleeps *s, const struct grt_event *e)
{
	struct grt_ev_asleep runnable = {.waker = 0};

	if (e->type == GRT_EV_ASLEEP)
		return sleeps_see_off_cpu(s, (const struct grt_ev_asleep *)e);
	if (e->type == GRT_EV_THREAD)
		return sleeps_see_thread(s, (const struct grt_ev_thread *)e);
	if (e->type != GRT_EV_OFF_CPU)
		return 0;
	memcpy(&runnable, e, sizeof(struct grt_ev_off_cpu));
	return sleeps_see_off_cpu(s, &runnable);
}

/* ------------------------------------------------------------- spans */

static uint64_t sleeps_overlap(uint64_t from, uint64_t to, uint64_t start, uint64_t end)
{
	uint64_t first = start > from ? start : from, last = end < to ? end : to;

	return last > first ? last - first : 0;
}

static void sleeps_longest(struct grt_spent *spent, const struct sleep *s, uint64_t ns)
{
	if (ns <= spent->longest)
		return;
	spent->longest = ns;
	spent->waker = s->waker;
	spent->waker_pid = s->waker_pid;
	memcpy(spent->waker_comm, s->waker_comm, sizeof(s->waker_comm));
	spent->waker_comm[sizeof(s->waker_comm)] = 0;
}

/* Return: of the span, what this time off the CPU took */
static uint64_t sleeps_add(struct grt_spent *spent, const struct sleep *s, uint64_t from, uint64_t to)
{
	uint64_t asleep = sleeps_overlap(from, to, s->start, s->woken);
	uint64_t runnable = sleeps_overlap(from, to, s->woken, s->end);

	spent->ns[GRT_THREAD_RUNNABLE] += runnable;
	if (spent->apart && s->waker_pid == spent->apart)
		spent->apart_ns += asleep;
	else
		spent->ns[s->state] += asleep;
	sleeps_longest(spent, s, asleep);
	return asleep + runnable;
}

void grt_sleeps_divide(const struct grt_sleeps *s, uint32_t tid, uint64_t from, uint64_t to,
		       struct grt_spent *spent)
{
	const struct lately *l = tid ? grt_keyed_find(&s->threads, &(struct grt_key){{tid}}) : NULL;
	uint64_t known = !l ? to : l->first > from ? l->first : from, left;

	if (to <= from)
		return;
	known = known < to ? known : to;
	left = to - known;
	spent->ns[GRT_THREAD_UNKNOWN] += known - from;
	for (uint32_t i = 1; l && i <= GRT_SLEEPS_KEPT && i <= l->n; i++) {
		const struct sleep *one = &l->sleep[(l->n - i) % GRT_SLEEPS_KEPT];

		if (one->end <= known)
			break;
		left -= sleeps_add(spent, one, known, to);
	}
	spent->ns[GRT_THREAD_RUNNING] += left;
}
