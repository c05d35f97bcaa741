// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Pieces and calls of a thread are in two rings, each in the order of time. To divide a time, both are read
 * at the same time.
 */
#include "submitters.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bisect.h"

/* Most calls that end after a call began and before it ended. */
#define WITHIN_MAX 8U

/**
 * struct ring - the last of @n elements, the newest one at n - 1 modulo @room, a power of two or 0
 * @near: the number that was last looked for
 * @forgot: there were more elements
 */
struct ring {
	struct grt_submitter_piece *at;
	uint32_t room;
	uint64_t n;
	uint64_t near;
	bool forgot;
};

/**
 * struct submitter - a thread
 * @piece: times in one state; @call: calls; in each of the two rings, the other members are unused
 * @from: it is followed from this time on, UINT64_MAX: it is not
 * @submits: it has submitted something
 */
struct submitter {
	struct ring piece;
	struct ring call[GRT_SUBMITTER_CALLS];
	uint64_t from;
	bool submits;
};

void grt_submitters_init(struct grt_submitters *s)
{
	*s = (struct grt_submitters){.pieces = 0};
	grt_keyed_init(&s->threads, sizeof(struct submitter), GRT_SUBMITTERS_MAX);
}

static struct grt_key submitters_key(uint32_t pid, uint32_t tid)
{
	return (struct grt_key){{(uint64_t)pid << 32 | tid}};
}

/* An element moves only if the ring gets larger. */
static struct submitter *submitters_recent(const struct grt_submitters *s, const struct grt_key *key)
{
	const struct grt_submitters_recent *r = &s->recent[key->w[0] % GRT_SUBMITTERS_RECENT];

	return r->key == key->w[0] && r->room == s->threads.room ? r->thread : NULL;
}

/*
 * The slow path for threads that are not among the recent ones is separate, so that the fast one needs no
 * registers for it.
 */
static __attribute__((noinline)) int submitters_look_up(struct grt_submitters *s, uint32_t pid, uint32_t tid,
							struct submitter **out)
{
	uint32_t before = s->threads.used;
	struct grt_key key = submitters_key(pid, tid);
	void *found;
	int ret;

	ret = grt_keyed_get_or_count(&s->threads, &key, &s->over, &found);
	*out = found;
	s->recent[key.w[0] % GRT_SUBMITTERS_RECENT] =
		(struct grt_submitters_recent){found, key.w[0], s->threads.room};
	if (!ret && s->threads.used > before)
		(*out)->from = UINT64_MAX;
	return ret;
}

/* Return: 0 with *out NULL when there are too many, or -ENOMEM */
static int submitters_get(struct grt_submitters *s, uint32_t pid, uint32_t tid, struct submitter **out)
{
	const struct grt_key key = submitters_key(pid, tid);

	*out = submitters_recent(s, &key);
	return *out ? 0 : submitters_look_up(s, pid, tid, out);
}

int grt_submitters_follow(struct grt_submitters *s, uint32_t pid, uint32_t tid, uint64_t time)
{
	struct submitter *t = NULL;
	int ret = submitters_get(s, pid, tid, &t);

	if (t && time < t->from)
		t->from = time;
	return ret;
}

int grt_submitters_submits(struct grt_submitters *s, uint32_t pid, uint32_t tid)
{
	struct submitter *t = NULL;
	int ret = submitters_get(s, pid, tid, &t);

	if (t)
		t->submits = true;
	return ret;
}

/* ---------------------------------------------------------------- rings */

static uint64_t oldest(const struct ring *r)
{
	return r->n > r->room ? r->n - r->room : 0;
}

/* The @i-th of the existing elements. */
static inline struct grt_submitter_piece *ring_at(const struct ring *r, uint64_t i)
{
	return &r->at[i & (r->room - 1)];
}

static int submitters_grow(struct grt_submitters *s, struct ring *r)
{
	uint32_t room = r->room ? 2 * r->room : 32;
	struct grt_submitter_piece *at = malloc(room * sizeof(*at));
	uint64_t first = oldest(r);

	if (!at)
		return -ENOMEM;
	for (uint64_t i = first; i < r->n; i++)
		at[i - first] = *ring_at(r, i);
	free(r->at);
	s->pieces += room - r->room;
	*r = (struct ring){.at = at, .room = room, .n = r->n - first, .forgot = r->forgot || first};
	return 0;
}

static int submitters_put(struct grt_submitters *s, const struct submitter *t, struct ring *r,
			  const struct grt_submitter_piece *p)
{
	uint32_t most = t->submits ? GRT_SUBMITTER_PIECES : GRT_SUBMITTER_PIECES_BEFORE;

	if (r->n >= r->room && r->room < most && s->pieces < GRT_SUBMITTERS_PIECES && submitters_grow(s, r))
		return -ENOMEM;
	/* no room for all threads together */
	if (!r->room) {
		r->forgot = true;
		return 0;
	}
	*ring_at(r, r->n++) = *p;
	return 0;
}

int grt_submitters_piece(struct grt_submitters *s, uint32_t pid, uint32_t tid,
			 const struct grt_thread_piece *p)
{
	const struct grt_submitter_piece piece = {
		.from = p->start,
		.to = p->end,
		.user = p->user,
		.waker = p->waker,
		.waker_pid = p->waker_pid,
		.state = p->state,
	};
	struct submitter *t = NULL;
	int ret = submitters_get(s, pid, tid, &t);

	if (!t)
		return ret;
	if (p->start < t->from)
		t->from = p->start;
	return submitters_put(s, t, &t->piece, &piece);
}

int grt_submitters_call(struct grt_submitters *s, uint32_t pid, uint32_t tid, enum grt_submitter_calls kind,
			const struct grt_submitter_piece *p)
{
	struct submitter *t = NULL;
	int ret = submitters_get(s, pid, tid, &t);

	if (!t)
		return ret;
	t->submits |= kind == GRT_SUBMITTER_CUDA;
	return submitters_put(s, t, &t->call[kind], p);
}

/*
 * Limits the search of submitters_first(): moments increase, so the result is mostly the last one or a few
 * after it.
 */
static void submitters_bounds(const struct ring *r, uint64_t moment, uint64_t *low, uint64_t *high)
{
	*low = oldest(r);
	*high = r->n;
	if (r->near <= *low || r->near > *high || ring_at(r, r->near - 1)->to > moment)
		return;
	*low = r->near;
	for (uint64_t step = 1; *low + step <= *high; step *= 2) {
		if (ring_at(r, *low + step - 1)->to > moment) {
			*high = *low + step - 1;
			return;
		}
		*low += step;
	}
}

/* Return: the first piece that ends after a moment; r->n: there is none. */
static uint64_t submitters_first(struct ring *r, uint64_t moment)
{
	uint64_t low, high;

	submitters_bounds(r, moment, &low, &high);
	r->near = low + grt_bisect(high - low, i, ring_at(r, low + i)->to <= moment);
	return r->near;
}

/* --------------------------------------------------------------- divide */

/* For a time up to @end without records: the thread ran, if all of its sleeps are known. */
static void submitters_between(const struct submitter *t, uint64_t at, uint64_t end, bool forgotten,
			       struct grt_submitter_piece *out)
{
	*out = (struct grt_submitter_piece){.to = end, .state = GRT_THREAD_RUNNING};
	if (t->from == UINT64_MAX)
		out->state = GRT_SUBMITTER_NOT_FOLLOWED;
	else if (t->from > at || forgotten)
		out->state = GRT_THREAD_UNKNOWN;
	if (t->from != UINT64_MAX && t->from > at && t->from < end)
		out->to = t->from;
}

/* Gets the state of the thread at @at, and its end. @i: the first piece that ends after @at */
static void state_at(const struct submitter *t, uint64_t *i, uint64_t at, struct grt_submitter_piece *out)
{
	const struct ring *r = &t->piece;
	const struct grt_submitter_piece *p;

	while (*i < r->n && ring_at(r, *i)->to <= at)
		++*i;
	p = *i < r->n ? ring_at(r, *i) : NULL;
	if (p && p->from <= at)
		*out = *p;
	else
		submitters_between(t, at, p ? p->from : UINT64_MAX,
				   (r->forgot || oldest(r)) && *i == oldest(r), out);
}

/* Gets the call in which the thread was, and its end. */
static void call_at(const struct ring *r, uint64_t *i, uint64_t at, struct grt_submitter_piece *out)
{
	const struct grt_submitter_piece *c;

	while (*i < r->n && ring_at(r, *i)->to <= at)
		++*i;
	c = *i < r->n ? ring_at(r, *i) : NULL;
	out->call = c && c->from <= at ? c->call : 0;
	out->user = out->call ? c->user : 0;
	out->after = !out->call && *i > oldest(r) ? ring_at(r, *i - 1)->after : 0;
	out->to = !c ? UINT64_MAX : c->from <= at ? c->to : c->from;
}

int grt_submitters_divide(struct grt_submitters *s, uint32_t pid, uint32_t tid, enum grt_submitter_calls kind,
			  uint64_t from, uint64_t to,
			  int (*put)(void *arg, const struct grt_submitter_piece *p), void *arg)
{
	struct grt_key key = submitters_key(pid, tid);
	struct submitter *t = submitters_recent(s, &key) ?: grt_keyed_find(&s->threads, &key);
	struct grt_submitter_piece p = {.from = from, .to = to, .state = GRT_SUBMITTER_NOT_FOLLOWED}, call;
	uint64_t in_state, in_call;
	int ret = 0;

	if (!t)
		return from < to ? put(arg, &p) : 0;
	t->submits = true;
	if (from >= to)
		return 0;
	in_state = submitters_first(&t->piece, from);
	in_call = submitters_first(&t->call[kind], from);
	for (uint64_t at = from; at < to && !ret; at = p.to) {
		state_at(t, &in_state, at, &p);
		call_at(&t->call[kind], &in_call, at, &call);
		p.from = at;
		p.call = call.call;
		p.user = p.user ?: call.user;
		p.after = call.after;
		p.to = p.to < call.to ? p.to : call.to;
		p.to = p.to < to ? p.to : to;
		ret = put(arg, &p);
	}
	return ret;
}

/* Calls are in the order of their returns: calls within a call come before it. */
uint64_t grt_submitters_returned(struct grt_submitters *s, uint32_t pid, uint32_t tid,
				 enum grt_submitter_calls kind, uint64_t entered)
{
	struct grt_key key = submitters_key(pid, tid);
	struct submitter *t = submitters_recent(s, &key) ?: grt_keyed_find(&s->threads, &key);
	struct ring *r = t ? &t->call[kind] : NULL;
	uint64_t first = r ? submitters_first(r, entered) : 0;

	for (uint64_t i = first; r && i < r->n && i < first + WITHIN_MAX; i++)
		if (ring_at(r, i)->from == entered)
			return ring_at(r, i)->to;
	return 0;
}

void grt_submitters_free(struct grt_submitters *s)
{
	for (struct submitter *t = grt_keyed_oldest(&s->threads); t; t = grt_keyed_next(&s->threads, t)) {
		free(t->piece.at);
		for (unsigned int i = 0; i < GRT_SUBMITTER_CALLS; i++)
			free(t->call[i].at);
	}
	grt_keyed_free(&s->threads);
}
