// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Tracks of all drivers: jobs on the lanes of their rings, ioctls and waits of threads, counters, sums over
 * windows.
 */
#include "tracks_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "codes/ioctl_names.h"
#include "trace/flow.h"
#include "trace/packet.h"

/* Ioctls that were last looked up, by a simple hash. */
#define RECENT 64U

enum {
	OF_RING = TRACKS_KEYS(tracks_core),
	OF_WINDOWS,
	OF_COUNTER,
};

/** struct recent_call - an ioctl's name; @named as in struct track */
struct recent_call {
	uint32_t device;
	uint32_t cmd;
	uint32_t name;
	uint32_t named;
};

/* Most jobs that wait for fences, and most fences of each; if there are more, the latest count. */
#define DEPS_MAX 65536U
#define JOB_DEPS_MAX 4U

/** struct job_deps - the numbers of the arrows to a job from what it had to wait for */
struct job_deps {
	uint32_t waits;
	uint64_t wait[JOB_DEPS_MAX];
};

/**
 * struct tracks_core - the state
 * @jobs: joins jobs; its names are used by all providers
 * @deps: struct job_deps, by job; a new one replaces the oldest
 * @job_name: by number in grt_names: number of the text, plus 1
 * @wait_name, @window_name: numbers of texts
 */
struct tracks_core {
	struct grt_jobs *jobs;
	struct grt_keyed deps;
	struct recent_call recent_call[RECENT];
	uint32_t *job_name;
	uint32_t job_names;
	uint32_t wait_name, window_name;
};

static struct tracks_core *core_of(const struct grt_tracks *t)
{
	return t->state[IN_tracks_core];
}

/* --------------------------------------------------------- ioctls and waits */

/* Return: 0 or -ENOMEM */
static int name_call(struct grt_tracks *t, uint32_t device, uint32_t cmd, uint32_t *name)
{
	uint32_t number = grt_names_find(t->names, GRT_NAME_DEVICE, device);
	const char *known = grt_ioctl_name(grt_names_owner(t->names, number), cmd);
	char text[32];

	snprintf(text, sizeof(text), "ioctl 0x%x", cmd);
	return grt_texts_add(&t->texts, known ?: text, known ? strlen(known) : sizeof(text), name);
}

/* An ioctl's name; the name of the driver may come later than its first ioctl. Return: 0 or -ENOMEM */
static int call_name(struct grt_tracks *t, uint32_t device, uint32_t cmd, uint32_t *name)
{
	struct recent_call *c = &core_of(t)->recent_call[(cmd ^ cmd >> 6 ^ device) % RECENT];
	int ret = 0;

	if (!c->name || c->device != device || c->cmd != cmd || c->named != t->names->used) {
		*c = (struct recent_call){.device = device, .cmd = cmd, .named = t->names->used};
		ret = name_call(t, device, cmd, &c->name);
	}
	*name = c->name;
	return ret;
}

static int on_ioctl_enter(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_ioctl_enter *x = (const struct grt_ev_ioctl_enter *)e;
	struct grt_track_item i = {.category = GRT_CATEGORY_IOCTL, .time = e->time};
	struct open_slice what = {.inside = INSIDE_IOCTL};
	struct tracks_args *a = tracks_no_args(t);
	struct track *k;
	int ret = tracks_thread(t, e->pid, e->tid, &k);

	if (!ret)
		ret = call_name(t, e->device, x->cmd, &i.name);
	if (ret || !k)
		return ret ?: tracks_draw(t, NULL, &i, NULL);
	/* a thread is in one ioctl at a time */
	ret = tracks_cut(t, k, 0, e->time);
	if (x->fd != GRT_FD_UNKNOWN)
		tracks_add_arg(a, t->field[e->type][1].id, GRT_TRACK_S64, (uint64_t)(int64_t)x->fd);
	return ret ?: tracks_begin(t, k, &what, &i, a);
}

static int on_ioctl_exit(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_ioctl_exit *x = (const struct grt_ev_ioctl_exit *)e;
	struct grt_track_item i = {.category = GRT_CATEGORY_IOCTL, .time = e->time};
	struct tracks_args *a = tracks_no_args(t);
	struct track *k;
	int ret = tracks_thread(t, e->pid, e->tid, &k);

	if (ret || !k)
		return ret ?: tracks_draw(t, NULL, &i, NULL);
	if (!k->depth || k->open[0].inside != INSIDE_IOCTL) {
		t->count.half++;
		return 0;
	}
	tracks_add_arg(a, t->field[e->type][1].id, GRT_TRACK_S64, (uint64_t)(int64_t)x->ret);
	return tracks_end(t, k, 0, &i, a);
}

static bool waits_for(const struct open_slice *o, const struct grt_event *e)
{
	return o->inside == INSIDE_WAIT && o->ctx == e->ctx && o->seqno == e->seqno;
}

static int on_wait_enter(struct grt_tracks *t, const struct grt_event *e)
{
	struct grt_track_item i = {
		.category = GRT_CATEGORY_WAIT, .name = core_of(t)->wait_name, .time = e->time};
	struct open_slice what = {INSIDE_WAIT, e->ctx, e->seqno};
	struct tracks_args *a = tracks_no_args(t);
	unsigned int depth;
	struct track *k;
	int ret = tracks_thread(t, e->pid, e->tid, &k);

	if (ret || !k)
		return ret ?: tracks_draw(t, NULL, &i, NULL);
	depth = k->depth;
	/* two sources may record the same wait */
	if (depth && waits_for(&k->open[depth - 1], e))
		return 0;
	/* one call may wait for several */
	while (depth && k->open[depth - 1].inside == INSIDE_WAIT && !(e->flags & GRT_FLAG_CALL))
		depth--;
	ret = tracks_cut(t, k, depth, e->time);
	tracks_add_common(a, e, true);
	if (ret || k->depth < TRACKS_DEPTH_MAX)
		return ret ?: tracks_begin(t, k, &what, &i, a);
	i.kind = GRT_ITEM_INSTANT;
	return tracks_draw(t, k, &i, a);
}

static int tracks_on_wait_exit(struct grt_tracks *t, const struct grt_event *e)
{
	struct grt_track_item i = {.category = GRT_CATEGORY_WAIT, .time = e->time};
	unsigned int depth;
	struct track *k;
	int ret = tracks_thread(t, e->pid, e->tid, &k);

	if (ret || !k)
		return ret ?: tracks_draw(t, NULL, &i, NULL);
	depth = k->depth;
	while (depth && k->open[depth - 1].inside == INSIDE_WAIT && !waits_for(&k->open[depth - 1], e))
		depth--;
	if (depth && waits_for(&k->open[depth - 1], e))
		return tracks_end(t, k, depth - 1, &i, NULL);
	/* if there are more nested ones than have room, the innermost are instants */
	t->count.half += !(e->flags & GRT_FLAG_SEVERAL && k->depth == TRACKS_DEPTH_MAX);
	return 0;
}

/* --------------------------------------------------------------------- jobs */

/*
 * Return: a number for a job, always the same; it is exact if the identity fits, as those of today's kernels
 * do.
 */
static uint64_t flow_of(uint64_t ctx, uint64_t seqno)
{
	uint64_t h = (ctx ^ seqno >> 32 ^ seqno << 32) * 0x9e3779b97f4a7c15ULL;

	if (!ctx)
		return 0;
	if (ctx < 1ULL << 22 && seqno < 1ULL << 40)
		return ctx << 40 | seqno;
	return (h ^ h >> 29) >> 2 | 1ULL << 63;
}

static int tracks_on_submit(struct grt_tracks *t, const struct grt_event *e)
{
	struct grt_track_item i = {
		.kind = GRT_ITEM_INSTANT,
		.category = GRT_CATEGORY_SUBMIT,
		.name = t->title[e->type],
		.time = e->time,
		.flow_out = flow_of(e->ctx, e->seqno),
	};
	struct track *k;
	struct tracks_args *a;
	int ret = grt_jobs_event(core_of(t)->jobs, e);

	if (ret || !e->tid)
		return ret;
	ret = tracks_thread(t, e->pid, e->tid, &k);
	a = tracks_no_args(t);
	tracks_add_common(a, e, true);
	return ret ?: tracks_draw(t, k, &i, a);
}

/* The scheduler found a fence that the job has to wait for. */
static int tracks_on_wait_dep(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_wait_dep *x = (const struct grt_ev_wait_dep *)e;
	struct grt_key key = {{e->ctx, e->seqno}};
	struct job_deps *d;
	void *found;
	int ret;

	if (e->ctx && x->dep_ctx && !(e->flags & GRT_FLAG_SIGNALLED)) {
		ret = grt_keyed_get_or_replace(&core_of(t)->deps, &key, NULL, &found);
		if (ret)
			return ret;
		d = found;
		d->wait[d->waits++ % JOB_DEPS_MAX] = flow_of(x->dep_ctx, x->dep_seqno);
	}
	return tracks_instant(t, e);
}

/* Draws the dependencies of a job, which are then no longer needed. */
static void take_deps(struct grt_tracks *t, const struct grt_job *job, struct job_deps *out)
{
	struct grt_key key = {{job->ctx, job->seqno}};
	struct job_deps *d = core_of(t)->deps.used ? grt_keyed_find(&core_of(t)->deps, &key) : NULL;

	out->waits = 0;
	if (!d)
		return;
	*out = *d;
	if (out->waits > JOB_DEPS_MAX)
		out->waits = JOB_DEPS_MAX;
	grt_keyed_remove(&core_of(t)->deps, d);
}

/* Gets the name of a job, which is that of its process. Return: 0 or -ENOMEM */
static int job_name(struct grt_tracks *t, const struct grt_job *job, uint32_t *name)
{
	const char *text = grt_names_owner(t->names, job->name) ?: grt_names_name(t->names, job->name);
	struct tracks_core *c = core_of(t);
	char pid[24];

	if (job->name < c->job_names && c->job_name[job->name]) {
		*name = c->job_name[job->name] - 1;
		return 0;
	}
	snprintf(pid, sizeof(pid), "pid %u", job->pid);
	if (grt_texts_add(&t->texts, text ?: job->pid ? pid : "job", 64, name))
		return -ENOMEM;
	if (!text)
		return 0;
	if (grt_grow_zeroed(&c->job_name, &c->job_names, job->name + 1, 64))
		return -ENOMEM;
	c->job_name[job->name] = *name + 1;
	return 0;
}

static void add_phase(struct tracks_args *a, const struct grt_job *job, enum grt_phase phase, unsigned int id)
{
	uint64_t ns;
	bool inferred;

	if (grt_job_phase(job, phase, &ns, &inferred))
		tracks_add_number(a, id, ns);
}

static void tracks_add_job(const struct grt_tracks *t, struct tracks_args *a, const struct grt_job *job)
{
	tracks_add_number(a, GRT_TRACK_ARG_CTX, job->ctx);
	tracks_add_number(a, GRT_TRACK_ARG_SEQNO, job->seqno);
	if (job->pid)
		tracks_add_number(a, GRT_TRACK_ARG_PID, job->pid);
	add_phase(a, job, GRT_PHASE_SCHED, GRT_TRACK_ARG_T_SCHED);
	add_phase(a, job, GRT_PHASE_QUEUE, GRT_TRACK_ARG_T_QUEUE);
	add_phase(a, job, GRT_PHASE_COMPLETE, GRT_TRACK_ARG_T_COMPLETE);
	if (job->inferred & 1U << GRT_STAMP_START)
		tracks_add_arg(a, GRT_TRACK_ARG_START_INFERRED, GRT_TRACK_BOOL, 1);
	if (job->inferred & 1U << GRT_STAMP_END)
		tracks_add_arg(a, GRT_TRACK_ARG_END_INFERRED, GRT_TRACK_BOOL, 1);
	if ((job->status || job->failed) && job->status != GRT_STATUS_UNKNOWN)
		tracks_add_arg(a, t->field[GRT_EV_COMPLETE][0].id, GRT_TRACK_S64,
			       (uint64_t)(int64_t)job->status);
	if (job->sample && job->sample < 100)
		tracks_add_number(a, GRT_TRACK_ARG_SAMPLE, job->sample);
	if (job->waits && !job->open_waits) {
		tracks_add_number(a, GRT_TRACK_ARG_WAITS, job->waits);
		tracks_add_number(a, GRT_TRACK_ARG_WAIT_NS, job->wait_ns);
	}
}

static int draw_job(struct grt_tracks *t, const struct grt_job *job)
{
	struct grt_track_item i = {.kind = GRT_ITEM_SLICE,
				   .category = GRT_CATEGORY_JOB,
				   .time = job->time[GRT_STAMP_START],
				   .end = job->time[GRT_STAMP_END]};
	struct grt_key key = tracks_key_of(OF_RING, job->device, job->ring, 0);
	struct tracks_args *a = tracks_no_args(t);
	struct job_deps deps;
	struct track *k;
	bool inferred;
	uint64_t ns;
	int ret;

	if (t->filter && !grt_filter_wants_job(t->filter, t->names, job->pid, job->tid, job->ring))
		return 0;
	if (!grt_job_phase(job, GRT_PHASE_EXEC, &ns, &inferred)) {
		t->count.undrawn++;
		return 0;
	}
	take_deps(t, job, &deps);
	i.pid = job->pid;
	i.number = flow_of(job->ctx, job->seqno) ?: tracks_next_number(t);
	if (job->tid && job->seen & 1U << GRT_STAMP_SUBMIT &&
	    !tracks_is_outside(t, job->time[GRT_STAMP_SUBMIT], job->time[GRT_STAMP_SUBMIT]))
		i.flow_in = flow_of(job->ctx, job->seqno);
	i.waits = deps.waits;
	i.wait = deps.wait;
	k = tracks_free_lane(t, &key, i.time);
	/* also if it is known, because its name may have changed */
	if (k || key.w[3] < GRT_TRACKS_LANES_MAX)
		ret = tracks_ring(t, &key, job->device, job->ring, (uint32_t)key.w[3], "", &k);
	else
		ret = 0;
	ret = ret ?: job_name(t, job, &i.name);
	if (ret)
		return ret;
	t->count.jobs += !!k;
	t->count.inferred += k && inferred;
	t->count.sampled += k && job->sample && job->sample < 100;
	tracks_add_job(t, a, job);
	return tracks_draw(t, k, &i, a);
}

static int tracks_on_held(void *arg, const struct grt_job *job)
{
	return draw_job(arg, job);
}

static int tracks_on_job(void *arg, const struct grt_job *job)
{
	return job->held ? 0 : draw_job(arg, job);
}

int tracks_join(struct grt_tracks *t, const struct grt_event *e)
{
	return grt_jobs_event(core_of(t)->jobs, e);
}

void grt_tracks_within(struct grt_tracks *t, uint64_t from, uint64_t to)
{
	t->from = from;
	t->to = to;
	grt_jobs_within(core_of(t)->jobs, from, to);
}

static int on_stamp(struct grt_tracks *t, const struct grt_event *e)
{
	return grt_jobs_event(core_of(t)->jobs, e);
}

/* Events of a job that are also drawn on their own. */
static int on_stamp_instant(struct grt_tracks *t, const struct grt_event *e)
{
	return grt_jobs_event(core_of(t)->jobs, e) ?: tracks_instant(t, e);
}

static int on_wait_in(struct grt_tracks *t, const struct grt_event *e)
{
	return grt_jobs_event(core_of(t)->jobs, e) ?: on_wait_enter(t, e);
}

static int on_wait_out(struct grt_tracks *t, const struct grt_event *e)
{
	return grt_jobs_event(core_of(t)->jobs, e) ?: tracks_on_wait_exit(t, e);
}

/* ----------------------------------------------------- windows and counters */

static int on_window(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_aggregate *x = (const struct grt_ev_aggregate *)e;
	struct grt_track_item i = {.kind = GRT_ITEM_SLICE,
				   .category = GRT_CATEGORY_EVENT,
				   .name = core_of(t)->window_name,
				   .time = x->begin,
				   .end = x->end < x->begin ? x->begin : x->end};
	struct grt_key key = tracks_key_of(OF_WINDOWS, e->device, e->ring, 0);
	struct tracks_args *a = tracks_no_args(t);
	struct track *k = tracks_free_lane(t, &key, i.time);
	int ret = 0;

	if (k || key.w[3] < GRT_TRACKS_LANES_MAX)
		ret = tracks_ring(t, &key, e->device, e->ring, (uint32_t)key.w[3], ": windows", &k);
	tracks_add_fields(t, a, e);
	return ret ?: tracks_draw(t, k, &i, a);
}

/* Return: as tracks_thread() */
static int counter_track(struct grt_tracks *t, const struct grt_ev_counter *x, struct track **out)
{
	struct grt_key key = tracks_key_of(OF_COUNTER, x->e.device, x->counter, x->instance);
	struct track like = {.kind = GRT_TRACK_COUNTER};
	const char *name;
	char text[TRACKS_TEXT_MAX];
	int ret = 0;

	*out = grt_keyed_find(&t->tracks, &key);
	if (!*out) {
		ret = tracks_device(t, x->e.device, &like.parent);
		ret = ret ?: tracks_get(t, &key, &like, out);
	}
	if (ret < 0 || !*out || (!tracks_is_renamed(t, *out, GRT_NAME_COUNTER, x->counter) && !ret))
		return ret;
	name = grt_names_name(t->names, (*out)->name);
	if (name)
		snprintf(text, sizeof(text), "%s", name);
	else
		snprintf(text, sizeof(text), "counter %u", x->counter);
	if (x->instance)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " of %u", x->instance);
	return tracks_announce(t, *out, text, grt_names_owner(t->names, (*out)->name));
}

static int on_counter(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_counter *x = (const struct grt_ev_counter *)e;
	struct grt_track_item i = {.kind = GRT_ITEM_COUNTER,
				   .category = GRT_CATEGORY_COUNTER,
				   .time = e->time,
				   .value = x->value};
	struct track *k;
	int ret = counter_track(t, x, &k);

	if (e->flags & GRT_FLAG_ENDED)
		t->count.ended++;
	return ret ?: tracks_draw(t, k, &i, NULL);
}

static int core_begin(struct grt_tracks *t, void *state)
{
	struct grt_jobs_sink sink = {.held = tracks_on_held, .job = tracks_on_job, .arg = t};
	struct tracks_core *c = state;

	grt_keyed_init(&c->deps, sizeof(struct job_deps), DEPS_MAX);
	if (grt_jobs_new(&c->jobs, &sink, NULL))
		return -ENOMEM;
	t->names = grt_jobs_names(c->jobs);
	return grt_texts_add(&t->texts, "wait", 64, &c->wait_name)
		       ?: grt_texts_add(&t->texts, "window", 64, &c->window_name);
}

static int core_flush(void *state)
{
	return grt_jobs_flush(((struct tracks_core *)state)->jobs);
}

static void core_free(void *state)
{
	struct tracks_core *c = state;

	grt_jobs_free(c->jobs);
	grt_keyed_free(&c->deps);
	free(c->job_name);
}

static const struct tracks_draw core_draws[] = {
	{GRT_EV_SUBMIT, tracks_on_submit},
	{GRT_EV_COMMIT, on_stamp},
	{GRT_EV_START, on_stamp},
	{GRT_EV_END, on_stamp},
	{GRT_EV_COMPLETE, on_stamp},
	{GRT_EV_JOB, on_stamp},
	{GRT_EV_ERROR, on_stamp_instant},
	{GRT_EV_COMMAND, on_stamp_instant},
	{GRT_EV_SYNC_WAIT_ENTER, on_wait_in},
	{GRT_EV_SYNC_WAIT_EXIT, on_wait_out},
	{GRT_EV_NAME, on_stamp},
	{GRT_EV_OWNER, on_stamp},
	{GRT_EV_OWNER_RANK, on_stamp},
	{GRT_EV_IOCTL_ENTER, on_ioctl_enter},
	{GRT_EV_IOCTL_EXIT, on_ioctl_exit},
	{GRT_EV_COUNTER, on_counter},
	{GRT_EV_WAIT_DEP, tracks_on_wait_dep},
	{GRT_EV_AGGREGATE, on_window},
	{0},
};

const struct tracks_provider tracks_core = {
	.draws = core_draws,
	.state = sizeof(struct tracks_core),
	.begin = core_begin,
	.flush = core_flush,
	.free = core_free,
};
