// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Events become points in the order of their arrival, which is not the order of time; points are joined once
 * all exist. Until then, the meaning of @dep depends on the point's mark: a point, a fence, a lane, or an
 * activity.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/compare.h"
#include "base/containers.h"
#include "codes/cuda_codes.h"
#include "path_run.h"

/* Most fences on which a job depends. */
#define DEPS_EACH 8U
#define DEPS_MAX 65536U

/* struct job_deps - the fences of a job that is not retired yet */
struct job_deps {
	uint32_t n;
	uint32_t fence[DEPS_EACH];
};

static const uint8_t rank_of[] = {
#define GRT_PATH_MARK(rank, NAME, help) rank,
#include "path_marks.def"
#undef GRT_PATH_MARK
};

/* ---------------------------------------------------------------- points */

static uint64_t path_clamp(const struct grt_path *s, uint64_t time)
{
	return time < s->from ? s->from : time > s->to ? s->to : time;
}

/* The caller has checked that there is room. Return: the point's number */
static uint32_t path_put(struct grt_path *s, enum path_mark mark, uint32_t lane, uint64_t time, uint32_t act,
			 uint32_t dep)
{
	struct grt_path_point p = {.time = path_clamp(s, time),
				   .prev = GRT_PATH_NONE,
				   .dep = dep,
				   .act = act,
				   .lane = lane & (GRT_PATH_LANES_MAX - 1),
				   .mark = mark & 31,
				   .rank = rank_of[mark] & 7};

	return grt_path_graph_add(&s->graph, &p);
}

/* Return: 1: there is room, 0: it is full, which is counted, or -ENOMEM */
static int path_room(struct grt_path *s, uint32_t n, uint64_t at)
{
	int ret = grt_path_graph_room(&s->graph, n, at);

	return ret == -ENOSPC ? 0 : ret ? ret : 1;
}

/* --------------------------------------------------------------- threads */

static uint32_t act_running(struct grt_path *s, uint32_t lane, uint32_t stack)
{
	return path_act_of(s, &(struct path_act){.kind = PATH_IS_RUNNING, .lane = lane, .stack = stack});
}

static int take_made(struct grt_path *s, const struct grt_ev_thread *e, uint32_t lane)
{
	uint32_t parent = e->parent ? path_lane_thread(s, 0, e->parent) : PATH_NOBODY, by = GRT_PATH_NONE;

	if (parent)
		by = path_put(s, PATH_RAN, parent, e->e.time, act_running(s, parent, 0), GRT_PATH_NONE);
	path_put(s, PATH_MADE, lane, e->e.time, act_running(s, lane, 0), by);
	return 0;
}

static int take_thread(struct grt_path *s, const struct grt_ev_thread *e)
{
	uint32_t lane = path_lane_thread(s, e->e.pid, e->e.tid);
	int room = path_room(s, 2, e->e.time);

	if (room <= 0 || !lane)
		return room < 0 ? room : 0;
	if (s->root == GRT_PATH_NONE && e->e.pid == e->e.tid)
		s->root = lane;
	s->lane[lane].followed = true;
	switch (e->what) {
	case GRT_THREAD_MADE:
		return take_made(s, e, lane);
	case GRT_THREAD_SEEN_ON:
	case GRT_THREAD_SEEN_OFF:
		path_put(s, PATH_SEEN, lane, e->e.time, 0, GRT_PATH_NONE);
		break;
	case GRT_THREAD_ENDED:
	case GRT_THREAD_LEFT_ON:
		path_put(s, PATH_GONE, lane, e->e.time, act_running(s, lane, 0), GRT_PATH_NONE);
		break;
	}
	return 0;
}

/* The end of a sleep, and the thread that ended it. */
static void take_woken(struct grt_path *s, const struct grt_ev_asleep *e, uint32_t lane, uint64_t woken)
{
	bool thread = e->by == GRT_WAKER_THREAD && e->waker && e->waker != e->e.tid;
	struct path_act key = {.kind = PATH_IS_ASLEEP,
			       .lane = lane,
			       .stack = e->user,
			       .state = e->reason < GRT_THREAD_STATES ? (uint8_t)e->reason
								      : GRT_THREAD_UNKNOWN,
			       .waker = thread ? e->waker : 0};
	uint32_t act = path_act_of(s, &key), waker, dep = GRT_PATH_NONE;
	enum path_mark mark = PATH_WOKEN;

	if (e->cause == GRT_WAKE_FENCE && e->e.ctx) {
		mark = PATH_WOKEN_FENCE;
		dep = path_fence_of(s, e->e.ctx, e->e.seqno);
	} else if (key.state == GRT_THREAD_GPU) {
		mark = PATH_WOKEN_GPU;
	} else if (thread && e->cause != GRT_WAKE_TIMER) {
		waker = path_lane_thread(s, e->waker_pid, e->waker);
		if (waker)
			dep = path_put(s, PATH_RAN, waker, woken, act_running(s, waker, 0), GRT_PATH_NONE);
	}
	path_put(s, mark, lane, woken, act, dep);
}

/* If records before this one are missing, it is unknown what the thread did. */
static void take_off(struct grt_path *s, const struct grt_ev_asleep *e, uint32_t lane)
{
	struct path_lane *l = &s->lane[lane];
	uint64_t lost = l->number && e->number > l->number + 1 ? e->number - l->number - 1 : 0;
	struct path_act unknown = {.kind = PATH_IS_ASLEEP, .lane = lane, .state = GRT_THREAD_UNKNOWN};
	/* it continues where it was preempted */
	bool taken = e->reason == GRT_THREAD_RUNNABLE;
	uint32_t act = lost ? path_act_of(s, &unknown) : act_running(s, lane, taken ? 0 : e->user);
	uint32_t point = path_put(s, taken ? PATH_RAN : PATH_OFF, lane, e->start, act, GRT_PATH_NONE);

	s->graph.point[point].inferred = lost > 0;
	s->lane[lane].number = e->number;
	s->count.lost += lost;
}

static int take_off_cpu(struct grt_path *s, const struct grt_ev_asleep *e)
{
	uint32_t lane = path_lane_thread(s, e->e.pid, e->e.tid);
	uint64_t woken = e->woken > e->start && e->woken < e->e.time ? e->woken : e->e.time;
	bool slept = e->reason != GRT_THREAD_RUNNABLE, seen = e->over || !(e->e.flags & GRT_FLAG_INFERRED);
	/* if the return of a thread was not seen, the next record reports it, and has no sleep */
	uint64_t back = seen ? e->e.time : slept ? 0 : woken;
	int room = path_room(s, 4, e->start);

	if (room <= 0 || !lane || e->start > e->e.time)
		return room < 0 ? room : 0;
	s->lane[lane].followed = true;
	take_off(s, e, lane);
	if (slept)
		take_woken(s, e, lane, woken);
	if (back && (!slept || back > woken))
		path_put(s, PATH_ON, lane, back,
			 path_act_of(s, &(struct path_act){.kind = PATH_IS_RUNNABLE, .lane = lane}),
			 GRT_PATH_NONE);
	return 0;
}

/* A record of an older program, or of a thread that was ready to run. */
static int take_off_cpu_short(struct grt_path *s, const struct grt_event *e)
{
	struct grt_ev_asleep wide = {.waker = 0};

	memcpy(&wide, e, sizeof(struct grt_ev_off_cpu));
	return take_off_cpu(s, &wide);
}

static int take_process(struct grt_path *s, const struct grt_ev_process *e)
{
	uint32_t lane = e->what == 6 ? path_lane_thread(s, e->e.pid, e->e.tid) : PATH_NOBODY;

	if (lane)
		s->lane[lane].tracer = true;
	return 0;
}

/* ------------------------------------------------------------------ CUDA */

static uint32_t lane_context(struct grt_path *s, const struct grt_image *image, uint32_t context)
{
	uint32_t process = path_lane_of(s, &(struct path_lane){.kind = PATH_PROCESS, .pid = image->pid});

	return path_lane_of(s, &(struct path_lane){.kind = PATH_CONTEXT,
						   .pid = image->pid,
						   .image = image->number,
						   .id = context,
						   .in = process});
}

static uint32_t lane_stream(struct grt_path *s, const struct grt_image *image, uint32_t context,
			    uint32_t stream)
{
	uint32_t in = lane_context(s, image, context), lanes = s->lanes, lane;

	lane = path_lane_of(s, &(struct path_lane){.kind = PATH_STREAM,
						   .pid = image->pid,
						   .image = image->number,
						   .context = context,
						   .id = stream,
						   .in = in});
	if (in && lane && s->lanes > lanes) {
		s->lane[lane].stream = s->lane[in].stream;
		s->lane[in].stream = lane;
		s->lane[in].streams++;
	}
	return lane;
}

/* A copy whose call waits for it, as far as the call's name says. */
static bool waits_for_own(const struct grt_cuda_call *call)
{
	return (call->kind == GRT_CUDA_KIND_COPY || call->kind == GRT_CUDA_KIND_SET) &&
	       !strstr(call->name, "Async");
}

static enum path_mark call_end_mark(const struct grt_cuda_call *call)
{
	if (grt_cuda_sync(call) == GRT_CUDA_SYNC_CONTEXT)
		return PATH_CONTEXT_CALL_END;
	if (grt_cuda_waits(call))
		return PATH_SYNC_CALL_END;
	return waits_for_own(call) ? PATH_COPY_CALL_END : PATH_CALL_END;
}

static int take_call(struct grt_path *s, const struct grt_ev_launch *e)
{
	const struct grt_cuda_call *call = grt_cuda_call(e->call);
	struct grt_image *image = grt_launches_image(s->launches, &e->e);
	uint32_t lane = path_lane_thread(s, e->e.pid, e->e.tid), before, in, context;
	int room = path_room(s, 2, e->begin);

	if (!image)
		return -ENOMEM;
	if (room <= 0 || !lane || !call || e->begin > e->e.time)
		return room < 0 ? room : 0;
	before = path_act_of(s, &(struct path_act){.kind = PATH_IS_RUNNING,
						   .lane = lane,
						   .name = e->call,
						   .stack = e->node,
						   .image = image->number});
	in = path_act_of(s, &(struct path_act){.kind = PATH_IS_CALL, .lane = lane, .name = e->call});
	context = grt_cuda_waits(call) ? lane_context(s, image, e->context) : PATH_NOBODY;
	path_put(s, PATH_CALL, lane, e->begin, before, in);
	path_put(s, call_end_mark(call), lane, e->e.time, in, context);
	return 0;
}

static int take_sync(struct grt_path *s, const struct grt_ev_gpu_sync *e, const struct grt_image *image,
		     const struct grt_launch *launch)
{
	uint32_t lane = path_lane_thread(s, image->pid, launch->tid), target;
	bool stream = e->cuda_stream != UINT32_MAX;
	uint32_t point;
	int room = path_room(s, 1, launch->begin);

	if (room <= 0 || !lane)
		return room < 0 ? room : 0;
	target = stream ? lane_stream(s, image, e->context, e->cuda_stream)
			: lane_context(s, image, e->context);
	if (!target)
		return 0;
	if (e->kind == GRT_CUDA_SYNC_ORDER && !stream)
		return 0;
	s->orders += e->kind == GRT_CUDA_SYNC_ORDER;
	point = path_put(s, e->kind == GRT_CUDA_SYNC_ORDER ? PATH_ORDER : PATH_SYNC, lane, launch->begin, 0,
			 target);
	s->graph.point[point].inferred = e->kind == GRT_CUDA_SYNC_EVENT;
	return 0;
}

/* struct span - a piece of CUDA work */
struct span {
	uint64_t start;
	uint64_t end;
	uint32_t act;
	uint32_t lane;
	bool graph;
};

static int put_span(struct grt_path *s, const struct span *w, const struct grt_image *image,
		    const struct grt_launch *launch)
{
	bool is_short = path_clamp(s, w->end) <= path_clamp(s, w->start);
	uint32_t process = s->lane[s->lane[w->lane].in].in;
	uint32_t thread = launch ? path_lane_thread(s, image->pid, launch->tid) : PATH_NOBODY, point;
	uint32_t late = path_act_of(s, &(struct path_act){.kind = PATH_IS_LAUNCHED, .lane = process});

	if (thread)
		path_put(s, PATH_LAUNCH, thread, launch->begin, act_running(s, thread, 0),
			 s->graph.points + 1);
	point = path_put(s, PATH_WORK, w->lane, w->start, late, GRT_PATH_NONE);
	s->graph.point[point].inferred = !thread || w->graph;
	path_put(s, is_short ? PATH_SHORT_WORK_END : PATH_WORK_END, w->lane, w->end, w->act, GRT_PATH_NONE);
	return 0;
}

static int take_span(struct grt_path *s, struct span *w, const struct path_act *key,
		     const struct grt_image *image, const struct grt_launch *launch)
{
	int room = path_room(s, 3, w->start);

	if (!w->start || w->end < w->start)
		s->count.untimed++;
	if (room <= 0 || !w->start || w->end < w->start || !w->lane)
		return room < 0 ? room : 0;
	w->act = path_act_of(s, key);
	return put_span(s, w, image, launch);
}

static int take_kernel(struct grt_path *s, const struct grt_ev_gpu_kernel *e, const struct grt_image *image,
		       const struct grt_launch *launch)
{
	struct span w = {.start = e->start,
			 .end = e->end,
			 .graph = e->graph_node,
			 .lane = lane_stream(s, image, e->context, e->cuda_stream)};
	struct path_act key = {.kind = PATH_IS_KERNEL, .name = e->name, .image = image->number};

	if (w.lane) {
		s->lane[w.lane].gpu = e->gpu;
		key.lane = s->lane[s->lane[w.lane].in].in;
	}
	return take_span(s, &w, &key, image, launch);
}

static int take_copy(struct grt_path *s, const struct grt_ev_gpu_copy *e, const struct grt_image *image,
		     const struct grt_launch *launch)
{
	struct span w = {.start = e->start,
			 .end = e->end,
			 .graph = e->graph_node,
			 .lane = lane_stream(s, image, e->context, e->cuda_stream)};
	struct path_act key = {.kind = PATH_IS_COPY, .name = e->kind, .image = image->number};

	if (w.lane) {
		s->lane[w.lane].gpu = e->gpu;
		key.lane = s->lane[s->lane[w.lane].in].in;
	}
	return take_span(s, &w, &key, image, launch);
}

static int path_on_work(void *arg, const struct grt_event *e, const struct grt_image *image,
			const struct grt_launch *launch, enum grt_launched_how how)
{
	if (e->type == GRT_EV_GPU_KERNEL)
		return take_kernel(arg, (const struct grt_ev_gpu_kernel *)e, image, launch);
	if (e->type == GRT_EV_GPU_COPY)
		return take_copy(arg, (const struct grt_ev_gpu_copy *)e, image, launch);
	return launch ? take_sync(arg, (const struct grt_ev_gpu_sync *)e, image, launch) : 0;
}

/* ------------------------------------------------------------------ jobs */

static int take_wait_dep(struct grt_path *s, const struct grt_ev_wait_dep *e)
{
	uint32_t fence = e->e.ctx && e->dep_ctx ? path_fence_of(s, e->dep_ctx, e->dep_seqno) : GRT_PATH_NONE;
	struct job_deps *deps;
	int ret;

	if (fence == GRT_PATH_NONE)
		return 0;
	ret = grt_keyed_get_or_replace(&s->deps, &(struct grt_key){{e->e.ctx, e->e.seqno}}, &s->count.over,
				       (void **)&deps);
	if (ret)
		return ret;
	for (uint32_t i = 0; i < deps->n; i++)
		if (deps->fence[i] == fence)
			return 0;
	if (deps->n == DEPS_EACH)
		s->count.over++;
	else
		deps->fence[deps->n++] = fence;
	return 0;
}

/* A fence that belongs to no job. */
static int take_fence(struct grt_path *s, const struct grt_event *e)
{
	uint32_t fence = e->ctx ? path_fence_of(s, e->ctx, e->seqno) : GRT_PATH_NONE;
	uint32_t lane = path_lane_of(s, &(struct path_lane){.kind = PATH_RING, .id = GRT_RING_NONE});
	int room = path_room(s, 1, e->time);

	if (room <= 0 || fence == GRT_PATH_NONE || !lane)
		return room < 0 ? room : 0;
	if (s->fence[fence].done == GRT_PATH_NONE)
		s->fence[fence].done = path_put(s, PATH_FENCE, lane, e->time, 0, GRT_PATH_NONE);
	return 0;
}

/* A thread waits for a job, which is a call, too. */
static int take_wait(struct grt_path *s, const struct grt_event *e)
{
	uint32_t lane = path_lane_thread(s, e->pid, e->tid);
	uint32_t fence = e->ctx ? path_fence_of(s, e->ctx, e->seqno) : GRT_PATH_NONE, in;
	int room = path_room(s, 1, e->time);

	if (room <= 0 || !lane)
		return room < 0 ? room : 0;
	in = path_act_of(s, &(struct path_act){.kind = PATH_IS_CALL, .lane = lane});
	if (e->type == GRT_EV_SYNC_WAIT_ENTER)
		path_put(s, PATH_CALL, lane, e->time, act_running(s, lane, 0), in);
	else
		path_put(s, PATH_WAIT_END, lane, e->time, in, fence);
	return 0;
}

/*
 * Return: if the begin on the hardware was not recorded: when the job was committed, and the previous job on
 * its ring had ended.
 */
static uint64_t job_begin(const struct path_lane *ring, const struct grt_job *job, uint64_t end,
			  bool *inferred)
{
	uint64_t begin;

	*inferred = job->inferred >> GRT_STAMP_START & 1;
	if (job->seen >> GRT_STAMP_START & 1)
		return job->time[GRT_STAMP_START];
	*inferred = true;
	begin = job->seen >> GRT_STAMP_COMMIT & 1   ? job->time[GRT_STAMP_COMMIT]
		: job->seen >> GRT_STAMP_SUBMIT & 1 ? job->time[GRT_STAMP_SUBMIT]
						    : end;
	begin = ring->end > begin ? ring->end : begin;
	return begin < end ? begin : end;
}

static void put_deps(struct grt_path *s, const struct grt_job *job, uint32_t lane, uint64_t begin,
		     uint32_t act)
{
	struct job_deps *deps = grt_keyed_find(&s->deps, &(struct grt_key){{job->ctx, job->seqno}});

	for (uint32_t i = 0; deps && i < deps->n; i++)
		path_put(s, PATH_AFTER_FENCE, lane, begin, act, deps->fence[i]);
	if (deps)
		grt_keyed_remove(&s->deps, deps);
}

static void put_job(struct grt_path *s, const struct grt_job *job, uint32_t lane, uint32_t fence)
{
	uint32_t thread = job->seen & 1 << GRT_STAMP_SUBMIT && job->tid
				  ? path_lane_thread(s, job->pid, job->tid)
				  : PATH_NOBODY,
		 submit = GRT_PATH_NONE, point;
	uint64_t done = path_clamp(s, job->time[GRT_STAMP_COMPLETE]),
		 end = job->seen >> GRT_STAMP_END & 1 ? path_clamp(s, job->time[GRT_STAMP_END]) : done, begin;
	uint32_t queued = path_act_of(s, &(struct path_act){.kind = PATH_IS_QUEUED, .lane = lane});
	bool inferred;

	end = end < done ? end : done;
	begin = job_begin(&s->lane[lane], job, end, &inferred);
	begin = path_clamp(s, begin < end ? begin : end);
	s->lane[lane].end = end > s->lane[lane].end ? end : s->lane[lane].end;
	if (thread)
		submit = path_put(s, PATH_RAN, thread, job->time[GRT_STAMP_SUBMIT], act_running(s, thread, 0),
				  GRT_PATH_NONE);
	put_deps(s, job, lane, begin, queued);
	point = path_put(s, PATH_JOB, lane, begin, queued, submit);
	s->graph.point[point].inferred = inferred;
	point = path_put(
		s, end > begin ? PATH_JOB_END : PATH_SHORT_JOB_END, lane, end,
		path_act_of(s, &(struct path_act){.kind = PATH_IS_JOB, .lane = lane, .name = job->pid}),
		GRT_PATH_NONE);
	s->graph.point[point].inferred = !(job->seen >> GRT_STAMP_END & 1);
	point = path_put(s, end > begin || done > end ? PATH_JOB_DONE : PATH_SHORT_JOB_DONE, lane, done,
			 path_act_of(s, &(struct path_act){.kind = PATH_IS_SIGNAL, .lane = lane}),
			 path_lane_of(s, &(struct path_lane){.kind = PATH_PROCESS, .pid = job->pid}));
	if (fence != GRT_PATH_NONE)
		s->fence[fence].done = point;
}

int grt_path_job(struct grt_path *s, const struct grt_job *job)
{
	uint32_t lane = path_lane_of(
		s, &(struct path_lane){.kind = PATH_RING, .id = job->ring, .device = job->device});
	uint32_t fence = job->ctx ? path_fence_of(s, job->ctx, job->seqno) : GRT_PATH_NONE;
	int room = path_room(s, 4 + DEPS_EACH, grt_job_first(job));

	if (!(job->seen >> GRT_STAMP_COMPLETE & 1))
		s->count.untimed++;
	if (room <= 0 || !lane || !(job->seen >> GRT_STAMP_COMPLETE & 1) ||
	    (fence != GRT_PATH_NONE && s->fence[fence].done != GRT_PATH_NONE))
		return room < 0 ? room : 0;
	put_job(s, job, lane, fence);
	return s->error;
}

/* ---------------------------------------------------------------- events */

int grt_path_event(struct grt_path *s, const struct grt_event *e)
{
	int ret = 0;

	switch (e->type) {
	case GRT_EV_THREAD:
		return take_thread(s, (const struct grt_ev_thread *)e);
	case GRT_EV_ASLEEP:
		return take_off_cpu(s, (const struct grt_ev_asleep *)e);
	case GRT_EV_OFF_CPU:
		return take_off_cpu_short(s, e);
	case GRT_EV_FRAME:
	case GRT_EV_STACK_END:
	case GRT_EV_FRAME_PLACE:
	case GRT_EV_FRAME_TEXT:
		return grt_frames_event(&s->frames, e);
	case GRT_EV_SYNC_WAIT_ENTER:
	case GRT_EV_SYNC_WAIT_EXIT:
		return take_wait(s, e);
	case GRT_EV_WAIT_DEP:
		return take_wait_dep(s, (const struct grt_ev_wait_dep *)e);
	case GRT_EV_FENCE:
		return take_fence(s, e);
	case GRT_EV_LAUNCH:
		ret = take_call(s, (const struct grt_ev_launch *)e);
		break;
	case GRT_EV_PROCESS:
		ret = take_process(s, (const struct grt_ev_process *)e);
		break;
	}
	return ret ?: s->error ?: grt_launches_event(s->launches, e);
}

void grt_path_within(struct grt_path *s, uint64_t from, uint64_t to)
{
	s->from = from;
	s->to = to;
	grt_launches_within(s->launches, from, to);
}

int grt_path_new(struct grt_path **out)
{
	const struct grt_launches_sink sink = {.work = path_on_work,
					       .arg = calloc(1, sizeof(struct grt_path))};
	struct grt_path *s = sink.arg;

	*out = s;
	if (!s)
		return -ENOMEM;
	s->to = UINT64_MAX;
	s->graph.cut = UINT64_MAX;
	s->root = s->last = GRT_PATH_NONE;
	s->key = grt_hash_key_new();
	grt_keyed_init(&s->lanes_by, sizeof(uint32_t), GRT_PATH_LANES_MAX);
	grt_keyed_init(&s->deps, sizeof(struct job_deps), DEPS_MAX);
	if (grt_frames_init(&s->frames) || grt_image_frames_new(&s->image_frames) ||
	    grt_launches_new(&s->launches, &sink))
		return -ENOMEM;
	/* numbers 0 */
	path_lane_of(s, &(struct path_lane){.kind = PATH_NOBODYS});
	path_act_of(s, &(struct path_act){.kind = PATH_IS_BEFORE});
	return s->error;
}

/* ----------------------------------------------------------------- path */

/* Return: the end of the run: the end of the first process, or if it is unknown, the last point. */
static uint32_t path_find_end(const struct grt_path *s)
{
	uint32_t found = GRT_PATH_NONE;

	for (uint32_t i = s->graph.points; i-- > 0;) {
		uint32_t at = s->graph.order[i];
		const struct grt_path_point *p = &s->graph.point[at];

		if (p->time > s->graph.cut || s->lane[p->lane].tracer || p->mark == PATH_LAUNCH ||
		    p->mark == PATH_SYNC || p->mark == PATH_ORDER || p->mark == PATH_FENCE)
			continue;
		if (p->mark == PATH_GONE && p->lane == s->root)
			return at;
		if (found == GRT_PATH_NONE && (p->prev != GRT_PATH_NONE || p->mark != PATH_RAN))
			found = at;
	}
	return found;
}

static int path_add_segment(struct grt_path *s, const struct grt_path_segment *one)
{
	if (one->from == one->to)
		return 0;
	if (grt_grow(&s->segment, &s->segment_room, s->segments + 1, 256))
		return -ENOMEM;
	s->segment[s->segments++] = *one;
	return 0;
}

static int path_walk(struct grt_path *s)
{
	struct grt_path_segment one = {.from = s->end};
	uint32_t at = s->last;
	int ret = 0;

	while (at != GRT_PATH_NONE && !ret) {
		at = grt_path_graph_step(&s->graph, at, &one);
		ret = path_add_segment(s, &one);
	}
	if (!ret)
		ret = path_add_segment(s, &(struct grt_path_segment){s->first, one.from, GRT_PATH_NONE});
	for (uint64_t i = 0, j = s->segments; i + 1 < j; i++) {
		one = s->segment[i];
		s->segment[i] = s->segment[--j];
		s->segment[j] = one;
	}
	return ret;
}

static void path_sum_up(struct grt_path *s)
{
	for (uint64_t i = 0; i < s->segments; i++) {
		const struct grt_path_segment *one = &s->segment[i];
		const struct grt_path_point *p =
			one->point == GRT_PATH_NONE ? NULL : &s->graph.point[one->point];
		struct path_act *a = &s->act[p ? p->act : 0];

		a->path_ns += one->to - one->from;
		a->inferred_ns += p && p->inferred ? one->to - one->from : 0;
		a->pieces++;
	}
	for (uint32_t i = 0; i < s->graph.points; i++) {
		const struct grt_path_point *p = &s->graph.point[i];
		struct grt_path_segment one;

		grt_path_graph_step(&s->graph, i, &one);
		if (p->mark == PATH_LAUNCH || p->mark == PATH_SYNC || p->mark == PATH_ORDER)
			continue;
		s->act[p->act].ns += one.to - one.from;
		s->act[p->act].times += one.to > one.from;
	}
}

/* A call that waits for a context waits for each of its streams. */
static int path_add_streams(struct grt_path *s, uint32_t call)
{
	const struct grt_path_point p = s->graph.point[call];
	int room = path_room(s, s->lane[p.dep].streams, p.time);

	for (uint32_t i = s->lane[p.dep].stream; room > 0 && i; i = s->lane[i].stream)
		path_put(s, PATH_STREAM_DONE, p.dep, p.time, 0, i);
	return room < 0 ? room : 0;
}

static int path_add_all_streams(struct grt_path *s)
{
	uint32_t n = s->graph.points;
	int ret = 0;

	for (uint32_t i = 0; i < n && !ret; i++)
		if (s->graph.point[i].mark == PATH_CONTEXT_CALL_END &&
		    s->lane[s->graph.point[i].dep].streams > 1)
			ret = path_add_streams(s, i);
	return ret;
}

/* struct launched - work by its stream and launch */
struct launched {
	uint32_t lane;
	uint32_t work;
	uint64_t begin;
};

static int launched_compare(const void *a, const void *b)
{
	const struct launched *x = a, *y = b;

	return grt_compare(x->lane, y->lane)
	       ?: grt_compare(x->begin, y->begin)
	       ?: grt_compare(x->work, y->work);
}

static uint32_t path_list_launched(const struct grt_path *s, struct launched *list)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->graph.points; i++) {
		const struct grt_path_point *p = &s->graph.point[i];

		if (p->mark == PATH_LAUNCH)
			list[n++] = (struct launched){s->graph.point[p->dep].lane, p->dep, p->time};
	}
	qsort(list, n, sizeof(*list), launched_compare);
	return n;
}

/* The first work that a stream got at a moment or later; NULL: none */
static const struct launched *path_first_launched(const struct launched *list, uint32_t n, uint32_t lane,
						  uint64_t begin)
{
	uint32_t low = grt_bisect(n, i, launched_compare(&list[i], &(struct launched){lane, 0, begin}) < 0);

	return low < n && list[low].lane == lane ? &list[low] : NULL;
}

/* The first work of a stream after it was made to wait begins when the work for which it waits is over. */
static int path_add_orders(struct grt_path *s)
{
	uint32_t n = s->graph.points, launched;
	struct launched *list = s->orders ? malloc((size_t)n * sizeof(*list)) : NULL;
	int room = 1;

	if (!list)
		return s->orders ? -ENOMEM : 0;
	launched = path_list_launched(s, list);
	for (uint32_t i = 0; i < n && room >= 0; i++) {
		const struct grt_path_point p = s->graph.point[i];
		const struct launched *first = NULL;

		if (p.mark == PATH_ORDER)
			first = path_first_launched(list, launched, p.dep, p.time);
		room = first ? path_room(s, 1, p.time) : 1;
		if (first && room > 0)
			path_put(s, PATH_AFTER_ORDER, p.dep, s->graph.point[first->work].time, 0,
				 GRT_PATH_NONE);
	}
	free(list);
	return room < 0 ? room : 0;
}

int grt_path_finish(struct grt_path *s)
{
	int ret = grt_launches_flush(s->launches) ?: path_add_all_streams(s);

	ret = ret ?: path_add_orders(s) ?: grt_path_graph_sort(&s->graph);

	if (ret)
		return ret;
	path_join(s);
	s->last = path_find_end(s);
	if (s->last == GRT_PATH_NONE)
		return 0;
	s->first = s->graph.point[s->graph.order[0]].time;
	s->end = s->graph.point[s->last].time;
	ret = path_walk(s);
	path_sum_up(s);
	return ret;
}

uint64_t grt_path_if(struct grt_path *s, uint32_t act, uint32_t num, uint32_t den)
{
	struct grt_path_scale change = {act, num, den};

	return grt_path_graph_compute(&s->graph, s->last, &change) - s->first;
}

void grt_path_free(struct grt_path *s)
{
	if (!s)
		return;
	grt_path_graph_free(&s->graph);
	grt_launches_free(s->launches);
	grt_frames_free(&s->frames);
	grt_image_frames_free(s->image_frames);
	grt_keyed_free(&s->lanes_by);
	grt_keyed_free(&s->deps);
	grt_index_free(&s->act_index);
	grt_index_free(&s->fence_index);
	free(s->lane);
	free(s->ordered);
	free(s->act);
	free(s->fence);
	free(s->segment);
	free(s);
}
