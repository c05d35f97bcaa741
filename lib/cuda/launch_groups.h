/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * GPU work of CUDA, summed up by kernel, launching stack, stream, device or direction of
 * copies: its duration, the time from the call to its start, and the amount of work that
 * was queued before it.
 *
 * This takes some KiB for each group.
 */
#ifndef GRT_CUDA_LAUNCH_GROUPS_H
#define GRT_CUDA_LAUNCH_GROUPS_H

#include <grtrace/grtrace.h>

#include "base/busy.h"
#include "base/hist.h"
#include "stack/estimates.h"
#include "kernel_waits.h"
#include "launches.h"
#include "table/table.h"

/* Most groups; records of further groups are counted. */
#define GRT_LAUNCH_GROUPS_MAX 65536U

/** enum grt_launch_by - keys of groups */
enum grt_launch_by {
	GRT_LAUNCH_BY_KERNEL,
	GRT_LAUNCH_BY_STACK,
	GRT_LAUNCH_BY_STREAM,
	GRT_LAUNCH_BY_DEVICE,
	GRT_LAUNCH_BY_COPY,
	GRT_LAUNCH_BYS,
};

/**
 * struct grt_launch_group - a group of GPU work; what a kind of group does not have is 0
 * @image, @pid: number of the process image, and its process
 * @several: by device: the work is of several process images; @image and @pid are those of the first
 * @device: device of the group's first work; NULL: the group has only calls of probed functions
 * @process, @pid_text: name of the process, and @pid as text; set by grt_launch_groups_list()
 * @name: text of the kernel, stack or direction of copies; set by grt_launch_groups_list()
 * @brief: the frames of the stack that identify it best; set by grt_launch_groups_list()
 * @number: string of the kernel, node of the stack, or kind of the copy
 * @gpu, @context, @stream: where the work ran
 * @from, @to: the devices of a copy between two devices
 * @kernels, @copies: number of kernels, and of copies and fills
 * @probed: by stack: number of calls of probed functions
 * @untimed: kernels, copies and fills without time stamps or without an end
 * @bytes: bytes copied or set; without the @unsized copies and fills, whose size is unknown
 * @unsized_ns: time on the GPU of the @unsized ones
 * @placed: copies and fills whose kinds of memory are known
 * @pageable, @pageable_bytes: those of @placed from or to pageable memory, and their bytes
 * @timed_bytes: the part of @bytes with time stamps
 * @fits: number of kernels whose occupancy is known
 * @fits_sum: sum of their occupancies, in 1/100 000; @waves_sum: sum of their waves, in thousandths
 * @limits: bits of all limits of their occupancy, see occupancy.h
 * @exec: times on the GPU, ns; @latency: times from the call to the start on the GPU, ns
 * @before_call: records that started before their call by their time stamps, and have no latency
 * @busy: by stream and device: union of the times on the GPU within the span
 * @windows: if random windows of the process were recorded: sums for each window
 * @total, @part: estimates from @windows for the whole time: the group's work, and its part of all work; set
 *	by grt_launch_groups_estimate()
 * @depths, @depth_sum, @depth_max: by stream: number of calls, and the sum and maximum of the work of the
 *	stream that had not ended at the time of a call
 * @waits: by kernel: what its kernels waited for
 */
struct grt_launch_group {
	uint32_t image;
	uint32_t pid;
	bool several;
	const struct grt_device *device;
	const char *process;
	char pid_text[24];
	char *name;
	char *brief;
	uint32_t number;
	uint32_t gpu;
	uint32_t context;
	uint32_t stream;
	uint32_t from;
	uint32_t to;
	uint64_t kernels;
	uint64_t copies;
	uint64_t probed;
	uint64_t untimed;
	uint64_t bytes;
	uint64_t unsized;
	uint64_t unsized_ns;
	uint64_t placed;
	uint64_t pageable;
	uint64_t pageable_bytes;
	uint64_t timed_bytes;
	uint64_t fits;
	uint64_t fits_sum;
	unsigned __int128 waves_sum;
	uint32_t limits;
	struct grt_hist exec;
	struct grt_hist latency;
	uint64_t before_call;
	struct grt_busy busy;
	struct grt_estimate_sums windows;
	struct grt_estimate total;
	struct grt_estimate part;
	uint64_t depths;
	uint64_t depth_sum;
	uint64_t depth_max;
	struct grt_kernel_wait_sum waits;
};

struct grt_launch_groups;

/**
 * grt_launch_groups_new - makes an empty set of groups, to be freed by grt_launch_groups_free()
 * @launches: joins launches and work. The caller passes it the events of the trace, and keeps it as long as
 *	@out; its sink calls grt_launch_groups_work() and grt_launch_groups_nothing()
 * Return: 0 or -ENOMEM
 */
int grt_launch_groups_new(struct grt_launch_groups **out, enum grt_launch_by by,
			  struct grt_launches *launches);

/** grt_launch_groups_span - sets the span of the trace, as grt_groups_span() does */
void grt_launch_groups_span(struct grt_launch_groups *g, uint64_t first, uint64_t last);

/** grt_launch_groups_within - sets the examined time, that of grt_launches_within() */
void grt_launch_groups_within(struct grt_launch_groups *g, uint64_t from, uint64_t to);

/** grt_launch_groups_slice - processes an event; uses class slice. Return: 0 or -ENOMEM */
int grt_launch_groups_slice(struct grt_launch_groups *g, const struct grt_event *e,
			    const struct grt_names *names);

/** grt_launch_groups_work, grt_launch_groups_nothing - see struct grt_launches_sink. Return: 0 or -ENOMEM */
int grt_launch_groups_work(struct grt_launch_groups *g, const struct grt_event *e,
			   const struct grt_image *image, const struct grt_launch *launch,
			   enum grt_launched_how how);
int grt_launch_groups_nothing(struct grt_launch_groups *g, const struct grt_launch *launch);

/**
 * grt_launch_groups_list - lists the groups, most GPU time first, after grt_launches_flush()
 * @out: gets an array, which lives as long as @g
 * Return: their number, or -ENOMEM
 */
int64_t grt_launch_groups_list(struct grt_launch_groups *g, const struct grt_launch_group *const **out);

/** grt_launch_groups_recorded - the recorded part of the time from @from to @to, ns, see stack/estimates.h */
uint64_t grt_launch_groups_recorded(const struct grt_launch_groups *g, uint64_t from, uint64_t to);

/** grt_launch_groups_count - counts of joined records; complete after grt_launch_groups_list() */
struct grt_launches_count grt_launch_groups_count(const struct grt_launch_groups *g);

/**
 * struct grt_launch_watched - the random windows of all processes
 * @windows: number of windows that have ended; @missed: of those between them that were not recorded
 * @watched: time in these windows, ns; @of: the time that they represent, ns
 * @beside: kernels and copies whose launch was outside of the windows, and which are in no group
 */
struct grt_launch_watched {
	uint32_t windows;
	uint32_t missed;
	uint64_t watched;
	uint64_t of;
	uint64_t beside;
};

/**
 * grt_launch_groups_estimate - computes the estimates of all groups; after grt_launch_groups_list()
 * @out: gets the windows of which the estimates are made. Return: 0 or -ENOMEM
 */
int grt_launch_groups_estimate(struct grt_launch_groups *g, struct grt_launch_watched *out);

/** grt_launch_groups_over - Return: number of records without a group, because there were too many groups */
uint64_t grt_launch_groups_over(const struct grt_launch_groups *g);

/**
 * grt_launch_groups_waits_over - Return: slices and kernels beyond the limits, whose waits are not divided
 */
uint64_t grt_launch_groups_waits_over(const struct grt_launch_groups *g);

/** grt_launch_groups_free - frees it; NULL is allowed */
void grt_launch_groups_free(struct grt_launch_groups *g);

/**
 * struct grt_launch_view - data that the columns need
 * @total: GPU time of all groups, ns; @span: length of the trace, ns, 0: unknown; @names: names of processes
 */
struct grt_launch_view {
	uint64_t total;
	uint64_t span;
	const struct grt_names *names;
};

#endif /* GRT_CUDA_LAUNCH_GROUPS_H */
