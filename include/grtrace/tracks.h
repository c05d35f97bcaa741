/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Converts a trace into tracks, which timelines (Perfetto, Chrome) draw, in one pass and bounded
 * memory. A track is created when its first item is drawn:
 *
 *	process			the process itself and its threads
 *	  thread		ioctls and waits as slices, other events as instants
 *	  off the CPU		for each thread, what it waited for
 *	  channel group		from its creation to its destruction
 *	  CUDA calls, streams	launches, and the GPU work for them
 *	  HIP calls, runtime,	from the log of AMD's runtime: its calls, and packets
 *	  hardware queues	written into its queues
 *	  kernel functions	of a thread, from ftrace
 *	device			a GPU
 *	  ring			a slice for each job, from START to END
 *	  counter
 *	losses			by CPU
 *
 * Guarantees: on one track, time never goes back and slices nest; jobs that overlap
 * on a ring go to several lanes, which are tracks of the same name. A job comes when
 * no further event can change it, so different tracks are at different times.
 */
#ifndef GRTRACE_TRACKS_H
#define GRTRACE_TRACKS_H

#include <grtrace/grtrace.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum grt_track_kind - kinds of tracks */
enum grt_track_kind {
	GRT_TRACK_GROUP, /* nothing is drawn on it: it holds others */
	GRT_TRACK_PROCESS,
	GRT_TRACK_THREAD,
	GRT_TRACK_SLICES,
	GRT_TRACK_COUNTER,
};

/**
 * struct grt_track - a track; it may be announced again with another name
 * @size: size of this struct in the library: members beyond it do not exist
 * @id: from 1, ascending
 * @parent: 0: none
 * @pid, @tid: of processes, threads, and what belongs to them
 * @lane: counts the tracks side by side, from 0
 * @name: untrusted, may be empty
 * @unit: of a counter, may be empty; untrusted
 * @queue: for a queue of a GPU (a ring, a CUDA stream, the contexts of a GPU): the track of its first
 *	lane; 0: not a queue. A queue has only complete slices
 * @gpu: for a queue: number of its GPU in the timeline, from 1; 0: unknown
 * @context: for a CUDA stream: number of its context in its process
 * @hip: for a queue of a process: its work was launched by HIP, not by CUDA
 */
struct grt_track {
	uint32_t size;
	uint32_t id;
	uint32_t parent;
	enum grt_track_kind kind;
	uint32_t pid;
	uint32_t tid;
	uint32_t lane;
	const char *name;
	const char *unit;
	uint32_t queue;
	uint32_t gpu;
	uint32_t context;
	bool hip;
};

/** enum grt_track_value - kinds of values */
enum grt_track_value {
	GRT_TRACK_U64,
	GRT_TRACK_HEX,
	GRT_TRACK_S64,
	GRT_TRACK_BOOL,
	GRT_TRACK_TEXT, /* untrusted */
};

/**
 * struct grt_track_arg - a value of an item
 * @id: id of its name, see grt_tracks_arg_name()
 * @kind: enum grt_track_value
 * @length: maximum length of @text, bytes
 */
struct grt_track_arg {
	uint16_t id;
	uint16_t kind;
	uint32_t length;
	union {
		uint64_t number;
		const char *text;
	};
};

/** enum grt_track_item_kind - kinds of items */
enum grt_track_item_kind {
	GRT_ITEM_BEGIN,
	GRT_ITEM_END, /* ends the slice begun last on the track, which gets its values */
	GRT_ITEM_SLICE,
	GRT_ITEM_INSTANT,
	GRT_ITEM_COUNTER,
};

/* What items are about: GRT_TRACK_CATEGORY(NAME, name), added at the end only. CUDA's are called as PyTorch's
 * profiler does. */
#define GRT_TRACK_CATEGORIES(GRT_TRACK_CATEGORY)      \
	GRT_TRACK_CATEGORY(JOB, job)                  \
	GRT_TRACK_CATEGORY(SUBMIT, submit)            \
	GRT_TRACK_CATEGORY(IOCTL, ioctl)              \
	GRT_TRACK_CATEGORY(WAIT, wait)                \
	GRT_TRACK_CATEGORY(EVENT, event)              \
	GRT_TRACK_CATEGORY(TSG, tsg)                  \
	GRT_TRACK_CATEGORY(LOSS, loss)                \
	GRT_TRACK_CATEGORY(COUNTER, counter)          \
	GRT_TRACK_CATEGORY(RUNTIME, cuda_runtime)     \
	GRT_TRACK_CATEGORY(DRIVER, cuda_driver)       \
	GRT_TRACK_CATEGORY(KERNEL, kernel)            \
	GRT_TRACK_CATEGORY(COPY, gpu_memcpy)          \
	GRT_TRACK_CATEGORY(SET, gpu_memset)           \
	GRT_TRACK_CATEGORY(OVERHEAD, overhead)        \
	GRT_TRACK_CATEGORY(HIP, hip)                  \
	GRT_TRACK_CATEGORY(FUNC, func)                \
	GRT_TRACK_CATEGORY(CONTEXT, context)          \
	GRT_TRACK_CATEGORY(RANGE, user_annotation)    \
	GRT_TRACK_CATEGORY(MIGRATION, unified_memory) \
	GRT_TRACK_CATEGORY(OS, os_runtime)

enum grt_track_category {
#define GRT_TRACK_CATEGORY(NAME, name) GRT_CATEGORY_##NAME,
	GRT_TRACK_CATEGORIES(GRT_TRACK_CATEGORY)
#undef GRT_TRACK_CATEGORY
		GRT_CATEGORIES,
};

/**
 * struct grt_track_item - a slice, its begin or end, an instant, or a value of a counter
 * @kind: enum grt_track_item_kind
 * @category: enum grt_track_category
 * @size: size of this struct in the library: members beyond it do not exist
 * @track: id of the track
 * @name: for grt_tracks_name()
 * @time: CLOCK_MONOTONIC ns
 * @end: end of a slice
 * @value: value of a counter
 * @flow_out, @flow_in: an arrow goes from the item with @flow_out to that with
 *	the same number as @flow_in; 0: none
 * @pid: of a slice on a queue: its process, 0: unknown
 * @linked: of a kernel: its name as the linker knows it; 0: the same as @name
 * @number: of a slice on a queue: a unique number, equal to @flow_in if it has one
 * @wait, @waits: @number of the items that had to end before this one could begin, or before this
 *	wait could end
 * @set: of a slice on a queue: items with the same number have the same @category, @name, @linked, @pid and
 *	values, but for the number that is @arg[@varies]; 0: nothing is known about that
 */
struct grt_track_item {
	uint8_t kind;
	uint8_t category;
	uint16_t size;
	uint32_t track;
	uint32_t name;
	unsigned int args;
	uint64_t time;
	uint64_t end;
	int64_t value;
	uint64_t flow_out;
	uint64_t flow_in;
	const struct grt_track_arg *arg;
	uint32_t pid;
	uint32_t linked;
	uint64_t number;
	const uint64_t *wait;
	uint32_t waits;
	uint32_t varies;
	uint64_t set;
};

/**
 * struct grt_tracks_sink - callbacks that receive tracks and items, which are valid only
 * during the call; a non-zero result ends the run
 */
struct grt_tracks_sink {
	int (*track)(void *arg, const struct grt_track *track);
	int (*item)(void *arg, const struct grt_track_item *item);
	void *arg;
};

/**
 * struct grt_tracks_count - counts of items that were drawn, or not
 * @size: size of this struct in the library: members beyond it do not exist
 * @slices, @instants, @values: items drawn
 * @jobs: slices that are jobs
 * @undrawn: jobs without START or END, or with END before START; kernels and copies
 *	without time stamps
 * @inferred: jobs drawn with an inferred START or END
 * @sampled: jobs drawn that stand for several jobs
 * @half: ends whose begin is not in the trace
 * @cut: begins whose end is not in the trace
 * @over: items without a track, because there were too many tracks
 * @back: items not drawn because time would go back on their track
 * @ended: counters that ended before the trace did: their last value is drawn to the end
 */
struct grt_tracks_count {
	uint64_t size;
	uint64_t slices;
	uint64_t instants;
	uint64_t values;
	uint64_t jobs;
	uint64_t undrawn;
	uint64_t inferred;
	uint64_t sampled;
	uint64_t half;
	uint64_t cut;
	uint64_t over;
	uint64_t back;
	uint64_t ended;
};

struct grt_tracks;

/** grt_tracks_new_sized - what grt_tracks_new() calls; @size: of *@sink */
int grt_tracks_new_sized(struct grt_tracks **out, const struct grt_tracks_sink *sink, size_t size);

/** grt_tracks_new - creates a converter; @sink is copied. Return: 0 or -ENOMEM */
static inline int grt_tracks_new(struct grt_tracks **out, const struct grt_tracks_sink *sink)
{
	return grt_tracks_new_sized(out, sink, sizeof(*sink));
}

/** grt_tracks_packet - processes the event counts of a packet. Return: 0, what the sink returned, or -ENOMEM
 */
int grt_tracks_packet(struct grt_tracks *t, const struct grt_packet *p);

/** grt_tracks_event - processes an event of any type. Return: as above */
int grt_tracks_event(struct grt_tracks *t, const struct grt_event *e);

/** grt_tracks_end - ends the trace: draws all unfinished items. Return: as above */
int grt_tracks_end(struct grt_tracks *t);

/** grt_tracks_name - a name of an item, untrusted, "" for 0; grt_tracks_name_length - its bytes */
const char *grt_tracks_name(const struct grt_tracks *t, uint32_t name);
uint32_t grt_tracks_name_length(const struct grt_tracks *t, uint32_t name);

/** grt_tracks_arg_name - name of a value: a C identifier */
const char *grt_tracks_arg_name(const struct grt_tracks *t, uint32_t id);

/** grt_tracks_category - name of a category */
const char *grt_tracks_category(unsigned int category);

/** grt_tracks_count - the counts so far */
const struct grt_tracks_count *grt_tracks_count(const struct grt_tracks *t);

/** grt_tracks_free - frees the converter; NULL is allowed */
void grt_tracks_free(struct grt_tracks *t);

#ifdef __cplusplus
}
#endif

#endif /* GRTRACE_TRACKS_H */
