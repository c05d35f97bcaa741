/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The critical path of a run: events become points of a graph (path_graph.h), the
 * points are joined at the end of the trace, and the path is found from the end of
 * the run backwards.
 *
 *	take	path_take.c: threads, calls, jobs, CUDA's work as points, as they come
 *	join	path_join.c: in the order of time, what each point follows from
 *	names	path_acts.c: lanes and activities, each once, and what people call them
 *
 * Memory is that of the graph, of cuda/launches.h, 40 bytes for each fence and some
 * hundred for each lane and activity.
 */
#ifndef GRT_PATH_PATH_RUN_H
#define GRT_PATH_PATH_RUN_H

#include <grtrace/grtrace.h>
#include <grtrace/jobs.h>

#include "base/containers.h"
#include "cuda/launches.h"
#include "path_graph.h"
#include "stack/frames.h"
#include "stack/image_frames.h"

enum path_mark {
#define GRT_PATH_MARK(rank, NAME, help) PATH_##NAME,
#include "path_marks.def"
#undef GRT_PATH_MARK
};

enum path_kind {
#define GRT_PATH_KIND(NAME, name, change, help) PATH_IS_##NAME,
#include "path_kinds.def"
#undef GRT_PATH_KIND
	PATH_KINDS,
};

/* The lane for points without a lane: no point precedes them. */
#define PATH_NOBODY 0U

enum path_lane_kind {
	PATH_NOBODYS,
	PATH_PROCESS,
	PATH_THREAD,
	PATH_CONTEXT,
	PATH_STREAM,
	PATH_RING,
};

/*
 * Limits: streams for which one stream waits at a time, and streams of a context that are searched for them.
 */
#define PATH_ORDERED 64U
#define PATH_LOOKED_AT 256U

/**
 * struct path_lane - a sequence of points in the order of time. What a kind of lane does not have is 0
 * @kind: enum path_lane_kind
 * @followed: of a thread: the recording has its intervals off the CPU
 * @tracer: of a thread: it belongs to grtrace
 * @inferred: @target is inferred
 * @pid: process
 * @id: number of the process, thread, context, stream or ring
 * @device: of a ring: its device
 * @context, @gpu: of a stream: its context and GPU
 * @streams: of a context: number of its streams
 * @stream: of a context: the lane of its last stream; of a stream: the lane of the stream before it
 * @image: of a context or stream: number of the process image
 * @in: the lane to which it belongs: a stream's context, a context's process
 * @end: of a ring: end of its last job, ns
 * @number: of a thread: number of its last interval off the CPU
 * @last: the last point so far; of a context: the last end of work of all its streams; of a process: the last
 *	end of work of any of its streams
 * @call: of a thread: the point at which its current call began; @in_call: the activity of this call
 * @target: of a thread: the lane for which its current call waits
 * @launched: of a stream: the point of its last work; of a thread: the end of the work of its current call
 * @ordered: of a stream: index plus 1 in grt_path.ordered of the work for which its next work waits; 0: none
 */
struct path_lane {
	uint8_t kind;
	bool followed;
	bool tracer;
	bool inferred;
	uint32_t pid;
	uint32_t id;
	uint32_t device;
	uint32_t context;
	uint32_t gpu;
	uint32_t streams;
	uint32_t stream;
	uint32_t image;
	uint32_t in;
	uint64_t end;
	uint64_t number;
	uint32_t last;
	uint32_t call;
	uint32_t in_call;
	uint32_t target;
	uint32_t launched;
	uint32_t ordered;
};

/**
 * struct path_ordered - ends of work of other streams for which a stream waits, at most one end per stream
 */
struct path_ordered {
	uint32_t work[PATH_ORDERED];
	uint32_t used;
};

/**
 * struct path_act - an activity; what a kind does not have is 0
 * @kind: enum path_kind
 * @state: enum grt_thread_state of a thread that did not run
 * @lane: the lane of the thread; of CUDA work, that of its process; of a job, that of its ring
 * @name: of a kernel: number of its string; of a copy: its kind; of a job: pid; of a thread: its call of CUDA
 * @stack: node of the stack, or id of the user stack
 * @image: number of the process image that has the node or string
 * @waker: tid of the thread that woke the thread
 * @ns, @times: time and number in the graph
 * @path_ns, @pieces, @inferred_ns: time, number of segments and inferred time on the path
 * @shorter: by how much the run would be shorter without it, ns, if @computed
 */
struct path_act {
	uint8_t kind;
	uint8_t state;
	bool computed;
	uint32_t lane;
	uint32_t name;
	uint32_t stack;
	uint32_t image;
	uint32_t waker;
	uint64_t ns;
	uint64_t times;
	uint64_t path_ns;
	uint64_t pieces;
	uint64_t inferred_ns;
	int64_t shorter;
};

/**
 * struct path_fence - the fence (@ctx, @seqno); @done: the point at which it was signalled, or GRT_PATH_NONE
 */
struct path_fence {
	uint64_t ctx;
	uint64_t seqno;
	uint32_t done;
};

/**
 * struct grt_path_count - counts of what is missing in the graph
 * @unfollowed: times a thread was woken by a thread whose intervals off the CPU are not recorded
 * @untimed: kernels, copies and jobs without time stamps, or without an end
 * @backwards: waits that ended before the work for which they waited, because the times are of two clocks
 * @unordered: waits of streams for other streams that exceeded PATH_ORDERED or PATH_LOOKED_AT
 * @over: lanes, activities, fences and dependencies beyond their limits
 * @lost: intervals of threads off the CPU whose records are missing
 */
struct grt_path_count {
	uint64_t unfollowed;
	uint64_t untimed;
	uint64_t backwards;
	uint64_t unordered;
	uint64_t over;
	uint64_t lost;
};

/**
 * struct grt_path - the graph, and the tables into which the numbers of its points refer
 * @from, @to: begin and end of the examined time, ns
 * @error: -ENOMEM if there was no memory for a lane, activity or fence
 * @orders: number of calls that made a stream wait for another one
 * @lane, @act, @fence: lanes, activities and fences by number; @lanes_by, @act_index, @fence_index find them
 * @ordered: see path_lane.ordered
 * @deps: dependencies of jobs
 * @segment: segments of the path in the order of time, after grt_path_finish()
 * @first, @end: begin and end of the path, ns
 * @last: the point at which the path ends
 */
struct grt_path {
	uint64_t from;
	uint64_t to;
	int error;
	uint64_t orders;
	struct grt_path_graph graph;
	struct grt_launches *launches;
	struct grt_frames frames;
	struct grt_image_frames *image_frames;
	struct grt_keyed lanes_by;
	struct path_lane *lane;
	uint32_t lanes, lane_room;
	struct grt_hash_key key;
	struct path_ordered *ordered;
	uint32_t ordereds, ordered_room;
	struct path_act *act;
	uint32_t acts, act_room;
	struct grt_index act_index;
	struct path_fence *fence;
	uint32_t fences, fence_room;
	struct grt_index fence_index;
	struct grt_keyed deps;
	struct grt_path_segment *segment;
	uint64_t segments, segment_room;
	uint64_t first;
	uint64_t end;
	uint32_t last;
	uint32_t root;
	struct grt_path_count count;
};

/* ------------------------------------------------------------- path_acts.c */

/**
 * path_lane_of - finds a lane, or makes it
 * Return: its number; PATH_NOBODY: there are too many lanes, or there is no memory (@s->error is set then)
 */
uint32_t path_lane_of(struct grt_path *s, const struct path_lane *key);

/** path_lane_thread - finds or makes the lane of a thread; @pid 0: unknown. Return: as path_lane_of() */
uint32_t path_lane_thread(struct grt_path *s, uint32_t pid, uint32_t tid);

/** path_act_of - finds or makes an activity. Return: its number; 0, which is BEFORE: there are too many */
uint32_t path_act_of(struct grt_path *s, const struct path_act *key);

/** path_fence_of - finds or makes a fence. Return: its number; GRT_PATH_NONE: there is no memory */
uint32_t path_fence_of(struct grt_path *s, uint64_t ctx, uint64_t seqno);

/** path_act_kind - Return: the name of the activity's kind */
const char *path_act_kind(const struct path_act *a);

/** path_act_changes - Return: whether the activity can be made shorter, see path_kinds.def */
bool path_act_changes(const struct path_act *a);

/**
 * path_act_text, path_lane_text - describe an activity or a lane for people
 * @out: gets a text for free(). Return: 0 or -ENOMEM
 */
int path_act_text(struct grt_path *s, const struct path_act *a, const struct grt_names *names, char **out);
int path_lane_text(struct grt_path *s, uint32_t lane, const struct grt_names *names, char **out);

/* ------------------------------------------------------------- path_join.c */

/** path_join - finds for each point the points from which it follows; all points exist and are sorted */
void path_join(struct grt_path *s);

/* ------------------------------------------------------------- path_take.c */

/** grt_path_new - begins. Return: 0 or -ENOMEM */
int grt_path_new(struct grt_path **out);

/** grt_path_within - sets the examined time; to be called before the first event */
void grt_path_within(struct grt_path *s, uint64_t from, uint64_t to);

/** grt_path_event - processes an event; uses classes thread, launch, image, stack, wait and dep. Return:
 * 0 or -ENOMEM */
int grt_path_event(struct grt_path *s, const struct grt_event *e);

/** grt_path_job - processes a job whose stamps are final. Return: 0 or -ENOMEM */
int grt_path_job(struct grt_path *s, const struct grt_job *job);

/** grt_path_finish - ends the trace, and finds the path. Return: 0 or -ENOMEM */
int grt_path_finish(struct grt_path *s);

/** grt_path_if - how long the run would be, after grt_path_finish(), if an activity took @num / @den of its
 * time */
uint64_t grt_path_if(struct grt_path *s, uint32_t act, uint32_t num, uint32_t den);

/** grt_path_free - frees it; NULL is allowed */
void grt_path_free(struct grt_path *s);

#endif /* GRT_PATH_PATH_RUN_H */
