/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Joins launches and the GPU work for them, by process image and correlation id, never
 * by guessing. GPU work is passed on once both the work and its launch have been read;
 * launches without work, and work without a launch, at the end of the trace. A call
 * without an id has no work to wait for, and is passed on at once.
 *
 * Memory is 18 bytes per launch, or 10 if the sink does not need the time of launches, for about a million of
 * them. What is known of the others is in a file without a name in $TMPDIR, and takes 0.2 bytes of memory
 * each; where there is no room for the file, all of them stay in memory.
 */
#ifndef GRTRACE_LAUNCHES_H
#define GRTRACE_LAUNCHES_H

#include <grtrace/cuda_codes.h>
#include <grtrace/grtrace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A process image: a process from one execve() to the next. */
struct grt_image;

/** grt_image_string - a string of the image, untrusted; NULL: not defined */
const char *grt_image_string(const struct grt_image *i, uint32_t number);

/**
 * struct grt_launch - a call that launches work
 * @image: its process image; grt_image_string() returns strings of the image
 * @node: number of the innermost frame of its stack, see NODE in events.def; 0: none
 * @size: size of this struct in the library: members beyond it do not exist
 * @call: for grt_cuda_call(); @kind: enum grt_cuda_kind
 * @begin: time of the call, ns
 * @failed: the call returned an error
 * @captured: the call was captured into a CUDA graph and did not run
 * @origin: for work of a graph, the stack of the code that made the node, as @node; 0: none, or unknown
 * @range: NVTX ranges in which the call was made, see RANGE_NODE in events.def; 0: none
 * @first: for @work of a sink: this is the first work of the launch
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

/** enum grt_launched_how - how GPU work was joined to its launch */
enum grt_launched_how {
	GRT_LAUNCHED_MATCHED, /* by correlation id */
	GRT_LAUNCHED_BY_GPU,  /* another kernel launched it: there is no call */
	GRT_LAUNCHED_UNKNOWN, /* the launch is not in the trace */
};

/**
 * struct grt_launches_sink - callbacks that receive launches and GPU work
 * @work: GPU_KERNEL, GPU_COPY or GPU_SYNC @e; @launch is NULL except for MATCHED, @image is its process image
 * @no_begin: the sink does not need @begin of launches, which is then 0
 * @nothing: a call of a probed function; or a launch of a kernel or graph that neither failed nor was
 *	captured, and that has no GPU work in the trace
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
 * struct grt_launches_count - exact counts
 * @launches: LAUNCH records; @failed, @captured: calls among them that failed, or were captured into a graph
 * @launches_lost, @gpu_lost: records that the traced programs counted as lost
 * @kernels, @copies, @syncs: GPU records
 * @matched, @by_gpu, @unknown: kernels and copies by enum grt_launched_how
 * @syncs_matched: GPU_SYNC records joined to their call
 * @nothing: launches of kernels and graphs without GPU work that neither failed nor were captured
 * @open: kernels and copies that had not ended
 * @no_stamps: records without time stamps
 * @with_stack: kernels and copies whose launch has a stack of at least one frame; @stack_cut: those
 *	among them whose stack does not reach the start of its thread; @stack_none: those whose stack has
 *	no frame
 * @stacks: different stacks of launches, counted per process image
 * @kernel_ns, @copy_ns: time on the GPU
 * @no_end: process images that ended without a final write: their last events may be missing
 * @probed: calls of functions probed by a uprobe, which are LAUNCH records as well
 * @doubled: LAUNCH records with an id that an earlier one has; the first one counts
 * @undefined: definitions of strings, nodes and mappings that were invalid or could not be stored
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

/** grt_launches_new - creates a joiner; @sink is copied, NULL: only count. Return: 0 or -ENOMEM */
static inline int grt_launches_new(struct grt_launches **out, const struct grt_launches_sink *sink)
{
	return grt_launches_new_sized(out, sink, sizeof(*sink));
}

/**
 * grt_launches_within - counts only calls and work that are at least partly within this
 * time. The work of a call inside may be outside, and vice versa. Call it before the
 * first event
 */
void grt_launches_within(struct grt_launches *l, uint64_t from, uint64_t to);

/** grt_launches_event - processes an event of any type. Return: 0, -ENOMEM, or what a callback returned */
int grt_launches_event(struct grt_launches *l, const struct grt_event *e);

/** grt_launches_flush - ends the trace; may be called again after further events. Return: as above */
int grt_launches_flush(struct grt_launches *l);

/** grt_launches_count_sized - what grt_launches_count() calls; @size: of *@out */
void grt_launches_count_sized(const struct grt_launches *l, struct grt_launches_count *out, size_t size);

/** grt_launches_count - the counts; complete after grt_launches_flush() */
static inline struct grt_launches_count grt_launches_count(const struct grt_launches *l)
{
	struct grt_launches_count count;

	grt_launches_count_sized(l, &count, sizeof(count));
	return count;
}

/** grt_launches_free - frees the joiner; NULL is allowed */
void grt_launches_free(struct grt_launches *l);

#ifdef __cplusplus
}
#endif

#endif /* GRTRACE_LAUNCHES_H */
