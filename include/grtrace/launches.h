/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Launches and what the GPU did for them, joined by process image and correlation
 * id: nothing is guessed. Work of the GPU is handed out once it and its launch are
 * here; launches that nothing came of, and work that no launch is there for, at
 * the end of the trace. A call without an id has nothing to wait for, and goes at once.
 *
 * Memory is 18 bytes for each launch, 10 where nobody wants to know when it was made.
 */
#ifndef GRTRACE_LAUNCHES_H
#define GRTRACE_LAUNCHES_H

#include <grtrace/cuda_codes.h>
#include <grtrace/grtrace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A process image: what a process is from one execve() to the next. */
struct grt_image;

/** grt_image_string - a text, untrusted; NULL where it is not defined */
const char *grt_image_string(const struct grt_image *i, uint32_t number);

/**
 * struct grt_launch - a call
 * @image: the process image, whose strings grt_image_string() gives
 * @node: number of the innermost frame of its stack, see NODE in events.def; 0: none
 * @size: of this struct in the library; what lies behind it is not there
 * @call: for grt_cuda_call(); @kind: enum grt_cuda_kind
 * @begin: when it was made, ns
 * @failed: it returned an error
 * @captured: it became a node of a graph, and did not run
 * @origin: of work of a graph: the stack of the code that made the node, as @node; 0: none, or unknown
 * @range: ranges of NVTX that it was made in, see RANGE_NODE in events.def; 0: none
 * @first: for a sink's @work: this is the first work that is handed out of it
 */
struct grt_launch {
	const struct grt_image *image;
	uint64_t correlation;
	uint64_t begin;
	uint32_t node;
	uint32_t tid;
	uint32_t context;
	uint16_t size;
	uint16_t call;
	uint8_t kind;
	bool failed;
	bool captured;
	uint32_t origin;
	uint32_t range;
	bool first;
};

/** enum grt_launched_how - how a record of the GPU got its launch */
enum grt_launched_how {
	GRT_LAUNCHED_MATCHED, /* by correlation id */
	GRT_LAUNCHED_BY_GPU,  /* another kernel launched it: there is no call */
	GRT_LAUNCHED_UNKNOWN, /* the launch is not in the trace */
};

/**
 * struct grt_launches_sink - who wants to know
 * @work: GPU_KERNEL, GPU_COPY or GPU_SYNC @e; @launch is NULL but for MATCHED, @image is its process's
 * @no_begin: nobody wants to know when launches were made: it is 0
 * @nothing: a call of a function that was probed, or one that should have brought a kernel or graph, neither
 *	failed nor was captured, and of which no record is there
 * @work and @nothing may be NULL; a result other than 0 ends the run
 */
struct grt_launches_sink {
	int (*work)(void *arg, const struct grt_event *e, const struct grt_image *image,
		    const struct grt_launch *launch, enum grt_launched_how how);
	int (*nothing)(void *arg, const struct grt_launch *launch);
	void *arg;
	bool no_begin;
};

/**
 * struct grt_launches_count - what was met; all exact
 * @launches: LAUNCH records; @failed, @captured: of these, with an error, and into a graph
 * @launches_lost, @gpu_lost: that the programs themselves counted as lost
 * @kernels, @copies, @syncs: records of the GPU
 * @matched, @by_gpu, @unknown: of kernels and copies
 * @syncs_matched: of @syncs
 * @nothing: launches of kernels and graphs that nothing came of, though they neither failed nor were captured
 * @open: kernels and copies that had not ended
 * @no_stamps: records without stamps
 * @with_stack: kernels and copies whose launch has a stack of one frame or more; @stack_cut: of these, whose
 *	stack does not reach the thread's beginning; @stack_none: whose stack has no frame
 * @stacks: different stacks of launches, each process image for itself
 * @kernel_ns, @copy_ns: time on the GPU
 * @no_end: process images that did not see their own end: their last moments may be missing
 * @probed: calls of functions that a uprobe was asked for, which are LAUNCH records too
 * @doubled: LAUNCH records of an id that was there already; the first counts
 * @undefined: definitions of strings, nodes and mappings that were not believed or could not be kept
 */
struct grt_launches_count {
	uint64_t launches;
	uint64_t failed;
	uint64_t captured;
	uint64_t launches_lost;
	uint64_t gpu_lost;
	uint64_t kernels;
	uint64_t copies;
	uint64_t syncs;
	uint64_t matched;
	uint64_t by_gpu;
	uint64_t unknown;
	uint64_t syncs_matched;
	uint64_t nothing;
	uint64_t probed;
	uint64_t open;
	uint64_t no_stamps;
	uint64_t with_stack;
	uint64_t stack_cut;
	uint64_t stack_none;
	uint64_t stacks;
	uint64_t kernel_ns;
	uint64_t copy_ns;
	uint64_t no_end;
	uint64_t doubled;
	uint64_t undefined;
};

struct grt_launches;

/** grt_launches_new_sized - what grt_launches_new() calls; @size: of *@sink */
int grt_launches_new_sized(struct grt_launches **out, const struct grt_launches_sink *sink, size_t size);

/** grt_launches_new - begins; @sink is copied, NULL: only counts are wanted. Return: 0 or -ENOMEM */
static inline int grt_launches_new(struct grt_launches **out, const struct grt_launches_sink *sink)
{
	return grt_launches_new_sized(out, sink, sizeof(*sink));
}

/**
 * grt_launches_within - only this time counts: calls that were made, and work that was
 * done, in a part of it. What comes of a call inside may be outside, and the other
 * way round. To be called before the first event
 */
void grt_launches_within(struct grt_launches *l, uint64_t from, uint64_t to);

/** grt_launches_event - takes in an event of any type. Return: 0, -ENOMEM, or what a callback returned */
int grt_launches_event(struct grt_launches *l, const struct grt_event *e);

/** grt_launches_flush - the trace is over, or is so far: it may be called again after further events. Return: as above */
int grt_launches_flush(struct grt_launches *l);

/** grt_launches_count_sized - what grt_launches_count() calls; @size: of *@out */
void grt_launches_count_sized(const struct grt_launches *l, struct grt_launches_count *out, size_t size);

/** grt_launches_count - what was met; complete after grt_launches_flush() */
static inline struct grt_launches_count grt_launches_count(const struct grt_launches *l)
{
	struct grt_launches_count count;

	grt_launches_count_sized(l, &count, sizeof(count));
	return count;
}

/** grt_launches_free - frees it; NULL is allowed */
void grt_launches_free(struct grt_launches *l);

#ifdef __cplusplus
}
#endif

#endif /* GRTRACE_LAUNCHES_H */
