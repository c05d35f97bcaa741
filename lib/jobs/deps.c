// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The waits of deps.h. A wait is found by job and fence, so that it is counted
 * once; the waits for one fence are chained, so that its signal finds them all.
 */
#include "deps.h"

#include "trace/job_record.h"
#include "base/containers.h"

/* Octaves of all histograms together: 16 MiB. */
#define OCTAVES 4096U

/**
 * struct wait - a wait that has not ended; its key is the job's and the fence's identity
 * @begin: time of WAIT_DEP
 * @ring, @device: of the job, for the key of struct grt_dep_ring
 * @prev, @next: keys of other jobs that wait for the same fence; ctx 0: none
 */
struct wait {
	uint64_t begin;
	uint32_t ring;
	uint32_t device;
	uint64_t prev[2];
	uint64_t next[2];
};

/* A fence for which jobs wait: the first job of the chain. */
struct fence {
	uint64_t first[2];
};

struct grt_deps {
	struct grt_keyed waits;
	struct grt_keyed fences;
	struct grt_keyed signalled; /* elements are stamps */
	struct grt_keyed contexts;
	struct grt_keyed rings;
	struct grt_hist time;
	uint32_t octaves;
	struct grt_deps_count count;
};

static struct grt_key fence_key(uint64_t ctx, uint64_t seqno)
{
	return (struct grt_key){{ctx, seqno}};
}

static struct grt_key wait_key(const uint64_t job[2], const struct grt_key *fence)
{
	return (struct grt_key){{job[0], job[1], fence->w[0], fence->w[1]}};
}

static struct grt_key ring_key(uint32_t device, uint32_t ring)
{
	return (struct grt_key){{device, ring}};
}

/* Return: 0 with the ring; NULL: there are too many; or -ENOMEM */
static int find_ring(struct grt_deps *d, uint32_t device, uint32_t ring, struct grt_dep_ring **out)
{
	struct grt_key key = ring_key(device, ring);
	void *found;
	int ret = grt_keyed_get_or_count(&d->rings, &key, &d->count.over, &found);

	*out = found;
	if (*out && !(*out)->met) {
		(*out)->ring = ring;
		(*out)->device = device;
	}
	return ret;
}

static struct wait *find_wait(const struct grt_deps *d, const uint64_t job[2], const struct grt_key *fence)
{
	struct grt_key key = wait_key(job, fence);

	return job[0] ? grt_keyed_find(&d->waits, &key) : NULL;
}

/* Removes a wait from the set and from its fence's chain. */
static void deps_take_out(struct grt_deps *d, struct wait *w)
{
	const struct grt_key *key = grt_keyed_key(w);
	struct grt_key fence = fence_key(key->w[2], key->w[3]);
	struct fence *f = grt_keyed_find(&d->fences, &fence);
	struct wait *prev = find_wait(d, w->prev, &fence), *next = find_wait(d, w->next, &fence);
	uint64_t *to_me = prev ? prev->next : f->first;

	to_me[0] = w->next[0];
	to_me[1] = w->next[1];
	if (next) {
		next->prev[0] = w->prev[0];
		next->prev[1] = w->prev[1];
	}
	grt_keyed_remove(&d->waits, w);
	if (!f->first[0])
		grt_keyed_remove(&d->fences, f);
}

static void deps_add_time(struct grt_deps *d, struct grt_dep_ring *ring, uint64_t ns)
{
	if (ring)
		grt_hist_add(&ring->time, ns, GRT_WEIGHT_ONE, false, &d->octaves);
	grt_hist_add(&d->time, ns, GRT_WEIGHT_ONE, false, &d->octaves);
}

static void deps_forget_oldest(struct grt_deps *d)
{
	struct wait *w = grt_keyed_oldest(&d->waits);
	struct grt_key key = ring_key(w->device, w->ring);
	struct grt_dep_ring *ring = grt_keyed_find(&d->rings, &key);

	if (ring)
		ring->cut++;
	d->count.forgotten++;
	deps_take_out(d, w);
}

static int begin_wait(struct grt_deps *d, const struct grt_event *e, const struct grt_key *fence,
		      uint32_t device, uint32_t ring)
{
	const uint64_t job[2] = {e->ctx, e->seqno};
	struct grt_key key = wait_key(job, fence);
	struct wait *w, *next;
	struct fence *f;
	void *found;

	if (grt_keyed_full(&d->waits))
		deps_forget_oldest(d);
	if (grt_keyed_get(&d->fences, fence, &found))
		return -ENOMEM;
	f = found;
	if (grt_keyed_get(&d->waits, &key, &found)) {
		if (!f->first[0])
			grt_keyed_remove(&d->fences, f);
		return -ENOMEM;
	}
	w = found;
	*w = (struct wait){
		.begin = e->time, .ring = ring, .device = device, .next = {f->first[0], f->first[1]}};
	next = find_wait(d, w->next, fence);
	if (next) {
		next->prev[0] = job[0];
		next->prev[1] = job[1];
	}
	f->first[0] = job[0];
	f->first[1] = job[1];
	return 0;
}

/* Return: whether the fence had been signalled when the scheduler saw the dependency. */
static bool was_signalled(const struct grt_deps *d, const struct grt_event *e, const struct grt_key *fence)
{
	const uint64_t *at;

	if (e->flags & GRT_FLAG_SIGNALLED)
		return true;
	at = grt_keyed_find(&d->signalled, fence);
	return at && *at <= e->time;
}

static int on_wait_dep(struct grt_deps *d, const struct grt_event *e)
{
	const struct grt_ev_wait_dep *ev = (const struct grt_ev_wait_dep *)e;
	const struct grt_dep_context *context = grt_deps_context(d, e->ctx);
	struct grt_key fence = fence_key(ev->dep_ctx, ev->dep_seqno);
	bool known = e->ring != GRT_RING_NONE || !context;
	uint32_t ring = known ? e->ring : context->ring, device = known ? e->device : context->device;
	const uint64_t job[2] = {e->ctx, e->seqno};
	struct grt_dep_ring *of;
	int r;

	if (find_wait(d, job, &fence)) {
		d->count.repeated++;
		return 0;
	}
	r = find_ring(d, device, ring, &of);
	if (r)
		return r;
	d->count.met++;
	if (of)
		of->met++;
	/* Without an identity, its end cannot be distinguished from the end of another wait. */
	if (!e->ctx || !ev->dep_ctx) {
		if (of)
			of->cut++;
		return 0;
	}
	if (!was_signalled(d, e, &fence))
		return begin_wait(d, e, &fence, device, ring);
	d->count.signalled++;
	if (of)
		of->signalled++;
	deps_add_time(d, of, 0);
	return 0;
}

static void deps_end_wait(struct grt_deps *d, struct wait *w, uint64_t time)
{
	struct grt_key key = ring_key(w->device, w->ring);

	deps_add_time(d, grt_keyed_find(&d->rings, &key), time > w->begin ? time - w->begin : 0);
	d->count.ended++;
	deps_take_out(d, w);
}

/* The fence is signalled. Return: number of waits that ended, or -ENOMEM */
static int deps_on_signal(struct grt_deps *d, const struct grt_event *e)
{
	struct grt_key key = fence_key(e->ctx, e->seqno);
	struct fence *f = grt_keyed_find(&d->fences, &key);
	uint64_t first[2];
	void *at;
	int ended = 0;

	if (!e->ctx)
		return 0;
	while (f && f->first[0]) {
		first[0] = f->first[0];
		first[1] = f->first[1];
		deps_end_wait(d, find_wait(d, first, &key), e->time);
		f = grt_keyed_find(&d->fences, &key);
		ended++;
	}
	if (grt_keyed_get_or_replace(&d->signalled, &key, NULL, &at))
		return -ENOMEM;
	if (!*(uint64_t *)at)
		*(uint64_t *)at = e->time;
	return ended;
}

/* Later events of the context may lack this, or belong to another ring of the same entity. */
static int learn_context(struct grt_deps *d, const struct grt_event *e)
{
	struct grt_key key = {{e->ctx}};
	struct grt_dep_context *c;
	void *found;

	if (!e->ctx)
		return 0;
	c = grt_keyed_find(&d->contexts, &key);
	if (!c) {
		if (grt_keyed_get_or_replace(&d->contexts, &key, NULL, &found))
			return -ENOMEM;
		c = found;
		c->ring = GRT_RING_NONE;
	}
	if (e->ring != GRT_RING_NONE) {
		c->ring = e->ring;
		c->device = e->device;
	}
	if (e->pid) {
		c->pid = e->pid;
		c->tid = e->tid;
	}
	return 0;
}

/* A job in one record: its submission, and its signal if it had one. Return: as on_signal() */
static int deps_on_whole(struct grt_deps *d, const struct grt_event *e)
{
	struct grt_job_parts parts;
	int r = 0, ended = 0;

	grt_job_split(e, &parts);
	for (unsigned int i = 0; i < parts.n && r >= 0; i++) {
		r = grt_deps_event(d, &parts.of[i].e);
		ended += r > 0 ? r : 0;
	}
	return r < 0 ? r : ended;
}

int grt_deps_event(struct grt_deps *d, const struct grt_event *e)
{
	int r;

	switch (e->type) {
	case GRT_EV_SUBMIT:
	case GRT_EV_COMMIT:
		return learn_context(d, e);
	case GRT_EV_COMPLETE:
		r = learn_context(d, e);
		return r ? r : deps_on_signal(d, e);
	case GRT_EV_FENCE:
		return deps_on_signal(d, e);
	case GRT_EV_WAIT_DEP:
		return on_wait_dep(d, e);
	case GRT_EV_JOB:
		return deps_on_whole(d, e);
	default:
		return 0;
	}
}

int grt_deps_new(struct grt_deps **out, const struct grt_deps_limits *limits)
{
	static const struct grt_deps_limits none;
	const struct grt_deps_limits *l = limits ? limits : &none;
	uint32_t open = l->open ? l->open : GRT_DEPS_OPEN_MAX;
	struct grt_deps *d = calloc(1, sizeof(*d));

	*out = d;
	if (!d)
		return -ENOMEM;
	grt_keyed_init(&d->waits, sizeof(struct wait), open);
	grt_keyed_init(&d->fences, sizeof(struct fence), open);
	grt_keyed_init(&d->signalled, sizeof(uint64_t), l->signalled ? l->signalled : GRT_DEPS_SIGNALLED_MAX);
	grt_keyed_init(&d->contexts, sizeof(struct grt_dep_context),
		       l->contexts ? l->contexts : GRT_DEPS_CONTEXTS_MAX);
	grt_keyed_init(&d->rings, sizeof(struct grt_dep_ring), GRT_DEPS_RINGS_MAX);
	d->octaves = OCTAVES;
	return 0;
}

struct grt_deps_count grt_deps_count(const struct grt_deps *d)
{
	struct grt_deps_count count = d->count;

	count.open = d->waits.used;
	return count;
}

const struct grt_hist *grt_deps_time(const struct grt_deps *d)
{
	return &d->time;
}

const struct grt_dep_ring *grt_deps_ring(const struct grt_deps *d, uint32_t device, uint32_t ring)
{
	struct grt_key key = ring_key(device, ring);

	return grt_keyed_find(&d->rings, &key);
}

const struct grt_dep_ring *grt_deps_each(const struct grt_deps *d, const struct grt_dep_ring *last)
{
	return last ? grt_keyed_next(&d->rings, last) : grt_keyed_oldest(&d->rings);
}

const struct grt_dep_context *grt_deps_context(const struct grt_deps *d, uint64_t ctx)
{
	struct grt_key key = {{ctx}};

	return ctx ? grt_keyed_find(&d->contexts, &key) : NULL;
}

void grt_deps_free(struct grt_deps *d)
{
	if (!d)
		return;
	for (struct grt_dep_ring *r = grt_keyed_oldest(&d->rings); r; r = grt_keyed_next(&d->rings, r))
		grt_hist_free(&r->time);
	grt_hist_free(&d->time);
	grt_keyed_free(&d->waits);
	grt_keyed_free(&d->fences);
	grt_keyed_free(&d->signalled);
	grt_keyed_free(&d->contexts);
	grt_keyed_free(&d->rings);
	free(d);
}
