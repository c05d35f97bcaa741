// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * In the order of time, each point is joined to the previous one in its lane, and to the point for which it
 * waited, which comes before it.
 */
#include <errno.h>

#include "base/containers.h"
#include "path_run.h"

typedef void path_joins(struct grt_path *s, uint32_t at, struct grt_path_point *p);

static struct grt_path_point *point_of(struct grt_path *s, uint32_t at)
{
	return &s->graph.point[at];
}

static uint64_t time_of(const struct grt_path *s, uint32_t at)
{
	return s->graph.point[at].time;
}

static void path_chain(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	struct path_lane *l = &s->lane[p->lane];

	p->prev = l->last;
	l->last = at;
	if (l->kind == PATH_THREAD && !l->followed)
		p->inferred = true;
	if (l->call != GRT_PATH_NONE && s->act[p->act].kind == PATH_IS_RUNNING)
		p->act = l->in_call;
}

/* Makes a point wait for another one, which comes before it. */
static void path_wait(struct grt_path *s, struct grt_path_point *p, uint32_t dep, bool inferred)
{
	p->how = GRT_PATH_WAITS;
	p->dep = dep;
	p->inferred |= inferred;
	point_of(s, dep)->used = true;
}

/* ---------------------------------------------------------------- threads */

static void join_seen(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	if (s->lane[p->lane].last == GRT_PATH_NONE)
		path_chain(s, at, p);
}

static void join_ran(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	p->dep = GRT_PATH_NONE;
	path_chain(s, at, p);
}

/*
 * Return: whether a point does not show what ran before it; if the thread was preempted, the same code
 * continued.
 */
static bool says_nothing(const struct grt_path *s, const struct grt_path_point *p)
{
	const struct path_act *a = &s->act[p->act];

	if (p->mark == PATH_ON)
		return p->prev != GRT_PATH_NONE && s->graph.point[p->prev].mark == PATH_RAN;
	return p->mark == PATH_RAN && a->kind == PATH_IS_RUNNING && !a->stack && !a->name;
}

/* Such points before this one get the code that ran before this one. */
static void join_ran_up_to(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	struct grt_path_point *q;

	path_chain(s, at, p);
	for (uint32_t i = p->prev; i != GRT_PATH_NONE && says_nothing(s, point_of(s, i)); i = q->prev) {
		q = point_of(s, i);
		if (q->mark == PATH_ON)
			continue;
		q->act = p->act;
		q->inferred |= p->inferred;
	}
}

static bool is_followed(const struct grt_path *s, uint32_t point)
{
	return s->lane[s->graph.point[point].lane].followed;
}

static void join_woken(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	uint32_t by = p->dep;

	p->dep = GRT_PATH_NONE;
	path_chain(s, at, p);
	if (by == GRT_PATH_NONE)
		return;
	if (is_followed(s, by))
		path_wait(s, p, by, false);
	else
		s->count.unfollowed++;
}

/* The last work of its process that had ended: that the thread waited for this is inferred. */
static void join_woken_gpu(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	uint32_t work = s->lane[s->lane[p->lane].in].last;

	p->dep = GRT_PATH_NONE;
	path_chain(s, at, p);
	if (work != GRT_PATH_NONE && p->prev != GRT_PATH_NONE && time_of(s, work) >= time_of(s, p->prev))
		path_wait(s, p, work, true);
}

/* Whether a fence was signalled before, by the order of all points. */
static uint32_t done_before(struct grt_path *s, uint32_t fence, uint32_t at)
{
	uint32_t done = fence == GRT_PATH_NONE ? GRT_PATH_NONE : s->fence[fence].done;

	if (done == GRT_PATH_NONE || grt_path_graph_before(&s->graph, done, at))
		return done;
	s->count.backwards++;
	return GRT_PATH_NONE;
}

static void join_woken_fence(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	uint32_t done = done_before(s, p->dep, at);

	if (done == GRT_PATH_NONE) {
		join_woken_gpu(s, at, p);
		return;
	}
	p->dep = GRT_PATH_NONE;
	path_chain(s, at, p);
	path_wait(s, p, done, false);
}

/* ------------------------------------------------------------------ calls */

static void join_call(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	struct path_lane *l = &s->lane[p->lane];
	uint32_t in = p->dep;

	p->dep = GRT_PATH_NONE;
	l->call = GRT_PATH_NONE;
	join_ran_up_to(s, at, p);
	l->call = at;
	l->in_call = in;
	l->launched = GRT_PATH_NONE;
	l->target = PATH_NOBODY;
	l->inferred = false;
}

/*
 * A call that ended at @at waited for @work. What the thread did until the work was over, polling and
 * sleeping, belongs to the wait: the wait ends with the first point after the work. If the work was over when
 * the call was made, the call would have waited if it had been made earlier.
 */
static void join_waited(struct grt_path *s, uint32_t at, uint32_t call, uint32_t work, bool inferred)
{
	struct grt_path_point *p = point_of(s, at);

	if (work == GRT_PATH_NONE || call == GRT_PATH_NONE)
		return;
	while (p->prev != call && p->prev != GRT_PATH_NONE && grt_path_graph_before(&s->graph, work, p->prev))
		p = point_of(s, p->prev);
	if ((p->how == GRT_PATH_WAITS && !p->inferred) || !grt_path_graph_before(&s->graph, work, at))
		return;
	path_wait(s, p, work, inferred);
	for (uint32_t i = p->prev; i != call && i != GRT_PATH_NONE; i = p->prev) {
		p = point_of(s, i);
		if (!p->used)
			p->how = GRT_PATH_SHRINKS;
	}
}

/* Ends the call that the thread is in. Return: where it began */
static uint32_t end_call(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	uint32_t call = s->lane[p->lane].call;

	path_chain(s, at, p);
	s->lane[p->lane].call = GRT_PATH_NONE;
	return call;
}

static void join_call_end(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	p->dep = GRT_PATH_NONE;
	end_call(s, at, p);
}

static void join_copy_call_end(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	uint32_t work = s->lane[p->lane].launched;

	p->dep = GRT_PATH_NONE;
	join_waited(s, at, end_call(s, at, p), work, false);
}

/* Whether work was launched before a call; if that is unknown, it is assumed. */
static bool launched_before(struct grt_path *s, uint32_t work, uint32_t call)
{
	const struct grt_path_point *p = point_of(s, work);
	bool one = p->mark == PATH_WORK_END || p->mark == PATH_SHORT_WORK_END;
	uint32_t launch = one ? point_of(s, p->prev)->dep : GRT_PATH_NONE;

	return launch == GRT_PATH_NONE || call == GRT_PATH_NONE || time_of(s, launch) <= time_of(s, call);
}

/* Whether the last work that a stream got before a call ended after the call had returned. */
static bool is_over_later(struct grt_path *s, const struct path_lane *stream, uint32_t call, uint32_t at)
{
	uint32_t work = stream->kind == PATH_STREAM ? stream->launched : GRT_PATH_NONE;

	return work != GRT_PATH_NONE && call != GRT_PATH_NONE && point_of(s, work)->dep != GRT_PATH_NONE &&
	       time_of(s, point_of(s, work)->dep) <= time_of(s, call) &&
	       grt_path_graph_before(&s->graph, at, work + 1);
}

/* If it is unknown for which stream a call waits, the last work of the process is taken. */
static void join_sync_call_end(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	struct path_lane *l = &s->lane[p->lane];
	uint32_t work = s->lane[l->target && !l->inferred ? l->target : l->in].last, call;
	bool inferred = l->inferred || !l->target;

	p->dep = GRT_PATH_NONE;
	call = end_call(s, at, p);
	if (l->target && !l->inferred && is_over_later(s, &s->lane[l->target], call, at))
		s->count.backwards++;
	if (work != GRT_PATH_NONE && launched_before(s, work, call))
		join_waited(s, at, call, work, inferred);
}

/*
 * If the call waits for several streams, the point at which all are over comes with the call's end in the
 * order.
 */
static void join_context_call_end(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	bool several = s->lane[p->dep].streams > 1;
	uint32_t work = s->lane[p->dep].last, call;

	p->dep = GRT_PATH_NONE;
	call = end_call(s, at, p);
	if (several && call != GRT_PATH_NONE)
		p->prev = call;
	join_waited(s, at, call, work, false);
}

static void join_wait_end(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	uint32_t done = done_before(s, p->dep, at);

	p->dep = GRT_PATH_NONE;
	join_waited(s, at, end_call(s, at, p), done, false);
}

static void join_sync(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	struct path_lane *l = &s->lane[p->lane];

	if (l->call != GRT_PATH_NONE) {
		l->target = p->dep;
		l->inferred = p->inferred;
	}
	p->dep = GRT_PATH_NONE;
}

/* ------------------------------------------------------------------- CUDA */

/* Return: the work for which a stream waits; NULL: no memory */
static struct path_ordered *path_ordered_of(struct grt_path *s, struct path_lane *stream)
{
	if (!stream->ordered) {
		if (grt_grow_zeroed(&s->ordered, &s->ordered_room, s->ordereds + 1, 16)) {
			s->error = -ENOMEM;
			return NULL;
		}
		stream->ordered = ++s->ordereds;
	}
	return &s->ordered[stream->ordered - 1];
}

/* For each stream, the last work is enough, because earlier work of the stream ends earlier. */
static void order_behind(struct grt_path *s, struct path_lane *stream, uint32_t work)
{
	struct path_ordered *o = path_ordered_of(s, stream);
	uint32_t i;

	for (i = 0; o && i < o->used; i++)
		if (s->graph.point[o->work[i]].lane == s->graph.point[work].lane)
			break;
	if (o && i < PATH_ORDERED) {
		o->work[i] = work;
		o->used += i == o->used;
	} else {
		s->count.unordered++;
	}
}

/*
 * The last work of the context's other streams that has not ended: a recording does not say for which one
 * the call waits.
 */
static void join_order(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	struct path_lane *stream = &s->lane[p->dep], *l;
	unsigned int left = PATH_LOOKED_AT;

	p->dep = GRT_PATH_NONE;
	for (uint32_t i = s->lane[stream->in].stream; i && left; i = l->stream, left--) {
		l = &s->lane[i];
		if (l != stream && l->launched != GRT_PATH_NONE &&
		    grt_path_graph_before(&s->graph, at, l->launched + 1))
			order_behind(s, stream, l->launched + 1);
	}
	s->count.unordered += !left;
}

/* A point that can only be reached after others; it takes no time itself. */
static void join_after(struct grt_path *s, uint32_t at, struct grt_path_point *p, uint32_t dep, bool inferred)
{
	path_chain(s, at, p);
	path_wait(s, p, dep, inferred);
	p->time = time_of(s, dep);
	if (p->prev != GRT_PATH_NONE && time_of(s, p->prev) > p->time)
		p->time = time_of(s, p->prev);
}

/*
 * There is such a point for each time that the stream was made to wait. Each takes the work that ended last
 * of the remaining ones, so that the next point counts if that work ends earlier.
 */
static void join_after_order(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	struct path_lane *l = &s->lane[p->lane];
	struct path_ordered *o = l->ordered ? &s->ordered[l->ordered - 1] : NULL;
	uint32_t last = PATH_ORDERED, work;

	p->dep = GRT_PATH_NONE;
	for (uint32_t i = 0; o && i < o->used; i++)
		if (grt_path_graph_before(&s->graph, o->work[i], at) &&
		    (last == PATH_ORDERED || time_of(s, o->work[i]) > time_of(s, o->work[last])))
			last = i;
	if (last == PATH_ORDERED)
		return;
	work = o->work[last];
	o->work[last] = o->work[--o->used];
	join_after(s, at, p, work, true);
}

static void join_launch(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	uint32_t work = p->dep, by = s->lane[p->lane].last;

	p->dep = GRT_PATH_NONE;
	if (by == GRT_PATH_NONE || time_of(s, by) != p->time) {
		p->mark = PATH_RAN;
		path_chain(s, at, p);
		by = at;
	}
	s->lane[point_of(s, work)->lane].launched = work;
	if (grt_path_graph_before(&s->graph, by, work))
		path_wait(s, point_of(s, work), by, false);
	else
		s->count.backwards++;
}

static void join_work(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	p->prev = s->lane[p->lane].last;
	p->how = GRT_PATH_WAITS;
}

static void join_ends(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	p->prev = at - 1;
	s->lane[p->lane].last = at;
}

static void join_work_end(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	uint32_t by = point_of(s, at - 1)->dep, in = s->lane[p->lane].in;

	join_ends(s, at, p);
	s->lane[s->lane[in].in].last = at;
	if (s->lane[in].streams == 1)
		s->lane[in].last = at;
	/* of the call in which its thread still is */
	if (by != GRT_PATH_NONE && s->lane[point_of(s, by)->lane].call == by)
		s->lane[point_of(s, by)->lane].launched = at;
}

/* Processes one stream after the other: at the last one, all have ended. */
static void join_stream_done(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	uint32_t work = s->lane[p->dep].last;

	p->dep = GRT_PATH_NONE;
	if (work != GRT_PATH_NONE)
		join_after(s, at, p, work, false);
}

/* ------------------------------------------------------------------- jobs */

static void join_after_fence(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	uint32_t done = done_before(s, p->dep, at);

	p->dep = GRT_PATH_NONE;
	if (done != GRT_PATH_NONE)
		join_after(s, at, p, done, false);
}

static void join_job(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	uint32_t submit = p->dep;

	p->dep = GRT_PATH_NONE;
	join_work(s, at, p);
	if (submit == GRT_PATH_NONE)
		return;
	if (grt_path_graph_before(&s->graph, submit, at))
		path_wait(s, p, submit, false);
	else
		s->count.backwards++;
}

static void join_job_done(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	s->lane[p->dep].last = at;
	p->dep = GRT_PATH_NONE;
	p->prev = at - 1;
}

static void join_fence(struct grt_path *s, uint32_t at, struct grt_path_point *p)
{
	p->dep = GRT_PATH_NONE;
}

static path_joins *const joins[] = {
	[PATH_WORK_END] = join_work_end,
	[PATH_JOB_END] = join_ends,
	[PATH_JOB_DONE] = join_job_done,
	[PATH_STREAM_DONE] = join_stream_done,
	[PATH_FENCE] = join_fence,
	[PATH_SEEN] = join_seen,
	[PATH_MADE] = join_woken,
	[PATH_RAN] = join_ran,
	[PATH_OFF] = join_ran_up_to,
	[PATH_WOKEN] = join_woken,
	[PATH_WOKEN_FENCE] = join_woken_fence,
	[PATH_WOKEN_GPU] = join_woken_gpu,
	[PATH_ON] = join_ran,
	[PATH_GONE] = join_ran_up_to,
	[PATH_CALL] = join_call,
	[PATH_CALL_END] = join_call_end,
	[PATH_COPY_CALL_END] = join_copy_call_end,
	[PATH_SYNC_CALL_END] = join_sync_call_end,
	[PATH_CONTEXT_CALL_END] = join_context_call_end,
	[PATH_WAIT_END] = join_wait_end,
	[PATH_SYNC] = join_sync,
	[PATH_ORDER] = join_order,
	[PATH_LAUNCH] = join_launch,
	[PATH_AFTER_ORDER] = join_after_order,
	[PATH_AFTER_FENCE] = join_after_fence,
	[PATH_WORK] = join_work,
	[PATH_JOB] = join_job,
	[PATH_SHORT_WORK_END] = join_work_end,
	[PATH_SHORT_JOB_END] = join_ends,
	[PATH_SHORT_JOB_DONE] = join_job_done,
};

void path_join(struct grt_path *s)
{
	for (uint32_t i = 0; i < s->graph.points; i++) {
		uint32_t at = s->graph.order[i];

		joins[s->graph.point[at].mark](s, at, point_of(s, at));
	}
}
