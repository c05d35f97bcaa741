/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Tracks, see grtrace/tracks.h: bounds, and the numbers of their values. The
 * files of tracks.def, one per provider, define how events are drawn.
 */
#ifndef GRT_EXPORT_TRACKS_H
#define GRT_EXPORT_TRACKS_H

#include <grtrace/tracks.h>

#include "base/containers.h"

/* Most tracks, 272 bytes each; events without a track are counted. */
#define GRT_TRACKS_MAX 65536U
/* Tracks side by side for what overlaps. */
#define GRT_TRACKS_LANES_MAX 128U
/* Most names of slices and instants; later slices and instants have no name. */
#define GRT_TRACKS_NAMES_MAX 65536U
/* Values of one item. */
#define GRT_TRACK_ARGS_MAX 24U

/* Values that are no field of an event: GRT_TRACK_ARG(NAME, name). */
#define GRT_TRACK_ARGS(GRT_TRACK_ARG)                 \
	GRT_TRACK_ARG(CTX, ctx)                       \
	GRT_TRACK_ARG(SEQNO, seqno)                   \
	GRT_TRACK_ARG(PID, pid)                       \
	GRT_TRACK_ARG(TID, tid)                       \
	GRT_TRACK_ARG(T_SCHED, t_sched)               \
	GRT_TRACK_ARG(T_QUEUE, t_queue)               \
	GRT_TRACK_ARG(T_COMPLETE, t_complete)         \
	GRT_TRACK_ARG(WAITS, waits)                   \
	GRT_TRACK_ARG(WAIT_NS, wait_ns)               \
	GRT_TRACK_ARG(SAMPLE, sample)                 \
	GRT_TRACK_ARG(INFERRED, inferred)             \
	GRT_TRACK_ARG(START_INFERRED, start_inferred) \
	GRT_TRACK_ARG(END_INFERRED, end_inferred)     \
	GRT_TRACK_ARG(CUT, end_not_in_trace)          \
	GRT_TRACK_ARG(LOST_EVENTS, lost_events)       \
	GRT_TRACK_ARG(MEANING, meaning)               \
	GRT_TRACK_ARG(DEVICE, device)                 \
	GRT_TRACK_ARG(STREAM, stream)                 \
	GRT_TRACK_ARG(FIELDS_OF, payload_fields)

enum grt_track_arg_id {
#define GRT_TRACK_ARG(NAME, name) GRT_TRACK_ARG_##NAME,
	GRT_TRACK_ARGS(GRT_TRACK_ARG)
#undef GRT_TRACK_ARG
		GRT_TRACK_ARG_FIELDS, /* fields of events have the numbers from here on */
};

/* The most numbers of values, few enough for small tables by number. */
#define GRT_TRACK_ARG_IDS_MAX 512U

/* GPUs of a timeline, as grt_track.gpu counts them; queues of more have none. */
#define GRT_TRACKS_GPUS_MAX 4096U
#define GRT_TRACKS_GPU_NAME 160U

struct grt_device;
struct grt_filter;

/**
 * struct grt_tracks_gpu - a GPU of the timeline
 * @name: untrusted, ends
 * @bus: as bus.h has it, UINT32_MAX: unknown
 * @cuda: what CUDA says about it, NULL: nothing
 * @model: its name by @cuda, untrusted; NULL: none
 */
struct grt_tracks_gpu {
	char name[GRT_TRACKS_GPU_NAME];
	uint32_t bus;
	const struct grt_ev_device *cuda;
	const char *model;
};

/**
 * grt_tracks_within - before the first event: only what is at least partly from @from to @to is drawn, as a
 * whole. It needs the events of jobs and the late records that are outside of this time, too.
 */
void grt_tracks_within(struct grt_tracks *t, uint64_t from, uint64_t to);

/** grt_tracks_filter - draws only what @filter selects, and the jobs among those that it delivers; see @whole
 * there */
void grt_tracks_filter(struct grt_tracks *t, const struct grt_filter *filter);

/**
 * grt_tracks_gpus - Return: number of GPUs; grt_tracks_gpu - gets one of them, from 1. Return: false: there
 * is none
 */
uint32_t grt_tracks_gpus(const struct grt_tracks *t);
bool grt_tracks_gpu(const struct grt_tracks *t, uint32_t number, struct grt_tracks_gpu *out);

#endif /* GRT_EXPORT_TRACKS_H */
