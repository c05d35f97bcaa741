// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Finds the frames of display_frames.h. A flip waits in a list for its event. When the event comes, the flip
 * becomes a frame, and so does the work of each client that the flip shows. What is known only later (when a
 * job was complete, the medians) is added while the frame is kept.
 */
#include "display_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "codes/cuda_codes.h"
#include "frame_blame.h"
#include "jobs/jobs.h"
#include "threads/threads.h"
#include "trace/packet.h"

/* Most vertical blanks that were requested and have not come. */
#define ASKED 4096U
/* A longer jump is no gap between frames: the counter began again. */
#define JUMP_MAX (1U << 30)
/* See codes/virtio_gpu.def. */
#define VIRTIO_GPU_SUBMIT_3D 0x207
/* Sleeps of a thread that are kept, and most threads that have some, of 24 KB each. */
#define SLEEPS 512U
#define SLEEPERS 1024U

/**
 * struct work - a job of a client or a flip
 * @submit: 0: none
 */
struct work {
	uint64_t ctx;
	uint64_t seqno;
	uint64_t submit;
	uint32_t tid;
	bool exact;
};

/**
 * struct known_job - the submitter of a job
 * @end: 0: it is not complete
 * @present: the call that shows it, 0: unknown
 */
struct known_job {
	uint64_t submit;
	uint64_t present;
	uint64_t end;
	uint32_t pid;
	uint32_t tid;
};

/**
 * struct process - a process that submits or flips
 * @last: its last job
 * @present: its last call that shows a frame, 0: it has submitted a job since
 * @shown: the job at its last flip
 * @flips: number of flips so far
 * @crtcs: CRTCs on which it has shown frames
 * @told: events of its flips contain its file
 * @picked: it is decided what its next flip shows
 */
struct process {
	struct work last;
	uint64_t present;
	uint64_t shown;
	uint64_t flips;
	uint32_t crtcs;
	bool told;
	bool picked;
};

/**
 * struct flip - a page flip or an atomic commit that waits for its event
 * @time: when it was requested; 0: unused
 * @flags: GRT_FLIP_*, 0: unknown
 * @crtcs: CRTCs whose event came
 * @over: the call has returned
 * @gap: the event of a flip before it was lost: it is unknown when the previous frame was shown
 * @work: the job that it shows
 */
struct flip {
	uint64_t time;
	uint64_t serial;
	uint32_t pid;
	uint32_t tid;
	uint32_t cmd;
	uint32_t flags;
	uint32_t crtcs;
	bool over;
	bool gap;
	struct work work;
};

/**
 * struct pair - a client and the compositor that shows it
 * @next: the client's job that the compositor's next flip shows
 * @flipped: the job that the flip @serial shows
 * @shown: when the last shown job was submitted
 */
struct pair {
	uint32_t client;
	uint32_t compositor;
	struct work next;
	struct work flipped;
	uint64_t serial;
	uint64_t shown;
};

/** struct awaited - frames that lack the end of a job */
struct awaited {
	uint32_t client[2];
	uint32_t frame[2];
	uint32_t n;
};

struct grt_display_frames {
	struct grt_sleeps sleeps;
	struct grt_names names;
	struct grt_keyed asked;
	struct grt_keyed jobs;
	struct grt_keyed awaited;
	struct grt_keyed processes;
	struct process *recent; /* of @recent_pid, while the table has the size @recent_room; NULL: none */
	uint32_t recent_pid, recent_room;
	struct grt_keyed by_identity; /* elements are numbers of clients */
	struct grt_frame_client client[GRT_FRAME_CLIENTS];
	struct flip flip[GRT_FRAME_FLIPS];
	struct pair pair[GRT_FRAME_PAIRS];
	uint32_t clients;
	uint32_t pairs;
	uint32_t kept;
	uint64_t serial;
	struct grt_display_frames_count count;
	bool shows; /* there are signs of a display; until then, events of jobs are stored in @early, a ring
		     */
	struct grt_ev_submit *early;
	uint32_t early_room;
	uint64_t earlies;
};

static struct grt_key job_key(uint64_t ctx, uint64_t seqno)
{
	return (struct grt_key){{ctx, seqno}};
}

static struct known_job *find_job(const struct grt_display_frames *d, uint64_t ctx, uint64_t seqno)
{
	struct grt_key key = job_key(ctx, seqno);

	return ctx ? grt_keyed_find(&d->jobs, &key) : NULL;
}

static struct process *find_process(const struct grt_display_frames *d, uint32_t pid)
{
	return pid ? grt_keyed_find(&d->processes, &(struct grt_key){{pid}}) : NULL;
}

/* Return: 0 or -ENOMEM */
static int get_process(struct grt_display_frames *d, uint32_t pid, struct process **out)
{
	int ret;

	*out = d->recent;
	if (d->recent && d->recent_pid == pid && d->recent_room == d->processes.room)
		return 0;
	ret = grt_keyed_get_or_replace(&d->processes, &(struct grt_key){{pid}}, NULL, (void **)out);
	d->recent = ret ? NULL : *out;
	d->recent_pid = pid;
	d->recent_room = d->processes.room;
	return ret;
}

static struct work work_of(const struct known_job *job, uint64_t ctx, uint64_t seqno)
{
	return (struct work){
		.ctx = ctx, .seqno = seqno, .submit = job->submit, .tid = job->tid, .exact = true};
}

/* ------------------------------------------------------------- pairs */

/*
 * Finds or makes the pair of a client and the compositor that shows its frames. Return: NULL: there are too
 * many, or it is not a compositor
 */
static struct pair *get_pair(struct grt_display_frames *d, uint32_t client, uint32_t compositor)
{
	const struct process *c, *by = find_process(d, compositor);

	if (!by || !by->flips || !client || client == compositor)
		return NULL;
	for (uint32_t i = 0; i < d->pairs; i++)
		if (d->pair[i].client == client && d->pair[i].compositor == compositor)
			return &d->pair[i];
	c = find_process(d, client);
	if ((c && c->flips) || d->pairs == GRT_FRAME_PAIRS)
		return NULL;
	d->pair[d->pairs] = (struct pair){.client = client, .compositor = compositor};
	return &d->pair[d->pairs++];
}

/* The compositor begins its next frame, which shows what its clients have submitted so far. */
static void pick(struct grt_display_frames *d, uint32_t compositor, struct process *p)
{
	const struct process *c;

	if (p->picked)
		return;
	p->picked = true;
	for (uint32_t i = 0; i < d->pairs; i++) {
		if (d->pair[i].compositor != compositor || d->pair[i].next.exact)
			continue;
		c = find_process(d, d->pair[i].client);
		if (c)
			d->pair[i].next = c->last;
	}
}

/* The compositor depends on this job, or waits for it. */
static void pick_exactly(struct grt_display_frames *d, uint32_t compositor, uint64_t ctx, uint64_t seqno)
{
	const struct known_job *job = find_job(d, ctx, seqno);
	struct pair *pair = job && job->pid != compositor ? get_pair(d, job->pid, compositor) : NULL;

	if (pair && job->submit > pair->shown)
		pair->next = work_of(job, ctx, seqno);
}

/* The flip waits for this job. */
static void pick_for_flip(struct grt_display_frames *d, const struct flip *f, const struct known_job *job,
			  uint64_t ctx, uint64_t seqno)
{
	struct pair *pair = job->pid != f->pid ? get_pair(d, job->pid, f->pid) : NULL;

	if (!pair || job->submit <= pair->shown)
		return;
	pair->flipped = work_of(job, ctx, seqno);
	pair->serial = f->serial;
}

/* A compositor that does nothing on the GPU shows the last jobs of its clients. */
static void take_picks(struct grt_display_frames *d, struct flip *f)
{
	bool own = f->work.submit;

	for (uint32_t i = 0; i < d->pairs; i++) {
		struct pair *pair = &d->pair[i];

		if (pair->compositor != f->pid)
			continue;
		pair->flipped = pair->next;
		pair->serial = f->serial;
		if (!own && pair->next.submit > pair->shown && pair->next.submit > f->work.submit)
			f->work = pair->next;
	}
}

static void forget_picks(struct grt_display_frames *d, uint32_t compositor)
{
	for (uint32_t i = 0; i < d->pairs; i++)
		if (d->pair[i].compositor == compositor)
			d->pair[i].next = (struct work){.ctx = 0};
}

/* ------------------------------------------------------------- clients and frames */

/* Return: 0 with *out NULL: there are too many; or -ENOMEM */
static int frame_client(struct grt_display_frames *d, uint32_t pid, uint32_t crtc,
			struct grt_frame_client **out)
{
	struct grt_key key = {{pid, crtc}};
	uint32_t *number = grt_keyed_find(&d->by_identity, &key);
	void *found;

	*out = number ? &d->client[*number] : NULL;
	if (number || d->clients == GRT_FRAME_CLIENTS)
		return 0;
	if (grt_keyed_get(&d->by_identity, &key, &found))
		return -ENOMEM;
	*(uint32_t *)found = d->clients;
	*out = &d->client[d->clients];
	**out = (struct grt_frame_client){.pid = pid, .crtc = crtc, .number = d->clients++};
	return 0;
}

static int await_end(struct grt_display_frames *d, const struct grt_frame *f, uint32_t place)
{
	struct grt_key key = job_key(f->job_ctx, f->job_seqno);
	struct awaited *a;
	int ret;

	if (!f->submit || f->job_end)
		return 0;
	ret = grt_keyed_get_or_replace(&d->awaited, &key, NULL, (void **)&a);
	if (ret || a->n == 2)
		return ret;
	a->client[a->n] = f->client;
	a->frame[a->n++] = place;
	return 0;
}

static int frame_keep(struct grt_display_frames *d, struct grt_frame_client *c, struct grt_frame *f)
{
	f->client = c->number;
	f->number = ++c->frames;
	c->missed += f->missed;
	c->counted += f->counted;
	c->chained += f->flip && (!f->submit || f->job_end);
	c->timed += f->begin > 0;
	c->time += f->begin ? f->shown - f->begin : 0;
	c->last = f->shown;
	d->count.frames++;
	d->count.inferred += f->inferred;
	d->count.job_inferred += f->job_inferred;
	d->count.no_flip += !f->flip;
	if (d->kept == GRT_FRAMES_MAX) {
		d->count.over++;
		return 0;
	}
	if (grt_grow(&c->frame, &c->room, c->n + 1, 64))
		return -ENOMEM;
	d->kept++;
	c->frame[c->n] = *f;
	return await_end(d, f, c->n++);
}

/* Advances along the frame's way: the time from *@at to @to belongs to @part. */
static void frame_go_on(struct grt_frame *f, uint64_t *at, uint64_t to, unsigned int part)
{
	to = to < f->shown ? to : f->shown;
	if (to <= *at)
		return;
	f->part[part] += to - *at;
	*at = to;
}

/* Adds the states of the thread from the previous frame up to there. */
static void frame_go_on_thread(const struct grt_display_frames *d, struct grt_frame *f, uint64_t *at,
			       uint64_t to, uint32_t compositor)
{
	struct grt_spent spent = {.apart = compositor};

	to = to < f->shown ? to : f->shown;
	if (to <= *at)
		return;
	grt_sleeps_divide(&d->sleeps, f->tid, *at, to, &spent);
	for (unsigned int i = 0; i < GRT_THREAD_STATES; i++)
		f->part[i] += spent.ns[i];
	f->part[GRT_FRAME_COMPOSITOR] += spent.apart_ns;
	f->wait = spent.longest;
	f->waker = spent.waker;
	f->waker_pid = spent.waker_pid;
	memcpy(f->waker_comm, spent.waker_comm, sizeof(f->waker_comm));
	*at = to;
}

static void frame_set_work(const struct grt_display_frames *d, struct grt_frame *f, const struct work *w)
{
	const struct known_job *job = find_job(d, w->ctx, w->seqno);

	if (!w->submit)
		return;
	f->submit = w->submit;
	f->present = job ? job->present : 0;
	f->job_ctx = w->ctx;
	f->job_seqno = w->seqno;
	f->job_end = job ? job->end : 0;
	f->job_inferred = !w->exact;
}

static void frame_count_missed(struct grt_frame_client *c, struct grt_frame *f)
{
	uint32_t since = f->vseq - c->last_vseq;

	f->counted = f->vseq && c->last_vseq && since && since < JUMP_MAX;
	f->missed = f->counted ? since - 1 : 0;
	c->last_vseq = f->vseq;
}

/* When the previous frame of the client was shown; 0: it is the first one, or this is unknown. */
static uint64_t frame_begin(struct grt_frame_client *c, const struct flip *flip)
{
	if (!flip || !flip->gap)
		return c->last;
	c->last_vseq = 0;
	return 0;
}

/* The end of the job for which the flip waited: only the display is left. */
static uint64_t flip_ready(const struct grt_display_frames *d, const struct flip *flip)
{
	const struct known_job *job = find_job(d, flip->work.ctx, flip->work.seqno);

	return job && job->end > flip->time ? job->end : flip->time;
}

static int add_own(struct grt_display_frames *d, uint32_t pid, const struct flip *flip, bool inferred,
		   const struct grt_ev_vblank_delivered *ev)
{
	struct grt_frame f = {.shown = ev->e.time, .vseq = ev->vseq, .flipper = pid, .inferred = inferred};
	struct grt_frame_client *c;
	uint64_t at;
	int ret = frame_client(d, pid, ev->crtc, &c);

	if (!c) {
		d->count.over += !ret;
		return ret;
	}
	at = f.begin = frame_begin(c, flip);
	frame_count_missed(c, &f);
	if (flip) {
		f.tid = flip->tid;
		f.flip = flip->time;
		f.ready = flip_ready(d, flip);
		frame_set_work(d, &f, &flip->work);
		if (f.begin)
			frame_go_on_thread(d, &f, &at, flip->time, 0);
	}
	if (f.begin) {
		if (flip)
			frame_go_on(&f, &at, f.ready, GRT_THREAD_GPU);
		frame_go_on(&f, &at, f.shown, flip ? GRT_THREAD_DISPLAY : GRT_THREAD_UNKNOWN);
	}
	c->name = grt_names_find(&d->names, GRT_NAME_THREAD, flip ? flip->tid : pid) ?: c->name;
	return frame_keep(d, c, &f);
}

static int add_composed(struct grt_display_frames *d, struct pair *p, const struct flip *flip, bool inferred,
			const struct grt_ev_vblank_delivered *ev)
{
	struct grt_frame f = {.shown = ev->e.time,
			      .vseq = ev->vseq,
			      .flipper = flip->pid,
			      .flip = flip->time,
			      .ready = flip_ready(d, flip),
			      .tid = p->flipped.tid,
			      .inferred = inferred};
	struct grt_frame_client *c;
	uint64_t at;
	int ret = frame_client(d, p->client, ev->crtc, &c);

	if (!c) {
		d->count.over += !ret;
		return ret;
	}
	at = f.begin = frame_begin(c, flip);
	frame_count_missed(c, &f);
	frame_set_work(d, &f, &p->flipped);
	if (f.begin) {
		frame_go_on_thread(d, &f, &at, f.submit, flip->pid);
		frame_go_on(&f, &at, f.job_end ?: flip->time, GRT_THREAD_GPU);
		frame_go_on(&f, &at, flip->time, GRT_FRAME_COMPOSITOR);
		frame_go_on(&f, &at, f.ready, GRT_THREAD_GPU);
		frame_go_on(&f, &at, f.shown, GRT_THREAD_DISPLAY);
	}
	c->compositor = flip->pid;
	c->name = grt_names_find(&d->names, GRT_NAME_THREAD, f.tid) ?: c->name;
	p->shown = f.submit;
	return frame_keep(d, c, &f);
}

/* ------------------------------------------------------------- flips */

static bool is_flip(uint32_t cmd)
{
	return (cmd >> 8 & 0xff) == 'd' &&
	       ((cmd & 0xff) == GRT_DRM_PAGE_FLIP || (cmd & 0xff) == GRT_DRM_ATOMIC);
}

static void drop_flip(struct flip *f)
{
	f->time = 0;
}

/* An element for a new flip: a free one, or else the oldest. */
static struct flip *flip_place(struct grt_display_frames *d)
{
	struct flip *oldest = &d->flip[0];

	for (uint32_t i = 0; i < GRT_FRAME_FLIPS; i++)
		if (d->flip[i].time < oldest->time)
			oldest = &d->flip[i];
	d->count.lost += oldest->time && !oldest->crtcs;
	return oldest;
}

/* In recordings without flags, a commit that the thread made before this one was a test. */
static void drop_tests(struct grt_display_frames *d, uint32_t tid)
{
	for (uint32_t i = 0; i < GRT_FRAME_FLIPS; i++)
		if (d->flip[i].tid == tid && d->flip[i].over && !d->flip[i].flags &&
		    (d->flip[i].cmd & 0xff) == GRT_DRM_ATOMIC)
			drop_flip(&d->flip[i]);
}

static int on_ioctl_enter(struct grt_display_frames *d, const struct grt_event *e)
{
	const struct grt_ev_ioctl_enter *ev = (const struct grt_ev_ioctl_enter *)e;
	struct process *p;
	struct flip *f;

	if (!is_flip(ev->cmd))
		return 0;
	if (get_process(d, e->pid, &p))
		return -ENOMEM;
	drop_tests(d, e->tid);
	f = flip_place(d);
	*f = (struct flip){
		.time = e->time, .serial = ++d->serial, .pid = e->pid, .tid = e->tid, .cmd = ev->cmd};
	if (p->last.submit > p->shown)
		f->work = p->last;
	pick(d, e->pid, p);
	take_picks(d, f);
	return 0;
}

static struct flip *flip_in_call(struct grt_display_frames *d, uint32_t tid)
{
	for (uint32_t i = 0; i < GRT_FRAME_FLIPS; i++)
		if (d->flip[i].time && !d->flip[i].over && d->flip[i].tid == tid)
			return &d->flip[i];
	return NULL;
}

/* The flip is complete: what comes now belongs to the next one. */
static void flip_was_made(struct grt_display_frames *d, uint32_t pid)
{
	struct process *p = find_process(d, pid);

	if (!p)
		return;
	p->flips++;
	p->shown = p->last.submit;
	p->picked = false;
	forget_picks(d, pid);
}

static int on_ioctl_exit(struct grt_display_frames *d, const struct grt_event *e)
{
	const struct grt_ev_ioctl_exit *ev = (const struct grt_ev_ioctl_exit *)e;
	struct flip *f = is_flip(ev->cmd) ? flip_in_call(d, e->tid) : NULL;
	bool test = ev->about & GRT_FLIP_FLAGS && (ev->cmd & 0xff) == GRT_DRM_ATOMIC &&
		    ev->about & GRT_FLIP_TEST_ONLY;
	struct process *p;

	if (!is_flip(ev->cmd))
		return 0;
	if (ev->ret >= 0 && !test)
		flip_was_made(d, e->pid);
	else if ((p = find_process(d, e->pid)))
		p->picked = false;
	if (!f)
		return 0;
	f->over = true;
	f->flags = ev->about & GRT_FLIP_FLAGS ? ev->about : 0;
	if (ev->ret < 0 || test)
		drop_flip(f);
	return 0;
}

/* Whether an event with or without a file can belong to this flip. */
static bool flip_fits(const struct grt_display_frames *d, const struct flip *f, uint32_t pid)
{
	const struct process *p = find_process(d, f->pid);

	if (!f->time)
		return false;
	if (pid)
		return f->pid == pid && (!f->flags || f->flags & GRT_FLIP_EVENT);
	return f->flags ? !(f->flags & GRT_FLIP_EVENT) : !(p && p->told);
}

/*
 * Return: the last flip of a process with one CRTC, which can have only one pending flip; a flip whose call
 * has not returned is a later one.
 */
static struct flip *only_flip(struct grt_display_frames *d, uint32_t pid)
{
	struct flip *best = NULL;

	for (uint32_t i = 0; i < GRT_FRAME_FLIPS; i++) {
		struct flip *f = &d->flip[i];

		if (!flip_fits(d, f, pid))
			continue;
		if (!best || f->over > best->over || (f->over == best->over && f->serial > best->serial))
			best = f;
	}
	return best;
}

/*
 * Return: of several flips, the first one without an event; otherwise the first one without an event on this
 * CRTC, which is a commit for several CRTCs.
 */
static struct flip *first_flip(struct grt_display_frames *d, uint32_t pid, uint32_t crtc)
{
	struct flip *best = NULL;

	for (uint32_t i = 0; i < GRT_FRAME_FLIPS; i++) {
		struct flip *f = &d->flip[i];

		if (!flip_fits(d, f, pid) || f->crtcs >> crtc & 1)
			continue;
		if (!best || !f->crtcs > !best->crtcs ||
		    (!f->crtcs == !best->crtcs && f->serial < best->serial))
			best = f;
	}
	return best;
}

/*
 * Drops earlier flips that will get no event: those that could only be on this CRTC, or had their event
 * there.
 */
static void drop_older(struct grt_display_frames *d, const struct flip *than, bool several, uint32_t crtc)
{
	for (uint32_t i = 0; i < GRT_FRAME_FLIPS; i++) {
		struct flip *f = &d->flip[i];

		if (!f->time || f->pid != than->pid || f->serial >= than->serial ||
		    (several && !(f->crtcs >> crtc & 1)))
			continue;
		d->count.lost += !f->crtcs;
		drop_flip(f);
	}
}

/* Whether an earlier flip of the process has asked for an event that did not come. */
static bool flip_follows_gap(const struct grt_display_frames *d, const struct flip *flip)
{
	for (uint32_t i = 0; i < GRT_FRAME_FLIPS; i++) {
		const struct flip *f = &d->flip[i];

		if (f->time && f->pid == flip->pid && f->serial < flip->serial && f->over && !f->crtcs &&
		    f->flags & GRT_FLIP_EVENT)
			return true;
	}
	return false;
}

static int show_flip(struct grt_display_frames *d, struct flip *f, bool several, bool inferred,
		     const struct grt_ev_vblank_delivered *ev)
{
	int ret;

	f->gap = !several && flip_follows_gap(d, f);
	ret = add_own(d, f->pid, f, inferred, ev);

	for (uint32_t i = 0; i < d->pairs && !ret; i++)
		if (d->pair[i].compositor == f->pid && d->pair[i].serial == f->serial &&
		    d->pair[i].flipped.submit > d->pair[i].shown)
			ret = add_composed(d, &d->pair[i], f, inferred, ev);
	f->crtcs |= 1U << (ev->crtc & 31);
	drop_older(d, f, several, ev->crtc & 31);
	if (!several)
		drop_flip(f);
	return ret;
}

/* ------------------------------------------------------------- events of displays */

static struct grt_key frame_request_key(uint64_t file, uint32_t crtc, uint32_t vseq)
{
	return (struct grt_key){{file, crtc, vseq}};
}

static int display_frames_on_queued(struct grt_display_frames *d, const struct grt_event *e)
{
	const struct grt_ev_vblank_queued *ev = (const struct grt_ev_vblank_queued *)e;
	struct grt_key key = frame_request_key(ev->file, ev->crtc, ev->vseq);
	void *at;

	return grt_keyed_get_or_replace(&d->asked, &key, NULL, &at);
}

/* Return: whether the event belongs to a vertical blank that was requested without a flip. */
static bool was_requested(struct grt_display_frames *d, const struct grt_ev_vblank_delivered *ev)
{
	struct grt_key key = frame_request_key(ev->file, ev->crtc, ev->vseq);
	void *asked = grt_keyed_find(&d->asked, &key);

	if (asked)
		grt_keyed_remove(&d->asked, asked);
	return asked;
}

static int display_frames_on_delivered(struct grt_display_frames *d, const struct grt_event *e)
{
	const struct grt_ev_vblank_delivered *ev = (const struct grt_ev_vblank_delivered *)e;
	uint32_t bit = 1U << (ev->crtc & 31);
	struct process *p;
	struct flip *f;
	bool several;

	if (was_requested(d, ev))
		return 0;
	f = only_flip(d, e->pid);
	if (!f && !e->pid) {
		d->count.kernel++;
		return 0;
	}
	if (get_process(d, f ? f->pid : e->pid, &p))
		return -ENOMEM;
	p->crtcs |= bit;
	p->told |= !!e->pid;
	several = p->crtcs != bit;
	if (several)
		f = first_flip(d, e->pid, ev->crtc & 31);
	if (f)
		return show_flip(d, f, several, several || !e->pid, ev);
	/*
	 * if the client's flips are known, the event belongs to something else, such as a vertical blank
	 * that came late
	 */
	return !e->pid || p->flips ? 0 : add_own(d, e->pid, NULL, false, ev);
}

/* ------------------------------------------------------------- jobs */

/* Return: whether a command renders. virtio_gpu also makes jobs of other commands that have a fence. */
static bool is_rendering(const struct grt_display_frames *d, const struct grt_ev_submit *ev)
{
	const char *driver;

	if (ev->cmd == VIRTIO_GPU_SUBMIT_3D)
		return true;
	driver = grt_names_owner(&d->names, grt_names_find(&d->names, GRT_NAME_RING, ev->e.ring));
	return !driver || strcmp(driver, "virtio_gpu") != 0;
}

static int display_frames_on_submit(struct grt_display_frames *d, const struct grt_event *e)
{
	struct grt_key key = job_key(e->ctx, e->seqno);
	struct known_job *job;
	struct process *p;

	if (!e->ctx || !e->pid || !is_rendering(d, (const struct grt_ev_submit *)e))
		return 0;
	if (grt_keyed_get_or_replace(&d->jobs, &key, NULL, (void **)&job) || get_process(d, e->pid, &p))
		return -ENOMEM;
	/* two sources may have recorded the job */
	if (job->submit && !job->end)
		return 0;
	*job = (struct known_job){.submit = e->time, .present = p->present, .pid = e->pid, .tid = e->tid};
	p->last = work_of(job, e->ctx, e->seqno);
	p->last.exact = false;
	p->present = 0;
	if (p->flips)
		pick(d, e->pid, p);
	return 0;
}

static void fill_end(struct grt_display_frames *d, const struct awaited *a, uint64_t time)
{
	for (uint32_t i = 0; i < a->n; i++) {
		struct grt_frame_client *c = &d->client[a->client[i]];

		c->frame[a->frame[i]].job_end = time;
		c->chained += !!c->frame[a->frame[i]].flip;
	}
}

static int display_frames_on_complete(struct grt_display_frames *d, const struct grt_event *e)
{
	struct known_job *job = find_job(d, e->ctx, e->seqno);
	struct grt_key key = job_key(e->ctx, e->seqno);
	struct awaited *a = grt_keyed_find(&d->awaited, &key);

	if (job && !job->end)
		job->end = e->time;
	if (a) {
		fill_end(d, a, e->time);
		grt_keyed_remove(&d->awaited, a);
	}
	return 0;
}

/* The kernel's own wait for a fence belongs to the last flip. */
static struct flip *waiting_flip(struct grt_display_frames *d)
{
	struct flip *best = NULL;

	for (uint32_t i = 0; i < GRT_FRAME_FLIPS; i++)
		if (d->flip[i].time && (!best || d->flip[i].serial > best->serial))
			best = &d->flip[i];
	return best;
}

/* Of several fences, the one that was not signalled yet is used. */
static void flip_waits(struct flip *f, const struct known_job *job, const struct grt_event *e)
{
	if (f->work.exact && job->end)
		return;
	f->work = work_of(job, e->ctx, e->seqno);
}

static int display_frames_on_wait(struct grt_display_frames *d, const struct grt_event *e)
{
	const struct known_job *job = find_job(d, e->ctx, e->seqno);
	struct flip *f = flip_in_call(d, e->tid);
	struct process *p = find_process(d, e->pid);

	if (!job)
		return 0;
	/* a thread of the kernel, or the flip's own call */
	if (!f && !p && !(e->flags & GRT_FLAG_CALL))
		f = waiting_flip(d);
	if (f) {
		pick_for_flip(d, f, job, e->ctx, e->seqno);
		flip_waits(f, job, e);
	} else if (p && p->flips) {
		pick_exactly(d, e->pid, e->ctx, e->seqno);
	}
	return 0;
}

static int display_frames_on_dep(struct grt_display_frames *d, const struct grt_event *e)
{
	const struct grt_ev_wait_dep *ev = (const struct grt_ev_wait_dep *)e;
	const struct known_job *job = find_job(d, e->ctx, e->seqno);

	if (e->pid || job)
		pick_exactly(d, e->pid ?: job->pid, ev->dep_ctx, ev->dep_seqno);
	return 0;
}

static bool is_present(uint32_t call)
{
	return call & GRT_PRESENT_CALL && !(call & GRT_CUDA_DRIVER);
}

static int on_present(struct grt_display_frames *d, const struct grt_event *e)
{
	const struct grt_ev_launch *ev = (const struct grt_ev_launch *)e;
	struct known_job *job;
	struct process *p;

	if (!is_present(ev->call))
		return 0;
	if (get_process(d, e->pid, &p))
		return -ENOMEM;
	if (ev->call != GRT_PRESENT_COMMIT) {
		p->present = ev->begin;
		return 0;
	}
	/*
	 * the event comes when the frame is submitted; within eglSwapBuffers or a similar function, that
	 * call is known
	 */
	job = find_job(d, p->last.ctx, p->last.seqno);
	if (job && !job->present)
		job->present = ev->begin;
	return 0;
}

/* A process that wakes a flipping process, or is woken by it, may be its client. */
static void see_wake(struct grt_display_frames *d, const struct grt_event *e)
{
	const struct grt_ev_asleep *ev = (const struct grt_ev_asleep *)e;

	if (!ev->waker_pid || ev->waker_pid == e->pid)
		return;
	get_pair(d, ev->waker_pid, e->pid);
	get_pair(d, e->pid, ev->waker_pid);
}

static int display_frames_take(struct grt_display_frames *d, const struct grt_event *e)
{
	switch (e->type) {
	case GRT_EV_IOCTL_ENTER:
		return on_ioctl_enter(d, e);
	case GRT_EV_IOCTL_EXIT:
		return on_ioctl_exit(d, e);
	case GRT_EV_VBLANK_QUEUED:
		return display_frames_on_queued(d, e);
	case GRT_EV_VBLANK_DELIVERED:
		return display_frames_on_delivered(d, e);
	case GRT_EV_SUBMIT:
		return display_frames_on_submit(d, e);
	case GRT_EV_COMPLETE:
		return display_frames_on_complete(d, e);
	case GRT_EV_SYNC_WAIT_ENTER:
		return display_frames_on_wait(d, e);
	case GRT_EV_WAIT_DEP:
		return display_frames_on_dep(d, e);
	case GRT_EV_LAUNCH:
		return on_present(d, e);
	case GRT_EV_NAME:
		return grt_names_add(&d->names, (const struct grt_ev_name *)e);
	case GRT_EV_ASLEEP:
		see_wake(d, e);
		return grt_sleeps_event(&d->sleeps, e);
	case GRT_EV_THREAD:
	case GRT_EV_OFF_CPU:
		return grt_sleeps_event(&d->sleeps, e);
	default:
		return 0;
	}
}

/* ------------------------------------------------- before anything is shown */

static __attribute__((noinline)) int display_frames_keep(struct grt_display_frames *d,
							 const struct grt_event *e)
{
	uint32_t at = d->earlies % GRT_FRAME_EARLY;

	if (grt_grow(&d->early, &d->early_room, at + 1, 64))
		return -ENOMEM;
	d->early[at].e = *e;
	d->early[at].cmd = e->type == GRT_EV_SUBMIT ? ((const struct grt_ev_submit *)e)->cmd : 0;
	d->earlies++;
	return 0;
}

static bool display_frames_is_sign(const struct grt_event *e)
{
	switch (e->type) {
	case GRT_EV_IOCTL_ENTER:
		return is_flip(((const struct grt_ev_ioctl_enter *)e)->cmd);
	case GRT_EV_IOCTL_EXIT:
		return is_flip(((const struct grt_ev_ioctl_exit *)e)->cmd);
	case GRT_EV_LAUNCH:
		return is_present(((const struct grt_ev_launch *)e)->call);
	case GRT_EV_VBLANK_QUEUED:
	case GRT_EV_VBLANK_DELIVERED:
		return true;
	}
	return false;
}

static int display_frames_begin(struct grt_display_frames *d)
{
	uint64_t i = d->earlies > GRT_FRAME_EARLY ? d->earlies - GRT_FRAME_EARLY : 0;
	int ret = 0;

	d->shows = true;
	d->count.early = i;
	for (; i < d->earlies && !ret; i++)
		ret = display_frames_take(d, &d->early[i % GRT_FRAME_EARLY].e);
	free(d->early);
	d->early = NULL;
	return ret;
}

static __attribute__((noinline)) int display_frames_look(struct grt_display_frames *d,
							 const struct grt_event *e)
{
	int ret = display_frames_is_sign(e) ? display_frames_begin(d) : 0;

	return ret ?: display_frames_take(d, e);
}

/*
 * Most recordings have no display, and all of their jobs and launches pass here, so this check uses few
 * registers.
 */
int grt_display_frames_event(struct grt_display_frames *d, const struct grt_event *e)
{
	if (grt_class_of[e->type] == GRT_CLASS_launch &&
	    (e->type != GRT_EV_LAUNCH || !is_present(((const struct grt_ev_launch *)e)->call)))
		return 0;
	if (d->shows)
		return display_frames_take(d, e);
	if (e->type == GRT_EV_SUBMIT || e->type == GRT_EV_COMPLETE)
		return display_frames_keep(d, e);
	return grt_class_of[e->type] == GRT_CLASS_job ? 0 : display_frames_look(d, e);
}

/* ------------------------------------------------------------- jobs that ran, and the end */

int grt_display_frames_job(struct grt_display_frames *d, const struct grt_job *job)
{
	const unsigned int both = 1U << GRT_STAMP_START | 1U << GRT_STAMP_END;

	if (!d->clients || (job->seen & both) != both ||
	    job->time[GRT_STAMP_END] <= job->time[GRT_STAMP_START])
		return 0;
	for (uint32_t i = 0; i < d->clients; i++)
		if (d->client[i].pid == job->pid)
			grt_frame_client_ran(&d->client[i], job->time[GRT_STAMP_START],
					     job->time[GRT_STAMP_END]);
	return 0;
}

int grt_display_frames_finish(struct grt_display_frames *d)
{
	int ret = 0;

	for (uint32_t i = 0; i < d->clients && !ret; i++)
		ret = grt_frame_client_finish(&d->client[i]);
	return ret;
}

/* Return: number of a client's frames that were dropped */
static uint32_t frame_client_forget(struct grt_frame_client *c, uint64_t time)
{
	uint32_t gone = 0;

	while (gone < c->n && c->frame[gone].shown < time)
		gone++;
	c->n -= gone;
	if (gone && c->n)
		memmove(c->frame, c->frame + gone, c->n * sizeof(*c->frame));
	return gone;
}

/* Drops frames that were replaced and no longer wait for their job. */
static void awaited_forget(struct awaited *a, const uint32_t *gone)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < a->n; i++) {
		if (a->frame[i] < gone[a->client[i]])
			continue;
		a->client[left] = a->client[i];
		a->frame[left++] = a->frame[i] - gone[a->client[i]];
	}
	a->n = left;
}

void grt_display_frames_forget(struct grt_display_frames *d, uint64_t time)
{
	uint32_t gone[GRT_FRAME_CLIENTS], all = 0;

	for (uint32_t i = 0; i < d->clients; i++)
		all += gone[i] = frame_client_forget(&d->client[i], time);
	d->kept -= all;
	for (struct awaited *a = all ? grt_keyed_oldest(&d->awaited) : NULL; a;
	     a = grt_keyed_next(&d->awaited, a))
		awaited_forget(a, gone);
}

/* ------------------------------------------------------------- the rest */

int grt_display_frames_new(struct grt_display_frames **out)
{
	struct grt_display_frames *d = calloc(1, sizeof(*d));

	*out = d;
	if (!d)
		return -ENOMEM;
	grt_sleeps_init(&d->sleeps, SLEEPS, SLEEPERS);
	grt_keyed_init(&d->asked, 0, ASKED);
	grt_keyed_init(&d->jobs, sizeof(struct known_job), GRT_FRAME_JOBS);
	grt_keyed_init(&d->awaited, sizeof(struct awaited), GRT_FRAME_JOBS);
	grt_keyed_init(&d->processes, sizeof(struct process), GRT_FRAME_PROCESSES);
	grt_keyed_init(&d->by_identity, sizeof(uint32_t), GRT_FRAME_CLIENTS);
	return 0;
}

const struct grt_frame_client *grt_display_frames_client(const struct grt_display_frames *d, uint32_t number)
{
	return number < d->clients ? &d->client[number] : NULL;
}

const struct grt_names *grt_display_frames_names(const struct grt_display_frames *d)
{
	return &d->names;
}

struct grt_display_frames_count grt_display_frames_count(const struct grt_display_frames *d)
{
	return d->count;
}

void grt_display_frames_free(struct grt_display_frames *d)
{
	if (!d)
		return;
	free(d->early);
	for (uint32_t i = 0; i < d->clients; i++)
		free(d->client[i].frame);
	grt_sleeps_free(&d->sleeps);
	grt_names_free(&d->names);
	grt_keyed_free(&d->asked);
	grt_keyed_free(&d->jobs);
	grt_keyed_free(&d->awaited);
	grt_keyed_free(&d->processes);
	grt_keyed_free(&d->by_identity);
	free(d);
}
