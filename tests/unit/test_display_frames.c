// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of displays: which flip an event is of, what a frame's time went to, to the
 * nanosecond, which part is to blame, and clients of a compositor; with events made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "codes/cuda_codes.h"
#include "drm/display_frames.h"
#include "jobs/jobs.h"

#define MS 1000000ULL
#define GAME 7
#define DESK 8
#define WORKER 99
#define FLIP 0xc01864b0
#define ATOMIC 0xc03864bc

#define PUT(NAME, record, when, process, ...)                             \
	do {                                                              \
		struct grt_ev_##record ev = {.e = {.time = (when),        \
						   .type = GRT_EV_##NAME, \
						   .size = sizeof(ev),    \
						   .pid = (process),      \
						   .tid = (process)},     \
					     ##__VA_ARGS__};              \
		assert_int_equal(grt_display_frames_event(d, &ev.e), 0);  \
	} while (0)
#define ENTER(when, process, number) PUT(IOCTL_ENTER, ioctl_enter, when, process, .cmd = (number))
#define LEAVE(when, process, number, what, result) \
	PUT(IOCTL_EXIT, ioctl_exit, when, process, .cmd = (number), .about = (what), .ret = (result))
#define EVENT(when, process, ...) \
	PUT(VBLANK_DELIVERED, vblank_delivered, when, process, .file = (process), ##__VA_ARGS__)
#define SUBMIT(when, process, n) PUT(SUBMIT, submit, when, process, .e.ctx = 1, .e.seqno = (n))
#define COMPLETE(when, n) PUT(COMPLETE, complete, when, 0, .e.ctx = 1, .e.seqno = (n))
#define SEEN(process) PUT(THREAD, thread, 0, process, .what = GRT_THREAD_SEEN_ON)
#define ASLEEP(process, from, until, to, n, why, ...)                                                 \
	PUT(ASLEEP, asleep, to, process, .start = (from), .woken = (until), .number = (n), .over = 1, \
	    .state = 1, .reason = GRT_THREAD_##why, ##__VA_ARGS__)
#define TAKEN_OFF(process, from, to, n)                                               \
	PUT(OFF_CPU, off_cpu, to, process, .start = (from), .number = (n), .over = 1, \
	    .reason = GRT_THREAD_RUNNABLE)

static struct grt_display_frames *d;

static int begin(void **state)
{
	(void)state;
	return grt_display_frames_new(&d);
}

static int end(void **state)
{
	(void)state;
	grt_display_frames_free(d);
	return 0;
}

/* A page flip with an event. */
static void flip(uint64_t at, uint32_t pid)
{
	ENTER(at, pid, FLIP);
	LEAVE(at + 1000, pid, FLIP, GRT_FLIP_FLAGS | GRT_FLIP_EVENT, 0);
}

static const struct grt_frame_client *client(uint32_t pid)
{
	const struct grt_frame_client *c;

	for (uint32_t i = 0; (c = grt_display_frames_client(d, i)); i++)
		if (c->pid == pid)
			return c;
	return NULL;
}

static const struct grt_frame *frame(uint32_t pid, uint32_t number)
{
	const struct grt_frame_client *c = client(pid);

	assert_non_null(c);
	assert_true(number < c->n);
	return &c->frame[number];
}

/* The parts are these, and the frame's time. */
static void took(const struct grt_frame *f, const uint64_t *part)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < GRT_FRAME_PARTS; i++) {
		assert_int_equal(f->part[i], part[i]);
		sum += f->part[i];
	}
	assert_int_equal(sum, grt_frame_time(f));
}

#define TOOK(f, ...) took(f, (const uint64_t[GRT_FRAME_PARTS]){__VA_ARGS__})

/* Work, a job that goes on after the flip, the display; a sleep that began before the frame counts from its
 * begin. */
static void parts_of_a_frame(void **state)
{
	const struct grt_frame *f;

	(void)state;
	SEEN(GAME);
	flip(10 * MS, GAME);
	EVENT(12 * MS, GAME, .vseq = 100);
	ASLEEP(GAME, 11 * MS, 13 * MS, 13 * MS + 500000, 1, DISPLAY);
	TAKEN_OFF(GAME, 15 * MS, 17 * MS, 2);
	SUBMIT(18 * MS, GAME, 5);
	ASLEEP(GAME, 19 * MS, 22 * MS, 22 * MS, 3, LOCK, .waker = 70, .waker_pid = GAME,
	       .waker_comm = "feeder");
	flip(24 * MS, GAME);
	COMPLETE(26 * MS, 5);
	EVENT(29 * MS, GAME, .vseq = 103);
	assert_int_equal(grt_display_frames_finish(d), 0);
	assert_int_equal(client(GAME)->n, 2);
	assert_int_equal(frame(GAME, 0)->begin, 0);
	f = frame(GAME, 1);
	assert_int_equal(grt_frame_time(f), 17 * MS);
	/* on the CPU: 13.5 to 15, 17 to 19, 22 to 24 */
	TOOK(f, [GRT_THREAD_RUNNING] = 5500000, [GRT_THREAD_RUNNABLE] = 2500000, [GRT_THREAD_LOCK] = 3 * MS,
	     [GRT_THREAD_GPU] = 2 * MS, [GRT_THREAD_DISPLAY] = 1 * MS + 3 * MS);
	assert_int_equal(f->flip, 24 * MS);
	assert_int_equal(f->submit, 18 * MS);
	assert_int_equal(f->job_end, 26 * MS);
	assert_true(f->job_inferred);
	assert_false(f->inferred);
	assert_true(f->counted);
	assert_int_equal(f->missed, 2);
	assert_int_equal(f->wait, 3 * MS);
	assert_int_equal(f->waker, 70);
	assert_string_equal(f->waker_comm, "feeder");
	assert_int_equal(client(GAME)->chained, 2);
	assert_int_equal(client(GAME)->missed, 2);
}

/* Tests, flips that failed, requested vertical blanks and the kernel's own events are no frames. */
static void what_is_no_frame(void **state)
{
	(void)state;
	flip(10 * MS, GAME);
	EVENT(12 * MS, GAME);
	ENTER(13 * MS, GAME, ATOMIC);
	LEAVE(14 * MS, GAME, ATOMIC, GRT_FLIP_FLAGS | GRT_FLIP_TEST_ONLY, 0);
	EVENT(15 * MS, GAME);
	ENTER(16 * MS, GAME, ATOMIC);
	LEAVE(17 * MS, GAME, ATOMIC, GRT_FLIP_FLAGS | GRT_FLIP_EVENT, -16);
	EVENT(18 * MS, GAME);
	PUT(VBLANK_QUEUED, vblank_queued, 19 * MS, GAME, .file = GAME, .vseq = 9);
	flip(20 * MS, GAME);
	EVENT(21 * MS, GAME, .vseq = 9);
	EVENT(22 * MS, 0);
	assert_int_equal(client(GAME)->n, 1);
	EVENT(22 * MS, GAME, .vseq = 10);
	assert_int_equal(client(GAME)->n, 2);
	assert_int_equal(frame(GAME, 1)->flip, 20 * MS);
	assert_int_equal(grt_display_frames_count(d).kernel, 1);
	assert_int_equal(grt_display_frames_count(d).frames, 2);
}

/* A lost event must not move all later frames by one flip. */
static void lost_event(void **state)
{
	(void)state;
	flip(10 * MS, GAME);
	flip(20 * MS, GAME);
	EVENT(22 * MS, GAME);
	flip(30 * MS, GAME);
	/* the next one was requested too early, and fails when the event is here */
	ENTER(31 * MS, GAME, FLIP);
	EVENT(32 * MS, GAME);
	LEAVE(33 * MS, GAME, FLIP, GRT_FLIP_FLAGS | GRT_FLIP_EVENT, -16);
	assert_int_equal(client(GAME)->n, 2);
	assert_int_equal(frame(GAME, 0)->flip, 20 * MS);
	assert_int_equal(frame(GAME, 1)->flip, 30 * MS);
	assert_int_equal(grt_display_frames_count(d).lost, 1);
}

/* An event without a file is that of the flip that asks for none, and not of one that does. */
static void events_without_file(void **state)
{
	(void)state;
	flip(10 * MS, GAME);
	EVENT(11 * MS, 0);
	ENTER(12 * MS, DESK, ATOMIC);
	LEAVE(13 * MS, DESK, ATOMIC, GRT_FLIP_FLAGS, 0);
	EVENT(14 * MS, 0);
	EVENT(15 * MS, GAME);
	assert_int_equal(grt_display_frames_count(d).kernel, 1);
	assert_int_equal(frame(DESK, 0)->flip, 12 * MS);
	assert_true(frame(DESK, 0)->inferred);
	assert_int_equal(frame(GAME, 0)->flip, 10 * MS);
	assert_false(frame(GAME, 0)->inferred);
}

/* Two CRTCs: commits on both, then flips of each in turn; which flip an event is of is inferred. */
static void two_crtcs(void **state)
{
	uint64_t at = 10;

	(void)state;
	/* until the second CRTC is seen */
	flip(at * MS, GAME);
	EVENT((at + 1) * MS, GAME, .crtc = 0);
	flip((at + 2) * MS, GAME);
	EVENT((at + 3) * MS, GAME, .crtc = 1);
	for (at = 20; at < 20 + 10 * 2 * GRT_FRAME_FLIPS; at += 10) {
		flip(at * MS, GAME);
		EVENT((at + 1) * MS, GAME, .crtc = 1);
		EVENT((at + 2) * MS, GAME, .crtc = 0);
		flip((at + 4) * MS, GAME);
		EVENT((at + 5) * MS, GAME, .crtc = 0);
		flip((at + 6) * MS, GAME);
		EVENT((at + 7) * MS, GAME, .crtc = 1);
	}
	for (uint32_t crtc = 0; crtc < 2; crtc++) {
		const struct grt_frame_client *c = grt_display_frames_client(d, crtc);

		assert_int_equal(c->n, 1 + 2 * 2 * GRT_FRAME_FLIPS);
		for (uint32_t i = 1; i < c->n; i += 2) {
			at = 20 + 10 * (i / 2);
			assert_int_equal(c->frame[i].flip, at * MS);
			assert_int_equal(c->frame[i + 1].flip, (at + (crtc ? 6 : 4)) * MS);
			assert_true(c->frame[i].inferred);
		}
	}
	assert_int_equal(grt_display_frames_count(d).lost, 0);
}

/* Older recordings have no flags: the commit before the last one was a test. */
static void recordings_without_flags(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= 3; i++) {
		ENTER(10 * i * MS, GAME, ATOMIC);
		LEAVE(10 * i * MS + 1, GAME, ATOMIC, 0, 0);
		ENTER((10 * i + 2) * MS, GAME, ATOMIC);
		LEAVE((10 * i + 2) * MS + 1, GAME, ATOMIC, 0, 0);
		EVENT((10 * i + 4) * MS, GAME);
		assert_int_equal(frame(GAME, (uint32_t)i - 1)->flip, (10 * i + 2) * MS);
	}
	assert_int_equal(client(GAME)->n, 3);
}

/* The kernel waits for the fence of another process's job: it is the frame's by identity. */
static void fence_of_the_flip(void **state)
{
	const struct grt_frame *f;

	(void)state;
	flip(5 * MS, DESK);
	EVENT(6 * MS, DESK);
	SUBMIT(7 * MS, GAME, 1);
	ENTER(8 * MS, DESK, ATOMIC);
	PUT(SYNC_WAIT_ENTER, sync_wait_enter, 9 * MS, WORKER, .e.ctx = 1, .e.seqno = 1);
	LEAVE(9 * MS, DESK, ATOMIC, GRT_FLIP_FLAGS | GRT_FLIP_EVENT, 0);
	COMPLETE(20 * MS, 1);
	EVENT(21 * MS, DESK);
	f = frame(DESK, 1);
	assert_int_equal(f->job_seqno, 1);
	assert_false(f->job_inferred);
	TOOK(f, [GRT_THREAD_UNKNOWN] = 2 * MS, [GRT_THREAD_GPU] = 12 * MS, [GRT_THREAD_DISPLAY] = MS);
	/* and it is a frame of that process */
	assert_int_equal(client(GAME)->compositor, DESK);
	f = frame(GAME, 0);
	assert_int_equal(f->flip, 8 * MS);
	assert_int_equal(f->job_end, 20 * MS);
	assert_false(f->job_inferred);
}

/* A compositor that waits for its client's fence itself, and has no job, shows that job. */
static void fence_that_the_flipper_waits_for(void **state)
{
	(void)state;
	flip(5 * MS, DESK);
	EVENT(6 * MS, DESK);
	PUT(LAUNCH, launch, 7 * MS - 1, GAME, .begin = 7 * MS - 1, .call = GRT_PRESENT_CALL | 1);
	SUBMIT(7 * MS, GAME, 1);
	PUT(SYNC_WAIT_ENTER, sync_wait_enter, 8 * MS, DESK, .e.ctx = 1, .e.seqno = 1,
	    .e.flags = GRT_FLAG_CALL);
	COMPLETE(9 * MS, 1);
	flip(10 * MS, DESK);
	EVENT(11 * MS, DESK);
	assert_int_equal(frame(DESK, 1)->job_seqno, 1);
	assert_false(frame(DESK, 1)->job_inferred);
	assert_int_equal(frame(GAME, 0)->job_seqno, 1);
	assert_false(frame(GAME, 0)->job_inferred);
	assert_int_equal(frame(GAME, 0)->present, 7 * MS - 1);
	/* the same job again is no new frame of the client */
	flip(20 * MS, DESK);
	EVENT(21 * MS, DESK);
	assert_int_equal(frame(DESK, 2)->submit, 0);
	assert_int_equal(client(GAME)->n, 1);
}

/* A frame of the compositor, which client 7 woke: its job took @gpu ms, and the compositor flipped @late ms
 * after it. */
static void compose(uint64_t at, uint64_t n, uint64_t work, uint64_t gpu, uint64_t late)
{
	uint64_t submit = at + work * MS, done = submit + gpu * MS, flipped = done + late * MS;

	SUBMIT(submit, GAME, 2 * n);
	ASLEEP(DESK, at - 2 * MS, submit + 1000, submit + 2000, n, IO, .waker = GAME, .waker_pid = GAME,
	       .waker_comm = "game");
	COMPLETE(done, 2 * n);
	SUBMIT(flipped - 10000, DESK, 2 * n + 1);
	COMPLETE(flipped - 5000, 2 * n + 1);
	flip(flipped, DESK);
	EVENT(flipped + MS, DESK);
}

static void blame_of_clients(void **state)
{
	static const struct {
		uint64_t work, gpu, late;
		unsigned int cause;
	} slow[] = {
		{30, 3, 4, GRT_THREAD_RUNNING},
		{2, 30, 4, GRT_THREAD_GPU},
		{2, 3, 30, GRT_FRAME_COMPOSITOR},
	};
	const struct grt_frame *f;
	uint64_t at = 100 * MS, n = 0;

	(void)state;
	SEEN(GAME);
	SEEN(DESK);
	flip(50 * MS, DESK);
	EVENT(51 * MS, DESK);
	for (unsigned int i = 0; i < 30; i++) {
		if (i % 10 == 5)
			compose(at, ++n, slow[i / 10].work, slow[i / 10].gpu, slow[i / 10].late);
		else
			compose(at, ++n, 2, 3, 4);
		/* the next one begins when this one is shown */
		at = frame(DESK, (uint32_t)n)->shown;
	}
	assert_int_equal(grt_display_frames_finish(d), 0);
	assert_int_equal(client(GAME)->n, 30);
	assert_int_equal(client(GAME)->p50, 10 * MS);
	assert_int_equal(client(GAME)->late, 3);
	for (unsigned int i = 1; i < 30; i++) {
		f = frame(GAME, i);
		assert_int_equal(f->late, i % 10 == 5);
		assert_true(f->job_inferred);
		if (f->late)
			assert_int_equal(f->cause, slow[i / 10].cause);
	}
	TOOK(frame(GAME, 25), [GRT_THREAD_RUNNING] = 2 * MS, [GRT_THREAD_GPU] = 3 * MS,
	     [GRT_FRAME_COMPOSITOR] = 30 * MS, [GRT_THREAD_DISPLAY] = MS);
	assert_int_equal(client(GAME)->chained, 30);
	/* of the compositor's own frames, too, each is there */
	assert_int_equal(client(DESK)->n, 31);
}

/* A client that submits twice before the compositor looks has one frame, and one that does nothing has none.
 */
static void frames_that_are_not_shown(void **state)
{
	(void)state;
	flip(50 * MS, DESK);
	EVENT(51 * MS, DESK);
	compose(100 * MS, 1, 2, 3, 4);
	SUBMIT(120 * MS, GAME, 40);
	SUBMIT(125 * MS, GAME, 42);
	flip(130 * MS, DESK);
	EVENT(131 * MS, DESK);
	flip(140 * MS, DESK);
	EVENT(141 * MS, DESK);
	assert_int_equal(client(GAME)->n, 2);
	assert_int_equal(frame(GAME, 1)->job_seqno, 42);
	assert_int_equal(frame(GAME, 1)->shown, 131 * MS);
	/* its end is not in the trace */
	assert_int_equal(client(GAME)->chained, 1);
}

/* A compositor that never sleeps is woken by nobody; it wakes its clients. */
static void client_that_is_woken(void **state)
{
	(void)state;
	flip(50 * MS, DESK);
	EVENT(51 * MS, DESK);
	ASLEEP(GAME, 40 * MS, 52 * MS, 53 * MS, 1, IO, .waker = DESK, .waker_pid = DESK);
	SUBMIT(60 * MS, GAME, 1);
	flip(70 * MS, DESK);
	EVENT(71 * MS, DESK);
	assert_non_null(client(GAME));
	assert_int_equal(frame(GAME, 0)->job_seqno, 1);
}

/* Commands of virtio_gpu that make buffers have fences, and show nothing. */
static void commands_that_do_not_render(void **state)
{
	(void)state;
	PUT(NAME, name, 1, 0, .kind = GRT_NAME_RING, .id = 3, .name = "control", .owner = "virtio_gpu");
	flip(50 * MS, DESK);
	EVENT(51 * MS, DESK);
	PUT(SUBMIT, submit, 60 * MS, DESK, .e.ctx = 1, .e.seqno = 1, .e.ring = 3, .cmd = 0x207);
	PUT(SUBMIT, submit, 61 * MS, DESK, .e.ctx = 1, .e.seqno = 2, .e.ring = 3, .cmd = 0x204);
	flip(70 * MS, DESK);
	EVENT(71 * MS, DESK);
	assert_int_equal(frame(DESK, 1)->job_seqno, 1);
}

/* The job that comes after a call that shows a frame has its stamp; a client may have other ways to show the
 * next one. */
static void calls_that_present(void **state)
{
	(void)state;
	flip(50 * MS, DESK);
	EVENT(51 * MS, DESK);
	ASLEEP(GAME, 40 * MS, 52 * MS, 53 * MS, 1, IO, .waker = DESK, .waker_pid = DESK);
	SUBMIT(60 * MS, GAME, 1);
	PUT(LAUNCH, launch, 61 * MS, GAME, .begin = 61 * MS, .call = GRT_PRESENT_CALL | 1);
	SUBMIT(62 * MS, GAME, 2);
	flip(70 * MS, DESK);
	EVENT(71 * MS, DESK);
	/* a call of CUDA is none */
	PUT(LAUNCH, launch, 74 * MS, GAME, .begin = 74 * MS, .call = 211);
	SUBMIT(75 * MS, GAME, 3);
	flip(80 * MS, DESK);
	EVENT(81 * MS, DESK);
	assert_int_equal(client(GAME)->n, 2);
	assert_int_equal(frame(GAME, 0)->job_seqno, 2);
	assert_int_equal(frame(GAME, 0)->present, 61 * MS);
	assert_int_equal(frame(GAME, 1)->job_seqno, 3);
	assert_int_equal(frame(GAME, 1)->present, 0);
	/* a commit is of the job before it, unless that has been shown by a call already */
	SUBMIT(85 * MS, GAME, 4);
	PUT(LAUNCH, launch, 86 * MS, GAME, .begin = 86 * MS, .call = GRT_PRESENT_COMMIT);
	PUT(LAUNCH, launch, 87 * MS, GAME, .begin = 87 * MS, .call = GRT_PRESENT_COMMIT);
	flip(90 * MS, DESK);
	EVENT(91 * MS, DESK);
	PUT(LAUNCH, launch, 94 * MS, GAME, .begin = 94 * MS, .call = GRT_PRESENT_CALL | 1);
	SUBMIT(95 * MS, GAME, 5);
	PUT(LAUNCH, launch, 96 * MS, GAME, .begin = 96 * MS, .call = GRT_PRESENT_COMMIT);
	flip(100 * MS, DESK);
	EVENT(101 * MS, DESK);
	assert_int_equal(frame(GAME, 2)->present, 86 * MS);
	assert_int_equal(frame(GAME, 3)->present, 94 * MS);
}

/*
 * A display of 16 ms: work of 17 ms in place of 13 makes a frame wait for the second vertical blank, and is
 * to blame for that, though most of its time beyond the usual is the wait. A flip that was ready, and missed
 * one, is the display's.
 */
static void overruns_of_a_period(void **state)
{
	uint64_t at = 16 * MS;
	uint32_t vseq = 1;

	(void)state;
	SEEN(GAME);
	flip(at - MS, GAME);
	EVENT(at, GAME, .vseq = vseq);
	for (unsigned int i = 1; i <= 20; i++) {
		unsigned int periods = i % 10 ? 1 : 2;

		flip(at + (i == 10 ? 17 : 13) * MS, GAME);
		at += 16 * MS * periods;
		EVENT(at, GAME, .vseq = vseq += periods);
	}
	assert_int_equal(grt_display_frames_finish(d), 0);
	assert_int_equal(client(GAME)->late, 2);
	TOOK(frame(GAME, 10), [GRT_THREAD_RUNNING] = 17 * MS, [GRT_THREAD_DISPLAY] = 15 * MS);
	assert_int_equal(frame(GAME, 10)->cause, GRT_THREAD_RUNNING);
	TOOK(frame(GAME, 20), [GRT_THREAD_RUNNING] = 13 * MS, [GRT_THREAD_DISPLAY] = 19 * MS);
	assert_int_equal(frame(GAME, 20)->cause, GRT_THREAD_DISPLAY);
}

/* Without flips in the trace there are frames, and nothing is known of their ways. */
static void events_alone(void **state)
{
	(void)state;
	EVENT(10 * MS, GAME, .vseq = UINT32_MAX);
	EVENT(26 * MS, GAME, .vseq = 2);
	assert_int_equal(client(GAME)->n, 2);
	TOOK(frame(GAME, 1), [GRT_THREAD_UNKNOWN] = 16 * MS);
	assert_int_equal(frame(GAME, 1)->missed, 2);
	assert_int_equal(frame(GAME, 1)->cause, GRT_THREAD_UNKNOWN);
	assert_int_equal(grt_display_frames_count(d).no_flip, 2);
	assert_int_equal(client(GAME)->chained, 0);
}

/* Jobs that ran in a frame, cut at its ends. */
static void busy(void **state)
{
	struct grt_job job = {.pid = GAME, .seen = 31};

	(void)state;
	for (uint64_t i = 1; i <= 3; i++) {
		flip((10 * i - 1) * MS, GAME);
		EVENT(10 * i * MS, GAME);
	}
	job.time[GRT_STAMP_START] = 15 * MS;
	job.time[GRT_STAMP_END] = 22 * MS;
	assert_int_equal(grt_display_frames_job(d, &job), 0);
	job.time[GRT_STAMP_START] = 28 * MS;
	job.time[GRT_STAMP_END] = 35 * MS;
	assert_int_equal(grt_display_frames_job(d, &job), 0);
	assert_int_equal(frame(GAME, 0)->busy, 0);
	assert_int_equal(frame(GAME, 1)->busy, 5 * MS);
	assert_int_equal(frame(GAME, 2)->busy, 2 * MS + 2 * MS);
}

/* More flips, clients and frames than there is room for are counted. */
static void bounds(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < GRT_FRAME_FLIPS + 5; i++)
		ENTER((1 + i) * MS, GAME, FLIP);
	assert_int_equal(grt_display_frames_count(d).lost, 5);
	for (uint32_t i = 0; i < GRT_FRAME_CLIENTS + 3; i++)
		EVENT((200 + i) * MS, 1000 + i);
	assert_int_equal(grt_display_frames_count(d).frames, GRT_FRAME_CLIENTS);
	assert_int_equal(grt_display_frames_count(d).over, 3);
	for (uint32_t i = 0; i < GRT_FRAMES_MAX; i++)
		EVENT((1000 + i) * MS, 1000);
	assert_int_equal(grt_display_frames_count(d).over, 3 + GRT_FRAME_CLIENTS);
	assert_int_equal(client(1000)->frames, GRT_FRAMES_MAX + 1);
}

/* Events of jobs are kept until something is shown; those that had to go are counted, and the last ones are
 * there. */
static void early_events(void **state)
{
	const uint32_t jobs = GRT_FRAME_JOBS + 3;

	(void)state;
	for (uint32_t i = 0; i < jobs; i++) {
		SUBMIT(i + 1, GAME, i);
		COMPLETE(i + 1, i);
	}
	assert_int_equal(grt_display_frames_count(d).early, 0);
	flip(10 * MS, GAME);
	assert_int_equal(grt_display_frames_count(d).early, 2 * jobs - GRT_FRAME_EARLY);
	assert_int_equal(grt_display_frames_count(d).early, 6);
}

static void few_early_events(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < GRT_FRAME_JOBS; i++) {
		SUBMIT(i + 1, GAME, i);
		COMPLETE(i + 1, i);
	}
	flip(10 * MS, GAME);
	assert_int_equal(grt_display_frames_count(d).early, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(parts_of_a_frame),
		TEST(what_is_no_frame),
		TEST(lost_event),
		TEST(events_without_file),
		TEST(two_crtcs),
		TEST(recordings_without_flags),
		TEST(fence_of_the_flip),
		TEST(fence_that_the_flipper_waits_for),
		TEST(blame_of_clients),
		TEST(frames_that_are_not_shown),
		TEST(client_that_is_woken),
		TEST(commands_that_do_not_render),
		TEST(calls_that_present),
		TEST(overruns_of_a_period),
		TEST(events_alone),
		TEST(busy),
		TEST(bounds),
		TEST(early_events),
		TEST(few_early_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
