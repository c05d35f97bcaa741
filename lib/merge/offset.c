// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The estimate of offset.h. While events arrive, the first SUBMITs of each thread and the first ioctls of
 * each thread and number are stored. At the end they are paired, and a sweep over the bounds finds the
 * offset on which most of them agree.
 */
#include "offset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "lines/joins.h"

/* Most SUBMITs of a thread, and most calls of each of its ioctls, that are stored. */
#define KEPT 256U
#define THREADS 256U
#define CALLS 1024U
#define BOUNDS_MAX (1U << 18)
/* No two clocks differ by more than this (70 years), and sums of such numbers do not overflow. */
#define FAR (INT64_C(1) << 61)

/* If fewer pairs agree than these shares, there is no answer, percent. */
#define ENOUGH_ORDINAL 80
#define ENOUGH_OTHER 80
/* So few pairs by order may agree by chance, if no name says that the ioctls submit jobs. */
#define FEW 4
/* If this share of the best offset's pairs agrees on another offset, the answer is ambiguous, percent. */
#define SECOND 75

/** struct submits - the first SUBMITs of a thread */
struct submits {
	uint32_t tid;
	uint64_t count;
	uint64_t time[KEPT];
};

/**
 * struct calls - the first ioctls of one number by one thread
 * @named: the name of the number is known
 * @submitting: its name says that it submits jobs
 */
struct calls {
	uint32_t tid;
	bool named;
	bool submitting;
	uint64_t count;
	uint64_t enter[KEPT];
	uint64_t left[KEPT];
};

/** struct bound - an end of the range of offsets that a pair allows */
struct bound {
	int64_t at;
	int32_t step;
};

struct grt_offset {
	struct grt_joins joins;
	struct grt_keyed submits;
	struct grt_keyed calls;
	struct bound *bound;
	uint32_t bounds;
	uint64_t pairs;
	uint64_t longest;
	bool named; /* names say of the ioctls in pairs by order that they submit jobs */
};

int grt_offset_new(struct grt_offset **out)
{
	struct grt_offset *o = calloc(1, sizeof(*o));

	*out = o;
	if (!o)
		return -ENOMEM;
	grt_joins_init(&o->joins, GRT_ESCAPE_TERM);
	grt_keyed_init(&o->submits, sizeof(struct submits), THREADS);
	grt_keyed_init(&o->calls, sizeof(struct calls), CALLS);
	return 0;
}

void grt_offset_free(struct grt_offset *o)
{
	if (!o)
		return;
	grt_joins_fini(&o->joins);
	grt_keyed_free(&o->submits);
	grt_keyed_free(&o->calls);
	free(o->bound);
	free(o);
}

/* --------------------------------------------------------------- keeping */

static bool says_submit(const char *name)
{
	static const char *const words[] = {"EXEC", "SUBMIT", "PUSHBUF", "_CS"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *at = strstr(name, words[i]);

		/* _CS is a whole name: AMDGPU_CS */
		if (at && (words[i][0] != '_' || !at[strlen(words[i])]))
			return true;
	}
	return false;
}

/* Stores the earliest ones. */
static void insert_submit(struct submits *s, uint64_t time)
{
	unsigned int i = s->count < KEPT ? (unsigned int)s->count : KEPT;

	for (; i && s->time[i - 1] > time; i--)
		if (i < KEPT)
			s->time[i] = s->time[i - 1];
	if (i < KEPT)
		s->time[i] = time;
}

/* Submits come in order but for those that JOB records report, which leave at COMPLETE. */
static int keep_submit(struct grt_offset *o, uint32_t tid, uint64_t time)
{
	const struct grt_key key = {{tid}};
	void *element;
	struct submits *s;
	int ret = grt_keyed_get_or_count(&o->submits, &key, NULL, &element);

	s = element;
	if (!s)
		return ret;
	s->tid = tid;
	insert_submit(s, time);
	s->count++;
	return 0;
}

static int offset_keep_call(struct grt_offset *o, uint32_t tid, uint32_t cmd, const char *name,
			    uint64_t enter, uint64_t left)
{
	const struct grt_key key = {{tid, cmd}};
	void *element;
	struct calls *c;
	int ret = grt_keyed_get_or_count(&o->calls, &key, NULL, &element);

	c = element;
	if (!c)
		return ret;
	c->tid = tid;
	c->named = c->named || name;
	c->submitting = c->submitting || (name && says_submit(name));
	if (c->count < KEPT) {
		c->enter[c->count] = enter;
		c->left[c->count] = left;
	}
	c->count++;
	return 0;
}

int grt_offset_submit(struct grt_offset *o, uint32_t tid, uint64_t time)
{
	return keep_submit(o, tid, time);
}

int grt_offset_call(struct grt_offset *o, uint32_t tid, uint64_t from, uint64_t to)
{
	return offset_keep_call(o, tid, 0, NULL, from, to);
}

int grt_offset_event(struct grt_offset *o, const struct grt_event *e, unsigned int input)
{
	struct grt_joined j;
	uint32_t cmd;
	int ret;

	if (e->type == GRT_EV_NAME)
		return grt_joins_name(&o->joins, (const struct grt_ev_name *)e, input);
	if (e->type == GRT_EV_SUBMIT && e->tid)
		return keep_submit(o, e->tid, e->time);
	if (e->type == GRT_EV_JOB && e->tid && ((const struct grt_ev_job *)e)->submit)
		return keep_submit(o, e->tid, ((const struct grt_ev_job *)e)->submit);
	if (e->type != GRT_EV_IOCTL_ENTER && e->type != GRT_EV_IOCTL_EXIT)
		return 0;
	ret = grt_joins_event(&o->joins, e, &j);
	if (ret || !(j.has >> GRT_DELTA_DURATION & 1))
		return ret;
	grt_joins_look(&o->joins, e, input, &j);
	cmd = ((const struct grt_ev_ioctl_exit *)e)->cmd;
	return offset_keep_call(o, e->tid, cmd, grt_ioctl_name_of(j.device ? j.device->ioctls : NULL, cmd),
				e->time - j.ns[GRT_DELTA_DURATION], e->time);
}

/* --------------------------------------------------------------- pairing */

static void add_pair(struct grt_offset *o, uint64_t submit, const struct calls *c, unsigned int i)
{
	int64_t from = (int64_t)(c->enter[i] - submit), to = (int64_t)(c->left[i] - submit);

	if (o->bounds + 2 > BOUNDS_MAX || to < from || from < -FAR || to > FAR)
		return;
	o->bound[o->bounds++] = (struct bound){from, 1};
	o->bound[o->bounds++] = (struct bound){to, -1};
	if ((uint64_t)(to - from) > o->longest)
		o->longest = (uint64_t)(to - from);
}

static unsigned int offset_kept(uint64_t count)
{
	return count < KEPT ? (unsigned int)count : KEPT;
}

/* Whether these ioctls may be those with which a thread submits; if they have a name, it must say so. */
static bool may_submit(const struct calls *c)
{
	return c->named ? c->submitting : true;
}

/* The only kind of ioctl with as many calls as SUBMITs; NULL: there is none, or there are several. */
static const struct calls *only_equal(const struct grt_offset *o, const struct submits *s)
{
	const struct calls *found = NULL;
	unsigned int n = 0;

	for (const struct calls *c = grt_keyed_oldest(&o->calls); c; c = grt_keyed_next(&o->calls, c)) {
		if (c->tid != s->tid || c->count != s->count || !may_submit(c))
			continue;
		if (found && found->submitting > c->submitting)
			continue;
		n = found && found->submitting == c->submitting ? n + 1 : 1;
		found = c;
	}
	return n == 1 ? found : NULL;
}

static void pair_in_order(struct grt_offset *o)
{
	o->named = true;
	for (const struct submits *s = grt_keyed_oldest(&o->submits); s; s = grt_keyed_next(&o->submits, s)) {
		const struct calls *c = only_equal(o, s);

		for (unsigned int i = 0; c && i < offset_kept(s->count); i++)
			add_pair(o, s->time[i], c, i);
		o->named &= !c || c->submitting;
		o->pairs += c ? offset_kept(s->count) : 0;
	}
}

/*
 * Pairs every SUBMIT with every ioctl that may be its own: the offsets of correct pairs agree, those of
 * wrong ones scatter.
 */
static void pair_all(struct grt_offset *o)
{
	for (const struct submits *s = grt_keyed_oldest(&o->submits); s; s = grt_keyed_next(&o->submits, s)) {
		bool any = false;

		for (const struct calls *c = grt_keyed_oldest(&o->calls); c;
		     c = grt_keyed_next(&o->calls, c)) {
			if (c->tid != s->tid || !may_submit(c))
				continue;
			any = true;
			for (unsigned int i = 0; i < offset_kept(s->count); i++)
				for (unsigned int k = 0; k < offset_kept(c->count); k++)
					add_pair(o, s->time[i], c, k);
		}
		o->pairs += any ? offset_kept(s->count) : 0;
	}
}

/* ----------------------------------------------------------------- sweep */

static int compare_bounds(const void *a, const void *b)
{
	const struct bound *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return y->step - x->step;
}

/** struct best - the offset on which most pairs agree */
struct best {
	int64_t from;
	int64_t to;
	int64_t agree;
};

/* Offsets that are closer than @around to @not are left out. */
static struct best sweep(const struct grt_offset *o, const struct best * not, uint64_t around)
{
	struct best b = {.agree = 0};
	int64_t depth = 0;

	for (uint32_t i = 0; i < o->bounds; i++) {
		const struct bound *at = &o->bound[i];

		depth += at->step;
		if (at->step < 0 || depth <= b.agree || i + 1 == o->bounds)
			continue;
		if (not &&at->at <= not ->to + (int64_t)around && at->at >= not ->from - (int64_t)around)
			continue;
		b = (struct best){at->at, o->bound[i + 1].at, depth};
	}
	return b;
}

/* Offsets nearby on which as many pairs agree are within the error. */
static void offset_widen(const struct grt_offset *o, struct best *b, uint64_t around)
{
	const struct best one = *b;
	int64_t depth = 0;

	for (uint32_t i = 0; i + 1 < o->bounds; i++) {
		const struct bound *at = &o->bound[i];

		depth += at->step;
		if (depth < b->agree || at->at > one.to + (int64_t)around ||
		    at->at < one.from - (int64_t)around)
			continue;
		b->from = at->at < b->from ? at->at : b->from;
		b->to = at[1].at > b->to ? at[1].at : b->to;
	}
}

static int offset_refuse(struct grt_err *err, int code, const char *why)
{
	return grt_err_set(err, code, why, "--clock-offset NS, with a number",
			   "the clocks' offset cannot be estimated");
}

/* Return: whether another offset fits as many pairs, if any ioctl may be that of a SUBMIT. */
static bool offset_is_chance(struct grt_offset *o, const struct best *best)
{
	o->bounds = 0;
	pair_all(o);
	qsort(o->bound, o->bounds, sizeof(*o->bound), compare_bounds);
	return sweep(o, best, 0).agree >= best->agree;
}

/* The largest distance of the offset from a pair that it does not fit. */
static uint64_t offset_others(const struct grt_offset *o, int64_t ns)
{
	int64_t most = 0;

	for (uint32_t i = 0; i < o->bounds; i++) {
		const struct bound *b = &o->bound[i];
		int64_t off = b->step > 0 ? b->at - ns : ns - b->at;

		most = off > most ? off : most;
	}
	return (uint64_t)most;
}

static int offset_judge(struct grt_offset *o, struct grt_offset_result *r, struct grt_err *err)
{
	struct best best, other;

	qsort(o->bound, o->bounds, sizeof(*o->bound), compare_bounds);
	best = sweep(o, NULL, 0);
	r->pairs = o->pairs;
	r->agree = (uint64_t)best.agree;
	if (r->agree * 100 < r->pairs * (r->ordinal ? ENOUGH_ORDINAL : ENOUGH_OTHER))
		return offset_refuse(err, -EDOM, "no offset puts most SUBMITs into an ioctl of their thread");
	other = sweep(o, &best, o->longest);
	if (!r->ordinal && other.agree * 100 >= best.agree * SECOND)
		return offset_refuse(err, -EDOM,
				     "more than one offset puts the SUBMITs into ioctls of their threads");
	if (!r->ordinal)
		offset_widen(o, &best, o->longest);
	r->same = best.from <= 0 && best.to >= 0;
	r->ns = r->same ? 0 : best.from + (best.to - best.from) / 2;
	r->error = (uint64_t)(r->same ? (best.to > -best.from ? best.to : -best.from)
				      : (best.to - best.from + 1) / 2);
	r->others = r->ordinal ? offset_others(o, r->ns) : 0;
	if (r->ordinal && !o->named && r->pairs < FEW && offset_is_chance(o, &best))
		return offset_refuse(err, -EDOM,
				     "more than one offset puts the SUBMITs into ioctls of their threads");
	return 0;
}

int grt_offset_find(struct grt_offset *o, struct grt_offset_result *r, struct grt_err *err)
{
	*r = (struct grt_offset_result){.ordinal = true};
	if (!o->submits.used)
		return offset_refuse(err, -ENODATA, "the GPU input has no SUBMIT with a thread id");
	if (!o->calls.used)
		return offset_refuse(err, -ENODATA, "the CPU input has no ioctl with entry and exit");
	free(o->bound);
	o->bound = malloc(BOUNDS_MAX * sizeof(*o->bound));
	if (!o->bound)
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL,
				   "the clocks' offset cannot be estimated");
	pair_in_order(o);
	if (!o->pairs) {
		r->ordinal = false;
		pair_all(o);
	}
	if (!o->bounds)
		return offset_refuse(err, -ENODATA,
				     "no thread of the GPU input has an ioctl in the CPU input");
	return offset_judge(o, r, err);
}
