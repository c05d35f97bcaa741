// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Collectives that NCCL has numbered come first. For the other kernels that communicate, each stream is a
 * lane. A lane, and the lanes of other ranks that match it, become a communicator. If the recording of a rank
 * begins late, its lane is shifted against the others by a few kernels.
 */
#include "collectives.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/compare.h"
#include "base/containers.h"
#include "collective_ops.h"

/* Most lanes of a recording, and most kernels by which two of them may be shifted. */
#define LANES_MAX 512U
#define SHIFT_MAX 8

/**
 * struct lane - a stream of a rank
 * @work: indices of its kernels
 * @taken: it belongs to a communicator
 */
struct lane {
	uint32_t rank;
	uint16_t context;
	uint16_t stream;
	uint32_t *work;
	uint32_t works, room;
	int32_t shift;
	bool taken;
};

/** struct name - of a kernel: a string of a process image */
struct name {
	uint32_t image;
	uint32_t number;
	char *text;
};

struct grt_collectives {
	struct grt_steps *steps;
	struct name *name;
	uint32_t names, name_room;
	struct grt_collective_rank *rank;
	struct lane *lane;
	uint32_t lanes, lane_room;
	struct grt_ops ops;
	struct grt_collective *list;
	uint32_t n, room;
	uint32_t communicators;
};

/* ---------------------------------------------------------------- lanes */

static const struct grt_step_process *process_of(const struct grt_collectives *c, uint32_t rank)
{
	return grt_step_log_process(grt_steps_log(c->steps), grt_steps_rank(c->steps, rank)->process);
}

static const struct grt_step_work *work_of(const struct grt_collectives *c, const struct lane *l, uint32_t at)
{
	return &process_of(c, l->rank)->work[l->work[at]];
}

/* NULL: no memory, or too many. */
static struct lane *collectives_lane(struct grt_collectives *c, uint32_t rank, uint32_t first,
				     const struct grt_step_work *w)
{
	struct lane *l;

	for (uint32_t i = first; i < c->lanes; i++)
		if (c->lane[i].context == w->context && c->lane[i].stream == w->stream)
			return &c->lane[i];
	if (c->lanes == LANES_MAX || grt_grow_zeroed(&c->lane, &c->lane_room, c->lanes + 1, 8))
		return NULL;
	l = &c->lane[c->lanes++];
	*l = (struct lane){.rank = rank, .context = w->context, .stream = w->stream};
	return l;
}

/* Return: whether NCCL has reported to which collective of several ranks the kernel belongs. */
static bool is_numbered(const struct grt_step_process *p, const struct grt_step_work *w)
{
	uint32_t first, n = grt_nccl_log_find(&p->nccl, w->key, w->replayed, &first);

	return n && !p->nccl.op[first].captured && p->nccl.op[first].kind != 2;
}

static int find_lanes(struct grt_collectives *c, uint32_t rank)
{
	const struct grt_step_process *p = process_of(c, rank);
	uint32_t gpu = grt_steps_rank(c->steps, rank)->gpu, first = c->lanes;

	for (uint32_t i = grt_step_log_first_work(p, gpu, 0); i < p->works && p->work[i].gpu == gpu;
	     i = grt_step_log_next(p, i)) {
		struct lane *l;

		if (p->work[i].class != GRT_STEP_COMMUNICATES)
			continue;
		c->rank[rank].kernels++;
		c->rank[rank].alone++;
		if (is_numbered(p, &p->work[i]))
			continue;
		l = collectives_lane(c, rank, first, &p->work[i]);
		if (!l && c->lanes == LANES_MAX)
			continue;
		if (!l || grt_grow(&l->work, &l->room, l->works + 1, 64))
			return -ENOMEM;
		l->work[l->works++] = i;
	}
	return 0;
}

/* -------------------------------------------------------- communicators */

static const char *name_of(const struct grt_collectives *c, const struct lane *l, uint32_t at)
{
	return grt_image_string(process_of(c, l->rank)->image, work_of(c, l, at)->name) ?: "";
}

/* Whether the kernels run at the same time, as those of a collective do, and have the same name. */
static bool is_one(const struct grt_collectives *c, const struct lane *a, uint32_t i, const struct lane *b,
		   uint32_t k)
{
	const struct grt_step_work *x = work_of(c, a, i), *y = work_of(c, b, k);

	return x->start < y->end && y->start < x->end && !strcmp(name_of(c, a, i), name_of(c, b, k));
}

/* At least four in five of the pairs after a shift are the same collective, and most kernels are in pairs. */
static bool fits(const struct grt_collectives *c, const struct lane *a, const struct lane *b, int32_t shift)
{
	uint32_t from = shift < 0 ? (uint32_t)-shift : 0, to = a->works, misses = 0, most;

	if ((int64_t)b->works - shift < (int64_t)to)
		to = (int64_t)b->works > shift ? (uint32_t)((int64_t)b->works - shift) : 0;
	if (to <= from || 2ULL * (to - from) < (a->works < b->works ? a->works : b->works))
		return false;
	most = (to - from) / 5;
	for (uint32_t i = from; i < to && misses <= most; i++)
		misses += !is_one(c, a, i, b, (uint32_t)((int64_t)i + shift));
	return misses <= most;
}

static bool goes_with(const struct grt_collectives *c, const struct lane *a, struct lane *b)
{
	for (int32_t off = 0; off <= SHIFT_MAX; off++)
		for (int32_t shift = -off; shift <= off; shift += off ? 2 * off : 1)
			if (fits(c, a, b, shift)) {
				b->shift = shift;
				return true;
			}
	return false;
}

static uint32_t step_at(const struct grt_steps *s, uint32_t rank, uint64_t time)
{
	const struct grt_step_rank *r = grt_steps_rank(s, rank);
	uint32_t at = r->first + grt_bisect(r->steps, i, grt_steps_step(s, r->first + i)->to <= time);

	return at < r->first + r->steps && grt_steps_step(s, at)->from <= time ? at : UINT32_MAX;
}

/**
 * struct members - the lanes of a communicator, and for one collective: its ranks, their kernels and their
 * starts, and which rank was @last
 */
struct members {
	struct lane *lane[LANES_MAX];
	uint32_t rank[LANES_MAX];
	uint32_t work[LANES_MAX];
	uint64_t start[LANES_MAX];
	uint64_t sorted[LANES_MAX];
	uint32_t n;
	uint32_t last;
};

/* The collective at @at of the first lane. */
static void put_members(struct members *m, uint32_t at)
{
	for (uint32_t i = 0; i < m->n; i++) {
		m->rank[i] = m->lane[i]->rank;
		m->work[i] = m->lane[i]->work[(int64_t)at + m->lane[i]->shift];
	}
}

/* The kernel's name for users; NULL: no memory */
static const char *collective_name(struct grt_collectives *c, uint32_t rank, uint32_t work)
{
	const struct grt_image *image = process_of(c, rank)->image;
	uint32_t number = process_of(c, rank)->work[work].name;
	const char *text, *end;
	struct name *n;
	size_t len;

	for (uint32_t i = 0; i < c->names; i++)
		if (c->name[i].image == image->number && c->name[i].number == number)
			return c->name[i].text;
	if (grt_grow(&c->name, &c->name_room, c->names + 1, 8) ||
	    grt_image_kernel_name(grt_steps_frames(c->steps), image, number, &text, &len))
		return NULL;
	end = memchr(text, '(', len);
	n = &c->name[c->names];
	*n = (struct name){image->number, number, strndup(text, end ? (size_t)(end - text) : len)};
	c->names += n->text != NULL;
	return n->text;
}

/* The last of them to arrive, and the times of all. */
static void find_last(struct grt_collectives *c, struct members *m, struct grt_collective *k)
{
	uint64_t earliest = UINT64_MAX;

	for (uint32_t i = 0; i < m->n; i++) {
		const struct grt_step_work *w = &process_of(c, m->rank[i])->work[m->work[i]];

		m->start[i] = w->start;
		c->rank[m->rank[i]].alone--;
		if (!i || w->start > k->begin) {
			m->last = i;
			k->begin = w->start;
		}
		if (w->start < earliest) {
			earliest = w->start;
			k->first = m->rank[i];
		}
		k->end = w->end > k->end ? w->end : k->end;
	}
	k->wait = k->begin - earliest;
}

/* The rank's kernel before that on the same stream. */
static uint32_t work_before(const struct grt_collectives *c, uint32_t rank, uint32_t at)
{
	const struct grt_step_work *all = process_of(c, rank)->work, *w = &all[at];

	while (at-- && all[at].gpu == w->gpu)
		if (all[at].class == GRT_STEP_COMMUNICATES && all[at].context == w->context &&
		    all[at].stream == w->stream)
			return at;
	return UINT32_MAX;
}

/* @first: of its communicator */
static bool is_steady(const struct grt_collectives *c, const struct grt_collective *k, bool first)
{
	const struct grt_step_rank *r = grt_steps_rank(c->steps, k->last);

	if (!r->steps)
		return !first;
	return k->step != UINT32_MAX && !grt_steps_starts(c->steps, grt_steps_step(c->steps, k->step));
}

static void count_one(struct grt_collectives *c, const struct members *m, const struct grt_collective *k)
{
	struct grt_collective_rank *r = &c->rank[k->last];

	if (!k->steady)
		return;
	for (uint32_t i = 0; i < m->n; i++) {
		c->rank[m->rank[i]].steady++;
		c->rank[m->rank[i]].waited += k->begin - m->start[i];
	}
	r->last += k->late > 0;
	r->late += k->late;
	r->late_max = k->late > r->late_max ? k->late : r->late_max;
	for (unsigned int s = 0; s < GRT_THREAD_STATES; s++)
		r->meanwhile.ns[s] += k->meanwhile.ns[s];
	r->meanwhile.all += k->meanwhile.all;
}

/* Adds a collective that all members have. */
static int take_one(struct grt_collectives *c, struct members *m, struct grt_collective k, bool first)
{
	k.communicator = c->communicators;
	k.ranks = m->n;
	find_last(c, m, &k);
	k.last = m->rank[m->last];
	k.work = m->work[m->last];
	k.before = work_before(c, k.last, k.work);
	k.name = collective_name(c, k.last, k.work);
	k.step = step_at(c->steps, k.last, k.begin);
	k.steady = is_steady(c, &k, first);
	memcpy(m->sorted, m->start, m->n * sizeof(*m->start));
	qsort(m->sorted, m->n, sizeof(*m->sorted), grt_compare_u64);
	/* the last one is the latest start itself; of the others the middle one */
	k.late = k.begin - m->sorted[(m->n - 1) / 2];
	grt_rank_threads_add(grt_steps_threads(c->steps), grt_steps_rank(c->steps, k.last)->pid,
			     k.begin - k.late, k.begin, &k.meanwhile);
	grt_rank_spent_text(&k.meanwhile, k.told, sizeof(k.told));
	count_one(c, m, &k);
	if (!k.name || grt_grow(&c->list, &c->room, c->n + 1, 64))
		return -ENOMEM;
	c->list[c->n++] = k;
	return 0;
}

static bool all_have(const struct members *m, uint32_t at)
{
	for (uint32_t i = 0; i < m->n; i++) {
		int64_t mine = (int64_t)at + m->lane[i]->shift;

		if (mine < 0 || mine >= (int64_t)m->lane[i]->works)
			return false;
	}
	return true;
}

/* The lanes that belong together with the one at @first, one of each rank. */
static void find_members(struct grt_collectives *c, uint32_t first, struct members *m)
{
	struct lane *a = &c->lane[first];

	m->n = 0;
	m->lane[m->n++] = a;
	a->shift = 0;
	for (uint32_t i = first + 1; i < c->lanes; i++) {
		struct lane *b = &c->lane[i];

		if (b->taken || b->rank == m->lane[m->n - 1]->rank || !goes_with(c, a, b))
			continue;
		b->taken = true;
		m->lane[m->n++] = b;
	}
}

static int find_communicators(struct grt_collectives *c)
{
	struct members *m = malloc(sizeof(*m));
	int ret = m ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < c->lanes && !ret; i++) {
		uint32_t number = 0;

		if (c->lane[i].taken)
			continue;
		find_members(c, i, m);
		if (m->n < 2)
			continue;
		for (uint32_t at = 0; at < c->lane[i].works && !ret; at++) {
			if (!all_have(m, at))
				continue;
			put_members(m, at);
			ret = take_one(c, m, (struct grt_collective){.number = number}, !number);
			number++;
		}
		c->communicators++;
	}
	free(m);
	return ret;
}

/* -------------------------------------------------- what NCCL has numbered */

/* UINT32_MAX: none */
static uint32_t rank_of_work(const struct grt_collectives *c, uint32_t process, uint32_t gpu)
{
	for (uint32_t i = 0; i < grt_steps_ranks(c->steps); i++)
		if (grt_steps_rank(c->steps, i)->process == process &&
		    grt_steps_rank(c->steps, i)->gpu == gpu)
			return i;
	return UINT32_MAX;
}

/* Collects the ranks whose kernels have ended. A kernel of several collectives belongs to the first one. */
static void numbered_members(struct grt_collectives *c, uint32_t at, uint32_t n, struct members *m)
{
	m->n = 0;
	for (uint32_t i = at; i < at + n && m->n < LANES_MAX; i++) {
		const struct grt_op_part *part = &c->ops.part[i];
		const struct grt_step_work *w = grt_ops_work(&c->ops, part);
		const struct grt_nccl_log *l = &grt_step_log_process(c->ops.log, part->process)->nccl;
		uint32_t first;

		if (!w || part->alone)
			continue;
		grt_nccl_log_find(l, w->key, w->replayed, &first);
		if (first != part->op)
			continue;
		m->rank[m->n] = rank_of_work(c, part->process, w->gpu);
		m->work[m->n] = part->work;
		m->n += m->rank[m->n] != UINT32_MAX;
	}
}

static int collectives_by_time(const void *a, const void *b)
{
	const struct grt_collective *x = a, *y = b;

	return grt_compare(x->begin, y->begin);
}

/*
 * Adds the collectives of a communicator in the order of time, because only then it is known when a step
 * ends, and whether a collective is its first.
 */
static int find_numbered_of(struct grt_collectives *c, uint32_t from, uint32_t to, struct members *m)
{
	uint32_t before = c->n, n;
	int ret = 0;

	for (uint32_t at = from; at < to && !ret; at += n) {
		n = grt_ops_one(&c->ops, at);
		numbered_members(c, at, n, m);
		if (m->n > 1)
			ret = take_one(c, m,
				       (struct grt_collective){.number = c->ops.part[at].sequence,
							       .told_by_nccl = true},
				       !c->ops.part[at].sequence);
	}
	if (c->n > before)
		qsort(c->list + before, c->n - before, sizeof(*c->list), collectives_by_time);
	c->communicators += c->n > before;
	return ret;
}

static int find_numbered(struct grt_collectives *c)
{
	struct members *m = malloc(sizeof(*m));
	int ret = m ? grt_ops_find(&c->ops, c->steps) : -ENOMEM;
	uint32_t to;

	for (uint32_t from = 0; from < c->ops.parts && !ret; from = to) {
		for (to = from; to < c->ops.parts && c->ops.part[to].hash == c->ops.part[from].hash; to++)
			;
		ret = find_numbered_of(c, from, to, m);
	}
	free(m);
	return ret;
}

/* ------------------------------------------------------------------ why */

int grt_collectives_explain(struct grt_collectives *c, uint32_t at)
{
	struct grt_collective *k = &c->list[at];
	const struct grt_step_process *p = process_of(c, k->last);
	struct grt_step_window w = {.rank = k->last, .to = p->work[k->work].start};

	if (k->why || !k->late || !p->calls)
		return 0;
	w.from = k->before != UINT32_MAX ? p->work[k->before].end : p->call[0].begin;
	return grt_steps_why_late(c->steps, &w, k->late, &k->why);
}

/* --------------------------------------------------------------- in, out */

int grt_collectives_new(struct grt_collectives **out, struct grt_steps *s)
{
	struct grt_collectives *c = calloc(1, sizeof(*c));
	int ret = 0;

	*out = c;
	if (!c)
		return -ENOMEM;
	c->steps = s;
	c->rank = calloc((size_t)grt_steps_ranks(s) + 1, sizeof(*c->rank));
	if (!c->rank)
		ret = -ENOMEM;
	for (uint32_t i = 0; i < grt_steps_ranks(s) && !ret; i++)
		ret = find_lanes(c, i);
	ret = ret ?: find_numbered(c) ?: find_communicators(c);
	for (uint32_t i = 0; i < grt_steps_ranks(s) && !ret; i++)
		grt_rank_spent_text(&c->rank[i].meanwhile, c->rank[i].told, sizeof(c->rank[i].told));
	if (!ret)
		return 0;
	grt_collectives_free(c);
	*out = NULL;
	return ret;
}

uint32_t grt_collectives_count(const struct grt_collectives *c)
{
	return c->n;
}

const struct grt_collective *grt_collectives_at(const struct grt_collectives *c, uint32_t at)
{
	return &c->list[at];
}

const struct grt_collective_rank *grt_collectives_rank(const struct grt_collectives *c, uint32_t rank)
{
	return &c->rank[rank];
}

struct grt_steps *grt_collectives_steps(const struct grt_collectives *c)
{
	return c->steps;
}

void grt_collectives_free(struct grt_collectives *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->lanes; i++)
		free(c->lane[i].work);
	for (uint32_t i = 0; i < c->n; i++)
		free(c->list[i].why);
	for (uint32_t i = 0; i < c->names; i++)
		free(c->name[i].text);
	grt_ops_free(&c->ops);
	free(c->name);
	free(c->lane);
	free(c->list);
	free(c->rank);
	free(c);
}
