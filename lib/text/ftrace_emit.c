// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Events of ftrace text, see ftrace_emit.h.
 */
#include "ftrace_emit.h"

bool ftrace_seek(struct ftrace *f, const char *key, size_t len)
{
	const char *p = grt_find_key(f->l.fields, f->l.end, key, len);

	if (!p)
		return false;
	f->at = p;
	return true;
}

struct grt_event ftrace_event(const struct ftrace *f, uint16_t type)
{
	return (struct grt_event){.time = f->l.time, .type = type, .ring = GRT_RING_NONE};
}

/* Names that mean "none". */
static bool ftrace_emit_is_named(struct grt_span comm)
{
	return comm.len && comm.at[0] != '<';
}

void ftrace_by_current(struct ftrace *f, struct grt_event *e)
{
	const struct ftrace_line *l = &f->l;
	/* without the thread group, each thread counts as a process */
	uint32_t pid = l->tgid ? l->tgid : l->tid;
	struct grt_span owner = pid == l->tid ? l->comm : (struct grt_span){NULL, 0};

	e->tid = l->tid;
	e->pid = pid;
	if (l->tid && ftrace_emit_is_named(l->comm))
		grt_text_name(f->t, GRT_NAME_THREAD, l->tid, l->time, l->comm.at, l->comm.len, owner.at,
			      owner.len);
}

uint32_t ftrace_ring(struct ftrace *f, struct grt_span name, const char *driver, uint8_t *engine)
{
	return grt_text_ring(f->t, f->l.time, name.at, name.len, driver, strlen(driver), engine);
}

uint32_t ftrace_ring_of(struct ftrace *f, struct grt_span name, const char *driver, struct grt_span gpu,
			uint8_t *engine)
{
	return grt_text_ring_of(f->t, f->l.time, name.at, name.len, driver, strlen(driver), gpu.at, gpu.len,
				engine);
}

struct ftrace_job *ftrace_job_of(struct ftrace *f, uint64_t ctx, uint64_t seqno)
{
	struct ftrace_job *job = ftrace_jobs_by_key(&f->jobs, ctx, seqno);

	if (job)
		return job;
	job = ftrace_jobs_new(&f->jobs);
	job->ctx = ctx;
	job->seqno = seqno;
	job->ring = GRT_RING_NONE;
	ftrace_jobs_set_key(&f->jobs, job, ctx, seqno);
	return job;
}

struct ftrace_job *ftrace_own_job(struct ftrace *f, enum ftrace_own what, uint64_t n)
{
	struct ftrace_job *job = ftrace_jobs_new(&f->jobs);

	job->ctx = ftrace_own(what, n);
	job->seqno = ++f->number;
	job->ring = GRT_RING_NONE;
	return job;
}

void ftrace_place_job(struct ftrace_job *job, uint32_t ring, uint8_t engine, uint32_t device)
{
	job->ring = ring;
	job->engine = engine;
	job->device = device ? device : job->device;
}

/* Whether this is new: the first of its kind, or observed and only inferred before. */
static bool ftrace_emit_is_new(struct ftrace_job *job, uint32_t what, uint16_t flags)
{
	bool inferred = flags & GRT_FLAG_INFERRED;

	if ((job->seen & what) && (inferred || !(job->seen & FTRACE_INFERRED(what))))
		return false;
	job->seen |= what;
	if (inferred)
		job->seen |= FTRACE_INFERRED(what);
	else
		job->seen &= ~FTRACE_INFERRED(what);
	return true;
}

static struct grt_event job_event(const struct ftrace *f, const struct ftrace_job *job, uint16_t type,
				  uint16_t flags)
{
	return (struct grt_event){
		.time = f->l.time,
		.type = type,
		.flags = flags,
		.engine = job->engine,
		.pid = job->pid,
		.tid = job->tid,
		.ctx = job->ctx,
		.seqno = job->seqno,
		.ring = job->ring,
		.device = job->device,
	};
}

static void ftrace_emit_put_submit(struct ftrace *f, struct ftrace_job *job, struct grt_ev_submit *s)
{
	f->by_others = true;
	ftrace_by_current(f, &s->e);
	job->tid = s->e.tid;
	job->pid = s->e.pid;
	if (s->e.flags & GRT_FLAG_COMMIT)
		job->seen |= FTRACE_COMMIT | FTRACE_INFERRED(FTRACE_COMMIT);
	grt_text_put(f->t, &s->e, f->l.cpu);
}

void ftrace_submit(struct ftrace *f, struct ftrace_job *job, uint16_t flags)
{
	struct grt_ev_submit s = {.e = job_event(f, job, GRT_EV_SUBMIT, flags)};

	if (ftrace_emit_is_new(job, FTRACE_SUBMIT, flags))
		ftrace_emit_put_submit(f, job, &s);
}

void ftrace_submit_command(struct ftrace *f, struct ftrace_job *job, uint32_t cmd, uint32_t hw_ctx,
			   uint64_t fence_id, uint16_t flags)
{
	struct grt_ev_submit s = {
		.e = job_event(f, job, GRT_EV_SUBMIT, flags),
		.cmd = cmd,
		.hw_ctx = hw_ctx,
		.fence_id = fence_id,
	};

	if (ftrace_emit_is_new(job, FTRACE_SUBMIT, 0))
		ftrace_emit_put_submit(f, job, &s);
}

void ftrace_commit(struct ftrace *f, struct ftrace_job *job, uint64_t sw_depth, uint64_t hw_depth,
		   uint16_t flags)
{
	struct grt_ev_commit c = {
		.e = job_event(f, job, GRT_EV_COMMIT, flags),
		.sw_depth = grt_u32(sw_depth),
		.hw_depth = grt_u32(hw_depth),
	};

	if (ftrace_emit_is_new(job, FTRACE_COMMIT, flags))
		grt_text_put(f->t, &c.e, f->l.cpu);
}

void ftrace_start(struct ftrace *f, const struct ftrace_job *job)
{
	struct grt_event e = job_event(f, job, GRT_EV_START, 0);

	grt_text_put(f->t, &e, f->l.cpu);
}

void ftrace_end(struct ftrace *f, struct ftrace_job *job, uint32_t reply, uint64_t fence_id, uint16_t flags)
{
	struct grt_ev_end x = {
		.e = job_event(f, job, GRT_EV_END, flags),
		.reply = reply,
		.fence_id = fence_id,
	};

	if (ftrace_emit_is_new(job, FTRACE_END, flags))
		grt_text_put(f->t, &x.e, f->l.cpu);
}

/* Puts the oldest event that is held, unless it was replaced. */
static void put_held(struct ftrace *f)
{
	struct ftrace_held *h = &f->held[(f->held_at - f->helds--) % FTRACE_HELD];

	if (h->open)
		grt_text_put_held(f->t, &h->e, h->cpu);
}

void ftrace_put_held(struct ftrace *f, uint64_t before)
{
	while (f->helds && f->held[(f->held_at - f->helds) % FTRACE_HELD].e.time < before)
		put_held(f);
}

static struct ftrace_held *hold(struct ftrace *f)
{
	struct ftrace_held *h;

	if (f->helds == FTRACE_HELD)
		put_held(f);
	h = &f->held[f->held_at++ % FTRACE_HELD];
	f->helds++;
	h->cpu = f->l.cpu;
	h->open = true;
	h->span = false;
	return h;
}

static struct ftrace_held *hold_submit(struct ftrace *f, const struct grt_ev_submit *s)
{
	struct ftrace_held *h = hold(f);

	h->submit = *s;
	f->held_submit = true;
	return h;
}

/* The line for which a COMPLETE waited. */
static void drop_held(struct ftrace *f, const struct ftrace_job *job)
{
	for (uint32_t i = 1; i <= f->helds; i++) {
		struct ftrace_held *h = &f->held[(f->held_at - i) % FTRACE_HELD];

		/* compared first, because most fences have the same ring and different numbers */
		if (h->e.seqno == job->seqno && h->e.ctx == job->ctx && h->e.type == GRT_EV_COMPLETE)
			h->open = false;
	}
}

void ftrace_hold_submit(struct ftrace *f, struct ftrace_job *job)
{
	struct grt_ev_submit s = {.e = job_event(f, job, GRT_EV_SUBMIT, 0)};

	if (!ftrace_emit_is_new(job, FTRACE_SUBMIT, 0))
		return;
	f->by_others = true;
	ftrace_by_current(f, &s.e);
	job->tid = s.e.tid;
	job->pid = s.e.pid;
	hold_submit(f, &s);
}

void ftrace_hold_span(struct ftrace *f, struct ftrace_job *job)
{
	struct grt_ev_submit s = {.e = job_event(f, job, GRT_EV_SUBMIT, GRT_FLAG_COMMIT)};

	if (!ftrace_emit_is_new(job, FTRACE_SUBMIT, 0))
		return;
	ftrace_by_current(f, &s.e);
	job->tid = s.e.tid;
	job->pid = s.e.pid;
	job->seen |= FTRACE_SPAN;
	hold_submit(f, &s)->span = true;
}

/* A fence may belong to a job that the next line reports. */
static void drop_span(struct ftrace *f, struct ftrace_held *h)
{
	struct ftrace_job *job = ftrace_jobs_by_key(&f->jobs, h->e.ctx, h->e.seqno);

	h->open = false;
	if (job)
		job->seen = 0;
}

void ftrace_see_jobs(struct ftrace *f)
{
	f->has_jobs = true;
	for (uint32_t i = 1; i <= f->helds; i++) {
		struct ftrace_held *h = &f->held[(f->held_at - i) % FTRACE_HELD];

		if (h->open && h->span)
			drop_span(f, h);
	}
}

bool ftrace_drop_submit(struct ftrace *f, uint32_t tid)
{
	for (uint32_t i = 1; f->held_submit && i <= f->helds; i++) {
		struct ftrace_held *h = &f->held[(f->held_at - i) % FTRACE_HELD];

		if (!h->open || h->e.type != GRT_EV_SUBMIT || h->e.tid != tid)
			continue;
		h->open = false;
		return true;
	}
	return false;
}

void ftrace_complete(struct ftrace *f, struct ftrace_job *job, uint16_t flags)
{
	struct grt_ev_complete c = {
		.e = job_event(f, job, GRT_EV_COMPLETE, flags),
		.status = GRT_STATUS_UNKNOWN, /* no event's text has the fence's error */
	};
	bool first = !(job->seen & FTRACE_COMPLETE), news = ftrace_emit_is_new(job, FTRACE_COMPLETE, flags);

	if (news && !first)
		drop_held(f, job);
	/* for a fence with a number, the next line may have the error */
	if (news && (flags & GRT_FLAG_INFERRED) && job->key_ctx)
		hold(f)->complete = c;
	else if (news)
		grt_text_put(f->t, &c.e, f->l.cpu);
	if (first)
		ftrace_jobs_done(&f->jobs, job);
}

/* Whether the dependency was reported before. */
static bool is_known_dependency(struct ftrace *f, const struct ftrace_job *job, uint64_t ctx, uint64_t seqno)
{
	struct ftrace_dependency d = {job->ctx, job->seqno, ctx, seqno}, *at;
	uint64_t h =
		(d.ctx * 31 + d.seqno) * 0x9e3779b97f4a7c15ULL ^ (ctx * 31 + seqno) * 0xbf58476d1ce4e5b9ULL;

	at = &f->dependency[(h >> 40) % FTRACE_DEPENDS];
	if (!memcmp(at, &d, sizeof(d)))
		return true;
	*at = d;
	return false;
}

void ftrace_depend(struct ftrace *f, const struct ftrace_job *job, uint64_t ctx, uint64_t seqno)
{
	struct ftrace_job *fence;
	bool done;
	struct grt_ev_wait_dep w;

	if (job && is_known_dependency(f, job, ctx, seqno))
		return;
	fence = ftrace_job_of(f, ctx, seqno);
	done = (fence->seen & FTRACE_COMPLETE) && !(fence->seen & FTRACE_INFERRED(FTRACE_COMPLETE));
	w = (struct grt_ev_wait_dep){
		.e = job ? job_event(f, job, GRT_EV_WAIT_DEP, 0) : ftrace_event(f, GRT_EV_WAIT_DEP),
		.dep_ctx = fence->ctx,
		.dep_seqno = fence->seqno,
	};

	if (done)
		w.e.flags |= GRT_FLAG_SIGNALLED;
	else
		fence->waiters++;
	grt_text_put(f->t, &w.e, f->l.cpu);
}

void ftrace_signalled(struct ftrace *f, struct ftrace_job *job)
{
	struct grt_ev_fence x = {
		.e = job_event(f, job, GRT_EV_FENCE, 0),
		.status = GRT_STATUS_UNKNOWN,
		.waiters = job->waiters,
	};

	job->waiters = 0;
	grt_text_put(f->t, &x.e, f->l.cpu);
	if (!job->seen)
		ftrace_jobs_done(&f->jobs, job);
}

/*
 * i915 waits for its requests through dma_fence, so that two layers report one wait of a thread. Lines of the
 * second layer are ignored.
 */
static bool ftrace_emit_is_nested(struct ftrace *f, uint64_t ctx, uint64_t seqno, bool enter, uint32_t layer)
{
	struct ftrace_wait *w = &f->wait[f->l.tid % FTRACE_WAITERS];
	bool same = w->layer && w->tid == f->l.tid && w->ctx == ctx && w->seqno == seqno;

	if (same && w->layer != layer)
		return true;
	if (enter)
		*w = (struct ftrace_wait){ctx, seqno, f->l.tid, layer};
	else if (same)
		w->layer = 0;
	return false;
}

void ftrace_wait(struct ftrace *f, const struct ftrace_job *job, uint64_t ctx, uint64_t seqno, bool enter,
		 uint32_t layer)
{
	uint16_t type = enter ? GRT_EV_SYNC_WAIT_ENTER : GRT_EV_SYNC_WAIT_EXIT;
	struct grt_event e = ftrace_event(f, type);

	if (ftrace_emit_is_nested(f, ctx, seqno, enter, layer))
		return;
	e.ctx = job ? job->ctx : ctx;
	e.seqno = job ? job->seqno : seqno;
	e.ring = job ? job->ring : GRT_RING_NONE;
	e.engine = job ? job->engine : GRT_ENGINE_UNKNOWN;
	e.device = job ? job->device : 0;
	ftrace_by_current(f, &e);
	grt_text_put(f->t, &e, f->l.cpu);
}
