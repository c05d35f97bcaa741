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

#include "base/keyed.h"
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

/* The lane of what has none: its points follow from nothing. */
#define PATH_NOBODY 0U

enum path_lane_kind {
	PATH_NOBODYS,
	PATH_PROCESS,
	PATH_THREAD,
	PATH_CONTEXT,
	PATH_STREAM,
	PATH_RING,
};

/* The most streams that one stream waits for at a time, and the most streams of a context that are searched
 * for them. */
#define PATH_ORDERED 64U
#define PATH_LOOKED_AT 256U

/**
 * struct path_lane - a sequence of points in the order of time
 * @id: of the process, thread, context, stream or ring
 * @device: a ring's; @context, @gpu: a stream's
 * @streams: how many a context has, of which @stream is the last; of a stream @stream is the one before
 * @image: number of the process image, of contexts and streams
 * @in: the lane that it is part of
 * @followed: a thread's records say when it ran; @tracer: it is grtrace's own
 * @end: of the last job that was taken in, ns
 * @last: the last point so far; of contexts, the last
 *	end of all work, of processes of any
 * @number: of a thread's last interval off the CPU
 * @call: the call that a thread is in, @in_call: which is this activity; @target: the lane that it waits for;
 *	@inferred: which is not sure
 * @launched: the last work of a stream; the end of the work of the call that a thread is in
 * @ordered: number of the work of others that the next work of a stream is to wait for, plus 1; 0: none yet
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

/** struct path_ordered - the end of such work, of each stream the last; @used: how many there are */
struct path_ordered {
	uint32_t work[PATH_ORDERED];
	uint32_t used;
};

/**
 * struct path_act - an activity; what a kind does not have is 0
 * @lane: of a thread; of CUDA's work, its process; of a job, its ring
 * @name: string of a kernel, kind of a copy, pid of a job, what a thread called (and then, or in which)
 * @stack: node, or id of the user stack; @image: number of the process image whose node or string it is
 * @state: enum grt_thread_state
 * @waker: tid
 * @ns, @times: in the graph; @path_ns, @pieces, @inferred_ns: on the path
 * @shorter: what the run would be shorter by; @computed: it was computed
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

struct path_fence {
	uint64_t ctx;
	uint64_t seqno;
	uint32_t done;
};

/**
 * struct grt_path_count - counts of what is missing in the graph
 * @unfollowed: threads that woke others and are not followed: what these did is unknown
 * @untimed: kernels, copies and jobs without stamps, or without an end
 * @backwards: what waited had ended before what it waited for, by stamps of two clocks
 * @unordered: waits of streams for others, too many of them to follow
 * @over: lanes, activities, fences and dependencies beyond their limits
 * @lost: intervals of threads whose records are missing
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
 * struct grt_path - the graph and what its numbers mean
 * @from, @to: begin and end of the examined time, ns
 * @orders: streams were told to wait for others so often
 * @error: there was no memory for a lane, activity or fence
 * @segment: of the path in the order of time, after grt_path_finish()
 * @first, @end: of the path, ns; @last: the point that it ends with
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

/** path_lane_of - the lane of a key. Return: its number, PATH_NOBODY where there are too many, or no memory
 */
uint32_t path_lane_of(struct grt_path *s, const struct path_lane *key);

/** path_lane_thread - the lane of a thread, as above; @pid 0: of any process */
uint32_t path_lane_thread(struct grt_path *s, uint32_t pid, uint32_t tid);

/** path_act_of - an activity's number; 0, which is BEFORE, where there are too many */
uint32_t path_act_of(struct grt_path *s, const struct path_act *key);

/** path_fence_of - the number of a fence; GRT_PATH_NONE where there is no memory */
uint32_t path_fence_of(struct grt_path *s, uint64_t ctx, uint64_t seqno);

/** path_act_kind - in a word; path_act_changes: see path_kinds.def */
const char *path_act_kind(const struct path_act *a);
bool path_act_changes(const struct path_act *a);

/** path_act_text, path_lane_text - for people; @out gets a text for free(). Return: 0 or -ENOMEM */
int path_act_text(struct grt_path *s, const struct path_act *a, const struct grt_names *names, char **out);
int path_lane_text(struct grt_path *s, uint32_t lane, const struct grt_names *names, char **out);

/* ------------------------------------------------------------- path_join.c */

/** path_join - all points are there and sorted: what each follows from */
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
