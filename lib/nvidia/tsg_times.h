/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The time for which NVIDIA's channel groups had a GPU: slices (GPU_SLICE) joined to
 * groups (TSG_*). Both have the driver's number of the channel, and the address of the
 * GPU. The driver counts channels over all GPUs, so a number comes again only after it
 * was loaded anew; then the channel that was made last, before the slice, has it. A channel of which the
 * trace does not have the making is of no group that is known: the slices of these are
 * summed up by process, so that all sums together are those of all slices.
 *
 * A change of a group's timeslice divides its slices: those that ended before it, those
 * that began after it, and one during which it came, which is of neither.
 */
#ifndef GRT_NVIDIA_TSG_TIMES_H
#define GRT_NVIDIA_TSG_TIMES_H

#include <grtrace/grtrace.h>

#include "base/hist.h"
#include "base/containers.h"
#include "table/table.h"

struct grt_names;
struct grt_notes;
struct grt_tsg;

/* Most groups and processes, and most changes; further ones are counted. */
#define GRT_TSG_TIMES_MAX 65536U

/** struct grt_tsg_lengths - lengths of slices whose begin and end are known */
struct grt_tsg_lengths {
	uint64_t n;
	uint64_t sum;
};

/**
 * struct grt_tsg_time - what a group had of a GPU, or the slices of a process that are of no group
 * @device, @instance: the GPU, and as of GPU_SLICE << 8 the instance of a divided one
 * @group: number of the group, see struct grt_tsg; UINT64_MAX: none
 * @tsg: as text, empty: none
 * @residency: ns; @came: number of times that a context of it came onto the GPU
 * @whole: slices whose begin and end are known
 * @since: time at which the context that is on the GPU came; 0: unknown
 * @met: it has a slice
 * @lengths: whole slices since the last change of its timeslice, @changed, if there was one
 * @change: number of that change, from 1
 */
struct grt_tsg_time {
	uint32_t device;
	uint32_t instance;
	uint32_t pid;
	uint64_t group;
	char tsg[24];
	uint64_t residency;
	uint64_t came;
	struct grt_hist whole;
	uint64_t since;
	bool met;
	uint64_t changed;
	struct grt_tsg_lengths lengths;
	uint32_t change;
};

/**
 * struct grt_tsg_change - a change of a group's timeslice that the driver did not refuse
 * @pid: process that changed it
 * @was, @now: the timeslice in us, 0: unknown
 * @born: the trace has the creation of the group, and so that of its channels; else its slices are not known
 * @before, @after: whole slices from the change before, and to the next one
 */
struct grt_tsg_change {
	uint64_t time;
	uint32_t pid;
	bool born;
	char tsg[24];
	uint64_t was;
	uint64_t now;
	struct grt_tsg_lengths before;
	struct grt_tsg_lengths after;
};

/**
 * struct grt_tsg_times - set up by grt_tsg_times_init()
 * @channels: groups by the driver's number of a channel and its GPU
 * @places: GPUs and instances
 * @rows: struct grt_tsg_time
 * @from, @to: nothing else counts; @first: beginning of the time looked at
 * @slices: all; @alone: those of no group; @late: those that began after their channel was freed
 * @over: slices, channels and changes beyond the limits
 */
struct grt_tsg_times {
	struct grt_keyed channels;
	struct grt_keyed places;
	struct grt_keyed rows;
	struct grt_tsg_change *change;
	uint32_t changes;
	uint32_t changes_room;
	uint64_t from;
	uint64_t to;
	uint64_t first;
	uint64_t slices;
	uint64_t alone;
	uint64_t late;
	uint64_t over;
	uint32_t budget;
};

/** struct grt_tsg_times_view - what rows are seen with; @last: end of the time looked at, 0: unknown */
struct grt_tsg_times_view {
	const struct grt_tsg_times *times;
	const struct grt_names *names;
	uint64_t last;
};

/** grt_tsg_times_init - begins without groups */
void grt_tsg_times_init(struct grt_tsg_times *t);

/**
 * grt_tsg_times_event - processes an event of a group, as it was before; uses TSG_CHANNEL and TSG_SET
 * Return: 0 or -ENOMEM
 */
int grt_tsg_times_event(struct grt_tsg_times *t, const struct grt_event *e, const struct grt_tsg *g);

/** grt_tsg_times_slice - processes a slice. Return: 0 or -ENOMEM */
int grt_tsg_times_slice(struct grt_tsg_times *t, const struct grt_ev_gpu_slice *e,
			const struct grt_names *names);

/**
 * grt_tsg_times_list - lists the groups and processes with slices: by GPU, groups before the rest, most time
 * first
 * @out: gets an array of pointers, which the caller frees
 * Return: their number, or -ENOMEM
 */
int64_t grt_tsg_times_list(const struct grt_tsg_times *t, const struct grt_tsg_time ***out);

/** grt_tsg_times_changes - ends the last period of each group. Return: the number of changes */
uint32_t grt_tsg_times_changes(struct grt_tsg_times *t);

/** grt_tsg_times_wall - the time that a row is a part of, ns */
uint64_t grt_tsg_times_wall(const struct grt_tsg_times_view *v, const struct grt_tsg_time *row);

/**
 * grt_tsg_times_write - writes both tables, and notes about slices that are in none
 * @last: as in struct grt_tsg_times_view
 * @most: the most rows of each table
 * Return: 0 or -ENOMEM
 */
int grt_tsg_times_write(struct grt_tsg_times *t, const struct grt_names *names, uint64_t last, uint64_t most,
			struct grt_writer *writer, struct grt_notes *notes);

/** grt_tsg_times_free - frees and empties it */
void grt_tsg_times_free(struct grt_tsg_times *t);

/* Rows are struct grt_tsg_time and struct grt_tsg_change, the view is struct grt_tsg_times_view. */
extern const struct grt_table grt_tsg_time_table;
extern const struct grt_table grt_tsg_change_table;

#endif /* GRT_NVIDIA_TSG_TIMES_H */
