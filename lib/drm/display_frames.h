/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Frames of displays, from the page flips and atomic commits that programs
 * requested (IOCTL_ENTER, IOCTL_EXIT) and their events (VBLANK_DELIVERED). A
 * client is a process that shows frames on a CRTC: one that flips itself, or
 * one whose jobs a compositor shows with its own flips.
 *
 * A frame's time is what the client's frame before it was shown for: from that
 * one's event to its own. It is divided without gap or overlap along the way
 * that led to the frame:
 *
 *	until the flip, or a composed client's last job   what the thread did
 *	until its job was complete			   gpu
 *	until the compositor flipped			   compositor
 *	until the fences of the flip were signalled	   gpu
 *	until the event					   display
 *
 * What is an identity and what is inferred: an event belongs to the one flip
 * that its file has pending on a CRTC, which the kernel allows one of; with
 * several CRTCs, or an event without a file, the flip is inferred. A frame's
 * job is the one whose fence the kernel waited for at the flip, or the
 * compositor's job depended on; else it is inferred: the last one submitted
 * before the flip, or before the compositor's first job.
 *
 * Memory: 300 bytes for each of GRT_FRAMES_MAX frames, 2 MiB for the last jobs, and what threads/sleeps.h
 *has.
 */
#ifndef GRT_DRM_DISPLAY_FRAMES_H
#define GRT_DRM_DISPLAY_FRAMES_H

#include <grtrace/grtrace.h>

#include "trace/names.h"

/* Frames that are kept; of further ones nothing but their number is known. */
#define GRT_FRAMES_MAX 131072U
/* Clients; the frames of further ones are counted. */
#define GRT_FRAME_CLIENTS 256U
/* Jobs and processes that are remembered; the oldest gives way. */
#define GRT_FRAME_JOBS 16384U
#define GRT_FRAME_PROCESSES 4096U
/* Flips whose events are awaited; the oldest gives way. */
#define GRT_FRAME_FLIPS 64U
/* Pairs of a process that flips and one that wakes it, or is woken by it; further ones are no clients. */
#define GRT_FRAME_PAIRS 256U

/* The parts of a frame's time are those of a thread's, see thread_states.def, and one more. */
#define GRT_FRAME_COMPOSITOR GRT_THREAD_STATES
#define GRT_FRAME_PARTS (GRT_THREAD_STATES + 1)

/**
 * struct grt_frame - one frame
 * @client: number of its client
 * @tid: of the thread that submitted its job, or flipped; 0: unknown
 * @flipper: process that flipped, 0: unknown
 * @number: among those of its client, from 1
 * @begin: when the frame before it was shown, 0: it is the first one
 * @present: the call that shows a frame after which the job came; 0: none is known
 * @submit, @job_ctx, @job_seqno, @job_end: the job that it shows, and when that was complete; 0: none, or
 * unknown
 * @flip: when the flip was requested, 0: unknown
 * @ready: when nothing but the display was missing any more: @flip, or the end of a fence that it waited for;
 * 0: unknown
 * @shown: when its event was delivered
 * @vseq: the CRTC's frame number, 0: the driver counts none
 * @missed: frame numbers since the frame before it in which nothing new was shown; valid with @counted
 * @part: what the time from @begin to @shown went to
 * @busy: that jobs of its process ran for in that time; several rings add up
 * @wait: the longest sleep in it, @waker, @waker_pid, @waker_comm: who ended that, 0: no thread
 * @cause: the part to blame; GRT_THREAD_UNKNOWN: not known
 * @late: it took half as long again as its client's median, or longer
 * @inferred: its flip was, @job_inferred: its job was
 */
struct grt_frame {
	uint32_t client;
	uint32_t tid;
	uint32_t flipper;
	uint32_t vseq;
	uint64_t number;
	uint64_t begin;
	uint64_t present;
	uint64_t submit;
	uint64_t job_ctx;
	uint64_t job_seqno;
	uint64_t job_end;
	uint64_t flip;
	uint64_t ready;
	uint64_t shown;
	uint32_t missed;
	bool counted;
	bool late;
	bool inferred;
	bool job_inferred;
	uint8_t cause;
	char waker_comm[17];
	uint64_t part[GRT_FRAME_PARTS];
	uint64_t busy;
	uint64_t wait;
	uint32_t waker;
	uint32_t waker_pid;
};

/**
 * struct grt_frame_client - who shows frames
 * @pid, @crtc: identity; @name: number of its thread's name in grt_display_frames_names()
 * @compositor: the process that flips for it, 0: it does itself
 * @frame, @n, @room: its frames in the order of time
 * @first, @last: when its first and its last frame was shown
 * @frames: all of them, also those that are not kept
 * @chained: of these, with flip and job, and the job's end where there is a job
 * @missed, @counted: sums over frames; @late: frames that were
 * @p50, @p95, @p99, @max: of the frames' times; valid with @n > 1
 * @typical: medians of the parts; @blamed: late frames by cause
 */
struct grt_frame_client {
	uint32_t pid;
	uint32_t crtc;
	uint32_t name;
	uint32_t number;
	uint32_t compositor;
	uint32_t last_vseq;
	struct grt_frame *frame;
	uint32_t n;
	uint32_t room;
	uint64_t first;
	uint64_t last;
	uint64_t frames;
	uint64_t chained;
	uint64_t missed;
	uint64_t counted;
	uint64_t late;
	uint64_t p50;
	uint64_t p95;
	uint64_t p99;
	uint64_t max;
	uint64_t typical[GRT_FRAME_PARTS];
	uint64_t blamed[GRT_FRAME_PARTS];
};

/**
 * struct grt_display_frames_count - what was met
 * @frames: of all clients
 * @inferred: of these, with an inferred flip; @job_inferred: with an inferred job
 * @no_flip: without a flip in the trace
 * @kernel: events that are of no client: the kernel's own
 * @lost: flips without an event
 * @over: frames that are not kept
 */
struct grt_display_frames_count {
	uint64_t frames;
	uint64_t inferred;
	uint64_t job_inferred;
	uint64_t no_flip;
	uint64_t kernel;
	uint64_t lost;
	uint64_t over;
};

struct grt_display_frames;
struct grt_job;

/** grt_display_frames_new - begins. Return: 0 or -ENOMEM */
int grt_display_frames_new(struct grt_display_frames **out);

/**
 * grt_display_frames_event - takes in an event; of use are classes vblank, call, job, wait, dep, thread,
 * launch and name
 * Return: 0 or -ENOMEM
 */
int grt_display_frames_event(struct grt_display_frames *d, const struct grt_event *e);

/** grt_display_frames_job - takes in what a job's times are. Return: 0 */
int grt_display_frames_job(struct grt_display_frames *d, const struct grt_job *job);

/** grt_display_frames_finish - the trace is over: medians, late frames, causes. Return: 0 or -ENOMEM */
int grt_display_frames_finish(struct grt_display_frames *d);

/** grt_display_frames_forget - frames that were shown before @time are as if they had never been, but for the
 * counts: for those who look at the last while */
void grt_display_frames_forget(struct grt_display_frames *d, uint64_t time);

/** grt_display_frames_client - by number; NULL: beyond the last */
const struct grt_frame_client *grt_display_frames_client(const struct grt_display_frames *d, uint32_t number);

/** grt_display_frames_names - names of threads */
const struct grt_names *grt_display_frames_names(const struct grt_display_frames *d);

/** grt_display_frames_count - what was met */
struct grt_display_frames_count grt_display_frames_count(const struct grt_display_frames *d);

/** grt_frame_time - how long it was waited for; 0: it is the first one */
static inline uint64_t grt_frame_time(const struct grt_frame *f)
{
	return f->begin ? f->shown - f->begin : 0;
}

/** grt_display_frames_free - frees it; NULL is allowed */
void grt_display_frames_free(struct grt_display_frames *d);

#endif /* GRT_DRM_DISPLAY_FRAMES_H */
