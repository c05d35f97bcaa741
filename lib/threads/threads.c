// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A thread's time is known up to `last`. An OFF_CPU record is the next thing that is known: from `last` to
 * its start the thread was running, if no interval is missing.
 */
#include "threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "codes/cuda_codes.h"
#include "base/containers.h"
#include "codes/words.h"
#include "trace/packet.h"

/* ---------------------------------------------------------------- sleeps */

/* The latest sleeps of threads. */

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

/* --------------------------------------------------------------- threads */

/* Most processes that CUDA's library reports. */
#define TRACED_MAX 65536U

/**
 * struct wait - a call that waits for the GPU, and has returned
 * @polls: the code that ran in it polled
 */
struct wait {
	uint64_t begin;
	uint64_t end;
	uint64_t call;
	bool polls;
};

/**
 * struct life - a thread
 * @number: of its last interval off the CPU, from which the next one is counted; valid with @numbered
 * @traced: it may have LAUNCH records
 * @asked: number of traced processes when that was looked up
 * @waiting: pieces since its last call
 * @wait: its calls since its last record
 * @called: when its last call of CUDA returned, ns
 */
struct life {
	struct grt_thread t;
	uint64_t number;
	bool numbered;
	bool traced;
	uint32_t asked;
	struct grt_thread_piece *waiting;
	uint32_t waits;
	uint32_t room;
	struct wait *wait;
	uint32_t calls;
	uint32_t calls_room;
	uint64_t called;
};

struct grt_threads {
	struct grt_threads_sink sink;
	uint64_t from;
	struct grt_names names;
	struct life *life;
	uint32_t lives, room;
	struct grt_keyed by_tid; /* elements are numbers of lives */
	struct grt_keyed traced; /* by pid */
	struct grt_keyed tracer; /* by pid and tid, of threads that were not seen yet */
	struct grt_threads_count count;
};

const char *grt_thread_state_name(unsigned int state)
{
	return grt_word(GRT_WORDS_THREAD_STATE, state) ?: "?";
}

/* ------------------------------------------------------------- pieces */

static int threads_settle(struct grt_threads *s, struct life *l, const struct grt_thread_piece *p)
{
	uint64_t ns = p->end - p->start;

	if (l->t.tracer) {
		s->count.tracer_ns += p->state == GRT_THREAD_RUNNING ? ns : 0;
		return 0;
	}
	l->t.ns[p->state] += ns;
	l->t.samples += p->sample;
	if (p->state == GRT_THREAD_RUNNABLE && ns > l->t.delay_max)
		l->t.delay_max = ns;
	return s->sink.piece ? s->sink.piece(s->sink.arg, &l->t, p) : 0;
}

/* The first @n of the waiting pieces are in no call that waits for the GPU. */
static int settle_first(struct grt_threads *s, struct life *l, uint32_t n)
{
	int ret = 0;

	for (uint32_t i = 0; i < n && !ret; i++)
		ret = threads_settle(s, l, &l->waiting[i]);
	l->waits -= n;
	memmove(l->waiting, l->waiting + n, l->waits * sizeof(*l->waiting));
	return ret;
}

static int settle_all(struct grt_threads *s, struct life *l)
{
	return l->waits ? settle_first(s, l, l->waits) : 0;
}

static int threads_keep(struct grt_threads *s, struct life *l, const struct grt_thread_piece *p)
{
	int ret = 0;

	if (l->waits == GRT_THREADS_WAITING) {
		s->count.unsure += GRT_THREADS_WAITING / 2;
		ret = settle_first(s, l, GRT_THREADS_WAITING / 2);
	} else if (grt_grow(&l->waiting, &l->room, l->waits + 1, 16)) {
		return -ENOMEM;
	}
	l->waiting[l->waits++] = *p;
	return ret;
}

/* Looks up the process of a thread: traces have many threads, and many records of processes. */
static bool is_traced(const struct grt_threads *s, struct life *l)
{
	if (l->traced || l->asked == s->traced.used)
		return l->traced;
	l->asked = s->traced.used;
	l->traced = grt_keyed_find(&s->traced, &(struct grt_key){{l->t.pid}});
	return l->traced;
}

static int threads_put(struct grt_threads *s, struct life *l, const struct grt_thread_piece *p)
{
	if (p->start == p->end && !p->sample)
		return 0;
	return is_traced(s, l) ? threads_keep(s, l, p) : threads_settle(s, l, p);
}

/* From the last known moment to @end, the thread was in a state. */
static int threads_advance(struct grt_threads *s, struct life *l, uint64_t end, uint8_t state,
			   const struct grt_ev_off_cpu *stacks)
{
	struct grt_thread_piece p = {.start = l->t.last, .end = end, .state = state};

	if (end <= l->t.last)
		return 0;
	if (stacks) {
		p.user = stacks->user;
		p.kernel = stacks->kernel;
	}
	if (stacks && stacks->e.type == GRT_EV_ASLEEP && state != GRT_THREAD_RUNNABLE) {
		p.waker = ((const struct grt_ev_asleep *)stacks)->waker;
		p.waker_pid = ((const struct grt_ev_asleep *)stacks)->waker_pid;
	}
	l->t.last = end;
	return threads_put(s, l, &p);
}

/* ------------------------------------------------------------- calls that wait */

/* Return: the state of a thread in a call that waits for the GPU. */
static uint8_t in_wait(const struct grt_thread_piece *p, bool polls)
{
	if (p->state == GRT_THREAD_RUNNING)
		return polls ? GRT_THREAD_POLLING : p->state;
	return p->state == GRT_THREAD_RUNNABLE || p->state == GRT_THREAD_UNKNOWN ? p->state : GRT_THREAD_GPU;
}

/* Cuts the piece in which the call begins; they stay in the order of time. Return: 0 or -ENOMEM */
static int cut_at(struct grt_threads *s, struct life *l, uint64_t begin)
{
	struct grt_thread_piece *p = l->waiting, tail;
	uint32_t behind;
	int ret;

	while (p < l->waiting + l->waits &&
	       (p->sample || p->state != GRT_THREAD_RUNNING || p->start >= begin || p->end <= begin))
		p++;
	if (p == l->waiting + l->waits)
		return 0;
	tail = *p;
	tail.start = begin;
	p->end = begin;
	behind = (uint32_t)(l->waiting + l->waits - p) - 1;
	ret = threads_keep(s, l, &tail);
	if (ret)
		return ret;
	/* the older half may have been settled, but nothing after that is in the window */
	behind = behind < l->waits ? behind : l->waits - 1;
	p = l->waiting + l->waits - 1 - behind;
	memmove(p + 1, p, behind * sizeof(*p));
	*p = tail;
	return 0;
}

/*
 * A thread is on the CPU when a call begins. If a piece off the CPU seems to include that moment, the time
 * stamps come from two clocks that differ by microseconds.
 */
static bool threads_is_within(const struct grt_thread_piece *p, const struct wait *w)
{
	return p->start + (p->end - p->start) / 2 >= w->begin && p->start < w->end;
}

/* Settles up to the end of a call that waits for the GPU: the thread has no piece after that yet. */
static int take_wait(struct grt_threads *s, struct life *l, const struct wait *w)
{
	/* it has just returned, so it runs */
	int ret = threads_advance(s, l, w->end, GRT_THREAD_RUNNING, NULL);

	if (!ret && w->polls)
		ret = cut_at(s, l, w->begin);
	for (uint32_t i = 0; i < l->waits; i++)
		if (threads_is_within(&l->waiting[i], w)) {
			l->waiting[i].state = in_wait(&l->waiting[i], w->polls);
			l->waiting[i].call = w->call;
		}
	return ret;
}

/* The first @n of a thread's calls that wait. */
static int take_first_waits(struct grt_threads *s, struct life *l, uint32_t n)
{
	int ret = 0;

	for (uint32_t i = 0; i < n && !ret; i++)
		ret = take_wait(s, l, &l->wait[i]);
	l->calls -= n;
	memmove(l->wait, l->wait + n, l->calls * sizeof(*l->wait));
	return ret;
}

/* A thread's calls that had returned at a moment; all before it are taken. */
static int take_waits(struct grt_threads *s, struct life *l, uint64_t moment)
{
	uint32_t n = 0;

	while (n < l->calls && l->wait[n].end <= moment)
		n++;
	return n ? take_first_waits(s, l, n) : 0;
}

/* Return: 0, -ENOMEM, or what the sink returned */
static int keep_wait(struct grt_threads *s, struct life *l, const struct wait *w)
{
	int ret = 0;

	if (l->calls == GRT_THREADS_CALLS)
		ret = take_first_waits(s, l, GRT_THREADS_CALLS / 2);
	else if (grt_grow(&l->wait, &l->calls_room, l->calls + 1, 4))
		return -ENOMEM;
	l->wait[l->calls++] = *w;
	return ret;
}

/* Settles a thread that has no further events. */
static int settle_life(struct grt_threads *s, struct life *l)
{
	int ret = take_waits(s, l, UINT64_MAX);

	if (!ret && !l->t.ended)
		ret = threads_advance(s, l, l->called, GRT_THREAD_RUNNING, NULL);
	l->t.gone = s->from && l->t.last <= s->from;
	return ret ? ret : settle_all(s, l);
}

/* ------------------------------------------------------------- threads */

/* The thread belongs to grtrace: what was counted for the program is removed. */
static void become_tracer(struct grt_threads *s, struct life *l)
{
	l->t.tracer = true;
	s->count.tracers++;
	s->count.tracer_ns += l->t.ns[GRT_THREAD_RUNNING];
	memset(l->t.ns, 0, sizeof(l->t.ns));
}

/* Return: 0 with *out NULL: there are too many */
static int new_life(struct grt_threads *s, const struct grt_event *e, uint64_t first, struct life **out)
{
	void *tracer;

	*out = NULL;
	if (s->lives == GRT_THREADS_MAX) {
		s->count.over++;
		return 0;
	}
	if (grt_grow(&s->life, &s->room, s->lives + 1, 64))
		return -ENOMEM;
	first = first > s->from ? first : s->from;
	*out = &s->life[s->lives];
	**out = (struct life){.t = {.number = s->lives++,
				    .pid = e->pid,
				    .tid = e->tid,
				    .name = grt_names_find(&s->names, GRT_NAME_THREAD, e->tid),
				    .first = first,
				    .last = first}};
	tracer = grt_keyed_find(&s->tracer, &(struct grt_key){{e->pid, e->tid}});
	if (!tracer)
		return 0;
	become_tracer(s, *out);
	grt_keyed_remove(&s->tracer, tracer);
	return 0;
}

/**
 * find_life - the thread of an event
 * @anew: the number of the thread was reused
 * @first: begin of what the event reports, if nothing is known about the thread
 * Return: 0 with *out NULL: there are too many, or -ENOMEM
 */
static int find_life(struct grt_threads *s, const struct grt_event *e, uint64_t first, bool anew,
		     struct life **out)
{
	void *number;
	int ret = grt_keyed_get_or_count(&s->by_tid, &(struct grt_key){{e->tid}}, &s->count.over, &number);

	*out = NULL;
	if (!number)
		return ret;
	if (*(uint32_t *)number && !anew) {
		*out = &s->life[*(uint32_t *)number - 1];
		if ((*out)->t.pid == e->pid && !(*out)->t.ended)
			return 0;
	}
	if (*(uint32_t *)number)
		ret = settle_life(s, &s->life[*(uint32_t *)number - 1]);
	if (!ret)
		ret = new_life(s, e, first, out);
	if (*out)
		*(uint32_t *)number = (*out)->t.number + 1;
	return ret;
}

/* Intervals that are missing before the one with this number. */
static uint64_t threads_missing(struct grt_threads *s, struct life *l, uint64_t end, uint64_t number)
{
	uint64_t lost = l->numbered && number > l->number + 1 ? number - l->number - 1 : 0;

	l->numbered = true;
	l->number = number;
	if (end < s->from)
		return lost;
	l->t.lost += lost;
	s->count.lost += lost;
	return lost;
}

/*
 * Up to @end the thread ran, unless intervals off the CPU are missing before the one with the number @next.
 */
static int run_until(struct grt_threads *s, struct life *l, uint64_t end, uint64_t next)
{
	bool lost = threads_missing(s, l, end, next);

	return threads_advance(s, l, end, lost ? GRT_THREAD_UNKNOWN : GRT_THREAD_RUNNING, NULL);
}

/* ------------------------------------------------------------- events */

static int threads_see_thread(struct grt_threads *s, const struct grt_ev_thread *e)
{
	bool first =
		e->what == GRT_THREAD_MADE || e->what == GRT_THREAD_SEEN_ON || e->what == GRT_THREAD_SEEN_OFF;
	struct life *l;
	int ret = find_life(s, &e->e, e->e.time, first, &l);

	if (ret || !l)
		return ret;
	l->t.name = grt_names_find(&s->names, GRT_NAME_THREAD, e->e.tid);
	if (first) {
		l->t.made = e->what == GRT_THREAD_MADE;
		l->number = e->number;
		l->numbered = true;
	}
	if (e->what != GRT_THREAD_ENDED && e->what != GRT_THREAD_LEFT_ON)
		return 0;
	ret = take_waits(s, l, UINT64_MAX);
	if (!ret)
		ret = run_until(s, l, e->e.time, e->number + 1);
	l->t.ended = e->what == GRT_THREAD_ENDED;
	l->t.gone = e->e.time < s->from;
	return ret ? ret : settle_all(s, l);
}

static bool is_reason(unsigned int reason)
{
	return reason < GRT_THREAD_STATES && reason != GRT_THREAD_RUNNING && reason != GRT_THREAD_POLLING;
}

/*
 * Return: whether the return was not recorded. If the thread had to wait for a CPU, the next record has that
 * time; then it ran.
 */
static bool is_unseen(const struct grt_ev_off_cpu *e)
{
	return !e->over && e->e.flags & GRT_FLAG_INFERRED;
}

/*
 * Adds what the thread waited for, and then its wait for a CPU. @goes_on: the rest of a time off the CPU
 * that already has a record
 */
static int off_cpu(struct grt_threads *s, struct life *l, const struct grt_ev_off_cpu *e, bool goes_on)
{
	uint8_t reason = is_reason(e->reason) ? (uint8_t)e->reason : GRT_THREAD_UNKNOWN;
	bool woken = e->woken > e->start && e->woken < e->e.time;
	int ret = threads_advance(s, l, woken ? e->woken : e->e.time, reason, e);

	if (!goes_on && e->e.time >= s->from) {
		l->t.intervals++;
		l->t.taken_off += reason == GRT_THREAD_RUNNABLE;
		s->count.unseen += is_unseen(e);
	}
	if (!ret && woken && !is_unseen(e))
		ret = threads_advance(s, l, e->e.time, GRT_THREAD_RUNNABLE, e);
	return ret;
}

static int see_off_cpu(struct grt_threads *s, const struct grt_ev_off_cpu *e)
{
	bool goes_on;
	struct life *l;
	int ret = find_life(s, &e->e, e->start, false, &l);

	if (ret || !l)
		return ret;
	/* the record of a return that was not seen comes after calls that followed the sleep */
	ret = take_waits(s, l, is_unseen(e) ? e->start : UINT64_MAX);
	goes_on = is_unseen(e) && e->start == l->t.last && l->t.intervals;
	if (!ret)
		ret = run_until(s, l, e->start, e->number);
	if (!ret)
		ret = off_cpu(s, l, e, goes_on);
	return ret;
}

static int see_sample(struct grt_threads *s, const struct grt_ev_sample *e)
{
	struct grt_thread_piece p = {.start = e->e.time,
				     .end = e->e.time,
				     .user = e->user,
				     .kernel = e->kernel,
				     .state = GRT_THREAD_RUNNING,
				     .sample = true};
	struct life *l;
	int ret = find_life(s, &e->e, e->e.time, false, &l);

	return ret || !l || e->e.time < s->from ? ret : threads_put(s, l, &p);
}

/* ------------------------------------------------------------- CUDA */

/*
 * The library in a CUDA program names its own thread; the time stamp of the record may be older than the
 * thread.
 */
static int see_tracer(struct grt_threads *s, const struct grt_ev_process *p)
{
	const struct grt_event *e = &p->e;
	uint32_t *number = grt_keyed_find(&s->by_tid, &(struct grt_key){{e->tid}});
	struct life *l = number && *number ? &s->life[*number - 1] : NULL;
	void *known;

	if (p->what != 6)
		return 0;
	if (!l || l->t.pid != e->pid || l->t.ended)
		return grt_keyed_get_or_count(&s->tracer, &(struct grt_key){{e->pid, e->tid}}, NULL, &known);
	if (!l->t.tracer)
		become_tracer(s, l);
	return 0;
}

/* From now on, pieces of the process's threads wait for its calls. */
static int see_process(struct grt_threads *s, const struct grt_event *e)
{
	void *known;

	return see_tracer(s, (const struct grt_ev_process *)e)
		       ?: grt_keyed_get_or_count(&s->traced, &(struct grt_key){{e->pid}}, NULL, &known);
}

/* Adds a launch of a thread that is followed. */
static int see_launch(struct grt_threads *s, const struct grt_ev_launch *e)
{
	const struct grt_cuda_call *call = grt_cuda_call(e->call);
	struct wait w = {e->begin, e->e.time, e->correlation, grt_cuda_waits(call)};
	uint32_t *number = grt_keyed_find(&s->by_tid, &(struct grt_key){{e->e.tid}});
	struct life *l = number && *number ? &s->life[*number - 1] : NULL;

	if (!l || l->t.pid != e->e.pid || l->t.ended)
		return 0;
	l->called = e->e.time;
	if (w.polls || (call && call->kind == GRT_CUDA_KIND_COPY))
		return keep_wait(s, l, &w);
	return l->calls ? 0 : settle_all(s, l);
}

static int see_name(struct grt_threads *s, const struct grt_ev_name *e)
{
	int ret = grt_names_add(&s->names, e);
	uint32_t *number =
		e->kind == GRT_NAME_THREAD ? grt_keyed_find(&s->by_tid, &(struct grt_key){{e->id}}) : NULL;

	if (number && *number && !s->life[*number - 1].t.ended)
		s->life[*number - 1].t.name = grt_names_find(&s->names, GRT_NAME_THREAD, e->id);
	return ret;
}

static __attribute__((noinline)) int threads_take(struct grt_threads *s, const struct grt_event *e)
{
	switch (e->type) {
	case GRT_EV_OFF_CPU:
	case GRT_EV_ASLEEP:
		return see_off_cpu(s, (const struct grt_ev_off_cpu *)e);
	case GRT_EV_SAMPLE:
		return see_sample(s, (const struct grt_ev_sample *)e);
	case GRT_EV_THREAD:
		return threads_see_thread(s, (const struct grt_ev_thread *)e);
	case GRT_EV_LAUNCH:
		return see_launch(s, (const struct grt_ev_launch *)e);
	case GRT_EV_PROCESS:
		return see_process(s, e);
	case GRT_EV_NAME:
		return see_name(s, (const struct grt_ev_name *)e);
	}
	return 0;
}

/* Most events of a CUDA program contain nothing about its threads: these need few registers. */
int grt_threads_event(struct grt_threads *s, const struct grt_event *e)
{
	switch (grt_class_of[e->type]) {
	case GRT_CLASS_launch:
		return e->type == GRT_EV_LAUNCH && s->by_tid.used ? threads_take(s, e) : 0;
	case GRT_CLASS_image:
		return e->type == GRT_EV_PROCESS ? threads_take(s, e) : 0;
	default:
		return threads_take(s, e);
	}
}

/* ------------------------------------------------------------- in, out */

int grt_threads_new(struct grt_threads **out, const struct grt_threads_sink *sink)
{
	struct grt_threads *s = calloc(1, sizeof(*s));

	*out = s;
	if (!s)
		return -ENOMEM;
	if (sink)
		s->sink = *sink;
	grt_keyed_init(&s->by_tid, sizeof(uint32_t), GRT_THREADS_MAX);
	grt_keyed_init(&s->traced, 1, TRACED_MAX);
	grt_keyed_init(&s->tracer, 1, TRACED_MAX);
	return 0;
}

void grt_threads_from(struct grt_threads *s, uint64_t ns)
{
	s->from = ns;
}

int grt_threads_flush(struct grt_threads *s)
{
	int ret = 0;

	for (uint32_t i = 0; i < s->lives && !ret; i++)
		ret = settle_life(s, &s->life[i]);
	return ret;
}

const struct grt_thread *grt_threads_at(const struct grt_threads *s, uint32_t number)
{
	return number < s->lives ? &s->life[number].t : NULL;
}

const struct grt_names *grt_threads_names(const struct grt_threads *s)
{
	return &s->names;
}

struct grt_threads_count grt_threads_count(const struct grt_threads *s)
{
	return s->count;
}

void grt_threads_free(struct grt_threads *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->lives; i++) {
		free(s->life[i].waiting);
		free(s->life[i].wait);
	}
	free(s->life);
	grt_names_free(&s->names);
	grt_keyed_free(&s->by_tid);
	grt_keyed_free(&s->traced);
	grt_keyed_free(&s->tracer);
	free(s);
}
