// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The latest sleeps of threads, see sleeps.h. */
#include "sleeps.h"

#include <errno.h>
#include <string.h>

void grt_sleeps_init(struct grt_sleeps *s, uint32_t kept, uint32_t threads)
{
	s->kept = kept;
	grt_keyed_init(&s->threads, sizeof(struct grt_sleeper) + kept * sizeof(struct grt_sleep), threads);
}

void grt_sleeps_free(struct grt_sleeps *s)
{
	grt_keyed_free(&s->threads);
}

/* @first: a new thread is known from this time on. Return: 0 or -ENOMEM */
static int sleeps_thread(struct grt_sleeps *s, const struct grt_event *e, uint64_t first,
			 struct grt_sleeper **out)
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
	struct grt_sleeper *l;
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

static void sleeps_remember(const struct grt_sleeps *s, struct grt_sleeper *l, const struct grt_sleep *one,
			    uint64_t number)
{
	/* records are missing before it */
	if (number != l->number + 1) {
		l->n = 0;
		l->first = one->start;
	}
	l->number = number;
	if (l->n >= s->kept)
		l->first = l->sleep[l->n % s->kept].end;
	l->sleep[l->n++ % s->kept] = *one;
}

bool grt_sleeps_read(const struct grt_event *event, struct grt_ev_asleep *e, struct grt_sleep *out)
{
	if (event->type != GRT_EV_ASLEEP && event->type != GRT_EV_OFF_CPU)
		return false;
	*e = (struct grt_ev_asleep){.waker = 0};
	memcpy(e, event, event->type == GRT_EV_ASLEEP ? sizeof(*e) : sizeof(struct grt_ev_off_cpu));
	*out = (struct grt_sleep){
		.start = e->start,
		.woken = e->woken > e->start && e->woken < e->e.time ? e->woken : e->e.time,
		.end = e->e.time,
		.waker = e->waker,
		.waker_pid = e->waker_pid,
		.state = e->reason < GRT_THREAD_STATES ? (uint8_t)e->reason : GRT_THREAD_UNKNOWN,
	};
	memcpy(out->waker_comm, e->waker_comm, sizeof(out->waker_comm));
	/* its return was not recorded */
	if (!e->over && e->e.flags & GRT_FLAG_INFERRED)
		out->end = out->woken;
	if (out->state == GRT_THREAD_RUNNABLE)
		out->woken = out->start;
	return out->start <= out->end;
}

int grt_sleeps_event(struct grt_sleeps *s, const struct grt_event *event)
{
	struct grt_ev_asleep e;
	struct grt_sleep one;
	struct grt_sleeper *l;
	int ret;

	if (event->type == GRT_EV_THREAD)
		return sleeps_see_thread(s, (const struct grt_ev_thread *)event);
	if (!grt_sleeps_read(event, &e, &one))
		return 0;
	ret = sleeps_thread(s, event, one.start, &l);
	if (!ret)
		sleeps_remember(s, l, &one, e.number);
	return ret;
}

/* ------------------------------------------------------------- spans */

const struct grt_sleeper *grt_sleeps_find(const struct grt_sleeps *s, uint32_t tid)
{
	return tid ? grt_keyed_find(&s->threads, &(struct grt_key){{tid}}) : NULL;
}

const struct grt_sleep *grt_sleeps_last(const struct grt_sleeps *s, const struct grt_sleeper *l, uint32_t i,
					uint64_t known)
{
	const struct grt_sleep *one = i <= s->kept && i <= l->n ? &l->sleep[(l->n - i) % s->kept] : NULL;

	return one && one->end > known ? one : NULL;
}

uint64_t grt_sleeps_overlap(uint64_t from, uint64_t to, uint64_t start, uint64_t end)
{
	uint64_t first = start > from ? start : from, last = end < to ? end : to;

	return last > first ? last - first : 0;
}

static void sleeps_longest(struct grt_spent *spent, const struct grt_sleep *s, uint64_t ns)
{
	if (ns <= spent->longest)
		return;
	spent->longest = ns;
	spent->waker = s->waker;
	spent->waker_pid = s->waker_pid;
	memcpy(spent->waker_comm, s->waker_comm, sizeof(s->waker_comm));
	spent->waker_comm[sizeof(s->waker_comm)] = 0;
}

/* Return: which part of the span this time off the CPU took */
static uint64_t sleeps_add(struct grt_spent *spent, const struct grt_sleep *s, uint64_t from, uint64_t to)
{
	uint64_t asleep = grt_sleeps_overlap(from, to, s->start, s->woken);
	uint64_t runnable = grt_sleeps_overlap(from, to, s->woken, s->end);

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
	const struct grt_sleeper *l = grt_sleeps_find(s, tid);
	const struct grt_sleep *one;
	uint64_t known = !l ? to : l->first > from ? l->first : from, left;

	if (to <= from)
		return;
	known = known < to ? known : to;
	left = to - known;
	spent->ns[GRT_THREAD_UNKNOWN] += known - from;
	for (uint32_t i = 1; l && (one = grt_sleeps_last(s, l, i, known)); i++)
		left -= sleeps_add(spent, one, known, to);
	spent->ns[GRT_THREAD_RUNNING] += left;
}
