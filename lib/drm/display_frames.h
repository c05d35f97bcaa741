/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Frames of displays, from the page flips and atomic commits that programs
 * requested (IOCTL_ENTER, IOCTL_EXIT) and their events (VBLANK_DELIVERED). A
 * client is a process that shows frames on a CRTC: one that flips itself, or
 * one whose jobs a compositor shows with its own flips.
 *
 * The time of a frame is the time for which the client's previous frame was shown: from the event
 * of the previous frame to its own. It is divided without gap or overlap along the way
 * to the frame:
 *
 *	until the flip, or a composed client's last job   states of the thread
 *	until its job was complete			   gpu
 *	until the compositor flipped			   compositor
 *	until the fences of the flip were signalled	   gpu
 *	until the event					   display
 *
 * Joins by identity, and inferred ones: an event belongs to the pending flip of its
 * file on a CRTC, of which the kernel allows only one. With several CRTCs, or for an
 * event without a file, the flip is inferred. The job of a frame is the job whose fence
 * the kernel waited for at the flip, or on which the compositor's job depended.
 * Otherwise it is inferred: the last job submitted before the flip, or before the
 * compositor's first job.
 *
 * Memory: 300 bytes for each of GRT_FRAMES_MAX frames, 2 MiB for the last jobs, and the memory of
 * threads/threads.h.
 */
#ifndef GRT_DRM_DISPLAY_FRAMES_H
#define GRT_DRM_DISPLAY_FRAMES_H

#include <grtrace/grtrace.h>

#include "trace/names.h"

/* Most frames that are kept; further frames are only counted. */
#define GRT_FRAMES_MAX 131072U
/* Most clients; the frames of further clients are counted. */
#define GRT_FRAME_CLIENTS 256U
/* Most recent jobs and processes that are kept; the oldest is replaced. */
#define GRT_FRAME_JOBS 16384U
/* Events of jobs that are kept while nothing is shown: those of the jobs that would be known. */
#define GRT_FRAME_EARLY (2 * GRT_FRAME_JOBS)
#define GRT_FRAME_PROCESSES 4096U
/* Most pending flips; the oldest is replaced. */
#define GRT_FRAME_FLIPS 64U
/*
 * Most pairs of a process that flips and a process that wakes it, or is woken by it; processes of further
 * pairs are no clients.
 */
#define GRT_FRAME_PAIRS 256U

/* The parts of a frame's time are the states of a thread, see thread_states.def, and this one. */
#define GRT_FRAME_COMPOSITOR GRT_THREAD_STATES
#define GRT_FRAME_PARTS (GRT_THREAD_STATES + 1)

/**
 * struct grt_frame - one frame
 * @client: number of its client
 * @tid: the thread that submitted its job, or requested the flip; 0: unknown
 * @flipper: process that flipped, 0: unknown
 * @number: number among the frames of its client, from 1
 * @begin: when the previous frame was shown, 0: it is the first one, or the event of the previous one was
 * lost
 * @present: the present call before the job; 0: unknown
 * @submit, @job_ctx, @job_seqno, @job_end: the job that it shows, and when the job was complete; 0: none, or
 * unknown
 * @flip: when the flip was requested, 0: unknown
 * @ready: when the frame only had to wait for the display: @flip, or the end of a fence that it waited for;
 * 0: unknown
 * @shown: when its event was delivered
 * @vseq: the CRTC's frame number, 0: the driver counts none
 * @missed: frame numbers since the previous frame in which nothing new was shown; valid with @counted
 * @part: parts of the time from @begin to @shown
 * @busy: time in which jobs of its process ran in this time; several rings add up
 * @wait: the longest sleep in it, @waker, @waker_pid, @waker_comm: the thread that ended the sleep, 0: none
 * @cause: the part that is the cause; GRT_THREAD_UNKNOWN: unknown
 * @late: it took at least 1.5 times its client's median
 * @inferred: its flip was inferred, @job_inferred: its job was inferred
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
 * struct grt_frame_client - a process that shows frames
 * @pid, @crtc: identity; @name: number of its thread's name in grt_display_frames_names()
 * @compositor: the process that flips for it, 0: it flips itself
 * @frame, @n, @room: its frames, in order of time
 * @last: when its last frame was shown
 * @frames: number of all frames, including frames that are not kept; @timed: those with a time, @time: its
 * sum
 * @chained: number of frames with a flip, and a job with its end if they have a job
 * @missed, @counted: sums over frames; @late: number of late frames
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
	uint64_t last;
	uint64_t frames;
	uint64_t timed;
	uint64_t time;
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
 * struct grt_display_frames_count - counts
 * @frames: frames of all clients
 * @inferred: frames with an inferred flip; @job_inferred: with an inferred job
 * @no_flip: frames without a flip in the trace
 * @kernel: events without a client: the kernel's own
 * @lost: flips without an event
 * @over: frames that are not kept
 * @early: events of jobs before the first sign of a display that were not kept, because GRT_FRAME_EARLY more
 *	followed; 0 also while there was no such sign
 */
struct grt_display_frames_count {
	uint64_t frames;
	uint64_t inferred;
	uint64_t job_inferred;
	uint64_t no_flip;
	uint64_t kernel;
	uint64_t lost;
	uint64_t over;
	uint64_t early;
};

struct grt_display_frames;
struct grt_job;

/** grt_display_frames_new - begins. Return: 0 or -ENOMEM */
int grt_display_frames_new(struct grt_display_frames **out);

/**
 * grt_display_frames_event - processes an event; uses the classes vblank, call, job, wait, dep, thread,
 * launch and name
 * Return: 0 or -ENOMEM
 */
int grt_display_frames_event(struct grt_display_frames *d, const struct grt_event *e);

/** grt_display_frames_job - processes the times of a job. Return: 0 */
int grt_display_frames_job(struct grt_display_frames *d, const struct grt_job *job);

/**
 * grt_display_frames_finish - computes medians, late frames and causes at the end of the trace. Return: 0 or
 * -ENOMEM
 */
int grt_display_frames_finish(struct grt_display_frames *d);

/**
 * grt_display_frames_forget - drops the frames that were shown before @time, except from the counts: for
 * views of recent time
 */
void grt_display_frames_forget(struct grt_display_frames *d, uint64_t time);

/** grt_display_frames_client - a client by number; NULL: after the last one */
const struct grt_frame_client *grt_display_frames_client(const struct grt_display_frames *d, uint32_t number);

/** grt_display_frames_names - names of threads */
const struct grt_names *grt_display_frames_names(const struct grt_display_frames *d);

/** grt_display_frames_count - the counts */
struct grt_display_frames_count grt_display_frames_count(const struct grt_display_frames *d);

/** grt_frame_time - the time of a frame; 0: it is the first one */
static inline uint64_t grt_frame_time(const struct grt_frame *f)
{
	return f->begin ? f->shown - f->begin : 0;
}

/** grt_display_frames_free - frees it; NULL is allowed */
void grt_display_frames_free(struct grt_display_frames *d);

#endif /* GRT_DRM_DISPLAY_FRAMES_H */
